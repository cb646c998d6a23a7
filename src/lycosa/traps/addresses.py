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


CALENDAR, LOOP, LISTS = "calendar", "repeated path", "endless list"
LONG = "long address"


class Suspicion(NamedTuple):
    """Why an address looks like one of endlessly many, and the part of its path that they share."""

    kind: str
    stem: str


class Address:
    """A canonical URL, taken apart once.

    >>> Address("http://a.test:81/reefs/17.html?id=4").host
    'a.test:81'
    """

    __slots__ = ("host", "path", "query", "segments", "url")

    def __init__(self, url: str) -> None:
        self.url = url
        start = url.find("//") + 2
        end = url.find("/", start)
        self.host = url[start:end] if end > 0 else url[start:] if start > 1 else ""
        self.path, _, self.query = url[end:].partition("?") if end > 0 else ("/", "", "")
        self.segments = self.path.split("/")[1:]

    def suspicion(self) -> Suspicion | None:
        """What the address looks like, if it looks like anything.

        >>> Address("http://a.test/events/2019/04/").suspicion()
        Suspicion(kind='calendar', stem='/events')
        >>> Address("http://a.test/blog/2019/04/why-corals-bleach").suspicion()
        >>> Address("http://a.test/reefs/more/reefs/more/").suspicion()
        Suspicion(kind='repeated path', stem='')
        >>> Address("http://a.test/shop?sort=price&view=grid").suspicion()
        Suspicion(kind='endless list', stem='/shop')
        """
        segments = self.segments
        for number, segment in enumerate(segments):
            dated = segment[:1].isdigit() and _YEAR.fullmatch(segment)
            if dated and all(not rest or _NUMBER.fullmatch(rest) for rest in segments[number + 1 :]):
                return Suspicion(CALENDAR, _join(segments[:number]))
        if len(set(segments)) < len(segments):
            seen = Counter(segment for segment in segments if segment and not segment.isdigit())
            repeated = [segment for segment, count in seen.items() if count > 1]
            if repeated:
                return Suspicion(LOOP, _join(segments[: segments.index(repeated[0])]))
        if self.query:
            names = [parameter.partition("=")[0].lower() for parameter in self.query.split("&")]
            if not _DATES.isdisjoint(names):
                return Suspicion(CALENDAR, self.path)
            if sum(name in _CHOICES for name in names) >= min(2, len(names)):
                return Suspicion(LISTS, self.path)
        return None

    def monstrous(self) -> str:
        """Why no reader's page has such an address; empty for most.

        >>> Address("http://a.test/a/b/a/b/a/b/").monstrous(), Address("http://a.test/2020/03/03/03/").monstrous()
        ('repeated path', '')
        """
        segments = self.segments
        if len(self.url) > LONGEST or len(segments) > DEEPEST:
            return LONG
        if len(segments) - len(set(segments)) > 1:
            seen = Counter(segment for segment in segments if segment and not segment.isdigit())
            if max(seen.values(), default=0) > 2:
                return LOOP
        return ""

    def section(self) -> str:
        """The folder, with numbers and the page's own name taken out: where pages of one make live.

        >>> Address("http://a.test/reefs/why-corals-bleach.html").section()
        '/reefs/*.html'
        >>> Address("http://a.test/reefs/17.html?id=4&x=").section()
        '/reefs/#.html?id&x'
        """
        *folders, name = self.segments
        if len(set(folders)) < len(folders):
            folders = list(dict.fromkeys(folders))
        stem, dot, ending = name.rpartition(".")
        stem = stem if dot else name
        shown = "" if not stem else "#" if stem.isdigit() else "*"
        folder = _DIGITS.sub("#", _join(folders))
        keys = sorted({parameter.partition("=")[0] for parameter in self.query.split("&")}) if self.query else ()
        return f"{folder}/{shown}{dot}{ending if dot else ''}" + ("?" + "&".join(keys) if keys else "")


def _join(segments: list[str]) -> str:
    return "".join([f"/{segment}" for segment in segments])
