"""What an address alone gives away: how it would look on a thousand other pages, and whether it smells of a trap.

Suspicious is not guilty. An address that only looks like a calendar or a sorted list is fetched like any other until
its section has shown what it is; two kinds are held back at sight, because no reader's page has them: a path that
repeats a segment three times, and one that is longer or deeper than anyone would write.
"""

from __future__ import annotations

import re
from collections import Counter
from typing import NamedTuple

from lycosa.core.types import Visit

DEEPEST = 15  # folders in a path
LONGEST = 600  # characters of an address
_DIGITS = re.compile(r"\d+")
_DATE = re.compile(r"(?:1[89]|20|21)\d\d(?:-[01]?\d(?:-[0-3]?\d)?)?|(?:1[89]|20|21)\d\d[01]\d[0-3]\d")
_MONTH_OR_DAY = re.compile(r"[0-3]?\d(?:\.\w{1,5})?")
_DATES = frozenset("date day month year week cal calendar mon yr start_date end_date tribe-bar-date".split())
# a random segment: most likely a session's
_DRAWN = re.compile(r"(?=[^/]*\d)(?=[^/]*[a-z])[0-9a-f]{8,}|(?=[^/]*\d)(?=[^/]*[A-Z])(?=[^/]*[a-z])[\w=-]{16,}")
# parameters that arrange a list, and never name a page
_ORDERS = frozenset(
    "sort order orderby order_by sortby sort_by dir direction sortdir filter filters facet facets".split()
)
# parameters that arrange a page, and seldom change its content
_CHOICES = _ORDERS | frozenset(
    """
    asc desc view layout display mode style page pg paged start offset limit per_page perpage pagesize rows show
    colour color size brand price rating format highlight expand collapse
    """.split()
)


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
        if len(segments) > DEEPEST:  # held for that already; and a hostile path has a thousand
            return None
        for number, segment in enumerate(segments):
            if segment[:1].isdigit() and _DATE.fullmatch(segment):
                # What has a name or a number of its own after the date is an article.
                return Suspicion(CALENDAR, _join(segments[:number])) if _is_bare(segments[number:]) else None
        if len(set(segments)) < len(segments):
            for number, segment in enumerate(segments):
                # Side by side is a name: /scrapy/scrapy. With something in between it may be a round.
                if segment and not segment.isdigit() and segment in segments[number + 2 :]:
                    return Suspicion(LOOP, _join(segments[:number]))
        if self.query:
            names = {parameter.partition("=")[0].lower() for parameter in self.query.split("&")}
            if names & _DATES:
                return Suspicion(CALENDAR, self.path)
            if len(names & _CHOICES) > 1 or names <= _ORDERS:
                return Suspicion(LISTS, self.path)
        return None

    def monstrous(self) -> str:
        """Why no reader's page has such an address; empty for most.

        >>> Address("http://a.test/a/b/a/c/a/d/").monstrous(), Address("http://a.test/numpy/numpy/main/numpy/").monstrous()
        ('repeated path', '')
        """
        segments = self.segments
        if len(self.url) > LONGEST or len(segments) > DEEPEST:
            return LONG
        if len(segments) - len(set(segments)) > 1:
            for first in range(len(segments) - 2):
                for pace in range(1, (len(segments) - first - 1) // 2 + 1):
                    segment = segments[first]
                    thrice = segment == segments[first + pace] == segments[first + 2 * pace]
                    if thrice and segment and not segment.isdigit():
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
        if not name and folders:  # /why-corals-bleach/ is a page, whatever its address ends with
            name = folders.pop() + "/"
        folders = ["#" if len(folder) > 7 and _DRAWN.fullmatch(folder) else folder for folder in folders]
        if len(set(folders)) < len(folders):
            folders = list(dict.fromkeys(folders))
        stem, dot, ending = name.rpartition(".")
        stem, ending = (stem, dot + ending) if dot else (name.rstrip("/"), "/" if name.endswith("/") else "")
        shown = "" if not stem else "#" if stem.isdigit() else "*"
        keys = sorted({parameter.partition("=")[0] for parameter in self.query.split("&")}) if self.query else ()
        return _DIGITS.sub("#", f"{_join(folders)}/{shown}{ending}" + ("?" + "&".join(keys) if keys else ""))


def _is_bare(segments: list[str]) -> bool:
    """Whether a path that begins with a date says no more than that date."""
    date, *rest = segments
    rest = [part for part in rest if part]
    months_and_days = {4: 2, 7: 1}.get(len(date), 0)  # after a year, or a year and a month
    return len(rest) <= months_and_days and all(_MONTH_OR_DAY.fullmatch(part) for part in rest)


def _join(segments: list[str]) -> str:
    return "".join([f"/{segment}" for segment in segments])


# -- mazes -------------------------------------------------------------------------------------------------

MAZE = 0.5  # share of a page's links into one suspicious section that makes it a maze
WALLED = 0.8  # the same for a list in many orders, of which an ordinary site has some
FEWEST_LINKS = 3  # a page with fewer links proves nothing


def is_maze(visit: Visit) -> bool:
    """Whether a page has little to say, and most of its links lead ever deeper, or to the same in another order.

    A page of a calendar or a list must look like one itself, and have hardly any other links, as an archive has.

    >>> from lycosa.core.types import Links
    >>> def page(node, *links):
    ...     return Visit(node, "page", "ok", 1, links=Links.to(*links))
    >>> here = "http://a.test/reefs/more/"
    >>> is_maze(page(here, here + "reefs/more/", here + "reefs/all/", "http://a.test/", "http://b.test/"))
    True
    >>> is_maze(page(here, *(f"http://a.test/events/2019/{month:02d}/" for month in range(1, 13))))
    False
    """
    if int(visit.terms.counts.sum(dtype=int)) > 250:  # words, without stop words: worth reading whatever it links to
        return False
    urls = dict.fromkeys(visit.links.urls)
    urls.pop(visit.node, None)
    if len(urls) < FEWEST_LINKS:
        return False
    own = Address(visit.node)
    addresses = [address for address in map(Address, urls) if address.host == own.host]
    if len(addresses) < MAZE * len(urls):
        return False
    kinds = Counter(_looks(address) for address in addresses)
    if kinds[LOOP] >= MAZE * len(urls):
        return True
    own_look = _looks(own)
    # links to dates, as only an empty calendar has
    return bool(own_look) and kinds[own_look] >= max(WALLED * len(urls), 0 if own_look == LISTS else 20)


def _looks(address: Address) -> str:
    smell = address.suspicion()
    return smell.kind if smell is not None else address.monstrous()
