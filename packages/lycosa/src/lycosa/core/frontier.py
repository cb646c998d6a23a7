"""The frontier: which open row is best among the lanes that are ready.

Three kinds of heaps, all lazy:
- each lane has a heap of its best rows, by level and score; an entry is never worse than its row (a row that gets
  better is pushed again, one that gets worse is noticed when it surfaces). The others, all of them behind the last of
  the heap, are a column of numbers from which the heap is filled again: a row takes 4 bytes there, in a heap 130;
- the ready lanes, by their top row;
- the waiting lanes, by the time they may be used again; and, for a choosy crawl, those that rest not for long by their
  top row, too.

A row may be held back (a trap, likely): it goes behind all that is free, also behind what is in flight or has to wait
for its host. Better a pause than a page that nobody wants.

A row is taken when its visit starts, and comes back if the visit has to be repeated. What is taken is not learned:
a resumed crawl has nothing in flight, and its frontier is the fold of its log.
"""

from __future__ import annotations

import math
from array import array
from collections.abc import Callable, Mapping
from heapq import heapify, heappop, heappush, heapreplace, nsmallest
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lycosa.core.columns import fit
from lycosa.core.state import State, StateMismatch
from lycosa.core.table import OPEN, Table
from lycosa.core.types import Rows, Scores

READY, WAITING, PARKED, IDLE = range(4)
# Levels of a row: fetched by its score; fetched when no free row is left that could be; not fetched.
FREE, HELD, SHUT = range(3)
WORTH_WAITING = 3.0  # seconds that a choosy crawl waits for a lane, at most
LAST = -1e300  # score of a row for which the estimator has no number
PRUNED = -1e301  # score of a row that its estimator wants not fetched at all, unless it gets a better one
Ready = Callable[[str], tuple[float, str]]
Entry = tuple[int, float, int]  # level, negative score and place of a row: the smallest comes first
# Places of rows among others of the same score; the lower half is the row's number.
Order = Callable[[Rows], NDArray[np.int64]]
_ROW = (1 << 32) - 1


SPENT = "host budget"
# Rows of a lane in its heap at first; at most twice as many, or a sixteenth of very many. An entry takes 124 bytes, a
# row outside the heap 4.
HEAP, _SHARE = 4, 16


class Lane:
    """The rows of one host, best first, and whether it may be used."""

    __slots__ = (
        "floor", "heap", "in_flight", "most", "name", "number", "offer", "pages", "rest", "since", "status", "tail",
        "until", "why",
    )  # fmt: skip

    def __init__(self, number: int, name: str) -> None:
        self.number = number
        self.name = name
        self.heap: list[Entry] = []
        self.most = 2 * HEAP  # entries before the heap is cut
        self.floor: Entry | None = None  # none of the heap's entries is behind it, none of the other rows before it
        self.tail: array[int] | None = None  # rows outside the heap: some repeatedly, some not to be fetched any more
        self.status = IDLE
        self.offer: tuple[int, float, int, int] | None = None
        self.rest: float | None = None  # negative score among the resting lanes
        self.since = 0.0  # last use
        self.until = 0.0
        self.why = ""
        self.in_flight = 0
        self.pages = 0

    @property
    def waiting(self) -> int:
        """How many rows wait, about: some may be there several times."""
        return len(self.heap) + (len(self.tail) if self.tail is not None else 0)


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
        order: Order | None = None,
    ) -> None:
        self.table = table
        self.ready = ready
        self.lane_budget = lane_budget
        self.patience = patience  # seconds that held rows wait for lanes with free ones
        self._worth_waiting = min(WORTH_WAITING, patience)
        self.choosy = choosy  # share of the best resting lane's score that a row must have
        self.order = order
        self.score = np.full(1024, -math.inf)
        self.level = np.zeros(1024, np.uint8)
        self.taken: dict[int, bool] = {}  # rows in flight, and whether each was free when it was picked
        self.lanes: list[Lane] = []
        self._holding = False  # whether any row was ever held back
        self._free_taken = 0
        self._aged = False  # whether ties go by age
        self._away: dict[bytes, bool] = {}  # what was in flight when it was put aside
        self._witness = -1  # a row that was left when `left` was last asked
        self._again = math.inf  # when to look again although nothing has happened
        self._ready: list[tuple[int, float, int, int]] = []
        self._waiting: list[tuple[float, int]] = []
        self._resting: list[tuple[float, int]] = []
        self._nearly: list[tuple[float, int]] = []  # waiting lanes that may become ones to wait for

    def rank(self, rows: Rows, scores: np.ndarray[tuple[int], np.dtype[np.floating]]) -> None:
        """Give rows their (new) scores. Seeds come before everything, whatever their score."""
        self._fit()
        scores = self._seeds_first(rows, scores)
        before = self.score[rows]
        self.score[rows] = scores
        # Only a row that got better needs a new entry: one that got worse still has an entry above it.
        better = (scores > before).nonzero()[0]
        if len(better):
            self._push_all(rows[better] if len(better) < len(rows) else rows)

    def _seeds_first(self, rows: Rows, scores: np.ndarray[tuple[int], np.dtype[np.floating]]) -> Scores:
        finite = np.isfinite(scores)
        if np.count_nonzero(finite) < len(rows):  # no number, or none that can be compared: last, but not lost
            scores = np.where(finite, scores, LAST)
        is_seed = self.table.is_seed[rows]
        if np.count_nonzero(is_seed):
            scores = np.where(is_seed, math.inf, scores)
            self.level[rows[is_seed]] = FREE
        return scores.astype(np.float64, copy=False)

    def hold(self, rows: Rows, levels: NDArray[np.uint8]) -> None:
        """Hold rows back, or let them go. Seeds are never held."""
        self._fit()
        before = self.level[rows]
        if not levels.any() and not before.any():  # nearly always: new rows, and all of them free
            return
        self._holding = True
        levels = np.where(self.table.is_seed[rows], FREE, levels)
        self.level[rows] = levels
        freed = rows[levels < before]
        self._push_all(freed[self.score[freed] > -math.inf])

    def _push_all(self, rows: Rows) -> None:
        """New entries for those of the rows that may be fetched."""
        table, taken = self.table, self.taken
        if not len(rows):
            return
        lanes = self.lanes
        self.lane(len(table.lanes) - 1)  # so that all of them are there
        places = rows if self.order is None else self.order(rows)
        columns = (places, table.state[rows], self.level[rows], self.score[rows], table.lane[rows])
        for place, state, level, score, number in zip(*(column.tolist() for column in columns), strict=True):
            if state != OPEN or level == SHUT or score <= PRUNED or place & _ROW in taken:
                continue
            entry, lane = (level, -score, place), lanes[number]
            if lane.floor is not None and entry > lane.floor:
                self._append(lane, place & _ROW)
                continue
            heappush(lane.heap, entry)
            if lane.heap[0] is entry:
                self._lead(lane, entry)
            if len(lane.heap) > lane.most:
                self._cut(lane, sorted(lane.heap))

    def _append(self, lane: Lane, row: int) -> None:
        """One row more that is not in the heap."""
        tail = lane.tail
        if tail is None:
            tail = lane.tail = array("i")
        tail.append(row)
        if len(tail) > 4 * _SHARE * lane.most:  # many of them several times, perhaps
            rows = np.unique(np.frombuffer(tail, np.int32))
            lane.tail, lane.most = array("i", rows.tobytes()), max(lane.most, len(rows) // _SHARE)

    def _cut(self, lane: Lane, entries: list[Entry]) -> None:
        """Of some entries, in order, the first half is the heap from now on."""
        rows = [entry[2] & _ROW for entry in entries[lane.most // 2 :]]
        lane.heap[:] = entries[: lane.most // 2]
        lane.floor = lane.heap[-1]
        if lane.tail is None:
            lane.tail = array("i")
        lane.tail.extend(rows)

    def _refill(self, lane: Lane) -> bool:
        """The best of the other rows are the heap from now on: whether there are any. What is in flight comes back."""
        assert lane.tail is not None
        rows = np.unique(np.frombuffer(lane.tail, np.int32))
        rows = rows[(self.table.state[rows] == OPEN) & (self.level[rows] != SHUT) & (self.score[rows] > PRUNED)]
        if self.taken:
            rows = rows[~np.isin(rows, list(self.taken))]
        places = rows if self.order is None else self.order(rows)
        order = np.lexsort((places, -self.score[rows], self.level[rows]))
        self._stand(lane, rows[order], places[order])
        return bool(lane.heap)

    def _stand(self, lane: Lane, rows: Rows, places: NDArray[Any]) -> None:
        """The lane has these rows, in this order."""
        lane.most = max(2 * HEAP, len(rows) // _SHARE)
        first = len(rows) if len(rows) <= lane.most else lane.most // 2
        levels, scores = self.level[rows[:first]].tolist(), np.negative(self.score[rows[:first]]).tolist()
        lane.heap[:] = zip(levels, scores, places[:first].tolist(), strict=True)  # what is sorted is a heap
        lane.floor = lane.tail = None
        if first < len(rows):
            lane.floor, lane.tail = lane.heap[-1], array("i", rows[first:].astype(np.int32).tobytes())

    def _lead(self, lane: Lane, top: Entry) -> None:
        if lane.status in (IDLE, READY):
            self._offer(lane, top)
        else:
            self._rest(lane, top)

    def _fit(self) -> None:
        n = len(self.table)
        if n > len(self.score):
            self.score, self.level = fit(self.score, n, -math.inf), fit(self.level, n, FREE)

    def state(self) -> State:
        """Scores, levels, and the pages of each lane; heaps are made again, and what is in flight is none of it."""
        if type(self) is not Frontier:
            raise StateMismatch("only heaps can be made again from scores")
        return {"score": self.score, "level": self.level, "pages": np.array([lane.pages for lane in self.lanes])}

    def restore(self, state: State) -> None:
        """Rank the rows of the table as a state says; nothing is in flight or waits."""
        self.score, self.level = state["score"], state["level"]
        if len(self.level) != len(self.score) or self.score.dtype != np.float64 or self.level.dtype != np.uint8:
            raise StateMismatch("scores and levels do not fit")
        self._holding = bool(self.level.any())
        for number, pages in enumerate(state["pages"].tolist()):
            self.lane(number).pages = pages
        self._fit()
        self._fill()
        for lane in self.lanes:
            if lane.heap:
                self._offer(lane, lane.heap[0])

    def _fill(self) -> None:
        """Give all lanes their rows, but for those in flight."""
        n, table = len(self.table), self.table
        score, level = self.score[:n], self.level[:n]
        rows = np.flatnonzero((table.state[:n] == OPEN) & (level != SHUT) & (score > PRUNED) & (score > -math.inf))
        places = rows if self.order is None else self.order(rows)
        keys = [-score[rows], table.lane[rows]]
        keys = keys if self.order is None else [places, *keys]
        order = np.arange(len(rows))
        for key in [*keys[:-1], level[rows], keys[-1]] if self._holding else keys:
            order = order[key[order].argsort(kind="stable")]
        rows, places = rows[order], places[order]
        ends = table.lane[rows].searchsorted(np.arange(len(table.lanes)), "right").tolist()
        short: list[tuple[int, int, int]] = []
        for number, (begin, end) in enumerate(zip([0, *ends], ends, strict=False)):
            if end - begin > 2 * HEAP:
                self._stand(self.lane(number), rows[begin:end], places[begin:end])
            elif end > begin:
                short.append((number, begin, end))
            if short and short[-1][2] - short[0][1] > (1 << 14):
                self._stand_all(short, rows, places)
                short = []
        self._stand_all(short, rows, places)

    def _stand_all(self, lanes: list[tuple[int, int, int]], rows: Rows, places: NDArray[Any]) -> None:
        """Lanes with few rows, by number, beginning and end: most have few, and it is quicker for many at once."""
        if not lanes:
            return
        first, last = lanes[0][1], lanes[-1][2]
        some = rows[first:last]
        levels, scores = self.level[some].tolist(), np.negative(self.score[some]).tolist()
        entries = list(zip(levels, scores, places[first:last].tolist(), strict=True))
        for number, begin, end in lanes:
            lane = self.lane(number)
            lane.heap[:], lane.floor, lane.tail, lane.most = entries[begin - first : end - first], None, None, 2 * HEAP

    # -- hot and cold ------------------------------------------------------------------------------------------

    def by_age(self) -> None:
        """From now on rows come and go (cold.py): ties go by when a row was discovered, and not by its number."""
        if not self._aged:
            self._aged, self.order = True, _by_age(self.table, self.order)

    def pages(self) -> NDArray[np.int64]:
        """The pages of each lane."""
        return np.array([self.lane(number).pages for number in range(len(self.table.lanes))], np.int64)

    def leave(self, rows: Rows, table: Table) -> dict[str, NDArray[Any]]:
        """Rows are put aside, whether they are in flight or not. `rebuild` has to follow."""
        known: dict[str, NDArray[Any]] = {"score": self.score[rows]}
        self.score[rows], self.level[rows] = -math.inf, FREE
        for row in self.taken.keys() & set(rows.tolist()) if self.taken else ():
            self._away[table.name(row)] = self.taken.pop(row)
        return known

    def join(self, rows: Rows, known: Mapping[str, NDArray[Any]], table: Table) -> None:
        self._fit()
        for row in rows.tolist() if self._away else ():
            if (free := self._away.pop(table.name(row), None)) is not None:
                self.taken[row] = free

    def forget(self, name: bytes, lane: str) -> None:
        """What was in flight and is put aside is in flight no more."""
        if (free := self._away.pop(name, None)) is not None:
            self._free_taken -= free
            self.lane(self.table.lane_number[lane]).in_flight -= 1

    def rebuild(self) -> None:
        """All lanes have the rows that are there now: whether they may be used is as it was."""
        self.by_age()
        self._fit()
        self._ready, self._resting, self._witness = [], [], -1
        for lane in self.lanes:
            lane.heap[:], lane.floor, lane.tail, lane.offer, lane.rest = [], None, None, None, None
        self._fill()
        for lane in self.lanes:
            top = self._top(lane)
            if lane.status in (IDLE, READY):
                self._offer(lane, top)
            elif top is not None:
                self._rest(lane, top)

    def lane(self, number: int) -> Lane:
        """A lane by its number in the table."""
        while number >= len(self.lanes):
            self.lanes.append(Lane(len(self.lanes), self.table.lanes[len(self.lanes)]))
        return self.lanes[number]

    def take(self, now: float) -> int:
        """Take the best row of the ready lanes, or -1: none is ready, or a better one is worth waiting for."""
        self._end_rests(now)
        while self._ready:
            entry = heappop(self._ready)
            lane = self.lanes[entry[3]]
            if lane.offer is not entry:
                continue
            top = self._top(lane)
            if top is None or top != entry[:3]:  # the lane's best has changed since it was offered
                self._offer(lane, top)
                continue
            if not self._usable(lane, now):
                continue
            level, worst, place = top
            if self._free_soon(now) if level else self.choosy > 0 and -worst < self._bar(now):
                self._offer(lane, top)
                return -1
            heappop(lane.heap)
            row = place & _ROW
            lane.since = now
            self.lend(row, free=not level)
            self._offer(lane, self._top(lane))
            return row
        return -1

    def take_this(self, row: int, now: float) -> None:
        """Take a given row, one of `candidates`, whatever its score."""
        self.lane(int(self.table.lane[row])).since = now
        self.lend(row, free=bool(self.level[row] == FREE))

    def candidates(self, level: int, least: float, now: float) -> Rows:
        """All rows of a level that could be taken now and score at least so much, by number. Looks at every row."""
        rows = self._worth(level, least)
        numbers = self.table.lane[rows]
        usable = np.zeros(len(self.table.lanes), np.bool_)
        for number in np.unique(numbers).tolist():
            lane = self.lane(number)
            resting = lane.status in (WAITING, PARKED) or self._spent(lane)
            usable[number] = not resting and self.ready(lane.name)[0] <= now
        return rows[usable[numbers]]

    def _worth(self, level: int, least: float) -> Rows:
        n = len(self.table)
        self._fit()
        score = self.score[:n]
        rows = np.flatnonzero(
            (score >= least) & (score > PRUNED) & (self.level[:n] == level) & (self.table.state[:n] == OPEN)
        ).astype(np.int32)
        return rows[~np.isin(rows, list(self.taken))] if self.taken else rows

    def left(self) -> bool:
        """Whether a row is ranked, open, free, and may ever be taken, those in flight among them.

        It depends on nothing but what was learned: not on the time, nor on what is in flight. One such row is
        remembered, so that all are looked at only when that one has gone.
        """
        if self._witness < 0 or not self._is_left(np.array([self._witness])).any():
            rows = np.arange(len(self.table))
            rows = rows[self._is_left(rows)]
            self._witness = int(rows[self.score[rows].argmin()]) if len(rows) else -1  # the worst stays longest
        return self._witness >= 0

    def _is_left(self, rows: NDArray[np.intp]) -> NDArray[np.bool_]:
        self._fit()
        left: NDArray[np.bool_] = (
            (self.table.state[rows] == OPEN) & (self.level[rows] == FREE) & (self.score[rows] > PRUNED)
        )
        if self.lane_budget and left.any():
            pages = np.array([self.lane(number).pages for number in range(len(self.table.lanes))])
            left &= pages[self.table.lane[rows]] < self.lane_budget
        return left

    def pruned(self) -> int:
        """How many open rows their estimator wants not fetched, and that never were. Looks at every row."""
        n = len(self.table)
        self._fit()
        score = self.score[:n]
        never = (self.table.state[:n] == OPEN) & (self.table.attempts[:n] == 0)
        return int(np.count_nonzero(never & (score <= PRUNED) & (score > -math.inf)))

    def _end_rests(self, now: float) -> None:
        """Lanes whose time has come may be used again."""
        self._again = math.inf
        while self._waiting and self._waiting[0][0] <= now:
            until, number = heappop(self._waiting)
            lane = self.lanes[number]
            if lane.status == WAITING and lane.until == until:
                self._offer(lane, self._top(lane))

    def lend(self, row: int, *, free: bool) -> None:
        """The row is in flight, whoever took it: from here, or from another frontier of the same rows."""
        self.lane(self.table.lane.item(row)).in_flight += 1
        self.taken[row] = free
        self._free_taken += free

    def untake(self, row: int) -> None:
        """The row's visit ended (for good or not): if it is still open it may be picked again."""
        self._free_taken -= self.taken.pop(row, False)
        self.lanes[self.table.lane.item(row)].in_flight -= 1
        if self.table.state.item(row) == OPEN:
            self._push_all(np.array([row], np.int32))

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
        elif self._spent(lane):
            self._wait(lane, math.inf, SPENT)
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

    def _free_soon(self, now: float) -> bool:
        """Whether a free row is in flight, or could be fetched within our patience: held ones wait for it."""
        return self._free_taken > 0 or any(
            (top := self._top(lane)) is not None and top[0] == FREE
            for lane in self.lanes
            if (lane.status == WAITING and lane.until <= now + self.patience)
            or (lane.status == PARKED and lane.why != SPENT)
        )

    def _bar(self, now: float) -> float:
        """What a row must score, or the best resting lane is worth waiting for. Scores may be negative."""
        best = self._best_resting(now)
        return best - (1.0 - self.choosy) * abs(best) if best > -math.inf else best

    def _best_resting(self, now: float) -> float:
        """The score of the best free row whose lane is in use, or will be ready before long; -inf if there is none."""
        while self._nearly and self._nearly[0][0] <= now + self._worth_waiting:
            lane = self.lanes[heappop(self._nearly)[1]]
            if lane.status == WAITING and (top := self._top(lane)) is not None:
                self._rest(lane, top)
        while self._resting:
            worst, number = self._resting[0]
            lane = self.lanes[number]
            waiting, busy = lane.status == WAITING, lane.status == PARKED and lane.in_flight > 0
            patience = (now if waiting else lane.since) + self._worth_waiting
            top = self._top(lane) if (waiting and lane.until <= patience) or (busy and now < patience) else None
            if top is not None and top[:2] == (FREE, worst) and lane.rest == worst:
                if busy:
                    self._again = patience
                return -worst
            heappop(self._resting)  # it does not rest any more, or its best row is another now
            if lane.rest == worst:
                lane.rest = None
                if top is not None:
                    self._rest(lane, top)
        return -math.inf

    def _rest(self, lane: Lane, top: Entry) -> None:
        """Note the best row of a lane that can't be used now, for a choosy crawl."""
        level, worst, _ = top
        valued = level == FREE and worst > -math.inf  # a seed says nothing of what else its lane has to offer
        if self.choosy and valued and (lane.rest is None or worst < lane.rest):
            lane.rest = worst
            heappush(self._resting, (worst, lane.number))

    def promises(self, n: int, now: float, at_once: int = 1) -> list[float]:
        """The scores of the best rows that could be taken now; those that are held come last. Of each lane there are as
        many as may be in flight at once, or any number if that is 0; as far as its heap goes."""
        offers = self._best_offers(n, now)
        best = [offer[:2] for offer in offers]
        for offer in offers if at_once != 1 else ():  # other lanes stand behind n better rows
            lane = self.lanes[offer[3]]
            room = at_once - lane.in_flight - 1 if at_once else n
            if self.lane_budget:
                room = min(room, self.lane_budget - lane.pages - lane.in_flight - 1)
            best += self._behind(lane, room) if room > 0 else ()
        return [-worst if level == FREE else LAST for level, worst in nsmallest(n, best)]

    def _best_offers(self, n: int, now: float) -> list[tuple[int, float, int, int]]:
        """The offers of some lanes, the best ones, each with what its best row is worth by now."""
        self._end_rests(now)
        best: list[tuple[int, float, int, int]] = []
        while self._ready and len(best) < n:
            offer = heappop(self._ready)
            lane = self.lanes[offer[3]]
            if lane.offer is not offer:
                continue
            top = self._top(lane)
            if top is None or top != offer[:3]:  # it has got worse since it was offered
                self._offer(lane, top)
            else:
                best.append(offer)
        for offer in best:
            heappush(self._ready, offer)
        return best

    def _behind(self, lane: Lane, n: int) -> list[tuple[int, float]]:
        """Level and negative score of some of a lane's rows, the best ones after the first."""
        rows = dict.fromkeys(entry[2] & _ROW for entry in lane.heap)
        known = ((row, self.level.item(row), self.score.item(row)) for row in rows)
        state, taken = self.table.state, self.taken
        true = [
            (level, -score)
            for row, level, score in known
            if level != SHUT and score > PRUNED and state.item(row) == OPEN and row not in taken
        ]
        return nsmallest(n + 1, true)[1:]

    def best_soon(self, now: float) -> float:
        """The score of the best row that could be taken before long, but not now; -inf if there is none, or nobody is
        choosy."""
        return self._best_resting(now) if self.choosy else -math.inf

    def head(self, n: int) -> list[str]:
        """Names of some lanes that are about to be picked."""
        return [self.lanes[offer[3]].name for offer in self._ready[:n]]

    def waiting(self) -> list[Lane]:
        """Lanes that have rows but may not be used now."""
        return [lane for lane in self.lanes if lane.status in (WAITING, PARKED) and self._top(lane) is not None]

    def _spent(self, lane: Lane) -> bool:
        return self.lane_budget > 0 and lane.pages + lane.in_flight >= self.lane_budget

    def _usable(self, lane: Lane, now: float) -> bool:
        """Whether the lane may be used now; if not, it waits from here on."""
        until, why = (math.inf, SPENT) if self._spent(lane) else self.ready(lane.name)
        if until > now:
            self._wait(lane, until, why)
        return until <= now

    def _wait(self, lane: Lane, until: float, why: str) -> None:
        lane.offer = None
        lane.why = why
        if until == math.inf:
            lane.status = PARKED
            if (top := self._top(lane)) is not None:
                self._rest(lane, top)
            return
        lane.status, lane.until = WAITING, until
        heappush(self._waiting, (until, lane.number))
        if self.choosy:
            heappush(self._nearly, (until, lane.number))

    def _offer(self, lane: Lane, top: Entry | None) -> None:
        """Put the lane up for picking under its best row; an earlier offer is void."""
        if top is None:
            lane.status, lane.offer = IDLE, None
        else:
            lane.status, lane.offer = READY, (*top, lane.number)
            heappush(self._ready, lane.offer)
            if len(self._ready) > 2 * len(self.lanes) + 64:
                self._ready[:] = [offer for offer in self._ready if self.lanes[offer[3]].offer is offer]
                heapify(self._ready)

    def _top(self, lane: Lane) -> Entry | None:
        """The lane's best entry that is true: open, not taken, not shut, and with its present level and score."""
        heap, state, levels, scores = lane.heap, self.table.state, self.level, self.score
        while heap or (lane.tail is not None and self._refill(lane)):
            entry = heap[0]
            row = entry[2] & _ROW
            level = levels.item(row)
            score = scores.item(row)
            if state.item(row) != OPEN or row in self.taken or level == SHUT or score <= PRUNED:
                heappop(heap)
                continue
            true = (level, -score, entry[2])
            if entry == true:
                return entry
            if entry < true:
                if lane.floor is not None and true > lane.floor:
                    heappop(heap)
                    self._append(lane, row)
                else:
                    heapreplace(heap, true)
            else:  # an older, worse entry; the better one is elsewhere in the heap
                heappop(heap)
        return None


def _by_age(table: Table, order: Order | None) -> Order:
    """Places among equals by when rows were discovered, or by what `order` says of that."""

    def places(rows: Rows) -> NDArray[np.int64]:
        age = table.age(rows)
        first = age.astype(np.int64) << 32 if order is None else order(age) & ~_ROW
        return first | rows

    return places
