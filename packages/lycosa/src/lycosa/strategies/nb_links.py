"""Naive Bayes on the words of links, trained during the crawl on the pages that they lead to."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import ClassVar
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

from lycosa.core.columns import column, fit, learned
from lycosa.core.frontier import PRUNED
from lycosa.core.table import OPEN, Table
from lycosa.core.types import Priorities, Rows, Step
from lycosa.text.tokens import fold, stem_all, url_words

ROWS_PER_PAGE = 2000  # maximum of the rows ranked again per page, on average; larger frontiers are ranked less often
MAX_WORDS = 24  # per link, at most half of them from its URL; 48 bytes a row
NO_WORD = 0
SLOTS = 1 << 16  # hash slots for words; slot 0 is reserved for "no word"


@lru_cache(maxsize=SLOTS)
def _slot(token: bytes) -> int:
    stem = stem_all([token])[0]
    return 1 + crc32(stem.encode()) % (SLOTS - 1) if stem else NO_WORD


def _slots(text: str) -> list[int]:
    return [_slot(token) for token in fold(text).split()]


def _merge_slots(words: list[int], more: list[int], limit: int) -> list[int]:
    return [slot for slot in dict.fromkeys(words + more) if slot != NO_WORD][:limit]


@dataclass
class NaiveBayesLinks:
    """Naive Bayes: priority = P(relevant | words of the link), the distinct words of its URL and of its anchors.

    Every fetched page trains the words of the links to it for its class, relevant (beta >= threshold) or not. With n(w,
    c) links of class c that have the word w, n(c) the sum of these over w, V the number of words seen, and N(c) the
    pages of class c:

        P(w | c) = (n(w, c) + smoothing) / (n(c) + smoothing * V)           P(c) = (N(c) + 1) / (N + 2)

    Unseen words are ignored, as they would favour the class with the fewer words. Until there are pages of both classes
    the priority is the mean of the best parent's beta and the best anchor's alpha, as in best-first.

    Parameters:
        least      URL optimisation: prune links with a smaller probability, until new counts raise it
        smoothing  added to every count
        period     pages between two updates of all priorities (at first after 1, 2, 4, 8 ... pages; more in large
                   frontiers). Ranking 100,000 rows takes about 30 ms

    At most 24 words are kept per row, hashed into 65,535 slots. The words around a link are not used, as in a list they
    are the anchors of its neighbours.

    Paper: Trivedi et al. 2014, section II, URL optimisation, second method; features, smoothing and online training are
    ours.

    >>> from lycosa.core.types import Links, Visit
    >>> table = Table(); _ = table.add_seed("s")
    >>> bayes = NaiveBayesLinks(threshold=.5)
    >>> def page(node, relevance, *anchors):
    ...     links = Links.to(*anchors, anchors=anchors)
    ...     return bayes.learn(table.absorb(Visit(node, "page", "ok", 1, relevance=relevance, links=links)), table)
    >>> for visit in ("s", 0, "coral", "reef", "trains"), ("coral", 1), ("trains", 0), ("reef", 1, "coral trains"):
    ...     rows = page(*visit)
    >>> rows = np.array([table.row_of["coral trains"]])
    >>> bayes.priority(rows, table).round(3).tolist()                      # odds (2/5 * 1/5) / (1/4 * 2/4) = .64
    [0.39]
    """

    proportional: ClassVar[bool] = True
    sweeping: ClassVar[bool] = True

    least: float | None = None
    smoothing: float = 1.0
    period: int = 50
    threshold: float = 0.1
    words_: NDArray[np.uint16] = learned(lambda: np.zeros((0, MAX_WORDS), np.uint16))  # slots
    counts_: NDArray[np.float64] = learned(
        lambda: np.zeros((2, SLOTS))
    )  # links by class (irrelevant, relevant) and word
    pages_: NDArray[np.int64] = learned(lambda: np.zeros(2, np.int64))  # pages of each class
    log_odds_: NDArray[np.float64] = column()  # log P(w | relevant) - log P(w | irrelevant), updated once per period
    prior_: float = learned(float)

    def __post_init__(self) -> None:
        if self.smoothing <= 0:
            raise ValueError(f"'smoothing' is {self.smoothing:g}: it must be above 0")
        if self.period < 1:
            raise ValueError(f"'period' is {self.period}: it must be at least 1 page")
        if self.least is not None and not 0 <= self.least <= 1:
            raise ValueError(f"'least' is {self.least:g}: it must be a probability from 0 to 1")

    def learn(self, step: Step, table: Table) -> Rows:
        self.words_ = fit(self.words_, len(table), NO_WORD)
        is_updated = step.visit.is_page and self._count(step, table)
        if step.visit.outcome == "redirect":
            words = self.words_[step.row]
            for row in step.children.tolist():
                if words.any():
                    self._add(row, words.tolist(), MAX_WORDS)
                else:  # the source was fetched before it moved, so its words are no longer stored
                    self._add(row, _slots(url_words(table.nodes[row])), MAX_WORDS // 2)
        else:
            self._store_words(step, table)
        if table.state[step.row] != OPEN:
            self.words_[step.row] = NO_WORD
        return np.union1d(table.rows(), step.children).astype(np.int32) if is_updated else step.children

    def priority(self, rows: Rows, table: Table) -> Priorities:
        if not len(self.log_odds_):
            return (table.relevance_max[rows] + table.link_relevance_max[rows]) / 2
        words = fit(self.words_, len(table), NO_WORD)[rows]
        odds = self.prior_ + self.log_odds_[words].sum(axis=1)
        priority: Priorities = 1 / (1 + np.exp(-np.clip(odds, -500, 500)))
        if self.least is not None:
            priority[priority < self.least] = PRUNED
        return priority

    def _count(self, step: Step, table: Table) -> bool:
        """Count a page for its class; return True if the priorities were recomputed."""
        words = self.words_[step.row]
        if not words.any():  # a seed has only the words of its URL
            self._add(step.row, _slots(url_words(table.nodes[step.row])), MAX_WORDS // 2)
        relevant = int(step.visit.relevance >= self.threshold)
        self.counts_[relevant, words[words != NO_WORD]] += 1
        self.pages_[relevant] += 1
        n = int(self.pages_.sum())
        period = self.period * max(1, len(table) // (ROWS_PER_PAGE * self.period))
        due = n % period == 0 or (n < self.period and n & (n - 1) == 0) or not len(self.log_odds_)
        if due and self.pages_.all():
            self._update_log_odds()
            return True
        return False

    def _update_log_odds(self) -> None:
        seen = np.flatnonzero((self.counts_[0] + self.counts_[1]) > 0)
        counts = self.counts_[:, seen] + self.smoothing
        log = np.log(counts / counts.sum(axis=1, keepdims=True))
        self.log_odds_ = np.zeros(SLOTS)
        self.log_odds_[seen] = log[1] - log[0]
        self.prior_ = float(np.log((self.pages_[1] + 1) / (self.pages_[0] + 1)))

    def _store_words(self, step: Step, table: Table) -> None:
        links = step.visit.links
        open_links = np.flatnonzero((step.of_link >= 0) & (table.state[step.of_link] == OPEN))
        rows = step.of_link[open_links]
        words_by_row: dict[int, list[int]] = {}
        for number, row, words in zip(open_links.tolist(), rows.tolist(), self.words_[rows].tolist(), strict=True):
            if row not in words_by_row:
                words_by_row[row] = _merge_slots(words, [], MAX_WORDS)
            if not words_by_row[row]:
                words_by_row[row] = _merge_slots([], _slots(url_words(links.urls[number])), MAX_WORDS // 2)
            if links.anchors[number]:
                words_by_row[row] = _merge_slots(words_by_row[row], _slots(links.anchors[number]), MAX_WORDS)
        for row, words in words_by_row.items():
            self.words_[row, : len(words)] = words

    def _add(self, row: int, slots: list[int], limit: int) -> None:
        words = _merge_slots(self.words_[row].tolist(), slots, limit)
        self.words_[row, : len(words)] = words
