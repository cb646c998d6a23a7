"""Which rows to score again: those that look best, and a few of the others in turn."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lycosa.core.columns import distinct, fit
from lycosa.core.table import OPEN, Table
from lycosa.core.types import Rows, Scores

TOP, SLICE = 64, 32
PERIOD, ROWS_A_PAGE = 16, 4096
"""All scores are looked through after every 16 pages, or with many rows after one page for every 4,096."""


NOTICEABLE = 0.01
"""A row whose score has changed by less keeps the one it has: the best rows change a little with every page."""

PATIENCE = 128
"""Pages after which a row that is among the best, and was not fetched all the while, makes room for others: it is held
back as a likely trap, or its host is not to be had. It is scored again with its neighbours, and in its turn."""


_EVER = np.iinfo(np.int32).max

FOREMOST = 8192
"""Rows that are scored again when all scores have changed at once."""


class Elite:
    """The scores that rows had last, and the best rows by them. A fold over what was scored, and nothing else."""

    def __init__(self) -> None:
        self.score = np.zeros(1024, np.float32)
        self._until = np.full(1024, _EVER, np.int32)
        """Of each row that was ever among the best: the page after which it no longer is."""
        self._best: NDArray[np.intp] = np.zeros(0, np.intp)
        self._cursor = 0
        self._pages = 0
        self._next = PERIOD

    def fit(self, rows: int) -> None:
        """Room for so many rows."""
        self.score, self._until = fit(self.score, rows), fit(self._until, rows, _EVER)

    def leave(self, rows: Rows) -> dict[str, NDArray[Any]]:
        """The scores of rows, which are none any more."""
        known: dict[str, NDArray[Any]] = {"score": self.score[rows], "until": self._until[rows]}
        self.score[rows], self._until[rows] = 0.0, _EVER
        self._best = self._best[~np.isin(self._best, rows)]
        return known

    def join(self, rows: Rows, known: Mapping[str, NDArray[Any]]) -> None:
        """They had these scores."""
        self.score[rows], self._until[rows] = known["score"], known["until"]

    def due(self, table: Table) -> NDArray[np.intp]:
        """The best rows, and the next slice of all rows."""
        n = len(table)
        begin = self._cursor if self._cursor < n else 0
        self._cursor = begin + SLICE
        self._pages += 1
        if self._pages >= self._next:
            self._next = self._pages + max(PERIOD, n // ROWS_A_PAGE)
            hopeful = self.hopeful(table)
            self._best = hopeful.take(_best(self.score.take(hopeful)))
        return np.concatenate([self._best, np.arange(begin, min(n, begin + SLICE))])

    def hopeful(self, table: Table) -> NDArray[np.intp]:
        """The open rows, less those that were among the best for long and not fetched."""
        n = len(table)
        rows: NDArray[np.intp] = ((table.state[:n] == OPEN) & (self._until[:n] > self._pages)).nonzero()[0]
        return rows

    def foremost(self, table: Table) -> NDArray[np.intp]:
        """The open rows with the highest scores, in order of rows: all, unless there are very many."""
        rows = table.rows().astype(np.intp)
        if len(rows) > FOREMOST:
            rows = np.sort(rows[self.score[rows].argpartition(len(rows) - FOREMOST)[len(rows) - FOREMOST :]])
        return rows

    def note(self, rows: NDArray[np.intp], scores: Scores, told: NDArray[np.intp]) -> NDArray[np.intp]:
        """The rows were scored, all that were the best among them; returned are those whose score is another one now.

        The rows are sorted. Those that are `told` are among them, however little has changed.
        """
        changed = np.abs(scores - self.score.take(rows)) > NOTICEABLE
        changed[rows.searchsorted(told)] = True
        places = changed.nonzero()[0]
        self.score[rows.take(places)] = scores.take(places)
        hopeful = rows[self._until.take(rows) > self._pages]
        self._best = hopeful.take(_best(self.score.take(hopeful)))
        self._until[self._best] = np.minimum(self._until.take(self._best), self._pages + PATIENCE)
        return rows.take(places)

    def admit(self, rows: NDArray[np.intp], scores: Scores) -> NDArray[np.intp]:
        """The rows were scored, and no others: those that are good enough are among the best from now on."""
        self.score[rows] = scores
        both = distinct(np.concatenate([self._best, rows]))
        hopeful = both[self._until.take(both) > self._pages]
        self._best = hopeful.take(_best(self.score.take(hopeful)))
        self._until[self._best] = np.minimum(self._until.take(self._best), self._pages + PATIENCE)
        return rows


def _best(scores: NDArray[np.float32]) -> NDArray[np.intp]:
    """Where the highest scores are, in no order."""
    n = len(scores)
    return scores.argpartition(n - TOP)[n - TOP :] if n > TOP else np.arange(n)
