"""Quality-prioritised crawling (Pezzuti, MacAvaney, Tonellotto 2025): links inherit the quality of their page."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from lycosa.core.columns import learned
from lycosa.core.table import Table
from lycosa.core.types import Rows, Step
from lycosa.strategies.parents import MergedPriorities, PriorityFromParents


@dataclass
class PageQuality(PriorityFromParents):
    """Page quality: priority = quality of the first page with the link (`qfirst`), or of the worst so far (`qmin`).

    `quality=judge` is the relevance of the page; `quality=text` the quality of its text regardless of the topic, from 0
    (stuffed) to 1, as computed by the judge or the trap filter for repetitive pages.

    Paper: Pezzuti, MacAvaney, Tonellotto 2025, Neural Prioritisation for Web Crawling, and the authors' code
    (fpezzuti/neural_crawling). Their third policy, QOracle, uses the quality of the link's own page, as `craw4llm`
    does. Departures: their estimator is a T5 trained to recognise pages that answer some query, ours is the judge or
    the text's quality; ties are fetched in order of discovery, theirs by URL.

    >>> from lycosa.core.types import Links, Visit
    >>> table, least = Table(), PageQuality("min")
    >>> for pick, (node, relevance) in enumerate({"a": .8, "b": .2, "c": .5}.items()):
    ...     _ = table.add_seed(node)
    ...     visit = Visit(node, "page", "ok", pick, relevance=relevance, links=Links.to("d"))
    ...     rows = least.learn(table.absorb(visit), table)
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

    def _quality(self, step: Step) -> float:
        return step.visit.relevance if self.quality == "judge" else float(step.visit.data.get("quality", 1.0))
