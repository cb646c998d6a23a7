"""Nearest training pages of a browsing model: the cluster of a page and its similarity to the relevant pages."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from lycosa.core.columns import column, fit, learned, runs
from lycosa.core.types import Step, Visit
from lycosa.text.background import Background
from lycosa.text.bags import Bags, idf, unit
from lycosa.text.browsing import Browsing
from lycosa.text.languages import code_of
from lycosa.text.model_words import ModelWords
from lycosa.text.tokens import stems

Clusters = Literal["kmeans", "xmeans"]


class PageVector(NamedTuple):
    """Weights of the words of a page that occur in training pages, and the length of the vector of all its words."""

    columns: NDArray[np.intp]
    values: NDArray[np.float64]
    length: float


def weights(browsing: Browsing, clusters: Clusters) -> NDArray[np.float64]:
    """Return the idf of each term, from the training set for X-Means, from the background statistics for K-Means.

    Terms missing there, and languages other than English, get the idf of the training set.
    """
    own = idf(browsing.pages.document_frequency(len(browsing.terms)), len(browsing)).astype(np.float64)
    if _uses_own_idf(browsing, clusters):
        return own
    background = Background.load()
    frequency = background.frequency
    known = zip(browsing.terms, own, strict=True)
    return np.array([background.idf(term) if term in frequency else own_idf for term, own_idf in known])


def _uses_own_idf(browsing: Browsing, clusters: Clusters) -> bool:
    return clusters == "xmeans" or code_of(browsing.language, "en") != "en"


@dataclass
class Neighbours:
    """Training pages as tf-idf vectors, indexed by term; the nearest ones determine the cluster of a page.

    The nearest k by cosine vote; ties go to the cluster with the larger sum of cosines. Pages without a common word do
    not vote. The similarity with the centroid of the relevant pages is the thesis's other use of these vectors. Words
    that no training page has count towards the length of a page, with the idf of words of one page.

    tf is 1 + log f, as in text/bags.py; training pages have length 1, so all weigh the same in the centroid.
    """

    browsing: Browsing = field(repr=False)
    clusters: Clusters = "kmeans"
    k: int = 5
    words_: ModelWords = learned()

    def __post_init__(self) -> None:
        self.words_ = ModelWords(self.browsing.column_of)
        self._idf = self._term_idf()
        self._unknown = math.log(max(2, len(self.browsing)))
        self._cluster = self.browsing.clustering(self.clusters)
        pages = self.browsing.pages
        values = self._unit(pages)
        order = np.argsort(pages.columns, kind="stable")
        order = order[values[order] > 0]  # words that are on every page have a weight of 0
        self._page = pages.rows()[order].astype(np.int32)
        self._value = values[order]
        self._starts = np.searchsorted(pages.columns[order], np.arange(len(self.browsing.terms) + 1))

    def _term_idf(self) -> NDArray[np.float64]:
        return weights(self.browsing, self.clusters)

    def _unit(self, pages: Bags) -> NDArray[np.float64]:
        return unit(pages, self._idf.astype(np.float32))

    def _centroid_weights(self, pages: Bags) -> NDArray[np.float64]:
        return self._unit(pages)

    @cached_property
    def centroid(self) -> NDArray[np.float64]:
        """Mean of the relevant pages, scaled to length 1."""
        chosen: Bags = self.browsing.pages.take(np.flatnonzero(self.browsing.relevant))
        values = self._centroid_weights(chosen)
        summed = np.bincount(chosen.columns, values, minlength=len(self.browsing.terms)).astype(np.float64)
        length = float(np.sqrt(summed @ summed))
        return summed / length if length else summed

    def follow(self, words: Sequence[str]) -> None:
        self.words_.follow(words)

    def vector(self, visit: Visit) -> PageVector:
        columns, counts, others = self.words_.of(visit.terms)
        values = (1.0 + np.log(counts)) * self._idf[columns]
        rest = (1.0 + np.log(others)) * self._unknown
        return PageVector(columns, values, math.sqrt(float(values @ values + rest @ rest)))

    def nearness(self, page: PageVector) -> NDArray[np.float64]:
        """Return the cosine of the page with each training page."""
        count = len(self.browsing)
        first = self._starts[page.columns]
        lengths = self._starts[page.columns + 1] - first
        at = runs(first, lengths)
        if not page.length or not len(at):
            return np.zeros(count)
        products = self._value[at]
        products *= np.repeat(page.values / page.length, lengths)
        return np.bincount(self._page[at], products, minlength=count).astype(np.float64, copy=False)

    def cluster(self, page: PageVector) -> int:
        """Return the cluster that wins the vote of the k nearest training pages, or -1 if no page is near."""
        near = self.nearness(page)
        k = min(self.k, len(near))
        least = np.partition(near, len(near) - k)[len(near) - k]
        nearest = np.flatnonzero(near > least)
        equal = np.flatnonzero(near == least)[: k - len(nearest)]  # lowest number first, so that all runs agree
        nearest = np.concatenate([nearest, equal])
        nearest = nearest[near[nearest] > 0]
        if not len(nearest):
            return -1
        votes = np.bincount(self._cluster[nearest])
        closeness = np.bincount(self._cluster[nearest], near[nearest])
        return int(np.argmax(np.where(votes == votes.max(), closeness, -1.0)))

    def similarity(self, page: PageVector) -> float:
        return min(1.0, float(page.values @ self.centroid[page.columns]) / page.length) if page.length else 0.0

    def anchor_similarities(self, step: Step) -> NDArray[np.float64]:
        """Return for each child the largest cosine with the centroid among the anchors of the links to it."""
        visit = step.visit
        language = code_of(visit.language, code_of(self.browsing.language, "en"))
        return step.strongest(self._anchors([anchor[:500] for anchor in visit.links.anchors], language))

    def _anchors(self, anchors: list[str], language: str) -> NDArray[np.float64]:
        similarities, terms = np.zeros(len(anchors)), len(self.browsing.terms)
        links, columns = self.words_.of_texts(anchors, language)
        if len(links):
            # Unknown stems have no id, so all unknown words of an anchor count as one.
            keys, counts = np.unique(links * (terms + 1) + columns + 1, return_counts=True)
            owners, columns = keys // (terms + 1), keys % (terms + 1) - 1
            word_weights = np.where(columns >= 0, self._idf[columns], self._unknown) * (1.0 + np.log(counts))
            squares = np.bincount(owners, word_weights * word_weights, minlength=len(similarities))
            weight = np.where(columns >= 0, self.centroid[columns], 0.0)
            products = np.bincount(owners, word_weights * weight, minlength=len(similarities))
            similarities = np.minimum(1.0, products / np.sqrt(np.where(squares > 0, squares, 1.0)))
        return similarities


@dataclass
class LiteralNeighbours(Neighbours):
    """Neighbours with the thesis's own weights, w = f / max f idf (Batsakis 2007, eq. 1).

    The centroid is the mean of the unscaled vectors, so long vectors weigh more; max f cancels in cosines only. idf is
    precomputed for K-Means, for any word of English, and log(N / N_j) of the training set for X-Means, where a word
    that no training page has counts as seen once.
    """

    idf_: NDArray[np.float64] = column()  # idf of each word of the crawl, by id
    size_: int = learned(int)

    def _term_idf(self) -> NDArray[np.float64]:
        self._background = None if _uses_own_idf(self.browsing, self.clusters) else Background.load()
        if self._background is None:
            return super()._term_idf()
        return np.array([self._background.idf(term) for term in self.browsing.terms])

    def _unit(self, pages: Bags) -> NDArray[np.float64]:
        values = pages.counts * self._idf[pages.columns]
        length = np.sqrt(pages.totals(values * values))
        values /= np.where(length > 0, length, 1.0)[pages.rows()]
        return values

    def _centroid_weights(self, pages: Bags) -> NDArray[np.float64]:
        most, rows = np.zeros(len(pages)), pages.rows()
        np.maximum.at(most, rows, pages.counts)
        shares: NDArray[np.float64] = pages.counts / most[rows] * self._idf[pages.columns]
        return shares

    def follow(self, words: Sequence[str]) -> None:
        super().follow(words)
        if len(words) > self.size_:
            self.idf_ = fit(self.idf_, len(words))
            self.idf_[self.size_ : len(words)] = [self._idf_of(stem) for stem in words[self.size_ :]]
            self.size_ = len(words)

    def _idf_of(self, stem: str) -> float:
        place = self.browsing.column_of.get(stem)
        if place is not None:
            return float(self._idf[place])
        return self._unknown if self._background is None else self._background.idf(stem)

    def vector(self, visit: Visit) -> PageVector:
        columns, counts, _ = self.words_.of(visit.terms)
        every = visit.terms.counts * self.idf_[visit.terms.ids]
        return PageVector(columns, counts * self._idf[columns], math.sqrt(float(every @ every)))

    def _anchors(self, anchors: list[str], language: str) -> NDArray[np.float64]:
        similarities, place_of = np.zeros(len(anchors)), self.browsing.column_of
        for number, anchor in enumerate(anchors):
            counts = Counter(stems(anchor, language))
            word_weights = {stem: count * self._idf_of(stem) for stem, count in counts.items()}
            length = math.hypot(*word_weights.values())
            places = [(place_of[stem], weight) for stem, weight in word_weights.items() if stem in place_of]
            if length:
                product = sum(weight * float(self.centroid[place]) for place, weight in places)
                similarities[number] = min(1.0, product / length)
        return similarities
