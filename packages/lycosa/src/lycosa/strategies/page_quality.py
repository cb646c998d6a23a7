"""Quality-prioritised crawling: a page's quality is handed to its links.

After Pezzuti, MacAvaney, Tonellotto: Neural Prioritisation for Web Crawling (ICTIR 2025).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from lycosa.core.columns import learned
from lycosa.core.table import Table
from lycosa.core.types import Priorities, Rows, Step
from lycosa.strategies.parents import MergedPriorities, PriorityFromParents


@dataclass
class PageQuality(PriorityFromParents):
    """priority(link) = quality of the first page with that link (`qfirst`), or of the worst one so far (`qmin`).

    qfirst never looks again. qmin lowers a priority when a page of lower quality has the same link, and never raises
    it: who is linked to by a poor page is taken to be poor.

    Parameters:
        quality  judge: what the judge says of the page (beta); text: how it reads, whatever its topic, from 0 for
                 stuffed to 1, where judge or warden have noted it, as they do for pages that repeat themselves. Nearly
                 all pages of a well-kept site read well: then it's first in, first out

    Paper: Pezzuti, MacAvaney, Tonellotto 2025, Neural Prioritisation for Web Crawling, and the authors' code
    (fpezzuti/neural_crawling). Their third policy, QOracle, goes by the quality of the link's own page: that's
    `craw4llm` here. We depart in the estimator: theirs is a T5 trained to tell pages that anyone might ask for; ours is
    the judge or the text's quality. Of equal priorities the link found first is fetched first; theirs go by address.

    >>> from lycosa.core.types import Links, Visit
    >>> table, least = Table(), PageQuality("min")
    >>> for pick, (node, relevance) in enumerate({"a": .8, "b": .2, "c": .5}.items()):
    ...     _ = table.add_seed(node)
    ...     rows = least.learn(table.absorb(Visit(node, "page", "ok", pick, relevance=relevance, links=Links.to("d"))), table)
    >>> least.priority(rows, table).tolist()                                   # min(.8, .2, .5)
    [0.2]
    """

    kind: Literal["first", "min"] = "first"
    quality: Literal["judge", "text"] = "judge"
    priority_: MergedPriorities = learned()

    def __post_init__(self) -> None:
        self.priority_ = MergedPriorities(self.kind)

    def learn(self, step: Step, table: Table) -> Rows:
        return self.priority_.update(step, table, self._quality(step))

    def explain_links(self, step: Step) -> dict[str, Priorities | float]:
        return {f"quality of the {'first' if self.kind == 'first' else 'worst'} page with it": self._quality(step)}

    def _quality(self, step: Step) -> float:
        return step.visit.relevance if self.quality == "judge" else float(step.visit.data.get("quality", 1.0))
