"""Redirects, for estimators that walk edges: a link to a redirect counts as a link to its target."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from lycosa.core.columns import column, fit, learned
from lycosa.core.table import Table
from lycosa.core.types import Rows, Step

_STAYS = -1
MAX_ITERATIONS = 1000  # more iterations would stall a crawl, and results hardly change after far fewer


def check_iterations(iterations: int, period: int) -> None:
    """Raise ValueError if the iterations or the period of an iterative estimator are out of range."""
    if iterations < 1 or period < 1:
        raise ValueError(f"'iterations' is {iterations} and 'period' {period}: both must be 1 or more")
    if iterations > MAX_ITERATIONS:
        raise ValueError(f"'iterations' is {iterations}: it must be {MAX_ITERATIONS} or fewer")


@dataclass
class Redirects:
    """Final target of each row. The table's edges lead to URLs as linked; `edges` resolves their redirects.

    Two links of a page with the same target are two edges. A link whose target is its own page is dropped. A page that
    moved keeps its links; one that is served at its old URL again is no longer a redirect.
    """

    target_: NDArray[np.int32] = column(np.int32)
    has_redirects_: bool = learned(bool)

    def learn(self, step: Step, table: Table) -> None:
        moves = step.visit.outcome == "redirect" and len(step.children) > 0
        self.has_redirects_ |= moves
        if self.has_redirects_:
            self.target_ = fit(self.target_, len(table), _STAYS)
        if not moves:
            if self.has_redirects_ and step.visit.outcome == "ok":
                self.target_[step.row] = _STAYS
            return
        target = int(step.children[0])
        if self.target_[target] == step.row:  # break the cycle
            self.target_[target] = _STAYS
        end = target if self.target_[target] == _STAYS else self.target_[target]
        self.target_[self.target_ == step.row] = end
        self.target_[step.row] = end

    def ends(self, rows: Rows) -> Rows:
        if not self.has_redirects_:
            return rows
        targets = fit(self.target_, 1 + int(rows.max(initial=0)), _STAYS)[rows]
        stays = targets == _STAYS
        return rows if stays.all() else np.where(stays, rows, targets)

    def edges(self, table: Table) -> tuple[Rows, Rows]:
        parent, child = table.edges.parent, table.edges.child
        if not self.has_redirects_:
            return parent, child
        child = self.ends(child)
        return parent[child != parent], child[child != parent]
