"""The crawl loop on an index: the strategies, frontiers and tables of a real crawl, without waiting.

`simulate` looks up precomputed judgements, or runs a judge that learns. Its picks equal the engine's on the recorded
pages (asserted by tests), except for ties within rounding: precomputed judgements add up words in another order than a
crawl.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from time import process_time
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lycosa.core.budget import EXHAUSTED, PAGES_SPENT
from lycosa.core.columns import fit
from lycosa.core.errors import InputError
from lycosa.core.frontier import Frontier
from lycosa.core.protocols import Strategy, TrapFilter
from lycosa.core.spilled_rows import SpilledRows, spillable_estimator
from lycosa.core.table import OPEN, Table
from lycosa.core.types import Rows, Step, Visit
from lycosa_lab.corpus_index import CorpusIndex
from lycosa_lab.judgements import Judgements
from lycosa_lab.learning_judges import LearningJudgements, TrialJudge


@dataclass
class Trace:
    """Nodes fetched by a crawl in order, seeds first; all measures are computed from it."""

    nodes: NDArray[np.int32]
    seeds: int  # number of leading seeds, which are never counted
    ending: str = ""
    seconds: float = 0.0  # CPU time of all steps except the judge; not part of the result
    arms: list[str] = field(default_factory=list)  # for a bandit, the arm that chose each node

    @property
    def found(self) -> NDArray[np.int32]:
        return self.nodes[self.seeds :]


def simulate(
    guide: Judgements | LearningJudgements,
    strategy: Strategy,
    seeds: Sequence[int],
    budget: int,
    *,
    seen: NDArray[np.bool_] | None = None,
    memory_rows: int = 0,
) -> Trace:
    """Crawl from the seeds until `budget` further nodes are fetched or none is left.

    Nodes marked `seen` (used for training) are fetched without using the budget. `memory_rows` limits the rows in
    memory; the others are spilled as in a crawl (core/spilled_rows.py); 0: no limit.
    """
    for node in seeds:
        if not 0 <= node < len(guide.index):
            raise InputError("out-of-range", f"seed {node} must be a node from 0 to {len(guide.index) - 1}")
    distinct = len(set(seeds))
    table, judge = IndexedTable(guide.index), guide.begin(seeds, strategy.wants)
    table.stems = judge.words
    frontier = strategy.frontier(table, lambda host_key: (0.0, ""), 0, 300.0, 0.0)
    trap_filter = TrapFilter()
    estimator = spillable_estimator(strategy, frontier, trap_filter) if memory_rows else None
    spilled = SpilledRows(memory_rows, table, frontier, estimator, trap_filter) if estimator is not None else None
    for node in seeds:
        strategy.admit(table.seed(node), table, frontier)
    fetched: list[int] = []
    arms: list[str] = []
    left, ending = budget + distinct, PAGES_SPENT
    pages, named = frontier.queue(0), hasattr(strategy, "arms")
    began = process_time()
    while left > 0:
        row, arm, score = strategy.pick(len(fetched) + 1, frontier, 0.0)
        if row < 0:
            ending = EXHAUSTED
            break
        node = table.node_at.item(row)
        step = table.visited(judge.visit(node, len(fetched) + 1, arm, score), row, judge.link_relevances(node))
        pages.pages += 1
        strategy.learn(step, table, frontier)
        frontier.untake(row)
        if spilled is not None:
            spilled.settle()
        fetched.append(node)
        if isinstance(judge, TrialJudge):
            _apply_update(judge, strategy, fetched, table, frontier)
        if named:
            arms.append(arm)
        if seen is None or not seen[node] or len(fetched) <= distinct:
            left -= 1
    seconds = process_time() - began - judge.seconds
    return Trace(np.array(fetched, np.int32), min(distinct, len(fetched)), ending, seconds, arms)


def _apply_update(
    judge: TrialJudge, strategy: Strategy, fetched: list[int], table: IndexedTable, frontier: Frontier
) -> None:
    relevances_now, reconsider = judge.apply_update(), getattr(strategy, "reconsider", None)
    if relevances_now is not None and reconsider is not None:
        reconsider(table.row_at[fetched].astype(np.int32), relevances_now, table, frontier)


_NONE = np.array(0)  # numpy compares with an array twice as fast as with a plain number


class IndexedTable(Table):
    """Crawl table whose nodes are the numbers of an index, so that resolving links is an array access."""

    def __init__(self, index: CorpusIndex) -> None:
        super().__init__()
        self.index = index
        self.row_at: NDArray[np.intp] = np.full(len(index), -1, np.intp)  # row of each node of the index, or -1
        self.node_at: NDArray[np.int32] = np.zeros(1024, np.int32)  # node of each row
        self._start, self._child = index.columns["child_start"], index.columns["child"]
        self.size = 0
        self.nodes = IndexedNodes(self)  # type: ignore[assignment]
        self.stems = index.stems
        self.hosts, self.host_number = [""], {"": 0}

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

    def visited(self, visit: Visit, row: int, link_relevances: NDArray[np.float32]) -> Step:
        """Close the row of a visit and add its children; `link_relevances` has one value per child."""
        node = self.node_at.item(row)
        self.close(row)
        targets = self._child[self._start.item(node) : self._start.item(node + 1)].astype(np.intp)
        children = self.row_at[targets]
        if self.spilled is not None and self.spilled.count and len(away := np.flatnonzero(children < -1)):
            names = [b"%d" % target for target in targets[away].tolist()]
            children[away] = np.array(self.spilled.recall(children[away].tolist(), names), np.intp)
        if len(targets):
            new = (children < _NONE).nonzero()[0]
            if len(new):
                children[new] = self._add(targets[new], self.depth.item(row) + 1, row)
            self._update_sums(row, children, link_relevances, visit.relevance)
        return IndexedStep(visit, row, children, link_relevances, node, self.index)

    def _add(self, nodes: NDArray[np.intp], depth: int, parent: int) -> Rows:
        begin, end = self.size, self.size + len(nodes)
        if self._vacant:
            rows = self._vacant_rows(len(nodes)).astype(np.intp)
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

    def _append_row(self) -> None:
        self.size += 1

    def name(self, row: int) -> bytes:
        return b"%d" % self.node_at.item(row)

    def put_aside(self, rows: Rows, names: list[bytes], numbers: NDArray[np.int32]) -> None:
        self.row_at[[int(name) for name in names]] = numbers
        self._vacate(rows)

    def take_back(self, names: list[bytes], keys: NDArray[np.uint64]) -> Rows:
        rows, nodes = self._vacant_rows(len(names)), [int(name) for name in names]
        self.node_at[rows], self.row_at[nodes] = nodes, rows
        return rows


class IndexedStep(Step):
    __slots__ = ("_index", "_node")

    def __init__(
        self,
        visit: Visit,
        row: int,
        children: Rows,
        link_relevances: NDArray[np.float32],
        node: int,
        index: CorpusIndex,
    ) -> None:
        self.visit, self.row, self.children = visit, row, children
        self.link_relevances, self.is_inbound = link_relevances, False
        self._node, self._index = node, index

    @property
    def of_link(self) -> Rows:  # type: ignore[override]
        slots = self._index.link_slot
        if not len(slots):
            return self.children
        start = self._index.link_start
        rows: Rows = self.children[slots[start[self._node] : start[self._node + 1]]]
        return rows

    def strongest(self, column: NDArray[Any]) -> NDArray[Any]:
        return self._index.strongest(self._node, column)


class IndexedNodes(Sequence[str]):
    def __init__(self, table: IndexedTable) -> None:
        self._table = table

    def __len__(self) -> int:
        return self._table.size

    def __getitem__(self, row: Any) -> Any:
        if isinstance(row, slice):
            return [self[at] for at in range(*row.indices(len(self)))]
        return self._table.index.names[int(self._table.node_at[row])]
