"""The frontier: which open row is best among the lanes that are ready.

Three kinds of heaps, all lazy:
- each lane has a heap of its rows; a key is an upper bound of the row's score (a score that rises is pushed again,
  one that falls is noticed when it surfaces);
- the ready lanes, by the score of their top row;
- the waiting lanes, by the time they may be used again; and, for a choosy crawl, by the score of their top row, too.

A row may be held back (a trap, likely): it goes behind all that is free, also behind what is in flight or has to wait
for its host. Better a pause than a page that nobody wants.

A row is taken when its visit starts, and comes back if the visit has to be repeated. What is taken is not learned:
a resumed crawl has nothing in flight, and its frontier is the fold of its log.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from heapq import heappop, heappush, heapreplace

import numpy as np
from numpy.typing import NDArray

from lycosa.core.table import OPEN, Table
from lycosa.core.types import Rows

READY, WAITING, PARKED, IDLE = range(4)

FREE, HELD, SHUT = range(3)
"""Levels of a row: fetched by its score; fetched when no free row is left that could be; not fetched."""

_BEHIND = 1e9
"""What a held row's score is lowered by, for the order only."""

WORTH_WAITING = 3.0
"""Seconds that a choosy crawl waits for a lane, at most: for its pause to end, or for an answer to come."""

LAST = -1e300
"""The score of a row whose estimator has no number for it."""

Ready = Callable[[str], tuple[float, str]]


class Lane:
    """The rows of one host, best first, and whether it may be used."""

    __slots__ = ("heap", "in_flight", "name", "number", "offer", "pages", "rest", "since", "status", "until", "why")

    def __init__(self, number: int, name: str) -> None:
        self.number = number
        self.name = name
        self.heap: list[tuple[float, int]] = []
        self.status = IDLE
        self.offer: tuple[float, int, int] | None = None
        self.rest: float | None = None
        """The key under which it stands among the resting lanes."""
        self.since = 0.0
        """When it was last used."""
        self.until = 0.0
        self.why = ""
        self.in_flight = 0
        self.pages = 0


class Frontier:
    """Pick the best row whose lane is ready; ties go to the row discovered first.

    >>> table = Table(); rows = [table.add(name, 0) for name in "abc"]
    >>> frontier = Frontier(table)
    >>> frontier.rank(np.array(rows), np.array([.2, .9, .2]))
    >>> [table.nodes[frontier.take(now=0.0)] for _ in "abc"]
    ['b', 'a', 'c']
    """

    def __init__(
        self,
        table: Table,
        ready: Ready = lambda lane: (0.0, ""),
        lane_budget: int = 0,
        patience: float = 300.0,
        choosy: float = 0.0,
    ) -> None:
        self.table = table
        self.ready = ready
        self.lane_budget = lane_budget
        self.patience = patience
        """Seconds that held rows wait for lanes with free ones."""
        self._worth_waiting = min(WORTH_WAITING, patience)
        self.choosy = choosy
        """Share of the best resting lane's score that a row must have; less, and it is better to wait for that lane."""
        self.score = np.full(1024, -math.inf)
        self.level = np.zeros(1024, np.uint8)
        self._key = np.full(1024, -math.inf)
        self._free_taken = 0
        self._again = math.inf  # when to look again although nothing has happened
        self.taken: dict[int, bool] = {}
        """The rows in flight, and whether each was free when it was picked."""
        self.lanes: list[Lane] = []
        self._ready: list[tuple[float, int, int]] = []
        self._waiting: list[tuple[float, int]] = []
        self._resting: list[tuple[float, int]] = []

    def rank(self, rows: Rows, scores: np.ndarray[tuple[int], np.dtype[np.floating]]) -> None:
        """Give rows their (new) scores. Seeds come before everything, whatever their score."""
        table = self.table
        self._fit()
        if not (scores > -math.inf).all():  # no number, or the lowest there is: last, but not lost
            scores = np.where(scores > LAST, scores, LAST)
        is_seed = table.is_seed[rows]
        if is_seed.any():
            scores = np.where(is_seed, math.inf, scores)
        self.score[rows] = scores
        self._order(rows)

    def hold(self, rows: Rows, levels: NDArray[np.uint8]) -> None:
        """Hold rows back, or let them go. Seeds are never held."""
        self._fit()
        changed = np.flatnonzero(levels != self.level[rows])
        if len(changed):
            rows = rows[changed]
            self.level[rows] = levels[changed]
            self._order(rows)

    def _order(self, rows: Rows) -> None:
        """Bring the keys of rows up to date."""
        table, levels = self.table, self.level[rows]
        keys = self.score[rows]
        if levels.any():
            keys = np.where(levels == SHUT, np.where(table.is_seed[rows], keys, -math.inf), keys - _BEHIND * levels)
        before = self._key[rows]
        self._key[rows] = keys
        # Only a key that rose needs a new entry: one that fell still has an entry above it.
        risen = np.flatnonzero((keys > before) & (table.state[rows] == OPEN))
        rows = rows[risen]
        for row, key, lane in zip(rows.tolist(), self._key[rows].tolist(), table.lane[rows].tolist(), strict=True):
            if row not in self.taken:
                self._push(row, key, lane)

    def _fit(self) -> None:
        """Columns as long as the table."""
        if len(self.table) > len(self.score):
            size = max(len(self.table), 2 * len(self.score))
            for name, value in (("score", -math.inf), ("_key", -math.inf), ("level", 0)):
                old = getattr(self, name)
                new = np.full(size, value, old.dtype)
                new[: len(old)] = old
                setattr(self, name, new)

    def _push(self, row: int, key: float, number: int) -> None:
        lane = self.lane(number)
        entry = (-key, row)
        heappush(lane.heap, entry)
        if lane.status == IDLE or (lane.status == READY and lane.heap[0] is entry):
            self._offer(lane, entry)
        elif self.choosy and lane.status != READY and lane.heap[0] is entry:
            self._rest(lane, entry[0])

    def lane(self, number: int) -> Lane:
        """A lane by its number in the table."""
        while number >= len(self.lanes):
            self.lanes.append(Lane(len(self.lanes), self.table.lanes[len(self.lanes)]))
        return self.lanes[number]

    def take(self, now: float) -> int:
        """Take the best row of the ready lanes, or -1."""
        self._again = math.inf
        while self._waiting and self._waiting[0][0] <= now:
            until, number = heappop(self._waiting)
            lane = self.lanes[number]
            if lane.status == WAITING and lane.until == until:
                self._offer(lane, self._top(lane))
        while self._ready:
            entry = heappop(self._ready)
            lane = self.lanes[entry[2]]
            if lane.offer is not entry:
                continue
            top = self._top(lane)
            if top is None or top != entry[:2]:  # the lane's best has changed since it was offered
                self._offer(lane, top)
                continue
            if self.lane_budget and lane.pages + lane.in_flight >= self.lane_budget:
                self._wait(lane, math.inf, "host budget")
                continue
            until, why = self.ready(lane.name)
            if until > now:
                self._wait(lane, until, why)
                continue
            row = entry[1]
            held = self._is_held(row)
            if held:
                wait = self._free_taken > 0 or self._next_waiting() <= now + self.patience
            else:
                wait = self.choosy > 0 and -top[0] < self.choosy * self._best_resting(now)
            if wait:
                self._offer(lane, top)
                return -1
            heappop(lane.heap)
            lane.in_flight += 1
            lane.since = now
            self.taken[row] = not held
            self._free_taken += not held
            self._offer(lane, self._top(lane))
            return row
        return -1

    def untake(self, row: int) -> None:
        """The row's visit ended (for good or not): if it is still open it may be picked again."""
        self._free_taken -= self.taken.pop(row, False)
        self.lanes[self.table.lane[row]].in_flight -= 1
        if self.table.state[row] == OPEN and self._key[row] > -math.inf:
            self._push(row, float(self._key[row]), int(self.table.lane[row]))

    def wake(self, name: str) -> None:
        """Something about a lane changed: look again at when it is ready."""
        number = self.table.lane_number.get(name)
        if number is None or number >= len(self.lanes):
            return
        lane = self.lanes[number]
        if lane.status == READY:
            return
        if self._top(lane) is None:  # nothing to wait for
            self._offer(lane, None)
        else:
            self._wait(lane, *self.ready(name))

    def postpone(self, row: int, until: float, why: str) -> None:
        """Give a row back, and leave its lane alone until then."""
        self.untake(row)
        self._wait(self.lanes[self.table.lane[row]], until, why)

    def next_ready(self) -> float:
        """When the next waiting lane becomes ready, or waiting for an answer is over; infinity if none waits."""
        return min(self._again, self._next_waiting())

    def _next_waiting(self) -> float:
        while self._waiting:
            until, number = self._waiting[0]
            lane = self.lanes[number]
            if lane.status == WAITING and lane.until == until:
                return until
            heappop(self._waiting)
        return math.inf

    def _best_resting(self, now: float) -> float:
        """The score of the best free row whose lane is in use, or will be ready before long; 0 if there is none."""
        while self._resting:
            key, number = self._resting[0]
            lane = self.lanes[number]
            patience = lane.since + self._worth_waiting
            soon = (
                lane.until <= now + self._worth_waiting if lane.status == WAITING else lane.in_flight and now < patience
            )
            top = self._top(lane) if soon and lane.status in (WAITING, PARKED) and lane.rest == key else None
            if top is not None and top[0] == key:
                self._again = patience if lane.status == PARKED else math.inf
                return -key if key > -math.inf else 0.0
            heappop(self._resting)  # not resting any more, or its best row is another now
            if lane.rest == key:
                lane.rest = None
            if top is not None:
                self._rest(lane, top[0])
        return 0.0

    def _rest(self, lane: Lane, key: float) -> None:
        if lane.rest is None or key < lane.rest:
            lane.rest = key
            heappush(self._resting, (key, lane.number))

    def head(self, n: int) -> list[str]:
        """Names of some lanes that are about to be picked."""
        return [self.lanes[number].name for _, _, number in self._ready[:n]]

    def waiting(self) -> list[Lane]:
        """Lanes that have rows but may not be used now."""
        return [lane for lane in self.lanes if lane.status in (WAITING, PARKED) and lane.heap]

    def _is_held(self, row: int) -> bool:
        return bool(self.level[row]) and not self.table.is_seed[row]

    def _wait(self, lane: Lane, until: float, why: str) -> None:
        lane.offer = None
        lane.why = why
        if self.choosy and (top := self._top(lane)) is not None:
            self._rest(lane, top[0])
        if until == math.inf:
            lane.status = PARKED
        else:
            lane.status, lane.until = WAITING, until
            heappush(self._waiting, (until, lane.number))

    def _offer(self, lane: Lane, top: tuple[float, int] | None) -> None:
        """Put the lane up for picking under its best row; an earlier offer is void."""
        if top is None:
            lane.status, lane.offer = IDLE, None
        else:
            lane.status, lane.offer = READY, (*top, lane.number)
            heappush(self._ready, lane.offer)

    def _top(self, lane: Lane) -> tuple[float, int] | None:
        """The lane's best entry that is true: open, not taken, and with its present score."""
        heap, state, score = lane.heap, self.table.state, self._key
        while heap:
            key, row = heap[0]
            if state[row] != OPEN or row in self.taken or score[row] == -math.inf:
                heappop(heap)
            elif -key > score[row]:
                heapreplace(heap, (-float(score[row]), row))
            elif -key < score[row]:  # an older, lower entry; the higher one is elsewhere in the heap
                heappop(heap)
            else:
                return heap[0]
        return None
