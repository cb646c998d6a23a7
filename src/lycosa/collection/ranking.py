"""Which pages answer a query best: BM25, as FTS5 has it for each word, added up over all pages at once with numpy.

Robertson & Zaragoza 2009, "The Probabilistic Relevance Framework: BM25 and Beyond", section 3. Departures: a word of
the title counts as several words of the text, as in BM25F but with one length for both; and a word that is on more
than half of the pages still counts a little (Lucene's idf), because in a focused crawl the topic's own words are.
FTS5 takes those for worthless. Its weight is an idf times t (K1 + 1) / (t + n), for a word that is t times on a page
with the length norm n; so t / n can be had from it, with which forms of a word are added up, and another idf given.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from lycosa.collection.querying import Clause, Query, beginning, forms
from lycosa.collection.snippets import Mark
from lycosa.store.search import Index

K1 = 1.2
"""How soon more of the same word stops to count: as FTS5 has it, like B = .75, how much long pages are marked down."""

WORTHLESS = 1e-6
"""FTS5's idf of a word that is on half of the pages or more."""

OTHER_FORMS = 0.5
"""What `reefs` counts where `reef` was asked for."""

Mask = NDArray[np.bool_]
Weights = NDArray[np.float64]


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
    loosened: bool = False
    searched: int = 0
    unread: int = 0
    marks: list[Mark] = field(default_factory=list)
    """What to point out in these pages."""


@dataclass(slots=True)
class QueryTerm:
    """A word of the query and where it is."""

    words: list[str]
    prefix: bool
    weights: Weights
    idf: float

    @property
    def present(self) -> Mask:
        return self.weights > 0

    def marks(self, group: int) -> Iterator[Mark]:
        """How it looks in a text."""
        return (Mark((word,), self.idf, self.prefix, group) for word in self.words)


class Ranking:
    """The pages of an index that pass a filter, ready to be ranked. Columns have a place for each number."""

    def __init__(self, index: Index, where: str = "TRUE", values: Sequence[object] = ()) -> None:
        self.index, self.size = index, index.size()
        self.pages = index.pages(where, values)
        self.allowed = self._holding(self.pages)

    def answer(self, query: Query, limit: int) -> Answer:
        """The pages with all that is asked for; if there are none, those with some of it."""
        answer = Answer(searched=len(self.pages), unread=int(np.count_nonzero(self.pages["unread"])))
        for clause in query.unwanted:
            having = self._phrase(clause) if clause.is_phrase else self._term(clause).present
            self.allowed &= ~having
        terms = [term for clause in query.wanted for term in self._terms(clause)]
        phrases = [clause for clause in query.wanted if clause.is_phrase]
        weights = np.sum([term.weights for term in terms], axis=0)
        present = [term.present for term in terms]
        mask = np.logical_and.reduce([self.allowed, *present, *map(self._phrase, phrases)])
        if not mask.any() and len(terms) > 1:
            mask = self.allowed & np.logical_or.reduce(present)
            answer.loosened = bool(mask.any())
        answer.total, answer.best = int(np.count_nonzero(mask)), self._top(mask, weights, limit)
        answer.marks = [mark for group, term in enumerate(terms) for mark in term.marks(group)]
        if not answer.loosened:
            worth = sum(term.idf for term in terms)
            answer.marks += [Mark(clause.words, worth, group=-number) for number, clause in enumerate(phrases, 1)]
        return answer

    def _terms(self, clause: Clause) -> list[QueryTerm]:
        """The words of a clause, each once."""
        if not clause.is_phrase:
            return [self._term(clause)]
        return [self._term(Clause((word,), exact=True)) for word in dict.fromkeys(clause.words)]

    def _term(self, clause: Clause) -> QueryTerm:
        word = clause.words[0]
        words, times = [word], self._times(clause.words, prefix=clause.prefix)
        start = "" if clause.exact or clause.prefix else beginning(word)
        for form in forms(word, self.index.words(start)) if start else ():
            if form != word:
                times += OTHER_FORMS * self._times((form,))
                words.append(form)
        idf = math.log(1 + self._odds(int(np.count_nonzero(times))))
        return QueryTerm(words, clause.prefix, idf * (K1 + 1) * times / (times + 1), idf)

    def _times(self, words: Sequence[str], *, prefix: bool = False) -> Weights:
        """How often a word is on each page, in parts of the page's length norm."""
        matches, times = self.index.matches(words, prefix=prefix), np.zeros(self.size + 1)
        share = matches["weight"] / max(WORTHLESS, math.log(self._odds(len(matches))))
        times[matches["id"]] = share / (K1 + 1 - share)
        return times

    def _odds(self, pages: int) -> float:
        """Against a word that is on so many pages. Its logarithm is the idf, as FTS5 has it."""
        return (self.size - pages + 0.5) / (pages + 0.5)

    def _phrase(self, clause: Clause) -> Mask:
        return self._holding(self.index.matches(clause.words))

    def _holding(self, pages: NDArray[np.void]) -> Mask:
        mask = np.zeros(self.size + 1, np.bool_)
        mask[pages["id"]] = True
        return mask

    def _top(self, mask: Mask, weights: Weights, limit: int) -> list[Ranked]:
        """The pages of highest weight; of equal ones those that the topic likes, then those that came first."""
        pages = self.pages[mask[self.pages["id"]]]
        those = weights[pages["id"]]
        order = np.lexsort((pages["id"], -pages["score"], -those))[:limit]
        return [Ranked(pages["id"].item(at), pages["seq"].item(at), those.item(at)) for at in order]
