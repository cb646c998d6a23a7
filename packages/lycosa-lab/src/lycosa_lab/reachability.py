"""Reachability in a corpus: link distances, and an upper bound on the result of any crawl."""

from __future__ import annotations

from collections.abc import Sequence
from heapq import heapify, heappop
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lycosa.core.columns import runs
from lycosa.core.errors import InputError
from lycosa_lab.corpus_index import CorpusIndex

FAR = np.iinfo(np.int32).max  # distance without a path to a relevant node

Nodes = Sequence[int] | NDArray[np.integer[Any]]


def targets(start: NDArray[np.int64], target: NDArray[np.int32], nodes: NDArray[np.integer[Any]]) -> NDArray[np.int32]:
    """Return the concatenated link targets of nodes; `start` and `target` are columns of an index, or their reverse."""
    reached: NDArray[np.int32] = target[runs(start[nodes], start[nodes + 1] - start[nodes])]
    return reached


def distances_from(index: CorpusIndex, seeds: Nodes, seen: NDArray[np.bool_] | None = None) -> NDArray[np.int32]:
    """Return the budget needed to fetch each node: -1 if unreachable, 0 for a seed. `seen` nodes cost nothing."""
    distance = np.full(len(index), -1, np.int32)
    nodes = np.unique(np.array(seeds, np.int64))
    if len(nodes) and (nodes[0] < 0 or nodes[-1] >= len(index)):
        raise InputError("out-of-range", f"seeds are nodes from 0 to {len(index) - 1}, not {nodes[0]} to {nodes[-1]}")
    distance[nodes] = 0
    paid = 0
    while len(nodes):
        beyond = [np.zeros(0, np.int64)]
        while len(nodes):  # a seen node costs nothing, so it is as near as the page that links to it
            linked = targets(index.child_start, index.child, nodes)
            nodes = np.unique(linked[distance[linked] < 0])
            free = seen[nodes] if seen is not None else np.zeros(len(nodes), np.bool_)
            beyond.append(nodes[~free])
            nodes = nodes[free]
            distance[nodes] = paid
        paid += 1
        nodes = np.concatenate(beyond)
        nodes = np.unique(nodes[distance[nodes] < 0])
        distance[nodes] = paid
    return distance


def distances_to(index: CorpusIndex, relevant: NDArray[np.bool_]) -> NDArray[np.int32]:
    """Return the number of links from each node to the nearest relevant one; FAR if there is no path."""
    distances = np.where(relevant, 0, FAR).astype(np.int32)
    level, distance = np.flatnonzero(relevant), 0
    order = np.argsort(index.child, kind="stable")
    source = np.repeat(np.arange(len(index), dtype=np.int32), np.diff(index.child_start))[order]
    start = np.concatenate([[0], np.cumsum(np.bincount(index.child, minlength=len(index)))])
    while len(level):
        distance += 1
        before = targets(start, source, level)
        level = np.unique(before[distances[before] == FAR])
        distances[level] = distance
    return distances


def links_to_any(index: CorpusIndex, nodes: NDArray[np.bool_]) -> NDArray[np.bool_]:
    hits = np.concatenate([[0], np.cumsum(nodes[index.child], dtype=np.int64)])
    links: NDArray[np.bool_] = np.diff(hits[index.child_start]) > 0
    return links


def leads_to_relevant(index: CorpusIndex, seeds: Sequence[int], relevant: NDArray[np.bool_]) -> bool:
    """Return whether a relevant node other than the seeds can be reached from them."""
    reached = np.zeros(len(index), np.bool_)
    level = np.unique(np.array(seeds, np.int64))
    reached[level] = True
    while len(level):
        after = targets(index.child_start, index.child, level)
        level = np.unique(after[~reached[after]])
        if relevant[level].any():
            return True
        reached[level] = True
    return False


def upper_bound(
    index: CorpusIndex,
    truth: NDArray[Any],
    seeds: Sequence[int],
    budgets: Sequence[int],
    seen: NDArray[np.bool_] | None = None,
) -> NDArray[np.float64]:
    """Return for each budget an upper bound on the sum of truth of any crawl.

    The i-th paid node v_i of a crawl is at most i links from the seeds: d(v_i) <= i. The best of *all* sequences of
    different nodes with d(v_i) <= i is thus an upper bound. It is found by taking, for i = 1 ... b, the largest
    remaining node with d <= i: read backwards, these are unit jobs with deadlines, for which the greedy choice is
    optimal by exchange. One pass serves all budgets. Nodes with negative truth are ignored. Seeds count nothing, and
    `seen` nodes cost and count nothing.
    """
    if any(budget < 0 for budget in budgets):
        raise InputError("out-of-range", f"'budgets' must not be negative: {min(budgets)}")
    distance = distances_from(index, seeds, seen)
    worth = np.where(distance > 0, np.asarray(truth, np.float64), 0.0)
    if seen is not None:
        worth[seen] = 0.0
    good = np.flatnonzero(worth > 0)
    good = good[np.argsort(distance[good], kind="stable")]
    last = np.searchsorted(distance[good], np.arange(1, 1 + (int(distance[good[-1]]) if len(good) else 0)), "right")
    most = min(max(budgets, default=0), len(index))
    taken: list[float] = [0.0]
    heap: list[float] = []
    begin = 0
    for i in range(most):
        if i < len(last) and last[i] > begin:
            heap += (-worth[good[begin : last[i]]]).tolist()
            heapify(heap)
            begin = int(last[i])
        elif not heap and begin == len(good):
            break
        taken.append(-heappop(heap) if heap else 0.0)
    sums = np.cumsum(taken)
    return sums[np.minimum(np.array(list(budgets), np.int64), len(sums) - 1)]
