"""Breadth-first: the baseline that asks nothing of the pages."""

from __future__ import annotations

from dataclasses import dataclass

from lycosa.core.table import Table
from lycosa.core.types import Rows, Scores, Step


@dataclass
class BreadthFirst:
    """The score is minus the depth; ties go to the row discovered first, so each level is first in, first out.

    Paper: Batsakis 2007, section 3.1 (and every other paper's baseline).
    """

    def learn(self, step: Step, table: Table) -> Rows:
        """The links of the page are new, or nearer than was known."""
        return step.children

    def score(self, rows: Rows, table: Table) -> Scores:
        """Nearest to a seed first."""
        return -table.depth[rows].astype(float)
