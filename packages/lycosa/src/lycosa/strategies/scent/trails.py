"""What is known of each link: its words, its place, the pages it stands on, and how its neighbours turned out."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import pairwise
from typing import Any, NamedTuple
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

from lycosa.core.columns import fit
from lycosa.core.state import State, plain, put_back
from lycosa.core.table import LinkEdges
from lycosa.core.types import Rows
from lycosa.strategies.scent.link_words import SLOTS, Slots

ANCHOR, CONTEXT, ADDRESS = 8, 12, 8  # words kept of each
OF_CONTEXT, OF_ANCHOR = slice(0, CONTEXT), slice(CONTEXT, CONTEXT + ANCHOR)
# The anchor's are in the middle, as they are read together with either.
OF_ADDRESS = slice(CONTEXT + ANCHOR, CONTEXT + ANCHOR + ADDRESS)
# Groups: where the link leads, and where it stands on its page.
DIRECTORY, HOST, PATH, TAGS = range(OF_ADDRESS.stop, OF_ADDRESS.stop + 4)
# Where the numbers of these groups begin, behind those of anchor words. IN_TEXT: groups of pages by their words.
IN_DIRECTORIES, IN_HOSTS, IN_TEXT, IN_PATHS = SLOTS, 2 * SLOTS, 3 * SLOTS, 4 * SLOTS
_WIDTH = np.array([CONTEXT, ANCHOR, ADDRESS])
_BEGIN = np.array([0, CONTEXT, CONTEXT + ANCHOR])
_ROOT = np.sqrt(np.arange(CONTEXT + 1, dtype=np.float32))
PARENTS = 8  # links to a row that are kept: the first ones
NEAR = 4  # links this near are neighbours
DECAY = 0.6
BLOCK = 1 << 18  # links summed at once, 75 bytes each
_OFFSETS = np.array([offset for offset in range(-NEAR, NEAR + 1) if offset], np.intp)
_WEIGHTS = (DECAY ** np.abs(_OFFSETS)).astype(np.float32)
_KERNEL = np.array([DECAY ** abs(offset) if offset else 0.0 for offset in range(-NEAR, NEAR + 1)], np.float32)

# Columns of `known`: sum and weight of the neighbours' outcomes; sums over parents of their outcomes, and of those
# times alpha; the most that the topic said of a context and of an address; the cosine of the anchor with the topic;
# the weight of neighbours that gave no page; the roots of the numbers of words of context and anchor; the names in its
# path.
(
    NEIGHBOURS, NEIGHBOUR_WEIGHT, OUTCOMES, PROMISE, IN_CONTEXT, IN_ADDRESS, ANCHOR_NEAR, DEAD, ROOTS, _, DEPTH, _,
) = range(12)  # fmt: skip
SAID, OF_ROOTS = slice(IN_CONTEXT, ANCHOR_NEAR + 1), slice(ROOTS, ROOTS + 2)
BYTES = 4 * (TAGS + 1 + PARENTS + 12 + 1 + 2) + 3  # of memory for each known link: 223
DEEPEST = 8  # names in the path of an address: more make no difference


class Lines(NamedTuple):
    """What is known of some rows, and their words and places."""

    rows: Rows
    known: NDArray[np.float32]
    words: Slots


class Trails:
    """Columns with a line for each row of the table."""

    def __init__(self) -> None:
        self.words = np.zeros((0, TAGS + 1), np.int32)
        self.edge = np.zeros((0, PARENTS), np.int32)
        self.parents = np.zeros(0, np.uint8)
        self.known = np.zeros((0, 12), np.float32)
        self.outcome = np.zeros(0, np.float32)
        self.done = np.zeros(0, np.bool_)
        self.dead = np.zeros(0, np.bool_)
        self._moves: list[tuple[int, int]] = []

    def columns(self) -> dict[str, NDArray[Any]]:
        """All of them, by name."""
        return {name: column for name, column in vars(self).items() if isinstance(column, np.ndarray)}

    def state(self) -> State:
        return {**plain(self, "_moves"), "moves": np.array(self._moves, np.int32).reshape(-1, 2)}

    def restore(self, state: State) -> None:
        self._moves = [(row, target) for row, target in state["moves"].tolist()]
        put_back(self, {name: value for name, value in state.items() if name != "moves"})

    def leave(self, rows: Rows) -> dict[str, NDArray[Any]]:
        known = {name: column[rows] for name, column in self.columns().items()}
        for column in self.columns().values():
            column[rows] = 0
        away = set(rows.tolist()) if self._moves else set()
        self._moves = [move for move in self._moves if move[1] not in away]
        return known

    def join(self, rows: Rows, known: Mapping[str, NDArray[Any]], edges: LinkEdges) -> None:
        """Rows are back, and this was known of them; links lead to them again, as far as they are remembered."""
        for name, column in self.columns().items():
            column[rows] = known[name]
        counts = known["parents"].astype(np.intp)
        which = np.arange(PARENTS) < counts[:, None]
        edges.renew(known["edge"][which].astype(np.intp), np.repeat(rows, counts))

    def renew(self, known: Mapping[str, NDArray[Any]], in_degree: NDArray[np.int32], edges: LinkEdges) -> None:
        """Rows that were put aside hear what has become of their parents and neighbours meanwhile: those to which no
        more links lead than are kept.
        """
        counts, lines = known["parents"].astype(np.intp), known["known"]
        whole = ((counts == in_degree) & (counts > 0)).nonzero()[0]
        counts = counts[whole]
        which = np.arange(PARENTS) < counts[:, None]
        edge, begins = known["edge"][whole][which].astype(np.intp), np.cumsum(counts) - counts
        if not len(edge):
            return
        parent = edges.parent.take(edge)
        at = edge[:, None] + _OFFSETS
        child = edges.child.take(at, mode="clip")
        near = (edges.parent.take(at, mode="clip") == parent[:, None]) & (child >= 0) & (at >= 0) & (at < len(edges))
        child = self._leads(np.where(near, child, 0))
        weight = np.where(near, _WEIGHTS, np.float32(0))
        done, outcome = weight * self.done.take(child), self.outcome.take(parent)
        for column, said in (
            (OUTCOMES, outcome),
            (PROMISE, outcome * edges.alpha.take(edge)),
            (NEIGHBOURS, (done * self.outcome.take(child)).sum(axis=1)),
            (NEIGHBOUR_WEIGHT, done.sum(axis=1)),
            (DEAD, (weight * self.dead.take(child)).sum(axis=1)),
        ):
            lines[whole, column] = np.add.reduceat(said, begins)

    def _leads(self, rows: NDArray[Any]) -> NDArray[Any]:
        """Where links to some rows lead in the end."""
        if not self._moves:
            return rows
        leads = np.arange(len(self.done) + 1)
        for row, target in reversed(self._moves):
            leads[row] = leads[target]
        return leads.take(rows)

    def fit(self, rows: int) -> None:
        if rows > len(self.done):
            for name, column in self.columns().items():
                setattr(self, name, fit(column, rows))

    def lines(self, rows: Rows) -> Lines:
        """What is known of some rows."""
        return Lines(rows, self.known.take(rows, axis=0), self.words.take(rows, axis=0))

    def put(self, lines: Lines) -> None:
        """This is known of them now."""
        self.known[lines.rows], self.words[lines.rows] = lines.known, lines.words

    def place(self, row: int, node: str) -> None:
        """Where a node lies: its host, its directory there, and how many names its path has."""
        host, _, path = node.partition("://")[2].partition("/")
        path, _, name = path.partition("?")[0].rpartition("/")
        self.known[row, DEPTH] = min(path.count("/") + bool(path) + bool(name), DEEPEST)
        self.words[row, HOST] = IN_HOSTS + 1 + crc32(host.encode("utf-8", "replace")) % (SLOTS - 1)
        self.words[row, DIRECTORY] = (
            IN_DIRECTORIES + 1 + crc32(f"{host}/{path}".encode("utf-8", "replace")) % (SLOTS - 1)
        )

    def link(self, children: Rows, begin: int) -> None:
        """The children are linked to by the edges from `begin` on."""
        count = self.parents.take(children)
        room = (count < PARENTS).nonzero()[0]
        rows, count = children.take(room), count.take(room)
        self.edge.reshape(-1)[rows * PARENTS + count] = begin + room
        self.parents[rows] = count + np.uint8(1)

    def beside(self, lines: NDArray[np.float32], children: Rows) -> None:
        """Some of a page's links, a line for each, lead to pages we have: the others know now how those turned out."""
        dead = self.dead.take(children)
        if dead.any():
            lines[:, DEAD] += np.convolve(dead, _KERNEL)[NEAR : NEAR + len(children)]
        done = self.done.take(children)
        if not done.any():
            return
        outcome = np.where(done, self.outcome.take(children), np.float32(0))
        lines[:, NEIGHBOURS] += np.convolve(outcome, _KERNEL)[NEAR : NEAR + len(children)]
        lines[:, NEIGHBOUR_WEIGHT] += np.convolve(done, _KERNEL)[NEAR : NEAR + len(children)]

    def tell(self, row: int, outcome: float, edges: LinkEdges) -> NDArray[np.intp]:
        """Neighbours of a page hear how it turned out. Returned they are."""
        near, which = self._around(row, edges)
        weight = _WEIGHTS.take(which)
        np.add.at(self.known[:, NEIGHBOURS], near, weight * np.float32(outcome))
        np.add.at(self.known[:, NEIGHBOUR_WEIGHT], near, weight)
        return near

    def retell(self, edges: LinkEdges) -> None:
        """The outcomes of pages are others now: what links know of parents and neighbours is summed anew."""
        rows = len(self.known)
        leads = self._leads(np.arange(rows + 1))  # the last one: what is put aside, of which nothing is known
        sums: dict[int, NDArray[np.floating[Any]]] = {}
        inner = (edges.parent[1:] != edges.parent[:-1]).nonzero()[0] + 1
        begins = np.concatenate([np.zeros(min(1, len(edges.parent)), np.intp), inner, [len(edges.parent)]])
        cuts = begins[np.unique(np.searchsorted(begins, np.arange(0, len(edges.parent), BLOCK)))]
        for begin, end in pairwise(dict.fromkeys([*cuts.tolist(), len(edges.parent)])):
            child = edges.child[begin:end].astype(np.intp)
            if edges.gaps:
                child[child < 0] = rows
            for column, said in self._told(edges, slice(begin, end), leads[child]).items():
                sums[column] = sums.get(column, 0.0) + np.bincount(child, said, rows + 1)
        for column, total in sums.items():
            for row, target in self._moves:
                total[target] += total[row]
            self.known[:, column] = total[:rows]

    def _told(self, edges: LinkEdges, block: slice, leads: NDArray[np.intp]) -> dict[int, NDArray[np.floating[Any]]]:
        """What each link of a block of whole pages hears there; `leads` is where they lead in the end."""
        parent, done = edges.parent[block], self.done.take(leads, mode="clip") & (leads < len(self.done))
        outcome, given = np.where(done, self.outcome.take(leads, mode="clip"), np.float32(0)), self.outcome[parent]
        near, near_weight = np.zeros(len(parent)), np.zeros(len(parent))
        for apart in range(1, NEAR + 1):
            weight = DECAY**apart * (parent[apart:] == parent[:-apart])
            for here, there in ((slice(apart, None), slice(-apart)), (slice(-apart), slice(apart, None))):
                near[here] += weight * outcome[there]
                near_weight[here] += weight * done[there]
        return {OUTCOMES: given, PROMISE: given * edges.alpha[block], NEIGHBOURS: near, NEIGHBOUR_WEIGHT: near_weight}

    def bury(self, row: int, edges: LinkEdges) -> NDArray[np.intp]:
        """Neighbours of a link that led to no page hear of it. Returned they are."""
        self.dead[row] = True
        near, which = self._around(row, edges)
        np.add.at(self.known[:, DEAD], near, _WEIGHTS[which])
        return near

    def _around(self, row: int, edges: LinkEdges) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
        """The neighbours of the links to a row, and at which of the offsets each stands."""
        edge = self.edge[row, : self.parents.item(row)].astype(np.intp)
        at = (edge[:, None] + _OFFSETS).reshape(-1)
        parent = edges.parent.take(edge).repeat(len(_OFFSETS))
        same = edges.parent.take(at, mode="clip") == parent
        same &= (at >= 0) & (at < len(edges))
        if edges.gaps:
            same &= edges.child.take(at, mode="clip") >= 0
        same_at = same.nonzero()[0]
        rows: NDArray[np.intp] = edges.child.take(at.take(same_at)).astype(np.intp)
        return rows, same_at % len(_OFFSETS)

    def move(self, row: int, target: int) -> bool:
        """What was known of a link is known of the page that it redirects to, if that one is new: whether it is.

        A page that moves after it was fetched has turned out: it does not do so again where it is now.
        """
        if self.parents[target] or self.done[target] or self.words[target, HOST]:
            return False
        self._moves.append((row, target))
        for column in self.columns().values():
            column[target] = column[row]
        return True


def fill(lines: Lines, owner: NDArray[np.intp], slots: Slots, counts: NDArray[np.intp], begins: Rows) -> None:
    """Write the first words of contexts, anchors and addresses into lines.

    The texts are numbered: first the contexts of all rows, then their anchors, then their addresses. `counts` says how
    many words each of them has, and `begins` where they begin.
    """
    n, words = len(lines.rows), lines.words
    words[:, : OF_ADDRESS.stop] = 0
    nth = np.arange(len(owner)) - begins.take(owner)
    kind, which = np.divmod(owner, n)
    fits = (nth < _WIDTH.take(kind)).nonzero()[0]
    places = which * words.shape[1] + _BEGIN.take(kind) + nth
    words.reshape(-1)[places.take(fits)] = slots.take(fits)
    lines.known.T[OF_ROOTS] = _ROOT.take(np.minimum(counts[: 2 * n].reshape(2, n), _WIDTH[:2, None]))
