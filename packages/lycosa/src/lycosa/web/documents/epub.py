"""EPUB 2 and 3: the chapters in reading order, each parsed as an HTML page."""

from __future__ import annotations

import posixpath
from urllib.parse import unquote

from lycosa.core.types import Links
from lycosa.web.documents.package import Enough, Fields, Flawed, Package
from lycosa.web.documents.sheet import CUT, LEAD, MOST_TEXT, line
from lycosa.web.html import MOST_LINKS, OPEN, ParsedPage, extract

MOST_CHAPTERS = 1_000

_NOWHERE = "http://book.invalid/"
_PAGES = frozenset({"application/xhtml+xml", "text/html", "application/x-dtbook+xml", ""})
_FONTS = (b"http://www.idpf.org/2008/embedding", b"http://ns.adobe.com/pdf/enc#RC")


def read_epub(body: bytes, url: str) -> ParsedPage:
    """Read an EPUB file; raise Flawed if it can't be read."""
    package = Package(body, "EPUB")
    root = Fields(package, "META-INF/container.xml").attributes.get("rootfile", {}).get("full-path", "")
    if not package.has(root):
        raise Flawed("the EPUB file is damaged: it does not say where its contents are")
    sealed = package.read("META-INF/encryption.xml") if package.has("META-INF/encryption.xml") else b""
    if sealed.count(b"EncryptionMethod") > sum(map(sealed.count, _FONTS)):
        raise Flawed("the EPUB file is encrypted: only its own program can open it")
    chapters = _chapters(package, root)
    document = ParsedPage()
    marked: list[str] = []
    headings: list[str] = []
    size = 0
    for name in chapters[:MOST_CHAPTERS]:
        if not package.has(name):
            continue
        chapter = extract(package.read(name)[:3_000_000], _NOWHERE)  # bytes
        _add_links(document.links, chapter.links, sum(text.count(OPEN) for text in marked))
        marked.append(chapter.marked)
        headings += chapter.headings.split("\n") if chapter.headings else []
        size += len(chapter.marked)
        if size > MOST_TEXT or package.cut:
            package.cut = True
            break
    document.marked = "\n".join(text for text in marked if text)[:MOST_TEXT]
    document.main = document.text
    document.headings = "\n".join(headings[:1000])[:100_000]
    document.lead = document.main.lstrip()[:LEAD]
    _describe(document, package, root)
    if package.cut or len(chapters) > MOST_CHAPTERS:
        document.flags.append(CUT)
    return document


def _chapters(package: Package, root: str) -> list[str]:
    """Return the names of the chapter files in reading order."""
    folder = posixpath.dirname(root)
    places: dict[str, str] = {}
    order: list[str] = []

    def start(namespace: str, name: str, attributes: dict[str, str]) -> None:
        if len(places) + len(order) > 100_000:
            raise Enough
        if name == "item" and attributes.get("media-type", "") in _PAGES:
            href = unquote(attributes.get("href", "").partition("#")[0])
            places[attributes.get("id", "")] = posixpath.normpath(posixpath.join(folder, href))
        elif name == "itemref":
            order.append(attributes.get("idref", ""))

    package.tags(root, start)
    return list(dict.fromkeys(places[name] for name in order if name in places))


def _add_links(links: Links, more: Links, before: int) -> None:
    """Add links that lead out of the book; `before` is the number of links in earlier chapters."""
    columns = zip(more.urls, more.anchors, more.contexts, more.rels, more.positions, more.paths, strict=True)
    for url, anchor, context, rel, position, path in columns:
        if not url.startswith(_NOWHERE) and len(links) < MOST_LINKS:
            links.add(url, anchor, context, rel, before + position, path)


def _describe(document: ParsedPage, package: Package, root: str) -> None:
    """Set title, language and metadata from the package document."""
    told = Fields(package, root).told
    document.title = line(told.get("title", "")) or line(document.main.partition("\n")[0])
    document.language = line(told.get("language", "")).lower()[:20]
    about = {
        "author": line(told.get("creator", "")),
        "published": line(told.get("date", "")),
        "site": line(told.get("publisher", "")),
        "licence": line(told.get("rights", "")),
    }
    document.about = {name: value for name, value in about.items() if value}
