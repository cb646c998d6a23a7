"""Which rows to score again: those that look best, and a few of the others in turn."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from lycosa.core.columns import fit
from lycosa.core.table import OPEN, Table
from lycosa.core.types import Scores

TOP, SLICE = 64, 32
PERIOD, ROWS_A_PAGE = 16, 4096
"""All scores are looked through after every 16 pages, or with many rows after one page for every 4,096."""


class Elite:
    """The scores that rows had last, and the best rows by them. A fold over what was scored, and nothing else."""

    def __init__(self) -> None:
        self.score = np.zeros(1024, np.float32)
        self._best: NDArray[np.intp] = np.zeros(0, np.intp)
        self._cursor = 0
        self._pages = 0

    def fit(self, rows: int) -> None:
        """Room for so many rows."""
        self.score = fit(self.score, rows)

    def due(self, table: Table) -> NDArray[np.intp]:
        """The best rows, and the next slice of all rows."""
        n = len(table)
        begin = self._cursor if self._cursor < n else 0
        self._cursor = begin + SLICE
        self._pages += 1
        if self._pages >= max(PERIOD, n // ROWS_A_PAGE):
            self._pages = 0
            self._best = _best(np.where(table.state[:n] == OPEN, self.score[:n], -math.inf))
        return np.concatenate([self._best, np.arange(begin, min(n, begin + SLICE))])

    def note(self, rows: NDArray[np.intp], scores: Scores) -> None:
        """The rows were scored, all that were the best among them."""
        self.score[rows] = scores
        self._best = rows[_best(self.score[rows])]


def _best(scores: NDArray[np.float32]) -> NDArray[np.intp]:
    """Where the highest scores are, in no order."""
    n = len(scores)
    return scores.argpartition(n - TOP)[n - TOP :] if n > TOP else np.arange(n)
