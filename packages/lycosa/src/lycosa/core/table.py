"""The table of all nodes ever seen: one row each, columns that every estimator shares, and the crawled edges.

Columns are arrays that grow by doubling, so `table.relevance_sum[rows]` is a plain array access. Rows are numbered in
the order of discovery, which is also the order in which ties are broken. All of it is a fold over the log.
"""

from __future__ import annotations

from array import array
from collections.abc import Callable, Mapping, Set
from itertools import repeat
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from lycosa.core.columns import fit
from lycosa.core.nodes import Known, Nodes
from lycosa.core.state import State, StateMismatch, Texts, plain, put_back
from lycosa.core.types import InboundLinks, Rows, Step, Visit

if TYPE_CHECKING:
    from lycosa.core.spilled_rows import SpilledRows

OPEN, DONE, VACANT = 0, 1, 2  # open until visited for good; vacant: the node was put aside (cold.py)
MAX_HOPS = 10  # redirects in a row that are followed
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
    "link_relevance_sum": np.float64,
    "relevance_sum": np.float64,
    "product_sum": np.float64,
    "link_relevance_max": np.float64,
    "relevance_max": np.float64,
    "product_max": np.float64,
}

# Over a row's parents; in one matrix, so that an access brings all six.
_SUMS = [name for name, dtype in _COLUMNS.items() if dtype is np.float64]
# From a redirect to its target.
_HANDED_ON = ("in_degree", "link_relevance_sum", "relevance_sum", "product_sum", "link_relevance_max", "relevance_max", "product_max")
# The six of a row as one thing, which numpy copies faster than a line of numbers
_LINE = np.dtype((np.void, 8 * len(_SUMS)))

# Columns of a row that is put aside; seeds and sources never are.
_LEAVING = ("attempts", "hops", "depth", "host", "parent", "in_degree")


class SpilledTable(NamedTuple):
    """Columns of some rows that were put aside, as far as they are needed to say what those are worth by now."""

    in_degree: NDArray[np.int32]
    link_relevance_max: NDArray[np.float64]
    hops: NDArray[np.uint8]


_NO_ROWS, _NO_ALPHAS = np.zeros(0, np.intp), np.zeros(0, np.float32)


class Table:
    """Rows and edges. `scope` says which nodes may join, `host_key` which host a node belongs to."""

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
        self.row_of = Known(self.nodes)
        self.hosts: list[str] = []
        self.host_number: dict[str, int] = {}
        self.open_rows = 0  # with the cold ones
        self.discovered = 0  # nodes ever seen, with the cold ones
        self.spilled: SpilledRows | None = None  # puts rows aside
        self.renewed: list[int] = []  # once vacant rows with a new node, which the warden has not seen yet
        self._vacant: list[int] = []
        self._age: NDArray[np.int32] | None = None
        self.closed = array("i")  # rows visited for good, in that order
        self.edges = LinkEdges()
        # The words of all visits, by number; probes, which no estimator sees, number words too.
        self.stems: list[str] = []
        self._capacity = 1024
        for name, dtype in _COLUMNS.items():
            if name not in _SUMS:
                setattr(self, name, np.zeros(self._capacity, dtype))
        self._stand(np.zeros((self._capacity, len(_SUMS))))

    def __len__(self) -> int:
        return len(self.nodes)

    def add(self, node: str, depth: int, parent: int = -1, *, source: bool = False) -> int:
        """The node's row, made if it is new; -1 if it is out of scope. A source is no page: what it names is scoped."""
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
        """A node to start from: depth 0, taken before everything else; a page already known stays as it is.

        A source is no page but a list of addresses: a sitemap, a feed; one that another source names has a parent.
        """
        row = self.add(node, 0, parent, source=source)
        if row >= 0 and self.state[row] == OPEN:
            self.is_seed[row] = True
            self.is_source[row] |= source  # one that turns out to be a page is read as a page
            self.depth[row] = 0
        return row

    def absorb(self, visit: Visit) -> Step | None:
        """Fold a visit of a node: close its row (or leave it open for a retry), let its links join.

        None for a visit that isn't of a row (robots.txt and other errands). Of a page that was visited before, only
        the links that are new join; None if there are none.
        """
        self.stems += visit.terms.new
        if visit.kind not in ("page", "redirect", "sitemap", "revisit"):
            return None
        if visit.follows and visit.outcome not in ("ok", "redirect"):  # it has no new links
            return None
        row = self.row_of.get(visit.node, -1)
        if row < 0 and visit.kind == "sitemap":  # a file's, which no one has to fetch
            row = self.add_seed(visit.node, source=True)
        if row < 0:  # an event from another scope than the present one
            return None
        again = self.state[row] == DONE
        if visit.retry_at:
            self.attempts[row] = min(255, visit.attempt)
        elif not again:
            self.close(row)
        if visit.outcome == "redirect":
            moved = again and any(url in self.row_of for url in visit.links.urls)  # where something is already
            step = Step(visit, row, _NO_ROWS, _NO_ALPHAS) if moved else self._inherit(visit, row)
        else:
            step = self._join(visit, row, set(self.edges.children(row).tolist()) if again else frozenset())
        return step if len(step.children) or not visit.follows else None

    def absorb_inbound(self, inbound: InboundLinks) -> Step:
        """Fold links from a page of another shard: it gets a row, which is closed, and its links join."""
        visit = inbound.visit
        row = self.row_of.get(visit.node, -1)
        if row < 0:
            row = self._new_row(visit.node, inbound.depth, -1)
            self.close(row)
            self.hops[row], self.is_seed[row] = min(inbound.hops, MAX_HOPS), inbound.seed
        if visit.outcome == "redirect":
            for name, value in zip(_HANDED_ON, inbound.sums, strict=False):
                getattr(self, name)[row] = value
            step = self._inherit(visit, row)
        else:
            step = self._join(visit, row, set(self.edges.children(row).tolist()))
        step.is_inbound = True
        return step

    def handed_on(self, row: int) -> list[float]:
        """What a redirect hands on to its target: the number of its parents, sums and maxima over them."""
        return [float(getattr(self, name)[row]) for name in _HANDED_ON]

    def close(self, row: int) -> None:
        """The row has been visited for good."""
        self.state[row] = DONE
        self.open_rows -= 1
        self.closed.append(row)

    def _join(self, visit: Visit, row: int, known: Set[int]) -> Step:
        """The links of a page join: new rows, and sums and maxima over parents brought up to date.

        It is the parent of those in `known` already.
        """
        links = visit.links
        rows = self.row_of.rows(links.urls)
        if None in rows:
            depth = int(self.depth[row]) + 1
            rows = [self.add(url, depth, row) if at is None else at for url, at in zip(links.urls, rows, strict=True)]
        place_of = dict.fromkeys(rows)
        for nobody in (-1, row, *known):
            place_of.pop(nobody, None)
        children = np.fromiter(place_of, np.intp, len(place_of))
        of_link = np.array(rows, np.int32)
        if len(children) < len(rows):
            place_of = dict(zip(place_of, range(len(children)), strict=True))
            places = np.fromiter(map(place_of.get, rows, repeat(-1)), np.intp, len(rows))
            of_link[places < 0] = -1
            places = places[places >= 0]
        else:
            places = np.arange(len(children))
        step = Step(visit, row, children, _NO_ALPHAS, of_link, places)
        step.link_relevances = step.strongest(
            links.link_relevances if len(links.link_relevances) else np.zeros(len(links), np.float32)
        )
        if len(children):
            self._sum_up(row, children, step.link_relevances, visit.relevance)
        return step

    def _sum_up(self, row: int, children: Rows, strongest: NDArray[np.float32], relevance: float) -> None:
        """The children have one parent more: counts, sums and maxima over parents, and the edges to them."""
        self.in_degree[children] += 1
        depth, known = self.depth.item(row) + 1, self.depth[children]
        if known.item(known.argmax()) > depth:  # seldom: most were found from pages no farther away than this one
            self.depth[children] = np.minimum(known, depth)
        if relevance > 0:
            said = np.empty((len(children), 3))
            said[:, 0], said[:, 1] = strongest, relevance
            np.multiply(said[:, 0], relevance, out=said[:, 2])
            lines = self._sums.take(children, axis=0)
            sums, maxima = lines[:, :3], lines[:, 3:]
            np.add(sums, said, out=sums)
            np.maximum(maxima, said, out=maxima)
            self._lines[children] = lines.view(_LINE).ravel()
        elif len(promising := strongest.nonzero()[0]):  # most links of such a page say nothing of the topic
            rows, alpha = children[promising], strongest[promising]
            self.link_relevance_sum[rows] += alpha
            self.link_relevance_max[rows] = np.maximum(self.link_relevance_max[rows], alpha)
        self.edges.add(row, children, strongest, len(self))

    def _inherit(self, visit: Visit, row: int) -> Step:
        """A redirect's target stands in for its source: same depth, same parents' sums, one hop further."""
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
        for name in _HANDED_ON[:4]:
            getattr(self, name)[target] += getattr(self, name)[row]
        for name in _HANDED_ON[4:]:
            column = getattr(self, name)
            column[target] = max(column[target], column[row])
        return Step(visit, row, np.array([target]), visit.links.link_relevances[:1])

    def rows(self) -> Rows:
        """All open rows, but for cold ones."""
        return np.flatnonzero(self.state[: len(self)] == OPEN)

    # -- hot and cold ------------------------------------------------------------------------------------------

    def age(self, rows: Rows) -> NDArray[np.int32]:
        """The numbers of rows in the order of discovery: their own, unless rows have come and gone."""
        return rows.astype(np.int32) if self._age is None else self._age[rows]

    def name(self, row: int) -> bytes:
        """What a row is known by when it is put aside."""
        return self.nodes.text(row)

    def leave(self, rows: Rows, table: Table) -> dict[str, NDArray[Any]]:
        """What is known of rows, which are vacant from now on."""
        if self._age is None:
            self._age = np.arange(self._capacity, dtype=np.int32)
        known = {name: getattr(self, name)[rows] for name in _LEAVING} | {
            "sums": self._sums[rows],
            "age": self._age[rows],
        }
        for name in _LEAVING:
            getattr(self, name)[rows] = 0
        self._sums[rows] = 0.0
        self.state[rows] = VACANT
        self.edges.forget(rows, len(self))
        return known

    @staticmethod
    def aside(known: Mapping[str, NDArray[Any]]) -> SpilledTable:
        """Columns of what was known when rows left."""
        return SpilledTable(known["in_degree"], known["sums"][:, _SUMS.index("link_relevance_max")], known["hops"])

    def put_aside(self, rows: Rows, names: list[bytes], numbers: NDArray[np.int32]) -> None:
        """Rows that are vacant: their nodes are known by these numbers."""
        self.row_of.renumber(self.row_of.keys(names), numbers)
        self._vacate(rows)
        self.nodes.tidy()

    def _vacate(self, rows: Rows) -> None:
        self._vacant = np.sort(np.concatenate([np.array(self._vacant, np.int32), rows]))[::-1].tolist()

    def take_back(self, names: list[bytes], keys: NDArray[np.uint64]) -> Rows:
        """Rows for nodes that were put aside, which have these fingerprints."""
        rows = self._room(len(names))
        for row, name in zip(rows.tolist(), names, strict=True):
            self.nodes.put(row, name)
        self.row_of.renumber(keys, rows)
        return rows

    def _room(self, count: int) -> NDArray[np.int32]:
        """Vacant rows, which are open from now on; new ones where there are not enough."""
        vacant = max(0, len(self._vacant) - count)
        rows = self._vacant[vacant:][::-1]
        del self._vacant[vacant:]
        while len(rows) < count:
            if len(self) == self._capacity:
                self._grow()
            rows.append(len(self))
            self._lengthen()
        found = np.array(rows, np.int32)
        self.state[found] = OPEN
        return found

    def _lengthen(self) -> None:
        """One row more, which has no name yet."""
        self.nodes.append("")

    def join(self, rows: Rows, known: Mapping[str, NDArray[Any]], table: Table) -> None:
        assert self._age is not None
        for name in _LEAVING:
            getattr(self, name)[rows] = known[name]
        self._sums[rows], self._age[rows] = known["sums"], known["age"]

    # -- as a state --------------------------------------------------------------------------------------------

    def as_state(self) -> State:
        """All rows and edges; what others call `state` is a column here."""
        columns = {name: getattr(self, name) for name in _COLUMNS if name not in _SUMS}
        spilled = {} if self._age is None else {"age": self._age}
        return {
            "discovered": self.discovered,
            "spilled": {
                **spilled,
                "vacant": np.array(self._vacant, np.int32),
                "renewed": np.array(self.renewed, np.int32),
            },
            "nodes": self.nodes.state(),
            "known": self.row_of.state(),
            "hosts": Texts(self.hosts),
            "stems": Texts(self.stems),
            "closed": np.array(self.closed, np.int32),
            "columns": columns,
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
        self._vacant, self.renewed, self._age = (
            spilled["vacant"].tolist(),
            spilled["renewed"].tolist(),
            spilled.get("age"),
        )
        if self._age is not None and len(self._age) != self._capacity:
            raise StateMismatch("the order of discovery does not fit")
        for name in _COLUMNS:
            if name not in _SUMS:
                column = state["columns"][name]
                if column.dtype != _COLUMNS[name] or len(column) != self._capacity:
                    raise StateMismatch(f"the column {name} does not fit")
                setattr(self, name, column)
        self._stand(state["sums"])
        self.edges.restore(state["edges"])

    def _grow(self) -> None:
        self._capacity *= 2
        if self._age is not None:
            self._age = fit(self._age, self._capacity)
        for name in _COLUMNS:
            if name not in _SUMS:
                setattr(self, name, fit(getattr(self, name), self._capacity))
        self._stand(fit(self._sums, self._capacity))

    def _stand(self, sums: NDArray[np.float64]) -> None:
        """The six columns are those of this matrix."""
        self._sums = sums
        self._lines = sums.view(_LINE).ravel()
        for place, name in enumerate(_SUMS):
            setattr(self, name, sums[:, place])


# -- edges -------------------------------------------------------------------------------------------------

# The links between rows that have been seen: append-only columns, to be walked from either end.
#
# The links of one page stand together, so its children are a slice; the links to one page are a chain, each naming the
# one before it.

_NONE = -1
GONE = -2  # child of an edge to a row that was put aside


class LinkEdges:
    """Parent, child and alpha of every link, each pair once, however often the parent was visited.

    >>> edges = LinkEdges()
    >>> edges.add(0, np.array([1, 2], np.int32), np.array([.5, 0], np.float32))
    >>> edges.add(2, np.array([1], np.int32), np.array([.25], np.float32))
    >>> edges.children(0).tolist(), edges.parents(1).tolist(), edges.link_relevances(0).tolist()
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
        self.gaps = False  # some children are gone

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

    def add(self, parent: int, children: Rows, link_relevances: NDArray[np.float32], rows: int = 0) -> None:
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
        self._alpha[begin:end] = link_relevances
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

    def link_relevances(self, row: int) -> NDArray[np.float32]:
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
