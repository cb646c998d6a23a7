"""Breadth-first: the baseline that asks nothing of the pages.

Paper items:
    batsakis-breadth-first: `--strategy breadth-first`. Test:
        estimators/test_breadth_first.py::test_each_level_is_first_in_first_out.
    gouriten-bfs: `--strategy breadth-first`. Test:
        estimators/test_breadth_first.py::test_it_ranks_as_the_estimator_bfs. Departs: the score is minus the distance,
        which ranks alike.
"""

from __future__ import annotations

from dataclasses import dataclass

from lycosa.core.state import State
from lycosa.core.table import Table
from lycosa.core.types import Rows, Scores, Step


@dataclass
class BreadthFirst:
    """The score is minus the depth; ties go to the row discovered first, so each level is first in, first out.

    The depth is the number of links from the nearest seed, as far as was known when the parent came in: a shorter way
    to a page that has been fetched does not reach its links. A crawl by this strategy, one page at a time, meets every
    page on its shortest way; one that another strategy steers may not, and the depth is then an upper bound.

    Paper: Batsakis 2007, section 3.2 (a queue, first in, first out: the same order); Gouriten et al. 2014, estimator 1,
    whose score 1 / (depth + 1) ranks alike. With `zeta` it would not draw alike: a share of the best is another depth.
    """

    def learn(self, step: Step, table: Table) -> Rows:
        """The links of the page are new, or nearer than was known."""
        return step.children

    def state(self) -> State:
        """It learns nothing that the table does not know."""
        return {}

    def restore(self, state: State) -> None:
        """Nothing to remember."""

    def explain(self, row: int, table: Table) -> dict[str, float]:
        """How far it is from a seed."""
        return {"links from a seed": -float(table.depth[row])}

    def score(self, rows: Rows, table: Table) -> Scores:
        """Nearest to a seed first."""
        return -table.depth[rows].astype(float)
