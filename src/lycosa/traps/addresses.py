"""What an address alone gives away: how it would look on a thousand other pages, and whether it smells of a trap.

Suspicious is not guilty. An address that only looks like a calendar or a sorted list is fetched like any other until
its section has shown what it is; two kinds are held back at sight, because no reader's page has them: a path that
repeats a segment three times, and one that is longer or deeper than anyone would write.
"""

from __future__ import annotations

import re
from collections import Counter
from typing import NamedTuple

DEEPEST = 15
"""Folders in a path, at most."""

LONGEST = 600
"""Characters in an address, at most."""

_DIGITS = re.compile(r"\d+")
_YEAR = re.compile(r"(?:1[89]|20|21)\d\d|[0-9]{4}-[01]?\d(?:-[0-3]?\d)?|[0-9]{8}")
_NUMBER = re.compile(r"\d{1,4}(?:\.\w{1,5})?")
_DATES = frozenset("date day month year week cal calendar mon yr from to start_date end_date tribe-bar-date".split())
_CHOICES = frozenset(
    """
    sort order orderby order_by sortby sort_by dir direction sortdir asc desc view layout display mode style filter
    filters facet facets page p pg paged start offset limit per_page perpage pagesize rows from_page show colour color
    size brand price rating replytocom share print printable format highlight expand
    collapse ref return redirect c o n s m d
    """.split()
)
"""Parameters that arrange what is shown, and seldom change what it is."""


class Suspicion(NamedTuple):
    """Why an address looks like one of endlessly many, and the part of its path that they share."""

    kind: str
    stem: str


CALENDAR, LOOP, LISTS = "calendar", "repeated path", "endless list"
LONG = "long address"


def suspicion(url: str) -> Suspicion | None:
    """What the address looks like, if it looks like anything.

    >>> suspicion("http://a.test/events/2019/04/")
    Suspicion(kind='calendar', stem='/events')
    >>> suspicion("http://a.test/blog/2019/04/why-corals-bleach")
    >>> suspicion("http://a.test/reefs/more/reefs/more/")
    Suspicion(kind='repeated path', stem='')
    >>> suspicion("http://a.test/shop?sort=price&view=grid")
    Suspicion(kind='endless list', stem='/shop')
    """
    path, query = _parts(url)
    segments = path.split("/")[1:]
    for number, segment in enumerate(segments):
        if _YEAR.fullmatch(segment) and all(not rest or _NUMBER.fullmatch(rest) for rest in segments[number + 1 :]):
            return Suspicion(CALENDAR, _join(segments[:number]))
    if len(set(segments)) < len(segments):
        seen = Counter(segment for segment in segments if segment and not segment.isdigit())
        repeated = [segment for segment, count in seen.items() if count > 1]
        if repeated:
            return Suspicion(LOOP, _join(segments[: segments.index(repeated[0])]))
    if query:
        names = [parameter.partition("=")[0].lower() for parameter in query.split("&")]
        if not _DATES.isdisjoint(names):
            return Suspicion(CALENDAR, path)
        if sum(name in _CHOICES for name in names) >= min(2, len(names)):
            return Suspicion(LISTS, path)
    return None


def monstrous(url: str) -> str:
    """Why no reader's page has such an address; empty for most.

    >>> monstrous("http://a.test/a/b/a/b/a/b/"), monstrous("http://a.test/2020/03/03/03/")
    ('repeated path', '')
    """
    if len(url) > LONGEST:
        return LONG
    path, _ = _parts(url)
    segments = [segment for segment in path.split("/") if segment]
    if len(segments) > DEEPEST:
        return LONG
    if len(segments) > 2 and max(Counter(s for s in segments if not s.isdigit()).values(), default=0) > 2:
        return LOOP
    return ""


def section(url: str) -> str:
    """The host and the folder, with numbers and the page's own name taken out: where pages of one make live.

    >>> section("http://a.test/reefs/why-corals-bleach.html"), section("http://a.test/reefs/17.html?id=4&x=")
    ('a.test/reefs/*.html', 'a.test/reefs/#.html?id&x')
    """
    path, query = _parts(url)
    host = url[url.index("//") + 2 :].partition("/")[0]
    folder, _, name = path.rpartition("/")
    stem, dot, ending = name.rpartition(".")
    stem = stem if dot else name
    ending = f".{ending}" if dot else ""
    shown = "" if not stem else "#" if stem.isdigit() else "*"
    folder = _DIGITS.sub("#", "/".join(dict.fromkeys(folder.split("/"))))
    keys = "&".join(sorted({parameter.partition("=")[0] for parameter in query.split("&")})) if query else ""
    return f"{host}{folder}/{shown}{ending}" + (f"?{keys}" if keys else "")


def _parts(url: str) -> tuple[str, str]:
    """Path and query of a canonical URL."""
    start = url.find("/", url.find("//") + 2)
    path, _, query = url[start:].partition("?") if start >= 0 else ("/", "", "")
    return path, query


def _join(segments: list[str]) -> str:
    return "".join(f"/{segment}" for segment in segments)
