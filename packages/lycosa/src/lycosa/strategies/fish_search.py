"""Fish-search, which follows links a few steps beyond relevant pages, and its graded version, shark-search."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from lycosa.core.columns import learned
from lycosa.core.table import Table
from lycosa.core.types import Priorities, Rows, Step
from lycosa.strategies.parents import MergedPriorities, linked
from lycosa.strategies.personalised import OffTopicDepth


@dataclass
class FishSearch:
    """Fish-search: links of relevant pages first, a few of irrelevant ones next, the rest last; some paths are pruned.

    A page is relevant if beta >= threshold. Of the links of a relevant page the first `factor * width` (rounded down)
    get the potential 1; of those of an irrelevant page the first `width` get 1/2; all others get 0. Links of a relevant
    page get the depth `depth`, like seeds, links of an irrelevant one the depth of that page less 1; URLs with a depth
    below 0 are pruned. A URL found again takes the larger potential and the larger depth.

    Paper: De Bra, Houben, Kornatzky, Post 1994, with the potentials of Hersovici et al. 1998, who describe it as a
    priority queue. In De Bra's own list the links of a relevant page go to the front, links to other sites are
    preferred, and slow servers get depth 0. Here ties keep their order of discovery. Links of a sitemap rank like those
    of an irrelevant page, but have the full depth.

    >>> from lycosa.core.types import Links, Visit
    >>> table = Table(); _ = table.add_seed("a")
    >>> visit = Visit("a", "page", "ok", pick=1, relevance=.8, links=Links.to(*"bcdef"))
    >>> fish = FishSearch(width=2, threshold=.5)
    >>> fish.priority(fish.learn(table.absorb(visit), table), table).tolist()      # 1.5 * 2 links are likely ones
    [1.0, 1.0, 1.0, 0.0, 0.0]
    """

    width: int = 5
    depth: int = 3
    factor: float = 1.5
    threshold: float = 0.1
    potential_: MergedPriorities = learned(MergedPriorities)
    off_topic_: OffTopicDepth = learned(OffTopicDepth)

    def __post_init__(self) -> None:
        if self.width < 0 or self.depth < 0:
            raise ValueError(f"'width' is {self.width} and 'depth' {self.depth}: both must be 0 or more")
        if self.factor < 0:
            raise ValueError(f"'factor' is {self.factor:g}: it must be 0 or more")

    def learn(self, step: Step, table: Table) -> Rows:
        relevant = step.visit.relevance >= self.threshold and step.visit.is_version
        every = linked(step, table)
        potential = np.zeros(len(every))
        if relevant:
            potential[: int(self.factor * self.width + 1e-9)] = 1.0  # 1e-9, because products such as 3 * .1 are inexact
        else:
            potential[: self.width] = 0.5
        if len(every) > len(step.children):
            potential = potential[np.isin(every, step.children)]
        self.off_topic_.learn(step, table, relevant=relevant)
        return self.potential_.update(step, table, potential)

    def priority(self, rows: Rows, table: Table) -> Priorities:
        return self.off_topic_.prune(self.potential_.priority(rows, table), rows, table, self.depth)


@dataclass
class SharkSearch:
    """Shark-search: priority = inherited relevance, which decays from page to page, plus that of anchor and context.

        inherited(link)     = delta * sim(page)          if sim(page) > 0
                              delta * inherited(page)    otherwise
        context(link)       = 1 if sim(anchor) > 0, else sim(words around the link)
        neighbourhood(link) = beta * sim(anchor) + (1 - beta) * context(link)
        potential(link)     = gamma * inherited(link) + (1 - gamma) * neighbourhood(link)

    sim(page) is the page's relevance, sim(anchor) the link relevance. As in fish-search, a URL found again takes the
    larger potential, and URLs more than `depth` irrelevant pages (sim = 0) away are pruned. There is no width.

    Paper: Hersovici, Jacovi, Maarek, Pelleg, Shtalhaim, Ur 1998, section 3; delta = gamma = .5 and beta = .8 are common
    choices. Left open in the paper: of several inherited scores the largest is used, and a seed inherits 0.

    >>> from lycosa.core.types import Links, Visit
    >>> table = Table(); _ = table.add_seed("a")
    >>> visit = Visit("a", "page", "ok", pick=1, relevance=.6, links=Links.to("b"))
    >>> visit.links.facets["context"] = np.array([.4], np.float32)
    >>> shark = SharkSearch()
    >>> shark.priority(shark.learn(table.absorb(visit), table), table).round(3).tolist()   # .5 * .3 + .5 * (.2 * .4)
    [0.19]
    """

    proportional: ClassVar[bool] = True
    wants: ClassVar[tuple[str, ...]] = ("context",)

    delta: float = 0.5
    beta: float = 0.8
    gamma: float = 0.5
    depth: int = 3
    inherited_: MergedPriorities = learned(MergedPriorities)
    potential_: MergedPriorities = learned(MergedPriorities)
    off_topic_: OffTopicDepth = learned(OffTopicDepth)

    def __post_init__(self) -> None:
        for name in ("delta", "beta", "gamma"):
            if not 0 <= getattr(self, name) <= 1:
                raise ValueError(f"'{name}' is {getattr(self, name):g}: it must be from 0 to 1")
        if self.depth < 0:
            raise ValueError(f"'depth' is {self.depth}: it must be at least 0 irrelevant pages in a row")

    def learn(self, step: Step, table: Table) -> Rows:
        sim = step.visit.relevance
        has = sim if sim > 0 else float(self.inherited_.priority(np.array([step.row]), table)[0])
        inherited = self.delta * has
        anchor = step.link_relevances.astype(np.float64)
        context = np.where(anchor > 0, 1.0, step.facet("context").astype(np.float64))
        neighbourhood = self.beta * anchor + (1 - self.beta) * context
        self.inherited_.update(step, table, inherited)
        self.off_topic_.learn(step, table, relevant=sim > 0)
        potential = self.gamma * inherited + (1 - self.gamma) * neighbourhood
        return self.potential_.update(step, table, np.maximum(potential, 0.0))

    def priority(self, rows: Rows, table: Table) -> Priorities:
        return self.off_topic_.prune(self.potential_.priority(rows, table), rows, table, self.depth)
