"""Link-context prediction: a link is worth what the words around it say, and a little of its page.

Paper items:
    otie-link-context: `--strategy link-context`. Test: estimators/test_link_context.py::test_equation_4. Departs: a
        link found on several pages takes the best of them (`merge`), of which the paper says nothing.
    otie-eq4: `--strategy link-context`. Test: estimators/test_link_context.py::test_equation_4,
        estimators/test_otie.py::test_equation_4_takes_a_classifiers_word_as_it_is. Departs: `lift=yes` takes what the
        context adds to a classifier's prior; without a known word the score is 0.
    otie-beta: `--strategy link-context,page=.25`. Test: estimators/test_link_context.py::test_the_paper_says_a_quarter.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from lycosa.core.columns import learned
from lycosa.core.table import Table
from lycosa.core.types import Rows, Scores, Step
from lycosa.estimators.parents import Merge, Parents, SaidByParents


def context_score(step: Step, lift: bool) -> NDArray[np.float32]:
    """The context_score of equation 4 for each child: the context judged as a page is, or what it adds to the prior."""
    judged = "context_score" in step.visit.links.facets and not lift
    return step.facet("context_score" if judged else "context")


@dataclass
class LinkContext(SaidByParents):
    """score = page * beta(parent) + (1 - page) * relevance of the 20 words around the link, its anchor among them.

    The paper calls the weight of the page beta and sets it to .25. A page may link to a URL more than once: the best
    context counts. With several parents the scores are merged as in best-first: the `max` of them, or `sum`, `mean`,
    `last`. A topic that does not judge contexts is asked for anchors instead.

    With a classifier the relevance of the context is P of its words, as that of the page is. `lift=yes` takes instead
    what they add to the prior, max(0, (P - prior) / (1 - prior)), so that a context which says no more than the share
    of the wanted classes in the training pages counts for nothing. Other topics know no prior: there both are the same.

    Paper: Guan et al. 2008 (OTIE), equation 4, there the prediction of a page's relevance from one link. Merging over
    parents is ours, as the paper says nothing of it; so is `lift`.

    >>> from lycosa.core.types import Links, Visit
    >>> table = Table(); _ = table.add_seed("a")
    >>> visit = Visit("a", "page", "ok", pick=1, beta=.8, links=Links.to("b"))
    >>> visit.links.facets["context"] = np.array([.4], np.float32)
    >>> context = LinkContext()
    >>> context.score(context.learn(table.absorb(visit), table), table).round(3).tolist()     # .25 * .8 + .75 * .4
    [0.5]
    """

    wants: ClassVar[tuple[str, ...]] = ("context", "context_score")

    page: float = 0.25
    merge: Merge = "max"
    lift: bool = False
    priority_: Parents = learned()

    def __post_init__(self) -> None:
        if not 0 <= self.page <= 1:
            raise ValueError(f"page={self.page:g} is the page's share of the score: take a number from 0 to 1")
        self.priority_ = Parents(self.merge)

    def learn(self, step: Step, table: Table) -> Rows:
        """Merge what this parent says into what the others said."""
        context = context_score(step, self.lift).astype(np.float64)
        return self.priority_.tell(step, table, self.page * step.visit.beta + (1 - self.page) * context)

    def said(self, step: Step) -> dict[str, Scores | float]:
        """What this parent says, in parts."""
        context = (1 - self.page) * context_score(step, self.lift).astype(np.float64)
        return {"its page": self.page * step.visit.beta, "words around the link": context}
