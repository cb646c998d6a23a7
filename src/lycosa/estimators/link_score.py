"""LinkScore: everything that speaks for a link, added up.

Paper items:
    personalized-link-score: `--strategy link-score`. Test: estimators/test_link_score.py::test_the_sum. Departs: of
        several anchors the best counts: left open.
    personalized-url-optimisation: `--strategy url-optimisation`. Test:
        estimators/test_link_score.py::test_url_optimisation. Departs: a new parent may lift a link again; the
        threshold, 1.1, is ours.
    personalized-url-relevant: `--strategy link-score`. Test:
        estimators/test_link_score.py::test_each_parent_counts_again.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from lycosa.core.columns import column, fit, learned
from lycosa.core.frontier import PRUNED
from lycosa.core.table import Table
from lycosa.core.types import Rows, Scores, Step
from lycosa.estimators.astray import Astray


@dataclass
class LinkScore:
    """LinkScore(u) = URLTextScore(u) + AnchorTextScore(u) + NumberOfParentPages(u) + sum of its parents' relevance.

    The sum as it stands in the paper, computed again for each new parent. The first two are cosines with the topic:
    of the words of the address, and of the anchor (the best anchor, if u has several parents). A topic that does not
    judge addresses gives them 0. Mind the units: a parent counts 1 and more, words at most 1 each, so that after a
    while the number of parents has the say.

    Parameters:
        least    URL optimisation: links whose score is below it are pruned, until a new parent lifts them. As each
                 parent counts 1, a useful number is a little above 1, for instance 1 + the topic's threshold: then a
                 link of a relevant page passes, any other one needs a word in its address or anchor, or a second parent
        levels   links of irrelevant pages (beta < threshold) are followed too, but no further than through so many
                 irrelevant pages in a row; left out: without limit

    Paper: Trivedi et al. 2014, section II, Relevance Calculation, 2); after Pal, Tomar, Shrivastava 2009. The anchor of
    which parent counts is left open there. A redirect's target takes over the address score of its source.

    >>> from lycosa.core.types import Links, Visit
    >>> table = Table(); _ = table.add_seed("a")
    >>> visit = Visit("a", "page", "ok", pick=1, beta=.5, links=Links.to("b"))
    >>> visit.links.alphas[:] = .25
    >>> visit.links.facets["url"] = np.array([.125], np.float32)
    >>> links = LinkScore()
    >>> links.score(links.learn(table.absorb(visit), table), table).tolist()            # .125 + .25 + 1 + .5
    [1.875]
    """

    wants: ClassVar[tuple[str, ...]] = ("url",)

    least: float | None = None
    levels: int | None = None
    threshold: float = 0.1
    url_: NDArray[np.float64] = column()
    astray_: Astray = learned(Astray)

    def __post_init__(self) -> None:
        if self.levels is not None and self.levels < 0:
            raise ValueError(f"levels={self.levels} irrelevant pages are followed: take 0 or more, or leave it out")

    def learn(self, step: Step, table: Table) -> Rows:
        """Note the addresses' scores, and how far off we are; the table keeps the other sums."""
        self.url_ = fit(self.url_, len(table))
        rows = step.children
        if step.visit.outcome == "redirect":
            self.url_[rows] = np.maximum(self.url_[rows], self.url_[step.row])
        elif "url" in step.visit.links.facets:
            self.url_[rows] = step.facet("url")
        self.astray_.learn(step, table, relevant=step.visit.beta >= self.threshold)
        return rows

    def explain(self, row: int, table: Table) -> dict[str, float]:
        """The four addends."""
        return {
            "address": float(fit(self.url_, len(table))[row]),
            "best anchor": float(table.alpha_max[row]),
            "pages that link to it": float(table.in_degree[row]),
            "their relevance": float(table.beta_sum[row]),
        }

    def score(self, rows: Rows, table: Table) -> Scores:
        """The sum, or PRUNED."""
        score: Scores = (
            fit(self.url_, len(table))[rows] + table.alpha_max[rows] + table.in_degree[rows] + table.beta_sum[rows]
        )
        if self.least is not None:
            score[(score < self.least) & (table.in_degree[rows] > 0)] = PRUNED
        return score if self.levels is None else self.astray_.prune(score, rows, table, self.levels)
