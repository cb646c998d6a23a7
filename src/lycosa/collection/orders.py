"""The orders in which a crawl's pages can be read: by relevance, word frequency, date, or novelty.

Paper items:
    personalized-order: `GET /crawls/{crawl}/pages`. Test: collection/test_orders.py::test_word_frequency_is_the_papers.
        Departs: by stems of the words, as the log keeps them.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, TypeAlias, get_args

import numpy as np
from numpy.typing import NDArray

from lycosa.collection.rows import PageRow

Order: TypeAlias = Literal["relevance", "frequency", "date", "novelty"]
ORDERS: tuple[str, ...] = get_args(Order)

CANDIDATES = 3_000
"""Pages among which novelty is weighed, the most relevant ones; the others follow by relevance."""

CHOSEN = 300
"""Pages that are chosen one after the other, each with regard to those before; who reads further has seen most."""

SIDES = 128
"""Numbers by which a page is compared with another."""

RELEVANT = 0.5
"""How much of a page's worth is its relevance; the rest is what is new on it."""

_SPREAD = np.uint32(2_654_435_761)

Column: TypeAlias = NDArray[np.float64]


def arrange(pages: Sequence[PageRow], scores: Column, order: Order, opened: frozenset[str]) -> tuple[list[int], Column]:
    """The places of the pages in an order, and for each page how new it is (1 where nobody has asked).

    relevance: by score, the best first; equal ones in the order in which they were fetched.
    frequency: by how often the words of the topic are on the page, all counted alike. That is the ranking of Trivedi et
    al. 2014 (III, Relevance Calculation; `topics/counting.py`), with each word of the topic as a search string,
    and by stems, as the log keeps those: corals and coral are the same.
    date: by when it last changed in what matters or, if it never has, was first fetched, the newest first.
    novelty: see `novelty`.
    """
    fresh = np.ones(len(pages))
    if order == "novelty":
        return novelty(pages, scores, opened)
    if order == "frequency":
        return np.lexsort((-scores, -np.array([page.frequency for page in pages], float))).tolist(), fresh
    if order == "date":
        return np.argsort(-np.array([date_of(page) for page in pages], float), kind="stable").tolist(), fresh
    return np.argsort(-scores, kind="stable").tolist(), fresh


def date_of(page: PageRow) -> float:
    """When there was last something new on a page."""
    return page.changed or page.started


def novelty(pages: Sequence[PageRow], scores: Column, opened: frozenset[str]) -> tuple[list[int], Column]:
    """Relevant pages that say what those above them do not, nor those that the reader has opened or labelled.

    Greedy, as maximal marginal relevance is (Carbonell and Goldstein 1998): the next page is the one with the largest

        RELEVANT score / best score - (1 - RELEVANT) max similarity to the pages above it and to the known ones

    and its novelty is 1 - that similarity. Similarity is the cosine of the pages' words, 1 + log f weighed by how few
    pages have a word, folded into SIDES numbers with signs by the words' numbers. Known pages come after all others,
    by relevance. The work is bounded: CHOSEN choices among CANDIDATES.
    """
    by_score = np.argsort(-scores, kind="stable")
    is_known = np.array([page.node in opened for page in pages], np.bool_)
    new, old = by_score[~is_known[by_score]], by_score[is_known[by_score]]
    candidates = new[:CANDIDATES]
    fresh = np.ones(len(pages))
    fresh[old] = 0.0
    if not len(candidates):
        return old.tolist(), fresh
    seen = old[:CANDIDATES]
    vectors = _vectors([pages[at] for at in [*candidates.tolist(), *seen.tolist()]])
    mine, others = vectors[: len(candidates)], vectors[len(candidates) :]
    nearest = (mine @ others.T).max(axis=1) if len(others) else np.zeros(len(candidates), np.float32)
    worth = RELEVANT * scores[candidates] / max(float(scores.max()), 1e-9)
    left = np.ones(len(candidates), np.bool_)
    chosen: list[int] = []
    for _ in range(min(CHOSEN, len(candidates))):
        value = np.where(left, worth - (1 - RELEVANT) * nearest, -np.inf)
        at = int(value.argmax())
        fresh[candidates[at]] = 1.0 - min(1.0, max(0.0, float(nearest[at])))
        left[at] = False
        chosen.append(int(candidates[at]))
        nearest = np.maximum(nearest, mine @ mine[at])
    rest = candidates[left]
    fresh[rest] = 1.0 - np.clip(nearest[left], 0.0, 1.0)
    last = rest[np.argsort(-(worth - (1 - RELEVANT) * nearest)[left], kind="stable")]
    return [*chosen, *last.tolist(), *new[CANDIDATES:].tolist(), *old.tolist()], fresh


def _vectors(pages: Sequence[PageRow]) -> NDArray[np.float32]:
    """A line of numbers for each page, of length 1."""
    terms = pages[0].view.words_on([page.number for page in pages])
    ids = np.concatenate([words for words, _ in terms])
    counts = np.concatenate([counts for _, counts in terms])
    lines = np.repeat(np.arange(len(pages)), [len(words) for words, _ in terms])
    vectors = np.zeros((len(pages), SIDES), np.float32)
    if len(ids):
        words, which, holders = np.unique(ids, return_inverse=True, return_counts=True)
        rare = np.log((len(pages) + 1) / holders)
        mixed = words.astype(np.uint32) * _SPREAD
        side, sign = (mixed >> np.uint32(8)) % np.uint32(SIDES), np.where(mixed >> np.uint32(31), 1.0, -1.0)
        weights = (1.0 + np.log(np.maximum(counts, 1))) * (rare * sign)[which]
        places = lines * SIDES + side[which].astype(np.int64)
        vectors[:] = np.bincount(places, weights, len(pages) * SIDES).reshape(len(pages), SIDES)
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    return (vectors / np.where(lengths > 0, lengths, 1.0)).astype(np.float32)
