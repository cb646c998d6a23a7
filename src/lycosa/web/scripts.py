"""What the scripts of a page seem to do, as far as a glance at its source tells."""

from __future__ import annotations

import re

SOME, LATER = "some", "later"

LARGEST_LOOK = 500_000
"""Characters of a page's source that are looked at."""

# `[sS]` and the like: with a flag for both cases each character would be looked at, not only each "<".
_SCRIPT = re.compile(r"<[sS][cC][rR][iI][pP][tT]\b([^<>]*+)>")
_DATA = re.compile(r"\btype\s*=\s*[\"']?(?!text/javascript|application/javascript|module\b|[\"'>\s])", re.IGNORECASE)
_MARKUP = ("lazy", "infinite", "data-next", "load-more")
_ADDS = re.compile(r"infinite-scroll|data-infinite|data-next(-page|-url)?=|load-more|lazy-?l(inks|oad|ist)")
_CODE = re.compile(
    r"IntersectionObserver|infinite[-_ ]?scroll|load[-_ ]?more|lazy[-_]?(links|load|list)|"
    r"addEventListener\(\s*[\"']scroll|requestIdleCallback",
    re.IGNORECASE,
)
LONGEST_CODE = 50_000
"""Characters of scripts within the page that are read."""


def has_scripts(source: str) -> bool:
    """Whether there is a script on a page that a browser would run: a look at its beginning, mostly.

    >>> has_scripts('<p>reefs</p><script type="application/ld+json">{}</script>'), has_scripts("<script>a()</script>")
    (False, True)
    """
    return any(not _DATA.search(tag[1]) for tag in _SCRIPT.finditer(source, 0, LARGEST_LOOK))


def scripts_of(source: str) -> str:
    """Whether a page has scripts: nothing, SOME, or LATER if they speak of adding something later.

    >>> scripts_of('<p>reefs</p><script type="application/ld+json">{"load-more": 1}</script>')
    ''
    >>> scripts_of('<p>reefs</p><script src="/app.js"></script>')
    'some'
    >>> scripts_of('<script>new IntersectionObserver(more).observe(end)</script>')
    'later'
    """
    source = source[:LARGEST_LOOK]
    runs, left = False, LONGEST_CODE
    for tag in _SCRIPT.finditer(source):
        if _DATA.search(tag[1]):
            continue
        runs = True
        end = source.find("</", tag.end(), tag.end() + left)
        end = tag.end() + left if end < 0 else end
        if end > tag.end() and _CODE.search(source, tag.end(), end):
            return LATER
        left -= end - tag.end()
        if left <= 0:
            break
    if not runs:
        return ""
    # Few pages have any of these words, and to find a word is quicker than to match a pattern.
    return LATER if any(word in source for word in _MARKUP) and _ADDS.search(source) else SOME
