"""Link-context prediction from the words around a link; and OTIE, which is OPIC biased towards relevant pages."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from lycosa.core.columns import column, fit, learned
from lycosa.core.table import DONE, Table
from lycosa.core.types import Rows, Step
from lycosa.strategies.cash import CashFlow
from lycosa.strategies.parents import Merge, MergedPriorities, PriorityFromParents


def context_score(step: Step, lift: bool) -> NDArray[np.float32]:
    """Return the relevance of each child's link context (equation 4), or with `lift` its gain over the prior."""
    judged = "context_score" in step.visit.links.facets and not lift
    return step.facet("context_score" if judged else "context")


@dataclass
class LinkContext(PriorityFromParents):
    """Link context: priority = page * beta(parent) + (1 - page) * relevance of the 20 words around the link.

    The words include the anchor. The paper calls the weight of the page beta and sets it to .25. The best of several
    links from one page counts; several parents are merged as in best-first. Judges that do not rate contexts supply the
    link relevance instead.

    With a classifier the relevance of the context is P of its words. `lift=yes` uses the gain over the prior instead,
    max(0, (P - prior) / (1 - prior)). Other judges have no prior: there both are the same.

    Paper: Guan et al. 2008 (OTIE), equation 4, a prediction from one link; merging over parents and `lift` are ours.

    >>> from lycosa.core.types import Links, Visit
    >>> table = Table(); _ = table.add_seed("a")
    >>> visit = Visit("a", "page", "ok", pick=1, relevance=.8, links=Links.to("b"))
    >>> visit.links.facets["context"] = np.array([.4], np.float32)
    >>> context = LinkContext()
    >>> context.priority(context.learn(table.absorb(visit), table), table).round(3).tolist()     # .25 * .8 + .75 * .4
    [0.5]
    """

    wants: ClassVar[tuple[str, ...]] = ("context", "context_score")

    page: float = 0.25
    merge: Merge = "max"
    lift: bool = False
    priority_: MergedPriorities = learned()

    def __post_init__(self) -> None:
        if not 0 <= self.page <= 1:
            raise ValueError(f"'page' is {self.page:g}: it must be a weight from 0 to 1")
        self.priority_ = MergedPriorities(self.merge)

    def learn(self, step: Step, table: Table) -> Rows:
        context = context_score(step, self.lift).astype(np.float64)
        return self.priority_.update(step, table, self.page * step.visit.relevance + (1 - self.page) * context)


@dataclass
class Otie(CashFlow):
    """OTIE, which is OPIC biased by relevance: relevant pages keep and gain cash, and pass it on to promising links.

    When page i is crawled its cash is revised by its relevance r in [0, 1], and then divided among its links in
    proportion to their similarity, or equally where that is 0 for all:

        change  = cash * max(-1, a * (2r - 1)^d)                                                              (3)
        gain(j) = cash * sim'(j) / sum of sim' over the links of i                                            (1)
        sim'(j) = beta(j) if j was fetched, otherwise page * beta(i) + (1 - page) * context(i, j)             (2), (4)

    The priority of an uncrawled page is its cash. Seeds, dead ends, redirects and second givings: see CashFlow. Cash is
    also revised at second givings, but not that of failed pages and sitemaps, as no page was judged.

    Parameters:
        a, d     maximum change of cash, and how flat the change is near r = .5
        page     weight of the page against the words around the link (the paper's beta)
        scale    how r is derived from beta: `running` divides by the largest beta so far, `none` clips to [0, 1]
        lift     with a classifier, use the context's gain over the prior instead of its P: see LinkContext
        period   steps between second givings by the richest fetched page with links (0: never)

    Equation 3 changes nothing at r = .5, so r must use the whole of [0, 1]. Probabilities of a classifier do, and both
    scales agree; cosines of good pages are .2 or .3, and under `none` every page would lose most of its cash. While all
    betas are 0 nothing is revised.

    Paper: Guan et al. 2008, equations 1-4. Departures: (2r - 1)^d keeps the sign of 2r - 1 for every d, not only for
    odd ones. At a second giving the paper fetches the page again; here its links come from the link table, and an
    unfetched one counts with the largest similarity predicted by any page. So the graph is stored, but not by the
    algorithm, which keeps three numbers per page. A page or context without words known to a classifier has the score
    0, not the prior.

    >>> from lycosa.core.types import Links, Visit
    >>> table, otie = Table(), Otie()
    >>> _ = table.add_seed("a")
    >>> visit = Visit("a", "page", "ok", 1, relevance=.4, links=Links.to("b", "c"))
    >>> visit.links.facets["context"] = np.array([.5, 0], np.float32)
    >>> rows = otie.learn(table.absorb(visit), table)     # 1.85, by .25 * .4 + .75 * .5 = .475 and .25 * .4 = .1
    >>> otie.priority(rows, table).round(3).tolist()
    [1.528, 0.322]
    """

    wants: ClassVar[tuple[str, ...]] = LinkContext.wants

    a: float = 0.85
    d: float = 3.0
    page: float = 0.25
    scale: Literal["running", "none"] = "running"
    lift: bool = False
    beta_: NDArray[np.float64] = column()
    predicted_: NDArray[np.float64] = column()  # largest similarity predicted for each row
    _predictions: NDArray[np.float64] = column()  # predictions for the links of the last page
    largest_: float = learned(float)

    def __post_init__(self) -> None:
        super().__post_init__()
        if not 0 < self.a <= 100:
            raise ValueError(f"'a' is {self.a}: it must be above 0, and at most 100")
        if not self.d > 0:
            raise ValueError(f"'d' is {self.d}: it must be above 0")
        if not 0 <= self.page <= 1:
            raise ValueError(f"'page' is {self.page}: it must be a weight from 0 to 1")

    def note(self, step: Step, table: Table) -> None:
        self.beta_, self.predicted_ = fit(self.beta_, len(table)), fit(self.predicted_, len(table))
        rows = step.children
        if step.visit.outcome == "redirect":
            predicted = np.full(len(rows), self.predicted_[step.row])
        else:
            predicted = self._predictions = self._similarity(step)
        if step.visit.is_version:
            self.beta_[step.row] = beta = max(0.0, step.visit.relevance)
            self.largest_ = max(self.largest_, beta)
        self.predicted_[rows] = np.maximum(self.predicted_[rows], predicted)

    def revise(self, row: int, cash: float) -> float:
        """Return a row's cash, raised or lowered by its relevance (equation 3)."""
        r = self.relevance(float(self.beta_[row]))
        x = 2 * r - 1
        return cash * (1 + max(-1.0, self.a * float(np.copysign(abs(x) ** self.d, x))))

    def relevance(self, beta: float) -> float:
        """Return r of equation 3: beta on a scale from 0 to 1."""
        if self.scale == "none":
            return min(1.0, beta)
        return beta / self.largest_ if self.largest_ > 0 else 0.5

    def weights(self, rows: Rows, ends: Rows, table: Table, step: Step | None) -> NDArray[np.float64]:
        """Return sim' of equation 2."""
        predicted = self.predicted_[rows] if step is None else self._predictions
        return np.where(table.state[ends] == DONE, self.beta_[ends], predicted)

    def _similarity(self, step: Step) -> NDArray[np.float64]:
        """Return the prediction of equation 4."""
        context = np.maximum(context_score(step, self.lift), 0.0)
        return self.page * max(0.0, step.visit.relevance) + (1 - self.page) * context.astype(np.float64)
