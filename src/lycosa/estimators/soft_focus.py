"""Soft focus: links are worth what their page is.

Paper items:
    rules-soft-focus: `--strategy soft-focus`. Test:
        estimators/test_soft_focus.py::test_links_get_the_beta_of_their_pages.
    rules-distiller: `--strategy soft-focus,distiller=yes`. Test:
        estimators/test_soft_focus.py::test_links_of_the_best_hub_come_first.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from lycosa.core.columns import column, fit, learned
from lycosa.core.table import Table
from lycosa.core.types import Rows, Scores, Step
from lycosa.estimators.apprentice import Apprentice
from lycosa.estimators.distiller import Distiller
from lycosa.estimators.parents import Merge, Parents

RAISED = 1e6
"""What a link of a good hub is worth beside its score: more than any sum of betas."""


@dataclass
class SoftFocus:
    """Every link of a page gets the page's beta, its relevance to the wanted classes. Nothing is pruned.

    With several parents it is the `max` of them, or the `sum`, the `mean`, the `last`: the papers don't say.

    Parameters:
        merge       what a link found on several pages is worth
        distiller   now and then look for hubs, pages that link to many relevant pages, and fetch the rest of their
                    links before everything else: those of the `hubs` best, by their scores, until the next look. It is
                    what the distiller does in the paper; the number is ours
        apprentice  tell the links of a page apart, by the words in and around them, as a second classifier learns to do
                    while the crawl goes on. The score is then the mean of the beta above and of the apprentice's
                    estimate; as long as that has seen too little, the beta alone. In the paper the estimate alone
                    counts. We keep the page's word, as an estimate from few words is a bold one

    Paper: Chakrabarti, van den Berg, Dom 1999; Chakrabarti, Punera, Subramanyam 2002 (apprentice); Altingovde, Ulusoy
    2004, whose baseline it is, with neither of the two.

    >>> from lycosa.core.types import Links, Visit
    >>> table, focus = Table(), SoftFocus()
    >>> for node, beta in (("a", .3), ("b", .8)):
    ...     _ = table.add_seed(node)
    ...     rows = focus.learn(table.absorb(Visit(node, "page", "ok", 1, beta=beta, links=Links.to("c"))), table)
    >>> focus.score(rows, table).tolist()
    [0.8]
    """

    merge: Merge = "max"
    distiller: bool = False
    apprentice: bool = False
    hubs: int = 10
    parents_: Parents = learned()
    distiller_: Distiller | None = learned()
    apprentice_: Apprentice | None = learned()
    raised_: NDArray[np.bool_] = column(np.bool_)
    """Whether a row is a link of one of the best hubs."""

    def __post_init__(self) -> None:
        if self.hubs < 1:
            raise ValueError(f"hubs is {self.hubs}: it has to be 1 or more; leave out the distiller for none")
        self.parents_ = Parents(self.merge)
        self.distiller_ = Distiller() if self.distiller else None
        self.apprentice_ = Apprentice() if self.apprentice else None

    @property
    def proportional(self) -> bool:
        """A link that was raised is worth no more than others: it is only to come first."""
        return not self.distiller

    def learn(self, step: Step, table: Table) -> Rows:
        """Let the page speak for its links; hubs and the apprentice may change what others are worth."""
        rows = self.parents_.tell(step, table, max(0.0, step.visit.beta))
        if self.apprentice_ is not None:
            rows = self.apprentice_.learn(step, table)
        if self.distiller_ is not None:
            self.raised_ = fit(self.raised_, len(table))
            if step.visit.outcome == "redirect":
                self.raised_[step.children] |= self.raised_[step.row]
            if self.distiller_.learn(step, table):
                rows = np.union1d(rows, self._raise(self.distiller_, table)).astype(np.int32)
        return rows

    def score(self, rows: Rows, table: Table) -> Scores:
        """The beta of the pages that link here, 0 if none does; with what hubs and the apprentice have to say."""
        score = self.parents_.score(rows, table)
        if self.apprentice_ is not None:
            estimate = self.apprentice_.probability(rows, table)
            score = np.where(np.isnan(estimate), score, (score + np.nan_to_num(estimate)) / 2)
        if self.distiller_ is not None:
            score = score + RAISED * fit(self.raised_, len(table))[rows]
        return score

    def _raise(self, distiller: Distiller, table: Table) -> Rows:
        """Raise the links of the best hubs, and no others; the rows that were raised before, or are now."""
        before = self.raised_.copy()
        self.raised_[:] = False
        good = np.flatnonzero(distiller.hub[: len(table)])
        for row in good[np.argsort(-distiller.hub[good], kind="stable")][: self.hubs].tolist():
            self.raised_[distiller.redirects_.ends(table.edges.children(row))] = True
        return np.flatnonzero(before | self.raised_).astype(np.int32)
