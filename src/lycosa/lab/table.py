"""The table of a simulated crawl: rows in order of discovery, as in any crawl, but named by nodes of an index."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lycosa.core.columns import fit
from lycosa.core.table import OPEN, Table
from lycosa.core.types import Rows, Step, Visit
from lycosa.lab.index import Index

_NONE = np.array(0)
"""Rows begin here. As an array, which numpy compares with twice as fast as with a plain number."""


class IndexedTable(Table):
    """A table whose nodes are numbers of an index: looking a link up is an array access, not a dictionary's.

    >>> table = IndexedTable(Index.of({"a": ["b", "c"], "c": ["b"]}))
    >>> row = table.seed(0)
    >>> step = table.visited(Visit("a", "page", "ok", pick=1, beta=.5), row, np.zeros(2, np.float32))
    >>> step.children.tolist(), table.nodes[2], table.beta_sum[step.children].tolist()
    ([1, 2], 'c', [0.5, 0.5])
    """

    def __init__(self, index: Index) -> None:
        super().__init__()
        self.index = index
        self.row_at: NDArray[np.intp] = np.full(len(index), -1, np.intp)
        """The row of each node of the index; -1: not seen yet."""
        self.node_at: NDArray[np.int32] = np.zeros(1024, np.int32)
        """The node of each row."""
        self._start, self._child = index.columns["child_start"], index.columns["child"]
        self.size = 0
        self.nodes = Nodes(self)  # type: ignore[assignment]
        self.stems = index.stems
        self.lanes, self.lane_number = [""], {"": 0}

    def __len__(self) -> int:
        return self.size

    def seed(self, node: int) -> int:
        row = int(self.row_at[node])
        if row < 0:
            row = int(self._add(np.array([node]), 0, -1)[0])
        if self.state[row] == OPEN:
            self.is_seed[row] = True
            self.depth[row] = 0
        return row

    def visited(self, visit: Visit, row: int, alphas: NDArray[np.float32]) -> Step:
        """Fold a visit: close the row, let the node's children join; alphas are one for each child."""
        node = self.node_at.item(row)
        self.close(row)
        targets = self._child[self._start.item(node) : self._start.item(node + 1)].astype(np.intp)
        children = self.row_at[targets]
        if self.cold is not None and self.cold.count and len(away := np.flatnonzero(children < -1)):
            names = [b"%d" % target for target in targets[away].tolist()]
            children[away] = np.array(self.cold.recall(children[away].tolist(), names), np.intp)
        if len(targets):
            new = (children < _NONE).nonzero()[0]
            if len(new):
                children[new] = self._add(targets[new], self.depth.item(row) + 1, row)
            self._sum_up(row, children, alphas, visit.beta)
        return IndexedStep(visit, row, children, alphas, node, self.index)

    def _add(self, nodes: NDArray[np.intp], depth: int, parent: int) -> Rows:
        """New rows for nodes that have none, each named once."""
        begin, end = self.size, self.size + len(nodes)
        if self._vacant:
            rows = self._room(len(nodes)).astype(np.intp)
        else:
            while end > self._capacity:
                self._grow()
            rows, self.size = np.arange(begin, end), end
        if self._age is not None:
            self._age[rows] = np.arange(self.discovered, self.discovered + len(nodes))
        self.node_at[rows] = nodes
        self.row_at[nodes] = rows
        self.depth[rows] = depth
        self.parent[rows] = parent
        self.open_rows += len(nodes)
        self.discovered += len(nodes)
        return rows

    def _grow(self) -> None:
        super()._grow()
        self.node_at = fit(self.node_at, self._capacity)

    def _lengthen(self) -> None:
        self.size += 1

    def name(self, row: int) -> bytes:
        """The node's number."""
        return b"%d" % self.node_at.item(row)

    def put_aside(self, rows: Rows, names: list[bytes], numbers: NDArray[np.int32]) -> None:
        """These rows are vacant, and their nodes are known by these numbers."""
        self.row_at[[int(name) for name in names]] = numbers
        self._vacate(rows)

    def take_back(self, names: list[bytes], keys: NDArray[np.uint64]) -> Rows:
        """Rows for nodes that were put aside."""
        rows, nodes = self._room(len(names)), [int(name) for name in names]
        self.node_at[rows], self.row_at[nodes] = nodes, rows
        return rows


class IndexedStep(Step):
    """A step that works out which link leads to which child only when someone asks."""

    __slots__ = ("_index", "_node")

    def __init__(
        self, visit: Visit, row: int, children: Rows, alphas: NDArray[np.float32], node: int, index: Index
    ) -> None:
        self.visit, self.row, self.children, self.alphas, self.outcome = visit, row, children, alphas, None
        self._node, self._index = node, index

    @property
    def of_link(self) -> Rows:  # type: ignore[override]
        """For each of the page's links its row."""
        slots = self._index.link_slot
        if not len(slots):
            return self.children
        start = self._index.link_start
        rows: Rows = self.children[slots[start[self._node] : start[self._node + 1]]]
        return rows

    def strongest(self, column: NDArray[Any]) -> NDArray[Any]:
        """For each child the largest number among the page's links to it."""
        return self._index.strongest(self._node, column)


class Nodes(Sequence[str]):
    def __init__(self, table: IndexedTable) -> None:
        self._table = table

    def __len__(self) -> int:
        return self._table.size

    def __getitem__(self, row: Any) -> Any:
        if isinstance(row, slice):
            return [self[at] for at in range(*row.indices(len(self)))]
        return self._table.index.names[int(self._table.node_at[row])]
