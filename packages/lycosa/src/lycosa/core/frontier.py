"""The frontier: a priority queue of open rows per host, and the ready queue with the best row.

Three kinds of heaps, all lazy:
- each host queue has a heap of its best rows, by level and priority. An entry is never worse than its row: a row that
  gets better is pushed again, one that gets worse is corrected when it surfaces. All other rows of the queue are worse
  and kept in an unsorted array, from which the heap is refilled: 4 bytes per row instead of 130;
- the ready queues, by their top row;
- the waiting queues, by the time when they become ready; choosy crawls also order those with short waits by their
  top row.

Rows held back as likely traps come after all free rows, including free rows that are in flight or wait for their host.
Rows in flight are not part of the state: a resumed crawl has none, and its frontier is rebuilt by replaying its log.
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
from lycosa.core.types import Priorities, Rows

READY, WAITING, PARKED, IDLE = range(4)
# Levels of a row: fetched by priority; fetched if no free row is left; never fetched
FREE, HELD, SHUT = range(3)
MAX_WAIT_SECONDS = 3.0  # maximum seconds that a choosy crawl waits for a queue
LOWEST = -1e300  # priority of a row if the estimator returned NaN or infinity
PRUNED = -1e301  # priority of a row not to be fetched, unless it gets a better one later
Ready = Callable[[str], tuple[float, str]]
Entry = tuple[int, float, int]  # level, negated priority and order of a row; the smallest entry comes first
Order = Callable[[Rows], NDArray[np.int64]]  # order of rows with equal priority; the lower 32 bits are the row
_ROW = (1 << 32) - 1
SPENT = "host budget"
# Initial heap size of a queue. It holds at most twice this, or 1/16 of the queue's rows if that is more: a heap entry
# takes 124 bytes, a row outside the heap 4.
HEAP, _SHARE = 4, 16


class HostQueue:
    """Rows of one host, best first, and when it may be used again."""

    __slots__ = (
        "floor", "heap", "in_flight", "max_entries", "name", "number", "offer", "pages", "rest", "since", "status",
        "tail", "until", "why",
    )  # fmt: skip

    def __init__(self, number: int, name: str) -> None:
        self.number = number
        self.name = name
        self.heap: list[Entry] = []
        self.max_entries = 2 * HEAP  # entries before the heap is cut
        self.floor: Entry | None = None  # lower bound of the heap: no entry is worse, no row outside the heap is better
        self.tail: array[int] | None = None  # rows outside the heap, with duplicates and closed rows
        self.status = IDLE
        self.offer: tuple[int, float, int, int] | None = None
        self.rest: float | None = None  # negated priority in the heap of resting queues
        self.since = 0.0  # time of last use
        self.until = 0.0
        self.why = ""
        self.in_flight = 0
        self.pages = 0

    @property
    def waiting(self) -> int:
        """Approximate number of waiting rows, with duplicates."""
        return len(self.heap) + (len(self.tail) if self.tail is not None else 0)


class Frontier:
    """Queues of open rows by host; the best row of a ready queue is taken first, of ties the one discovered first.

    >>> table = Table(); rows = [table.add(name, 0) for name in "abc"]
    >>> frontier = Frontier(table)
    >>> frontier.rank(np.array(rows), np.array([.2, .9, .2]))
    >>> [table.nodes[frontier.take(now=0.0)] for _ in "abc"]
    ['b', 'a', 'c']
    """

    def __init__(
        self,
        table: Table,
        ready: Ready = lambda queue: (0.0, ""),
        host_budget: int = 0,
        patience: float = 300.0,
        choosy: float = 0.0,
        order: Order | None = None,
    ) -> None:
        self.table = table
        self.ready = ready
        self.host_budget = host_budget
        self.patience = patience  # seconds that held rows wait for queues with free ones
        self._worth_waiting = min(MAX_WAIT_SECONDS, patience)
        self.choosy = choosy  # minimum priority of a row, as a share of the best resting queue's
        self.order = order
        self.priority = np.full(1024, -math.inf)
        self.level = np.zeros(1024, np.uint8)
        self.taken: dict[int, bool] = {}  # rows in flight, and whether each was free when it was picked
        self.queues: list[HostQueue] = []
        self._holding = False  # true once any row was held back
        self._free_taken = 0
        self._by_discovery = False  # true if ties are broken by age instead of row number
        self._away: dict[bytes, bool] = {}  # rows that were spilled while in flight
        self._known_left = -1  # a row found by the last call of `left`
        self._again = math.inf  # when to check again even if nothing happens before
        self._ready: list[tuple[int, float, int, int]] = []
        self._waiting: list[tuple[float, int]] = []
        self._resting: list[tuple[float, int]] = []
        self._ready_soon: list[tuple[float, int]] = []  # waiting queues that will be ready soon enough to wait for

    def rank(self, rows: Rows, priorities: np.ndarray[tuple[int], np.dtype[np.floating]]) -> None:
        """Set the priorities of rows. Seeds always come first."""
        self._fit()
        priorities = self._seeds_first(rows, priorities)
        before = self.priority[rows]
        self.priority[rows] = priorities
        # Rows that got worse still have an entry that is good enough.
        better = (priorities > before).nonzero()[0]
        if len(better):
            self._push_all(rows[better] if len(better) < len(rows) else rows)

    def _seeds_first(self, rows: Rows, priorities: np.ndarray[tuple[int], np.dtype[np.floating]]) -> Priorities:
        finite = np.isfinite(priorities)
        if np.count_nonzero(finite) < len(rows):  # NaN and infinities come last
            priorities = np.where(finite, priorities, LOWEST)
        is_seed = self.table.is_seed[rows]
        if np.count_nonzero(is_seed):
            priorities = np.where(is_seed, math.inf, priorities)
            self.level[rows[is_seed]] = FREE
        return priorities.astype(np.float64, copy=False)

    def hold(self, rows: Rows, levels: NDArray[np.uint8]) -> None:
        """Set the levels of rows. Seeds always stay free."""
        self._fit()
        before = self.level[rows]
        if not levels.any() and not before.any():  # nearly always: new free rows
            return
        self._holding = True
        levels = np.where(self.table.is_seed[rows], FREE, levels)
        self.level[rows] = levels
        freed = rows[levels < before]
        self._push_all(freed[self.priority[freed] > -math.inf])

    def _push_all(self, rows: Rows) -> None:
        """Add heap entries for the rows that may be fetched."""
        table, taken = self.table, self.taken
        if not len(rows):
            return
        queues = self.queues
        self.queue(len(table.hosts) - 1)  # create missing queues
        places = rows if self.order is None else self.order(rows)
        columns = (places, table.state[rows], self.level[rows], self.priority[rows], table.host[rows])
        for place, state, level, priority, number in zip(*(column.tolist() for column in columns), strict=True):
            if state != OPEN or level == SHUT or priority <= PRUNED or place & _ROW in taken:
                continue
            entry, queue = (level, -priority, place), queues[number]
            if queue.floor is not None and entry > queue.floor:
                self._append(queue, place & _ROW)
                continue
            heappush(queue.heap, entry)
            if queue.heap[0] is entry:
                self._update_top(queue, entry)
            if len(queue.heap) > queue.max_entries:
                self._cut_heap(queue, sorted(queue.heap))

    def _append(self, queue: HostQueue, row: int) -> None:
        tail = queue.tail
        if tail is None:
            tail = queue.tail = array("i")
        tail.append(row)
        if len(tail) > 4 * _SHARE * queue.max_entries:  # probably mostly duplicates
            rows = np.unique(np.frombuffer(tail, np.int32))
            queue.tail, queue.max_entries = array("i", rows.tobytes()), max(queue.max_entries, len(rows) // _SHARE)

    def _cut_heap(self, queue: HostQueue, entries: list[Entry]) -> None:
        rows = [entry[2] & _ROW for entry in entries[queue.max_entries // 2 :]]
        queue.heap[:] = entries[: queue.max_entries // 2]
        queue.floor = queue.heap[-1]
        if queue.tail is None:
            queue.tail = array("i")
        queue.tail.extend(rows)

    def _refill(self, queue: HostQueue) -> bool:
        """Refill the heap from the other rows; return whether there are any. `untake` adds rows in flight again."""
        assert queue.tail is not None
        rows = np.unique(np.frombuffer(queue.tail, np.int32))
        rows = rows[(self.table.state[rows] == OPEN) & (self.level[rows] != SHUT) & (self.priority[rows] > PRUNED)]
        if self.taken:
            rows = rows[~np.isin(rows, list(self.taken))]
        places = rows if self.order is None else self.order(rows)
        order = np.lexsort((places, -self.priority[rows], self.level[rows]))
        self._fill_queue(queue, rows[order], places[order])
        return bool(queue.heap)

    def _fill_queue(self, queue: HostQueue, rows: Rows, places: NDArray[Any]) -> None:
        queue.max_entries = max(2 * HEAP, len(rows) // _SHARE)
        first = len(rows) if len(rows) <= queue.max_entries else queue.max_entries // 2
        levels, priorities = self.level[rows[:first]].tolist(), np.negative(self.priority[rows[:first]]).tolist()
        queue.heap[:] = zip(levels, priorities, places[:first].tolist(), strict=True)  # a sorted list is a valid heap
        queue.floor = queue.tail = None
        if first < len(rows):
            queue.floor, queue.tail = queue.heap[-1], array("i", rows[first:].astype(np.int32).tobytes())

    def _update_top(self, queue: HostQueue, top: Entry) -> None:
        if queue.status in (IDLE, READY):
            self._offer(queue, top)
        else:
            self._add_resting(queue, top)

    def _fit(self) -> None:
        n = len(self.table)
        if n > len(self.priority):
            self.priority, self.level = fit(self.priority, n, -math.inf), fit(self.level, n, FREE)

    def state(self) -> State:
        if type(self) is not Frontier:
            raise StateMismatch(f"{type(self).__name__} has no state: only Frontier has one")
        return {"score": self.priority, "level": self.level, "pages": np.array([queue.pages for queue in self.queues])}

    def restore(self, state: State) -> None:
        self.priority, self.level = state["score"], state["level"]
        if len(self.level) != len(self.priority) or self.priority.dtype != np.float64 or self.level.dtype != np.uint8:
            raise StateMismatch("the stored priorities and levels differ in length or have the wrong type")
        self._holding = bool(self.level.any())
        for number, pages in enumerate(state["pages"].tolist()):
            self.queue(number).pages = pages
        self._fit()
        self._fill()
        for queue in self.queues:
            if queue.heap:
                self._offer(queue, queue.heap[0])

    def _fill(self) -> None:
        n, table = len(self.table), self.table
        priority, level = self.priority[:n], self.level[:n]
        rows = np.flatnonzero((table.state[:n] == OPEN) & (level != SHUT) & (priority > PRUNED))
        places = rows if self.order is None else self.order(rows)
        keys = [-priority[rows], table.host[rows]]
        keys = keys if self.order is None else [places, *keys]
        order = np.arange(len(rows))
        for key in [*keys[:-1], level[rows], keys[-1]] if self._holding else keys:
            order = order[key[order].argsort(kind="stable")]
        rows, places = rows[order], places[order]
        ends = table.host[rows].searchsorted(np.arange(len(table.hosts)), "right").tolist()
        short: list[tuple[int, int, int]] = []
        for number, (begin, end) in enumerate(zip([0, *ends], ends, strict=False)):
            if end - begin > 2 * HEAP:
                self._fill_queue(self.queue(number), rows[begin:end], places[begin:end])
            elif end > begin:
                short.append((number, begin, end))
            if short and short[-1][2] - short[0][1] > (1 << 14):
                self._fill_queues(short, rows, places)
                short = []
        self._fill_queues(short, rows, places)

    def _fill_queues(self, queues: list[tuple[int, int, int]], rows: Rows, places: NDArray[Any]) -> None:
        if not queues:
            return
        first, last = queues[0][1], queues[-1][2]
        some = rows[first:last]
        levels, priorities = self.level[some].tolist(), np.negative(self.priority[some]).tolist()
        entries = list(zip(levels, priorities, places[first:last].tolist(), strict=True))
        for number, begin, end in queues:
            queue = self.queue(number)
            queue.heap[:] = entries[begin - first : end - first]
            queue.floor, queue.tail, queue.max_entries = None, None, 2 * HEAP

    def by_age(self) -> None:
        """Break ties by age from now on, because spilling reuses row numbers."""
        if not self._by_discovery:
            self._by_discovery, self.order = True, _by_age(self.table, self.order)

    def pages(self) -> NDArray[np.int64]:
        return np.array([self.queue(number).pages for number in range(len(self.table.hosts))], np.int64)

    def leave(self, rows: Rows, table: Table) -> dict[str, NDArray[Any]]:
        """Remove rows that are spilled, in flight or not; `rebuild` has to be called afterwards."""
        known: dict[str, NDArray[Any]] = {"score": self.priority[rows]}
        self.priority[rows], self.level[rows] = -math.inf, FREE
        for row in self.taken.keys() & set(rows.tolist()) if self.taken else ():
            self._away[table.name(row)] = self.taken.pop(row)
        return known

    def join(self, rows: Rows, known: Mapping[str, NDArray[Any]], table: Table) -> None:
        self._fit()
        for row in rows.tolist() if self._away else ():
            if (free := self._away.pop(table.name(row), None)) is not None:
                self.taken[row] = free

    def forget(self, name: bytes, queue: str) -> None:
        """End the visit of a row that was spilled while in flight."""
        if (free := self._away.pop(name, None)) is not None:
            self._free_taken -= free
            self.queue(self.table.host_number[queue]).in_flight -= 1

    def rebuild(self) -> None:
        """Rebuild all queues from the current rows; whether they are ready does not change."""
        self.by_age()
        self._fit()
        self._ready, self._resting, self._known_left = [], [], -1
        for queue in self.queues:
            queue.heap[:], queue.floor, queue.tail, queue.offer, queue.rest = [], None, None, None, None
        self._fill()
        for queue in self.queues:
            top = self._top(queue)
            if queue.status in (IDLE, READY):
                self._offer(queue, top)
            elif top is not None:
                self._add_resting(queue, top)

    def queue(self, number: int) -> HostQueue:
        while number >= len(self.queues):
            self.queues.append(HostQueue(len(self.queues), self.table.hosts[len(self.queues)]))
        return self.queues[number]

    def take(self, now: float) -> int:
        """Take the best row of the ready queues; return -1 if none is ready or a better one is worth waiting for."""
        self._end_rests(now)
        while self._ready:
            entry = heappop(self._ready)
            queue = self.queues[entry[3]]
            if queue.offer is not entry:
                continue
            top = self._top(queue)
            if top is None or top != entry[:3]:
                self._offer(queue, top)
                continue
            if not self._usable(queue, now):
                continue
            level, worst, place = top
            if self._free_soon(now) if level else self.choosy > 0 and -worst < self._min_priority(now):
                self._offer(queue, top)
                return -1
            heappop(queue.heap)
            row = place & _ROW
            queue.since = now
            self.mark_taken(row, free=not level)
            self._offer(queue, self._top(queue))
            return row
        return -1

    def take_this(self, row: int, now: float) -> None:
        """Take a given row from `candidates`."""
        self.queue(int(self.table.host[row])).since = now
        self.mark_taken(row, free=bool(self.level[row] == FREE))

    def candidates(self, level: int, min_priority: float, now: float) -> Rows:
        """Return all rows of a level available now with at least this priority, by number. Scans all rows."""
        rows = self._rows_from(level, min_priority)
        numbers = self.table.host[rows]
        usable = np.zeros(len(self.table.hosts), np.bool_)
        for number in np.unique(numbers).tolist():
            queue = self.queue(number)
            resting = queue.status in (WAITING, PARKED) or self._spent(queue)
            usable[number] = not resting and self.ready(queue.name)[0] <= now
        return rows[usable[numbers]]

    def _rows_from(self, level: int, min_priority: float) -> Rows:
        n = len(self.table)
        self._fit()
        priority = self.priority[:n]
        fits = (priority >= min_priority) & (priority > PRUNED) & (self.level[:n] == level)
        rows = np.flatnonzero(fits & (self.table.state[:n] == OPEN)).astype(np.int32)
        return rows[~np.isin(rows, list(self.taken))] if self.taken else rows

    def left(self) -> bool:
        """Return whether any free, ranked row is left that may ever be taken, including those in flight.

        It depends on learned state only. One such row is cached; all rows are scanned only when that one is gone.
        """
        if self._known_left < 0 or not self._is_left(np.array([self._known_left])).any():
            rows = np.arange(len(self.table))
            rows = rows[self._is_left(rows)]
            # the worst row is fetched last, so it is cached
            self._known_left = int(rows[self.priority[rows].argmin()]) if len(rows) else -1
        return self._known_left >= 0

    def _is_left(self, rows: NDArray[np.intp]) -> NDArray[np.bool_]:
        self._fit()
        left: NDArray[np.bool_] = (self.table.state[rows] == OPEN) & (self.level[rows] == FREE)
        left &= self.priority[rows] > PRUNED
        if self.host_budget and left.any():
            left &= self.pages()[self.table.host[rows]] < self.host_budget
        return left

    def pruned(self) -> int:
        """Count the open rows that were pruned and never visited. Scans all rows."""
        n = len(self.table)
        self._fit()
        priority = self.priority[:n]
        never = (self.table.state[:n] == OPEN) & (self.table.attempts[:n] == 0)
        return int(np.count_nonzero(never & (priority <= PRUNED) & (priority > -math.inf)))

    def _end_rests(self, now: float) -> None:
        self._again = math.inf
        while self._waiting and self._waiting[0][0] <= now:
            until, number = heappop(self._waiting)
            queue = self.queues[number]
            if queue.status == WAITING and queue.until == until:
                self._offer(queue, self._top(queue))

    def mark_taken(self, row: int, *, free: bool) -> None:
        self.queue(self.table.host.item(row)).in_flight += 1
        self.taken[row] = free
        self._free_taken += free

    def untake(self, row: int) -> None:
        """Put a row back after its visit; if it is still open it may be picked again."""
        self._free_taken -= self.taken.pop(row, False)
        self.queues[self.table.host.item(row)].in_flight -= 1
        if self.table.state.item(row) == OPEN:
            self._push_all(np.array([row], np.int32))

    def wake(self, name: str) -> None:
        number = self.table.host_number.get(name)
        if number is None or number >= len(self.queues):
            return
        queue = self.queues[number]
        if queue.status == READY:
            return
        if self._top(queue) is None:  # no rows, so no need to wait
            self._offer(queue, None)
        elif self._spent(queue):
            self._wait(queue, math.inf, SPENT)
        else:
            self._wait(queue, *self.ready(name))

    def postpone(self, row: int, until: float, why: str) -> None:
        """Put a row back and block its queue until the given time."""
        self.untake(row)
        self._wait(self.queues[self.table.host[row]], until, why)

    def next_ready(self) -> float:
        """Return when a waiting queue becomes ready or a busy one is no longer worth waiting for; infinity if never."""
        return min(self._again, self._next_waiting())

    def _next_waiting(self) -> float:
        while self._waiting:
            until, number = self._waiting[0]
            queue = self.queues[number]
            if queue.status == WAITING and queue.until == until:
                return until
            heappop(self._waiting)
        return math.inf

    def _free_soon(self, now: float) -> bool:
        return self._free_taken > 0 or any(
            (top := self._top(queue)) is not None and top[0] == FREE
            for queue in self.queues
            if (queue.status == WAITING and queue.until <= now + self.patience)
            or (queue.status == PARKED and queue.why != SPENT)
        )

    def _min_priority(self, now: float) -> float:
        best = self._best_resting(now)
        return best - (1.0 - self.choosy) * abs(best) if best > -math.inf else best

    def _best_resting(self, now: float) -> float:
        """Return the best priority of free rows whose queue is busy or ready soon; -inf if there is none."""
        while self._ready_soon and self._ready_soon[0][0] <= now + self._worth_waiting:
            queue = self.queues[heappop(self._ready_soon)[1]]
            if queue.status == WAITING and (top := self._top(queue)) is not None:
                self._add_resting(queue, top)
        while self._resting:
            worst, number = self._resting[0]
            queue = self.queues[number]
            waiting, busy = queue.status == WAITING, queue.status == PARKED and queue.in_flight > 0
            patience = (now if waiting else queue.since) + self._worth_waiting
            top = self._top(queue) if (waiting and queue.until <= patience) or (busy and now < patience) else None
            if top is not None and top[:2] == (FREE, worst) and queue.rest == worst:
                if busy:
                    self._again = patience
                return -worst
            heappop(self._resting)  # it no longer rests, or its best row has changed
            if queue.rest == worst:
                queue.rest = None
                if top is not None:
                    self._add_resting(queue, top)
        return -math.inf

    def _add_resting(self, queue: HostQueue, top: Entry) -> None:
        level, worst, _ = top
        # the infinite priority of a seed is no estimate of the queue's other rows
        valued = level == FREE and worst > -math.inf
        if self.choosy and valued and (queue.rest is None or worst < queue.rest):
            queue.rest = worst
            heappush(self._resting, (worst, queue.number))

    def promises(self, n: int, now: float, at_once: int = 1) -> list[float]:
        """Return the priorities of the n best rows available now, held ones last.

        Each queue contributes up to `at_once` rows (0: any number), as far as its heap has them.
        """
        offers = self._best_offers(n, now)
        best = [offer[:2] for offer in offers]
        for offer in offers if at_once != 1 else ():  # all other queues rank behind n better rows
            queue = self.queues[offer[3]]
            available = at_once - queue.in_flight - 1 if at_once else n
            if self.host_budget:
                available = min(available, self.host_budget - queue.pages - queue.in_flight - 1)
            best += self._behind(queue, available) if available > 0 else ()
        return [-worst if level == FREE else LOWEST for level, worst in nsmallest(n, best)]

    def _best_offers(self, n: int, now: float) -> list[tuple[int, float, int, int]]:
        """Return the entries of the n best queues, with the current priority of their best row."""
        self._end_rests(now)
        best: list[tuple[int, float, int, int]] = []
        while self._ready and len(best) < n:
            offer = heappop(self._ready)
            queue = self.queues[offer[3]]
            if queue.offer is not offer:
                continue
            top = self._top(queue)
            if top is None or top != offer[:3]:  # worse than when the queue was pushed
                self._offer(queue, top)
            else:
                best.append(offer)
        for offer in best:
            heappush(self._ready, offer)
        return best

    def _behind(self, queue: HostQueue, n: int) -> list[tuple[int, float]]:
        rows = dict.fromkeys(entry[2] & _ROW for entry in queue.heap)
        known = ((row, self.level.item(row), self.priority.item(row)) for row in rows)
        state, taken = self.table.state, self.taken
        true = [
            (level, -priority)
            for row, level, priority in known
            if level != SHUT and priority > PRUNED and state.item(row) == OPEN and row not in taken
        ]
        return nsmallest(n + 1, true)[1:]

    def best_soon(self, now: float) -> float:
        """Return the best priority of rows available soon but not now; -inf if none, or if not choosy."""
        return self._best_resting(now) if self.choosy else -math.inf

    def head(self, n: int) -> list[str]:
        return [self.queues[offer[3]].name for offer in self._ready[:n]]

    def waiting(self) -> list[HostQueue]:
        return [queue for queue in self.queues if queue.status in (WAITING, PARKED) and self._top(queue) is not None]

    def _spent(self, queue: HostQueue) -> bool:
        return self.host_budget > 0 and queue.pages + queue.in_flight >= self.host_budget

    def _usable(self, queue: HostQueue, now: float) -> bool:
        until, why = (math.inf, SPENT) if self._spent(queue) else self.ready(queue.name)
        if until > now:
            self._wait(queue, until, why)
        return until <= now

    def _wait(self, queue: HostQueue, until: float, why: str) -> None:
        queue.offer = None
        queue.why = why
        if until == math.inf:
            queue.status = PARKED
            if (top := self._top(queue)) is not None:
                self._add_resting(queue, top)
            return
        queue.status, queue.until = WAITING, until
        heappush(self._waiting, (until, queue.number))
        if self.choosy:
            heappush(self._ready_soon, (until, queue.number))

    def _offer(self, queue: HostQueue, top: Entry | None) -> None:
        if top is None:
            queue.status, queue.offer = IDLE, None
        else:
            queue.status, queue.offer = READY, (*top, queue.number)
            heappush(self._ready, queue.offer)
            if len(self._ready) > 2 * len(self.queues) + 64:
                self._ready[:] = [offer for offer in self._ready if self.queues[offer[3]].offer is offer]
                heapify(self._ready)

    def _top(self, queue: HostQueue) -> Entry | None:
        """Return the queue's best valid entry: open, not in flight or shut, with current level and priority."""
        heap, state, levels, priorities = queue.heap, self.table.state, self.level, self.priority
        while heap or (queue.tail is not None and self._refill(queue)):
            entry = heap[0]
            row = entry[2] & _ROW
            level = levels.item(row)
            priority = priorities.item(row)
            if state.item(row) != OPEN or row in self.taken or level == SHUT or priority <= PRUNED:
                heappop(heap)
                continue
            true = (level, -priority, entry[2])
            if entry == true:
                return entry
            if entry < true:
                if queue.floor is not None and true > queue.floor:
                    heappop(heap)
                    self._append(queue, row)
                else:
                    heapreplace(heap, true)
            else:  # outdated; a better entry is elsewhere in the heap
                heappop(heap)
        return None


def _by_age(table: Table, order: Order | None) -> Order:
    def places(rows: Rows) -> NDArray[np.int64]:
        age = table.age(rows)
        first = age.astype(np.int64) << 32 if order is None else order(age) & ~_ROW
        return first | rows

    return places
