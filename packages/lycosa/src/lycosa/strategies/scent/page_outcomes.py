"""Outcome of a page: its relevance, refined by the cosine of its words with the topic and by relevance feedback."""

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

UNLIKELY = 0.2  # smaller probabilities count as 0, since most of them are noise
# Weight of the cosine with the topic in the query part, for judges that give probabilities and for others.
OWN_SHARE_BESIDE_PROBABILITY, OWN_SHARE = 0.2, 0.8
FEEDBACK_WEIGHT = 0.5  # weight of feedback; the query part has 1
MAX_FEEDBACK = 1.5  # limit of feedback, in multiples of the root mean square of query parts
# Feedback must correlate with the query part by .2 over about the last fifty pages, at least 5.
DISCOUNT, MIN_AGREEMENT, MIN_PAGES = 0.98, 0.2, 5
IN_MEMORY = 1 << 23  # words kept in memory, those of about 65,000 pages
PAGES_AT_ONCE = 4096  # pages read per batch
_FREQUENCY = 1.0 + np.log(np.maximum(np.arange(1 << 16), 1.0))  # 1 + log tf for each count
_NO_SLOTS = np.zeros(0, np.int32)
Column = NDArray[np.float64]


def without_unlikely(probabilities: NDArray[np.floating[Any]]) -> Column:
    """Return probabilities, with those below UNLIKELY set to 0."""
    return np.where(probabilities < UNLIKELY, 0.0, probabilities)


class _PageHistory:
    """History of all pages: 24 bytes per page, and 4 per word.

    The first IN_MEMORY words are kept in memory, the others in a file.
    """

    def __init__(self) -> None:
        self.count = 0
        self.rows = np.zeros(0, np.int32)
        self.own = np.zeros(0)
        self.quality = np.zeros(0)  # 0 for a copy
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
            raise StateMismatch("the words of some pages are missing")


class _ReadPage(NamedTuple):
    outcome: float
    query: float  # relevance combined with `own`
    feedback: float  # mean lift of its words
    relevance: float  # relevance by the judge; 0 where `own` is not computed
    own: float  # cosine of the page's words with the topic's
    has_words: bool
    slots: NDArray[np.intp]


class PageOutcomes:
    """Outcomes of pages, and their sums by word.

    With a judge that gives probabilities, the outcome is .8 of the relevance plus .2 of the cosine of the page's words
    (1 + log tf) with the topic's, scaled to the relevances so far: the cosine separates pages that the judge cannot
    separate yet. With an exact judge, such as one that counts a keyword, the outcome is the relevance.

    With other judges the outcome is the query part plus pseudo-relevance feedback. The query part is .2 of the
    relevance plus .8 of the cosine, or the relevance if the topic has no words. Feedback is the mean lift of the page's
    words, by the query parts of the pages that contain them. To avoid drift it has half the weight of the query part,
    is capped, and counts only while it correlates with the query part of new pages before they are learned.
    """

    def __init__(self, topic: Mapping[str, float], *, probability: bool = False, exact: bool = False) -> None:
        self.probability = probability
        self.uses_feedback = not probability and not exact
        self.page_words = OutcomeGroups(SLOTS)  # sums of query parts
        self.pages = 0
        self.total = 0.0  # sum of query parts
        self._topic = np.zeros(SLOTS)
        for stem, weight in topic.items():
            self._topic[slot_of(stem)] += weight
        length = math.sqrt(self._topic @ self._topic)
        self._reads = length > 0 and not exact
        self._topic /= length or 1.0
        self._relevance_total = self._own_total = 0.0
        self._agreement = np.zeros(5)  # discounted sums of q f, q^2, f^2, q, f; q is the query part, f the feedback
        self._agreement_weight = 0.0
        self._history = _PageHistory()  # used only if the judge gives probabilities

    @property
    def mean(self) -> float:
        """Mean query part of all pages so far; 0 before the first."""
        return self.total / self.pages if self.pages else 0.0

    @property
    def trusts_feedback(self) -> bool:
        """True while feedback correlates with the query parts of recent pages."""
        n = self._agreement_weight
        if self.pages < MIN_PAGES or not n:
            return False
        qf, qq, ff, q, f = (self._agreement / n).tolist()
        return bool(qf - q * f > MIN_AGREEMENT * math.sqrt(max((qq - q * q) * (ff - f * f), 1e-18)))

    def learn(self, row: int, visit: Visit, table: Table, words: LinkWords) -> float:
        """Learn from a page and return its outcome; 0 for a copy, from which nothing is learned."""
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
        """Learn again from all pages by the current relevance of each row; return the rows and outcomes of pages."""
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
        # a single vector operation would take 20 bytes per word
        for slots, q in zip(history.slots_by_page(), query.tolist(), strict=True):
            sums[slots] += q
        return rows, query * quality

    def state(self) -> State:
        return {"sums": state_of_attributes(self, "_history"), "history": self._history.state()}

    def restore(self, state: State) -> None:
        restore_attributes(self, state["sums"])
        self._history.restore(state["history"])

    def outcome_of(self, visit: Visit, table: Table, words: LinkWords) -> float:
        """Return the outcome of a newer version of a page, without learning from it."""
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
        outcome *= visit.data.get("quality", 1.0)  # low for pages stuffed with topic words
        return _ReadPage(outcome, query, feedback, relevance, own, length > 0.0, slots)

    def _scaled_feedback(self, query: float, feedback: float) -> float:
        """Return feedback on the scale of query parts, capped; 0 while it is not trusted."""
        qq, ff = self._agreement[1] + query * query, self._agreement[2] + feedback * feedback
        if not ff or not self.trusts_feedback:
            return 0.0
        limit = MAX_FEEDBACK * math.sqrt(qq / (self._agreement_weight + 1.0))
        return min(max(feedback * math.sqrt(qq / ff), -limit), limit)
