"""A look-ahead oracle: closer to the optimum than the greedy oracle, because it sees hidden nodes of the whole graph.

The optimum is NP-hard (Gouriten et al. 2014, proposition 1), and an approximation is their future work (section 10).
This is a crawl, so its result is a lower bound of the optimum; `reachability.bound` is an upper one.
"""

from __future__ import annotations

from collections.abc import Sequence
from heapq import heapify, heappop, heappush
from time import perf_counter
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lycosa.core.budget import EXHAUSTED, PAGES_SPENT
from lycosa_lab.corpus_index import CorpusIndex
from lycosa_lab.reachability import targets
from lycosa_lab.simulation import Trace

LINKS = 6  # default depth of the look-ahead in links

LARGEST = 10_000_000  # maximum number of links; more need several minutes and over 2 GB

Floats = NDArray[np.float64]


def look_ahead(
    index: CorpusIndex,
    truth: NDArray[Any],
    seeds: Sequence[int],
    budget: int,
    *,
    links: int = LINKS,
    seen: NDArray[np.bool_] | None = None,
) -> Trace:
    """Crawl from the seeds; at each step fetch the frontier's node whose best subtree has the highest mean relevance.

        mean(v) = max over trees T of v and nodes behind it, at most `links` links deep, of  beta(T) / |T|

    Behind v are nodes that only a fetch of v reveals. Trees are built bottom-up: children join with their own best
    trees, highest mean first, while the mean of the whole grows. A node behind several children counts for each of
    them, so a mean may be too high. Nodes that are `seen` cost and count nothing, and are fetched at once.
    """
    began = perf_counter()
    crawl = _Crawl(index, np.asarray(truth, np.float64), links, seen)
    # recompute means so rarely that they cost at most 10,000 links per step on average
    every = max(1, links * len(index.child) // 10_000)
    fetched: list[int] = []
    for node in dict.fromkeys(seeds):
        crawl.hidden[node] = False
    for node in dict.fromkeys(seeds):
        crawl.open(node)
        fetched.append(node)
    distinct, left = len(fetched), budget
    crawl.survey()
    while left > 0 and (node := crawl.pick()) >= 0:
        crawl.open(node)
        fetched.append(node)
        if seen is None or not seen[node]:
            left -= 1
            if left % every == 0:
                crawl.survey()
    ending = EXHAUSTED if left > 0 else PAGES_SPENT
    return Trace(np.array(fetched, np.int32), distinct, ending, perf_counter() - began)


class _Crawl:
    """Hidden nodes, the frontier, and the best mean of each node with the size of its tree."""

    def __init__(self, index: CorpusIndex, truth: Floats, links: int, seen: NDArray[np.bool_] | None) -> None:
        self.index, self.links = index, links
        self.free = np.zeros(len(index), np.bool_) if seen is None else seen
        self.gains = np.where(self.free, 0.0, np.maximum(truth, 0.0))
        self.hidden = np.ones(len(index), np.bool_)
        self.mean, self.size = self.gains.copy(), np.where(self.free, 0.0, 1.0)
        self.heap: list[tuple[float, int, int]] = []
        self.discovery: dict[int, int] = {}  # discovery number of each frontier node, to break ties
        self.found = 0

    def open(self, node: int) -> None:
        self.discovery.pop(node, None)
        children = self.index.children(node)
        for child in children[self.hidden[children]].tolist():
            self.discovery[child] = self.found = self.found + 1
            heappush(self.heap, (-self._priority(child), self.discovery[child], child))
        self.hidden[children] = False

    def pick(self) -> int:
        """Return the frontier's node with the best mean, or -1; as means only fall, few entries are re-evaluated."""
        while self.heap:
            _, discovery, node = heappop(self.heap)
            now = -self._current_mean(node)
            if not self.heap or (now, discovery) <= self.heap[0][:2]:
                return node
            heappush(self.heap, (now, discovery, node))
        return -1

    def _priority(self, node: int) -> float:
        return np.inf if self.free[node] else float(self.mean[node])

    def _current_mean(self, node: int) -> float:
        if self.free[node]:
            return np.inf
        gains = float(self.gains[node])
        if not self.links:
            return gains
        children = self.index.children(node)
        children = children[self.hidden[children]]
        means = self.mean[children]
        better = means > gains
        if not better.any():
            return gains
        children, means = children[better], means[better]
        order = np.argsort(-means, kind="stable")
        sizes = self.size[children[order]]
        values = gains + np.cumsum(means[order] * sizes)
        return max(gains, float((values / (1.0 + np.cumsum(sizes))).max()))

    def survey(self) -> None:
        """Recompute the best means over the hidden nodes, one link deeper per pass."""
        own = np.where(self.free, 0.0, 1.0)
        mean, size = self.gains.copy(), own.copy()
        if self.gains[self.hidden].any():
            parent, child = self._links_to_hidden()
            for _ in range(self.links):
                good = mean[child] > self.gains[parent]  # other children would only lower the mean
                mean, size = self._extend(parent[good], child[good], mean, size, own)
        else:  # all relevant nodes are in the frontier
            self.links = 0
        self.mean, self.size = mean, size
        self.heap = [(-self._priority(node), discovery, node) for node, discovery in self.discovery.items()]
        heapify(self.heap)

    def _links_to_hidden(self) -> tuple[NDArray[np.int64], NDArray[np.int32]]:
        start = self.index.child_start
        nodes = np.concatenate(
            [np.flatnonzero(self.hidden), np.fromiter(self.discovery, np.int64, len(self.discovery))]
        )
        child = targets(start, self.index.child, nodes)
        parent = np.repeat(nodes, start[nodes + 1] - start[nodes])
        within = self.hidden[child]
        return parent[within], child[within]

    def _extend(
        self, parent: NDArray[Any], child: NDArray[Any], mean: Floats, size: Floats, own: Floats
    ) -> tuple[Floats, Floats]:
        if not len(parent):
            return mean, size
        rank = np.empty(len(mean), np.int64)
        rank[np.argsort(-mean, kind="stable")] = np.arange(len(mean))
        order = np.argsort(parent.astype(np.int64) * len(mean) + rank[child])
        parent, child = parent[order], child[order]
        first = np.flatnonzero(np.diff(parent, prepend=-1))
        heads, lengths = parent[first], np.diff(first, append=len(parent))
        values, sizes = np.cumsum(mean[child] * size[child]), np.cumsum(size[child])
        before = np.repeat(first, lengths)
        values += self.gains[parent] - (values[before] - (mean[child] * size[child])[before])
        sizes += own[parent] - (sizes[before] - size[child][before])
        means = np.divide(values, sizes, out=np.zeros(len(values)), where=sizes > 0)
        best = np.maximum.reduceat(means, first)
        at = np.flatnonzero(means == np.repeat(best, lengths))
        at = at[np.diff(parent[at], prepend=-1) != 0]  # the shortest prefix among those with equal means
        grown = best > self.gains[heads]
        mean, size = self.gains.copy(), own.copy()
        mean[heads[grown]], size[heads[grown]] = best[grown], sizes[at][grown]
        return mean, size
