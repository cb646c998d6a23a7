"""The outcome of a page: its relevance, sharpened by our own reading of its words and by relevance feedback."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from lycosa.core.columns import SpilledArray, fit
from lycosa.core.state import State, StateMismatch, restore_attributes, state_of_attributes
from lycosa.core.table import Table
from lycosa.core.types import Rows, Visit
from lycosa.strategies.scent.groups import OutcomeGroups, lift
from lycosa.strategies.scent.link_words import SLOTS, LinkWords, slot_of

UNLIKELY = 0.2  # a smaller probability counts as 0: it is noise, and there is much of it
# Share of our own reading in the query's part: beside a judge that gives probabilities, and beside others.
OWN_SHARE_BESIDE_PROBABILITY, OWN_SHARE = 0.2, 0.8
FEEDBACK_WEIGHT = 0.5  # of feedback; the query's part has 1
MAX_FEEDBACK = 1.5  # times the query's usual part
# Feedback has to agree with the query over the last fifty pages or so, by a correlation of .2.
DISCOUNT, MIN_AGREEMENT, MIN_PAGES = 0.98, 0.2, 5
IN_MEMORY = 1 << 23  # words, those of some 65,000 pages
PAGES_AT_ONCE = 4096  # read in one batch
_FREQUENCY = 1.0 + np.log(np.maximum(np.arange(1 << 16), 1.0))  # 1 + log tf of every count
_NO_SLOTS = np.zeros(0, np.int32)
Column = NDArray[np.float64]


def without_unlikely(probabilities: NDArray[np.floating[Any]]) -> Column:
    """Return probabilities, with 0 in place of those below UNLIKELY."""
    return np.where(probabilities < UNLIKELY, 0.0, probabilities)


class _PageHistory:
    """Columns of all pages so far, and their words one after the other: 24 bytes a page, and 4 a word.

    The first IN_MEMORY words are in memory, the others in a file.
    """

    def __init__(self) -> None:
        self.count = 0
        self.rows = np.zeros(0, np.int32)
        self.own = np.zeros(0)
        self.quality = np.zeros(0)  # 0: a copy
        self.words = np.zeros(0, np.int32)  # number of words of each page
        self.slots = SpilledArray((), np.int32, IN_MEMORY)

    def add(self, row: int, own: float, quality: float, slots: NDArray[np.integer[Any]]) -> None:
        at = self.count
        self.count += 1
        if at == len(self.rows):
            for name in ("rows", "own", "quality", "words"):
                setattr(self, name, fit(getattr(self, name), at + 1))
        self.rows[at], self.own[at], self.quality[at], self.words[at] = row, own, quality, len(slots)
        self.slots.extend(slots)

    def slots_by_page(self) -> Iterator[NDArray[np.int32]]:
        begin = 0
        for first in range(0, self.count, PAGES_AT_ONCE):
            words = self.words[first : min(first + PAGES_AT_ONCE, self.count)]
            ends = np.cumsum(words)
            slots = self.slots[begin : begin + int(ends[-1])]
            begin += len(slots)
            yield from np.split(slots, ends[:-1])

    def state(self) -> State:
        columns = {name: getattr(self, name)[: self.count] for name in ("rows", "own", "quality", "words")}
        return {**columns, "slots": self.slots.state()}

    def restore(self, state: State) -> None:
        restore_attributes(self, state)
        self.count = len(self.rows)
        if len(self.slots) != int(self.words.sum()):
            raise StateMismatch("words of pages are missing")


class _ReadPage(NamedTuple):
    outcome: float
    query: float  # the query's part
    feedback: float  # the mean lift of its words
    relevance: float  # the judge's, where our own reading counts; else 0
    own: float  # our own reading, likewise
    has_words: bool
    slots: NDArray[np.intp]


class PageOutcomes:
    """Outcomes of pages, and their sums by the words in the pages' text.

    Beside a judge that gives probabilities, the outcome is four fifths its relevance and one fifth our own reading,
    the cosine of the page's words (1 + log tf) with the topic's, on the scale of the relevances so far: it
    distinguishes pages that the judge cannot distinguish yet. An exact judge, such as one that counts a keyword, is
    the truth: the outcome is its relevance.

    Beside other judges the outcome is the query's part plus pseudo relevance feedback. The query's part is one fifth
    relevance and four fifths our own reading; for a topic without words it is the relevance. Feedback is the mean lift
    of the page's words, by the query's parts of the pages that have them. Three things keep it from drifting: it has
    half the weight of the query's part, it is capped, and it counts only while it agrees with the query's part of each
    new page before that page is learned from.
    """

    def __init__(self, topic: Mapping[str, float], *, probability: bool = False, exact: bool = False) -> None:
        self.probability = probability
        self.uses_feedback = not probability and not exact
        self.page_words = OutcomeGroups(SLOTS)  # of the query's parts
        self.pages = 0
        self.total = 0.0  # of the query's parts
        self._topic = np.zeros(SLOTS)
        for stem, weight in topic.items():
            self._topic[slot_of(stem)] += weight
        length = math.sqrt(self._topic @ self._topic)
        self._reads = length > 0 and not exact
        self._topic /= length or 1.0
        self._relevance_total = self._own_total = 0.0
        self._agreement = np.zeros(5)  # discounted sums of q f, q^2, f^2, q, f: query's part and feedback
        self._agreement_weight = 0.0
        self._history = _PageHistory()  # where the judge gives probabilities

    @property
    def mean(self) -> float:
        """Mean of the query's parts of all pages so far; 0 before the first."""
        return self.total / self.pages if self.pages else 0.0

    @property
    def trusts_feedback(self) -> bool:
        """True while feedback has agreed with the query's parts of the last pages."""
        n = self._agreement_weight
        if self.pages < MIN_PAGES or not n:
            return False
        qf, qq, ff, q, f = (self._agreement / n).tolist()
        return bool(qf - q * f > MIN_AGREEMENT * math.sqrt(max((qq - q * q) * (ff - f * f), 1e-18)))

    def learn(self, row: int, visit: Visit, table: Table, words: LinkWords) -> float:
        """Learn from a page, and return its outcome; 0 for a copy, which teaches nothing."""
        if visit.same_as:
            if self.probability:
                self._history.add(row, 0.0, 0.0, _NO_SLOTS)
            return 0.0
        page = self._read(visit, table, words)
        if self.probability:
            self._history.add(row, page.own, visit.data.get("quality", 1.0), page.slots)
        q, f = page.query, page.feedback
        self._relevance_total += page.relevance
        self._own_total += page.own
        if self.uses_feedback and page.has_words:
            self._agreement = DISCOUNT * self._agreement + (q * f, q * q, f * f, q, f)
            self._agreement_weight = DISCOUNT * self._agreement_weight + 1.0
        self.page_words.add(page.slots, q)
        self.pages += 1
        self.total += q
        return page.outcome

    def recompute(self, relevance_now: Column) -> tuple[Rows, Column]:
        """Learn again from all pages, by the relevance that each row has now; return their rows and outcomes."""
        history, n = self._history, self._history.count
        rows, own, quality = history.rows[:n].astype(np.intp), history.own[:n], history.quality[:n]
        query = without_unlikely(relevance_now[rows]) * (quality > 0.0)
        self._relevance_total, self._own_total = float(query.sum()), float(own.sum())
        if self._relevance_total and self._own_total:
            own_part = OWN_SHARE_BESIDE_PROBABILITY * own * (self._relevance_total / self._own_total)
            query = (1.0 - OWN_SHARE_BESIDE_PROBABILITY) * query + own_part
        self.total = float(query.sum())
        self.page_words.clear_sums()
        sums = self.page_words.totals[:, 0]
        for slots, q in zip(history.slots_by_page(), query.tolist(), strict=True):  # all at once takes 20 bytes a word
            sums[slots] += q
        return rows, query * quality

    def state(self) -> State:
        return {"sums": state_of_attributes(self, "_history"), "history": self._history.state()}

    def restore(self, state: State) -> None:
        restore_attributes(self, state["sums"])
        self._history.restore(state["history"])

    def outcome_of(self, visit: Visit, table: Table, words: LinkWords) -> float:
        """Return the outcome of a newer version of a page, and learn nothing from it."""
        return 0.0 if visit.same_as else self._read(visit, table, words).outcome

    def _read(self, visit: Visit, table: Table, words: LinkWords) -> _ReadPage:
        slots = words.slots(table.stems, visit.terms.ids)
        frequency = _FREQUENCY.take(visit.terms.counts)
        length = math.sqrt(frequency @ frequency)
        relevance = own = feedback = 0.0
        query = 0.0 if self.probability and visit.relevance < UNLIKELY else visit.relevance
        if self._reads and length:
            relevance, own = query, float(frequency @ self._topic.take(slots)) / length
            relevance_total, own_total = self._relevance_total + relevance, self._own_total + own
            if own_total and relevance_total:
                share = OWN_SHARE_BESIDE_PROBABILITY if self.probability else OWN_SHARE
                query = (1.0 - share) * relevance + share * own * relevance_total / own_total
        outcome = query
        if self.uses_feedback and length:
            feedback = float(frequency @ lift(*self.page_words.look_up(slots), self.mean)) / length
            outcome = max(0.0, query + FEEDBACK_WEIGHT * self._scaled_feedback(query, feedback))
        outcome *= visit.data.get("quality", 1.0)  # low if the page is stuffed with the topic's words
        return _ReadPage(outcome, query, feedback, relevance, own, length > 0.0, slots)

    def _scaled_feedback(self, query: float, feedback: float) -> float:
        """Return feedback on the scale of the query's parts, capped; 0 while it is not trusted."""
        qq, ff = self._agreement[1] + query * query, self._agreement[2] + feedback * feedback
        if not ff or not self.trusts_feedback:
            return 0.0
        limit = MAX_FEEDBACK * math.sqrt(qq / (self._agreement_weight + 1.0))
        return min(max(feedback * math.sqrt(qq / ff), -limit), limit)
