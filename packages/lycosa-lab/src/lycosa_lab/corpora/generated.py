"""Generated graphs of the sizes in Gouriten et al. 2014: nodes and links with scores, without pages."""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lycosa.core.errors import InputError
from lycosa.core.progress import ProgressCallback, no_progress
from lycosa_lab.corpus_index import CorpusIndex, map_file
from lycosa_lab.index_writer import save_index, unfinished_index

CHUNK = 1 << 21  # links generated at once

POPULAR = 0.9  # in-degree falls with rank ** -.9: the tail of its distribution has the exponent 1 / .9

SAMPLED = 50_000  # pages whose links are sampled to calibrate the share of links with a score


@dataclass(frozen=True)
class GraphShape:
    """Size of a graph of the paper, and the shares of its nodes and links with a score above 0."""

    nodes: int
    edges: int
    share: float
    edge_share: float
    tail: float  # exponent of the out-degree: the smaller, the heavier the tail
    longest: int  # maximum links per page

    def of(self, nodes: int | None) -> GraphShape:
        """Scale to another number of nodes, with links in proportion but at most a tenth of all possible ones."""
        n = self.nodes if nodes is None else nodes
        if not 10 <= n < 2**31:
            raise InputError("out-of-range", f"'nodes' ({n:,}) must be between 10 and {2**31 - 1:,}")
        return replace(self, nodes=n, edges=min(round(self.edges / self.nodes * n), n * (n - 1) // 10))


# Gouriten et al. 2014, table 1.
KINDS: dict[str, GraphShape] = {
    "bretagne": GraphShape(2_200_000, 35_600_000, 0.020, 0.005, 2.5, 5_000),
    "france": GraphShape(2_200_000, 35_600_000, 0.192, 0.068, 2.5, 5_000),
    "happy": GraphShape(16_900_000, 78_000_000, 0.110, 0.024, 1.6, 20_000),
    "jazz": GraphShape(16_900_000, 78_000_000, 0.006, 0.001, 1.6, 20_000),
    "weird": GraphShape(16_900_000, 78_000_000, 0.032, 0.004, 1.6, 20_000),
}


def generate(
    out: Path,
    like: str = "bretagne",
    *,
    nodes: int | None = None,
    random_seed: int = 0,
    progress: ProgressCallback = no_progress,
) -> CorpusIndex:
    """Write a graph like one of the paper's, at its size or another, as an index. The same seed gives the same graph.

    Like table 1 of the paper, it has the same proportion of links to nodes, share of nodes with a score and, within a
    tenth, share of links with a score. Memory: about 300 MB plus 60 bytes per node and 8 per link. Degrees have heavy
    tails, and about half of the links stay within communities, on which scores depend, so that linked nodes have
    similar scores. A score is log(1 + x), where x counts a word; a link has a score only if its page has one. Not
    matched: reciprocal links, triangles, the order of links on a page.

    Paper: Gouriten, Maniu, Senellart 2014, section 2.3.
    """
    if like not in KINDS:
        raise InputError("unknown-name", f"unknown kind of graph {like!r}: choose one of {', '.join(KINDS)}")
    kind = KINDS[like].of(nodes)
    with unfinished_index(out) as unfinished:
        columns, facts = _GraphGenerator(kind, random_seed).write(unfinished, progress)
        source = f"generated, like {like}: {kind.nodes:,} nodes, {kind.edges:,} links, random seed {random_seed}"
        return save_index(unfinished, out, columns, [], [], {"source": source, "pages": kind.nodes, **facts})


class _GraphGenerator:
    """Generator of one graph. Each node has a place; communities have adjacent places, most popular first."""

    def __init__(self, kind: GraphShape, random_seed: int) -> None:
        self.kind, self._seed = kind, random_seed % 2**63
        n = kind.nodes
        self.start = self._communities()
        size = np.diff(self.start)
        self.community = np.repeat(np.arange(len(size), dtype=np.int32), size)
        self.degree = self._degrees()
        self.by_rank = self._popularity(size)
        self.node_of = self._rng(2).permutation(n).astype(np.int32)
        self.place_of = np.empty(n, np.int32)
        self.place_of[self.node_of] = np.arange(n, dtype=np.int32)
        self.score = self._scores(len(size))

    def _rng(self, *purpose: int) -> np.random.Generator:
        return np.random.default_rng((self._seed, *purpose))

    def _communities(self) -> NDArray[np.int64]:
        """Return the start of each community: sizes from 20 up, heavy-tailed, at most a twentieth of all nodes."""
        n = self.kind.nodes
        rng, most = self._rng(0), max(5, n // 20)
        sizes: list[NDArray[np.int64]] = []
        total = 0
        while total < n:
            drawn = np.minimum(20 * rng.random(4096) ** (-1 / 1.2), most).astype(np.int64)
            sizes.append(drawn)
            total += int(drawn.sum())
        ends = np.cumsum(np.concatenate(sizes))
        return np.concatenate([[0], ends[: np.searchsorted(ends, n)], [n]]).astype(np.int64)

    def _degrees(self) -> NDArray[np.int64]:
        n, tail = self.kind.nodes, self.kind.tail
        drawn = self._rng(1).random(n) ** (-1 / tail) - 1
        most = min(self.kind.longest, n // 4) * drawn.mean() * n / max(1, self.kind.edges)
        drawn = np.minimum(drawn, max(most, drawn.mean()))
        ends = np.cumsum(drawn)
        degree: NDArray[np.int64] = np.diff(
            np.floor(ends * (self.kind.edges / ends[-1]) + 0.5).astype(np.int64), prepend=0
        )
        return degree

    def _popularity(self, size: NDArray[np.int64]) -> NDArray[np.int32]:
        rank = np.arange(self.kind.nodes) - self.start[self.community]
        known = np.log(size[self.community]) - np.log(rank + 2.0)
        known += self._rng(3).standard_normal(self.kind.nodes)
        return np.argsort(-known, kind="stable").astype(np.int32)

    def _scores(self, communities: int) -> NDArray[np.float32]:
        n = self.kind.nodes
        rng = self._rng(4)
        topical = 1.5 * rng.standard_normal(communities)[self.community]
        topical += rng.standard_normal(n) + 0.3 * np.log1p(self.degree)
        count = min(n, max(1, round(self.kind.share * n)))
        best = np.argpartition(-topical, count - 1)[:count]
        excess = topical[best] - topical[best].min()
        score = np.zeros(n, np.float32)
        score[self.node_of[best]] = np.log1p(1 + np.floor(np.expm1(1.2 * excess)))
        return score

    def write(
        self, place: Path, progress: ProgressCallback = no_progress
    ) -> tuple[dict[str, NDArray[Any]], dict[str, Any]]:
        n = self.kind.nodes
        degree = self.degree[self.place_of]
        before = np.concatenate([[0], np.cumsum(degree)])
        bounds = np.searchsorted(before, np.arange(0, before[-1] + CHUNK, CHUNK)).clip(0, n)
        bounds[-1] = n
        bounds = np.unique(np.concatenate([[0], bounds]))
        scale = self._scale()
        linked = np.zeros(n, np.int64)
        scored = 0
        with open(place / "child.spool", "wb") as children, open(place / "alpha.spool", "wb") as link_relevances:
            for chunk, (first, last) in enumerate(pairwise(bounds.tolist())):
                nodes = np.arange(first, last)
                rng = self._rng(6, chunk)
                source, target = self._links(nodes, degree[first:last], rng)
                alpha = self._link_relevances(nodes[source], target, scale, rng)
                linked[first:last] = np.bincount(source, minlength=last - first)
                scored += int(np.count_nonzero(alpha))
                target.tofile(children)
                alpha.tofile(link_relevances)
                progress("making links", int(before[last]), int(before[-1]))
        total = int(linked.sum())
        start = np.concatenate([[0], np.cumsum(linked)]).astype(np.int64)
        columns = {
            "link_start": start,
            "child_start": start,
            "child": map_file(place / "child.spool", np.int32),
            "score": self.score,
            "alpha": map_file(place / "alpha.spool", np.float32),
        }
        facts = {
            "links": total,
            "dead": 0,
            "non_zero_nodes": int(np.count_nonzero(self.score)),
            "non_zero_links": scored,
        }
        return columns, facts

    def _links(
        self, nodes: NDArray[np.int64], degree: NDArray[np.int64], rng: np.random.Generator
    ) -> tuple[NDArray[np.int64], NDArray[np.int32]]:
        """Draw links without duplicates or self-links; return indexes of sources, and targets.

        More links are drawn than needed, because popular nodes are drawn repeatedly; those beyond seven sixths of the
        degree lead to random nodes. A page whose draws were nearly all alike may still have too few links.
        """
        popular = degree + degree // 6 + 2
        drawn = np.where(degree > 0, popular + degree // 3 + 2, 0)
        source = np.repeat(np.arange(len(nodes)), drawn)
        anywhere = np.arange(len(source)) - np.repeat(np.cumsum(drawn) - drawn, drawn) >= popular[source]
        from_place = self.place_of[nodes][source]
        u = rng.random(len(source))
        room = np.minimum(1, np.diff(self.start)[self.community[self.place_of[nodes]]] / (4 * degree + 1))
        local = (rng.random(len(source), np.float32) < 0.55 * room[source]) & ~anywhere
        target = np.empty(len(source), np.int32)
        community = self.community[from_place[local]]
        begin = self.start[community]
        target[local] = begin + _rank(u[local], self.start[community + 1] - begin, 2.0)
        target[~local] = self.by_rank[_rank(u[~local], self.kind.nodes, 10.0)]
        target[anywhere] = (u[anywhere] * self.kind.nodes).astype(np.int32)
        good = target != from_place
        source, target = source[good], self.node_of[target[good]]
        order = np.argsort(source * self.kind.nodes + target, kind="stable")
        first = np.ones(len(order), np.bool_)
        first[1:] = (np.diff(source[order]) != 0) | (np.diff(target[order]) != 0)
        kept = np.zeros(len(order), np.bool_)
        kept[order[first]] = True
        source, target = source[kept], target[kept]
        count = np.bincount(source, minlength=len(nodes))
        place = np.arange(len(source)) - np.repeat(np.cumsum(count) - count, count)
        enough = place < degree[source]
        return source[enough], target[enough]

    def _link_probability(self, source: NDArray[np.int64], target: NDArray[np.int32]) -> NDArray[np.float32]:
        likely: NDArray[np.float32] = self.score[source] * (1 + 6 * self.score[target])
        return likely

    def _scale(self) -> float:
        """Return the factor that gives the configured share of links a score, calibrated on a sample of nodes."""
        rng = self._rng(5)
        n = self.kind.nodes
        nodes = np.arange(n) if n <= 4 * SAMPLED else np.sort(rng.integers(0, n, SAMPLED))
        degree = self.degree[self.place_of[nodes]]
        drawn = np.cumsum(degree) <= 2 * CHUNK  # a few pages with many links suffice
        source, target = self._links(nodes[drawn], degree[drawn], rng)
        promise = self._link_probability(nodes[drawn][source], target)
        low, high = 0.0, 1e6
        for _ in range(100):
            middle = (low + high) / 2
            if len(promise) and np.minimum(1, middle * promise).mean() < self.kind.edge_share:
                low = middle
            else:
                high = middle
        return high

    def _link_relevances(
        self, source: NDArray[np.int64], target: NDArray[np.int32], scale: float, rng: np.random.Generator
    ) -> NDArray[np.float32]:
        """Return log(1 + y) for each link, where y counts a word around it that its page has at least as often."""
        chosen = np.flatnonzero(rng.random(len(source), np.float32) < scale * self._link_probability(source, target))
        more = rng.standard_exponential(len(chosen), np.float32) * (0.2 + 0.4 * self.score[target[chosen]])
        alpha = np.zeros(len(source), np.float32)
        alpha[chosen] = np.minimum(np.log1p(1 + np.floor(more)), self.score[source[chosen]])
        return alpha


def _rank(u: NDArray[np.float64], size: NDArray[np.int64] | int, shift: float) -> NDArray[np.int64]:
    """Draw ranks below `size` with weights (rank + shift) ** -POPULAR, by inversion."""
    power = 1 - POPULAR
    low = shift**power
    high = np.power(np.asarray(size, np.float64) + shift, power)
    drawn = np.power(low + u * (high - low), 1 / power) - shift
    rank: NDArray[np.int64] = np.minimum(drawn.astype(np.int64), np.asarray(size) - 1)
    return rank
