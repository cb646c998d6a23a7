"""What was seen of each page that is watched: when it was looked at, and whether it had changed by then.

One row for each page, columns that grow by doubling as those of core/table.py. All of it is a fold over the log.

Of the looks of a page the last 16 are kept, each in the slot `number % 16`, where it takes the place of an older one:
what a page did 17 looks ago says little of what it does now. The 64 bits of `marks` reach further back, but say only
whether, not when.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lycosa.core.columns import fit
from lycosa.core.types import Rows

KEPT = 16
"""Looks of a page that are kept."""

UNCHANGED, UNKNOWN = -1.0, math.inf
"""In place of the time since the last change: there was none; there was one, no one knows when."""

_COLUMNS: dict[str, tuple[Any, tuple[int, ...], float]] = {  # type, shape of one entry, what an empty one holds
    "host": (np.int32, (), 0),
    "weight": (np.float64, (), 0),
    "first": (np.float64, (), 0),
    "last": (np.float64, (), 0),
    "tried": (np.float64, (), 0),
    "failures": (np.int32, (), 0),
    "looks": (np.int32, (), 0),
    "dropped": (np.bool_, (), False),
    "marks": (np.uint64, (), 0),
    "span": (np.float64, (KEPT,), 0),
    "since": (np.float64, (KEPT,), UNCHANGED),
}


class Histories:
    """The pages that are watched, by number.

    >>> histories = Histories()
    >>> page = histories.add(0.0, host=3, weight=0.5)
    >>> histories.look(page, 60.0, changed=False); histories.look(page, 90.0, changed=True, modified=80.0)
    >>> histories.span[page, :2].tolist(), histories.since[page, :2].tolist()
    ([60.0, 30.0], [-1.0, 10.0])
    """

    host: NDArray[np.int32]
    weight: NDArray[np.float64]
    """What a page is worth: its relevance, say."""
    first: NDArray[np.float64]
    last: NDArray[np.float64]
    """When it was last seen as it is: what is known of it is known of this time."""
    tried: NDArray[np.float64]
    """When it was last asked for, in vain or not."""
    failures: NDArray[np.int32]
    """Requests in a row that taught nothing."""
    looks: NDArray[np.int32]
    """Looks after the first."""
    dropped: NDArray[np.bool_]
    """Whether it has vanished."""
    marks: NDArray[np.uint64]
    """Its last 64 looks, the latest in the lowest bit: 1 if it had changed."""
    span: NDArray[np.float64]
    """For each look that is kept the time since the one before; 0 where there is none."""
    since: NDArray[np.float64]
    """For each look that is kept the time since the last change, UNCHANGED or UNKNOWN."""

    def __init__(self) -> None:
        self._length = 0
        self.total = 0
        """Looks of all pages together."""
        self.now = 0.0
        """The latest time that anything is known of; who knows better may set it."""
        for name, (dtype, shape, fill) in _COLUMNS.items():
            setattr(self, name, np.full((0, *shape), fill, dtype))

    def __len__(self) -> int:
        return self._length

    def add(self, at: float, host: int = 0, weight: float = 1.0) -> int:
        """A page seen for the first time."""
        i = self._length
        if i == len(self.host):
            for name, (_, _, fill) in _COLUMNS.items():
                setattr(self, name, fit(getattr(self, name), i + 1, fill))
        self._length += 1
        self.host[i], self.weight[i] = host, max(0.0, weight)
        self.first[i] = self.last[i] = self.tried[i] = at
        self.now = max(self.now, at)
        return i

    def look(self, i: int, at: float, changed: bool, modified: float = 0.0) -> None:
        """A later look. `modified`: when the page last changed, if its host says so and is believed, else 0."""
        last = float(self.last[i])
        span = max(at - last, 1.0 if changed else 0.0)  # nothing changes in no time: two clocks, or a coarse one
        since = UNCHANGED
        if changed:
            since = at - modified if last <= modified <= at and modified > 0 else UNKNOWN
        self._keep(i, span, since, changed)
        self._asked(i, at)
        self.last[i] = max(at, last)
        self.failures[i] = 0
        self.dropped[i] = False

    def _keep(self, i: int, span: float, since: float, changed: bool) -> None:
        slot = int(self.looks[i]) % KEPT
        self.span[i, slot], self.since[i, slot] = span, since
        self.marks[i] = (int(self.marks[i]) << 1 | changed) % 2**64
        self.looks[i] += 1
        self.total += 1

    def failed(self, i: int, at: float) -> None:
        """It was asked for, and nothing was learned."""
        self._asked(i, at)
        self.failures[i] += 1

    def drop(self, i: int, at: float = 0.0) -> None:
        """It has vanished; each time that it is still not there counts as a failure."""
        self._asked(i, at)
        self.failures[i] = self.failures[i] + 1 if self.dropped[i] else 1
        self.dropped[i] = True

    def revive(self, i: int, at: float) -> None:
        """It is there again. How often it changed meanwhile no one knows: its history goes on from here."""
        self.dropped[i] = False
        self.failures[i] = 0
        self._asked(i, at)
        self.last[i] = max(at, float(self.last[i]))

    def _asked(self, i: int, at: float) -> None:
        self.tried[i] = max(at, float(self.tried[i]))
        self.now = max(self.now, at)

    def rows(self, which: Rows | int | None = None) -> Rows:
        """The pages asked for, as an array; all where none are named."""
        return np.arange(self._length) if which is None else np.atleast_1d(np.asarray(which, np.intp))
