"""Best-first: a link is worth what its page and its anchor say."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from lycosa.core.columns import fit
from lycosa.core.table import Table
from lycosa.core.types import Rows, Scores, Step

Merge = Literal["max", "sum", "mean", "last"]


@dataclass
class BestFirst:
    """priority = page * beta(parent) + anchor * alpha(link); with .5 and .5 it's Batsakis' equation 7.

    `page=1, anchor=0` orders by page, `page=0, anchor=1` by anchor. A URL found on several pages takes the `max` over
    them (the paper leaves it open); `sum`, `mean` and `last` are there too, `sum` being Gouriten's fl_ family.

    Paper: Batsakis 2007, section 3.2, equation 7.

    >>> from lycosa.core.types import Links, Visit
    >>> table = Table(); _ = table.add_seed("a")
    >>> visit = Visit("a", "page", "ok", pick=1, beta=.8, links=Links.to("b"))
    >>> visit.links.alphas[:] = .4
    >>> best = BestFirst()
    >>> best.score(best.learn(table.absorb(visit), table), table).round(3).tolist()     # (.8 + .4) / 2
    [0.6]
    """

    proportional: ClassVar[bool] = True

    page: float = 0.5
    anchor: float = 0.5
    merge: Merge = "max"
    priority_: NDArray[np.float64] = field(default_factory=lambda: np.zeros(0), repr=False, compare=False)
    parents_: NDArray[np.float64] = field(default_factory=lambda: np.zeros(0), repr=False, compare=False)

    def learn(self, step: Step, table: Table) -> Rows:
        """Merge what this parent says into what the others said."""
        self.priority_ = fit(self.priority_, len(table))
        self.parents_ = fit(self.parents_, len(table))
        rows = step.children
        if step.visit.kind == "redirect":  # the target inherits what was said of the source
            value, parents = np.full(len(rows), self.priority_[step.row]), self.parents_[step.row]
        else:
            value, parents = self.page * step.visit.beta + self.anchor * step.alphas.astype(np.float64), 1.0
        if self.merge == "max":
            self.priority_[rows] = np.maximum(self.priority_[rows], value)
        elif self.merge == "last":
            self.priority_[rows] = value
        else:
            self.priority_[rows] += value
        self.parents_[rows] += parents
        return rows

    def score(self, rows: Rows, table: Table) -> Scores:
        """The merged priority; 0 for a row nobody has linked to."""
        priority = fit(self.priority_, len(table))[rows]
        if self.merge == "mean":
            priority = priority / np.maximum(fit(self.parents_, len(table))[rows], 1.0)
        return priority
