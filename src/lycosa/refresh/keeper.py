"""The keeper: which page is due, what to ask for it, and what has become of it.

It hands the engine what is due (`pick`), and learns from every recorded visit (`learn`): like everything else it is a
fold over the log. What is watched: the finds, the seeds, and the sources of addresses (sitemaps, feeds); all pages if
asked to. Of the pages that are due and whose host is ready, the one with the largest claim comes first.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from lycosa.core.columns import fit
from lycosa.core.pace import Pace
from lycosa.core.protocols import NEVER
from lycosa.core.table import OPEN, Table
from lycosa.core.types import Kind, Links, Page, Task, Terms, Visit
from lycosa.refresh import asking
from lycosa.refresh.agenda import Agenda
from lycosa.refresh.asking import NEVER_CACHED, Honesty, Validators
from lycosa.refresh.behaviours import BEHAVIOURS, Behaviours, conditional
from lycosa.refresh.change import Change, change_of
from lycosa.refresh.comparing import CUT, Comparison
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
"""Seconds that a single refresh waits: for a page that is to be tried again, for a host that wants to be left alone."""

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
    floor: float = 1e-3
    """What it is worth at least: the user named it, or others need it."""
    validators: Validators = field(default_factory=Validators)
    digest: bytes = b""
    looks: int = 0
    """Looks that taught something."""
    attempt: int = 0
    """Failures in a row since the last of them."""
    retry_at: float = 0.0
    fate: str = ""
    """vanished or moved, if it is."""
    target: str = ""


@dataclass(slots=True)
class _Target:
    """Where a page moved to, to be fetched there."""

    row: int
    kind: Kind
    hops: int
    attempt: int = 1
    until: float = 0.0


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
        pace: Pace | None = None,
    ) -> None:
        self.comparison, self.ready, self.lane = comparison, ready, lane
        self.schedule, self.behaviours, self.threshold = schedule, behaviours, threshold
        self.explore, self.once, self.everything, self.irrelevant = explore, once, everything, irrelevant
        self.attempts, self.began = attempts, began
        self.pace = pace
        """Of new pages, where time counts: what keeping fresh does not use of its share is not for exploring."""
        self.histories = Histories()
        self.hints = Hints()
        self.honesty: defaultdict[str, Honesty] = defaultdict(Honesty)
        self.watched: dict[str, Watched] = {}
        self.gallery = Gallery() if images else None
        self._by_number: list[Watched] = []
        self._behaviour = np.zeros(0, np.int8)
        self._source = np.zeros(0, np.bool_)
        self._retries: dict[str, Watched] = {}
        self._targets: dict[str, _Target] = {}
        self._due: Times = np.zeros(0)
        self._agenda = Agenda(self._lane_of, self._due_at)
        self._in_flight: set[str] = set()
        self._rest: dict[str, float] = {}
        self._again = -math.inf  # when all is to be planned anew
        self._now = -math.inf  # when the engine last asked
        self._looks = 0
        self._debt = 0.0

    # -- what is due -------------------------------------------------------------------------------------------

    @property
    def explores(self) -> bool:
        """Whether new pages may be fetched; with `once`, as long as there is something due beside them."""
        if not self.once or not self.explore:
            return self.explore > 0 and (self.pace is None or self.pace.next(self._now) <= self._now)
        if self._debt >= 1.0:  # while the hosts of known pages rest, new ones must not have more than their share
            return False
        return bool(self._in_flight) or self._now == -math.inf or self.next_due(self._now) < NEVER

    def wants_turn(self) -> bool:
        """Whether keeping fresh has had less than its share of requests."""
        return self._debt >= self.explore * len(self._in_flight)

    def pick(self, number: int, now: float) -> Task | None:
        """The page with the largest claim of those that are due and whose host is ready."""
        self._now = now
        task = self._moved(number, now) or self._picture(number, now) or self._page(number, now)
        if task is not None:
            self._in_flight.add(task.node)
        return task

    def _page(self, number: int, now: float) -> Task | None:
        self._catch_up(now)
        found = self._agenda.take(now, self._lane_ready)
        return self._task(self._by_number[found], number) if found >= 0 else None

    def _task(self, page: Watched, number: int) -> Task:
        conditions: tuple[tuple[str, str], ...] = NEVER_CACHED
        if conditional(page.behaviour):
            honesty = self.honesty[self.lane(page.node)]
            believe = not page.fate and not asking.proves(page.node, page.looks)
            conditions = page.validators.conditions(honesty) if believe else ()
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
        for node, place in self._targets.items():
            if node not in self._in_flight and max(place.until, self._lane_ready(self.lane(node))) <= now:
                return Task(
                    node, place.kind, place.row, number, "moved", attempt=place.attempt, hops=place.hops, due=True
                )
        return None

    def _picture(self, number: int, now: float) -> Task | None:
        if self.gallery is None:
            return None
        for node, origin, follows in self.gallery.due(self._in_flight):
            if self._lane_ready(self.lane(node)) <= now:
                asked = self.gallery.conditions(node, self.honesty[self.lane(node)])
                return Task(
                    node, "image", -1, number, "image", origin=origin, follows=follows, conditions=asked, due=True
                )
        return None

    def give_back(self, task: Task, until: float = 0.0) -> None:
        """It is not in flight any more; if it has to wait, so has its host."""
        self._in_flight.discard(task.node)
        if task.node in self._targets and not task.follows:
            self._targets[task.node].until = max(self._targets[task.node].until, until)
        elif until:
            self._rest[self.lane(task.node)] = until
        page = self.watched.get(task.node)
        # Whatever was not looked at after all, as something else had to come first, is still due.
        if page is not None and task.follows and task.kind != "image" and self._due_at(page.number) <= self._now:
            self._put(page.number)

    def next_due(self, now: float) -> float:
        """When there is something to do that is not in flight."""
        self._catch_up(now)
        waits = [
            max(place.until, self._lane_ready(self.lane(node)))
            for node, place in self._targets.items()
            if node not in self._in_flight
        ]
        if self.gallery is not None:
            waits += [self._lane_ready(self.lane(node)) for node, _, _ in self.gallery.due(self._in_flight)]
        waits += map(self._lane_ready, self._agenda.lanes(now))
        soonest = min((wait for wait in waits if wait < NEVER), default=NEVER)
        if NEVER in waits:  # an answer will come, and wake the loop; look again in any case
            soonest = min(soonest, now + 1.0)
        soonest = min(soonest, self._agenda.next)
        if self.once:
            return max(now, soonest) if soonest <= now + PATIENCE else NEVER
        if self.explore and self.pace is not None and self.pace.next(now) > now:
            soonest = min(soonest, self.pace.next(now))
        return max(now, min(soonest, self._again))

    def soonest(self, now: float) -> float:
        """When the next page is due, in this run or later: for people."""
        if not self.watched:
            return NEVER
        began, once, self.once, self.began = self.began, self.once, False, now
        try:
            return max(now, float(self._times(None).min()))
        finally:
            self.began, self.once = began, once

    def _lane_ready(self, lane: str) -> float:
        until, _ = self.ready(lane)
        return max(until, self._rest.get(lane, 0.0))

    def _lane_of(self, number: int) -> str:
        return self.lane(self._by_number[number].node)

    def _due_at(self, number: int) -> float:
        """When a page is due, by the last plan and what was learned since; never while it is in flight."""
        if number >= len(self._due) or self._by_number[number].node in self._in_flight:
            return NEVER
        return self._due.item(number)

    def _catch_up(self, now: float) -> None:
        """Time has passed: more is due."""
        self._now = now
        if now >= self._again or self._looks >= ROUND:
            self._plan(now)
        for number in self._agenda.ripe(now):
            self._put(number)

    def _put(self, number: int) -> None:
        urgent = self._due[number] == -math.inf
        claim = math.inf if urgent else self.schedule.claim(self.histories, number, self._now)[0]
        self._agenda.put(number, float(claim))

    def _plan(self, now: float) -> None:
        """Schedule all pages anew, and line up those that are due, host by host, the largest claim first."""
        self._looks = 0
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
        """When pages are due, one or all: by the schedule, by what the user said of them, by hints."""
        rows, tried = self.histories.rows(which), self.histories.tried
        due = self.schedule.due(self.histories, which)
        due = self.behaviours.due(self._behaviour[rows], due, tried[rows], self.began)
        due = np.where(self._source[rows], tried[rows] + SOURCES, due)
        for node in map(str, self.hints.open) if which is None else (self._by_number[which].node,):
            page = self.watched.get(node)
            if page is not None and BEHAVIOURS[page.behaviour] in ("automatic", "frequently"):
                place = page.number if which is None else 0
                hinted = self._hinted(page, float(due[place]))
                if hinted < due[place]:  # a refresh looks at what it has just heard of
                    due[place] = min(hinted, self.began) if self.once else hinted
        if self.everything:
            due = np.where(tried[rows] < self.began, np.minimum(due, self.began), due)
        if self.once:  # each page once in a run, but for those that are tried again
            due = np.where((tried[rows] < self.began) & (due <= self.began), due, NEVER)
        for page in self._retries.values() if which is None else (self._by_number[which],):
            if page.retry_at:
                due[page.number if which is None else 0] = page.retry_at
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

    # -- what came ---------------------------------------------------------------------------------------------

    def is_same(self, visit: Visit, page: Page) -> bool:
        """Whether a revisit brought what is there already."""
        watched = self.watched.get(visit.node)
        if visit.kind == "revisit":
            return watched is not None and not watched.fate and self._is_as_before(visit, page)
        if visit.kind == "image":
            return self.gallery is not None and self.gallery.is_same(visit)
        return watched is not None and bool(visit.digest) and watched.digest == visit.digest

    def _is_as_before(self, visit: Visit, page: Page) -> bool:
        before = self.comparison.versions.last(visit.node)
        return before is not None and self.comparison.is_same(before, visit, page)

    def compare(self, visit: Visit, page: Page) -> None:
        """Say in the visit what has become of the page."""
        change = self._change(visit, page)
        known = self.watched.get(visit.node)
        if visit.kind == "image" and self.gallery is not None:
            change = self.gallery.compare(visit, page)
        elif visit.kind == "revisit" and visit.outcome in ("ok", "unchanged") and known is not None and not known.fate:
            odd = asking.remark(known.validators, visit, change is not None and change.matters)
            visit.note = "; ".join(filter(None, (visit.note, odd)))
        if self.gallery is not None:
            self._note_pictures(self.gallery, visit, page)
        if change is not None:
            visit.data = {**visit.data, "change": change.as_data()}

    def _note_pictures(self, gallery: Gallery, visit: Visit, page: Page) -> None:
        """Which pictures a page shows; of one that has not changed since nobody looked at pictures, too."""
        if visit.is_version:
            gallery.note(visit, page.exchange)
        elif visit.kind == "revisit" and visit.outcome == "unchanged" and not gallery.knows(visit.node):
            before = self.comparison.versions.last(visit.node)
            gallery.note(visit, self.comparison.versions.exchange(before) if before is not None else None)

    def _change(self, visit: Visit, page: Page) -> Change | None:
        if visit.is_page:
            # What moved is told as moved: where it is now it is no news.
            return Change("new") if visit.is_find(self.threshold) and visit.arm != "moved" else None
        known = self.watched.get(visit.node)
        if visit.kind != "revisit" or known is None:
            return None
        if visit.outcome == "ok" and "soft-404" in visit.flags:
            visit.outcome, visit.note = "gone", "says that there is nothing, under status 200"
            visit.links, visit.beta, visit.terms = Links(), 0.0, Terms(new=visit.terms.new)
        if visit.outcome in ("gone", "unwanted"):
            told = visit.note or f"status {visit.status}"
            if visit.outcome == "unwanted":
                told = f"now {visit.note or 'of another type'}, which is not read"
            return Change("vanished", magnitude=1.0, says=[told]) if known.fate != "vanished" else None
        if visit.outcome == "redirect":
            target = visit.links.urls[0]
            how = "for good" if visit.status in _PERMANENT else "for now"
            moved = Change("moved", magnitude=1.0, says=[f"{how}, to {target}"], target=target)
            return moved if (known.fate, known.target) != ("moved", target) else None
        if visit.outcome != "ok":
            return None
        if known.fate:
            how = "as it was" if self._is_as_before(visit, page) else "with other content"
            return Change("returned", magnitude=1.0, says=[how])
        before = self.comparison.versions.last(visit.node)
        return self.comparison.change(before, visit, page) if before is not None else None

    # -- what is learned ---------------------------------------------------------------------------------------

    def learn(self, visit: Visit, table: Table) -> None:
        """See a recorded visit, live or replayed."""
        place = self._targets.pop(visit.node, None)
        if place is not None and not visit.follows:
            self._arrived(place, visit, table)
        if self.gallery is not None:
            self.gallery.learn(visit)
        if visit.kind == "sitemap":
            self._hear(visit)
        if visit.started >= self.began:
            self._count(visit)
        if not visit.follows:
            explored = visit.kind in ("page", "redirect") and visit.arm != "moved"
            if self.pace is not None and explored and visit.address:
                self.pace.take(visit.started)
            if visit.kind in ("page", "sitemap") and visit.outcome == "ok":
                self._watch(visit, table)
            return
        page = self.watched.get(visit.node)
        if page is not None and visit.kind != "image":
            self._looks += 1
            self._look(page, visit, table)
            if page.number < len(self._due):  # there is a plan: bring this page's part of it up to date
                due = self._due[page.number] = self._times(page.number)[0]
                if due < self._again:
                    self._agenda.wait(page.number, float(due))

    def _count(self, visit: Visit) -> None:
        """Whose request it was, of this run: known by what it was for."""
        if visit.follows or visit.arm in ("moved", "image"):
            self._debt = max(-DEBT, self._debt - self.explore)
        elif visit.address and visit.kind in ("page", "redirect", "sitemap"):
            self._debt = min(DEBT, self._debt + 1.0 - self.explore)

    def _arrived(self, place: _Target, visit: Visit, table: Table) -> None:
        """What came of a page where it moved to: it is tried again, or moved on."""
        if visit.retry_at:
            place.attempt, place.until = visit.attempt + 1, visit.retry_at
            self._targets[visit.node] = place
        elif visit.outcome == "redirect":
            self._follow(visit, table)

    def _follow(self, visit: Visit, table: Table) -> None:
        """Where a redirect leads; nothing has to be fetched that is known already, or out of scope."""
        target = visit.links.urls[0]
        row = table.row_of.get(target, -1)
        if row >= 0 and table.state[row] == OPEN:
            kind: Kind = "sitemap" if table.is_source[row] else "page"
            self._targets[target] = _Target(row, kind, int(table.hops[row]), int(table.attempts[row]) + 1)

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
        floor = max(self.threshold, 1e-3) if seed or source else 1e-3
        number = self.histories.add(visit.ended, host=int(table.lane[row]), weight=max(visit.beta, floor))
        kind: Kind = "sitemap" if source else "revisit"
        behaviour = self.behaviours.number(visit.node)
        page = self.watched[visit.node] = Watched(visit.node, row, number, kind, behaviour, visit.started, floor)
        self._by_number.append(page)  # it joins the next plan
        self._behaviour, self._source = fit(self._behaviour, number + 1), fit(self._source, number + 1)
        self._behaviour[number], self._source[number] = behaviour, source
        self._remember(page, visit)
        self.hints.learn(int(table.lane[row]), visit.node, visit.ended, changed=False)

    def _remember(self, page: Watched, visit: Visit) -> None:
        """What the answer said of itself, for the next request."""
        cut = any(flag in CUT for flag in visit.flags)  # who has half of it must not be told that it still stands
        page.validators = Validators() if cut else Validators(visit.etag, visit.modified)
        if visit.digest:
            page.digest = visit.digest

    def _look(self, page: Watched, visit: Visit, table: Table) -> None:
        """What a look again teaches."""
        number, at, change = page.number, visit.ended, change_of(visit)
        page.retry_at = 0.0
        self._retries.pop(page.node, None)
        if visit.outcome in ("ok", "unchanged"):
            self._seen_again(page, visit, change)
        elif visit.outcome in ("gone", "unwanted"):
            page.fate, page.target, page.attempt = "vanished", "", 0
            self.histories.drop(number, at)
        elif visit.outcome == "redirect":
            page.fate, page.target, page.attempt = "moved", visit.links.urls[0], 0
            if visit.status in _PERMANENT:
                self.histories.drop(number, at)
            else:  # elsewhere for now: that is no look at the page
                self.histories.failed(number, at)
            self._follow(visit, table)
        else:  # nobody knows what has become of it: no answer, or nobody may ask
            self.histories.failed(number, at)
            page.attempt += 1
            if visit.retry_at and page.attempt < self.attempts:
                page.retry_at = visit.retry_at
                self._retries[page.node] = page
            else:
                page.attempt = 0

    def _seen_again(self, page: Watched, visit: Visit, change: Change | None) -> None:
        number, at, matters = page.number, visit.ended, change is not None and change.matters
        honesty = self.honesty[self.lane(page.node)]
        changed = matters or (page.kind == "sitemap" and visit.outcome == "ok")
        if page.fate:
            self.histories.revive(number, at)
        else:
            asking.learn(honesty, page.validators, visit, changed)
            modified = asking.seconds(visit.modified) if honesty.dates else 0.0
            self.histories.look(number, at, changed, modified)
        self.hints.learn(int(self.histories.host[number]), page.node, at, matters)
        page.fate = page.target = ""
        page.attempt = 0
        page.looks += 1
        if visit.status != 304:
            self._remember(page, visit)
        if visit.outcome == "ok":
            page.follows = visit.started
            if page.kind == "revisit":
                self.histories.weight[number] = max(visit.beta, page.floor)

    def _hear(self, visit: Visit) -> None:
        """What a source says of when pages changed."""
        dates: list[Any] = visit.data.get("modified", [])
        for url, date in zip(visit.links.urls, dates, strict=False):
            page = self.watched.get(url)
            if date and page is not None:
                news = self.hints.heard(int(self.histories.host[page.number]), url, date, visit.ended)
                if news and len(self._due):  # there is a plan, of a time when nobody knew
                    self._looks = ROUND
