"""Relevance as similarity to the relevant pages of recorded browsing."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from lycosa.judges.vector_judge import VectorJudge
from lycosa.text.background import Background
from lycosa.text.bags import idf, unit
from lycosa.text.browsing import Browsing


class BrowsingJudge(VectorJudge):
    """Similarity to recorded browsing: beta = cosine of page and c_r, alpha = cosine of anchor and c_r.

    c_r is the mean of the relevant training pages of `--strategy hmm,file=FILE` and the other learning strategies,
    which use it in place of a query; this is the default judge for them if no topic is given. Weights are (1 + log f)
    idf with idf = log(N / N_j) of the training set; N_j is 1 for words that no training page has. Page vectors are
    scaled to unit length before they are averaged, and c_r keeps its 1,000 heaviest terms. The default threshold
    separates relevant from other training pages with the largest F1, where each relevant page is compared with the mean
    of the others.

    >>> from lycosa.core.types import Page
    >>> from lycosa.text.bags import Bags
    >>> from lycosa.text.vocabulary import Vocabulary
    >>> pages = Bags.of([([0], [1]), ([1], [1]), ([1, 2], [1, 1]), ([2], [1])])          # idf log 4, log 2, log 2
    >>> browsing = Browsing(
    ...     ["list", "reef", "coral"], pages, ["a", "b", "c", "d"], np.array([False, True, True, True]),
    ...     np.array([1, 0, 0, 0]), np.array([[0, 1], [1, 2]]), {"kmeans": np.array([0, 1, 1, 1])}, states=2,
    ... )
    >>> judge, page = BrowsingJudge(browsing), Page("ok", marked="the reefs")
    >>> round(judge.judge(page, Vocabulary().read(page)).relevance, 3), round(judge.threshold, 3)  # 1/sqrt(2), .383/2
    (0.707, 0.191)

    Paper: Batsakis 2007, 3.1 (input of learning crawlers), 3.4.2 (c_r and the similarity to it, eq. 2), 3.4.1 b (idf of
    the training set). Departure: 1 + log f for f / max f, see `vector`.
    """

    def __init__(self, file: str | Browsing = "", threshold: float = 0.0) -> None:
        self.browsing = Browsing.of(file)
        weights, rarity, default_threshold = _centroid(self.browsing)
        super().__init__(weights, threshold or default_threshold, idf="background", background=rarity, stemmed=True)

    @property
    def fingerprint(self) -> object:
        return self.browsing.digest


def _centroid(browsing: Browsing) -> tuple[dict[str, float], Background, float]:
    pages, count = browsing.pages, len(browsing)
    frequency = pages.document_frequency(len(browsing.terms))
    rarity = idf(frequency, count)
    values, rows = unit(pages, rarity), pages.rows()
    of_relevant = browsing.relevant[rows]
    total = np.bincount(pages.columns[of_relevant], values[of_relevant], len(browsing.terms))
    kept = np.argsort(-total, kind="stable")[:1000]
    kept = kept[total[kept] > 0]
    weights = {browsing.terms[at]: float(total[at] / rarity[at]) for at in kept.tolist()}
    counted = {term: int(n) for term, n in zip(browsing.terms, frequency, strict=True)}
    if not weights:  # all words are on every page, so idf is 0: use equal weights
        weights = dict.fromkeys((browsing.terms[at] for at in np.unique(pages.columns[of_relevant])), 1.0)
        counted = {}
    # Leave-one-out similarity: each page is compared with c_r computed without it.
    dots = np.bincount(rows, values * total[pages.columns], count)
    square, own = float(total @ total), np.where(browsing.relevant, np.bincount(rows, values**2, count), 0.0)
    rest = np.sqrt(np.maximum(0.0, square - 2 * np.where(browsing.relevant, dots, 0.0) + own))
    similarity = np.where(rest > 0, (dots - own) / np.where(rest > 0, rest, 1.0), 0.0)
    background = Background(max(2, count), counted, browsing.language)
    return weights, background, _threshold(similarity, browsing.relevant)


def _threshold(similarity: NDArray[np.float64], relevant: NDArray[np.bool_]) -> float:
    """Return the threshold with the largest F1, half-way between the two pages that it separates.

    >>> _threshold(np.array([.9, .5, .3, .1]), np.array([True, True, False, False]))
    0.4
    """
    if relevant.all() or not similarity[relevant].any():
        return 0.2  # nothing to compare with, so use the threshold of example pages (factory.py)
    order = np.argsort(-similarity, kind="stable")
    relevant_count = np.cumsum(relevant[order])
    f1 = 2 * relevant_count / (np.arange(1, len(order) + 1) + relevant.sum())
    f1[similarity[order] <= 0] = 0.0
    last = int(np.flatnonzero(f1 == f1.max())[-1])
    below = similarity[order[last + 1]] if last + 1 < len(order) else 0.0
    return round(float(similarity[order[last]] + below) / 2, 3)
