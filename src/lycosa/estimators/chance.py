"""Random order: what a strategy that knows nothing would get."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from lycosa.core.strategies import GOLDEN, splitmix
from lycosa.core.table import Table
from lycosa.core.types import Rows, Scores, Step


@dataclass
class Random:
    """Each row gets a number drawn from (seed, row): the same seed gives the same crawl, resumed or not.

    >>> Random(seed=1).score(np.array([0, 1]), Table()).round(3).tolist()
    [0.823, 0.687]
    """

    seed: int = 0

    def learn(self, step: Step, table: Table) -> Rows:
        """The links of the page are new."""
        return step.children

    def explain(self, row: int, table: Table) -> dict[str, float]:
        """A number drawn for it."""
        return {"chance": float(self.score(np.array([row], np.int32), table)[0])}

    def score(self, rows: Rows, table: Table) -> Scores:
        """A hash of seed and row (splitmix64), between 0 and 1."""
        x = rows.astype(np.uint64) + np.uint64((self.seed * int(GOLDEN) + 1) % 2**64)
        return splitmix(x * GOLDEN).astype(np.float64) / 2.0**64
