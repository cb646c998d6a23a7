"""Hybrid of a hidden Markov model and best-first: where the way leads, and how like the relevant pages it looks.

Paper items:
    batsakis-eq11: `--strategy hybrid,file=FILE,literal=yes`. Test:
        estimators/test_hybrid.py::test_equations_11_and_12_with_the_weights_of_the_thesis. Departs: without `literal`,
        tf is 1 + log f, and forward values are normalised.
    batsakis-eq12: `--strategy hybrid-anchor,file=FILE,literal=yes`. Test:
        estimators/test_hybrid.py::test_equations_11_and_12_with_the_weights_of_the_thesis. Departs: as eq. 11.
    batsakis-figure-10: `--strategy hybrid,file=FILE`. Test: estimators/test_hybrid.py::test_figure_10.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from lycosa.core.columns import learned
from lycosa.core.types import Step
from lycosa.estimators.hmm import Browsed
from lycosa.estimators.markov import Chain, Trail
from lycosa.estimators.neighbours import Clusters, Neighbours, Vector
from lycosa.estimators.parents import MaxOrLast
from lycosa.text.browsing import Browsing


@dataclass
class Hybrid(Browsed):
    """priority = (similarity(page, c_r) + hmm(page)) / 2 (eq. 11); with `anchors`, links of a page differ:

    priority = (hmm(page) + (similarity(page, c_r) + similarity(anchor, c_r)) / 2) / 2 (eq. 12).

    hmm is a(L0, t + 1), see hmm.py, and c_r the centroid of the relevant pages of the browsing, so that pages of one
    cluster differ, and it matters less how well clusters stand for all that is not relevant. There are no buckets:
    pages that the model can't tell apart are told apart by their similarity. A page without known words has the
    similarity 0, and an anchor without any too. The other parameters are those of `hmm`.

    Paper: Batsakis 2007, section 3.4.2, eq. 11, 12. Departures: w = (1 + log f) idf, and each relevant page weighs the
    same in c_r; all words of a page or anchor that no training page has count towards its length, as rare as those of
    one page; and those of `hmm`. `literal=yes` takes none: weights of the thesis's eq. 1, and forward values as eq. 5
    has them, which soon fade, so that likeness decides alone.

    >>> from lycosa.core.table import Table
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

    file: str | Browsing = ""
    anchors: bool = False
    clusters: Clusters = "kmeans"
    k: int = 5
    smoothing: float = 0.1
    merge: MaxOrLast = "max"
    literal: bool = False
    pages_: Neighbours = learned()
    chain_: Chain = learned()
    trail_: Trail = learned()

    def __post_init__(self) -> None:
        self.set_up(self.literal)

    def priority(self, step: Step, page: Vector, now: NDArray[np.float64]) -> float | NDArray[np.float64]:
        """Equation 11 or 12."""
        hmm = float(self.chain_.onward(now)[0])
        likeness = self.pages_.similarity(page)
        if not self.anchors:
            return (likeness + hmm) / 2
        mixed: NDArray[np.float64] = (hmm + (likeness + self.pages_.of_anchors(step)) / 2) / 2
        return mixed

    def said(self, step: Step) -> dict[str, float | NDArray[np.float64]]:
        """The parts of equation 11 or 12."""
        likeness = self.pages_.similarity(self.pages_.vector(step.visit))
        way: dict[str, float | NDArray[np.float64]] = {name: one / 2 for name, one in self.by_state(step).items()}
        if not self.anchors:
            return {**way, "its page is like the relevant ones": likeness / 2}
        anchors = self.pages_.of_anchors(step) / 4
        return {**way, "its page is like the relevant ones": likeness / 4, "the anchor is": anchors}
