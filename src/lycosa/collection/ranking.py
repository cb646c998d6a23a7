"""Which pages answer a query best: BM25 over all pages at once, with numpy; phrases are looked up in FTS5.

Robertson & Zaragoza 2009, "The Probabilistic Relevance Framework: BM25 and Beyond", section 3. Departures: a word of
the title counts as several words of the text, as in BM25F but with one length for both; and a word that is on more
than half of the pages still counts a little (Lucene's idf), because in a focused crawl the topic's own words are.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from lycosa.collection.filters import Filters
from lycosa.collection.querying import Clause, Query, beginning, forms
from lycosa.collection.snippets import Mark
from lycosa.store.search import DEAD, UNREAD, Index

K1, B = 1.2, 0.75
"""How soon more of the same word stops to count, and how much long pages are marked down: the usual values."""

OTHER_FORMS = 0.5
"""What `reefs` counts where `reef` was asked for."""

COMMON = 10_000
"""Pages with all words of a phrase: of fewer, FTS5 reads the places in some milliseconds."""

PEEKS, LIKELY = 64, 0.3
"""Of more, so many are looked at one by one, the best first, if that share of them is likely to have the phrase."""

Mask = NDArray[np.bool_]
Weights = NDArray[np.float32]
Phrase = tuple[str, ...]


class Ranked(NamedTuple):
    """A page that answers: its number, the number of its event in the log, and its weight."""

    page: int
    seq: int
    weight: float


@dataclass(slots=True)
class Answer:
    """The best pages, the best first."""

    best: list[Ranked] = field(default_factory=list)
    total: int = 0
    counted: bool = True
    loosened: bool = False
    searched: int = 0
    unread: int = 0
    marks: list[Mark] = field(default_factory=list)
    """What to point out in these pages."""


@dataclass(slots=True)
class Term:
    """A word of the query and where it is."""

    words: list[str]
    prefix: bool
    present: Mask
    weights: Weights
    pages: int
    idf: float

    def marks(self, group: int) -> Iterator[Mark]:
        """How it looks in a text."""
        return (Mark((word,), self.idf, self.prefix, group) for word in self.words)


class Ranking:
    """The pages of an index that pass the filters, ready to be ranked."""

    def __init__(self, index: Index, filters: Filters) -> None:
        self.index = index
        self.pages = pages = index.pages()
        live: Mask = pages["flags"] & DEAD == 0
        self.live = live
        self.allowed: Mask = live & filters.mask(pages, index)
        self.count = int(np.count_nonzero(live))
        self.scores = pages["score"]
        lengths = pages["length"].astype(np.float32)
        mean = max(1.0, float(lengths[live].mean())) if self.count else 1.0
        self.norm: Weights = np.float32(K1 * (1 - B)) + np.float32(K1 * B / mean) * lengths

    def answer(self, query: Query, limit: int) -> Answer:
        """The pages with all that is asked for; if there are none, those with some of it."""
        answer = Answer(searched=int(np.count_nonzero(self.allowed)))
        answer.unread = int(np.count_nonzero(self.allowed & (self.pages["flags"] & UNREAD > 0)))
        for clause in query.unwanted:
            if not clause.is_phrase:
                self.allowed &= ~self._term(clause).present
        terms = [term for clause in query.wanted for term in self._terms(clause)]
        weights = np.zeros(len(self.pages), np.float32)
        for term in terms:
            weights += term.weights
        wanted = [clause.words for clause in query.wanted if clause.is_phrase]
        unwanted = [clause.words for clause in query.unwanted if clause.is_phrase]
        mask = np.logical_and.reduce([self.allowed, *(term.present for term in terms)])
        answer.best = self._choose(answer, mask, weights, limit, wanted, unwanted)
        if not answer.total and len(terms) > 1:
            mask = self.allowed & np.logical_or.reduce([term.present for term in terms])
            answer.best = self._choose(answer, mask, weights, limit, [], unwanted)
            answer.loosened = bool(answer.total)
        answer.marks = [mark for group, term in enumerate(terms) for mark in term.marks(group)]
        if not answer.loosened:
            worth = sum(term.idf for term in terms)
            answer.marks += [Mark(phrase, worth, group=-number) for number, phrase in enumerate(wanted, 1)]
        return answer

    # -- words -------------------------------------------------------------------------------------------------

    def _terms(self, clause: Clause) -> list[Term]:
        """The words of a clause, each once."""
        if not clause.is_phrase:
            return [self._term(clause)]
        return [self._term(Clause((word,), exact=True)) for word in dict.fromkeys(clause.words)]

    def _term(self, clause: Clause) -> Term:
        word, size = clause.words[0], len(self.pages)
        words = [word]
        if clause.prefix:
            times = self.index.times_beginning(word, size)
        else:
            times = self.index.times([word], size)
            start = "" if clause.exact else beginning(word)
            others = [form for form in forms(word, self.index.words(start)) if form != word] if start else []
            if others:
                times += np.float32(OTHER_FORMS) * self.index.times(others, size)
                words += others
        present = times > 0
        pages = int(np.count_nonzero(present & self.live))
        idf = math.log(1 + (self.count - pages + 0.5) / (pages + 0.5))
        weights = times * np.float32((K1 + 1) * idf) / (times + self.norm)
        return Term(words, clause.prefix, present, weights, pages, idf)

    # -- choosing ----------------------------------------------------------------------------------------------

    def _choose(
        self, answer: Answer, mask: Mask, weights: Weights, limit: int, wanted: list[Phrase], unwanted: list[Phrase]
    ) -> list[Ranked]:
        """The best of the pages that also have, or don't have, some phrases; the answer learns how many there are."""
        total = int(np.count_nonzero(mask))
        if total > COMMON and limit < PEEKS and self._is_likely(mask, wanted, unwanted):
            peeked = self._top(mask, weights, PEEKS)
            passing = self._passing(peeked, wanted, unwanted)
            if len(passing) >= limit:
                answer.total, answer.counted = round(total * len(passing) / len(peeked)), False
                return self._ranked(passing[:limit], weights)
        for phrase in wanted if total else ():
            mask &= self._mask(phrase)
        for phrase in unwanted if total else ():
            mask &= ~self._mask(phrase)
        answer.total, answer.counted = int(np.count_nonzero(mask)), True
        return self._ranked(self._top(mask, weights, limit), weights)

    def _ranked(self, pages: list[int], weights: Weights) -> list[Ranked]:
        return [Ranked(page, int(self.pages["seq"][page]), float(weights[page])) for page in pages]

    def _is_likely(self, mask: Mask, wanted: list[Phrase], unwanted: list[Phrase]) -> bool:
        """Whether a page that has the words is likely to pass: judged by the last pages of the index."""
        first = len(mask) - max(200, len(mask) // 100)
        sample = max(1, int(np.count_nonzero(mask[first:])))
        return bool(wanted or unwanted) and (
            all(self.index.holding_from(phrase, first) > LIKELY * sample for phrase in wanted)
            and all(self.index.holding_from(phrase, first) < (1 - LIKELY) * sample for phrase in unwanted)
        )

    def _passing(self, pages: list[int], wanted: list[Phrase], unwanted: list[Phrase]) -> list[int]:
        """Those of some pages that have, or don't have, the phrases."""
        for phrase in wanted:
            pages = self.index.holding_one_by_one(phrase, pages)
        for phrase in unwanted:
            having = set(self.index.holding_one_by_one(phrase, pages))
            pages = [page for page in pages if page not in having]
        return pages

    def _mask(self, phrase: Phrase) -> Mask:
        mask = np.zeros(len(self.pages), np.bool_)
        mask[self.index.holding(phrase)] = True
        return mask

    def _top(self, mask: Mask, weights: Weights, limit: int) -> list[int]:
        """The pages of highest weight; of equal ones those that the topic likes, then those that came first."""
        pages = np.flatnonzero(mask)
        if len(pages) > limit:
            those = weights[pages]
            pages = pages[those >= np.partition(those, -limit)[-limit]]
        order = np.lexsort((pages, -self.scores[pages], -weights[pages]))[:limit]
        return [int(page) for page in pages[order]]
