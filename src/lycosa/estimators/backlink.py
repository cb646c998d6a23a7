"""Backlink count: what most pages link to comes first.

Paper items:
    batsakis-backlink: `--strategy backlink`. Test:
        estimators/test_backlink.py::test_the_score_is_the_number_of_parents. Departs: of the pages crawled so far.
"""

from __future__ import annotations

from dataclasses import dataclass

from lycosa.core.table import Table
from lycosa.core.types import Rows, Scores, Step


@dataclass
class Backlink:
    """The score is the number of crawled pages that link to the node. It knows nothing of the topic: a measure of
    importance, and a baseline. Its ranking is that of fl_deg.

    Paper: Cho, Garcia-Molina, Page 1998; Batsakis 2007, section 2.2.

    >>> from lycosa.core.types import Links, Visit
    >>> table, backlink = Table(), Backlink()
    >>> for node in ("a", "b"):
    ...     _ = table.add_seed(node)
    ...     rows = backlink.learn(table.absorb(Visit(node, "page", "ok", pick=1, links=Links.to("c"))), table)
    >>> backlink.score(rows, table).tolist()
    [2.0]
    """

    def learn(self, step: Step, table: Table) -> Rows:
        """The links of the page have one parent more."""
        return step.children

    def score(self, rows: Rows, table: Table) -> Scores:
        """How many pages link here, as far as is known."""
        return table.in_degree[rows].astype(float)
