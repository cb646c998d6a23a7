"""Frontier for estimators that change many priorities at each step: an array that is scanned at each pick.

The priorities of a *linear* estimator are weights times features. A step changes few features but all weights, so the
features are stored in a matrix, and the priorities are computed when needed.
"""

from __future__ import annotations

import math
from typing import Any, Protocol, TypeGuard, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from lycosa.core.columns import fit
from lycosa.core.frontier import FREE, HELD, IDLE, LOWEST, PRUNED, READY, SHUT, Entry, Frontier, HostQueue, Order, Ready
from lycosa.core.table import OPEN, Table
from lycosa.core.types import Priorities, Rows

NOWHERE, ASIDE, FIRST, FREELY, BEHIND = range(5)  # pools: none; in flight, shut or pruned; seeds; free; held
_MAX_FLOAT32 = float(np.finfo(np.float32).max)


class ScanFrontier(Frontier):
    """Frontier for priorities that change all at once; same rules as Frontier, except that it can't be choosy.

    For a linear estimator call `describe(rows, features)` instead of `rank(rows, priorities)`, and `weigh(weights,
    intercept)` after each step.

    With a million rows and four features a step (learn, describe, take) takes about 1 ms. Ranking a million rows by
    plain priorities takes 15 ms, and a take 1 to 3 ms.

    >>> table = Table(); rows = np.array([table.add(name, 0) for name in "abc"], np.int32)
    >>> frontier = ScanFrontier(table, lines=2)
    >>> frontier.describe(rows, np.array([[1, 2, 3], [3, 3, 0]], np.float32))
    >>> frontier.weigh(np.array([1, 0], np.float32)); table.nodes[frontier.take(now=0.0)]
    'c'
    """

    def __init__(
        self,
        table: Table,
        ready: Ready = lambda queue: (0.0, ""),
        host_budget: int = 0,
        patience: float = 300.0,
        order: Order | None = None,
        lines: int = 0,
    ) -> None:
        super().__init__(table, ready, host_budget, patience, order=order)
        self.linear = lines > 0
        self.weights = np.zeros(lines, np.float32) if lines else np.ones(1, np.float32)
        self.intercept = 0.0
        self.pools = [Pool(max(1, lines)) for _ in range(5)]
        self._where = np.zeros(1024, np.uint8)
        self._slot = np.zeros(1024, np.int32)
        self._is_taken = np.zeros(1024, np.bool_)  # `taken` as a column
        self._rests = np.zeros(64, np.bool_)  # whether each queue waits or is parked
        self._have = np.zeros((2, 64), np.int64)  # number of free and held rows of each queue
        self._closed = 0  # number of closed rows already removed from the pools

    def rank(self, rows: Rows, priorities: np.ndarray[tuple[int], np.dtype[np.floating]]) -> None:
        self._fit()
        self.priority[rows] = priorities = self._seeds_first(rows, priorities)
        self._put(rows, np.clip(priorities, -_MAX_FLOAT32, _MAX_FLOAT32).astype(np.float32)[np.newaxis])

    def describe(self, rows: Rows, features: Features) -> None:
        """Set the features of rows of a linear estimator."""
        self._fit()
        self.priority[rows] = self._seeds_first(
            rows, np.zeros(len(rows))
        )  # the actual priority is computed when the row is taken
        self._put(rows, features)

    def weigh(self, weights: NDArray[np.float32], intercept: float = 0.0) -> None:
        self.weights, self.intercept = np.array(weights, np.float32), float(intercept)

    def hold(self, rows: Rows, levels: NDArray[np.uint8]) -> None:
        self._fit()
        before = self.level[rows]
        if not levels.any() and not before.any():
            return
        self.level[rows] = levels = np.where(self.table.is_seed[rows], FREE, levels)
        changed = rows[levels != before]
        self._move(changed[self._where[changed] != NOWHERE])

    def mark_taken(self, row: int, *, free: bool) -> None:
        super().mark_taken(row, free=free)
        self._fit()
        self._is_taken[row] = True
        if self._where[row] != NOWHERE:
            self._move(np.array([row], np.int32))

    def untake(self, row: int) -> None:
        self._is_taken[row] = False
        super().untake(row)

    def take(self, now: float) -> int:
        self._forget_closed()
        self._end_rests(now)
        for which in (FIRST, FREELY, BEHIND):
            if which == BEHIND and self.pools[which].size and self._free_soon(now):
                return -1
            while (row := self._best(which)) >= 0:
                queue = self.queue(int(self.table.host[row]))
                if self._usable(queue, now):
                    self.take_this(row, now)
                    return row
        return -1

    def take_this(self, row: int, now: float) -> None:
        if self.linear and self.priority[row] < math.inf:
            self.priority[row] = self._exact(np.array([row], np.int32))[0]
        super().take_this(row, now)

    def promises(self, n: int, now: float, at_once: int = 1) -> list[float]:
        rows = self._rows_from(FREE, -math.inf)
        if not len(rows):
            return [LOWEST] * min(n, len(self._rows_from(HELD, -math.inf)))
        priorities: list[float] = np.sort(self._exact(rows) if self.linear else self.priority[rows])[::-1][:n].tolist()
        return priorities

    def head(self, n: int) -> list[str]:
        pools = [self.pools[which] for which in (FIRST, FREELY, BEHIND)]
        rows = np.concatenate([pool.rows[: min(64, pool.size)] for pool in pools])
        numbers = self.table.host[rows]
        return [self.queue(number).name for number in dict.fromkeys(numbers[~self._rests[numbers]].tolist())][:n]

    def _best(self, which: int) -> int:
        """Return the best row of a pool whose queue is ready; ties go to the first."""
        pool = self.pools[which]
        if not pool.size:
            return -1
        rests = self._rests if self._rests.any() else None
        if which == FIRST:  # all seeds have the same priority
            return self._first(pool.rows[: pool.size], rests)
        usable = pool.scan(self.weights)
        if rests is not None:
            usable = np.where(rests[pool.queues[: pool.size]], np.float32(-math.inf), usable)
        top = float(usable.max())
        if top == -math.inf:
            return -1
        # Products are in single precision: candidates that rounding could have misplaced are compared again.
        slack = 2 * pool.rounding(self.weights, self.intercept) if self.linear else 0.0
        return self._first(pool.rows[: pool.size][usable >= np.float32(top - slack)], None)

    def _first(self, rows: Rows, rests: NDArray[np.bool_] | None) -> int:
        if rests is not None:
            rows = rows[~rests[self.table.host[rows]]]
        if not len(rows):
            return -1
        priorities = self._exact(rows)
        equal = rows[priorities == priorities.max()]
        return int(equal[equal.argmin() if self.order is None else self.order(equal).argmin()])

    def _exact(self, rows: Rows) -> Priorities:
        pool = self.pools[self._where[rows[0]]] if len(rows) else self.pools[FREELY]
        if not self.linear or pool is self.pools[FIRST]:
            return self.priority[rows]
        return linear_priorities(pool.matrix.take(self._slot[rows], axis=1), self.weights, self.intercept)

    def _rows_from(self, level: int, min_priority: float) -> Rows:
        self._forget_closed()
        pools = [self.pools[BEHIND]] if level == HELD else [self.pools[FIRST], self.pools[FREELY]]
        held = [pool.rows[: pool.size] for pool in pools]
        return np.sort(np.concatenate([rows[self._exact(rows) >= min_priority] for rows in held]))

    def _push_all(self, rows: Rows) -> None:
        self._move(rows[self._where[rows] != NOWHERE])

    def _put(self, rows: Rows, features: Features) -> None:
        where = self._where[rows]
        for which in (ASIDE, FIRST, FREELY, BEHIND):
            here = (where == which).nonzero()[0] if self.pools[which].size else ()
            if len(here):
                everywhere = len(here) == len(rows)
                old = rows if everywhere else rows[here]
                self.pools[which].put(self._slot[old], features if everywhere else features[:, here])
                if which in (FREELY, BEHIND):  # they stay in the pool, unless they became seeds or were pruned
                    priority = self.priority[old]
                    old = old[(priority <= PRUNED) | (priority == math.inf)]
                if len(old):
                    self._move(old)
        new = (where == NOWHERE).nonzero()[0]
        if len(new):
            joining = rows[new]
            if np.count_nonzero(joining[1:] > joining[:-1]) < len(new) - 1:  # duplicates join once
                joining, last = np.unique(joining[::-1], return_index=True)
                new = new[len(new) - 1 - last]
            self._join(joining, self._pool_of(joining), features[:, new])

    def _pool_of(self, rows: Rows) -> NDArray[np.uint8]:
        level, priority = self.level[rows], self.priority[rows]
        pool = np.where(level == HELD, np.uint8(BEHIND), np.uint8(FREELY))
        pool[priority == math.inf] = FIRST
        pool[(level == SHUT) | (priority <= PRUNED) | self._is_taken[rows]] = ASIDE
        pool[self.table.state[rows] != OPEN] = NOWHERE
        return pool

    def _move(self, rows: Rows) -> None:
        to, where = self._pool_of(rows), self._where[rows]
        astray = (to != where).nonzero()[0]
        if not len(astray):
            return
        if len(astray) > 1:  # drop duplicates
            astray = astray[np.unique(rows[astray], return_index=True)[1]]
        rows, to, where = rows[astray], to[astray], where[astray]
        features = np.empty((len(self.weights), len(rows)), np.float32)
        for which in (ASIDE, FIRST, FREELY, BEHIND):
            here = (where == which).nonzero()[0]
            if len(here):
                slots = self._slot[rows[here]]
                features[:, here] = self.pools[which].matrix.take(slots, axis=1)
                self._leave(which, slots)
        self._join(rows, to, features)

    def _join(self, rows: Rows, to: NDArray[np.uint8], features: Features) -> None:
        for which in (ASIDE, FIRST, FREELY, BEHIND):
            here = (to == which).nonzero()[0]
            if len(here):
                joining = rows[here]
                queues = self.table.host[joining]
                self._where[joining] = which
                slots = self.pools[which].add(joining, queues, features[:, here])
                self._slot[joining] = np.arange(slots.start, slots.stop)
                if which != ASIDE:
                    np.add.at(self._have[int(which == BEHIND)], queues, 1)

    def _leave(self, which: int, slots: NDArray[np.integer[Any]]) -> None:
        pool = self.pools[which]
        self._where[pool.rows[slots]] = NOWHERE
        if which != ASIDE:
            np.subtract.at(self._have[int(which == BEHIND)], pool.queues[slots], 1)
        moved, places = pool.drop(slots)
        self._slot[moved] = places

    def _forget_closed(self) -> None:
        if len(self.table.closed) == self._closed:
            return
        self._fit()
        rows = np.array(self.table.closed[self._closed :], np.int32)
        self._closed = len(self.table.closed)
        where = self._where[rows]
        for which in (ASIDE, FIRST, FREELY, BEHIND):
            here = rows[where == which]
            if len(here):
                self._leave(which, self._slot[here])

    def _fit(self) -> None:
        super()._fit()
        rows, queues = len(self.table), len(self.table.hosts)
        if rows > len(self._where):
            self._where, self._slot, self._is_taken = (
                fit(self._where, rows),
                fit(self._slot, rows),
                fit(self._is_taken, rows),
            )
        if queues > self._have.shape[1]:
            self._have, self._rests = np.stack([fit(line, queues) for line in self._have]), fit(self._rests, queues)

    def _top(self, queue: HostQueue) -> Entry | None:
        self._forget_closed()
        free, held = self._have[:, queue.number].tolist() if queue.number < self._have.shape[1] else (0, 0)
        return (FREE, 0.0, -1) if free else (HELD, 0.0, -1) if held else None

    def _offer(self, queue: HostQueue, top: Entry | None) -> None:
        self._fit()
        queue.status, queue.offer = IDLE if top is None else READY, None
        self._rests[queue.number] = False

    def _wait(self, queue: HostQueue, until: float, why: str) -> None:
        self._fit()
        super()._wait(queue, until, why)
        self._rests[queue.number] = True


# Rows multiplied per batch: few enough that numpy's BLAS does not start threads, which cost more than they save.
AT_ONCE = 32768
Features = NDArray[np.float32]


@runtime_checkable
class Linear(Protocol):
    """Estimator with priority = weights * features + intercept; its `learn` returns rows whose *features* changed."""

    @property
    def weights(self) -> NDArray[np.float32]:
        pass

    @property
    def intercept(self) -> float:
        pass

    def features(self, rows: Rows, table: Table) -> Features:
        """Return a matrix with one row per feature and one column per table row."""


def is_linear(estimator: object) -> TypeGuard[Linear]:
    """Return whether an estimator computes priorities from features and weights."""
    return isinstance(estimator, Linear)


def linear_priorities(features: Features, weights: NDArray[np.float32], intercept: float) -> Priorities:
    """Return weights times features plus intercept, in double precision.

    Summed feature by feature, so that the priority of a row depends on its features only, not on its position.

    >>> linear_priorities(np.array([[1, 2], [0, 4]], np.float32), np.array([.5, .25], np.float32), 1.0).tolist()
    [1.5, 3.0]
    """
    total = np.full(features.shape[1], 0.0)
    for line, weight in zip(features, weights.tolist(), strict=True):
        total += line.astype(np.float64) * weight
    return total + intercept


class Pool:
    """Unordered array of rows with their features; a removed row is replaced by the last."""

    def __init__(self, lines: int) -> None:
        self.size = 0
        self.rows = np.zeros(1024, np.int32)
        self.queues = np.zeros(1024, np.int32)
        self.matrix = np.zeros((lines, 1024), np.float32)
        self.high, self.low = np.zeros(lines), np.zeros(lines)  # largest and smallest value of each feature so far
        self._product = np.zeros(1024, np.float32)

    def add(self, rows: Rows, queues: NDArray[np.int32], features: Features) -> slice:
        """Add rows and return their slots."""
        end = self.size + len(rows)
        if end > len(self.rows):
            self.rows, self.queues, self._product = fit(self.rows, end), fit(self.queues, end), np.zeros(0, np.float32)
            grown = np.zeros((len(self.matrix), len(self.rows)), np.float32)
            grown[:, : self.size] = self.matrix[:, : self.size]
            self.matrix = grown
        slots = slice(self.size, end)
        self.rows[slots], self.queues[slots] = rows, queues
        self.size = end
        self.put(slots, features)
        return slots

    def put(self, slots: Any, features: Features) -> None:
        self.matrix[:, slots] = features
        if features.size:
            np.maximum(self.high, features.max(axis=1), out=self.high)
            np.minimum(self.low, features.min(axis=1), out=self.low)

    def drop(self, slots: NDArray[np.integer[Any]]) -> tuple[Rows, NDArray[np.integer[Any]]]:
        """Remove rows; return the rows that were moved into their slots, and those slots."""
        left = self.size - len(slots)
        gaps = slots[slots < left]
        stays = np.ones(len(slots), np.bool_)
        stays[slots[slots >= left] - left] = False
        last = left + np.flatnonzero(stays)
        self.rows[gaps], self.queues[gaps] = self.rows[last], self.queues[last]
        self.matrix[:, gaps] = self.matrix[:, last]
        self.size = left
        return self.rows[gaps], gaps

    def scan(self, weights: NDArray[np.float32]) -> NDArray[np.float32]:
        """Return weights times features in single precision."""
        if len(weights) == 1 and weights[0] == 1.0:
            return self.matrix[0, : self.size]
        if len(self._product) < self.size:
            self._product = np.zeros(len(self.rows), np.float32)
        product = self._product[: self.size]
        for first in range(0, self.size, AT_ONCE):
            last = min(first + AT_ONCE, self.size)
            np.matmul(weights, self.matrix[:, first:last], out=product[first:last])
        return product

    def rounding(self, weights: NDArray[np.float32], intercept: float) -> float:
        """Return the maximum rounding error of a product in single precision."""
        reach = np.abs(weights.astype(np.float64)) @ np.maximum(self.high, -self.low)
        return 2.0**-24 * (len(weights) + 2) * float(reach) + 1e-12 * abs(intercept)
