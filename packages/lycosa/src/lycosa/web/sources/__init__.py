"""Sources of URLs: sitemaps, feeds, OPML, bookmarks, lists. Pure functions of bytes, without network access.

The content decides the format; names and content types are often wrong. An ordinary web page is not a source. Limits
apply everywhere, the time is linear, and malformed bodies never raise; `markup` parses the XML.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable

from lycosa.web.inflate import BadEncoding, charset_of, declared_in_xml, inflate
from lycosa.web.inflate import decode as decode_as_browsers
from lycosa.web.sources.bookmarks import NETSCAPE, read_bookmarks
from lycosa.web.sources.feed import read_feed, read_json_feed, read_opml, read_sitemap
from lycosa.web.sources.lists import is_markdown, read_list
from lycosa.web.sources.markup import local, pieces
from lycosa.web.sources.source import MAX_SOURCE_BYTES, MAX_SOURCE_LINKS, Source, words_of

__all__ = ["MAX_SOURCE_BYTES", "MAX_SOURCE_LINKS", "Source", "decode", "read_source", "unpack", "words_of"]

_ROOTS: dict[str, tuple[str, Callable[[str, Source], None]]] = {
    "urlset": ("sitemap", read_sitemap),
    "sitemapindex": ("sitemap index", read_sitemap),
    "rss": ("feed", read_feed),
    "feed": ("feed", read_feed),
    "rdf": ("feed", read_feed),
    "opml": ("opml", read_opml),
}


def read_source(body: bytes, url: str, content_type: str = "") -> Source | None:
    """Parse a source; None if the body is not one. `url` is where it came from, empty for a file."""
    body, note = unpack(body)
    text = decode(body, content_type)
    source = _read(text, url, content_type)
    if source is not None:
        source.truncate(5 * len(body) + 100_000)
        source.note = note or source.note or ("too long: the rest is skipped" if source.is_full else "")
    return source


def _read(text: str, url: str, content_type: str) -> Source | None:
    head = text[:2_000].lstrip()
    if NETSCAPE.search(head):
        source = Source("bookmarks", url)
        read_bookmarks(text, source)
        return source
    if head.startswith("<") or "<?xml" in head:
        return _read_xml(text, url)
    if head.startswith("{"):
        return _read_json(text, url)
    markdown = is_markdown(url, content_type)
    if not head or "\0" in head or ("html" in content_type.lower() and not markdown):
        return None
    source = Source("list", url)
    return source if read_list(text, source, markdown=markdown) else None


def _read_xml(text: str, url: str) -> Source | None:
    # Text before the declaration (mostly a server's warnings) is ignored.
    start = max(0, text.find("<?xml", 0, 2_000))
    root = next((local(name) for kind, name, _ in pieces(text[start : start + 20_000]) if kind == "open"), "")
    if root not in _ROOTS:
        return None
    form, read = _ROOTS[root]
    source = Source(form, url)
    read(text[start:] if start else text, source)
    if source.entries and not re.search(rf"</([\w.-]+:)?{root}\s*>", text[-1_000:].lower()):
        source.note = "truncated: the part before is used"
    return source


def _read_json(text: str, url: str) -> Source | None:
    try:
        data = json.loads(text)
    except (ValueError, RecursionError):
        return None
    if not isinstance(data, dict) or "jsonfeed.org" not in str(data.get("version", ""))[:100]:
        return None
    source = Source("feed", url)
    read_json_feed(data, source)
    return source


def unpack(body: bytes) -> tuple[bytes, str]:
    """Decompress a gzip body; also return a note for the user if it is damaged or too large."""
    whole = True
    for _ in range(2):  # a .gz file may be sent compressed once more
        if not body.startswith(b"\x1f\x8b"):  # gzip
            break
        try:
            body, whole = inflate(body, "gzip", MAX_SOURCE_BYTES + 1)
        except BadEncoding:
            return b"", "damaged: it could not be decompressed"
    if len(body) > MAX_SOURCE_BYTES:
        return body[:MAX_SOURCE_BYTES], f"only its first {MAX_SOURCE_BYTES // 1024 // 1024} MB are read"
    return body, "" if whole else "truncated: the part before is used"


def decode(body: bytes, content_type: str = "") -> str:
    """Decode a body; valid UTF-8 is UTF-8, whatever charset is declared."""
    for mark, name in ((b"<\0", "utf-16-le"), (b"\0<", "utf-16-be"), (b"{\0", "utf-16-le"), (b"\0{", "utf-16-be")):
        if body.startswith(mark):
            return body.decode(name, "replace")
    charset = charset_of(content_type) or declared_in_xml(body.lstrip()[:500])
    if not charset.lower().startswith("iso-2022"):  # ISO 2022 is valid ASCII, so UTF-8 would always fit
        try:
            return body.decode("utf-8-sig")
        except UnicodeDecodeError:
            charset = "" if charset.lower() in ("utf-8", "utf8") else charset
    return decode_as_browsers(body, charset, markup=False)
