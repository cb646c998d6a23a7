"""From nodes to those that they link to, many at a time: for looking at a graph level by level."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

MANY = 16
"""From one in so many nodes on, ticking off is quicker than sorting."""


def targets(start: NDArray[np.int64], target: NDArray[np.int32], nodes: NDArray[np.integer[Any]]) -> NDArray[np.int32]:
    """All targets of some nodes, one node's after the other: `child_start` and `child` of an index, or the reverse.

    >>> targets(np.array([0, 2, 2, 3]), np.array([1, 2, 0], np.int32), np.array([2, 0])).tolist()
    [0, 1, 2]
    """
    first, lengths = start[nodes], start[nodes + 1] - start[nodes]
    skipped = np.cumsum(lengths) - lengths
    found: NDArray[np.int32] = target[np.arange(int(lengths.sum())) + np.repeat(first - skipped, lengths)]
    return found


def each_once(nodes: NDArray[np.integer[Any]], of: int) -> NDArray[np.int64]:
    """The nodes of a graph with so many, in order and each once.

    >>> each_once(np.array([4, 1, 4]), 5).tolist(), each_once(np.array([4, 1, 4]), 1000).tolist()
    ([1, 4], [1, 4])
    """
    if len(nodes) < of // MANY:
        return np.unique(nodes).astype(np.int64)
    named = np.zeros(of, np.bool_)
    named[nodes] = True
    return np.flatnonzero(named)
