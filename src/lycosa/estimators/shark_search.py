"""Shark-search: fish-search with a sharper sense of smell.

Paper items:
    batsakis-shark-search: `--strategy shark-search`. Test: estimators/test_shark_search.py::test_potential. Departs:
        after the original paper: the thesis gives no formulas.
    rules-fish-search: `--strategy fish-search`, `--strategy shark-search`. Test:
        estimators/test_shark_search.py::test_a_crawl.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from lycosa.core.columns import learned
from lycosa.core.table import Table
from lycosa.core.types import Rows, Scores, Step
from lycosa.estimators.astray import Astray
from lycosa.estimators.parents import Parents


@dataclass
class SharkSearch:
    """A link is worth what it inherits and what its neighbourhood says; what is inherited fades from page to page.

        inherited(link)     = delta * sim(page)          if sim(page) > 0
                              delta * inherited(page)    otherwise
        context(link)       = 1 if sim(anchor) > 0, else sim(words around the link)
        neighbourhood(link) = beta * sim(anchor) + (1 - beta) * context(link)
        potential(link)     = gamma * inherited(link) + (1 - gamma) * neighbourhood(link)

    sim(page) is the topic's beta, sim(anchor) its alpha. As in fish-search, a URL that is found again takes the larger
    potential, and depth is counted: links of a page with sim > 0 get `depth`, links of another one the depth of that
    page less 1, and what falls below 0 is pruned. The score is what makes the cut-off smooth: without food, inherited
    relevance is at most delta ** k after k pages, and a way has mostly sunk to the bottom of the queue long before it
    is cut. There is no width.

    Paper: Hersovici, Jacovi, Maarek, Pelleg, Shtalhaim, Ur 1998, section 3. They change how fish-search finds the
    potential and leave the rest of it; delta = gamma = .5 and beta = .8 are common choices. What they leave open:
    of several inherited scores the largest is handed on, and a seed inherits nothing.

    >>> from lycosa.core.types import Links, Visit
    >>> table = Table(); _ = table.add_seed("a")
    >>> visit = Visit("a", "page", "ok", pick=1, beta=.6, links=Links.to("b"))
    >>> visit.links.facets["context"] = np.array([.4], np.float32)
    >>> shark = SharkSearch()
    >>> shark.score(shark.learn(table.absorb(visit), table), table).round(3).tolist()   # .5 * .3 + .5 * (.2 * .4)
    [0.19]
    """

    proportional: ClassVar[bool] = True
    wants: ClassVar[tuple[str, ...]] = ("context",)

    delta: float = 0.5
    beta: float = 0.8
    gamma: float = 0.5
    depth: int = 3
    inherited_: Parents = learned(Parents)
    potential_: Parents = learned(Parents)
    astray_: Astray = learned(Astray)

    def __post_init__(self) -> None:
        for name in ("delta", "beta", "gamma"):
            if not 0 <= getattr(self, name) <= 1:
                raise ValueError(f"{name}={getattr(self, name):g} is a share: take a number from 0 to 1")
        if self.depth < 0:
            raise ValueError(f"depth={self.depth} pages without a find are followed: it can't be below 0")

    def learn(self, step: Step, table: Table) -> Rows:
        """Hand on what the page has, or has inherited, and smell at its links."""
        sim = step.visit.beta
        has = sim if sim > 0 else float(self.inherited_.score(np.array([step.row]), table)[0])
        inherited = self.delta * has
        anchor = step.alphas.astype(np.float64)
        context = np.where(anchor > 0, 1.0, step.facet("context").astype(np.float64))
        neighbourhood = self.beta * anchor + (1 - self.beta) * context
        self.inherited_.tell(step, table, inherited)
        self.astray_.learn(step, table, relevant=sim > 0)
        potential = self.gamma * inherited + (1 - self.gamma) * neighbourhood
        return self.potential_.tell(step, table, np.maximum(potential, 0.0))

    def score(self, rows: Rows, table: Table) -> Scores:
        """The potential, or PRUNED where the depth is used up."""
        return self.astray_.prune(self.potential_.score(rows, table), rows, table, self.depth)
