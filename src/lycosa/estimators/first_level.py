"""The first-level neighbourhood: a node is worth what its parents and the links to it say.

Paper items:
    gouriten-fl-deg: `--strategy fl_deg`. Test: estimators/test_first_level.py::test_sums_over_two_parents.
    gouriten-fl-n: `--strategy fl_n`. Test: estimators/test_first_level.py::test_sums_over_two_parents.
    gouriten-fl-e: `--strategy fl_e`. Test: estimators/test_first_level.py::test_sums_over_two_parents.
    gouriten-fl-ne: `--strategy fl_ne`. Test: estimators/test_first_level.py::test_sums_over_two_parents.
    gouriten-log: `--strategy fl_n,smooth=yes`. Test:
        estimators/test_first_level.py::test_the_logarithm_keeps_the_ranking.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np

from lycosa.core.table import Table
from lycosa.core.types import Rows, Scores, Step

FirstKind = Literal["deg", "n", "e", "ne"]

_COLUMN = {"deg": "in_degree", "n": "beta_sum", "e": "alpha_sum", "ne": "product_sum"}


@dataclass
class FirstLevel:
    """A sum over the parents P(v) that have been crawled, by `kind`:

        deg  the number of parents
        n    the sum of beta(u), their relevance
        e    the sum of alpha(u, v), the promise of their links
        ne   the sum of beta(u) * alpha(u, v)

    With `smooth` the score is log(1 + x). As the logarithm keeps the order, a greedy crawl is the same with and without
    it; it matters where scores are compared in size, as by a regression or when a crawl waits for a better host.

    The sums are columns of the table, so this one costs nothing but the logarithms: 4 us a page with 30 links.

    Paper: Gouriten, Maniu, Senellart 2014, section 7.2, estimator 4.

    >>> from lycosa.core.types import Links, Visit
    >>> table = Table(); _ = table.add_seed("u")
    >>> visit = Visit("u", "page", "ok", pick=1, beta=.5, links=Links.to("v"))
    >>> fl_n = FirstLevel("n", smooth=False)
    >>> fl_n.score(fl_n.learn(table.absorb(visit), table), table).tolist()
    [0.5]
    """

    kind: FirstKind
    smooth: bool = True

    def __post_init__(self) -> None:
        if self.kind not in _COLUMN:
            raise ValueError(f"kind is {self.kind!r}: it has to be {', '.join(_COLUMN)}")

    @property
    def proportional(self) -> bool:
        """The number of parents knows nothing of the topic: twice as many don't promise twice as much."""
        return self.kind != "deg"

    def learn(self, step: Step, table: Table) -> Rows:
        """The links of the page have one parent more; the target of a redirect has those of its source."""
        return step.children

    def score(self, rows: Rows, table: Table) -> Scores:
        """The sum, or its logarithm; 0 for a row nobody has linked to."""
        sums: Scores = getattr(table, _COLUMN[self.kind])[rows].astype(np.float64)
        return np.log1p(sums) if self.smooth else sums
