"""Someone's browsing as the topic: how like its relevant pages a page is."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from lycosa.judges.vector_judge import VectorJudge
from lycosa.text.background import Background
from lycosa.text.bags import idf, unit
from lycosa.text.browsing import Browsing


class BrowsingJudge(VectorJudge):
    """beta = cosine of the page and c_r, the mean of the relevant training pages; alpha = that of the anchor and c_r.

    It is the training set of `--strategy hmm,file=FILE` and its kin, and judges where no other topic is given: learning
    crawlers take a training set in place of a query. Weights are (1 + log f) idf, with idf = log(N / N_j) of the
    training set, where a word that none of its pages has counts as met once; vectors are of length 1 before the mean,
    and the thousand heaviest terms of c_r count. The threshold lies where it tells the relevant training pages best
    from the others (largest F1), each relevant page being compared with the mean of the others.

    >>> from lycosa.core.types import Page
    >>> from lycosa.text.bags import Bags
    >>> from lycosa.text.vocabulary import Vocabulary
    >>> pages = Bags.of([([0], [1]), ([1], [1]), ([1, 2], [1, 1]), ([2], [1])])          # idf log 4, log 2, log 2
    >>> browsing = Browsing(
    ...     ["list", "reef", "coral"], pages, ["a", "b", "c", "d"], np.array([False, True, True, True]),
    ...     np.array([1, 0, 0, 0]), np.array([[0, 1], [1, 2]]), {"kmeans": np.array([0, 1, 1, 1])}, states=2,
    ... )
    >>> topic, page = BrowsingJudge(browsing), Page("ok", marked="the reefs")
    >>> round(topic.judge(page, Vocabulary().read(page)).relevance, 3), round(topic.threshold, 3)  # 1/sqrt(2), .383/2
    (0.707, 0.191)

    Paper: Batsakis 2007, 3.1 (what learning crawlers take as input), 3.4.2 (c_r and the similarity with it, eq. 2),
    3.4.1 b (idf of the training set). Departure: 1 + log f for f / max f, see `vector`.
    """

    def __init__(self, file: str | Browsing = "", threshold: float = 0.0) -> None:
        self.browsing = Browsing.of(file)
        weights, rarity, likely = _centroid(self.browsing)
        super().__init__(weights, threshold or likely, idf="background", background=rarity, stemmed=True)

    @property
    def fingerprint(self) -> object:
        return self.browsing.digest


def _centroid(browsing: Browsing) -> tuple[dict[str, float], Background, float]:
    """Return c_r as weights of stems, to be multiplied by idf; the idf of the training set; and the threshold."""
    pages, count = browsing.pages, len(browsing)
    frequency = pages.document_frequency(len(browsing.terms))
    rarity = idf(frequency, count)
    values, rows = unit(pages, rarity), pages.rows()
    of_relevant = browsing.relevant[rows]
    total = np.bincount(pages.columns[of_relevant], values[of_relevant], len(browsing.terms))
    heaviest = np.argsort(-total, kind="stable")[:1000]  # heaviest terms of the centroid
    heaviest = heaviest[total[heaviest] > 0]
    weights = {browsing.terms[at]: float(total[at] / rarity[at]) for at in heaviest.tolist()}
    counted = {term: int(met) for term, met in zip(browsing.terms, frequency, strict=True)}
    if not weights:  # every word stands on every page: then all weigh the same
        weights = dict.fromkeys((browsing.terms[at] for at in np.unique(pages.columns[of_relevant])), 1.0)
        counted = {}
    # What is left of c_r without a relevant page itself, times that page: its likeness to the others.
    dots = np.bincount(rows, values * total[pages.columns], count)
    square, own = float(total @ total), np.where(browsing.relevant, np.bincount(rows, values**2, count), 0.0)
    rest = np.sqrt(np.maximum(0.0, square - 2 * np.where(browsing.relevant, dots, 0.0) + own))
    likeness = np.where(rest > 0, (dots - own) / np.where(rest > 0, rest, 1.0), 0.0)
    background = Background(max(2, count), counted, browsing.language)
    return weights, background, _threshold(likeness, browsing.relevant)


def _threshold(likeness: NDArray[np.float64], relevant: NDArray[np.bool_]) -> float:
    """Half-way between the last page that counts and the first that does not, where F1 is largest.

    >>> _threshold(np.array([.9, .5, .3, .1]), np.array([True, True, False, False]))
    0.4
    """
    if relevant.all() or not likeness[relevant].any():
        return 0.2  # there are no pages to compare with: as for examples (making.py)
    order = np.argsort(-likeness, kind="stable")
    hits = np.cumsum(relevant[order])
    f1 = 2 * hits / (np.arange(1, len(order) + 1) + relevant.sum())
    f1[likeness[order] <= 0] = 0.0
    last = int(np.flatnonzero(f1 == f1.max())[-1])
    below = likeness[order[last + 1]] if last + 1 < len(order) else 0.0
    return round(float(likeness[order[last]] + below) / 2, 3)
