"""The loop on an index: the same strategies, frontiers and columns as a real crawl, and nothing that waits.

`simulate` looks up what a guide has said of all pages, or asks one that learns as the crawl goes. It picks what the
engine picks on the recorded pages (tests say so), as far as pages that score the same still do in the last digit: a
judge that looks things up adds words up in another order than that in which the crawl met them.

Paper items:
    gouriten-crawl-sequence: `lycosa lab run`. Test:
        lab/test_lab_simulation.py::test_nodes_are_fetched_as_the_engine_would.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from time import process_time

import numpy as np
from numpy.typing import NDArray

from lycosa.core.budget import EXHAUSTED, PAGES_SPENT
from lycosa.core.cold import Cold, cooling
from lycosa.core.errors import InputError
from lycosa.core.frontier import Frontier
from lycosa.core.protocols import Strategy, Warden
from lycosa.lab.guides import Guide
from lycosa.lab.index import Index
from lycosa.lab.learning import Guiding, LearningGuide
from lycosa.lab.table import IndexedTable


@dataclass
class Trace:
    """What a run fetched, in order: nodes of the index, the seeds first. What is measured is measured on this."""

    nodes: NDArray[np.int32]
    seeds: int
    """How many of them are seeds: fetched first, never counted."""
    ending: str = ""
    seconds: float = 0.0
    """Of CPU that all steps took together, without those of the judge. No part of the result: it differs."""
    arms: list[str] = field(default_factory=list)
    """For a bandit, the arm that chose each node."""

    @property
    def found(self) -> NDArray[np.int32]:
        return self.nodes[self.seeds :]


def simulate(
    guide: Guide | LearningGuide,
    strategy: Strategy,
    seeds: Sequence[int],
    budget: int,
    *,
    seen: NDArray[np.bool_] | None = None,
    tell: Callable[[int], None] | None = None,
    hot: int = 0,
) -> Trace:
    """Crawl from the seeds until `budget` further nodes are fetched, or none is left.

    Nodes that are `seen` (a guide was trained on them) are fetched like any other, but cost nothing of the budget.
    `hot` is how many rows are kept in memory, those on disk being as in a crawl (core/cold.py); 0: all.

    >>> from lycosa.estimators import strategy
    >>> index = Index.of({"a": ["b", "c"], "b": ["d"], "c": ["e"]}, score={"c": 1, "e": 1}, alpha={("a", "c"): 1})
    >>> trace = simulate(Guide.given(index), strategy("fl_e"), [0], budget=2)
    >>> [index.names[node] for node in trace.found]
    ['c', 'b']
    """
    distinct = _distinct(guide.index, seeds)
    table, guiding = IndexedTable(guide.index), guide.begin(seeds, strategy.wants)
    table.stems = guiding.words
    frontier = strategy.frontier(table, ready, 0, 300.0, 0.0)
    warden = Warden()
    part = cooling(strategy, frontier, warden) if hot else None
    cold = Cold(hot, table, frontier, part, warden) if part is not None else None
    for node in seeds:
        strategy.admit(table.seed(node), table, frontier)
    fetched: list[int] = []
    arms: list[str] = []
    left, ending = budget + distinct, PAGES_SPENT
    pages, named = frontier.lane(0), hasattr(strategy, "arms")
    began = process_time()
    while left > 0:
        row, arm, score = strategy.pick(len(fetched) + 1, frontier, 0.0)
        if row < 0:
            ending = EXHAUSTED
            break
        node = table.node_at.item(row)
        step = table.visited(guiding.visit(node, len(fetched) + 1, arm, score), row, guiding.alphas(node))
        pages.pages += 1
        strategy.learn(step, table, frontier)
        frontier.untake(row)
        if cold is not None:
            cold.settle()
        fetched.append(node)
        if isinstance(guiding, Guiding):
            _teach(guiding, strategy, fetched, table, frontier)
        if named:
            arms.append(arm)
        if seen is None or not seen[node] or len(fetched) <= distinct:
            left -= 1
        if tell is not None and not len(fetched) & 1023:
            tell(len(fetched))
    seconds = process_time() - began - guiding.seconds
    return Trace(np.array(fetched, np.int32), min(distinct, len(fetched)), ending, seconds, arms)


def _teach(guiding: Guiding, strategy: Strategy, fetched: list[int], table: IndexedTable, frontier: Frontier) -> None:
    """Let the judge learn from the pages so far, and the strategy hear of it if it wants to."""
    worths, reconsider = guiding.teach(), getattr(strategy, "reconsider", None)
    if worths is not None and reconsider is not None:
        reconsider(table.row_at[fetched].astype(np.int32), worths, table, frontier)


def _distinct(index: Index, seeds: Sequence[int]) -> int:
    """How many seeds there are, each counted once."""
    for node in seeds:
        if not 0 <= node < len(index):
            raise InputError(f"the seed {node} is not a node of the corpus, which has nodes 0 to {len(index) - 1}")
    return len(set(seeds))


def ready(lane: str) -> tuple[float, str]:
    """Nothing has to be waited for."""
    return 0.0, ""
