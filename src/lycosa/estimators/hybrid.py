"""Hybrid of a hidden Markov model and best-first: where the way leads, and how like the relevant pages it looks."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from lycosa.core.table import Table
from lycosa.core.types import Rows, Scores, Step
from lycosa.estimators.browsing import Browsing
from lycosa.estimators.hmm import learned
from lycosa.estimators.markov import Chain, Merge, Trail
from lycosa.estimators.neighbours import Clusters, Neighbours


@dataclass
class Hybrid:
    """priority = (similarity(page, c_r) + hmm(page)) / 2 (eq. 11); with `anchors`, links of a page differ:

    priority = (hmm(page) + (similarity(page, c_r) + similarity(anchor, c_r)) / 2) / 2 (eq. 12).

    hmm is a(L0, t + 1), see hmm.py, and c_r the centroid of the relevant pages of the browsing, so that pages of one
    cluster differ, and it matters less how well clusters stand for all that is not relevant. There are no buckets:
    pages that the model can't tell apart are told apart by their similarity. A page without known words has the
    similarity 0, and an anchor without any too. The other parameters are those of `hmm`.

    Paper: Batsakis 2007, section 3.4.2, eq. 11, 12. Departure: all words of a page or anchor that no training page has
    count towards its length, as rare as those of one page.

    >>> from lycosa.core.types import Links, Terms, Visit
    >>> from lycosa.text.bags import Bags
    >>> pages = Bags.of([([0], [1]), ([0], [2]), ([1], [3])])
    >>> browsing = Browsing(
    ...     ["list", "reef"], pages, ["a", "b", "c"], np.array([False, False, True]), np.array([2, 1, 0]),
    ...     np.array([[0, 1], [1, 2], [0, 1]]), {"kmeans": np.array([0, 0, 1])}, states=3,
    ... )
    >>> visit = Visit("u", "page", "ok", 1, links=Links.to("v"), terms=Terms(np.array([0]), np.array([1]), ["list"]))
    >>> visit.links.anchors[0] = "the reef"
    >>> for anchors in (False, True):                   # (0 + .7684) / 2, and (.7684 + (0 + 1) / 2) / 2
    ...     hybrid, table = Hybrid(browsing, anchors), Table()
    ...     _ = table.add_seed("u")
    ...     print(hybrid.score(hybrid.learn(table.absorb(visit), table), table).round(4).tolist())
    [0.3842]
    [0.6342]
    """

    proportional: ClassVar[bool] = True

    file: str | Browsing = ""
    anchors: bool = False
    clusters: Clusters = "kmeans"
    k: int = 5
    smoothing: float = 0.1
    merge: Merge = "max"
    pages_: Neighbours = field(init=False, repr=False, compare=False)
    chain_: Chain = field(init=False, repr=False, compare=False)
    trail_: Trail = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        self.pages_, self.chain_ = learned(self.file, self.clusters, self.k, self.smoothing)
        self.trail_ = Trail(self.chain_, self.merge)

    def learn(self, step: Step, table: Table) -> Rows:
        """Give the links what the way and the words promise."""
        likeness: float | NDArray[np.float64] = 0.0
        self.pages_.words_.learn(table)
        if step.visit.outcome != "redirect" and len(step.children):
            page = self.pages_.vector(step.visit)
            now = self.trail_.visit(step, table, self.pages_.cluster(page))
            hmm = float(self.chain_.onward(now)[0])
            likeness = self._mixed(hmm, self.pages_.similarity(page), step)
        return self.trail_.tell(step, table, likeness)

    def score(self, rows: Rows, table: Table) -> Scores:
        """The priority; 0 for a row nobody has linked to."""
        return self.trail_.score(rows, table)

    def _mixed(self, hmm: float, page: float, step: Step) -> float | NDArray[np.float64]:
        if not self.anchors:
            return (page + hmm) / 2
        mixed: NDArray[np.float64] = (hmm + (page + self.pages_.of_anchors(step)) / 2) / 2
        return mixed
