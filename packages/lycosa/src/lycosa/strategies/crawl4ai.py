"""The best-first strategy of crawl4ai: share of the topic's words in the URL."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import ClassVar
from urllib.parse import unquote

import numpy as np
from numpy.typing import NDArray

from lycosa.core.columns import column, fit, learned
from lycosa.core.frontier import PRUNED
from lycosa.core.table import Table
from lycosa.core.types import Priorities, Rows, Step

NEARER = 1e-9  # cost of each link from a seed, so small compared with a keyword that it only breaks ties


@dataclass
class Crawl4Ai:
    """crawl4ai's best-first: priority = share of the topic's words in the URL; ties go to the link nearest to a seed.

    Each word counts once, as typed and as a substring: `art` is in `/Earth.htm`. URLs are percent-decoded and, unless
    `case_sensitive`, compared without case. The frontier is ranked again after every ten pages (`batch`).

    After unclecode/crawl4ai, `BestFirstCrawlingStrategy` with `KeywordRelevanceScorer` (its code of 2025; there is no
    paper). Departures: there `max_depth`, the limit of links from a seed, is required; ties at the same depth are
    fetched in order of discovery, there by URL; links to other hosts are followed within the crawl's scope, there only
    with `include_external`; excluded words (-word) are ignored.

    >>> from lycosa.core.types import Links, Visit
    >>> table = Table(); _ = table.add_seed("http://x.test/")
    >>> links = Links.to("http://x.test/Coral%20Reefs", "http://x.test/home")
    >>> first = Crawl4Ai(words="coral bleaching")
    >>> rows = first.learn(table.absorb(Visit("http://x.test/", "page", "ok", pick=1, links=links)), table)
    >>> first.priority(rows, table).round(6).tolist()                          # 1 of 2 words, 0 of 2
    [0.5, -0.0]
    """

    batch: ClassVar[int] = 10

    max_depth: int | None = None
    case_sensitive: bool = False
    words: str | Mapping[str, float] = field(default="", repr=False)
    share_: NDArray[np.float64] = column()
    known_: int = learned(int)

    def __post_init__(self) -> None:
        if self.max_depth is not None and self.max_depth < 0:
            raise ValueError(f"'max_depth' is {self.max_depth}: it must be at least 0 links; leave it out for no limit")
        self._keywords = [self._cased(word) for word in keywords(self.words)]

    def learn(self, step: Step, table: Table) -> Rows:
        """Count keywords in new URLs; return all links of the page, since known ones may now be nearer to a seed."""
        self.share_ = fit(self.share_, len(table))
        for row in range(self.known_, len(table)):
            self.share_[row] = self._share(table.nodes[row])
        self.known_ = len(table)
        if step.visit.outcome == "redirect":
            self.share_[step.children] = np.maximum(self.share_[step.children], self.share_[step.row])
        return step.children

    def explain(self, row: int, table: Table) -> dict[str, float]:
        return {
            "share of the words in its address": float(fit(self.share_, len(table))[row]),
            "links from a seed": -NEARER * float(table.depth[row]),
        }

    def priority(self, rows: Rows, table: Table) -> Priorities:
        depth = table.depth[rows]
        priority: Priorities = fit(self.share_, len(table))[rows] - NEARER * depth
        if self.max_depth is not None:
            priority[depth > self.max_depth] = PRUNED
        return priority

    def _share(self, url: str) -> float:
        address = self._cased(unquote(url))
        return sum(word in address for word in self._keywords) / max(1, len(self._keywords))

    def _cased(self, text: str) -> str:
        return text if self.case_sensitive else text.lower()


def keywords(words: str | Mapping[str, float]) -> list[str]:
    """Return the distinct words of a topic as typed, without quotation marks and without excluded words."""
    given = words.split() if isinstance(words, str) else [word for word, weight in words.items() if weight > 0]
    return list(dict.fromkeys(word for text in given if not text.startswith("-") and (word := text.strip('"'))))
