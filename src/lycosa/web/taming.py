"""Markup that a standard parser would make far more of than was written, made harmless before it is parsed.

By the standard, a formatting element that is not closed is there again, with all its attributes, in each block that
follows; and the attributes of a second `<body>` join those of the first. So 60 kB can become gigabytes. What it can
become is bounded here by counting, before anything is parsed; ordinary pages cost a look at their length and a count.
"""

from __future__ import annotations

import re

MOST_SOURCE = 3_000_000
"""Characters of a page that are read."""

MOST_TAGS = 300_000
"""Tags of a page that are read."""

HARMLESS = 40_000_000
"""Tags times characters up to which a page can't become more than 250 MB, whatever it is made of."""

MOST_COPIED = 8_000_000
"""Tags times characters of formatting elements up to which these may be opened again in every block."""

SHORT = 80_000
"""Characters up to which attributes can't be so many that joining them takes long."""

FEW, BRIEF = 10, 1_000
"""Tags `<html>` that are taken for what they are, and the characters of each: pages have some in comments before the
one that counts, for browsers of old. The same of `<body>`."""

_NAMES = "big code em font nobr small strike strong tt".split()
_FORMATTING = "(?=[bcefinstuBCEFINSTU])(?:[bisuBISU]|{})(?=[\\s/>])".format(
    "|".join("".join(f"[{c}{c.upper()}]" for c in name) for name in _NAMES)
)
# A quotation that does not end is taken to the end: rather too much is counted than too little.
_ATTRIBUTES = r"""(?:[^>"']++|"[^"]*+(?:"|\Z)|'[^']*+(?:'|\Z))*+"""
_REOPENED = re.compile(rf"<{_FORMATTING}{_ATTRIBUTES}")
_LINK = re.compile(rf"<[aA](?=[\s/]){_ATTRIBUTES}")
_FORMATTING_TAG = re.compile(rf"<(/?){_FORMATTING}")
_QUOTED = re.compile(r""""[^"]*"|'[^']*'""")
_BETWEEN = re.compile(r"[\s/\"']+")
_BODY = re.compile(r"<[hHbB](?:[tT][mM][lL]|[oO][dD][yY])(?=[\s/>])")
# Nothing that a parser could read in another way: so where it ends here, it ends.
_PLAIN_END = re.compile(r"""(?:[ \t\r\n]++[\w:.-]++(?:=(?:"[^"<>]*+"|'[^'<>]*+'|[^\s"'<>=`]++))?+)*+[ \t\r\n]*+/?>""")


def tame(source: str, most: int = MOST_TAGS) -> str:
    """The same page, not too long, and with nothing in it that multiplies. `most`: it has no more tags than that.

    >>> page = "<p><b a=1>x" * 10_000
    >>> tame(page)[:15], len(tame("<p>" * 1_000_000)) // 3, tame("<b>x") == "<b>x"
    ('<p><span a=1>x<', 300000, True)
    """
    if len(source) <= SHORT and most * len(source) < HARMLESS:
        return source
    source = source[:MOST_SOURCE]
    tags = most if most < MOST_TAGS else source.count("<")
    if tags > MOST_TAGS:
        source = "<".join(source.split("<", MOST_TAGS + 1)[: MOST_TAGS + 1])
        tags = MOST_TAGS
    harmless = tags * len(source) < HARMLESS
    if not harmless or len(source) > SHORT:
        source = _with_few_bodies(source)
    if harmless:
        return source
    if tags * sum(map(len, _REOPENED.findall(source))) > MOST_COPIED:
        source = _FORMATTING_TAG.sub(r"<\1span", source)
    most = MOST_COPIED // tags
    if any(_has_more(link, most) for link in _LINK.findall(source)):  # only one is open at any time
        source = _LINK.sub(lambda link: f"<span{link[0][2:]}" if _has_more(link[0], most) else link[0], source)
    return source


def _with_few_bodies(source: str) -> str:
    """Of tags `<html>` and `<body>` only the first count: a few that are short, or one."""
    names = [name.lower() for name in _BODY.findall(source)]
    if len(names) == len(set(names)):
        return source
    left: dict[str, int] = {}

    def kept(tag: re.Match[str]) -> str:
        name = tag[0].lower()
        first, more = name not in left, left.get(name, FEW)
        brief = more > 0 and _PLAIN_END.match(source, tag.end(), tag.end() + BRIEF) is not None
        left[name] = more - 1 if brief else 0 if first else more
        return tag[0] if brief or first else "<span"

    return _BODY.sub(kept, source)


def _has_more(tag: str, most: int) -> bool:
    """Whether a tag has more attributes than that."""
    return len(tag) > 2 * most and len(_BETWEEN.findall(_QUOTED.sub('"', tag))) > most
