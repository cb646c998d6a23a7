"""Crawls with handwritten pages, from which scent learns."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

from lycosa.core.table import Table
from lycosa.core.types import Links, Rows, Terms, Visit
from lycosa.strategies.scent import WEIGHTS, Scent

SEED = "http://seed.test/"


SALMON, TROUT, HERON = "http://b.test/fish/salmon", "http://b.test/fish/trout", "http://b.test/bird/heron"


OTHER = "http://other.test/tern"


class Crawl:
    """Table and scent with helpers that feed visits. By default outcomes are relevances."""

    def __init__(self, scent: Scent | None = None, seeds: Sequence[str] = (SEED,)) -> None:
        self.scent = scent or Scent(vectors=False, exact=True)
        self.table = Table()
        self.ids: dict[str, int] = {}
        for seed in seeds:
            self.table.add_seed(seed)

    def visit(
        self, node: str, relevance: float = 0.0, links: Links | None = None, words: str = "", **more: Any
    ) -> Rows:
        visit = Visit(
            node, "page", "ok", 1, relevance=relevance, links=links or Links.to(), terms=self.terms_of(words), **more
        )
        return self.absorb(visit)

    def redirect(self, node: str, target: str) -> Rows:
        return self.absorb(Visit(node, "redirect", "redirect", 1, links=Links.to(target)))

    def absorb(self, visit: Visit) -> Rows:
        step = self.table.absorb(visit)
        assert step is not None
        return self.scent.learn(step, self.table)

    def terms_of(self, words: str) -> Terms:
        """Return the terms of a page; words have the same id in the whole crawl."""
        known, each = len(self.ids), words.split()
        ids = sorted({self.ids.setdefault(word, len(self.ids)) for word in each})
        names = list(self.ids)
        counts = [each.count(names[number]) for number in ids]
        return Terms(np.array(ids, np.uint32), np.array(counts, np.uint16), names[known:])

    def row(self, node: str) -> int:
        return self.table.row_of[node]

    def term(self, term: str, node: str) -> float:
        """Return an unweighted term of a node."""
        return float(self.scent.contributions(np.array([self.row(node)]), self.table)[term][0]) / WEIGHTS[term]

    def priority(self, node: str) -> float:
        return float(self.scent.priority(np.array([self.row(node)]), self.table)[0])


def make_links(*links: tuple[str, str, str], link_relevances: Sequence[float] = (), **facets: Sequence[float]) -> Links:
    """Return links of (url, anchor, context)."""
    made = Links.to(*(url for url, _, _ in links), anchors=[anchor for _, anchor, _ in links])
    made.contexts = [context for _, _, context in links]
    made.link_relevances[: len(link_relevances)] = link_relevances
    made.facets = {name: np.array(column, np.float32) for name, column in facets.items()}
    return made


def close(value: float) -> Any:
    """Return an approximate value, in the single precision of columns."""
    return pytest.approx(value, rel=2e-5, abs=1e-7)


def two_pages() -> Crawl:
    """Return a crawl of a seed with outcome .5, which links to salmon, trout and heron, and of salmon with outcome .3.

    s = (.5 + .3 + .05) / (2 + .5) = .34, m0 = (.5 + .3) / (2 + 5) = .8 / 7.
    """
    crawl = Crawl()
    links = make_links(
        (SALMON, "coral reefs", "sea"),
        (TROUT, "coral caves", "caves under water"),
        (HERON, "", ""),
        link_relevances=(0.8, 0.6, 0.0),
        context=(0.0, 0.25, 0.0),
        url=(0.0, 0.125, 0.0),
    )
    crawl.visit(SEED, 0.5, links, "cave coral")
    crawl.visit(SALMON, 0.3, None, "reef")
    return crawl
