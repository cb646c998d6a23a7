"""What a page takes to be shown as it was: the addresses of its style sheets, scripts, pictures and fonts.

They are asked for as they stand, with all of their parameters: whoever replays the page asks for the same. Linear in
the size of the source, whatever the markup.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from itertools import islice

from turbohtml import TokenType, tokenize

from lycosa.web.urls import MAX_LENGTH, is_http, parse

MOST_SOURCE = 500_000
"""Characters of a page or of a style sheet that are looked at."""

MOST_TAGS = 50_000
"""Tags and texts of a page."""

_LINKED = frozenset({"stylesheet", "icon", "apple-touch-icon", "preload", "modulepreload", "manifest", "mask-icon"})
_LOADED = frozenset({"style", "script", "image", "font", ""})
"""What links to something that is shown are for, and as what it may be loaded ahead."""

_SOURCES = {
    "img": ("src", "srcset"), "script": ("src",), "source": ("srcset",), "input": ("src",), "video": ("poster",),
    "image": ("href", "xlink:href"), "body": ("background",), "table": ("background",), "td": ("background",),
    "embed": ("src",),
}  # fmt: skip
"""Attributes that name something which is shown."""

# None of these goes back over what it has read.
_URL = re.compile(r"""url\(\s*+(?:"([^"\n]*+)"|'([^'\n]*+)'|([^\s"'()]++))\s*+\)""", re.IGNORECASE)
_IMPORT = re.compile(r"""@import\s++(?:"([^"\n]*+)"|'([^'\n]*+)')""", re.IGNORECASE)
_COMMENT = re.compile(r"/\*.*?(?:\*/|\Z)", re.DOTALL)
_CANDIDATE = re.compile(r"[\s,]*+(\S*[^\s,])(?:,|\s[^,]*+)?")


def of_page(source: str, url: str, most: int) -> list[str]:
    """Those of a page, each once, in its order: no more than so many.

    >>> of_page('<link rel=stylesheet href="/a.css?v=1"><img srcset="b.png, c.png 2x">', "http://x.test/", 9)
    ['http://x.test/a.css?v=1', 'http://x.test/b.png', 'http://x.test/c.png']
    """
    base, hrefs, style = url, list[str](), False
    for token in islice(tokenize(source[:MOST_SOURCE]), MOST_TAGS):
        if token.type is TokenType.START_TAG:
            attributes = {key: value or "" for key, value in token.attrs} if token.attrs else {}
            name = token.tag or ""
            if name == "base" and base == url and attributes.get("href"):
                base = parse(attributes["href"], url) or url
            style = name == "style"
            hrefs += _named(name, attributes)
        elif token.type is TokenType.TEXT and style:
            hrefs += _in_style(token.data or "")
        elif token.type is TokenType.END_TAG:
            style = False
    return _addresses(hrefs, base, url, most)


def of_style(source: str, url: str, most: int) -> list[str]:
    """Those of a style sheet: other sheets, pictures and fonts.

    >>> of_style('@import "b.css"; /* url(no.png) */ a { background: url( "c.png" ) }', "http://x.test/a.css", 9)
    ['http://x.test/b.css', 'http://x.test/c.png']
    """
    return _addresses(_in_style(source[:MOST_SOURCE]), url, url, most)


def _named(name: str, attributes: dict[str, str]) -> Iterator[str]:
    """What a tag names."""
    if name == "link" and attributes.get("href"):
        relations = frozenset(attributes.get("rel", "").lower().split())
        if relations & _LINKED and "alternate" not in relations and attributes.get("as", "").lower() in _LOADED:
            yield attributes["href"]
    if name == "input" and attributes.get("type", "").lower() != "image":
        return
    for attribute in _SOURCES.get(name, ()):
        if value := attributes.get(attribute, ""):
            yield from _CANDIDATE.findall(value) if attribute == "srcset" else (value,)
    if "style" in attributes:
        yield from _in_style(attributes["style"])


def _in_style(source: str) -> list[str]:
    source = _COMMENT.sub(" ", source)
    found = [(match.start(), next(filter(None, match.groups()), "")) for match in _IMPORT.finditer(source)]
    found += [(match.start(), next(filter(None, match.groups()), "")) for match in _URL.finditer(source)]
    return [href for _, href in sorted(found)]


def _addresses(hrefs: Iterable[str], base: str, own: str, most: int) -> list[str]:
    """Addresses of the web, without fragments; not the page's own."""
    found: dict[str, None] = {}
    for href in hrefs:
        if len(found) >= most:
            break
        if not href.strip() or len(href) > MAX_LENGTH:
            continue
        url = (parse(href.strip(), base) or "").partition("#")[0]
        named = "@" in url[: url.find("/", 8)]  # with somebody's name and password
        if is_http(url) and len(url) <= MAX_LENGTH and not named and url != own.partition("#")[0]:
            found[url] = None
    return list(found)
