"""What a corpus is like: its size, its links, its core, its topics. What `lycosa lab index` says when it is done.

The strongly connected core is the largest set of pages of which each can be reached from each. Whoever starts outside
of what leads there may never see it: experiments should know. A topic whose pages link to each other no more often than
chance has them do is one that no focused crawler can follow; the base rate stands beside each share for that reason.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lycosa.lab.index import Index
from lycosa.lab.reach import reachable

SHOWN = 12  # topics that are printed


@dataclass(frozen=True)
class Degree:
    """How many children, or parents, nodes have."""

    mean: float
    median: float
    most: int


@dataclass(frozen=True)
class Topic:
    """How often pages of a topic link to pages of the topic."""

    name: str
    pages: int
    share: float  # share of the links from its pages (within the corpus) that lead to its pages
    base: float  # its share of the corpus: what random links would give


@dataclass(frozen=True)
class Anatomy:
    """A corpus in numbers."""

    source: str
    fingerprint: str
    pages: int
    links: int
    dead: int
    to_itself: int
    children: int  # links within the corpus, each pair once
    out: Degree
    into: Degree
    core: int  # pages of the largest strongly connected component
    reachable: int  # pages that the core reaches, itself included
    labelled: int
    topics: list[Topic] = field(default_factory=list)
    scored: int = 0  # nodes with a score other than 0
    left_out: dict[str, int] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)

    def as_dict(self) -> dict[str, Any]:
        return asdict(self)

    def lines(self) -> Iterator[str]:
        """The same for people."""
        some = max(self.pages, 1)
        yield f"{self.pages:,} pages of {self.source}"
        yield (
            f"{self.links:,} links: {self.dead:,} lead out of the corpus (dead), {self.to_itself:,} to their own page; "
            f"{self.children:,} pairs of pages are linked"
        )
        for what, degree in (("links out", self.out), ("links in", self.into)):
            yield f"{what}: mean {degree.mean:.1f}, median {degree.median:g}, most {degree.most:,}"
        yield (
            f"strongly connected core: {self.core:,} pages ({self.core / some:.0%}); from there {self.reachable:,} "
            f"({self.reachable / some:.0%}) can be reached"
        )
        if self.scored:
            yield f"scores: {self.scored:,} nodes are not 0 ({self.scored / some:.1%})"
        if self.labelled:
            part = self.labelled / some
            yield f"topics: {self.labelled:,} pages have a class ({part:.0%}); same-topic links (by chance):"
            top = [topic for topic in self.topics if "/" not in topic.name]
            for topic in top[:SHOWN]:
                yield f"  {topic.name}: {topic.pages:,} pages, {topic.share:.3f} ({topic.base:.3f})"
            more = len(self.topics) - len(top[:SHOWN])
            if more:
                yield f"  and {more:,} more topics or branches of these (--json has them all)"
        for reason, count in sorted(self.left_out.items(), key=lambda item: (-item[1], item[0])):
            yield f"left out: {count:,} {reason}"
        yield from (f"note: {note}" for note in self.notes)


def anatomy(index: Index) -> Anatomy:
    """Look a corpus over.

    >>> found = anatomy(Index.of({"a": ["b"], "b": ["c"], "c": ["b", "d"]}))
    >>> found.pages, found.children, found.core, found.reachable, found.into.most
    (4, 4, 2, 3, 2)
    """
    facts, nodes, child = index.facts, len(index), index.child
    outward = np.diff(index.child_start)
    inward = np.bincount(child, minlength=nodes)
    core = largest_component(index)
    topics, labelled = _topics(index)
    return Anatomy(
        str(facts.get("source", "")), index.fingerprint, nodes, int(facts.get("links", len(child))),
        int(facts.get("dead", 0)), int(facts.get("to_itself", 0)), len(child), _degree(outward), _degree(inward),
        int(np.count_nonzero(core)), int(np.count_nonzero(reachable(index, np.flatnonzero(core)))), labelled, topics,
        int(np.count_nonzero(index.score)), dict(facts.get("left_out", {})), list(facts.get("notes", [])),
    )  # fmt: skip


def _degree(counts: NDArray[Any]) -> Degree:
    if not len(counts):
        return Degree(0.0, 0.0, 0)
    return Degree(float(counts.mean()), float(np.median(counts)), int(counts.max()))


def _topics(index: Index) -> tuple[list[Topic], int]:
    """Branches of the classes with their same-topic links, the largest first; and how many pages have a class."""
    if not len(index.class_start):
        return [], 0
    labelled = np.diff(index.class_start) > 0
    sizes = index.sizes()
    largest = sorted(sizes, key=lambda name: (-sizes[name], name))[:200]  # each costs a pass over all links
    source = np.repeat(np.arange(len(index), dtype=np.int32), np.diff(index.child_start))
    topics = []
    for name in largest:
        of, pages = index.of_class(name), sizes[name]
        to = of[index.child[of[source]]]
        topics.append(Topic(name, pages, float(to.mean()) if len(to) else 0.0, pages / len(index)))
    return topics, int(np.count_nonzero(labelled))


def largest_component(index: Index) -> NDArray[np.bool_]:
    """Which nodes are in the largest strongly connected part; of several as large, in that of the lowest node."""
    if not len(index):
        return np.zeros(0, np.bool_)
    number = components(index)
    size = np.bincount(number)
    first = np.flatnonzero(size[number] == size.max())[0]
    return np.asarray(number == number[first])


def components(index: Index) -> NDArray[np.int32]:
    """A number for each node, the same for two that can be reached from each other: by scipy where it is there."""
    try:
        from scipy.sparse import csr_array
        from scipy.sparse.csgraph import connected_components
    except ImportError:
        return tarjan(index)
    nodes, links = len(index), len(index.child)
    starts = index.child_start.astype(np.int32 if links <= np.iinfo(np.int32).max else np.int64)
    matrix = csr_array((np.ones(links, np.int8), index.child, starts), shape=(nodes, nodes))
    number: NDArray[np.int32] = connected_components(matrix, directed=True, connection="strong")[1]
    return number


def tarjan(index: Index) -> NDArray[np.int32]:
    """The same without scipy: Tarjan's algorithm with a stack of its own, since Python's is not deep enough.

    Paper: Tarjan 1972, "Depth-first search and linear graph algorithms", section 4.
    """
    nodes, starts, child = len(index), index.child_start, index.child
    number = np.full(nodes, -1, np.int32)
    order = np.full(nodes, -1, np.int64)
    low = np.zeros(nodes, np.int64)
    met = parts = 0
    open_nodes: list[int] = []
    for root in range(nodes):
        if order[root] >= 0:
            continue
        path = [(root, iter(child[starts[root] : starts[root + 1]].tolist()))]
        order[root] = low[root] = met
        met += 1
        open_nodes.append(root)
        while path:
            node, rest = path[-1]
            for target in rest:
                if order[target] < 0:
                    order[target] = low[target] = met
                    met += 1
                    open_nodes.append(target)
                    path.append((target, iter(child[starts[target] : starts[target + 1]].tolist())))
                    break
                if number[target] < 0:
                    low[node] = min(low[node], order[target])
            else:
                path.pop()
                if path:
                    above = path[-1][0]
                    low[above] = min(low[above], low[node])
                if low[node] == order[node]:
                    while number[node] < 0:
                        number[open_nodes.pop()] = parts
                    parts += 1
    return number
