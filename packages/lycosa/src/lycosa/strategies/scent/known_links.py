"""Columns of all known links: words, places, parents, neighbours and outcomes."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from itertools import pairwise
from typing import Any, NamedTuple
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

from lycosa.core.columns import fit
from lycosa.core.state import State, StateMismatch
from lycosa.core.table import LinkEdges
from lycosa.core.types import Rows
from lycosa.strategies.scent.groups import DIRECTORIES, HOSTS
from lycosa.strategies.scent.link_words import SLOTS, Slots

# Group numbers of a link; 0 means no group.
GROUPS = np.dtype([
    ("context", np.int32, 12),  # first words around the link
    ("anchor", np.int32, 8),
    ("address", np.int32, 8),
    ("directory", np.int32),
    ("host", np.int32),
    ("path", np.int32),  # tag path to the link in its page, with ids and classes
    ("tags", np.int32),  # tag path without ids and classes
])  # fmt: skip
# Numeric features of a link.
NUMBERS = np.dtype([
    ("neighbour_sum", np.float32),  # sum of the outcomes of fetched neighbours, weighted by DECAY ** distance
    ("neighbour_weight", np.float32),  # sum of these weights
    ("dead_weight", np.float32),  # sum of the weights of neighbours that gave no page
    ("outcome_sum", np.float32),  # sum of the outcomes of the pages that link here
    ("promise_sum", np.float32),  # the same, each outcome times the link relevance
    ("context_relevance", np.float32),  # largest relevance of the words around a link
    ("address_relevance", np.float32),  # largest relevance of the words of the URL
    ("anchor_cosine", np.float32),  # cosine of the word vectors of anchor and topic
    ("context_root", np.float32),  # square root of the number of words kept
    ("anchor_root", np.float32),
    ("path_names", np.float32),  # number of names in the path of the URL, at most MAX_PATH_NAMES
])  # fmt: skip
MAX_PARENTS = 8  # only the first links to a row are kept
MAX_PATH_NAMES = 8
NEAR = 4  # maximum distance of neighbours in the link list of a page
DECAY = 0.6
# memory per link, including its columns in `BestRows`
BYTES = GROUPS.itemsize + NUMBERS.itemsize + 4 * (MAX_PARENTS + 1 + 2) + 3
BLOCK = 1 << 18  # edges summed per batch, 75 bytes each

_TEXTS = ("context", "anchor", "address")  # the first fields of GROUPS, in this order
_TEXT_WIDTHS = np.array([GROUPS[name].shape[0] for name in _TEXTS])
_TEXT_COLUMNS = np.cumsum(_TEXT_WIDTHS) - _TEXT_WIDTHS  # first column of each text in a plain matrix
_OFFSETS = np.array([offset for offset in range(-NEAR, NEAR + 1) if offset], np.intp)
_DECAYS = (DECAY ** np.abs(_OFFSETS)).astype(np.float32)
_KERNEL = np.array([DECAY ** abs(offset) if offset else 0.0 for offset in range(-NEAR, NEAR + 1)], np.float32)
_ROOTS = np.sqrt(np.arange(13, dtype=np.float32))


class LinkRows(NamedTuple):
    """Copies of the numbers and groups of some rows."""

    rows: Rows
    numbers: NDArray[Any]  # structured array of type NUMBERS
    groups: NDArray[Any]  # structured array of type GROUPS

    def set_words(self, owner: NDArray[np.intp], slots: Slots, counts: NDArray[np.intp], begins: Rows) -> None:
        """Store the first words of contexts, anchors and URLs.

        The texts are numbered: the contexts of all rows, then their anchors, then their URLs. `owner` is the text
        number of each slot, in ascending order; `counts` is the number of words of each text, and `begins` the index of
        its first.
        """
        n, groups = len(self.rows), _plain(self.groups)
        for name in _TEXTS:
            self.groups[name] = 0
        nth = np.arange(len(owner)) - begins.take(owner)
        kind, row = np.divmod(owner, n)
        places = row * groups.shape[1] + _TEXT_COLUMNS.take(kind) + nth
        kept = (nth < _TEXT_WIDTHS.take(kind)).nonzero()[0]
        groups.reshape(-1)[places.take(kept)] = slots.take(kept)
        self.numbers["context_root"] = _ROOTS.take(np.minimum(counts[:n], GROUPS["context"].shape[0]))
        self.numbers["anchor_root"] = _ROOTS.take(np.minimum(counts[n : 2 * n], GROUPS["anchor"].shape[0]))


class KnownLinks:
    """Features of all known links, in columns indexed by table row."""

    def __init__(self) -> None:
        self.groups = np.zeros(0, GROUPS)
        self.numbers = np.zeros(0, NUMBERS)
        self.edges = np.zeros((0, MAX_PARENTS), np.int32)  # numbers of the first edges to each row
        self.edge_count = np.zeros(0, np.uint8)
        self.outcome = np.zeros(0, np.float32)
        self.has_outcome = np.zeros(0, np.bool_)
        self.is_dead = np.zeros(0, np.bool_)
        self._redirects: list[tuple[int, int]] = []

    def columns(self) -> dict[str, NDArray[Any]]:
        """Return all columns by name, as unstructured matrices that share their memory."""
        return {name: _plain(column) for name, column in vars(self).items() if isinstance(column, np.ndarray)}

    def state(self) -> State:
        return {**self.columns(), "redirects": np.array(self._redirects, np.int32).reshape(-1, 2)}

    def restore(self, state: State) -> None:
        for name, column in self.columns().items():
            saved = state[name]
            if saved.dtype != column.dtype or saved.shape[1:] != column.shape[1:]:
                raise StateMismatch(f"column {name} does not fit")
            own = getattr(self, name)
            setattr(self, name, named(saved, own.dtype) if own.dtype.names else saved)
        self._redirects = [(row, target) for row, target in state["redirects"].tolist()]

    def leave(self, rows: Rows) -> dict[str, NDArray[Any]]:
        known = {name: column[rows] for name, column in self.columns().items()}
        for column in self.columns().values():
            column[rows] = 0
        away = set(rows.tolist()) if self._redirects else set()
        self._redirects = [redirect for redirect in self._redirects if redirect[1] not in away]
        return known

    def join(self, rows: Rows, known: Mapping[str, NDArray[Any]], edges: LinkEdges) -> None:
        """Restore spilled rows, and those edges to them that are still stored."""
        for name, column in self.columns().items():
            column[rows] = known[name]
        counts = known["edge_count"].astype(np.intp)
        is_kept = np.arange(MAX_PARENTS) < counts[:, None]
        edges.renew(known["edges"][is_kept].astype(np.intp), np.repeat(rows, counts))

    def renew(self, known: Mapping[str, NDArray[Any]], in_degree: NDArray[np.int32], edges: LinkEdges) -> None:
        """Update the parent and neighbour sums of spilled rows to which all edges are still stored."""
        counts = known["edge_count"].astype(np.intp)
        whole = ((counts == in_degree) & (counts > 0)).nonzero()[0]
        counts = counts[whole]
        is_kept = np.arange(MAX_PARENTS) < counts[:, None]
        edge, begins = known["edges"][whole][is_kept].astype(np.intp), np.cumsum(counts) - counts
        if not len(edge):
            return
        parent = edges.parent.take(edge)
        at = edge[:, None] + _OFFSETS
        child = edges.child.take(at, mode="clip")
        near = (edges.parent.take(at, mode="clip") == parent[:, None]) & (child >= 0) & (at >= 0) & (at < len(edges))
        child = self._final_targets(np.where(near, child, 0))
        decay = np.where(near, _DECAYS, np.float32(0))
        weight, outcome = decay * self.has_outcome.take(child), self.outcome.take(parent)
        numbers = named(known["numbers"], NUMBERS)
        for name, values in (
            ("outcome_sum", outcome),
            ("promise_sum", outcome * edges.alpha.take(edge)),
            ("neighbour_sum", (weight * self.outcome.take(child)).sum(axis=1)),
            ("neighbour_weight", weight.sum(axis=1)),
            ("dead_weight", (decay * self.is_dead.take(child)).sum(axis=1)),
        ):
            numbers[name][whole] = np.add.reduceat(values, begins)

    def _final_targets(self, rows: NDArray[Any]) -> NDArray[Any]:
        """Return the final targets of rows after all redirects."""
        if not self._redirects:
            return rows
        targets = np.arange(len(self.outcome) + 1)
        for row, target in reversed(self._redirects):
            targets[row] = targets[target]
        return targets.take(rows)

    def fit(self, rows: int) -> None:
        if rows > len(self.outcome):
            for name in self.columns():
                setattr(self, name, fit(getattr(self, name), rows))

    def take(self, rows: Rows) -> LinkRows:
        return LinkRows(rows, self.numbers.take(rows), self.groups.take(rows))

    def put(self, links: LinkRows) -> None:
        np.put(self.numbers, links.rows, links.numbers)  # ten times as fast as an indexed assignment of records
        np.put(self.groups, links.rows, links.groups)

    def credited_groups(self, rows: Rows) -> NDArray[np.int32]:
        """Return a matrix of the groups that are credited with the outcome of each row."""
        groups = self.groups.take(rows)
        places = [groups[name][:, None] for name in ("directory", "host", "path", "tags")]
        return np.concatenate([groups["anchor"], *places], axis=1)

    def set_addresses(self, rows: list[int], urls: Iterable[str]) -> None:
        """Set the directory, host and number of path names of rows from their URLs."""
        places: dict[tuple[str, str], tuple[int, int]] = {}  # cache, as links of a page share hosts and directories
        addresses = []
        for url in urls:
            host, _, path = url.partition("://")[2].partition("/")
            path, _, name = path.partition("?")[0].rpartition("/")
            if (place := places.get((host, path))) is None:
                directory = 1 + crc32(f"{host}/{path}".encode("utf-8", "replace")) % (SLOTS - 1)
                host_slot = 1 + crc32(host.encode("utf-8", "replace")) % (SLOTS - 1)
                place = places[host, path] = DIRECTORIES + directory, HOSTS + host_slot
            addresses.append((*place, min(path.count("/") + bool(path) + bool(name), MAX_PATH_NAMES)))
        if rows:
            directories, hosts, self.numbers["path_names"][rows] = np.array(addresses, np.int32).T
            self.groups["directory"][rows], self.groups["host"][rows] = directories, hosts

    def add_edges(self, children: Rows, begin: int) -> None:
        """Add an edge to each child; the first edge has the number `begin`."""
        count = self.edge_count.take(children)
        room = (count < MAX_PARENTS).nonzero()[0]
        rows, count = children.take(room), count.take(room)
        self.edges.reshape(-1)[rows * MAX_PARENTS + count] = begin + room
        self.edge_count[rows] = count + np.uint8(1)

    def add_known_neighbours(self, numbers: NDArray[Any], children: Rows) -> None:
        """Add the outcomes that neighbours on a page already have to the numbers of its links."""
        here = slice(NEAR, NEAR + len(children))
        is_dead = self.is_dead.take(children)
        if is_dead.any():
            numbers["dead_weight"] += np.convolve(is_dead, _KERNEL)[here]
        has_outcome = self.has_outcome.take(children)
        if has_outcome.any():
            outcome = np.where(has_outcome, self.outcome.take(children), np.float32(0))
            numbers["neighbour_sum"] += np.convolve(outcome, _KERNEL)[here]
            numbers["neighbour_weight"] += np.convolve(has_outcome, _KERNEL)[here]

    def credit_neighbours(self, row: int, outcome: float, edges: LinkEdges) -> NDArray[np.intp]:
        """Add the outcome of a page to the sums of its neighbours; return the neighbours."""
        near, decays = self._neighbours(row, edges)
        np.add.at(self.numbers["neighbour_sum"], near, decays * np.float32(outcome))
        np.add.at(self.numbers["neighbour_weight"], near, decays)
        return near

    def mark_dead(self, row: int, edges: LinkEdges) -> NDArray[np.intp]:
        """Record that a link gave no page; return its neighbours."""
        self.is_dead[row] = True
        near, decays = self._neighbours(row, edges)
        np.add.at(self.numbers["dead_weight"], near, decays)
        return near

    def sum_again(self, edges: LinkEdges) -> None:
        """Recompute the parent and neighbour sums of all links after outcomes have changed."""
        rows = len(self.outcome)
        targets = self._final_targets(np.arange(rows + 1))  # the last entry is for all spilled rows
        sums: dict[str, NDArray[np.floating[Any]]] = {}
        inner = (edges.parent[1:] != edges.parent[:-1]).nonzero()[0] + 1
        begins = np.concatenate([np.zeros(min(1, len(edges.parent)), np.intp), inner, [len(edges.parent)]])
        cuts = begins[np.unique(np.searchsorted(begins, np.arange(0, len(edges.parent), BLOCK)))]
        for begin, end in pairwise(dict.fromkeys([*cuts.tolist(), len(edges.parent)])):
            child = edges.child[begin:end].astype(np.intp)
            if edges.gaps:
                child[child < 0] = rows
            for name, values in self._values_of(edges, slice(begin, end), targets[child]).items():
                sums[name] = sums.get(name, 0.0) + np.bincount(child, values, rows + 1)
        for name, total in sums.items():
            for row, target in self._redirects:
                total[target] += total[row]
            self.numbers[name] = total[:rows]

    def _values_of(
        self, edges: LinkEdges, block: slice, targets: NDArray[np.intp]
    ) -> dict[str, NDArray[np.floating[Any]]]:
        """Return what each edge adds to the sums of its target row; a block has all edges of its pages."""
        parent = edges.parent[block]
        has_outcome = self.has_outcome.take(targets, mode="clip") & (targets < len(self.outcome))
        outcome = np.where(has_outcome, self.outcome.take(targets, mode="clip"), np.float32(0))
        neighbour_sum, neighbour_weight = np.zeros(len(parent)), np.zeros(len(parent))
        for apart in range(1, NEAR + 1):
            decay = DECAY**apart * (parent[apart:] == parent[:-apart])
            for here, there in ((slice(apart, None), slice(-apart)), (slice(-apart), slice(apart, None))):
                neighbour_sum[here] += decay * outcome[there]
                neighbour_weight[here] += decay * has_outcome[there]
        parent_outcome = self.outcome[parent]
        return {
            "outcome_sum": parent_outcome,
            "promise_sum": parent_outcome * edges.alpha[block],
            "neighbour_sum": neighbour_sum,
            "neighbour_weight": neighbour_weight,
        }

    def _neighbours(self, row: int, edges: LinkEdges) -> tuple[NDArray[np.intp], NDArray[np.float32]]:
        """Return the neighbours of the links to a row, and their weights."""
        edge = self.edges[row, : self.edge_count.item(row)].astype(np.intp)
        at = (edge[:, None] + _OFFSETS).reshape(-1)
        parent = edges.parent.take(edge).repeat(len(_OFFSETS))
        is_near = edges.parent.take(at, mode="clip") == parent
        is_near &= (at >= 0) & (at < len(edges))
        if edges.gaps:
            is_near &= edges.child.take(at, mode="clip") >= 0
        near = is_near.nonzero()[0]
        rows: NDArray[np.intp] = edges.child.take(at.take(near)).astype(np.intp)
        return rows, _DECAYS.take(near % len(_OFFSETS))

    def redirect(self, row: int, target: int) -> bool:
        """Copy all columns of a link to the page that it redirects to; return False if that page is already known.

        If the link had an outcome from an earlier fetch, the target inherits it and is not counted again.
        """
        if self.edge_count[target] or self.has_outcome[target] or self.groups["host"][target]:
            return False
        self._redirects.append((row, target))
        for column in self.columns().values():
            column[target] = column[row]
        return True


def _plain(column: NDArray[Any]) -> NDArray[Any]:
    if column.dtype.names is None:
        return column
    kind = column.dtype[0].base
    return column.view(kind).reshape(len(column), column.dtype.itemsize // kind.itemsize)


def named(matrix: NDArray[Any], fields: np.dtype[Any]) -> NDArray[Any]:
    """Return a plain matrix as a structured array that shares its memory."""
    return matrix.view(fields).reshape(len(matrix))
