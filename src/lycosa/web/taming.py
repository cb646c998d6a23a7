"""Markup that a standard parser would make far more of than was written, made harmless before it is parsed.

By the standard, a formatting element that is not closed is there again, with all its attributes, in each block that
follows; and the attributes of a second `<body>` join those of the first. So 60 kB can become gigabytes. What it can
become is bounded here by counting, before anything is parsed; ordinary pages cost a look at their length and a count.
"""

from __future__ import annotations

import re

MOST_SOURCE = 4_000_000
"""Characters of a page that are read."""

MOST_TAGS = 400_000
"""Tags of a page that are read."""

HARMLESS = 30_000_000
"""Tags times characters up to which a page can't become more than 250 MB, whatever it is made of."""

MOST_COPIED = 8_000_000
"""Tags times characters of formatting elements up to which these may be opened again in every block."""

MOST_BODIES = 10
"""Tags `<body>` and `<html>` of one page."""

_NAMES = "big code em font nobr small strike strong tt".split()
_FORMATTING = "[bisuBISU]|" + "|".join("".join(f"[{c}{c.upper()}]" for c in name) for name in _NAMES)
# A quotation that does not end is taken to the end: rather too much is counted than too little.
_ATTRIBUTES = r"""(?:[^>"']++|"[^"]*+(?:"|\Z)|'[^']*+(?:'|\Z))*+"""
_REOPENED = re.compile(rf"<(?:{_FORMATTING})(?=[\s/>]){_ATTRIBUTES}")
_LINK = re.compile(rf"<[aA](?=[\s/]){_ATTRIBUTES}")
_FORMATTING_TAG = re.compile(rf"<(/?)(?:{_FORMATTING})(?=[\s/>])")
_BODY = re.compile(r"<[hHbB](?:[tT][mM][lL]|[oO][dD][yY])(?=[\s/>])")


def tame(source: str) -> str:
    """The same page, not too long, and with nothing in it that multiplies.

    >>> page = "<p><b a=1>x" * 10_000
    >>> tame(page)[:15], len(tame("<p>" * 1_000_000)) // 3, tame("<b>x") == "<b>x"
    ('<p><span a=1>x<', 400000, True)
    """
    source = source[:MOST_SOURCE]
    tags = source.count("<")
    if tags * len(source) < HARMLESS:
        return source
    if tags > MOST_TAGS:
        source = "<".join(source.split("<", MOST_TAGS + 1)[: MOST_TAGS + 1])
        tags = MOST_TAGS
    if len(_BODY.findall(source)) > MOST_BODIES:
        start = [match.end() for _, match in zip(range(MOST_BODIES), _BODY.finditer(source), strict=False)][-1]
        source = source[:start] + _BODY.sub("<span", source[start:])
    if tags * sum(map(len, _REOPENED.findall(source))) > MOST_COPIED:
        source = _FORMATTING_TAG.sub(r"<\1span", source)
    longest = MOST_COPIED // tags
    if max(map(len, _LINK.findall(source)), default=0) > longest:  # only one is open at any time
        source = _LINK.sub(lambda link: link[0] if len(link[0]) <= longest else "<span", source)
    return source
