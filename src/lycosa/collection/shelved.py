"""What is kept in memory of one page of a crawl, and of the ways between pages."""

from __future__ import annotations

from array import array
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from lycosa.collection.addresses import Addresses
from lycosa.collection.current import Standing
from lycosa.collection.report.breadth import Breadth
from lycosa.collection.tracing import Origin
from lycosa.core.columns import fit


@dataclass(slots=True)
class Shelved:
    """A page, as its current version is; or a redirect, or a sitemap, which are ways to pages."""

    number: int
    """Its vertex."""
    seq: int
    """The event that brought the version that stands."""
    first: int
    """The event that brought the first one."""
    node: str
    kind: int
    title: str
    host: str
    language: str
    beta: float
    """As it was logged."""
    worth: float
    """What the judge says by now."""
    copy: bool
    """Whether it repeats another page."""
    started: float
    pick: float
    """The score for which it was chosen."""
    simhash: int
    ids: bytes
    counts: bytes
    frequency: int
    """How often words of the topic are on it."""
    parent: int
    """The vertex that first linked here; -1: none."""
    via: int
    """The event in which that link was."""
    place: int = -1
    """Which of the shelf's pages it is; -1: no page."""
    foreign: bool = False
    """Whether it is in a language that was not asked for: no find, whatever it says."""
    standing: Standing | None = None
    """What has become of it; None where nobody has looked again."""
    origin: Origin | None = None
    """Why it was fetched, once somebody has asked."""

    @property
    def changed(self) -> float:
        """When it last changed in what a reader came for; 0: never."""
        return self.standing.changed if self.standing is not None else 0.0

    @property
    def state(self) -> str:
        """stands, vanished or moved."""
        return self.standing.state if self.standing is not None else "stands"

    @property
    def terms(self) -> tuple[NDArray[np.uint32], NDArray[np.uint16]]:
        """Its words, by number, and how often each is on it."""
        return np.frombuffer(self.ids, np.uint32), np.frombuffer(self.counts, np.uint16)


class Ways:
    """All links of a crawl, by the numbers of addresses; and for each address what first led to it.

    A link takes 4 bytes, an address about 35. Links to what nobody has fetched are kept: it may be fetched yet.
    """

    def __init__(self) -> None:
        self.addresses = Addresses()
        self.seeds: list[int] = []
        """Numbers of addresses."""
        self._vertex = np.zeros(0, np.int32)
        self._parent = np.zeros(0, np.int32)
        self._via = np.zeros(0, np.int32)
        self._edges = array("i")
        self._starts = array("q", [0])

    @property
    def size(self) -> int:
        """Bytes."""
        columns = self._vertex.nbytes + self._parent.nbytes + self._via.nbytes
        return self.addresses.size + columns + 4 * len(self._edges) + 8 * len(self._starts)

    def seed(self, node: str) -> None:
        """Where the crawl begins."""
        number = int(self.numbers([node])[0])
        if number not in self.seeds:
            self.seeds.append(number)

    def is_seed(self, node: str) -> bool:
        """Whether the crawl began there."""
        return self.addresses.number(node) in self.seeds

    def vertex(self, node: str) -> int:
        """The vertex of an address; -1 if it was not fetched."""
        number = self.addresses.number(node)
        return int(self._vertex[number]) if number >= 0 else -1

    def leading(self, node: str) -> tuple[int, int]:
        """The vertex that first linked to an address, and the event in which it did; -1 for nothing."""
        number = self.addresses.number(node)
        return (int(self._parent[number]), int(self._via[number])) if number >= 0 else (-1, -1)

    def numbers(self, nodes: Sequence[str]) -> NDArray[np.int32]:
        """The numbers of addresses, new ones for those that are new. Many at once cost little more than one."""
        numbers = self.addresses.numbers(nodes)
        count = len(self.addresses)
        self._vertex = fit(self._vertex, count, -1)
        self._parent = fit(self._parent, count, -1)
        self._via = fit(self._via, count, -1)
        return numbers

    def add(self, vertex: int, seq: int, numbers: NDArray[np.int32]) -> None:
        """A new vertex (they come in order): its own number, and those of its links, each once."""
        children = self.extend(vertex, seq, numbers)
        if self._vertex[numbers[0]] < 0:
            self._vertex[numbers[0]] = vertex
        self._edges.frombytes(children.tobytes())
        self._starts.append(len(self._edges))

    def extend(self, vertex: int, seq: int, numbers: NDArray[np.int32]) -> NDArray[np.int32]:
        """Links of a version of a page: what was first seen there is known to come from it."""
        children: NDArray[np.int32] = numbers[1:][numbers[1:] != numbers[0]]
        new = children[self._parent[children] < 0]
        self._parent[new], self._via[new] = vertex, seq
        return children

    def breadth(self, kinds: NDArray[np.uint8]) -> Breadth:
        """The graph of what has been fetched, for breadth-first order."""
        targets = self._vertex[np.frombuffer(self._edges, np.int32)] if self._edges else np.zeros(0, np.int32)
        fetched = targets >= 0
        before = np.concatenate([[0], np.cumsum(fetched)])
        starts = before[np.frombuffer(self._starts, np.int64)]
        seeds = [int(vertex) for vertex in self._vertex[self.seeds] if vertex >= 0] if self.seeds else []
        return Breadth(kinds, list(dict.fromkeys(seeds)), targets[fetched], starts)
