"""Redirects, for estimators that walk the edges or hand cash along them: a link to a page that moved is a link to
where it moved.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from lycosa.core.columns import column, fit, learned
from lycosa.core.table import Table
from lycosa.core.types import Rows, Step

_STAYS = -1
MOST_ROUNDS = 1000  # more would stall a crawl; far fewer are as good


def check_rounds(iterations: int, period: int) -> None:
    """What estimators that walk all edges again and again, at every `period` visits, are made with."""
    if iterations < 1 or period < 1:
        raise ValueError(f"iterations is {iterations} and period {period}: both must be 1 or more")
    if iterations > MOST_ROUNDS:
        raise ValueError(f"iterations is {iterations}: it must be {MOST_ROUNDS} or fewer")


@dataclass
class Redirects:
    """Where each row ends up. The table's edges lead to the addresses that were linked to; `edges` follows them.

    Two links of one page that end at the same row are two edges. A link that ends at its own page is left out. A page
    that moved keeps the links that it had; one that is back where it was ends there.

    >>> from lycosa.core.types import Links, Visit
    >>> table, redirects = Table(), Redirects()
    >>> _ = table.add_seed("a")
    >>> for visit in (
    ...     Visit("a", "page", "ok", 1, links=Links.to("old")),
    ...     Visit("old", "redirect", "redirect", 2, links=Links.to("new")),
    ... ):
    ...     redirects.learn(table.absorb(visit), table)
    >>> [[table.nodes[row] for row in column] for column in redirects.edges(table)]
    [['a'], ['new']]
    """

    goal_: NDArray[np.int32] = column(np.int32)
    any_: bool = learned(bool)

    def learn(self, step: Step, table: Table) -> None:
        """Note a redirect; other visits say nothing."""
        moves = step.visit.outcome == "redirect" and len(step.children) > 0
        self.any_ |= moves
        if self.any_:
            self.goal_ = fit(self.goal_, len(table), _STAYS)
        if not moves:
            if self.any_ and step.visit.outcome == "ok":
                self.goal_[step.row] = _STAYS
            return
        target = int(step.children[0])
        if self.goal_[target] == step.row:  # a circle: it has to end somewhere
            self.goal_[target] = _STAYS
        end = target if self.goal_[target] == _STAYS else self.goal_[target]
        self.goal_[self.goal_ == step.row] = end
        self.goal_[step.row] = end

    def ends(self, rows: Rows) -> Rows:
        """The row where each one ends up: itself, unless it is a redirect."""
        if not self.any_:
            return rows
        goal = fit(self.goal_, 1 + int(rows.max(initial=0)), _STAYS)[rows]
        stays = goal == _STAYS
        return rows if stays.all() else np.where(stays, rows, goal)

    def edges(self, table: Table) -> tuple[Rows, Rows]:
        """Parent and child of every edge, redirects followed."""
        parent, child = table.edges.parent, table.edges.child
        if not self.any_:
            return parent, child
        child = self.ends(child)
        return parent[child != parent], child[child != parent]
