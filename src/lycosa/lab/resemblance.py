"""How like pages are to the nearest of some relevant ones: the largest cosine of tf-idf vectors (Batsakis 2007)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from lycosa.core.errors import InputError
from lycosa.core.telling import Tell, silent
from lycosa.lab.index import Index
from lycosa.lab.measures import Floats
from lycosa.text.background import Background
from lycosa.text.bags import Bags, idf

AT_ONCE = 256
"""Relevant pages that all others are compared with at a time."""

Idf = Literal["background", "pages", "none"]


def nearest(pages: Bags, relevant: Bags, idf: NDArray[np.floating], tell: Tell = silent) -> Floats:
    """Of each page the largest cosine with any of the relevant ones; 0 for one that has no words, or none in common.

        max over r of  sum_j w_dj w_rj / (|w_d| |w_r|),   w_ij = f_ij / max f_i * idf_j

    max f_i is the same in numerator and denominator, so it is left out.

    >>> pages, relevant = Bags.of([([0, 1], [3, 4]), ([2], [1])]), Bags.of([([0], [1]), ([1], [7])])
    >>> nearest(pages, relevant, np.ones(3)).tolist()       # 3/5 with one, 4/5 with the other
    [0.8, 0.0]
    """
    own, wanted = _unit(pages, idf), _unit(relevant, idf)
    terms = np.unique(relevant.columns)
    place = np.full(1 + max(pages.columns.max(initial=0), relevant.columns.max(initial=0)), -1, np.intp)
    place[terms] = np.arange(len(terms))
    common = place[pages.columns] >= 0  # what no relevant page has says nothing but how long a page is
    starts = np.concatenate([[0], np.cumsum(common)])[pages.starts].astype(np.intp)
    shared = Bags(starts, place[pages.columns[common]], np.ones(int(common.sum())))
    owners, best = relevant.rows(), np.zeros(len(pages))
    for first in range(0, len(relevant), AT_ONCE):
        last = min(first + AT_ONCE, len(relevant))
        here = slice(relevant.starts[first], relevant.starts[last])
        dense = np.zeros((len(terms), last - first), np.float32)
        dense[place[relevant.columns[here]], owners[here] - first] = wanted[here]
        best = np.maximum(best, shared.times(own[common], dense).max(axis=1, initial=0.0))
        tell("comparing pages", last, len(relevant))
    return np.minimum(best.round(7), 1.0)  # single precision: what a page has in common with itself is 1


def nearest_in(index: Index, relevant: Sequence[int] | NDArray[np.integer], *, idf: Idf = "background") -> Floats:
    """The same for all pages of an index, the relevant ones given by their numbers: for simulated crawls."""
    if not index.has_text:
        raise InputError("the index holds a graph without texts: similarity is for pages with words")
    start = np.asarray(index.term_start, np.intp)
    pages = Bags(start, np.asarray(index.term, np.intp), np.asarray(index.count, np.float64))
    given = pages.take(np.asarray(relevant, np.intp))
    return nearest(pages, given, idf_of(index.stems, (pages,), idf))


def idf_of(
    stems: Sequence[str], bags: Iterable[Bags], kind: Idf, background: Background | None = None
) -> NDArray[np.float32]:
    """log(N / N_j) of each stem: by statistics of a language, or counted over the pages at hand; or 1 for all."""
    if kind == "none":
        return np.ones(len(stems), np.float32)
    if kind == "background":
        known = background or Background.load()
        return np.array([known.idf(stem) for stem in stems], np.float32)
    bags = list(bags)
    return idf(
        sum((one.document_frequency(len(stems)) for one in bags), np.zeros(len(stems), np.intp)), sum(map(len, bags))
    )


def _unit(bags: Bags, idf: NDArray[np.floating]) -> Floats:
    """Values of each bag, of length 1."""
    values = bags.counts * idf[bags.columns]
    length = np.sqrt(np.bincount(bags.rows(), values * values, len(bags)))
    units: Floats = values / np.where(length > 0, length, 1.0)[bags.rows()]
    return units
