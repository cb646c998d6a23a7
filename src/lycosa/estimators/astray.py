"""How far each row is off the track: for those that give up a way after a few irrelevant pages.

Paper items:
    personalized-irrelevant-links: `--strategy link-score,levels=1`. Test: estimators/test_link_score.py::test_levels.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from lycosa.core.columns import fit
from lycosa.core.frontier import PRUNED
from lycosa.core.table import Table
from lycosa.core.types import Rows, Scores, Step

_UNTOLD = np.iinfo(np.int32).max


@dataclass
class Astray:
    """For each row the number of irrelevant pages that lie one after the other on the way to it.

    A link of a relevant page is 0 pages astray, a link of an irrelevant one a page more than that page is. A row that
    several pages link to takes the best of them. Seeds are where they should be, so a link of an irrelevant seed is 1
    page astray. A sitemap is no page that could be irrelevant. A redirect leads no further astray. The new links of a
    page that is visited again go by what it is now.

    Only what is not fetched yet is corrected: when a page that has been fetched is found again on a better way, its
    links stay as they are.
    """

    pages: NDArray[np.int32] = field(default_factory=lambda: np.zeros(0, np.int32), repr=False)

    def learn(self, step: Step, table: Table, *, relevant: bool) -> None:
        """See a page, and whether it is relevant."""
        self.pages = fit(self.pages, len(table), _UNTOLD)
        at = int(self.of(np.array([step.row], np.int32), table)[0])
        if step.visit.kind == "page" or step.visit.is_version:
            at = 0 if relevant else at + 1
        self.pages[step.children] = np.minimum(self.pages[step.children], at)

    def of(self, rows: Rows, table: Table) -> NDArray[np.int32]:
        """How many pages astray each row is; 0 for seeds."""
        pages: NDArray[np.int32] = fit(self.pages, len(table), _UNTOLD)[rows]
        return np.where(table.is_seed[rows] | (pages == _UNTOLD), 0, pages).astype(np.int32)

    def prune(self, scores: Scores, rows: Rows, table: Table, most: int) -> Scores:
        """The scores of rows, PRUNED for those that are more pages astray than that."""
        return np.where(self.of(rows, table) > most, PRUNED, scores)
