"""What no crawl can beat: what is within reach, a bound on what can be found, and on tiny graphs the best crawl."""

from __future__ import annotations

import math
from collections.abc import Sequence
from heapq import heapify, heappop
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lycosa.core.errors import InputError
from lycosa.lab.index import Index
from lycosa.lab.walking import each_once, targets

LARGEST = 12
"""Nodes of a graph whose best crawl is looked for."""

Truth = NDArray[Any]
Nodes = Sequence[int] | NDArray[np.integer[Any]]


def distances(index: Index, seeds: Nodes, seen: NDArray[np.bool_] | None = None) -> NDArray[np.int32]:
    """Of each node, how many nodes must be paid for to have fetched it: -1 if it can't be reached, 0 for a seed.

    That is the number of links from the nearest seed, unless some nodes are `seen`: those cost nothing.

    >>> distances(Index.of({"a": ["b"], "b": ["c"], "d": ["a"]}), [0]).tolist()
    [0, 1, 2, -1]
    """
    found = np.full(len(index), -1, np.int32)
    nodes = np.unique(np.array(seeds, np.int64))
    if len(nodes) and (nodes[0] < 0 or nodes[-1] >= len(index)):
        raise InputError(f"seeds are nodes from 0 to {len(index) - 1}, not {nodes[0]} to {nodes[-1]}")
    found[nodes] = 0
    paid = 0
    while len(nodes):
        beyond = [np.zeros(0, np.int64)]
        while len(nodes):  # what is seen is as near as the page that links to it
            linked = targets(index.child_start, index.child, nodes)
            nodes = each_once(linked[found[linked] < 0], len(index))
            free = seen[nodes] if seen is not None else np.zeros(len(nodes), np.bool_)
            beyond.append(nodes[~free])
            nodes = nodes[free]
            found[nodes] = paid
        paid += 1
        nodes = np.concatenate(beyond)
        nodes = each_once(nodes[found[nodes] < 0], len(index))
        found[nodes] = paid
    return found


def reachable(index: Index, seeds: Nodes) -> NDArray[np.bool_]:
    """Which nodes a crawl from the seeds can fetch, the seeds among them.

    >>> reachable(Index.of({"a": ["b"], "c": ["b"]}), [0]).tolist()
    [True, True, False]
    """
    return distances(index, seeds) >= 0


def bound(
    index: Index,
    truth: Truth,
    seeds: Sequence[int],
    budgets: Sequence[int],
    seen: NDArray[np.bool_] | None = None,
) -> NDArray[np.float64]:
    """For each budget, a sum of truth that no crawl exceeds, whatever it knows.

    Why: let v_1 ... v_b be the nodes that a crawl paid for, in order, and d(v) the distance of v. Before v_i was
    fetched, all others of some way from a seed to it were, of which at least d(v_i) - 1 were paid for; so d(v_i) <= i.
    The best among *all* sequences of different nodes with d(v_i) <= i, be they crawls or not, is thus no worse. It is
    found by taking, for i = 1 ... b, the largest of the nodes with d <= i that was not taken yet. (Read backwards,
    these are jobs that take one hour each and have a deadline: node v by hour b + 1 - d(v). Going from the last hour to
    the first and doing the most valuable job that may still be done is best, by exchange: a job that an optimal plan
    does in this hour can make way for a more valuable one, or change places with it.) As the first b choices do not
    depend on b, one pass serves all budgets. What is worth less than nothing is left out, which makes the sum no
    smaller.

    The seeds count nothing, and `seen` nodes cost and count nothing. The bound is reached by an oracle that gets from
    everywhere to everywhere; where it is far from what strategies find, either may be the reason.

    >>> graph = Index.of({"a": ["b", "c"], "b": ["d"], "d": ["e"]}, score={"c": .25, "d": 1, "e": 1})
    >>> bound(graph, graph.score, [0], [1, 2, 3, 9]).tolist()     # c; d; e
    [0.25, 1.25, 2.25, 2.25]
    """
    if any(budget < 0 for budget in budgets):
        raise InputError(f"a budget of {min(budgets)}: budgets count pages, give 0 or more")
    distance = distances(index, seeds, seen)
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


def optimum(index: Index, truth: Truth, seeds: Sequence[int], budget: int) -> tuple[float, list[int]]:
    """The best crawl of a tiny graph: its sum of truth, and the nodes in order, the seeds left out.

    All sets of nodes that a crawl can have fetched are gone through, of which there may be 2^n. Whether there is a
    crawl with at least a given score is an NP-complete question (Gouriten et al. 2014, proposition 1), so no way is
    known that is quick on every graph: this one is for up to 12 nodes.

    >>> graph = Index.of({"a": ["b", "c"], "b": ["d"], "c": ["e"]}, score={"b": .5, "c": .25, "e": 1})
    >>> optimum(graph, graph.score, [0], 2)         # greedy would take b
    (1.25, [2, 4])
    """
    n = len(index)
    if n > LARGEST:
        raise InputError(
            f"the graph has {n:,} nodes: the best crawl is looked for in graphs of up to {LARGEST} only, as to find it "
            "is NP-hard; take lycosa.lab.optimum.bound, which no crawl exceeds"
        )
    if budget < 0:
        raise InputError(f"a budget of {budget}: budgets count pages, give 0 or more")
    begun = sum(1 << seed for seed in set(seeds))
    leads = [sum(1 << child for child in index.children(node).tolist()) for node in range(n)]
    came: dict[int, list[int]] = {begun: []}
    """Sets of fetched nodes, as bits, and one order in which they can be fetched."""
    for _ in range(budget):
        further: dict[int, list[int]] = {}
        for fetched, order in came.items():
            frontier = 0
            for node in range(n):
                if fetched >> node & 1:
                    frontier |= leads[node]
            for node in range(n):
                if frontier >> node & 1 and not fetched >> node & 1:
                    further.setdefault(fetched | 1 << node, [*order, node])
        if not further:  # all that can be reached is fetched
            break
        came = further
    scores = [math.fsum(float(truth[node]) for node in order) for order in came.values()]
    best = scores.index(max(scores))
    return scores[best], list(came.values())[best]
