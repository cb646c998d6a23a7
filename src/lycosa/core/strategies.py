"""A strategy decides which row to take, given what its estimator thinks of them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

import numpy as np

from lycosa.core.frontier import Frontier, Ready
from lycosa.core.protocols import Estimator, Strategy
from lycosa.core.types import Pick, Step

if TYPE_CHECKING:
    from lycosa.core.table import Table


class Greedy:
    """Always the row with the highest score among the lanes that are ready (Gouriten et al. 2014, strategy 1)."""

    def __init__(self, estimator: Estimator, name: str = "") -> None:
        self.estimator = estimator
        self.name = name
        self.proportional = bool(getattr(estimator, "proportional", False))
        self.wants: tuple[str, ...] = tuple(getattr(estimator, "wants", ()))

    def frontier(
        self, table: Table, ready: Ready, lane_budget: int = 0, patience: float = 300.0, choosy: float = 0.0
    ) -> Frontier:
        """Heaps, one for each lane."""
        return Frontier(table, ready, lane_budget, patience, choosy)

    def learn(self, step: Step, table: Table, frontier: Frontier) -> None:
        """Let the estimator see a visit, and rank the rows it says have changed."""
        rows = self.estimator.learn(step, table)
        if len(rows):
            frontier.rank(rows, self.estimator.score(rows, table))

    def admit(self, row: int, table: Table, frontier: Frontier) -> None:
        """A seed joins the frontier."""
        rows = np.array([row], np.int32)
        frontier.rank(rows, self.estimator.score(rows, table))

    def pick(self, number: int, frontier: Frontier, now: float) -> Pick:
        """The best row, if any is ready."""
        row = frontier.take(now)
        return Pick(row, self.name, float(frontier.score[row]) if row >= 0 else 0.0)


def steer(
    estimator: Estimator,
    name: str = "",
    seed: int = 0,
    *,
    batch: int = 1,
    q: float = 1.0,
    zeta: float = 0.0,
    ties: Literal["first", "random"] = "first",
) -> Strategy:
    """Greedy over an estimator, or one of its variants."""
    return Greedy(estimator, name)
