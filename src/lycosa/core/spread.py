"""New sites before more of the same: what a link promises counts the less, the more pages its host has given.

    score' = score - (1 - (1 + n) ** -spread) * |score|        that is score / (1 + n) ** spread where it is positive

n is the number of pages that were fetched from the link's host, relevant or not: adding up their beta instead found
fewer sites for the same loss of pages. Any estimator can be spread, and within a host the order stays its own.
"""

from __future__ import annotations

from array import array
from typing import TYPE_CHECKING, Any

import numpy as np

from lycosa.core.columns import fit
from lycosa.core.protocols import Estimator
from lycosa.core.table import OPEN
from lycosa.core.types import Rows, Scores, Step

if TYPE_CHECKING:
    from lycosa.core.table import Table

MOST_SPREAD = 4.0
"""Beyond it a second page of a host is worth a sixteenth: nothing is left to be said."""


class Spread:
    """An estimator whose scores are discounted host by host. All else is the estimator's own."""

    def __init__(self, estimator: Estimator, spread: float) -> None:
        self.estimator, self.spread = estimator, spread
        self._number: dict[str, int] = {}
        self._known = 0
        self._host = np.zeros(0, np.int32)
        """Of each row."""
        self._pages = np.zeros(0, np.int32)
        """Of each host."""
        self._rows: list[array[int]] = []
        """Of each host; some may be fetched by now."""

    def __getattr__(self, name: str) -> Any:
        """What the estimator has beside `learn` and `score`. Its reasons add up to less."""
        if name == "estimator":  # not made yet: a copy, say
            raise AttributeError(name)
        found = getattr(self.estimator, name)
        return self._explain if name == "explain" else found

    def learn(self, step: Step, table: Table) -> Rows:
        """The rows that the estimator wants scored again, and after a page those of its host."""
        rows = self.estimator.learn(step, table)
        self._meet(table)
        if not step.visit.is_page:
            return rows
        host = self._host.item(step.row)
        self._pages[host] += 1
        of_host = np.array(self._rows[host], np.int32)
        of_host = of_host[table.state[of_host] == OPEN]
        self._rows[host] = array("i", of_host.tobytes())
        return np.union1d(rows, of_host).astype(np.int32)

    def score(self, rows: Rows, table: Table) -> Scores:
        """What the estimator says, and what is left of it."""
        self._meet(table)
        scores = self.estimator.score(rows, table).astype(np.float64)
        left = (1.0 + self._pages[self._host[rows]]) ** -self.spread
        return scores - (1.0 - left) * np.abs(scores)

    def _explain(self, row: int, table: Table) -> dict[str, float]:
        rows = np.array([row], np.int32)
        lost = self.score(rows, table)[0] - float(self.estimator.score(rows, table)[0])
        terms: dict[str, float] = self.estimator.explain(row, table)  # type: ignore[attr-defined]  # see __getattr__
        return {"spread": lost, **terms}

    def _meet(self, table: Table) -> None:
        """Which hosts new rows are of."""
        begin, self._known = self._known, len(table)
        if begin == self._known:
            return
        self._host = fit(self._host, self._known)
        for row in range(begin, self._known):
            name = table.nodes[row].partition("://")[2].partition("/")[0]
            number = self._number.setdefault(name, len(self._number))
            if number == len(self._rows):
                self._rows.append(array("i"))
            self._rows[number].append(row)
            self._host[row] = number
        self._pages = fit(self._pages, len(self._rows))
