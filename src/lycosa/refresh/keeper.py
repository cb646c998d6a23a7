"""The keeper: which page is due, what to ask for it, and what has become of it.

It hands the engine what is due (`pick`), and learns from every recorded visit (`learn`): like everything else it is a
fold over the log. What is watched: the finds, the seeds, and the sources of addresses (sitemaps, feeds); all pages if
asked to. Of the pages that are due and whose host is ready, the one with the largest claim comes first.
"""

from __future__ import annotations

import math
from collections import defaultdict, deque
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from lycosa.core.columns import fit
from lycosa.core.protocols import NEVER
from lycosa.core.table import OPEN, Table
from lycosa.core.types import Kind, Page, Task, Visit
from lycosa.refresh import asking
from lycosa.refresh.asking import NEVER_CACHED, Honesty, Validators
from lycosa.refresh.behaviours import BEHAVIOURS, Behaviours, conditional
from lycosa.refresh.change import Change, change_of
from lycosa.refresh.comparing import Comparison
from lycosa.refresh.hints import Hints
from lycosa.refresh.histories import Histories
from lycosa.refresh.pictures import Gallery
from lycosa.refresh.schedules import Schedule

ROUND = 64
"""Looks after which all pages are scheduled anew, as prices and rates have moved."""

STALE = 600.0
"""Seconds after which they are in any case."""

SOURCES = 24 * 3600.0
"""Seconds between two looks at a sitemap or a feed."""

PATIENCE = 600.0
"""Seconds that a single refresh waits for a page that is to be tried again."""

DEBT = 25.0
"""Requests by which exploring and keeping fresh can get out of step with their shares."""

Times: TypeAlias = NDArray[np.float64]

_PERMANENT = frozenset({301, 308})


@dataclass(slots=True)
class Watched:
    """A page, or a source, that is looked at again and again."""

    node: str
    row: int
    number: int
    """Among the histories."""
    kind: Kind
    behaviour: int
    follows: float
    """When its present version was fetched."""
    validators: Validators = field(default_factory=Validators)
    digest: bytes = b""
    attempt: int = 0
    """Failures in a row since the last look that taught something."""
    retry_at: float = 0.0
    fate: str = ""
    """vanished or moved, if it is."""
    target: str = ""


class Keeper:
    """What is watched, when it is due, and what it was found to be.

    `explore` is the share of requests that goes to new pages. With `once`, only what is due when the run begins is
    looked at; `everything` makes all of it due.
    """

    def __init__(
        self,
        comparison: Comparison,
        ready: Callable[[str], tuple[float, str]],
        lane: Callable[[str], str],
        *,
        schedule: Schedule,
        behaviours: Behaviours,
        threshold: float,
        explore: float = 0.0,
        once: bool = False,
        everything: bool = False,
        irrelevant: bool = False,
        images: bool = False,
        attempts: int = 3,
        began: float = 0.0,
    ) -> None:
        self.comparison, self.ready, self.lane = comparison, ready, lane
        self.schedule, self.behaviours, self.threshold = schedule, behaviours, threshold
        self.explore, self.once, self.everything, self.irrelevant = explore, once, everything, irrelevant
        self.attempts, self.began = attempts, began
        self.histories = Histories()
        self.hints = Hints()
        self.honesty: defaultdict[str, Honesty] = defaultdict(Honesty)
        self.watched: dict[str, Watched] = {}
        self.gallery = Gallery() if images else None
        self._by_number: list[Watched] = []
        self._behaviour = np.zeros(0, np.int8)
        self._source = np.zeros(0, np.bool_)
        self._retries: dict[str, Watched] = {}
        self._targets: dict[str, int] = {}  # where pages moved to, and the rows that wait to be fetched
        self._due: Times = np.zeros(0)
        self._in_flight: set[str] = set()
        self._rest: dict[str, float] = {}
        self._queues: dict[str, deque[Watched]] = {}
        self._next = -math.inf  # when the queues are to be made anew
        self._looks = 0
        self._debt = 0.0

    # -- what is due -------------------------------------------------------------------------------------------

    @property
    def explores(self) -> bool:
        """Whether new pages may be fetched; with `once`, as long as there is something due beside them."""
        return self.explore > 0 and (not self.once or bool(self._queues or self._in_flight or self._next == -math.inf))

    def wants_turn(self) -> bool:
        """Whether keeping fresh has had less than its share of requests."""
        return self._debt >= 0

    def pick(self, number: int, now: float) -> Task | None:
        """The page with the largest claim of those that are due and whose host is ready."""
        task = self._moved(number, now) or self._picture(number, now) or self._page(number, now)
        if task is not None:
            self._in_flight.add(task.node)
            self._debt = max(-DEBT, self._debt - self.explore)
        return task

    def _page(self, number: int, now: float) -> Task | None:
        if now >= self._next or self._looks >= ROUND:
            self._plan(now)
        best: tuple[float, str] | None = None
        for lane, queue in list(self._queues.items()):
            while queue and not self._is_due(queue[0], now):
                queue.popleft()
            if not queue:
                del self._queues[lane]
            elif self._lane_ready(lane, now) <= now:
                claim = self._claim(queue[0], now)
                if best is None or claim > best[0]:
                    best = claim, lane
        if best is None:
            return None
        return self._task(self._queues[best[1]].popleft(), number)

    def _task(self, page: Watched, number: int) -> Task:
        conditions: tuple[tuple[str, str], ...] = NEVER_CACHED
        if conditional(page.behaviour):
            conditions = page.validators.conditions(self.honesty[self.lane(page.node)]) if not page.fate else ()
        return Task(
            page.node,
            page.kind,
            page.row,
            pick=number,
            arm=BEHAVIOURS[page.behaviour],
            score=float(self.histories.weight[page.number]),
            attempt=page.attempt + 1,
            follows=page.follows,
            conditions=conditions,
            due=True,
        )

    def _moved(self, number: int, now: float) -> Task | None:
        """A page that moved is fetched where it is now."""
        for node, row in self._targets.items():
            if node not in self._in_flight and self._lane_ready(self.lane(node), now) <= now:
                return Task(node, "page", row, pick=number, arm="moved", due=True)
        return None

    def _picture(self, number: int, now: float) -> Task | None:
        if self.gallery is None:
            return None
        for node, origin, follows in self.gallery.due(self._in_flight):
            if self._lane_ready(self.lane(node), now) <= now:
                asked = self.gallery.conditions(node).conditions(self.honesty[self.lane(node)]) if follows else ()
                return Task(
                    node, "image", -1, number, "image", origin=origin, follows=follows, conditions=asked, due=True
                )
        return None

    def give_back(self, task: Task, until: float = 0.0) -> None:
        """It is not in flight any more; if it has to wait, so has its host."""
        self._in_flight.discard(task.node)
        page = self.watched.get(task.node)
        if until and page is not None and task.follows:
            lane = self.lane(task.node)
            self._rest[lane] = until
            self._queues.setdefault(lane, deque()).appendleft(page)
            self._debt += self.explore

    def next_due(self, now: float) -> float:
        """When there is something to do that is not in flight."""
        waits = [self._lane_ready(self.lane(node), now) for node in self._targets if node not in self._in_flight]
        if self.gallery is not None:
            waits += [self._lane_ready(self.lane(node), now) for node, _, _ in self.gallery.due(self._in_flight)]
        if now >= self._next or self._looks >= ROUND:
            self._plan(now)
        waits += [self._lane_ready(lane, now) for lane, queue in self._queues.items() if queue]
        soonest = min((wait for wait in waits if wait < NEVER), default=NEVER)
        busy = any(wait == NEVER for wait in waits)  # an answer will come, and wake the loop; look again in any case
        later = self._next if not self.once or self._next < now + PATIENCE else NEVER
        return max(now, min(soonest, now + 1.0 if busy else NEVER, later))

    def soonest(self, now: float) -> float:
        """When the next page is due, in this run or later: for people."""
        if not self.watched:
            return NEVER
        began, once, self.once, self.began = self.began, self.once, False, now
        try:
            return max(now, float(self._times(None).min()))
        finally:
            self.began, self.once = began, once

    def _lane_ready(self, lane: str, now: float) -> float:
        until, _ = self.ready(lane)
        return max(until, self._rest.get(lane, 0.0))

    def _plan(self, now: float) -> None:
        """Schedule all pages anew, and line up those that are due, host by host, the largest claim first."""
        self._looks = 0
        self.histories.now = now
        numbers = self.histories.rows()
        self._queues = {}
        self._next = NEVER
        if not len(numbers):
            return
        due = self._due = self._times(None)
        claims = self.schedule.claim(self.histories, numbers, now)
        by_claim = np.lexsort((numbers, -claims, due > -math.inf))  # what is wanted now comes before everything else
        limit = self.began if self.once else now
        for number in numbers[by_claim][due[by_claim] <= limit].tolist():
            page = self._by_number[number]
            if page.node not in self._in_flight:
                self._queues.setdefault(self.lane(page.node), deque()).append(page)
        if not self.once:
            self._next = max(now + 1.0, min(float(due[due > now].min(initial=NEVER)), now + STALE))
        for page in self._retries.values():
            if page.retry_at <= now:
                self._queues.setdefault(self.lane(page.node), deque()).append(page)
            else:
                self._next = min(self._next, page.retry_at)

    def _times(self, which: int | None) -> Times:
        """When pages are due, one or all: by the schedule, by what the user said of them, by hints."""
        rows, tried = self.histories.rows(which), self.histories.tried
        due = self.schedule.due(self.histories, which)
        due = self.behaviours.due(self._behaviour[rows], due, tried[rows], self.began)
        due = np.where(self._source[rows], tried[rows] + SOURCES, due)
        for node in map(str, self.hints.open) if which is None else (self._by_number[which].node,):
            page = self.watched.get(node)
            if page is not None and BEHAVIOURS[page.behaviour] in ("automatic", "frequently"):
                place = page.number if which is None else 0
                due[place] = self._hinted(page, float(due[place]))
        if self.everything:
            due = np.where(tried[rows] < self.began, self.began, due)
        if self.once:  # each page once in a run, but for those that are tried again
            due = np.where(tried[rows] < self.began, due, NEVER)
        return due

    def _hinted(self, page: Watched, due: float) -> float:
        number, histories = page.number, self.histories
        posterior = getattr(self.schedule, "posterior", None)
        return self.hints.due(
            int(histories.host[number]),
            page.node,
            due,
            weight=float(histories.weight[number]),
            rate=float(posterior(histories, number).rate[0]) if posterior is not None else 0.0,
            price=float(getattr(self.schedule, "price", 0.0)),
            last=float(histories.last[number]),
        )

    def _is_due(self, page: Watched, now: float) -> bool:
        if page.node in self._in_flight:
            return False
        if page.retry_at:
            return page.retry_at <= now
        return float(self._due[page.number]) <= (self.began if self.once else now)

    def _claim(self, page: Watched, now: float) -> float:
        if self._due[page.number] == -math.inf:
            return math.inf
        return float(self.schedule.claim(self.histories, page.number, now)[0])

    # -- what came ---------------------------------------------------------------------------------------------

    def is_same(self, visit: Visit, page: Page) -> bool:
        """Whether a revisit brought what is there already."""
        if visit.kind == "revisit":
            before = self.comparison.versions.last(visit.node)
            known = self.watched.get(visit.node)
            gone = known is not None and known.fate == "vanished"
            return before is not None and not gone and self.comparison.is_same(before, visit, page)
        if visit.kind == "image":
            return self.gallery is not None and self.gallery.is_same(visit)
        watched = self.watched.get(visit.node)
        return watched is not None and bool(visit.digest) and watched.digest == visit.digest

    def compare(self, visit: Visit, page: Page) -> None:
        """Say in the visit what has become of the page."""
        change = self._change(visit, page)
        if visit.kind == "image" and self.gallery is not None:
            change = self.gallery.compare(visit, page)
        elif visit.kind == "revisit" and visit.outcome in ("ok", "unchanged") and visit.status != 304:
            known = self.watched.get(visit.node)
            if known is not None:
                odd = asking.remark(known.validators, visit, change is not None and change.matters)
                visit.note = "; ".join(filter(None, (visit.note, odd)))
        if self.gallery is not None and visit.is_version:
            self.gallery.note(visit, page)
        if change is not None:
            visit.data = {**visit.data, "change": change.as_data()}

    def _change(self, visit: Visit, page: Page) -> Change | None:
        if visit.is_page:
            return Change("new")
        known = self.watched.get(visit.node)
        if visit.kind != "revisit" or known is None:
            return None
        if visit.outcome == "ok" and "soft-404" in visit.flags:
            visit.outcome, visit.note = "gone", "says that there is nothing, under status 200"
            visit.links = type(visit.links)()
        if visit.outcome == "gone":
            told = visit.note or f"status {visit.status}"
            return Change("vanished", magnitude=1.0, says=[told]) if known.fate != "vanished" else None
        if visit.outcome == "redirect":
            target = visit.links.urls[0]
            how = "for good" if visit.status in _PERMANENT else "for now"
            moved = Change("moved", magnitude=1.0, says=[f"{how}, to {target}"], target=target)
            return moved if (known.fate, known.target) != ("moved", target) else None
        if visit.outcome == "ok" and known.fate == "vanished":
            return Change("returned", magnitude=1.0)
        if visit.outcome != "ok":
            return None
        before = self.comparison.versions.last(visit.node)
        return self.comparison.change(before, visit, page) if before is not None else None

    # -- what is learned ---------------------------------------------------------------------------------------

    def learn(self, visit: Visit, table: Table) -> None:
        """See a recorded visit, live or replayed."""
        self._targets.pop(visit.node, None)
        if self.gallery is not None:
            self.gallery.learn(visit)
        if visit.kind == "sitemap" or visit.data.get("modified"):
            self._hear(visit)
        if not visit.follows:
            if visit.kind in ("page", "sitemap") and visit.outcome == "ok":
                self._debt = min(DEBT, self._debt + 1.0 - self.explore)
                self._watch(visit, table)
            return
        page = self.watched.get(visit.node)
        if page is not None and visit.kind != "image":
            self._looks += 1
            self._look(page, visit, table)
            if page.number < len(self._due):  # there is a plan: bring this page's part of it up to date
                self._due[page.number] = self._times(page.number)[0]
                again = page.retry_at or (NEVER if self.once else float(self._due[page.number]))
                self._next = min(self._next, max(again, visit.ended + 1e-3))

    def _watch(self, visit: Visit, table: Table) -> None:
        """A page, or a source, seen for the first time: is it worth watching?"""
        row = table.row_of.get(visit.node, -1)
        if row < 0 or visit.node in self.watched:
            return
        seed, source = bool(table.is_seed[row]), visit.kind == "sitemap"
        if not (seed or source or self.irrelevant or visit.is_find(self.threshold)):
            return
        if "//" not in visit.node:  # a file
            return
        weight = max(visit.beta, self.threshold) if seed or source else visit.beta
        number = self.histories.add(visit.ended, host=int(table.lane[row]), weight=max(weight, 1e-3))
        kind: Kind = "sitemap" if source else "revisit"
        behaviour = self.behaviours.number(visit.node)
        page = self.watched[visit.node] = Watched(visit.node, row, number, kind, behaviour, visit.started)
        self._by_number.append(page)
        self._behaviour, self._source = fit(self._behaviour, number + 1), fit(self._source, number + 1)
        self._behaviour[number], self._source[number] = behaviour, source
        if len(self._due):  # there is a plan: it joins at the next one
            self._due = np.append(self._due, NEVER)
            self._looks = ROUND
        self._remember(page, visit)
        self.hints.learn(int(table.lane[row]), visit.node, visit.ended, changed=False)

    def _remember(self, page: Watched, visit: Visit) -> None:
        """What the answer said of itself, for the next request."""
        page.validators = Validators(visit.etag, visit.modified)
        if visit.digest:
            page.digest = visit.digest

    def _look(self, page: Watched, visit: Visit, table: Table) -> None:
        """What a look again teaches."""
        number, at, change = page.number, visit.ended, change_of(visit)
        page.retry_at = 0.0
        self._retries.pop(page.node, None)
        if visit.outcome in ("ok", "unchanged"):
            self._seen_again(page, visit, change)
        elif visit.outcome in ("gone", "denied", "refused", "loop") or (
            visit.outcome == "redirect" and visit.status in _PERMANENT
        ):
            page.fate = "moved" if visit.outcome == "redirect" else "vanished"
            self.histories.drop(number, at)
            page.attempt = 0
        elif visit.outcome != "redirect":
            self.histories.failed(number, at)
            page.attempt += 1
            if visit.retry_at and page.attempt < self.attempts:
                page.retry_at = visit.retry_at
                self._retries[page.node] = page
            else:
                page.attempt = 0
        else:  # elsewhere for now: that is no look at the page
            self.histories.failed(number, at)
        if visit.outcome == "redirect" and visit.links.urls:
            page.target = visit.links.urls[0]
            row = table.row_of.get(page.target, -1)
            if row >= 0 and table.state[row] == OPEN:
                self._targets[page.target] = row

    def _seen_again(self, page: Watched, visit: Visit, change: Change | None) -> None:
        number, at, matters = page.number, visit.ended, change is not None and change.matters
        honesty = self.honesty[self.lane(page.node)]
        if page.kind == "revisit":
            asking.learn(honesty, page.validators, visit, matters)
        if page.fate:
            self.histories.revive(number, at)
        else:
            modified = asking.seconds(visit.modified) if honesty.dates else 0.0
            self.histories.look(number, at, matters or (page.kind == "sitemap" and visit.outcome == "ok"), modified)
        self.hints.learn(int(self.histories.host[number]), page.node, at, matters)
        page.fate = page.target = ""
        page.attempt = 0
        if visit.status != 304:
            self._remember(page, visit)
        if visit.outcome == "ok":
            page.follows = visit.started
            if page.kind == "revisit":
                self.histories.weight[number] = max(visit.beta, 1e-3)

    def _hear(self, visit: Visit) -> None:
        """What a source says of when pages changed."""
        dates: list[Any] = visit.data.get("modified", [])
        for url, date in zip(visit.links.urls, dates, strict=False):
            page = self.watched.get(url)
            if date and page is not None:
                self.hints.heard(int(self.histories.host[page.number]), url, date, visit.ended)
