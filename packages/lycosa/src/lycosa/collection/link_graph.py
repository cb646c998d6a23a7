"""Link graph of a crawl: all URLs seen, the first link to each, and the links of fetched pages.

URLs are stored as numbers by their hash, not as text. A vertex is a fetched page, redirect or sitemap; vertices are
numbered in log order. Links to URLs that were not fetched are stored, too, as they may be fetched later. A URL takes
about 33 bytes, a link 4. (A crawl of ten thousand pages sees a million URLs.)
"""

from __future__ import annotations

from array import array
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, get_args

import numpy as np
import xxhash
from numpy.typing import NDArray

from lycosa.core.columns import fit
from lycosa.core.state import State, StateMismatch
from lycosa.core.table import MAX_HOPS
from lycosa.core.types import Outcome

PAGE, REDIRECT, SITEMAP = 0, 1, 2  # kinds of vertices
VERTICES_PER_STEP = 20_000  # vertices processed per batch, which limits memory
UNREACHED = np.iinfo(np.int32).max  # depth of vertices without known path from a seed
OUTCOMES: tuple[str, ...] = ("", *get_args(Outcome))  # last outcome of a URL, by number; 0 if it was not visited
_COLUMNS = ("vertex", "parent", "via", "depth", "outcome")


class Addresses:
    """Numbers of URLs, from 0 in first-seen order, by 64-bit hash.

    Hashes are sorted with their numbers, apart from a dict of recent ones: 12 MB per million URLs instead of 100. One
    in 40 million sets of a million URLs has a collision.

    >>> seen = Addresses()
    >>> one, other, again = seen.numbers(["a", "b", "a"]).tolist()
    >>> one == again, one == other, len(seen), seen.number("b") == other, seen.number("c")
    (True, False, 2, True, -1)
    """

    def __init__(self) -> None:
        self._hashes = np.zeros(0, np.uint64)
        self._numbers = np.zeros(0, np.int32)
        self._unsorted: dict[int, int] = {}

    def __len__(self) -> int:
        return len(self._hashes) + len(self._unsorted)

    @property
    def size(self) -> int:
        return self._hashes.nbytes + self._numbers.nbytes + 100 * len(self._unsorted)

    def number(self, node: str) -> int:
        """Return the number of a URL, or -1 if it is unknown."""
        wanted_hash = _hash(node)
        index = int(self._hashes.searchsorted(np.uint64(wanted_hash)))
        if index < len(self._hashes) and self._hashes.item(index) == wanted_hash:
            return self._numbers.item(index)
        return self._unsorted.get(wanted_hash, -1)

    def numbers(self, nodes: Sequence[str]) -> NDArray[np.int32]:
        """Return the number of each URL; unknown ones get new numbers."""
        hashes, which = np.unique(np.fromiter(map(_hash, nodes), np.uint64, len(nodes)), return_inverse=True)
        numbers = self._sorted(hashes)
        for index in np.flatnonzero(numbers < 0).tolist():
            numbers[index] = self._unsorted.setdefault(hashes.item(index), len(self._hashes) + len(self._unsorted))
        if len(self._unsorted) > max(4_096, len(self._hashes) // 8):
            self._sort()
        return numbers[which]

    def _sorted(self, hashes: NDArray[np.uint64]) -> NDArray[np.int32]:
        if not len(self._hashes):
            return np.full(len(hashes), -1, np.int32)
        index = np.minimum(np.searchsorted(self._hashes, hashes), len(self._hashes) - 1)
        return np.where(self._hashes[index] == hashes, self._numbers[index], np.int32(-1))

    def state(self) -> State:
        self._sort()
        return {"hashes": self._hashes, "numbers": self._numbers}

    def restore(self, state: State) -> None:
        self._hashes, self._numbers, self._unsorted = state["hashes"], state["numbers"], {}
        if len(self._hashes) != len(self._numbers):
            raise StateMismatch("URLs and their numbers differ in count")

    def _sort(self) -> None:
        count = len(self._unsorted)
        if not count:
            return
        hashes = np.append(self._hashes, np.fromiter(self._unsorted, np.uint64, count))
        numbers = np.append(self._numbers, np.fromiter(self._unsorted.values(), np.int32, count))
        order = np.argsort(hashes, kind="stable")
        self._hashes, self._numbers, self._unsorted = hashes[order], numbers[order], {}


class CrawlGraph:
    """Link graph, built from the visits of a crawl in log order. The first link to a URL never changes."""

    def __init__(self) -> None:
        self.addresses = Addresses()
        self.seeds: dict[int, None] = {}  # numbers of seed URLs, in order
        self._vertex = np.zeros(0, np.int32)
        self._parent = np.zeros(0, np.int32)
        self._via = np.zeros(0, np.int64)
        self._depth = np.zeros(0, np.int32)
        self._outcome = np.zeros(0, np.uint8)
        self._redirects: dict[int, int] = {}
        self._edges = array("i")
        self._starts = array("q", [0])

    def state(self) -> State:
        count = len(self.addresses)
        redirects = np.array(list(self._redirects.items()), np.int32).reshape(-1, 2)
        return {
            "addresses": self.addresses.state(),
            "seeds": np.array(list(self.seeds), np.int32),
            "redirects": redirects,
            "edges": np.array(self._edges, np.int32),
            "starts": np.array(self._starts, np.int64),
            **{name: getattr(self, f"_{name}")[:count] for name in _COLUMNS},
        }

    def restore(self, state: State) -> None:
        self.addresses.restore(state["addresses"])
        if any(len(state[name]) != len(self.addresses) for name in _COLUMNS):
            raise StateMismatch("the table of URLs is truncated")
        for name in _COLUMNS:
            setattr(self, f"_{name}", state[name])
        self.seeds = dict.fromkeys(state["seeds"].tolist())
        self._redirects = dict(state["redirects"].tolist())
        self._edges, self._starts = array("i"), array("q")
        self._edges.frombytes(state["edges"].view(np.uint8))
        self._starts.frombytes(state["starts"].view(np.uint8))

    @property
    def size(self) -> int:
        """Approximate memory in bytes."""
        columns = (self._vertex, self._parent, self._via, self._depth, self._outcome)
        kept = sum(column.nbytes for column in columns)
        return self.addresses.size + kept + 4 * len(self._edges) + 8 * len(self._starts)

    def numbers(self, nodes: Sequence[str]) -> NDArray[np.int32]:
        """Return the numbers of URLs; unknown ones get new numbers. Pass many at once, as calls are expensive."""
        numbers = self.addresses.numbers(nodes)
        count = len(self.addresses)
        self._vertex = fit(self._vertex, count, -1)
        self._parent = fit(self._parent, count, -1)
        self._via = fit(self._via, count, -1)
        self._depth = fit(self._depth, count, UNREACHED)
        self._outcome = fit(self._outcome, count)
        return numbers

    def seed(self, node: str) -> None:
        number = int(self.numbers([node])[0])
        self.seeds[number] = None
        self._depth[number] = 0

    def ended(self, number: int, outcome: str) -> None:
        self._outcome[number] = OUTCOMES.index(outcome)

    def add(self, kind: int, vertex: int, seq: int, numbers: NDArray[np.int32]) -> None:
        """Add a vertex; `numbers` are its own number and those of its distinct links."""
        if kind == SITEMAP and self._depth[numbers[0]] == UNREACHED:
            self._depth[numbers[0]] = 0  # sitemaps are starting points
        children = self.extend(vertex, seq, numbers, redirect=kind == REDIRECT)
        if self._vertex[numbers[0]] < 0 or kind == PAGE:  # a redirect may have become a page
            self._vertex[numbers[0]] = vertex
        self._edges.frombytes(children.tobytes())
        self._starts.append(len(self._edges))

    def extend(self, vertex: int, seq: int, numbers: NDArray[np.int32], *, redirect: bool = False) -> NDArray[np.int32]:
        """Record links of another version of a page; it becomes the parent of the URLs first seen there.

        The target of a redirect has the depth of the redirect itself.
        """
        children: NDArray[np.int32] = numbers[1:][numbers[1:] != numbers[0]]
        new = children[self._parent[children] < 0]
        self._parent[new], self._via[new] = vertex, seq
        if redirect and len(children):
            self._redirects.setdefault(int(numbers[0]), int(children[0]))
        depth = self._depth[numbers[0]]
        if depth != UNREACHED:
            self._depth[children] = np.minimum(self._depth[children], depth + (not redirect))
        return children

    def is_seed(self, node: str) -> bool:
        return self.addresses.number(node) in self.seeds

    def vertex(self, node: str) -> int:
        """Return the vertex of a URL, or -1 if it was not fetched."""
        number = self.addresses.number(node)
        return int(self._vertex[number]) if number >= 0 else -1

    def first_link(self, node: str) -> tuple[int, int]:
        """Return the vertex and the event with the first link to a URL, or -1 for both."""
        number = self.addresses.number(node)
        return (int(self._parent[number]), int(self._via[number])) if number >= 0 else (-1, -1)

    def depth(self, node: str) -> int | None:
        """Return the smallest known number of links from a seed to a URL, or None."""
        number = self.addresses.number(node)
        return None if number < 0 or self._depth[number] == UNREACHED else int(self._depth[number])

    def outcome(self, node: str) -> str:
        """Return the outcome of the last visit of a URL, revisits excepted; empty if there was none."""
        number = self.addresses.number(node)
        return OUTCOMES[self._outcome[number]] if number >= 0 else ""

    def seed_vertices(self) -> list[int]:
        return [int(vertex) for vertex in self._vertex[list(self.seeds)] if vertex >= 0]

    def breadth(self, kinds: NDArray[np.uint8]) -> Breadth:
        """Return the graph of fetched vertices, for breadth-first order."""
        targets = self._vertex[np.frombuffer(self._edges, np.int32)] if self._edges else np.zeros(0, np.int32)
        fetched = targets >= 0
        before = np.concatenate([[0], np.cumsum(fetched)])
        starts = before[np.frombuffer(self._starts, np.int64)]
        return Breadth(kinds, list(dict.fromkeys(self.seed_vertices())), targets[fetched], starts)


@dataclass(slots=True)
class Breadth:
    """Graph of fetched vertices, to compare the crawl with breadth-first order.

    Vertices are in log order; the links of vertex v are `edges[starts[v]:starts[v + 1]]`, in page order.
    """

    kind: NDArray[np.uint8]
    seeds: list[int]
    edges: NDArray[np.int32]
    starts: NDArray[np.int64]

    def redirect_targets(self) -> NDArray[np.int64]:
        """Return the target of each vertex after following redirects: itself for a page, -1 if there is none."""
        target = np.arange(len(self.kind))
        redirect, starts = self.kind == REDIRECT, self.starts[:-1]
        leads = redirect & (self.starts[1:] > starts)
        target[redirect] = -1
        target[leads] = self.edges[starts[leads]]
        target = _follow(target)
        target[(target >= 0) & redirect[target]] = -1  # the redirects form a loop
        return target

    def first(self) -> tuple[NDArray[np.int64], NDArray[np.int32]]:
        """Return the pages in breadth-first order from the seeds, and the distance of each vertex (-1: unreachable).

        Links are followed in page order, redirects are replaced by their targets, sitemaps count as seeds. Pages that
        recorded links do not reach come last, in log order.
        """
        redirect_targets, is_page = self.redirect_targets(), self.kind == PAGE
        depth = np.full(len(self.kind), -1, np.int32)
        sitemaps = np.flatnonzero(self.kind == SITEMAP)
        level = _unique(redirect_targets[np.concatenate([np.array(self.seeds, np.int64), sitemaps])])
        order, distance = [np.zeros(0, np.int64)], 0
        while len(level):
            depth[level] = distance
            order.append(level)
            distance += 1
            parts = []
            for start in range(0, len(level), VERTICES_PER_STEP):
                children = redirect_targets[self._children(level[start : start + VERTICES_PER_STEP])]
                children = _unique(children)
                children = children[depth[children] < 0]
                depth[children] = distance
                parts.append(children)
            level = np.concatenate(parts)
        reached = np.concatenate(order)
        unreached = np.flatnonzero(is_page & (depth < 0))
        return np.concatenate([reached[is_page[reached]], unreached]), depth

    def _children(self, level: NDArray[np.int64]) -> NDArray[np.int32]:
        starts, counts = self.starts[level], self.starts[level + 1] - self.starts[level]
        before = np.cumsum(counts) - counts
        children: NDArray[np.int32] = self.edges[np.repeat(starts - before, counts) + np.arange(counts.sum())]
        return children


def _follow(target: NDArray[Any]) -> NDArray[Any]:
    for _ in range(MAX_HOPS.bit_length()):  # each round doubles the distance
        target = np.where(target >= 0, target[target], -1)
    return target


def _unique(vertices: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return unique vertices in first-seen order, without -1."""
    vertices = vertices[vertices >= 0]
    return vertices[np.sort(np.unique(vertices, return_index=True)[1])]


def _hash(node: str) -> int:
    return xxhash.xxh3_64_intdigest(node.encode("utf-8", "surrogatepass"))
