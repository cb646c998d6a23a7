"""Best-first: a link is worth what its page and its anchor say; and best-first by the handful."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lycosa.core.columns import learned
from lycosa.core.state import State, plain, put_back
from lycosa.core.table import Table
from lycosa.core.types import Rows, Scores, Step
from lycosa.strategies.parents import Merge, Parents, SaidByParents


@dataclass
class BestFirst(SaidByParents):
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

    page: float = 0.5
    anchor: float = 0.5
    merge: Merge = "max"
    priority_: Parents = learned()

    def __post_init__(self) -> None:
        if min(self.page, self.anchor) < 0 or self.page + self.anchor <= 0:
            raise ValueError(
                f"page={self.page:g} and anchor={self.anchor:g} are weights: give none below 0, and not both 0"
            )
        self.priority_ = Parents(self.merge)

    def learn(self, step: Step, table: Table) -> Rows:
        priority = self.page * step.visit.beta + self.anchor * step.alphas.astype(np.float64)
        return self.priority_.tell(step, table, priority)

    def state(self) -> State:
        return plain(self.priority_)

    def restore(self, state: State) -> None:
        put_back(self.priority_, state)

    def leave(self, rows: Rows, table: Table) -> dict[str, NDArray[Any]]:
        return self.priority_.leave(rows, table)

    def join(self, rows: Rows, known: Mapping[str, NDArray[Any]], table: Table) -> None:
        self.priority_.join(rows, known, table)

    def said(self, step: Step) -> dict[str, Scores | float]:
        return {"its page": self.page * step.visit.beta, "the anchor": self.anchor * step.alphas.astype(np.float64)}


@dataclass
class NBestFirst(BestFirst):
    """Take the `n` best links, fetch them all, and only then rank again: best-first that looks up less often.

    The priorities are those of best-first, page * beta(parent) + anchor * alpha(link), merged over parents. What is
    different is when a new priority counts: the frontier is ranked again after every `n` pages (`batch`). With n = 1
    it is best-first. A larger n explores more: a single good page can't pull the whole crawl after it.

    Paper: Batsakis 2007, section 2.3. They leave n open; ours is 8, a parameter.

    >>> NBestFirst(n=32).batch
    32
    """

    n: int = 8

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.n < 1:
            raise ValueError(f"n={self.n} pages at a time: take 1 or more")

    @property
    def batch(self) -> int:
        """After how many pages the frontier is ranked again."""
        return self.n
