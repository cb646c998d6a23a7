"""Table of all known nodes: one row each, columns shared by all estimators, and the crawled links.

Columns are numpy arrays that grow by doubling, so `table.relevance_sum[rows]` is a plain array access. Rows are
numbered in order of discovery, which also breaks ties. Everything is folded from the log.
"""

from __future__ import annotations

from array import array
from collections.abc import Callable, Mapping, Set
from itertools import repeat
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from lycosa.core.columns import fit
from lycosa.core.nodes import Nodes, RowIndex
from lycosa.core.state import State, StateMismatch, TextLines, restore_attributes, state_of_attributes
from lycosa.core.types import InboundLinks, Rows, Step, Visit

if TYPE_CHECKING:
    from lycosa.core.spilled_rows import SpilledRows

OPEN, DONE, VACANT = 0, 1, 2  # open: to be visited; done: visited for good; vacant: the node was spilled to disk
MAX_HOPS = 10  # maximum redirects in a row
_COLUMNS: dict[str, type] = {
    "state": np.uint8,
    "attempts": np.uint8,
    "is_seed": np.bool_,
    "is_source": np.bool_,
    "hops": np.uint8,
    "depth": np.int32,
    "host": np.int32,
    "parent": np.int32,
    "in_degree": np.int32,
}
# sums and maxima over the parents of each row, in one matrix for faster access
_SUMS = ("link_relevance_sum", "relevance_sum", "product_sum", "link_relevance_max", "relevance_max", "product_max")
_INHERITED = ("in_degree", *_SUMS)  # columns that a redirect passes on to its target
# dtype of a row's six values as one item, which numpy copies faster than a row of numbers
_LINE = np.dtype((np.void, 8 * len(_SUMS)))
# columns stored with a spilled row; seeds and sources are never spilled
_LEAVING = ("attempts", "hops", "depth", "host", "parent", "in_degree")


class SpilledTable(NamedTuple):
    """Columns of spilled rows that estimators need to compute their priority."""

    in_degree: NDArray[np.int32]
    link_relevance_max: NDArray[np.float64]
    hops: NDArray[np.uint8]


_NO_ROWS, _NO_ALPHAS = np.zeros(0, np.intp), np.zeros(0, np.float32)


class Table:
    """Rows and links. `scope` decides which nodes may join, `host_key` returns the host of a node."""

    state: NDArray[np.uint8]
    attempts: NDArray[np.uint8]
    is_seed: NDArray[np.bool_]
    is_source: NDArray[np.bool_]
    hops: NDArray[np.uint8]
    depth: NDArray[np.int32]
    host: NDArray[np.int32]
    parent: NDArray[np.int32]
    in_degree: NDArray[np.int32]
    link_relevance_sum: NDArray[np.float64]
    link_relevance_max: NDArray[np.float64]
    relevance_sum: NDArray[np.float64]
    relevance_max: NDArray[np.float64]
    product_sum: NDArray[np.float64]
    product_max: NDArray[np.float64]

    def __init__(
        self,
        host_key: Callable[[str], str] = lambda node: "",
        scope: Callable[[str, int], bool] = lambda node, depth: True,
    ) -> None:
        self.host_key = host_key
        self.scope = scope
        self.nodes = Nodes()
        self.row_of = RowIndex(self.nodes)
        self.hosts: list[str] = []
        self.host_number: dict[str, int] = {}
        self.open_rows = 0  # including spilled rows
        self.discovered = 0  # nodes ever seen, including spilled ones
        self.spilled: SpilledRows | None = None  # spills rows to disk
        self.renewed: list[int] = []  # reused rows with a new node that the trap filter has not processed yet
        self._vacant: list[int] = []
        self._age: NDArray[np.int32] | None = None
        self.closed = array("i")  # rows visited for good, in that order
        self.edges = LinkEdges()
        self.stems: list[str] = []  # stems by word number, including words of visits that estimators do not receive
        self._capacity = 1024
        for name, dtype in _COLUMNS.items():
            setattr(self, name, np.zeros(self._capacity, dtype))
        self._set_sums(np.zeros((self._capacity, len(_SUMS))))

    def __len__(self) -> int:
        return len(self.nodes)

    def add(self, node: str, depth: int, parent: int = -1, *, source: bool = False) -> int:
        """Return the row of a node, added if new; -1 if out of scope. Sources (sitemaps, feeds) may be out of scope."""
        row = self.row_of.get(node)
        if row is not None:
            return row
        if not source and not self.scope(node, depth):
            return -1
        return self._new_row(node, depth, parent)

    def _new_row(self, node: str, depth: int, parent: int) -> int:
        if self._vacant:
            row = self._vacant.pop()
            self.renewed.append(row)
            self.nodes[row] = node
            self.state[row] = OPEN
        else:
            row = len(self.nodes)
            if row == self._capacity:
                self._grow()
            self.nodes.append(node)
        if self._age is not None:
            self._age[row] = self.discovered
        self.discovered += 1
        self.row_of[node] = row
        key = self.host_key(node)
        number = self.host_number.get(key)
        if number is None:
            number = self.host_number[key] = len(self.hosts)
            self.hosts.append(key)
        self.host[row] = number
        self.depth[row] = depth
        self.parent[row] = parent
        self.open_rows += 1
        return row

    def add_seed(self, node: str, source: bool = False, parent: int = -1) -> int:
        """Add a seed with depth 0 and top priority; a source (sitemap, feed) listed in another source has a parent."""
        row = self.add(node, 0, parent, source=source)
        if row >= 0 and self.state[row] == OPEN:
            self.is_seed[row] = True
            self.is_source[row] |= source  # safe: a source that turns out to be a page is read as a page
            self.depth[row] = 0
        return row

    def absorb(self, visit: Visit) -> Step | None:
        """Fold a visit: close its row, or keep it open for a retry, and add its links.

        Return None for visits without a row (robots.txt and the like), and for revisits without new links.
        """
        self.stems += visit.terms.new
        if visit.kind not in ("page", "redirect", "sitemap", "revisit"):
            return None
        if visit.follows and visit.outcome not in ("ok", "redirect"):  # no new links
            return None
        row = self.row_of.get(visit.node, -1)
        if row < 0 and visit.kind == "sitemap":  # a local file, which is not fetched
            row = self.add_seed(visit.node, source=True)
        if row < 0:  # recorded while the crawl had another scope
            return None
        again = self.state[row] == DONE
        if visit.retry_at:
            self.attempts[row] = min(255, visit.attempt)
        elif not again:
            self.close(row)
        if visit.outcome == "redirect":
            moved = again and any(url in self.row_of for url in visit.links.urls)  # the target is already known
            step = Step(visit, row, _NO_ROWS, _NO_ALPHAS) if moved else self._inherit(visit, row)
        else:
            step = self._add_links(visit, row, set(self.edges.children(row).tolist()) if again else frozenset())
        return step if len(step.children) or not visit.follows else None

    def absorb_inbound(self, inbound: InboundLinks) -> Step:
        visit = inbound.visit
        row = self.row_of.get(visit.node, -1)
        if row < 0:
            row = self._new_row(visit.node, inbound.depth, -1)
            self.close(row)
            self.hops[row], self.is_seed[row] = min(inbound.hops, MAX_HOPS), inbound.seed
        if visit.outcome == "redirect":
            for name, value in zip(_INHERITED, inbound.sums, strict=False):
                getattr(self, name)[row] = value
            step = self._inherit(visit, row)
        else:
            step = self._add_links(visit, row, set(self.edges.children(row).tolist()))
        step.is_inbound = True
        return step

    def inherited_values(self, row: int) -> list[float]:
        """Return the values that a redirect passes on to its target: parent count, sums and maxima over parents."""
        return [float(getattr(self, name)[row]) for name in _INHERITED]

    def close(self, row: int) -> None:
        self.state[row] = DONE
        self.open_rows -= 1
        self.closed.append(row)

    def _add_links(self, visit: Visit, row: int, known: Set[int]) -> Step:
        """Add the links of a page that are not `known` yet, and update counts, sums and maxima over parents."""
        links = visit.links
        rows = self.row_of.rows(links.urls)
        if None in rows:
            depth = int(self.depth[row]) + 1
            rows = [self.add(url, depth, row) if at is None else at for url, at in zip(links.urls, rows, strict=True)]
        index_of = dict.fromkeys(rows)
        for excluded in (-1, row, *known):
            index_of.pop(excluded, None)
        children = np.fromiter(index_of, np.intp, len(index_of))
        of_link = np.array(rows, np.int32)
        if len(children) < len(rows):
            index_of = dict(zip(index_of, range(len(children)), strict=True))
            indices = np.fromiter(map(index_of.get, rows, repeat(-1)), np.intp, len(rows))
            of_link[indices < 0] = -1
            indices = indices[indices >= 0]
        else:
            indices = np.arange(len(children))
        step = Step(visit, row, children, _NO_ALPHAS, of_link, indices)
        alpha = links.link_relevances if len(links.link_relevances) else np.zeros(len(links), np.float32)
        step.link_relevances = step.strongest(alpha)
        if len(children):
            self._update_sums(row, children, step.link_relevances, visit.relevance)
        return step

    def _update_sums(self, row: int, children: Rows, strongest: NDArray[np.float32], relevance: float) -> None:
        """Update counts, sums and maxima of children for one more parent, and add the edges."""
        self.in_degree[children] += 1
        depth, known = self.depth.item(row) + 1, self.depth[children]
        # rare, because most links are discovered on pages at most as deep as this one
        if known.item(known.argmax()) > depth:
            self.depth[children] = np.minimum(known, depth)
        if relevance > 0:
            values = np.empty((len(children), 3))
            values[:, 0], values[:, 1] = strongest, relevance
            np.multiply(values[:, 0], relevance, out=values[:, 2])
            lines = self._sums.take(children, axis=0)
            sums, maxima = lines[:, :3], lines[:, 3:]
            np.add(sums, values, out=sums)
            np.maximum(maxima, values, out=maxima)
            self._lines[children] = lines.view(_LINE).ravel()
        elif len(promising := strongest.nonzero()[0]):  # most links of an irrelevant page have no relevance either
            rows, alpha = children[promising], strongest[promising]
            self.link_relevance_sum[rows] += alpha
            self.link_relevance_max[rows] = np.maximum(self.link_relevance_max[rows], alpha)
        self.edges.add(row, children, strongest, len(self))

    def _inherit(self, visit: Visit, row: int) -> Step:
        """Pass depth, parents' sums and hops of a redirect on to its target."""
        target = -1
        if visit.links.urls and self.hops[row] < MAX_HOPS:
            target = self.add(visit.links.urls[0], int(self.depth[row]), int(self.parent[row]))
        if target < 0 or target == row:
            return Step(visit, row, _NO_ROWS, _NO_ALPHAS)
        if self.state[target] == OPEN:
            self.is_seed[target] |= self.is_seed[row]
            self.is_source[target] |= self.is_source[row]
            self.hops[target] = max(int(self.hops[target]), int(self.hops[row]) + 1)
        self.depth[target] = min(self.depth[target], self.depth[row])
        for name in _INHERITED[:4]:
            getattr(self, name)[target] += getattr(self, name)[row]
        for name in _INHERITED[4:]:
            column = getattr(self, name)
            column[target] = max(column[target], column[row])
        return Step(visit, row, np.array([target]), visit.links.link_relevances[:1])

    def rows(self) -> Rows:
        return np.flatnonzero(self.state[: len(self)] == OPEN)

    def age(self, rows: Rows) -> NDArray[np.int32]:
        """Return the discovery numbers of rows: the rows themselves unless row numbers were reused."""
        return rows.astype(np.int32) if self._age is None else self._age[rows]

    def name(self, row: int) -> bytes:
        """Return the key of a row in the spill file."""
        return self.nodes.text(row)

    def leave(self, rows: Rows, table: Table) -> dict[str, NDArray[Any]]:
        """Mark rows as vacant and return their columns."""
        if self._age is None:
            self._age = np.arange(self._capacity, dtype=np.int32)
        known = {name: getattr(self, name)[rows] for name in _LEAVING}
        known |= {"sums": self._sums[rows], "age": self._age[rows]}
        for name in _LEAVING:
            getattr(self, name)[rows] = 0
        self._sums[rows] = 0.0
        self.state[rows] = VACANT
        self.edges.forget(rows, len(self))
        return known

    @staticmethod
    def aside(known: Mapping[str, NDArray[Any]]) -> SpilledTable:
        """Return the columns of spilled rows that estimators need."""
        return SpilledTable(known["in_degree"], known["sums"][:, _SUMS.index("link_relevance_max")], known["hops"])

    def put_aside(self, rows: Rows, names: list[bytes], numbers: NDArray[np.int32]) -> None:
        """Map the names of vacated rows to numbers below -1."""
        self.row_of.renumber(self.row_of.keys(names), numbers)
        self._vacate(rows)
        self.nodes.tidy()

    def _vacate(self, rows: Rows) -> None:
        self._vacant = np.sort(np.concatenate([np.array(self._vacant, np.int32), rows]))[::-1].tolist()

    def take_back(self, names: list[bytes], keys: NDArray[np.uint64]) -> Rows:
        """Return rows for reloaded nodes with these fingerprints."""
        rows = self._vacant_rows(len(names))
        for row, name in zip(rows.tolist(), names, strict=True):
            self.nodes.put(row, name)
        self.row_of.renumber(keys, rows)
        return rows

    def _vacant_rows(self, count: int) -> NDArray[np.int32]:
        vacant = max(0, len(self._vacant) - count)
        rows = self._vacant[vacant:][::-1]
        del self._vacant[vacant:]
        while len(rows) < count:
            if len(self) == self._capacity:
                self._grow()
            rows.append(len(self))
            self._append_row()
        found = np.array(rows, np.int32)
        self.state[found] = OPEN
        return found

    def _append_row(self) -> None:
        self.nodes.append("")

    def join(self, rows: Rows, known: Mapping[str, NDArray[Any]], table: Table) -> None:
        assert self._age is not None
        for name in _LEAVING:
            getattr(self, name)[rows] = known[name]
        self._sums[rows], self._age[rows] = known["sums"], known["age"]

    def as_state(self) -> State:
        spilled = {} if self._age is None else {"age": self._age}
        spilled |= {"vacant": np.array(self._vacant, np.int32), "renewed": np.array(self.renewed, np.int32)}
        return {
            "discovered": self.discovered,
            "spilled": spilled,
            "nodes": self.nodes.state(),
            "known": self.row_of.state(),
            "hosts": TextLines(self.hosts),
            "stems": TextLines(self.stems),
            "closed": np.array(self.closed, np.int32),
            "columns": {name: getattr(self, name) for name in _COLUMNS},
            "sums": self._sums,
            "edges": self.edges.state(),
        }

    def restore(self, state: State) -> None:
        self.hosts, self.stems = state["hosts"], state["stems"]
        self.nodes.restore(state["nodes"])
        self.row_of.restore(state["known"])
        self.host_number = dict(zip(self.hosts, range(len(self.hosts)), strict=True))
        self.closed = array("i", state["closed"].tobytes())
        self._capacity = len(state["sums"])
        self.discovered = state["discovered"]
        self.open_rows = self.discovered - len(self.closed)
        spilled = state["spilled"]
        self._vacant, self.renewed = spilled["vacant"].tolist(), spilled["renewed"].tolist()
        self._age = spilled.get("age")
        if self._age is not None and len(self._age) != self._capacity:
            raise StateMismatch(f"the order of discovery has {len(self._age)} rows: expected {self._capacity}")
        for name, dtype in _COLUMNS.items():
            column = state["columns"][name]
            if column.dtype != dtype or len(column) != self._capacity:
                raise StateMismatch(f"{name} has {len(column)} rows of {column.dtype}: expected {self._capacity}")
            setattr(self, name, column)
        self._set_sums(state["sums"])
        self.edges.restore(state["edges"])

    def _grow(self) -> None:
        self._capacity *= 2
        if self._age is not None:
            self._age = fit(self._age, self._capacity)
        for name in _COLUMNS:
            setattr(self, name, fit(getattr(self, name), self._capacity))
        self._set_sums(fit(self._sums, self._capacity))

    def _set_sums(self, sums: NDArray[np.float64]) -> None:
        self._sums = sums
        self._lines = sums.view(_LINE).ravel()
        for place, name in enumerate(_SUMS):
            setattr(self, name, sums[:, place])


_NONE = -1
GONE = -2  # child of an edge to a spilled row


class LinkEdges:
    """Links between known rows as append-only columns: parent, child and link relevance, each pair once.

    The links of one page are adjacent, so its children are a slice; the links to one page form a chain, which is built
    when first needed.
    """

    def __init__(self) -> None:
        self._size = 0
        self._parent = np.zeros(1024, np.int32)
        self._child = np.zeros(1024, np.int32)
        self._alpha = np.zeros(1024, np.float32)
        self._before = np.zeros(0, np.int32)  # previous edge to the same child, as far as chained
        self._first = np.zeros(1024, np.int32)  # first edge of each row
        self._count = np.zeros(1024, np.int32)  # number of edges of each row
        self._last = np.zeros(0, np.int32)  # last chained edge to each row
        self._later: dict[int, list[NDArray[np.int64]]] = {}  # edges added by revisits, by row
        self._chained = 0  # number of chained edges
        self.gaps = False  # true if children were spilled

    def __len__(self) -> int:
        return self._size

    @property
    def parent(self) -> Rows:
        return self._parent[: self._size]

    @property
    def child(self) -> Rows:
        return self._child[: self._size]

    @property
    def alpha(self) -> NDArray[np.float32]:
        return self._alpha[: self._size]

    def add(self, parent: int, children: Rows, link_relevances: NDArray[np.float32], rows: int = 0) -> None:
        """Add the edges of a page; of a revisited page only the new ones. `rows` is the size of the table, if known."""
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
        self._alpha[begin:end] = link_relevances
        if self._count[parent]:
            self._later.setdefault(parent, []).append(np.arange(begin, end))
        else:
            self._first[parent] = begin
        self._count[parent] += count
        self._size = end

    def state(self) -> State:
        later = [[row, int(run[0]), int(run[-1]) + 1] for row, runs in self._later.items() for run in runs]
        return {**state_of_attributes(self, "_before", "_last", "_later", "_chained"), "later": later}

    def restore(self, state: State) -> None:
        restore_attributes(self, {name: value for name, value in state.items() if name != "later"})
        self._before, self._last = np.zeros(0, np.int32), np.zeros(0, np.int32)
        self._chained = 0
        self._later = {}
        for row, begin, end in state["later"]:
            self._later.setdefault(row, []).append(np.arange(begin, end))

    def children(self, row: int) -> Rows:
        """Return the rows that a page links to, in page order."""
        found = self._child[self._own(row)]
        return found[found >= 0] if self.gaps else found

    def link_relevances(self, row: int) -> NDArray[np.float32]:
        """Return the relevances of the links of `children`, in the same order."""
        own = self._own(row)
        return self._alpha[own[self._child[own] >= 0]] if self.gaps else self._alpha[own]

    def forget(self, rows: Rows, count: int) -> None:
        """Mark the edges to spilled rows as gone."""
        away = np.zeros(count + 2, np.bool_)  # two more entries, because GONE indexes from the end
        away[rows] = True
        self._child[: self._size][away[self.child]] = GONE
        self.gaps = True
        self._unchain()

    def renew(self, edges: NDArray[np.intp], rows: Rows) -> None:
        """Point edges to reloaded rows at their new row numbers."""
        gone = self._child[edges] == GONE
        self._child[edges[gone]] = rows[gone]
        self._unchain()

    def _unchain(self) -> None:
        if self._chained:
            self._last[:], self._chained = _NONE, 0

    def into(self, row: int) -> Rows:
        """Return the edges to a row, as indices of the edge columns, in order of discovery."""
        found = []
        if self._chained < self._size:
            self._chain()
        edge = int(self._last[row]) if row < len(self._last) else _NONE
        while edge != _NONE:
            found.append(edge)
            edge = int(self._before[edge])
        return np.array(found[::-1], np.int32)

    def _chain(self) -> None:
        """Chain the edges added since the last call; on demand, as few estimators need it."""
        self._before, self._last = fit(self._before, self._size), fit(self._last, len(self._first), _NONE)
        child = self._child[self._chained : self._size]
        edges = np.arange(self._chained, self._size, dtype=np.int32)
        is_known = child >= 0
        child, edges = child[is_known], edges[is_known]
        before = self._last[child]
        order = child.argsort(kind="stable")
        again = (child[order[1:]] == child[order[:-1]]).nonzero()[0]
        before[order[again + 1]] = edges[order[again]]
        self._before[edges] = before
        self._last[child] = edges  # numpy stores the last of several edges to one child
        self._chained = self._size

    def parents(self, row: int) -> Rows:
        """Return the rows that link to a row, in order of discovery."""
        return self._parent[self.into(row)]

    def leaving(self, rows: Rows) -> NDArray[np.int64]:
        """Return the edges of some rows, row by row, as indices of the edge columns."""
        count = self.out_degree(rows)
        first = fit(self._first, 1 + int(rows.max(initial=0)))[rows]
        if self._later:
            return np.concatenate([np.zeros(0, np.int64), *(self._own(row) for row in rows.tolist())])
        ends = np.cumsum(count, dtype=np.int64)
        return np.arange(ends[-1] if len(ends) else 0) + np.repeat(first - ends + count, count)

    def out_degree(self, rows: Rows) -> NDArray[np.int32]:
        """Return the number of links of each row; 0 if not visited."""
        return fit(self._count, 1 + int(rows.max(initial=0)))[rows]

    def _own(self, row: int) -> NDArray[np.int64]:
        if row >= len(self._count):
            return np.zeros(0, np.int64)
        later = self._later.get(row, [])
        begin, count = int(self._first[row]), int(self._count[row]) - sum(map(len, later))
        return np.concatenate([np.arange(begin, begin + count), *later])
