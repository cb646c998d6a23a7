"""The frontier: which open row is best among the lanes that are ready.

Three kinds of heaps, all lazy:
- each lane has a heap of its rows; a key is an upper bound of the row's score (a score that rises is pushed again,
  one that falls is noticed when it surfaces);
- the ready lanes, by the score of their top row;
- the waiting lanes, by the time they may be used again.

A row is taken when its visit starts, and comes back if the visit has to be repeated. What is taken is not learned:
a resumed crawl has nothing in flight, and its frontier is the fold of its log.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from heapq import heappop, heappush, heapreplace

import numpy as np

from lycosa.core.table import OPEN, Table
from lycosa.core.types import Rows

READY, WAITING, PARKED, IDLE = range(4)

LAST = -1e300
"""The score of a row whose estimator has no number for it."""

Ready = Callable[[str], tuple[float, str]]


class Lane:
    """The rows of one host, best first, and whether it may be used."""

    __slots__ = ("heap", "in_flight", "name", "number", "offer", "pages", "status", "until", "why")

    def __init__(self, number: int, name: str) -> None:
        self.number = number
        self.name = name
        self.heap: list[tuple[float, int]] = []
        self.status = IDLE
        self.offer: tuple[float, int, int] | None = None
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
    ) -> None:
        self.table = table
        self.ready = ready
        self.lane_budget = lane_budget
        self.score = np.full(1024, -math.inf)
        self.taken: set[int] = set()
        self.lanes: list[Lane] = []
        self._ready: list[tuple[float, int, int]] = []
        self._waiting: list[tuple[float, int]] = []

    def rank(self, rows: Rows, scores: np.ndarray[tuple[int], np.dtype[np.floating]]) -> None:
        """Give rows their (new) scores. Seeds come before everything, whatever their score."""
        table = self.table
        if len(table) > len(self.score):
            grown = np.full(max(len(table), 2 * len(self.score)), -math.inf)
            grown[: len(self.score)] = self.score
            self.score = grown
        if not (scores > -math.inf).all():  # no number, or the lowest there is: last, but not lost
            scores = np.where(scores > LAST, scores, LAST)
        is_seed = table.is_seed[rows]
        if is_seed.any():
            scores = np.where(is_seed, math.inf, scores)
        before = self.score[rows]
        self.score[rows] = scores
        # Only a score that rose needs a new entry: one that fell still has an entry above it.
        risen = np.flatnonzero((scores > before) & (table.state[rows] == OPEN))
        rows = rows[risen]
        for row, score, lane in zip(rows.tolist(), self.score[rows].tolist(), table.lane[rows].tolist(), strict=True):
            if row not in self.taken:
                self._push(row, score, lane)

    def _push(self, row: int, score: float, number: int) -> None:
        lane = self.lane(number)
        entry = (-score, row)
        heappush(lane.heap, entry)
        if lane.status == IDLE or (lane.status == READY and lane.heap[0] is entry):
            self._offer(lane, entry)

    def lane(self, number: int) -> Lane:
        """A lane by its number in the table."""
        while number >= len(self.lanes):
            self.lanes.append(Lane(len(self.lanes), self.table.lanes[len(self.lanes)]))
        return self.lanes[number]

    def take(self, now: float) -> int:
        """Take the best row of the ready lanes, or -1."""
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
            row = heappop(lane.heap)[1]
            lane.in_flight += 1
            self.taken.add(row)
            self._offer(lane, self._top(lane))
            return row
        return -1

    def untake(self, row: int) -> None:
        """The row's visit ended (for good or not): if it is still open it may be picked again."""
        self.taken.discard(row)
        self.lanes[self.table.lane[row]].in_flight -= 1
        if self.table.state[row] == OPEN:
            self._push(row, float(self.score[row]), int(self.table.lane[row]))

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
        """When the next waiting lane becomes ready; infinity if none waits."""
        while self._waiting:
            until, number = self._waiting[0]
            lane = self.lanes[number]
            if lane.status == WAITING and lane.until == until:
                return until
            heappop(self._waiting)
        return math.inf

    def head(self, n: int) -> list[str]:
        """Names of some lanes that are about to be picked."""
        return [self.lanes[number].name for _, _, number in self._ready[:n]]

    def waiting(self) -> list[Lane]:
        """Lanes that have rows but may not be used now."""
        return [lane for lane in self.lanes if lane.status in (WAITING, PARKED) and lane.heap]

    def _wait(self, lane: Lane, until: float, why: str) -> None:
        lane.offer = None
        lane.why = why
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
        heap, state, score = lane.heap, self.table.state, self.score
        while heap:
            key, row = heap[0]
            if state[row] != OPEN or row in self.taken:
                heappop(heap)
            elif -key > score[row]:
                heapreplace(heap, (-float(score[row]), row))
            elif -key < score[row]:  # an older, lower entry; the higher one is elsewhere in the heap
                heappop(heap)
            else:
                return heap[0]
        return None
