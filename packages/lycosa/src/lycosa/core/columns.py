"""Growing numpy columns, in memory or in a temporary file, and dataclass fields that declare them."""

from __future__ import annotations

import math
import os
import tempfile
import weakref
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeVar

import numpy as np
from numpy.typing import ArrayLike, DTypeLike, NDArray

from lycosa.core.errors import StoreError
from lycosa.core.state import AppendOnly, State, StateMismatch

Number = TypeVar("Number", bound=np.generic)


def fit(column: NDArray[Number], rows: int, fill: Any = 0) -> NDArray[Number]:
    """Return a column (or matrix, by rows) with room for `rows` entries; grows by doubling and pads with `fill`.

    >>> len(fit(np.zeros(4), 3)), len(fit(np.zeros(4), 5))
    (4, 1024)
    """
    if rows <= len(column):
        return column
    shape = (max(1024, rows, 2 * len(column)), *column.shape[1:])
    # Untouched pages of np.zeros take no memory.
    grown = np.zeros(shape, column.dtype) if fill == 0 else np.full(shape, fill, column.dtype)
    grown[: len(column)] = column
    return grown


def distinct(values: NDArray[Number]) -> NDArray[Number]:
    """Return the sorted unique values; four times as fast as `np.unique` on short arrays.

    >>> distinct(np.array([3, 1, 3])).tolist()
    [1, 3]
    """
    ordered = np.sort(values)
    if len(ordered) < 2:
        return ordered
    is_first = np.empty(len(ordered), bool)
    is_first[0] = True
    np.not_equal(ordered[1:], ordered[:-1], out=is_first[1:])
    return ordered[is_first]


def runs(starts: NDArray[np.integer[Any]], lengths: NDArray[np.integer[Any]]) -> NDArray[np.intp]:
    """Return the concatenated indices of several ranges, each given by its start and length.

    >>> runs(np.array([5, 0]), np.array([2, 3])).tolist()
    [5, 6, 0, 1, 2]
    """
    ends = np.cumsum(lengths)
    places = np.repeat(starts - ends + lengths, lengths).astype(np.intp, copy=False)
    places += np.arange(len(places))
    return places


def learned(make: Callable[[], Any] | None = None) -> Any:
    """Return a dataclass field that is not in init, repr and comparison; `__post_init__` may set it."""
    if make is None:
        return field(init=False, repr=False, compare=False)
    return field(default_factory=make, init=False, repr=False, compare=False)


def column(kind: Any = np.float64) -> Any:
    """Return a `learned` field for a numpy column that is empty at first."""
    return learned(lambda: np.zeros(0, kind))


class SpilledArray(Sequence[Any]):
    """Append-only rows of one shape: the first `max_rows_in_memory` in memory, the others in a temporary file.

    Intended for rarely read data of every page. It is indexed by number, slice or array of numbers.

    >>> rows = SpilledArray((2,), np.int32, max_rows_in_memory=2)
    >>> for at in range(5):
    ...     rows.append([at, 10 * at])
    >>> len(rows), rows[4].tolist(), rows[1:3].tolist(), rows[np.array([4, 0, 3])].tolist()
    (5, [4, 40], [[1, 10], [2, 20]], [[4, 40], [0, 0], [3, 30]])
    """

    def __init__(self, shape: tuple[int, ...], kind: DTypeLike, max_rows_in_memory: int) -> None:
        self._shape, self._kind, self._max_rows = shape, np.dtype(kind), max_rows_in_memory
        self._size = math.prod(shape) * self._kind.itemsize
        self._first = np.zeros((0, *shape), self._kind)
        self._count = 0
        self._file: Scratch | None = None
        self._base = max_rows_in_memory  # first row in the file

    def __len__(self) -> int:
        return self._count

    def append(self, row: ArrayLike) -> None:
        self.extend(np.asarray(row, self._kind)[None])

    def extend(self, rows: NDArray[Any]) -> None:
        begin = self._count
        in_memory = min(len(rows), max(0, self._max_rows - begin))
        if in_memory:
            self._first = fit(self._first, begin + in_memory)
            self._first[begin : begin + in_memory] = rows[:in_memory]
        if in_memory < len(rows):
            self._write(np.ascontiguousarray(rows[in_memory:], self._kind), begin + in_memory)
        self._count += len(rows)

    def __getitem__(self, which: Any) -> Any:
        if isinstance(which, slice):
            begin, end, step = which.indices(self._count)
            if step == 1:
                return self._slice(begin, max(begin, end))
            which = np.arange(begin, end, step)
        if isinstance(which, np.ndarray):
            return self._gather(which)
        at = range(self._count)[which]
        return self._slice(at, at + 1)[0]

    def state(self) -> State:
        return {"rows": AppendOnly(self, np.asarray, filed=True)}

    def restore(self, state: State) -> None:
        stored: NDArray[Any] | FileArray = state["rows"]
        if stored.dtype != self._kind or stored.nbytes % self._size:
            raise StateMismatch(f"the stored rows are of type {stored.dtype}: expected {self._kind}")
        self._count, self._first = 0, self._first[:0]
        if isinstance(stored, FileArray):
            self._file, self._base = stored.file, 0
            count = stored.nbytes // self._size
            self._first = self._read(0, min(count, self._max_rows))
            self._count = count
        else:
            self._file, self._base = None, self._max_rows
            self.extend(stored.reshape(-1, *self._shape))

    def _write(self, rows: NDArray[Any], at: int) -> None:
        if self._file is None:
            self._file = Scratch()
        self._file.write(rows.reshape(-1).view(np.uint8).data, (at - self._base) * self._size)

    def _read(self, begin: int, end: int) -> NDArray[Any]:
        rows = np.empty((end - begin, *self._shape), self._kind)
        assert self._file is not None
        self._file.read(rows.reshape(-1).view(np.uint8).data, (begin - self._base) * self._size)
        return rows

    def _slice(self, begin: int, end: int) -> NDArray[Any]:
        if end <= self._max_rows:
            return self._first[begin:end]
        in_memory = max(begin, self._max_rows)
        from_file = self._read(in_memory, end)
        return np.concatenate([self._first[begin:in_memory], from_file]) if begin < in_memory else from_file

    def _gather(self, which: NDArray[np.integer[Any]]) -> NDArray[Any]:
        if self._count <= self._max_rows:
            found_there: NDArray[Any] = self._first[which]
            return found_there
        order = np.argsort(which, kind="stable")
        ordered = which[order]
        cuts = np.flatnonzero(np.diff(ordered) != 1) + 1
        found = [self._slice(int(run[0]), int(run[-1]) + 1) for run in np.split(ordered, cuts) if len(run)]
        rows = np.empty((len(which), *self._shape), self._kind)
        if found:
            rows[order] = np.concatenate(found)
        return rows


class Scratch:
    """An unnamed temporary file, addressed by byte offset and deleted with this object; gaps read as zeros."""

    def __init__(self) -> None:
        try:
            with tempfile.TemporaryFile(prefix="lycosa-") as file:
                self._file = os.dup(file.fileno())
        except OSError as error:
            raise _write_error(error) from error
        weakref.finalize(self, os.close, self._file)

    def write(self, data: memoryview, place: int) -> None:
        try:
            while data:
                written = os.pwrite(self._file, data, place)
                data, place = data[written:], place + written
        except OSError as error:
            raise _write_error(error) from error

    def read(self, view: memoryview, place: int) -> None:
        """Fill `view` from the given offset; raise OSError if the file is too short."""
        while view:
            got = os.preadv(self._file, [view], place)
            if not got:
                raise OSError(5, "a temporary file was truncated")
            view, place = view[got:], place + got


@dataclass(frozen=True)
class FileArray:
    """An array stored at the beginning of a scratch file."""

    file: Scratch
    dtype: np.dtype[Any]
    nbytes: int


def _write_error(error: OSError) -> StoreError:
    why = f"cannot write a temporary file in {tempfile.gettempdir()} ({error.strerror})"
    return StoreError(f"{why}: free some disk space, then continue")
