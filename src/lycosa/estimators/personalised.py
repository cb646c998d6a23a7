"""The personalised crawler: first in, first out, and only relevant pages are expanded.

Paper items:
    personalized-queue: `--strategy personalised`. Test: estimators/test_personalised.py::test_first_in_first_out.
        Departs: all fetched pages are archived; the relevant ones are the finds.
    personalized-algorithm: `--strategy personalised`, `--judge word-frequency`. Test:
        estimators/test_personalised.py::test_the_algorithm_line_by_line.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from lycosa.core.columns import column, fit, learned
from lycosa.core.table import Table
from lycosa.core.types import Rows, Scores, Step
from lycosa.estimators.astray import Astray


@dataclass
class Personalised:
    """A queue. The links of a relevant page join its end, links that have joined before are discarded.

    A page is relevant if beta >= threshold; with the judge that counts words this says that the search string occurs.
    The links of irrelevant pages do not join: they are pruned, until a relevant page has them too; then they join, at
    the end. With `levels` above 0 irrelevant pages are followed as well, up to so many in a row. Seeds are always
    fetched, but those that are not relevant lead nowhere. The score is minus the place in the queue.

    Paper: Trivedi et al. 2014, section III, Algorithm, lines 1 to 27; `levels` is the threshold of its section II, 2).
    The paper stores relevant pages only: those are the finds of a crawl; its archive keeps what else was fetched, too.
    As in the paper, one seed without the search string ends the crawl before it has begun: give several, or levels=1.

    >>> from lycosa.core.types import Links, Visit
    >>> table = Table(); _ = table.add_seed("a")
    >>> step = table.absorb(Visit("a", "page", "ok", pick=1, beta=.5, links=Links.to("b", "c")))
    >>> queue = Personalised(threshold=.5)
    >>> queue.score(queue.learn(step, table), table).tolist()
    [-1.0, -2.0]
    """

    levels: int = 0
    threshold: float = 0.1
    joined_: int = learned(int)
    place_: NDArray[np.int64] = column(np.int64)
    astray_: Astray = learned(Astray)

    def __post_init__(self) -> None:
        if self.levels < 0:
            raise ValueError(f"levels={self.levels} irrelevant pages are followed: take 0 or more")

    @property
    def remedy(self) -> str:
        """What to do if it prunes too much."""
        return f"--strategy personalised,levels={self.levels + 1} goes further through pages without the search string."

    def learn(self, step: Step, table: Table) -> Rows:
        """Let the links join that have not."""
        self.place_ = fit(self.place_, len(table))
        rows = step.children
        self.astray_.learn(step, table, relevant=step.visit.beta >= self.threshold)
        outside = rows[(self.place_[rows] == 0) & (self.astray_.of(rows, table) <= self.levels)]
        if step.visit.outcome == "redirect":  # the target stands where its source stood
            self.place_[outside] = self.place_[step.row]
        else:
            self.place_[outside] = np.arange(self.joined_ + 1, self.joined_ + 1 + len(outside))
            self.joined_ += len(outside)
        return rows

    def explain(self, row: int, table: Table) -> dict[str, float]:
        """Its place in the queue."""
        return {"place in the queue": -float(fit(self.place_, len(table))[row])}

    def score(self, rows: Rows, table: Table) -> Scores:
        """First in, first out; PRUNED for what has not joined."""
        places = fit(self.place_, len(table))[rows].astype(np.float64)
        return self.astray_.prune(-places, rows, table, self.levels)
