"""Pages of a crawl among the training pages of a browsing model: which cluster, and how like the relevant ones.

Paper items:
    batsakis-knn: `--strategy hmm,file=FILE,k=5`. Test: estimators/test_hmm.py::test_the_nearest_pages_vote. Departs: k
        is not given; ours is 5.
    batsakis-xmeans-idf: `--strategy hmm-xmeans,file=FILE`. Test: estimators/test_hmm.py::test_idf_of_the_two_variants.
    batsakis-centroid: `--strategy hybrid,file=FILE`. Test:
        estimators/test_hybrid.py::test_the_centroid_is_the_mean_of_the_relevant_pages. Departs: tf is 1 + log f, and
        each page has length 1.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from functools import cached_property
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from lycosa.core.columns import learned, runs
from lycosa.core.types import Step, Visit
from lycosa.estimators.browsing import Browsing
from lycosa.text.background import Background
from lycosa.text.bags import Bags, idf, unit
from lycosa.text.languages import code_of
from lycosa.text.model_words import ModelWords

Clusters = Literal["kmeans", "xmeans"]

_MOST_ANCHOR = 500
"""Characters of an anchor that count."""


class Vector(NamedTuple):
    """The words of a page that the training pages have, weighed; and the length of the whole vector."""

    columns: NDArray[np.intp]
    values: NDArray[np.float64]
    length: float


def weights(browsing: Browsing, clusters: Clusters) -> NDArray[np.float64]:
    """idf of each term: of the training set for X-Means, of the background statistics for K-Means.

    The thesis has "precomputed" idf with K-Means. Words that the background does not know, and all words of another
    language than it is of, take theirs from the training set.
    """
    own = idf(browsing.pages.document_frequency(len(browsing.terms)), len(browsing)).astype(np.float64)
    if clusters == "xmeans" or code_of(browsing.language, "en") != "en":
        return own
    background = Background.load()
    frequency = background.frequency
    return np.array(
        [background.idf(term) if term in frequency else mine for term, mine in zip(browsing.terms, own, strict=True)]
    )


@dataclass
class Neighbours:
    """Training pages as tf-idf vectors, by term: the nearest to a page say what cluster it is of.

    The nearest k by cosine vote; of clusters with as many votes, the one whose pages are nearer. Pages that have no
    word in common with it are not near. The similarity with the centroid of the relevant pages is the thesis's other
    use of these vectors. Words that no training page has count towards the length of a page, as rare as those of one.

    tf is 1 + log f, as in text/bags.py; each training page is of length 1, and so weighs the same in the centroid.
    """

    browsing: Browsing = field(repr=False)
    clusters: Clusters = "kmeans"
    k: int = 5
    words_: ModelWords = learned()

    def __post_init__(self) -> None:
        self.words_ = ModelWords(self.browsing.column_of)
        self._idf = weights(self.browsing, self.clusters)
        self._unknown = math.log(max(2, len(self.browsing)))
        self._cluster = self.browsing.clustering(self.clusters)
        pages = self.browsing.pages
        values = unit(pages, self._idf.astype(np.float32))
        order = np.argsort(pages.columns, kind="stable")
        order = order[values[order] > 0]  # a word of every page tells nothing
        self._page = pages.rows()[order].astype(np.int32)
        self._value = values[order]
        self._starts = np.searchsorted(pages.columns[order], np.arange(len(self.browsing.terms) + 1))

    @cached_property
    def centroid(self) -> NDArray[np.float64]:
        """The mean of the relevant pages, made a vector of length 1."""
        chosen: Bags = self.browsing.pages.take(np.flatnonzero(self.browsing.relevant))
        values = unit(chosen, self._idf.astype(np.float32))
        summed = np.bincount(chosen.columns, values, minlength=len(self.browsing.terms)).astype(np.float64)
        length = float(np.sqrt(summed @ summed))
        return summed / length if length else summed

    def vector(self, visit: Visit) -> Vector:
        """A page in the terms of the training pages."""
        columns, counts, others = self.words_.of(visit.terms)
        values = (1.0 + np.log(counts)) * self._idf[columns]
        rest = (1.0 + np.log(others)) * self._unknown
        return Vector(columns, values, math.sqrt(float(values @ values + rest @ rest)))

    def nearness(self, page: Vector) -> NDArray[np.float64]:
        """Cosine of the page with each training page."""
        count = len(self.browsing)
        first = self._starts[page.columns]
        lengths = self._starts[page.columns + 1] - first
        at = runs(first, lengths)
        if not page.length or not len(at):
            return np.zeros(count)
        products = self._value[at]
        products *= np.repeat(page.values / page.length, lengths)
        return np.bincount(self._page[at], products, minlength=count).astype(np.float64, copy=False)

    def cluster(self, page: Vector) -> int:
        """The cluster of most of the k nearest training pages; -1 if none is near."""
        near = self.nearness(page)
        k = min(self.k, len(near))
        least = np.partition(near, len(near) - k)[len(near) - k]
        nearest = np.flatnonzero(near > least)
        equal = np.flatnonzero(near == least)[: k - len(nearest)]  # the first of equals, so that all runs agree
        nearest = np.concatenate([nearest, equal])
        nearest = nearest[near[nearest] > 0]
        if not len(nearest):
            return -1
        votes = np.bincount(self._cluster[nearest])
        closeness = np.bincount(self._cluster[nearest], near[nearest])
        return int(np.argmax(np.where(votes == votes.max(), closeness, -1.0)))

    def similarity(self, page: Vector) -> float:
        """Cosine of the page with the centroid of the relevant pages."""
        return min(1.0, float(page.values @ self.centroid[page.columns]) / page.length) if page.length else 0.0

    def of_anchors(self, step: Step) -> NDArray[np.float64]:
        """For each child the largest such cosine among the anchors of the links to it."""
        visit, terms = step.visit, len(self.browsing.terms)
        alike = np.zeros(len(visit.links))
        language = code_of(visit.language, code_of(self.browsing.language, "en"))
        anchors = [anchor[:_MOST_ANCHOR] for anchor in visit.links.anchors]
        links, columns = self.words_.of_texts(anchors, language)
        if len(links):
            # A stem that is not known has no number: all such words of an anchor are taken for one word.
            keys, counts = np.unique(links * (terms + 1) + columns + 1, return_counts=True)
            owners, columns = keys // (terms + 1), keys % (terms + 1) - 1
            worth = np.where(columns >= 0, self._idf[columns], self._unknown) * (1.0 + np.log(counts))
            squares = np.bincount(owners, worth * worth, minlength=len(alike))
            weight = np.where(columns >= 0, self.centroid[columns], 0.0)
            products = np.bincount(owners, worth * weight, minlength=len(alike))
            alike = np.minimum(1.0, products / np.sqrt(np.where(squares > 0, squares, 1.0)))
        return step.strongest(alike)
