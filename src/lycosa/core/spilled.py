"""Rows of numbers that are only ever added to: the first of them in memory, the others in a file that nobody else sees.

For what is remembered of every page and read only now and then: it would take more and more memory.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, DTypeLike, NDArray

from lycosa.core.columns import fit
from lycosa.core.scratch import Filed, Scratch
from lycosa.core.state import Grown, State, Untold


class Spilled(Sequence[Any]):
    """Rows of one shape. They are asked for by number, by a slice, or by an array of numbers.

    >>> rows = Spilled((2,), np.int32, most=2)
    >>> for at in range(5):
    ...     rows.append([at, 10 * at])
    >>> len(rows), rows[4].tolist(), rows[1:3].tolist(), rows[np.array([4, 0, 3])].tolist()
    (5, [4, 40], [[1, 10], [2, 20]], [[4, 40], [0, 0], [3, 30]])
    """

    def __init__(self, shape: tuple[int, ...], kind: DTypeLike, most: int) -> None:
        self._shape, self._kind, self._most = shape, np.dtype(kind), most
        self._size = math.prod(shape) * self._kind.itemsize
        self._first = np.zeros((0, *shape), self._kind)
        self._count = 0
        self._file: Scratch | None = None
        self._base = most
        """The row that the file begins with."""

    def __len__(self) -> int:
        return self._count

    def append(self, row: ArrayLike) -> None:
        """One more."""
        self.extend(np.asarray(row, self._kind)[None])

    def extend(self, rows: NDArray[Any]) -> None:
        """Some more."""
        begin = self._count
        near = min(len(rows), max(0, self._most - begin))
        if near:
            self._first = fit(self._first, begin + near)
            self._first[begin : begin + near] = rows[:near]
        if near < len(rows):
            self._write(np.ascontiguousarray(rows[near:], self._kind), begin + near)
        self._count += len(rows)

    def __getitem__(self, which: Any) -> Any:
        if isinstance(which, slice):
            begin, end, step = which.indices(self._count)
            if step == 1:
                return self._between(begin, max(begin, end))
            which = np.arange(begin, end, step)
        if isinstance(which, np.ndarray):
            return self._some(which)
        at = range(self._count)[which]
        return self._between(at, at + 1)[0]

    def state(self) -> State:
        """All of them, of which only those are told that are new."""
        return {"rows": Grown(self, np.asarray, filed=True)}

    def restore(self, state: State) -> None:
        """Have these instead."""
        told: NDArray[Any] | Filed = state["rows"]
        if told.dtype != self._kind or told.nbytes % self._size:
            raise Untold("rows do not fit")
        self._count, self._first = 0, self._first[:0]
        if isinstance(told, Filed):
            self._file, self._base = told.file, 0
            count = told.nbytes // self._size
            self._first = self._read(0, min(count, self._most))
            self._count = count
        else:
            self._file, self._base = None, self._most
            self.extend(told.reshape(-1, *self._shape))

    def _write(self, rows: NDArray[Any], at: int) -> None:
        if self._file is None:
            self._file = Scratch()
        self._file.write(rows.reshape(-1).view(np.uint8).data, (at - self._base) * self._size)

    def _read(self, begin: int, end: int) -> NDArray[Any]:
        """Rows that are in the file."""
        rows = np.empty((end - begin, *self._shape), self._kind)
        assert self._file is not None
        self._file.read(rows.reshape(-1).view(np.uint8).data, (begin - self._base) * self._size)
        return rows

    def _between(self, begin: int, end: int) -> NDArray[Any]:
        """Rows that follow each other."""
        if end <= self._most:
            return self._first[begin:end]
        near = max(begin, self._most)
        far = self._read(near, end)
        return np.concatenate([self._first[begin:near], far]) if begin < near else far

    def _some(self, which: NDArray[np.integer[Any]]) -> NDArray[Any]:
        """Rows in any order."""
        if self._count <= self._most:
            found_there: NDArray[Any] = self._first[which]
            return found_there
        order = np.argsort(which, kind="stable")
        ordered = which[order]
        cuts = np.flatnonzero(np.diff(ordered) != 1) + 1
        found = [self._between(int(run[0]), int(run[-1]) + 1) for run in np.split(ordered, cuts) if len(run)]
        rows = np.empty((len(which), *self._shape), self._kind)
        if found:
            rows[order] = np.concatenate(found)
        return rows
