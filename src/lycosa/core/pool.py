"""Rows side by side in an array, with the features that their scores are made of: to be looked through as a whole."""

from __future__ import annotations

from typing import Any, Protocol, TypeGuard, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from lycosa.core.columns import fit
from lycosa.core.frontier import Order
from lycosa.core.table import Table
from lycosa.core.types import Rows, Scores

SMALL = 4096
"""A pool with fewer rows than that is looked through whole; of a larger one that many scores are drawn to divide it."""

SHARE = 8
"""So many of those drawn are above the line that divides the short list from the rest."""

LONG = 16384
"""A short list may grow to this length until it is made again."""

AT_ONCE = 32768
"""Rows that are multiplied together: few enough for numpy's library not to wake its threads, which cost far more than
they save, and most where other processes keep the cores busy."""

GROUPS = 16
"""Kinds of rows with the same features that are told apart."""

LONGEST_PAUSE = 63
"""Takes without a new short list at most, where weights change too much for it to last."""

CROWDS = 64
"""Crowds that are remembered."""

Features = NDArray[np.float32]


@runtime_checkable
class Linear(Protocol):
    """An estimator with score = weights * features + intercept; its `learn` returns rows whose *features* changed."""

    @property
    def weights(self) -> NDArray[np.float32]:
        """One for each feature."""
        ...

    @property
    def intercept(self) -> float:
        """Added to each score."""
        ...

    def features(self, rows: Rows, table: Table) -> Features:
        """A line for each feature, a column for each row."""
        ...


def is_linear(estimator: object) -> TypeGuard[Linear]:
    """Whether an estimator says how its scores are made, so that they can be made all at once."""
    return isinstance(estimator, Linear)


def linear_scores(features: Features, weights: NDArray[np.float32], intercept: float) -> Scores:
    """Weights times features, plus intercept: in double precision and feature by feature, so that a row's score does
    not depend on the rows around it, and rows with the same features have the same score.

    >>> linear_scores(np.array([[1, 2], [0, 4]], np.float32), np.array([.5, .25], np.float32), 1.0).tolist()
    [1.5, 3.0]
    """
    total = np.full(features.shape[1], 0.0)
    for line, weight in zip(features, weights.tolist(), strict=True):
        total += line.astype(np.float64) * weight
    return total + intercept


class Crowd:
    """Many rows with the same features: they score the same, and are taken one after the other."""

    def __init__(self, size: int, rows: Rows, order: Order | None) -> None:
        self.size = size
        """How many rows of the pool are of this kind."""
        self.rows = rows
        """The first of them, in the order in which they are taken; some may have left since."""
        self.order = order
        self.joined: list[int] = []
        """Rows that became of this kind later, and come before the last of those."""
        self._last = self._place(int(rows[-1]))

    def join(self, row: int) -> None:
        """A row is now of this kind."""
        self.size += 1
        if self._place(row) < self._last:  # the others come later than all that are known
            self.joined.append(row)

    def _place(self, row: int) -> int:
        return row if self.order is None else int(self.order(np.array([row], np.int32))[0])


class Pool:
    """Rows side by side, in no order: one that leaves is replaced by the last.

    `best` is exact. Single precision is good for finding candidates only (and a product's last digits depend on where
    in the matrix a row stands), so those that could be the best, given the rounding, are scored in double precision.

    Most takes do not look at the whole matrix: when they do, a short list is made of the rows above some line. While
    weights drift, a row that is not on the list gains no more than the drift times the largest feature; as long as the
    list's best is above the line by more than that, it is the best of all.
    """

    def __init__(self, lines: int) -> None:
        self.size = 0
        self.rows = np.zeros(1024, np.int32)
        self.lanes = np.zeros(1024, np.int32)
        self.matrix = np.zeros((lines, 1024), np.float32)
        self.high, self.low = np.zeros(lines), np.zeros(lines)
        """The largest and smallest feature there ever was, line by line."""
        self.short: Rows | None = None
        """The short list; None if there is none. Some of its rows may have left since."""
        self.served = True
        """Whether the last short list was of any use. One that wasn't is not made again for a while."""
        self._pause = self._paused = 0
        self.crowds: dict[bytes, Crowd] = {}
        """Crowds that were among the best, by their features."""
        self._product = np.zeros(1024, np.float32)
        self._line = 0.0
        self._before = np.zeros(lines, np.float32)  # the weights when the list was made

    def add(self, rows: Rows, lanes: NDArray[np.int32], features: Features) -> slice:
        """Rows join; returns their slots."""
        end = self.size + len(rows)
        if end > len(self.rows):
            self.rows, self.lanes, self._product = fit(self.rows, end), fit(self.lanes, end), np.zeros(0, np.float32)
            grown = np.zeros((len(self.matrix), len(self.rows)), np.float32)
            grown[:, : self.size] = self.matrix[:, : self.size]
            self.matrix = grown
        slots = slice(self.size, end)
        self.rows[slots], self.lanes[slots] = rows, lanes
        self.size = end
        self._write(slots, rows, features)
        return slots

    def put(self, slots: Any, rows: Rows, features: Features) -> None:
        """Rows that are here get new features."""
        if self.crowds and len(np.unique(rows)) < len(rows):  # a row that is named twice would be counted twice
            self.crowds.clear()
        self._leave_crowds(slots)
        self._write(slots, rows, features)

    def _write(self, slots: Any, rows: Rows, features: Features) -> None:
        if not len(rows):
            return
        features = features + np.float32(0.0)  # zero has one sign from here on: crowds are known by their bytes
        self.matrix[:, slots] = features
        self._join_crowds(rows, features)
        np.maximum(self.high, features.max(axis=1), out=self.high)
        np.minimum(self.low, features.min(axis=1), out=self.low)
        if self.short is None:
            return
        if len(rows) + len(self.short) > LONG:
            self.short = None
            return
        above = linear_scores(features, self._before, 0.0) > self._line
        if above.any():
            self.short = np.concatenate([self.short, rows[above]])

    def keep(self, row: int, lane: int, features: NDArray[np.float32]) -> int:
        """One row joins a pool that nothing is taken from; returns its slot."""
        if self.size == len(self.rows):
            return int(self.add(np.array([row], np.int32), np.array([lane], np.int32), features[:, np.newaxis]).start)
        slot = self.size
        self.rows[slot], self.lanes[slot], self.matrix[:, slot] = row, lane, features
        self.size += 1
        return slot

    def drop_one(self, slot: int) -> int:
        """One row leaves; returns the one that was moved into its place, -1 if none was."""
        if self.crowds:
            self._leave_crowds([slot])
        self.size -= 1
        last, moved = self.size, -1
        if slot != last:
            moved = self.rows.item(last)
            self.rows[slot], self.lanes[slot] = moved, self.lanes[last]
            self.matrix[:, slot] = self.matrix[:, last]
        return moved

    def drop(self, slots: NDArray[np.integer[Any]]) -> tuple[Rows, NDArray[np.integer[Any]]]:
        """Rows leave; returns those that were moved into their places, and the places."""
        self._leave_crowds(slots)
        left = self.size - len(slots)
        gaps = slots[slots < left]
        if len(slots) == 1:
            last = np.arange(left, left + len(gaps))
        else:
            stays = np.ones(len(slots), np.bool_)
            stays[slots[slots >= left] - left] = False
            last = left + np.flatnonzero(stays)
        self.rows[gaps], self.lanes[gaps] = self.rows[last], self.lanes[last]
        self.matrix[:, gaps] = self.matrix[:, last]
        self.size = left
        return self.rows[gaps], gaps

    def scan(self, weights: NDArray[np.float32]) -> NDArray[np.float32]:
        """Weights times features, in single precision."""
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
        """What a product in single precision may be wrong by, at most: n roundings of 2^-24, and two to spare."""
        reach = np.abs(weights.astype(np.float64)) @ np.maximum(self.high, -self.low)
        return 2.0**-24 * (len(weights) + 2) * float(reach) + 1e-12 * abs(intercept)

    def divide(
        self,
        product: NDArray[np.float32],
        usable: NDArray[np.float32],
        slack: float,
        weights: NDArray[np.float32],
    ) -> Rows | None:
        """Make the short list: all rows above a line that is well below the best usable one; None if it gets long."""
        self.short = None
        if self.size < SMALL:
            return None
        if self._pause:
            self._pause -= 1
            return None
        self._pause = self._paused = 0 if self.served else min(2 * self._paused + 1, LONGEST_PAUSE)
        self.served = False
        drawn = usable[:: self.size // SMALL]
        quantile = np.partition(drawn, len(drawn) - SHARE)[len(drawn) - SHARE]
        top = usable.max()
        line = min(quantile, np.float32(float(top) - 4 * slack))
        above = np.flatnonzero(product > line)
        if line < top and len(above) <= LONG // 2:
            self.short = self.rows[above]
            self._line, self._before = float(line) + slack, weights
        return self.short

    def distinct(self, slots: NDArray[np.intp], order: Order | None) -> NDArray[np.intp]:
        """Of rows with the same features only the first: they score the same. Gives up when many differ."""
        found: list[int] = []
        while len(slots) > SMALL and len(found) < GROUPS:
            rows = self.rows[slots]
            first = slots[int(rows.argmin() if order is None else order(rows).argmin())]
            found.append(int(first))
            same = self.matrix[0, slots] == self.matrix[0, first]
            for line in self.matrix[1:]:
                same &= line[slots] == line[first]
            slots = slots[~same]
        return np.concatenate([np.array(found, np.intp), slots])

    # -- crowds ------------------------------------------------------------------------------------------------

    def gather(self, slot: int, order: Order | None) -> None:
        """Remember the crowd that a row belongs to, if it is one."""
        kind = self.matrix[:, slot]
        same = self.matrix[0, : self.size] == kind[0]
        for line, value in zip(self.matrix[1:], kind[1:], strict=True):
            same &= line[: self.size] == value
        rows = self.rows[: self.size][same]
        if len(rows) <= SMALL:
            return
        places = rows.astype(np.int64) if order is None else order(rows)
        first = np.argpartition(places, LONG)[:LONG] if len(rows) > LONG else np.arange(len(rows))
        first = first[np.argsort(places[first])]
        if len(self.crowds) >= CROWDS:
            self.crowds.clear()
        self.crowds[kind.tobytes()] = Crowd(len(rows), rows[first], order)

    def _leave_crowds(self, slots: Any) -> None:
        if self.crowds:
            for kind in self.matrix[:, slots].T:
                crowd = self.crowds.get(kind.tobytes())
                if crowd is not None:
                    crowd.size -= 1

    def _join_crowds(self, rows: Rows, features: Features) -> None:
        if not self.crowds:
            return
        for row, kind in zip(rows.tolist(), features.T, strict=True):
            crowd = self.crowds.get(kind.tobytes())
            if crowd is not None:
                crowd.join(row)
                if len(crowd.joined) > SMALL:  # too many to look through
                    del self.crowds[kind.tobytes()]

    def ceiling(self, weights: NDArray[np.float32], intercept: float) -> float:
        """No row that isn't on the short list scores more."""
        drift = weights.astype(np.float64) - self._before
        gain = float(np.maximum(drift * self.high, drift * self.low).sum())
        return self._line + gain + intercept + 1e-12 * (abs(gain) + abs(self._line) + abs(intercept))
