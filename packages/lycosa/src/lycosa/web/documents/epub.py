"""EPUB 2 and 3: the chapters in reading order, each parsed as an HTML page."""

from __future__ import annotations

import posixpath
from urllib.parse import unquote

from lycosa.core.types import Links
from lycosa.web.documents.package import Fields, Package, StopReading, UnreadableDocument
from lycosa.web.documents.sheet import LEAD_LENGTH, MAX_MARKUP, TRUNCATED, one_line
from lycosa.web.html import MAX_LINKS, OPEN, ParsedPage, extract

MAX_CHAPTERS = 1_000
_BASE = "http://book.invalid/"
_PAGES = frozenset({"application/xhtml+xml", "text/html", "application/x-dtbook+xml", ""})
_FONTS = (b"http://www.idpf.org/2008/embedding", b"http://ns.adobe.com/pdf/enc#RC")


def read_epub(body: bytes, url: str) -> ParsedPage:
    package = Package(body, "EPUB")
    root = Fields(package, "META-INF/container.xml").attributes.get("rootfile", {}).get("full-path", "")
    if not package.has(root):
        raise UnreadableDocument("the EPUB file is damaged: its package document is missing")
    encryption = package.read("META-INF/encryption.xml") if package.has("META-INF/encryption.xml") else b""
    if encryption.count(b"EncryptionMethod") > sum(map(encryption.count, _FONTS)):
        raise UnreadableDocument("the EPUB file is encrypted: only its own program can open it")
    chapters = _chapters(package, root)
    document = ParsedPage()
    marked: list[str] = []
    headings: list[str] = []
    size = 0
    for name in chapters[:MAX_CHAPTERS]:
        if not package.has(name):
            continue
        chapter = extract(package.read(name)[:3_000_000], _BASE)  # bytes
        _add_links(document.links, chapter.links, sum(text.count(OPEN) for text in marked))
        marked.append(chapter.marked)
        headings += chapter.headings.split("\n") if chapter.headings else []
        size += len(chapter.marked)
        if size > MAX_MARKUP or package.is_truncated:
            package.is_truncated = True
            break
    document.marked = "\n".join(text for text in marked if text)[:MAX_MARKUP]
    document.main = document.text
    document.headings = "\n".join(headings[:1000])[:100_000]
    document.lead = document.main.lstrip()[:LEAD_LENGTH]
    _describe(document, package, root)
    if package.is_truncated or len(chapters) > MAX_CHAPTERS:
        document.flags.append(TRUNCATED)
    return document


def _chapters(package: Package, root: str) -> list[str]:
    folder = posixpath.dirname(root)
    names: dict[str, str] = {}
    order: list[str] = []

    def start(namespace: str, name: str, attributes: dict[str, str]) -> None:
        if len(names) + len(order) > 100_000:
            raise StopReading
        if name == "item" and attributes.get("media-type", "") in _PAGES:
            href = unquote(attributes.get("href", "").partition("#")[0])
            names[attributes.get("id", "")] = posixpath.normpath(posixpath.join(folder, href))
        elif name == "itemref":
            order.append(attributes.get("idref", ""))

    package.tags(root, start)
    return list(dict.fromkeys(names[name] for name in order if name in names))


def _add_links(links: Links, more: Links, before: int) -> None:
    """Add links that lead out of the book; `before` is the number of links in earlier chapters."""
    columns = zip(more.urls, more.anchors, more.contexts, more.rels, more.positions, more.paths, strict=True)
    for url, anchor, context, rel, position, path in columns:
        if not url.startswith(_BASE) and len(links) < MAX_LINKS:
            links.add(url, anchor, context, rel, before + position, path)


def _describe(document: ParsedPage, package: Package, root: str) -> None:
    metadata = Fields(package, root).texts
    document.title = one_line(metadata.get("title", "")) or one_line(document.main.partition("\n")[0])
    document.language = one_line(metadata.get("language", "")).lower()[:20]
    about = {
        "author": one_line(metadata.get("creator", "")),
        "published": one_line(metadata.get("date", "")),
        "site": one_line(metadata.get("publisher", "")),
        "licence": one_line(metadata.get("rights", "")),
    }
    document.about = {name: value for name, value in about.items() if value}
