"""From terms to the links to rank: weights that learn, the risk that a link gives no page, and the best rows."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lycosa.core.columns import distinct, fit
from lycosa.core.table import OPEN, Table
from lycosa.core.types import Priorities, Rows
from lycosa.strategies.scent.known_links import LinkRows

Column = NDArray[np.float64]

RIDGE = 50.0  # pages that the fixed weights count for
DISCOUNT = 0.99  # factor of the referee's sums, with every page
MIN_PAGES = 20  # before the learned weights may be used
MAX_OUTCOME = 3.0  # in means of the positive outcomes: beyond it, a page is as good as any


class AdaptiveWeights:
    """Bayesian linear regression of outcomes on terms, with the fixed weights as its prior; and a referee.

    With f the terms of a link when it was picked and y its outcome, w = w0 + (sum f f' + ridge I)^-1 sum f (y - w0' f),
    one update a page, terms and outcomes centred at their running means. The referee compares, by their correlation
    with the outcomes over the last hundred pages or so, the predictions that the fixed and the learned weights made
    before each page was fetched. The learned ones are used only while theirs have been better.

    >>> weights = AdaptiveWeights(np.ones(2))
    >>> for at in range(40):
    ...     weights.learn(np.array([at % 2, 1.0]), 3.0 * (at % 2))
    >>> weights.uses_learned, bool(weights.learned[0] > 1.0), bool(weights.offset > 0.0)
    (True, True, True)
    """

    def __init__(self, fixed: Column) -> None:
        self.fixed = fixed
        n = len(fixed)
        self.learned = fixed.copy()
        self.uses_learned = False
        self.pages = 0
        self._inverse: Column = np.eye(n) / RIDGE
        self._moment = np.zeros(n)
        self._mean_terms = np.zeros(n)
        self._mean_outcome = 0.0
        self._fixed_referee = _Correlation()
        self._learned_referee = _Correlation()

    @property
    def current(self) -> Column:
        return self.learned if self.uses_learned else self.fixed

    @property
    def offset(self) -> float:
        """Mean difference between priorities by the current weights and by the fixed ones, of links picked so far.

        It changes no order; but shards compare priorities, and their weights differ.
        """
        return float((self.current - self.fixed) @ self._mean_terms)

    def learn(self, terms: Column, outcome: float) -> None:
        """Learn that a link with these unweighted terms has led to a page of this outcome."""
        y = min(outcome, MAX_OUTCOME)
        self.pages += 1
        rate = max(1.0 / self.pages, 1 - DISCOUNT)
        dy = y - self._mean_outcome
        self._fixed_referee.add(float(self.fixed @ terms), dy, rate)
        self._learned_referee.add(float(self.learned @ terms), dy, rate)
        centred = terms - self._mean_terms
        self._mean_terms += rate * centred
        self._mean_outcome += rate * dy
        gain = self._inverse @ centred
        self._inverse -= gain[:, None] * gain / (1.0 + centred @ gain)
        self._moment += centred * (dy - self.fixed @ centred)
        self.learned = self.fixed + self._inverse @ self._moment
        self.uses_learned = self.pages >= MIN_PAGES and self._learned_referee.value > self._fixed_referee.value


class _Correlation:
    """Discounted correlation of predictions with outcomes, both centred at their running means."""

    def __init__(self) -> None:
        self.mean = 0.0  # of the predictions
        self.product = self.prediction_square = self.outcome_square = 0.0

    def add(self, prediction: float, centred_outcome: float, rate: float) -> None:
        p = prediction - self.mean
        self.product = DISCOUNT * self.product + p * centred_outcome
        self.prediction_square = DISCOUNT * self.prediction_square + p * p
        self.outcome_square = DISCOUNT * self.outcome_square + centred_outcome * centred_outcome
        self.mean += rate * p

    @property
    def value(self) -> float:
        return self.product / math.sqrt(max(self.prediction_square * self.outcome_square, 1e-12))


RISK_SLOTS = 1 << 17  # hash buckets for words and places: 1 MB
# Learning rate, and sum of squares to begin with (AdaGrad, Duchi et al. 2011): a page where one was expected moves
# hardly anything.
RATE, INITIAL_SQUARES = 1.0, 1.0
USUAL_LOG_ODDS = -3.5  # before anything is known: 3 %
MAX_LOG_ODDS = 30.0
NEIGHBOUR_LOG_ODDS = 2.0  # of a link if all neighbours gave no page
NEIGHBOUR_SHRINK = 0.7  # neighbours of this weight are believed by half


class NoPageRisk:
    """A logistic regression of "gave no page" on the words of anchor and address, directory, host and neighbours.

    It learns from every request that has come to its end. While none has failed the risk is exactly 0. Outcomes are
    learned from pages alone, so priorities can be multiplied by the probability of a page. The weights of a link's
    words and places are added up and divided by the root of their number: they mostly repeat each other, and one dead
    link must not condemn all that share its words.
    """

    def __init__(self) -> None:
        self.failures = 0
        self._weight = np.zeros(RISK_SLOTS, np.float32)
        self._squares = np.full(RISK_SLOTS, INITIAL_SQUARES, np.float32)
        self._intercept, self._intercept_squares = USUAL_LOG_ODDS, INITIAL_SQUARES

    def learn(self, link: LinkRows, failed: bool) -> None:
        """Learn from the end of a request for a single row."""
        slots = _risk_slots(link)[0]
        dead, alive = link.numbers["dead_weight"].item(), link.numbers["neighbour_weight"].item()
        near = dead / (dead + alive + NEIGHBOUR_SHRINK)
        root = max(int(np.count_nonzero(slots)), 1) ** 0.5
        odds = self._intercept + NEIGHBOUR_LOG_ODDS * near + float(self._weight.take(slots).sum()) / root
        error = failed - 1.0 / (1.0 + float(np.exp(min(max(-odds, -MAX_LOG_ODDS), MAX_LOG_ODDS))))
        self.failures += failed
        self._intercept_squares += error * error
        self._intercept += RATE * error / self._intercept_squares**0.5
        squares = self._squares.take(slots) + np.float32(error * error)
        # By assignment: a word that is there twice moves once.
        self._weight[slots] = self._weight.take(slots) + np.float32(RATE * error) / np.sqrt(squares)
        self._squares[slots] = squares
        self._weight[0] = 0.0  # the slot of no word

    def probability(self, links: LinkRows) -> Column:
        """Return the probability that each link gives no page."""
        if not self.failures:
            return np.zeros(len(links.rows))
        dead = links.numbers["dead_weight"].astype(np.float64)
        near = dead / (dead + links.numbers["neighbour_weight"] + NEIGHBOUR_SHRINK)
        slots = _risk_slots(links)
        root = np.sqrt(np.maximum(np.count_nonzero(slots, axis=1), 1))
        odds = self._intercept + NEIGHBOUR_LOG_ODDS * near + self._weight.take(slots).sum(axis=1) / root
        probability: Column = 1.0 / (1.0 + np.exp(np.minimum(np.maximum(-odds, -MAX_LOG_ODDS), MAX_LOG_ODDS)))
        return probability


def _risk_slots(links: LinkRows) -> NDArray[np.int32]:
    """Return a line of slots for each link; 0 for no word."""
    groups = links.groups
    # The factors keep directories and hosts apart from words of the same number.
    directory, host = 3 * groups["directory"][:, None], 5 * groups["host"][:, None]
    slots = np.concatenate([groups["anchor"], groups["address"], directory, host], axis=1)
    slots &= RISK_SLOTS - 1
    return slots


BEST = 64  # rows scored again with every page
SLICE = 32  # other rows scored again with every page, in turn
PERIOD, ROWS_A_PAGE = 16, 4096  # pages after which the best of all rows are chosen: 16, or one for every 4,096 rows
# Pages after which one of the best rows that was not fetched makes room: it is held back as a likely trap, or its host
# is not available. It is scored again with its neighbours, and in its turn.
MAX_PAGES_AMONG_BEST = 128
MAX_ROWS_AT_ONCE = 8192  # rows scored again when all priorities have changed at once
MIN_CHANGE = 0.01  # smaller changes of a priority are not stored: those of the best rows change with every page
_EVER = np.iinfo(np.int32).max


class BestRows:
    """The last priority of each row, and the best rows by it."""

    def __init__(self) -> None:
        self.priority = np.zeros(1024, np.float32)
        self._until = np.full(1024, _EVER, np.int32)  # page after which a row is no longer among the best
        self._best: NDArray[np.intp] = np.zeros(0, np.intp)
        self._cursor = 0
        self._pages = 0
        self._next = PERIOD

    def fit(self, rows: int) -> None:
        self.priority, self._until = fit(self.priority, rows), fit(self._until, rows, _EVER)

    def leave(self, rows: Rows) -> dict[str, NDArray[Any]]:
        known: dict[str, NDArray[Any]] = {"priority": self.priority[rows], "until": self._until[rows]}
        self.priority[rows], self._until[rows] = 0.0, _EVER
        self._best = self._best[~np.isin(self._best, rows)]
        return known

    def join(self, rows: Rows, known: Mapping[str, NDArray[Any]]) -> None:
        self.priority[rows], self._until[rows] = known["priority"], known["until"]

    def due(self, table: Table) -> NDArray[np.intp]:
        """Return the best rows and the next slice of all rows, to be scored after a page."""
        n = len(table)
        begin = self._cursor if self._cursor < n else 0
        self._cursor = begin + SLICE
        self._pages += 1
        if self._pages >= self._next:
            self._next = self._pages + max(PERIOD, n // ROWS_A_PAGE)
            candidates = self.candidates(table)
            self._best = candidates.take(_highest(self.priority.take(candidates)))
        return np.concatenate([self._best, np.arange(begin, min(n, begin + SLICE))])

    def candidates(self, table: Table) -> NDArray[np.intp]:
        """Return the open rows, without those that were among the best for long and not fetched."""
        n = len(table)
        rows: NDArray[np.intp] = ((table.state[:n] == OPEN) & (self._until[:n] > self._pages)).nonzero()[0]
        return rows

    def highest(self, table: Table) -> NDArray[np.intp]:
        """Return the open rows in order, or those with the highest priorities if there are too many."""
        rows = table.rows().astype(np.intp)
        if len(rows) > MAX_ROWS_AT_ONCE:
            at = len(rows) - MAX_ROWS_AT_ONCE
            rows = np.sort(rows[self.priority[rows].argpartition(at)[at:]])
        return rows

    def update(self, rows: NDArray[np.intp], priorities: Priorities, always: NDArray[np.intp]) -> NDArray[np.intp]:
        """Store priorities of sorted rows, all the best among them; return the rows with a new priority.

        Those in `always` are stored and returned however little has changed.
        """
        is_changed = np.abs(priorities - self.priority.take(rows)) > MIN_CHANGE
        is_changed[rows.searchsorted(always)] = True
        places = is_changed.nonzero()[0]
        self.priority[rows.take(places)] = priorities.take(places)
        self._choose(rows)
        return rows.take(places)

    def add(self, rows: NDArray[np.intp], priorities: Priorities) -> NDArray[np.intp]:
        """Store priorities of some rows, which may join the best ones."""
        self.priority[rows] = priorities
        self._choose(distinct(np.concatenate([self._best, rows])))
        return rows

    def _choose(self, rows: NDArray[np.intp]) -> None:
        """Choose the best rows among these."""
        candidates = rows[self._until.take(rows) > self._pages]
        self._best = candidates.take(_highest(self.priority.take(candidates)))
        self._until[self._best] = np.minimum(self._until.take(self._best), self._pages + MAX_PAGES_AMONG_BEST)


def _highest(priorities: NDArray[np.float32]) -> NDArray[np.intp]:
    """Return the indices of the highest priorities, in no order."""
    n = len(priorities)
    return priorities.argpartition(n - BEST)[n - BEST :] if n > BEST else np.arange(n)
