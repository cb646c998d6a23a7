"""The best-first strategy of crawl4ai: how many of the keywords are in the address."""

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

NEARER = 1e-9  # cost of each link from a seed: less than any keyword, so it only breaks ties


@dataclass
class Crawl4Ai:
    """score = share of the topic's words that are somewhere in the address; of equal ones, nearest to a seed first.

    A word counts once, as it was typed and as part of any other: `art` is in `/Earth.htm`. The address is decoded
    (%20), upper and lower case are the same. Neither the page nor the anchor is looked at. The ten best links are
    fetched before what they brought is ranked (`batch`).

    Parameters:
        max_depth       links that are farther from every seed are not followed; left out: no limit
        case_sensitive  yes: upper and lower case differ

    After unclecode/crawl4ai, `BestFirstCrawlingStrategy` with `KeywordRelevanceScorer` (its code of 2025; there is no
    paper). The keywords are the words of the topic; without any, all scores are 0, as there. We depart: `max_depth` has
    to be given there; equals at the same depth are fetched as they were found, there by address; links to other hosts
    are followed as far as the crawl's scope goes, there only with `include_external`; of a topic with words to avoid
    (-word) these are left out.

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
            raise ValueError(f"max_depth={self.max_depth} links from a seed: take 0 or more, or leave it out")
        self._keywords = [self._cased(word) for word in keywords(self.words)]

    def learn(self, step: Step, table: Table) -> Rows:
        """Look at the addresses that are new; links that were known may be nearer to a seed than they were."""
        self.share_ = fit(self.share_, len(table))
        for row in range(self.known_, len(table)):
            self.share_[row] = self._share(table.nodes[row])
        self.known_ = len(table)
        if step.visit.outcome == "redirect":
            self.share_[step.children] = np.maximum(self.share_[step.children], self.share_[step.row])
        return step.children

    def explain(self, row: int, table: Table) -> dict[str, float]:
        """The two parts of the score."""
        return {
            "share of the words in its address": float(fit(self.share_, len(table))[row]),
            "links from a seed": -NEARER * float(table.depth[row]),
        }

    def priority(self, rows: Rows, table: Table) -> Priorities:
        """The share of keywords, a trifle less with every link from a seed; or PRUNED."""
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
    """The words of a topic as they were typed, each once: without quotation marks, and without those to avoid.

    >>> keywords('coral "great barrier" reefs -fish coral')
    ['coral', 'great', 'barrier', 'reefs']
    """
    given = words.split() if isinstance(words, str) else [word for word, weight in words.items() if weight > 0]
    return list(dict.fromkeys(word for text in given if not text.startswith("-") and (word := text.strip('"'))))
