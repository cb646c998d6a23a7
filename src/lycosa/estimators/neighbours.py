"""Pages of a crawl among the training pages of a browsing model: which cluster, and how like the relevant ones."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from lycosa.core.columns import fit
from lycosa.core.table import Table
from lycosa.core.types import Step, Visit
from lycosa.estimators.browsing import Browsing
from lycosa.text.background import Background
from lycosa.text.bags import Bags, idf, unit
from lycosa.text.languages import code_of
from lycosa.text.tokens import OPEN_TOKEN, fold, stem_all

Clusters = Literal["kmeans", "xmeans"]

_MOST_TOKENS = 100_000
"""Words of anchors whose stems are remembered; then it begins anew."""

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
class Words:
    """The words of visits as columns of a browsing model.

    Visits name their words by number. The table has the stems of all of them, also of pages that no strategy sees.

    >>> from lycosa.core.types import Terms
    >>> table, words = Table(), Words({"coral": 0, "reef": 1})
    >>> visit = Visit("a", "page", "ok", 1, terms=Terms(np.array([0, 1]), np.array([1, 3]), ["sea", "reef"]))
    >>> _ = table.absorb(visit)
    >>> words.learn(table)
    >>> words.of(visit)
    (array([1]), array([3.]), array([1.]))
    """

    column_of: dict[str, int] = field(repr=False)
    columns_: NDArray[np.int32] = field(default_factory=lambda: np.zeros(0, np.int32), repr=False, compare=False)
    """Of each word of the crawl; -1 for one that no training page has."""
    size_: int = field(default=0, repr=False, compare=False)
    tokens_: dict[str, dict[bytes, int]] = field(default_factory=dict, repr=False, compare=False)

    def learn(self, table: Table) -> None:
        """Look up the stems that are new."""
        new = table.stems[self.size_ :]
        if new:
            self.columns_ = fit(self.columns_, len(table.stems), -1)
            self.columns_[self.size_ : len(table.stems)] = [self.column_of.get(stem, -1) for stem in new]
            self.size_ = len(table.stems)

    def of(self, visit: Visit) -> tuple[NDArray[np.intp], NDArray[np.float64], NDArray[np.float64]]:
        """The known words of a page: columns and counts; and the counts of those that are not known."""
        ids, counts = visit.terms.ids, visit.terms.counts.astype(np.float64)
        if not len(ids):
            return np.zeros(0, np.intp), counts, counts
        columns = fit(self.columns_, int(ids.max()) + 1, -1)[ids]
        in_model = columns >= 0
        return columns[in_model].astype(np.intp), counts[in_model], counts[~in_model]

    def anchors(self, texts: Sequence[str], language: str) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
        """The words of some short texts: for each the number of its text, and its column or -1."""
        joined = "\x01".join(text[:_MOST_ANCHOR].replace("\x01", " ").replace("\x02", " ") for text in texts)
        tokens = fold(joined, language).split()
        if sum(map(len, self.tokens_.values())) > _MOST_TOKENS:
            self.tokens_.clear()
        columns_of = self.tokens_.setdefault(language, {})
        new = [token for token in dict.fromkeys(tokens) if token not in columns_of]
        for token, stem in zip(new, stem_all(new, language), strict=True):
            columns_of[token] = self.column_of.get(stem, -1) if stem else _NO_WORD
        columns_of[OPEN_TOKEN] = _NEXT
        columns = np.array([columns_of[token] for token in tokens], np.intp)
        text = np.cumsum(columns == _NEXT)
        return text[columns > _NO_WORD], columns[columns > _NO_WORD]


_NO_WORD, _NEXT = -2, -3
"""In place of a column: a stop word, and where one anchor ends and the next begins."""


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
    words_: Words = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        self.words_ = Words(self.browsing.column_of)
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
        columns, counts, others = self.words_.of(visit)
        values = (1.0 + np.log(counts)) * self._idf[columns]
        rest = (1.0 + np.log(others)) * self._unknown
        return Vector(columns, values, math.sqrt(float(values @ values + rest @ rest)))

    def nearness(self, page: Vector) -> NDArray[np.float64]:
        """Cosine of the page with each training page."""
        count = len(self.browsing)
        first = self._starts[page.columns]
        lengths = self._starts[page.columns + 1] - first
        ends = np.cumsum(lengths)
        if not page.length or not len(ends) or not ends[-1]:
            return np.zeros(count)
        at = np.repeat(first - ends + lengths, lengths)
        at += np.arange(len(at))
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
        links, columns = self.words_.anchors(visit.links.anchors, language)
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
