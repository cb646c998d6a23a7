"""What can be reached in a corpus: how far nodes are, from where and to what, and what no crawl can find more of."""

from __future__ import annotations

from collections.abc import Sequence
from heapq import heapify, heappop
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lycosa.core.columns import runs
from lycosa.core.errors import InputError
from lycosa_lab.corpus_index import CorpusIndex

FAR = np.iinfo(np.int32).max  # nothing relevant can be reached

Nodes = Sequence[int] | NDArray[np.integer[Any]]


def targets(start: NDArray[np.int64], target: NDArray[np.int32], nodes: NDArray[np.integer[Any]]) -> NDArray[np.int32]:
    """All targets of some nodes, one node's after the other: `child_start` and `child` of an index, or the reverse.

    >>> targets(np.array([0, 2, 2, 3]), np.array([1, 2, 0], np.int32), np.array([2, 0])).tolist()
    [0, 1, 2]
    """
    reached: NDArray[np.int32] = target[runs(start[nodes], start[nodes + 1] - start[nodes])]
    return reached


def distances_from(index: CorpusIndex, seeds: Nodes, seen: NDArray[np.bool_] | None = None) -> NDArray[np.int32]:
    """Of each node, how many nodes must be paid for to have fetched it: -1 if it can't be reached, 0 for a seed.

    That is the number of links from the nearest seed, unless some nodes are `seen`: those cost nothing.

    >>> distances_from(CorpusIndex.of({"a": ["b"], "b": ["c"], "d": ["a"]}), [0]).tolist()
    [0, 1, 2, -1]
    """
    distance = np.full(len(index), -1, np.int32)
    nodes = np.unique(np.array(seeds, np.int64))
    if len(nodes) and (nodes[0] < 0 or nodes[-1] >= len(index)):
        raise InputError(f"seeds are nodes from 0 to {len(index) - 1}, not {nodes[0]} to {nodes[-1]}")
    distance[nodes] = 0
    paid = 0
    while len(nodes):
        beyond = [np.zeros(0, np.int64)]
        while len(nodes):  # what is seen is as near as the page that links to it
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
    """From each node the number of links to the nearest relevant one; FAR where there is no way.

    >>> index = CorpusIndex.of({"a": ["b"], "b": ["c"], "c": ["d"], "d": []})
    >>> distances_to(index, np.array([False, False, True, False])).tolist() == [2, 1, 0, FAR]
    True
    """
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
    """Which nodes link to some of these."""
    hits = np.concatenate([[0], np.cumsum(nodes[index.child], dtype=np.int64)])
    links: NDArray[np.bool_] = np.diff(hits[index.child_start]) > 0
    return links


def leads_to_relevant(index: CorpusIndex, seeds: Sequence[int], relevant: NDArray[np.bool_]) -> bool:
    """Whether a relevant node that is no seed can be reached from the seeds."""
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
    """For each budget, a sum of truth that no crawl exceeds, whatever it knows.

    Why: of the nodes v_1 ... v_b that a crawl paid for, in order, v_i is at most i links from the seeds: d(v_i) <= i.
    The best among *all* sequences of different nodes with d(v_i) <= i is thus no worse. It is found by taking, for
    i = 1 ... b, the largest of the nodes with d <= i that was not taken yet: read backwards, these are jobs of an hour
    each with a deadline, of which the most valuable that may still be done is best, by exchange. One pass serves all
    budgets. What is worth less than nothing is left out.

    The seeds count nothing, and `seen` nodes cost and count nothing.

    >>> graph = CorpusIndex.of({"a": ["b", "c"], "b": ["d"], "d": ["e"]}, score={"c": .25, "d": 1, "e": 1})
    >>> upper_bound(graph, graph.score, [0], [1, 2, 3, 9]).tolist()     # c; d; e
    [0.25, 1.25, 2.25, 2.25]
    """
    if any(budget < 0 for budget in budgets):
        raise InputError(f"a budget of {min(budgets)}: budgets count pages, give 0 or more")
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
