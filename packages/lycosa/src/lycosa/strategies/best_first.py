"""Best-first: rank links by their page and anchor; and a variant that ranks in batches."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lycosa.core.columns import learned
from lycosa.core.state import State, restore_attributes, state_of_attributes
from lycosa.core.table import Table
from lycosa.core.types import Rows, Step
from lycosa.strategies.parents import Merge, MergedPriorities, PriorityFromParents


@dataclass
class BestFirst(PriorityFromParents):
    """Best-first: priority = page * beta(parent) + anchor * alpha(link); with .5 and .5 this is Batsakis' equation 7.

    `page=1, anchor=0` orders by page, `page=0, anchor=1` by anchor. A URL found on several pages gets the `max` of its
    priorities (the paper leaves it open); `sum`, which Gouriten's fl_ family uses, `mean` and `last` are available.

    Paper: Batsakis 2007, section 3.2, equation 7.

    >>> from lycosa.core.types import Links, Visit
    >>> table = Table(); _ = table.add_seed("a")
    >>> visit = Visit("a", "page", "ok", pick=1, relevance=.8, links=Links.to("b"))
    >>> visit.links.link_relevances[:] = .4
    >>> best = BestFirst()
    >>> best.priority(best.learn(table.absorb(visit), table), table).round(3).tolist()     # (.8 + .4) / 2
    [0.6]
    """

    page: float = 0.5
    anchor: float = 0.5
    merge: Merge = "max"
    priority_: MergedPriorities = learned()

    def __post_init__(self) -> None:
        if min(self.page, self.anchor) < 0 or self.page + self.anchor <= 0:
            raise ValueError(
                f"'page' is {self.page:g} and 'anchor' {self.anchor:g}: both must be 0 or more, and at least one "
                "above 0"
            )
        self.priority_ = MergedPriorities(self.merge)

    def learn(self, step: Step, table: Table) -> Rows:
        priority = self.page * step.visit.relevance + self.anchor * step.link_relevances.astype(np.float64)
        return self.priority_.update(step, table, priority)

    def state(self) -> State:
        return state_of_attributes(self.priority_)

    def restore(self, state: State) -> None:
        restore_attributes(self.priority_, state)

    def leave(self, rows: Rows, table: Table) -> dict[str, NDArray[Any]]:
        return self.priority_.leave(rows, table)

    def join(self, rows: Rows, known: Mapping[str, NDArray[Any]], table: Table) -> None:
        self.priority_.join(rows, known, table)


@dataclass
class NBestFirst(BestFirst):
    """Best-first that fetches the `n` best links before it ranks the frontier again.

    Priorities are those of best-first: page * beta(parent) + anchor * alpha(link), merged over parents; only the
    ranking waits for `n` pages (`batch`). n = 1 is best-first. A larger n explores more: a single good page can't
    redirect the whole crawl.

    Paper: Batsakis 2007, section 2.3, which leaves n open; the default of 8 is ours.
    """

    n: int = 8

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.n < 1:
            raise ValueError(f"'n' is {self.n} pages at a time: it must be 1 or more")

    @property
    def batch(self) -> int:
        return self.n
