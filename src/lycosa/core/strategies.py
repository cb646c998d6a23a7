"""A strategy decides which row to take, given what its estimator thinks of them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from lycosa.core.frontier import Frontier
from lycosa.core.protocols import Estimator
from lycosa.core.types import Step

if TYPE_CHECKING:
    from lycosa.core.table import Table


class Greedy:
    """Always the row with the highest score among the lanes that are ready."""

    def __init__(self, estimator: Estimator, name: str = "") -> None:
        self.estimator = estimator
        self.name = name
        self.proportional = bool(getattr(estimator, "proportional", False))
        """Whether twice the score promises twice as much."""

    def learn(self, step: Step, table: Table, frontier: Frontier) -> None:
        """Let the estimator see a visit, and rank the rows it says have changed."""
        rows = self.estimator.learn(step, table)
        if len(rows):
            frontier.rank(rows, self.estimator.score(rows, table))

    def admit(self, row: int, table: Table, frontier: Frontier) -> None:
        """A seed joins the frontier."""
        rows = np.array([row], np.int32)
        frontier.rank(rows, self.estimator.score(rows, table))

    def pick(self, number: int, frontier: Frontier, now: float) -> tuple[int, str]:
        """The row for this pick number (-1: none is ready) and the arm that chose it."""
        return frontier.take(now), self.name
