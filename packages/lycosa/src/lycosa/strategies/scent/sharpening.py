"""How good a page is, in sharper words than the judge's: the topic's own words, and those of the best pages so far."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from lycosa.core.columns import Spilled, fit
from lycosa.core.state import State, StateMismatch, plain, put_back
from lycosa.core.table import Table
from lycosa.core.types import Rows, Visit
from lycosa.strategies.scent.link_words import SLOTS, LinkWords, slot_of

UNLIKELY = 0.2  # a less probable page is relevance_now nothing: it is noise, and there is much of it
# Share of our own reading in what the query says of a page; less beside a judge that gives probabilities.
OWN, OWN_BESIDE = 0.8, 0.2
# Weight of feedback beside the query, which has 1; its limit, as a multiple of the query's usual.
FEEDBACK, CAP = 0.5, 1.5
SHRINK = 3.0  # a word on so many pages is half known
# Feedback has to agree with the query on the last fifty pages or so: a correlation of .2.
DISCOUNT, TRUST, TRIAL = 0.98, 0.2, 5
IN_MEMORY = 1 << 23  # words, those of some 65,000 pages
AT_ONCE = 4096  # pages whose words are read at once
_FREQUENCY = 1.0 + np.log(np.maximum(np.arange(1 << 16), 1.0))  # 1 + log tf of every count
Column = NDArray[np.float64]


def likely(relevance_now: NDArray[np.floating[Any]]) -> Column:
    """Probabilities, and 0 for those that are noise."""
    return np.where(relevance_now < UNLIKELY, 0.0, relevance_now)


class _Kept:
    """What is remembered of pages, so that they can be learned from again: columns, and all words one after the other.

    A word takes 4 bytes, in memory up to IN_MEMORY of them; a page 24 more.
    """

    def __init__(self) -> None:
        self.count = 0
        self.rows = np.zeros(0, np.int32)
        self.own = np.zeros(0)
        self.quality = np.zeros(0)  # 0: a copy
        self.words = np.zeros(0, np.int32)  # how many each page has
        self.slots = Spilled((), np.int32, IN_MEMORY)

    def add(self, row: int, own: float, quality: float, slots: NDArray[np.integer[Any]]) -> None:
        """One more."""
        at = self.count
        self.count += 1
        if at == len(self.rows):
            for name in ("rows", "own", "quality", "words"):
                setattr(self, name, fit(getattr(self, name), at + 1))
        self.rows[at], self.own[at], self.quality[at], self.words[at] = row, own, quality, len(slots)
        self.slots.extend(slots)

    def each(self) -> Iterator[NDArray[np.int32]]:
        """The words of each page."""
        begin = 0
        for first in range(0, self.count, AT_ONCE):
            words = self.words[first : min(first + AT_ONCE, self.count)]
            ends = np.cumsum(words)
            slots = self.slots[begin : begin + int(ends[-1])]
            begin += len(slots)
            yield from np.split(slots, ends[:-1])

    def state(self) -> State:
        some = {name: getattr(self, name)[: self.count] for name in ("rows", "own", "quality", "words")}
        return {**some, "slots": self.slots.state()}

    def restore(self, state: State) -> None:
        put_back(self, state)
        self.count = len(self.rows)
        if len(self.slots) != int(self.words.sum()):
            raise StateMismatch("words of pages are missing")


_NO_SLOTS = np.zeros(0, np.int32)


class _ReadPage(NamedTuple):
    """A page as it is read: its outcome, what query and feedback say of it, and what goes into the sums."""

    outcome: float
    query: float
    said: float
    relevance: float
    own: float
    worded: bool
    slots: NDArray[np.intp]


class Sharpening:
    """What a page turned out to be relevance_now, and so its words.

    A judge that gives probabilities learns from the crawl itself: the outcome is four fifths its word, and a fifth our
    own reading, which tells pages apart that it has not learned to tell yet. For other judges it is query + feedback.

    A judge that is exact, as one that counts a keyword, is the truth: the outcome is what it says, and nothing else.

    The query's part is a fifth of the judge's beta and four fifths our own reading, the cosine of the page's words
    (1 + log tf) with the topic's, brought to the scale of beta; for a topic without words it is beta. The feedback's
    part is pseudo relevance feedback: of each word we know how much better than others the pages are that have it, its
    lift (sum of their query's parts - mean times their number) / (their number + 3), and a page is relevance_now the mean lift
    of its words. Three things keep it from drifting: the query keeps twice its weight, it is capped, and it is tested
    against the query. The lifts learn from the query's part alone, and on each new page, before it is learned from,
    what feedback says has to agree with what the query says; while it does not, it counts nothing.
    """

    def __init__(
        self,
        topic: Mapping[str, float],
        lifts: NDArray[np.float32],
        *,
        probability: bool = False,
        exact: bool = False,
    ) -> None:
        self.probability = probability
        self.feedback = not probability and not exact
        # Of each word: sum of the query's parts of pages that have it, and their number. Belongs to the groups of
        # scent, not to our state.
        self.lifts = lifts
        self.pages = 0
        self.total = 0.0
        self._topic = np.zeros(SLOTS)
        for stem, weight in topic.items():
            self._topic[slot_of(stem)] += weight
        length = math.sqrt(self._topic @ self._topic)
        self._worded = length > 0 and not exact
        self._topic /= length or 1.0
        self._beta = self._own = 0.0
        self._agreement = np.zeros(5)  # of q f, q^2, f^2, q, f: discounted sums
        self._weight = 0.0
        self._kept = _Kept()  # where the judge gives probabilities

    @property
    def mean(self) -> float:
        """Of the query's parts of all pages so far; 0 before the first."""
        return self.total / self.pages if self.pages else 0.0

    @property
    def trusted(self) -> bool:
        """Whether feedback has agreed with the query lately."""
        n = self._weight
        if self.pages < TRIAL or not n:
            return False
        qf, qq, ff, q, f = (self._agreement / n).tolist()
        return bool(qf - q * f > TRUST * math.sqrt(max((qq - q * q) * (ff - f * f), 1e-18)))

    def learn(self, row: int, visit: Visit, table: Table, words: LinkWords) -> float:
        """The outcome of a page, which is then learned from. A copy of a page that we have is relevance_now nothing."""
        if visit.same_as:
            if self.probability:
                self._kept.add(row, 0.0, 0.0, _NO_SLOTS)
            return 0.0
        read = self._read(visit, table, words)
        if self.probability:
            self._kept.add(row, read.own, visit.data.get("quality", 1.0), read.slots)
        query = read.query
        self._beta += read.relevance
        self._own += read.own
        if self.feedback and read.worded:
            said = read.said
            self._agreement = DISCOUNT * self._agreement + (query * said, query * query, said * said, query, said)
            self._weight = DISCOUNT * self._weight + 1.0
        self.lifts[read.slots] += np.array((query, 1.0), np.float32)
        self.pages += 1
        self.total += query
        return read.outcome

    def relearn(self, relevance_now: Column) -> tuple[Rows, Column]:
        """Pages are relevance_now something else by now, given by row: words and sums become what they would be by that.

        Returned are the rows of all pages, and their outcomes.
        """
        kept, n = self._kept, self._kept.count
        rows, own, quality = kept.rows[:n].astype(np.intp), kept.own[:n], kept.quality[:n]
        query = likely(relevance_now[rows]) * (quality > 0.0)
        self._beta, self._own = float(query.sum()), float(own.sum())
        if self._beta and self._own:
            query = (1.0 - OWN_BESIDE) * query + OWN_BESIDE * own * (self._beta / self._own)
        self.total = float(query.sum())
        self.lifts[:, 0] = 0.0
        for slots, part in zip(kept.each(), query.tolist(), strict=True):  # one by one: all at once is 20 bytes a word
            self.lifts[slots, 0] += part
        return rows, query * quality

    def state(self) -> State:
        return {"sums": plain(self, "_kept", "lifts"), "kept": self._kept.state()}

    def restore(self, state: State) -> None:
        put_back(self, state["sums"])
        self._kept.restore(state["kept"])

    def outcome_of(self, visit: Visit, table: Table, words: LinkWords) -> float:
        """What the outcome of a page would be; nothing is learned. For a page whose first version was learned from."""
        return 0.0 if visit.same_as else self._read(visit, table, words).outcome

    def _read(self, visit: Visit, table: Table, words: LinkWords) -> _ReadPage:
        slots = words.slots(table.stems, visit.terms.ids)
        frequency = _FREQUENCY.take(visit.terms.counts)
        length = math.sqrt(frequency @ frequency)
        relevance = own = said = 0.0
        query = 0.0 if self.probability and visit.relevance < UNLIKELY else visit.relevance
        if self._worded and length:
            relevance, own = query, float(frequency @ self._topic.take(slots)) / length
            relevances, owns = self._beta + relevance, self._own + own
            if owns and relevances:
                share = OWN_BESIDE if self.probability else OWN
                query = (1.0 - share) * relevance + share * own * relevances / owns
        outcome = query
        if self.feedback and length:
            known = self.lifts[slots]
            said = float(frequency @ ((known[:, 0] - self.mean * known[:, 1]) / (known[:, 1] + SHRINK))) / length
            outcome = max(0.0, query + FEEDBACK * self._fed_back(query, said))
        outcome *= visit.data.get("quality", 1.0)  # what is stuffed with the topic's words is relevance_now nothing
        return _ReadPage(outcome, query, said, relevance, own, length > 0.0, slots)

    def _fed_back(self, query: float, said: float) -> float:
        """What feedback says, on the scale of the query; nothing while the two do not agree."""
        qq, ff = self._agreement[1] + query * query, self._agreement[2] + said * said
        usual = math.sqrt(qq / (self._weight + 1.0))
        return min(max(said * math.sqrt(qq / ff), -CAP * usual), CAP * usual) if ff and self.trusted else 0.0
