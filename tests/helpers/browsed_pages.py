"""A browsing record of ten pages for calculations by hand, and a crawl of pages given as text."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from lycosa.core.table import Table
from lycosa.core.types import Links, Page, Rows, Step, Visit
from lycosa.text.bags import Bags
from lycosa.text.browsing import Browsing, distances
from lycosa.text.vocabulary import Vocabulary

TERMS = ["hub", "news", "reef"]

STATE = [0, 0, 1, 1, 1, 2, 2, 2, 2, 2]
CLUSTER = [2, 2, 0, 0, 1, 0, 1, 1, 1, 1]
"""Clusters 0, 1 and 2 contain the words hub, news and reef; only pages of cluster 2 are relevant."""

STEPS = [
    (5, 2), (6, 3), (7, 8), (8, 9), (9, 5),  # from state 2: twice to 1, three times to 2
    (2, 0), (3, 1), (2, 1), (4, 0), (4, 6),  # from state 1: four times to 0, once to 2
    (0, 1), (1, 7),  # from state 0: once to 0, once to 2
]  # fmt: skip


def ten_pages(**changes: Any) -> Browsing:
    """Return the record above as a browsing model; each page has only the word of its cluster."""
    relevant = np.array(STATE) == 0
    parts: dict[str, Any] = {
        "terms": list(TERMS),
        "pages": Bags.of([([cluster], [1 + page % 2]) for page, cluster in enumerate(CLUSTER)]),
        "urls": [f"http://browsed.example/{page}" for page in range(10)],
        "relevant": relevant,
        "state": distances(relevant, np.array(STEPS), 3),
        "steps": np.array(STEPS),
        "clusterings": {"kmeans": np.array(CLUSTER), "xmeans": np.array(CLUSTER)},
        "states": 3,
        "facts": {"source": "by hand"},
    }
    return Browsing(**{**parts, **changes})


def positives_only() -> Browsing:
    """Return the same model with positive labels only: two clusters of relevant pages, the others unassigned."""
    cluster = np.array([0, 1, -1, -1, -1, -1, -1, -1, -1, -1])
    return ten_pages(clusterings={"kmeans": cluster, "xmeans": cluster})


class Walk:
    """Walk of an estimator over pages, as in a crawl."""

    def __init__(self, estimator: Any) -> None:
        self.estimator, self.table, self.words, self.picks = estimator, Table(), Vocabulary(), 0

    def step(self, node: str, text: str, links: Sequence[str] = (), anchors: Sequence[str] = (), **more: Any) -> Step:
        """Return the step of a fetched page."""
        if node not in self.table.row_of:
            self.table.add_seed(node)
        page = Page("ok", marked=text, links=Links.to(*links, anchors=list(anchors)))
        self.picks += 1
        visit = Visit(node, "page", "ok", self.picks, links=page.links, terms=self.words.read(page).terms, **more)
        step = self.table.absorb(visit)
        assert step is not None
        return step

    def page(self, node: str, text: str, links: Sequence[str] = (), anchors: Sequence[str] = (), **more: Any) -> Rows:
        """Learn a page; return the rows that the estimator updates."""
        rows: Rows = self.estimator.learn(self.step(node, text, links, anchors, **more), self.table)
        return rows

    def redirect(self, node: str, target: str) -> None:
        """Learn a redirect."""
        if node not in self.table.row_of:
            self.table.add_seed(node)
        step = self.table.absorb(Visit(node, "redirect", "redirect", 1, links=Links.to(target)))
        assert step is not None
        self.estimator.learn(step, self.table)

    def priorities(self, *nodes: str) -> list[float]:
        """Return the priorities of some nodes."""
        rows = np.array([self.table.row_of[node] for node in nodes])
        scores: list[float] = self.estimator.priority(rows, self.table).round(9).tolist()
        return scores
