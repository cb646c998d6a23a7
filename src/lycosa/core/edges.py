"""The links between rows that have been seen: append-only columns, to be walked from either end.

The links of one page stand together, so its children are a slice; the links to one page are a chain, each naming the
one before it.

Paper items:
    gouriten-implementation: `lycosa lab run`. Test: core/test_edges.py::test_edges_are_what_was_added. Departs: Python
        and numpy.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from lycosa.core.columns import fit
from lycosa.core.state import State, plain, put_back
from lycosa.core.types import Rows

_NONE = -1

GONE = -2
"""The child of an edge that leads to a row which was put aside (cold.py)."""


class Edges:
    """Parent, child and alpha of every link, each pair once, however often the parent was visited.

    >>> edges = Edges()
    >>> edges.add(0, np.array([1, 2], np.int32), np.array([.5, 0], np.float32))
    >>> edges.add(2, np.array([1], np.int32), np.array([.25], np.float32))
    >>> edges.children(0).tolist(), edges.parents(1).tolist(), edges.alphas(0).tolist()
    ([1, 2], [0, 2], [0.5, 0.0])
    """

    def __init__(self) -> None:
        self._size = 0
        self._parent = np.zeros(1024, np.int32)
        self._child = np.zeros(1024, np.int32)
        self._alpha = np.zeros(1024, np.float32)
        self._before = np.zeros(0, np.int32)  # the edge to the same child added last, if chained
        self._first = np.zeros(1024, np.int32)  # of each row: where its own edges begin
        self._count = np.zeros(1024, np.int32)  # and how many they are
        self._last = np.zeros(0, np.int32)  # the last edge that leads to it, of those that are chained
        self._later: dict[int, list[NDArray[np.int64]]] = {}  # edges that a row got when it was visited again
        self._chained = 0  # so many edges name the one before them: the others do when someone asks
        self.gaps = False
        """Whether some children are gone."""

    def __len__(self) -> int:
        return self._size

    @property
    def parent(self) -> Rows:
        """The row that each edge leaves."""
        return self._parent[: self._size]

    @property
    def child(self) -> Rows:
        """The row that each edge leads to."""
        return self._child[: self._size]

    @property
    def alpha(self) -> NDArray[np.float32]:
        """The alpha of each edge."""
        return self._alpha[: self._size]

    def add(self, parent: int, children: Rows, alphas: NDArray[np.float32], rows: int = 0) -> None:
        """The edges of a page, each child once; of a page that was visited before, those that are new.

        `rows`: how many there are, if that is known.
        """
        count = len(children)
        if not count:
            return
        begin, end = self._size, self._size + count
        if end > len(self._child):
            for name in ("_parent", "_child", "_alpha"):
                setattr(self, name, fit(getattr(self, name), end))
        rows = rows or 1 + max(parent, int(children.max()))
        if rows > len(self._first):
            self._first, self._count = fit(self._first, rows), fit(self._count, rows)
        self._parent[begin:end] = parent
        self._child[begin:end] = children
        self._alpha[begin:end] = alphas
        if self._count[parent]:
            self._later.setdefault(parent, []).append(np.arange(begin, end))
        else:
            self._first[parent] = begin
        self._count[parent] += count
        self._size = end

    def state(self) -> State:
        """All edges. Which one is the last that leads to a row is found out again when someone asks."""
        later = [[row, int(run[0]), int(run[-1]) + 1] for row, runs in self._later.items() for run in runs]
        return {**plain(self, "_before", "_last", "_later", "_chained"), "later": later}

    def restore(self, state: State) -> None:
        """Have the edges of a state."""
        put_back(self, {name: value for name, value in state.items() if name != "later"})
        self._before, self._last = np.zeros(0, np.int32), np.zeros(0, np.int32)
        self._chained = 0
        self._later = {}
        for row, begin, end in state["later"]:
            self._later.setdefault(row, []).append(np.arange(begin, end))

    def children(self, row: int) -> Rows:
        """The rows that a page links to, in page order."""
        found = self._child[self._own(row)]
        return found[found >= 0] if self.gaps else found

    def alphas(self, row: int) -> NDArray[np.float32]:
        """The alphas of those links, in the same order."""
        own = self._own(row)
        return self._alpha[own[self._child[own] >= 0]] if self.gaps else self._alpha[own]

    def forget(self, rows: Rows, count: int) -> None:
        """Some rows, of so many, are put aside: nothing leads there for now."""
        away = np.zeros(count + 2, np.bool_)  # what is gone already is the last but one
        away[rows] = True
        self._child[: self._size][away[self.child]] = GONE
        self.gaps = True
        self._unchain()

    def renew(self, edges: NDArray[np.intp], rows: Rows) -> None:
        """Those of some edges that led nowhere lead to these rows again."""
        gone = self._child[edges] == GONE
        self._child[edges[gone]] = rows[gone]
        self._unchain()

    def _unchain(self) -> None:
        """Whoever asks next finds out anew which edges lead to a row."""
        if self._chained:
            self._last[:], self._chained = _NONE, 0

    def into(self, row: int) -> Rows:
        """The edges that lead to a row, as indices of `parent` and `alpha`, in order of discovery."""
        found = []
        if self._chained < self._size:
            self._chain()
        edge = int(self._last[row]) if row < len(self._last) else _NONE
        while edge != _NONE:
            found.append(edge)
            edge = int(self._before[edge])
        return np.array(found[::-1], np.int32)

    def _chain(self) -> None:
        """Let the edges that came since the last question name those before them: few estimators ever ask."""
        self._before, self._last = fit(self._before, self._size), fit(self._last, len(self._first), _NONE)
        child = self._child[self._chained : self._size]
        edges = np.arange(self._chained, self._size, dtype=np.int32)
        here = child >= 0
        child, edges = child[here], edges[here]
        before = self._last[child]
        order = child.argsort(kind="stable")
        again = (child[order[1:]] == child[order[:-1]]).nonzero()[0]
        before[order[again + 1]] = edges[order[again]]
        self._before[edges] = before
        self._last[child] = edges  # of several, the last one counts
        self._chained = self._size

    def parents(self, row: int) -> Rows:
        """The rows that link to a row, in order of discovery."""
        return self._parent[self.into(row)]

    def leaving(self, rows: Rows) -> NDArray[np.int64]:
        """The edges that leave some rows, one row's after the other, as indices of `child` and `alpha`."""
        count = self.out_degree(rows)
        first = fit(self._first, 1 + int(rows.max(initial=0)))[rows]
        if self._later:
            return np.concatenate([np.zeros(0, np.int64), *(self._own(row) for row in rows.tolist())])
        ends = np.cumsum(count, dtype=np.int64)
        return np.arange(ends[-1] if len(ends) else 0) + np.repeat(first - ends + count, count)

    def out_degree(self, rows: Rows) -> NDArray[np.int32]:
        """How many links each row has; 0 for those not visited."""
        return fit(self._count, 1 + int(rows.max(initial=0)))[rows]

    def _own(self, row: int) -> NDArray[np.int64]:
        if row >= len(self._count):
            return np.zeros(0, np.int64)
        later = self._later.get(row, [])
        begin, count = int(self._first[row]), int(self._count[row]) - sum(map(len, later))
        return np.concatenate([np.arange(begin, begin + count), *later])
