"""The revisit scheduler: which page is due, and which conditions to send to its host.

It connects the engine with the state of the pages (memory.py), the schedule that computes due times, and the comparer
that classifies changes. The due page of a ready host with the largest claim (gain of a visit: rates.py) comes first.
State is a fold over the log; the plan (due times, agenda, shares of this run) is computed from it.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from heapq import heappop, heappush
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from lycosa.core import protocols
from lycosa.core.budget import Pace
from lycosa.core.errors import InputError
from lycosa.core.options import Options
from lycosa.core.protocols import NEVER, Space
from lycosa.core.table import Table
from lycosa.core.types import Exchange, Links, Page, Task, Terms, Visit
from lycosa.revisit.change import PERMANENT, Change
from lycosa.revisit.detectors import DEFAULT, difference, judge_change, parse_detectors
from lycosa.revisit.memory import Memory, Watched
from lycosa.revisit.schedules import ALWAYS, BEHAVIOURS, Behaviours, make_schedule
from lycosa.revisit.snapshot import Snapshot, inflated
from lycosa.revisit.validators import CUT, NEVER_CACHED, proves
from lycosa.store.versions import Versions
from lycosa.web.inflate import charset_of, decode
from lycosa.web.parse_process import reparse_page

ROUND = 64  # visits after which all pages are rescheduled, because prices and rates have changed
STALE = 600.0  # seconds after which all pages are rescheduled in any case
DEBT = 25.0  # maximum requests by which exploring and refreshing deviate from their shares
Times: TypeAlias = NDArray[np.float64]


class RevisitScheduler(protocols.VisitScheduler):
    """Scheduler of the revisits of a run: watched pages, their due times and their changes."""

    refreshes = True

    def __init__(
        self, plan: RevisitPlan, options: Options, versions: Versions, space: Space, threshold: float, now: float
    ) -> None:
        detectors = parse_detectors(options.detect or DEFAULT)
        self.ready, self.host_key, self.behaviours = space.ready, space.host_key, plan.behaviours(options)
        self.once, self.everything, self.began = plan.once, plan.everything, plan.began or now
        self.explore = options.explore  # share of requests for new pages
        self.schedule = make_schedule(options.schedule, per_second=(1.0 - self.explore) * options.per_hour / 3600)
        # Set for timed runs, so that exploring does not use the unspent share of refreshing.
        self.pace: Pace | None = None
        self.memory = Memory(
            self.host_key, self.behaviours, threshold, irrelevant=options.watch_all, attempts=options.attempts
        )
        self.comparer = ChangeComparer(self.memory, versions, detectors)
        self.histories, self.watched = self.memory.histories, self.memory.watched
        self._due: Times = np.zeros(0)
        self._agenda = Agenda(self._host_key_of, self._due_at)
        self._in_flight: set[str] = set()
        self._rest: dict[str, float] = {}
        self._again = -math.inf  # time of the next complete plan
        self._now = -math.inf  # time of the engine's last call
        self._visits_since_plan = 0
        self._debt = 0.0

    @property
    def explores(self) -> bool:
        """True if new pages may be fetched; with `once`, only while revisits remain."""
        if not self.once or not self.explore:
            return self.explore > 0 and (self.pace is None or self.pace.next(self._now) <= self._now)
        if self._debt >= 1.0:  # while the hosts of known pages are not ready, new pages must not exceed their share
            return False
        return bool(self._in_flight) or self._now == -math.inf or self.next_due(self._now) < NEVER

    def wants_turn(self) -> bool:
        """Return whether revisits have had less than their share of the requests."""
        return self._debt >= self.explore * len(self._in_flight)

    def pick(self, number: int, now: float) -> Task | None:
        """Return the due page with the largest claim whose host is ready."""
        self._now = now
        task = self._moved(number, now) or self._page(number, now)
        if task is not None:
            self._in_flight.add(task.node)
        return task

    def _page(self, number: int, now: float) -> Task | None:
        self._catch_up(now)
        page = self._agenda.take(now, self._host_ready)
        return self._task(self.memory.by_number[page], number) if page >= 0 else None

    def _task(self, page: Watched, number: int) -> Task:
        conditions: tuple[tuple[str, str], ...] = NEVER_CACHED
        if page.behaviour != ALWAYS:
            honesty = self.memory.honesty[self.host_key(page.node)]
            believe = not page.fate and not proves(page.node, page.visits, honesty)
            conditions = page.validators.conditions(honesty) if believe else ()
        return Task(
            page.node,
            page.kind,
            page.row,
            pick=number,
            arm=BEHAVIOURS[page.behaviour],
            priority=float(self.histories.weight[page.number]),
            attempt=page.attempt + 1,
            follows=page.follows,
            conditions=conditions,
            due=True,
        )

    def _moved(self, number: int, now: float) -> Task | None:
        for node, place in self.memory.targets.items():
            if node not in self._in_flight and max(place.until, self._host_ready(self.host_key(node))) <= now:
                return Task(
                    node, place.kind, place.row, number, "moved", attempt=place.attempt, hops=place.hops, due=True
                )
        return None

    def give_back(self, task: Task, until: float = 0.0) -> None:
        """Put back a task that is no longer in flight; a delay applies to its host."""
        self._in_flight.discard(task.node)
        if task.node in self.memory.targets and not task.follows:
            self.memory.targets[task.node].until = max(self.memory.targets[task.node].until, until)
        elif until:
            self._rest[self.host_key(task.node)] = until
        page = self.watched.get(task.node)
        # A page whose visit gave way to a prerequisite is still due.
        if page is not None and task.follows and self._due_at(page.number) <= self._now:
            self._put(page.number)

    def next_due(self, now: float) -> float:
        """Return the time of the next task that is not in flight."""
        self._catch_up(now)
        waits = [
            max(place.until, self._host_ready(self.host_key(node)))
            for node, place in self.memory.targets.items()
            if node not in self._in_flight
        ]
        waits += map(self._host_ready, self._agenda.host_keys(now))
        soonest = min((wait for wait in waits if wait < NEVER), default=NEVER)
        if NEVER in waits:  # a response will wake the loop; check again after a second in any case
            soonest = min(soonest, now + 1.0)
        soonest = min(soonest, self._agenda.next)
        if self.once:  # a refresh waits at most 600 seconds for a host or a retry
            return max(now, soonest) if soonest <= now + 600.0 else NEVER
        if self.explore and self.pace is not None and self.pace.next(now) > now:
            soonest = min(soonest, self.pace.next(now))
        return max(now, min(soonest, self._again))

    def soonest(self, now: float) -> float:
        """Return when the next page is due, in this run or later, for display."""
        if not self.watched:
            return NEVER
        began, once, self.once, self.began = self.began, self.once, False, now
        try:
            return max(now, float(self._times(None).min()))
        finally:
            self.began, self.once = began, once

    def _host_ready(self, host_key: str) -> float:
        until, _ = self.ready(host_key)
        return max(until, self._rest.get(host_key, 0.0))

    def _host_key_of(self, number: int) -> str:
        return self.host_key(self.memory.by_number[number].node)

    def _due_at(self, number: int) -> float:
        """Return when a page is due by the last plan and later visits; NEVER while it is in flight."""
        if number >= len(self._due) or self.memory.by_number[number].node in self._in_flight:
            return NEVER
        return self._due.item(number)

    def _catch_up(self, now: float) -> None:
        self._now = now
        if now >= self._again or self._visits_since_plan >= ROUND:
            self._plan(now)
        for number in self._agenda.ripe(now):
            self._put(number)

    def _put(self, number: int) -> None:
        urgent = self._due[number] == -math.inf
        claim = math.inf if urgent else self.schedule.claim(self.histories, number, self._now)[0]
        self._agenda.put(number, float(claim))

    def _plan(self, now: float) -> None:
        """Reschedule all pages, and queue those that are due by host, largest claim first."""
        self._visits_since_plan = 0
        self._again = NEVER if self.once else now + STALE
        self.histories.now = now
        if not len(self.histories):
            return
        self._due = self._times(None)
        claims = self.schedule.claim(self.histories, None, now)
        due = self._due.copy()
        due[[page.number for node in self._in_flight if (page := self.watched.get(node)) is not None]] = NEVER
        self._agenda.plan(due, claims, now, now + STALE)

    def _times(self, which: int | None) -> Times:
        rows, tried = self.histories.rows(which), self.histories.tried
        due = self.schedule.due(self.histories, which)
        due = self.behaviours.due(self.memory.behaviour[rows], due, tried[rows], self.began)
        due = np.where(self.memory.is_source[rows], tried[rows] + 86_400.0, due)
        for node in map(str, self.memory.hints.open) if which is None else (self.memory.by_number[which].node,):
            page = self.watched.get(node)
            if page is None or (self.histories.failures[page.number] and page.fate != "vanished"):
                continue  # failed pages are paused in spite of hints; vanished ones may have returned
            if BEHAVIOURS[page.behaviour] in ("automatic", "frequently"):
                place = page.number if which is None else 0
                hinted = self._hinted(page, float(due[place]))
                if hinted < due[place]:  # a refresh visits pages as soon as a hint announces a change
                    due[place] = min(hinted, self.began) if self.once else hinted
        if self.everything:
            due = np.where(tried[rows] < self.began, np.minimum(due, self.began), due)
        if self.once:  # once per run, except retries
            due = np.where((tried[rows] < self.began) & (due <= self.began), due, NEVER)
        for page in self.memory.retries.values() if which is None else (self.memory.by_number[which],):
            if page.retry_at:
                due[page.number if which is None else 0] = page.retry_at
        return due

    def _hinted(self, page: Watched, due: float) -> float:
        number, histories = page.number, self.histories
        posterior = getattr(self.schedule, "posterior", None)
        return self.memory.hints.due(
            int(histories.host[number]),
            page.node,
            due,
            weight=float(histories.weight[number]),
            rate=float(posterior(histories, number).rate[0]) if posterior is not None else 0.0,
            price=float(getattr(self.schedule, "price", 0.0)),
            last=float(histories.last[number]),
        )

    def is_same(self, visit: Visit, page: Page) -> bool:
        return self.comparer.is_same(visit, page)

    def compare(self, visit: Visit, page: Page) -> None:
        self.comparer.compare(visit, page)

    def learn(self, visit: Visit, table: Table) -> None:
        if visit.started >= self.began:
            self._count(visit)
        explored = not visit.follows and visit.kind in ("page", "redirect") and visit.arm != "moved"
        if self.pace is not None and explored and visit.address:
            self.pace.take(visit.started)
        news = self.memory.news
        page = self.memory.learn(visit, table)
        if page is not None:
            self._visits_since_plan += 1
            if page.number < len(self._due):  # update only this page's part of the plan
                due = self._due[page.number] = self._times(page.number)[0]
                if due < self._again:
                    self._agenda.wait(page.number, float(due))
        if self.memory.news > news and len(self._due):  # the plan was made without these hints
            self._visits_since_plan = ROUND

    def _count(self, visit: Visit) -> None:
        """Count the visit as exploring or refreshing."""
        if visit.follows or visit.arm == "moved":
            self._debt = max(-DEBT, self._debt - self.explore)
        elif visit.address and visit.kind in ("page", "redirect", "sitemap"):
            self._debt = min(DEBT, self._debt + 1.0 - self.explore)


class Agenda:
    """Queues of due pages by host, largest claim first, and of future ones by time.

    Pages are numbers. `host_key` returns a page's host, `due` its current due time. A plan sets the due times of all
    pages; between plans single pages are added and removed at the cost of a heap operation. Entries are lazy: one whose
    page is no longer due is dropped when it surfaces.

    >>> times = np.array([5.0, 1.0, 9.0, 2.0])
    >>> agenda = Agenda(host_key=lambda page: "ab"[page % 2], due=times.item)
    >>> agenda.plan(times, np.array([0.1, 0.2, 0.3, 0.4]), now=5.0, horizon=100.0)
    >>> agenda.take(5.0, lambda host_key: 0.0), agenda.take(5.0, lambda host_key: 0.0 if host_key == "a" else 6.0)
    (3, 0)
    >>> agenda.next, agenda.host_keys(5.0)
    (9.0, ['b'])
    """

    def __init__(self, host_key: Callable[[int], str], due: Callable[[int], float]) -> None:
        self.host_key, self.due = host_key, due
        self._queues: dict[str, list[tuple[float, int]]] = {}
        self._later: list[tuple[float, int]] = []

    def plan(self, due: NDArray[np.float64], claims: NDArray[np.float64], now: float, horizon: float) -> None:
        """Replace the plan; pages due beyond `horizon` are left out."""
        self._queues, self._later = {}, []
        ready = np.flatnonzero(due <= now)
        # Urgent pages get infinite claims. A sorted list is a valid heap.
        claims = np.where(due[ready] == -np.inf, np.inf, claims[ready])
        order = np.lexsort((ready, -claims))
        for claim, number in zip(claims[order].tolist(), ready[order].tolist(), strict=True):
            self._queues.setdefault(self.host_key(number), []).append((-claim, number))
        later = np.flatnonzero((due > now) & (due <= horizon))
        later = later[np.argsort(due[later], kind="stable")]
        self._later = list(zip(due[later].tolist(), later.tolist(), strict=True))

    def wait(self, number: int, due: float) -> None:
        heappush(self._later, (due, number))

    def put(self, number: int, claim: float) -> None:
        heappush(self._queues.setdefault(self.host_key(number), []), (-claim, number))

    def ripe(self, now: float) -> list[int]:
        ripe = []
        while self._later and self._later[0][0] <= now:
            _, number = heappop(self._later)
            if self.due(number) <= now:
                ripe.append(number)
        return ripe

    def host_keys(self, now: float) -> list[str]:
        for host_key, queue in list(self._queues.items()):
            while queue and self.due(queue[0][1]) > now:
                heappop(queue)
            if not queue:
                del self._queues[host_key]
        return list(self._queues)

    def take(self, now: float, ready: Callable[[str], float]) -> int:
        best: tuple[float, int] | None = None
        for host_key in self.host_keys(now):
            top = self._queues[host_key][0]
            if (best is None or top < best) and ready(host_key) <= now:
                best = top
        if best is None:
            return -1
        heappop(self._queues[self.host_key(best[1])])
        return best[1]

    @property
    def next(self) -> float:
        return self._later[0][0] if self._later else np.inf


@dataclass(slots=True)
class RevisitPlan:
    """Settings of a run that keeps a collection fresh."""

    once: bool = False  # true for a refresh, which visits only the pages due at its start; a watch continues
    everything: bool = False  # true if all pages are due
    now: list[str] = field(default_factory=list)  # patterns of URLs that are due and come first
    requests: int = 0  # limit of requests in this run; 0: none
    began: float = 0.0  # start of the resumed run; pages visited since then are not visited again; 0: now

    def behaviours(self, options: Options) -> Behaviours:
        return Behaviours(
            now=self.now,
            always=options.always,
            frequently=options.frequently,
            infrequently=options.infrequently,
            frequent=options.frequent,
            infrequent=options.infrequent,
        )

    def check(self, options: Options) -> None:
        """Raise InputError for invalid settings, before anything is opened."""
        if self.requests < 0:
            raise InputError("out-of-range", f"--requests is {self.requests}: it must be 0 or more; 0 means no limit")
        self.behaviours(options)
        parse_detectors(options.detect or DEFAULT)
        make_schedule(options.schedule, per_second=options.per_hour / 3600)

    def scheduler(
        self, options: Options, versions: Versions, space: Space, threshold: float, now: float
    ) -> RevisitScheduler:
        return RevisitScheduler(self, options, versions, space, threshold, now)


class ChangeComparer:
    """Classifier of changes: compares a response with the known state or, if digests differ, with the archive."""

    def __init__(self, memory: Memory, versions: Versions, detectors: Sequence[str]) -> None:
        self.memory, self.versions, self.detectors = memory, versions, tuple(detectors)

    def is_same(self, visit: Visit, page: Page) -> bool:
        watched = self.memory.watched.get(visit.node)
        if visit.kind == "revisit":
            return watched is not None and not watched.fate and self._is_as_before(visit, page)
        return watched is not None and bool(visit.digest) and watched.digest == visit.digest

    def _is_as_before(self, visit: Visit, page: Page) -> bool:
        before = self.versions.last(visit.node)
        return before is not None and self._is_same(before, visit, page)

    def compare(self, visit: Visit, page: Page) -> None:
        change = self._change(visit, page)
        if change is not None:
            visit.data = {**visit.data, "change": change.as_data()}

    def _change(self, visit: Visit, page: Page) -> Change | None:
        if visit.is_page:
            # The target of a moved page is not reported as new.
            return Change("new") if visit.was_relevant(self.memory.threshold) and visit.arm != "moved" else None
        known = self.memory.watched.get(visit.node)
        if visit.kind != "revisit" or known is None:
            return None
        if visit.outcome == "ok" and "soft-404" in visit.flags:
            self._check_soft_404(known, visit, page)
        if visit.outcome in ("gone", "unwanted"):
            why = visit.note or f"status {visit.status}"
            if visit.outcome == "unwanted":
                why = f"now {visit.note or 'of another type'}, which is not read"
            return Change("vanished", magnitude=1.0, says=[why]) if known.fate != "vanished" else None
        if visit.outcome == "redirect":
            target = visit.links.urls[0]
            how = "for good" if visit.status in PERMANENT else "for now"
            moved = Change("moved", magnitude=1.0, says=[f"{how}, to {target}"], target=target)
            return moved if (known.fate, known.target) != ("moved", target) else None
        if visit.outcome != "ok":
            return None
        if known.fate:
            how = "as it was" if self._is_as_before(visit, page) else "with other content"
            return Change("returned", magnitude=1.0, says=[how])
        before = self.versions.last(visit.node)
        return self._difference(before, visit, page) if before is not None else None

    def _check_soft_404(self, known: Watched, visit: Visit, page: Page) -> None:
        """Classify a page that looks like a soft 404 as vanished, unless it always looked like that."""
        before = self.versions.last(visit.node) if not known.fate else None
        if before is not None and difference(self._old(before).main, self._new(visit, page).main).share < 0.5:
            visit.flags.remove("soft-404")
            visit.relevance = before.relevance_now
        else:
            visit.outcome, visit.note = "gone", "says that there is nothing, under status 200"
            visit.links, visit.relevance, visit.terms = Links(), 0.0, Terms(new=visit.terms.new)

    def _is_same(self, before: Visit, visit: Visit, page: Page) -> bool:
        if page.exchange is None or not before.digest or _directives(before) != _directives(visit):
            return False
        kept = self.versions.exchange(before)
        if visit.digest != before.digest:
            if kept is None or not (_coding(kept) or _coding(page.exchange)):
                return False
            if inflated(kept) != inflated(page.exchange):
                return False
        return kept is None or _reads_the_same(inflated(kept), _kind(kept), _kind(page.exchange))

    def _difference(self, before: Visit, visit: Visit, page: Page) -> Change | None:
        """Return the change between two versions; None if no detector reports any."""
        old, new = self._old(before), self._new(visit, page)
        if not before.place.file:  # not archived, so only the data of the log is compared
            new.body = b""
        elif old.body == new.body and old.content_type != new.content_type:
            _reencode(old, new)
        change = judge_change(old, new, self.detectors)
        if change is None and old.body and not new.body and before.place.file:
            change = Change("changed", "text", 1.0, ["digest"], ["an empty body"])
        if set(before.flags) & CUT:  # the old version was received incompletely
            change = Change("changed", by=["digest"], says=["the version before was cut short"])
        if changed := _directives(visit) ^ _directives(before):
            directives = [f"{'now' if flag in visit.flags else 'no longer'} {flag}" for flag in sorted(changed)]
            change = change or Change("changed")
            change.by, change.says = [*change.by, "robots"], [*change.says, ", ".join(directives)]
        return change

    def _old(self, before: Visit) -> Snapshot:
        version = self._version(before, self.versions.exchange(before), before.title, "", before.links.urls)
        if version.body:
            document = reparse_page(version.body, before.node, version.content_type, in_worker="apart" in before.data)
            version.title, version.text, version.links = document.title, document.text, document.links.urls
        return version

    def _new(self, visit: Visit, page: Page) -> Snapshot:
        return self._version(visit, page.exchange, visit.title, page.text, visit.links.urls)

    def _version(self, visit: Visit, exchange: Exchange | None, title: str, text: str, links: list[str]) -> Snapshot:
        body, kind = (inflated(exchange), _kind(exchange)) if exchange is not None else (b"", "")
        simhash, worth = visit.simhash, visit.relevance_now
        return Snapshot(visit.node, body, kind, title, text, links, simhash, worth, self.memory.threshold)


def _directives(visit: Visit) -> set[str]:
    """Return the robots directives of a page; headers may set them without changing the body."""
    return set(visit.flags) & {"noindex", "noarchive", "nofollow"}


def _reads_the_same(body: bytes, old: str, new: str) -> bool:
    """Return whether a body decodes to the same text under two content types, whose charsets may differ."""
    if old == new:
        return True
    types = [kind.partition(";")[0].strip() for kind in (old, new)]
    return types[0] == types[1] and decode(body, charset_of(old)) == decode(body, charset_of(new))


def _reencode(old: Snapshot, new: Snapshot) -> None:
    """Re-encode equal bytes with different charsets to UTF-8, so that detectors report a difference."""
    for version in (old, new):
        version.body = version.source.encode("utf-8", "replace")
        version.content_type = f"{version.content_type.partition(';')[0].strip()}; charset=utf-8"
        del version.source
    if old.body == new.body:  # the types differ, not the charsets
        new.body += b"\n"


def _coding(exchange: Exchange) -> str:
    return exchange.header("content-encoding").strip().lower()


def _kind(exchange: Exchange) -> str:
    return exchange.header("content-type").strip().lower()
