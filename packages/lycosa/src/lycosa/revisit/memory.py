"""State of the watched pages: histories of visits, fates, and the reliability of their hosts.

All of it is a fold over the log, so a later run reconstructs it from the log alone. Relevant pages, seeds and sources
of URLs (sitemaps, feeds) are watched, or all pages on request. Relevances are those at the time of reading the log:
model updates of one run affect the pages watched by the next.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Callable, Hashable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from lycosa.core.columns import fit
from lycosa.core.table import OPEN, Table
from lycosa.core.types import Kind, Visit
from lycosa.revisit import validators
from lycosa.revisit.change import PERMANENT, Change, change_of
from lycosa.revisit.rates import Histories
from lycosa.revisit.schedules import MIN_INTERVAL_SECONDS, Behaviours
from lycosa.revisit.validators import CUT, Honesty, Validators
from lycosa.web.dates import parse_http_date, parse_w3c_date

TRIALS = 8  # hints of a host that are followed before its precision is known


@dataclass(slots=True)
class Watched:
    """A page or source that is revisited, with its last known state."""

    node: str
    row: int
    number: int  # row in the histories
    kind: Kind
    behaviour: int
    follows: float  # fetch time of its current version
    floor: float = 1e-3  # minimum weight, for pages that the user named or that other pages depend on
    validators: Validators = field(default_factory=Validators)
    digest: bytes = b""
    visits: int = 0  # successful visits
    attempt: int = 0  # failures since the last successful visit
    retry_at: float = 0.0
    fate: str = ""  # "vanished" or "moved"
    target: str = ""


@dataclass(slots=True)
class Destination:
    """Target of a moved page, to be visited."""

    row: int
    kind: Kind
    hops: int
    attempt: int = 1
    until: float = 0.0


class Memory:
    """The watched pages by URL and by number, and the state of their hosts."""

    def __init__(
        self,
        host_key: Callable[[str], str],
        behaviours: Behaviours,
        threshold: float,
        *,
        irrelevant: bool = False,
        attempts: int = 3,
    ) -> None:
        self.host_key, self.behaviours, self.threshold = host_key, behaviours, threshold
        self.irrelevant, self.attempts = irrelevant, attempts
        self.histories = Histories()
        self.hints = Hints()
        self.honesty: defaultdict[str, Honesty] = defaultdict(Honesty)
        self.watched: dict[str, Watched] = {}
        self.by_number: list[Watched] = []
        self.behaviour = np.zeros(0, np.int8)  # by number, like `is_source`
        self.is_source = np.zeros(0, np.bool_)
        self.retries: dict[str, Watched] = {}  # failed pages to be retried
        self.targets: dict[str, Destination] = {}
        self.news = 0  # number of hints so far that announced a change

    def learn(self, visit: Visit, table: Table) -> Watched | None:
        place = self.targets.pop(visit.node, None)
        if place is not None and not visit.follows:
            self._arrived(place, visit, table)
        if visit.kind == "sitemap":
            self._read_hints(visit)
        if not visit.follows:
            if visit.kind in ("page", "sitemap") and visit.outcome == "ok":
                self._watch(visit, table)
            return None
        page = self.watched.get(visit.node)
        if page is None:
            return None
        self._classify(page, visit, table)
        return page

    def _arrived(self, place: Destination, visit: Visit, table: Table) -> None:
        if visit.retry_at:
            place.attempt, place.until = visit.attempt + 1, visit.retry_at
            self.targets[visit.node] = place
        elif visit.outcome == "redirect":
            self._follow(visit, table)

    def _follow(self, visit: Visit, table: Table) -> None:
        """Schedule a visit of a redirect's target, unless it is known or out of scope."""
        target = visit.links.urls[0]
        row = table.row_of.get(target, -1)
        if row >= 0 and table.state[row] == OPEN:
            kind: Kind = "sitemap" if table.is_source[row] else "page"
            self.targets[target] = Destination(row, kind, int(table.hops[row]), int(table.attempts[row]) + 1)

    def _watch(self, visit: Visit, table: Table) -> None:
        row = table.row_of.get(visit.node, -1)
        if row < 0 or visit.node in self.watched:
            return
        seed, source = bool(table.is_seed[row]), visit.kind == "sitemap"
        if not (seed or source or self.irrelevant or visit.is_relevant(self.threshold)):
            return
        if "//" not in visit.node:  # a local file
            return
        floor = max(self.threshold, 1e-3) if seed or source else 1e-3
        number = self.histories.add(visit.ended, host=int(table.host[row]), weight=max(visit.relevance_now, floor))
        kind: Kind = "sitemap" if source else "revisit"
        behaviour = self.behaviours.number(visit.node)
        page = self.watched[visit.node] = Watched(visit.node, row, number, kind, behaviour, visit.started, floor)
        self.by_number.append(page)  # included in the next plan
        self.behaviour, self.is_source = fit(self.behaviour, number + 1), fit(self.is_source, number + 1)
        self.behaviour[number], self.is_source[number] = behaviour, source
        self._remember(page, visit)
        self.hints.learn(int(table.host[row]), visit.node, visit.ended, changed=False)

    def _remember(self, page: Watched, visit: Visit) -> None:
        cut = not CUT.isdisjoint(visit.flags)
        page.validators = Validators() if cut else Validators(visit.etag, visit.modified)
        if visit.digest:
            page.digest = visit.digest

    def _classify(self, page: Watched, visit: Visit, table: Table) -> None:
        number, at, change = page.number, visit.ended, change_of(visit)
        page.retry_at = 0.0
        self.retries.pop(page.node, None)
        if visit.outcome in ("ok", "unchanged"):
            self._record_revisit(page, visit, change)
        elif visit.outcome in ("gone", "unwanted"):
            page.fate, page.target, page.attempt = "vanished", "", 0
            self.histories.drop(number, at)
            self._resolve_hints(page, at, change is not None)
        elif visit.outcome == "redirect":
            page.fate, page.target, page.attempt = "moved", visit.links.urls[0], 0
            if visit.status in PERMANENT:
                self.histories.drop(number, at)
            else:  # moved, which is no visit of the page itself
                self.histories.failed(number, at)
            self._resolve_hints(page, at, change is not None)
            self._follow(visit, table)
        else:  # unknown state, because there was no response or the visit was not allowed
            self.histories.failed(number, at)
            page.attempt += 1
            if visit.retry_at and page.attempt < self.attempts:
                page.retry_at = visit.retry_at
                self.retries[page.node] = page
            else:
                page.attempt = 0

    def _record_revisit(self, page: Watched, visit: Visit, change: Change | None) -> None:
        number, at, matters = page.number, visit.ended, change is not None and change.matters
        honesty = self.honesty[self.host_key(page.node)]
        changed = matters or (page.kind == "sitemap" and visit.outcome == "ok")
        if page.fate:
            self.histories.revive(number, at)
        else:
            validators.learn(honesty, page.validators, visit, changed)
            modified = parse_http_date(visit.modified) if honesty.dates else 0.0
            self.histories.add_visit(number, at, changed, modified)
        self._resolve_hints(page, at, matters)
        page.fate = page.target = ""
        page.attempt = 0
        page.visits += 1
        if visit.status != 304:
            self._remember(page, visit)
        if visit.outcome == "ok":
            page.follows = visit.started
            if page.kind == "revisit":
                self.histories.weight[number] = max(visit.relevance_now, page.floor)

    def _resolve_hints(self, page: Watched, at: float, changed: bool) -> None:
        """Resolve the hints about a page; only failed visits leave them open."""
        self.hints.learn(int(self.histories.host[page.number]), page.node, at, changed)

    def _read_hints(self, visit: Visit) -> None:
        dates: list[Any] = visit.data.get("modified", [])
        for url, date in zip(visit.links.urls, dates, strict=False):
            page = self.watched.get(url)
            if date and page is not None:
                self.news += self.hints.add_hint(int(self.histories.host[page.number]), url, date, visit.ended)


@dataclass(slots=True)
class _Host:
    right: int = 0
    wrong: int = 0
    trials: set[Hashable] = field(default_factory=set)

    @property
    def precision(self) -> float:
        return (self.right + 1) / (self.right + self.wrong + 2)


class Hints:
    """Change dates announced by sites (`lastmod` of sitemaps, dates of feeds), weighted by their precision so far.

    Nodes and hosts may be names or numbers. A hint announces a change if its time is later than the previous hint's and
    than our last visit. It stays open until the next visit of the page, and was right if the page had changed. For each
    host

        precision = (right + 1) / (right + wrong + 2)       over verified hints

    A page with an open hint is stale with probability `precision`, and a visit of a stale page of weight w gains
    w/lambda, the time until it changes again. So it is due at once if precision * w/lambda exceeds the price of a visit
    (rates.py). The first eight hints of a host are followed. After that, hosts with a precision below a fifth are
    ignored, for instance if every lastmod is today. Their hints are still verified by scheduled visits, so a host can
    recover.

    All of it is a fold over visits in order: of sources that announce changes (`add_hint`) and of pages (`learn`).
    """

    def __init__(self) -> None:
        self._hosts: defaultdict[Hashable, _Host] = defaultdict(_Host)
        self._announced: dict[Hashable, float] = {}  # latest change date of a page announced by its host
        self._seen: dict[Hashable, float] = {}  # time of our last visit
        self._open: dict[Hashable, float] = {}  # open hints: time at which the hint was read

    def add_hint(self, host: Hashable, node: Hashable, lastmod: str | float, now: float) -> bool:
        """Record a change date read at time `now`; return whether it announces a change.

        Dates in the future announce none. A date without a time does if our last visit was before the end of that day,
        because the page may have changed after the visit.
        """
        times = parse_w3c_date(lastmod) if isinstance(lastmod, str) else (lastmod, lastmod)
        if times is None or not 0 < times[0] <= now + 86_400.0:
            return False
        first, last = times
        before = self._announced.get(node)
        self._announced[node] = max(first, before or 0.0)
        seen = self._seen.get(node, -math.inf)
        # the first hint of a page counts only if it is later than our visit
        news = seen < first if before is None else before < first and seen < last
        if news and node not in self._open:
            self._open[node] = now
            host_hints = self._hosts[host]
            if host_hints.right + host_hints.wrong + len(host_hints.trials) < TRIALS:
                host_hints.trials.add(node)
        return news

    def learn(self, host: Hashable, node: Hashable, at: float, changed: bool) -> None:
        self._seen[node] = max(at, self._seen.get(node, at))
        host_hints = self._hosts[host]
        host_hints.trials.discard(node)
        if self._open.pop(node, None) is not None:
            host_hints.right += changed
            host_hints.wrong += not changed

    @property
    def open(self) -> list[Hashable]:
        return list(self._open)

    def precision(self, host: Hashable) -> float:
        return self._hosts[host].precision if host in self._hosts else 0.5

    def believed(self, host: Hashable, node: Hashable) -> float:
        """Return the probability that a page has changed according to a hint; 0 if its host is unreliable."""
        if node not in self._open:
            return 0.0
        host_hints = self._hosts[host]
        checked = host_hints.right + host_hints.wrong >= TRIALS and host_hints.precision >= 0.2
        return host_hints.precision if checked or node in host_hints.trials else 0.0

    def due(
        self, host: Hashable, node: Hashable, due: float, *, weight: float, rate: float, price: float, last: float
    ) -> float:
        """Return the due time of a page: that of its hint if reliable and worth a visit, else the scheduled one."""
        chance = self.believed(host, node)
        if chance <= 0 or chance * weight <= price * rate:
            return due
        return min(due, max(self._open[node], last + MIN_INTERVAL_SECONDS))
