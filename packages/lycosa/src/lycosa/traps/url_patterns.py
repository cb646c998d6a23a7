"""Trap detection by URL alone: sections of similar URLs, and suspicious patterns.

Suspicious URLs, such as calendars and sorted lists, are fetched like any other until their section has proved to be a
trap. Two kinds are held back immediately, because readers never need them: paths that repeat a segment three times, and
extremely long or deep ones.
"""

from __future__ import annotations

import re
from collections import Counter
from typing import NamedTuple

from lycosa.core.types import Visit

MAX_FOLDERS = 15  # maximum folders in a path
MAX_LENGTH = 600  # maximum characters of a URL
_DIGITS = re.compile(r"\d+")
_DATE = re.compile(r"(?:1[89]|20|21)\d\d(?:-[01]?\d(?:-[0-3]?\d)?)?|(?:1[89]|20|21)\d\d[01]\d[0-3]\d")
_MONTH_OR_DAY = re.compile(r"[0-3]?\d(?:\.\w{1,5})?")
_DATES = frozenset("date day month year week cal calendar mon yr start_date end_date tribe-bar-date".split())
# random segments, mostly session ids
_DRAWN = re.compile(r"(?=[^/]*\d)(?=[^/]*[a-z])[0-9a-f]{8,}|(?=[^/]*\d)(?=[^/]*[A-Z])(?=[^/]*[a-z])[\w=-]{16,}")
# parameters that order or filter a list and never identify a page
_ORDERS = frozenset(
    "sort order orderby order_by sortby sort_by dir direction sortdir filter filters facet facets".split()
)
# parameters that change the display of a page and rarely its content
_CHOICES = _ORDERS | frozenset(
    """
    asc desc view layout display mode style page pg paged start offset limit per_page perpage pagesize rows show
    colour color size brand price rating format highlight expand collapse
    """.split()
)

CALENDAR, LOOP, LISTS, LONG = "calendar", "repeated path", "endless list", "long address"


class Suspicion(NamedTuple):
    """Kind of an endless pattern, and the path that its URLs share."""

    kind: str
    stem: str


class Address:
    """A parsed canonical URL.

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
        """Return the endless pattern that the URL matches, if any.

        >>> Address("http://a.test/events/2019/04/").suspicion()
        Suspicion(kind='calendar', stem='/events')
        >>> Address("http://a.test/blog/2019/04/why-corals-bleach").suspicion()
        >>> Address("http://a.test/reefs/more/reefs/more/").suspicion()
        Suspicion(kind='repeated path', stem='')
        >>> Address("http://a.test/shop?sort=price&view=grid").suspicion()
        Suspicion(kind='endless list', stem='/shop')
        """
        segments = self.segments
        if len(segments) > MAX_FOLDERS:  # held by `monstrous` already; also bounds the work for hostile paths
            return None
        for number, segment in enumerate(segments):
            if segment[:1].isdigit() and _DATE.fullmatch(segment):
                # with a name or a number after the date it is an article
                return Suspicion(CALENDAR, _join(segments[:number])) if _is_bare(segments[number:]) else None
        if len(set(segments)) < len(segments):
            for number, segment in enumerate(segments):
                # adjacent repetitions are names, as in /scrapy/scrapy; others may be loops
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
        """Return why no page meant for readers has such a URL; an empty string for ordinary URLs.

        >>> Address("http://a.test/a/b/a/c/a/d/").monstrous(), Address("http://a.test/numpy/numpy/main/numpy/").monstrous()
        ('repeated path', '')
        """
        segments = self.segments
        if len(self.url) > MAX_LENGTH or len(segments) > MAX_FOLDERS:
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
        """Return the folder with placeholders for numbers and the page name, which groups similar pages.

        >>> Address("http://a.test/reefs/why-corals-bleach.html").section()
        '/reefs/*.html'
        >>> Address("http://a.test/reefs/17.html?id=4&x=").section()
        '/reefs/#.html?id&x'
        """
        *folders, name = self.segments
        if not name and folders:  # /why-corals-bleach/ is a page despite the slash
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
    date, *rest = segments
    rest = [part for part in rest if part]
    months_and_days = {4: 2, 7: 1}.get(len(date), 0)  # parts allowed after a year, or after a year and a month
    return len(rest) <= months_and_days and all(_MONTH_OR_DAY.fullmatch(part) for part in rest)


def _join(segments: list[str]) -> str:
    return "".join([f"/{segment}" for segment in segments])


MAZE_SHARE = 0.5  # minimum share of a page's links into one suspicious section that makes it a maze
WALLED_SHARE = 0.8  # the same for sorted lists, which are common on ordinary sites as well
MIN_LINKS = 3  # minimum links of a maze page


def is_maze(visit: Visit) -> bool:
    """Return whether a page has little text, and most of its links lead deeper or to the same list in another order.

    Pages of a calendar or list must match the pattern themselves and have hardly any other links, unlike archives.

    >>> from lycosa.core.types import Links
    >>> def page(node, *links):
    ...     return Visit(node, "page", "ok", 1, links=Links.to(*links))
    >>> here = "http://a.test/reefs/more/"
    >>> is_maze(page(here, here + "reefs/more/", here + "reefs/all/", "http://a.test/", "http://b.test/"))
    True
    >>> is_maze(page(here, *(f"http://a.test/events/2019/{month:02d}/" for month in range(1, 13))))
    False
    """
    if int(visit.terms.counts.sum(dtype=int)) > 250:  # without stop words: enough content for any links
        return False
    urls = dict.fromkeys(visit.links.urls)
    urls.pop(visit.node, None)
    if len(urls) < MIN_LINKS:
        return False
    own = Address(visit.node)
    addresses = [address for address in map(Address, urls) if address.host == own.host]
    if len(addresses) < MAZE_SHARE * len(urls):
        return False
    kinds = Counter(_pattern_kind(address) for address in addresses)
    if kinds[LOOP] >= MAZE_SHARE * len(urls):
        return True
    own_kind = _pattern_kind(own)
    # at least 20 links to dates, as only empty calendars have
    return bool(own_kind) and kinds[own_kind] >= max(WALLED_SHARE * len(urls), 0 if own_kind == LISTS else 20)


def _pattern_kind(address: Address) -> str:
    pattern = address.suspicion()
    return pattern.kind if pattern is not None else address.monstrous()
