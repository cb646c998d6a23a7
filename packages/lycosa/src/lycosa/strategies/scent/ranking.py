"""From terms to ranked links: adaptive weights, the risk that a link gives no page, and the best rows."""

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

RIDGE = 50.0  # number of pages that the fixed weights count for
DISCOUNT = 0.99  # decay of the correlation sums per page
MIN_PAGES = 20  # pages before the learned weights may be used
MAX_OUTCOME = 3.0  # in multiples of the mean positive outcome; larger outcomes are clipped


class AdaptiveWeights:
    """Weights of the terms, by Bayesian linear regression of outcomes on terms with the fixed weights as prior.

    With f the terms of a link when it was picked and y its outcome, w = w0 + (sum f f' + ridge I)^-1 sum f (y - w0' f),
    updated with each page; terms and outcomes are centred at their running means. The learned weights are used only
    while their predictions, made before each page was fetched, correlate better with the outcomes of about the last
    hundred pages than those of the fixed weights.

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
        """Mean difference between priorities by the current and by the fixed weights, over the links picked so far.

        It does not change the order, but shards compare their priorities, and their weights differ.
        """
        return float((self.current - self.fixed) @ self._mean_terms)

    def learn(self, terms: Column, outcome: float) -> None:
        """Learn from the unweighted terms of a link and the outcome of its page."""
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
        self.mean = 0.0  # mean of the predictions
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


RISK_SLOTS = 1 << 17  # hash slots for words and places, 1 MB in total
# Learning rate and initial sum of squares (AdaGrad, Duchi et al. 2011). Expected pages hardly change the weights.
RATE, INITIAL_SQUARES = 1.0, 1.0
USUAL_LOG_ODDS = -3.5  # initial log odds of no page: 3 %
MAX_LOG_ODDS = 30.0
NEIGHBOUR_LOG_ODDS = 2.0  # log odds added if all neighbours gave no page
NEIGHBOUR_SHRINK = 0.7  # neighbours of this total weight count half


class NoPageRisk:
    """Logistic regression of "gave no page" on the words of anchor and URL, directory, host and neighbours.

    It learns from every finished request; the risk is exactly 0 until the first failure. Outcomes are learned from
    pages alone, so priorities can be multiplied by the probability of a page. The weights of a link's words and places
    are summed and divided by the square root of their number, because they mostly repeat each other: one dead link must
    not condemn all links that share its words.
    """

    def __init__(self) -> None:
        self.failures = 0
        self._weight = np.zeros(RISK_SLOTS, np.float32)
        self._squares = np.full(RISK_SLOTS, INITIAL_SQUARES, np.float32)
        self._intercept, self._intercept_squares = USUAL_LOG_ODDS, INITIAL_SQUARES

    def learn(self, link: LinkRows, failed: bool) -> None:
        """Learn from a finished request; `link` has a single row."""
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
        # Indexed assignment updates a repeated word once.
        self._weight[slots] = self._weight.take(slots) + np.float32(RATE * error) / np.sqrt(squares)
        self._squares[slots] = squares
        self._weight[0] = 0.0  # slot 0 means no word

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
    """Return a row of slots for each link, with 0 for missing words."""
    groups = links.groups
    # The factors separate directories and hosts from words of the same number.
    directory, host = 3 * groups["directory"][:, None], 5 * groups["host"][:, None]
    slots = np.concatenate([groups["anchor"], groups["address"], directory, host], axis=1)
    slots &= RISK_SLOTS - 1
    return slots


BEST = 64  # rows scored again after every page
SLICE = 32  # other rows scored again after every page, in a cycle
PERIOD, ROWS_A_PAGE = 16, 4096  # the best rows are chosen from all rows every max(16, rows / 4096) pages
# Pages after which a best row that was not fetched is replaced. It is held back as a likely trap, or its host is not
# available. It is still scored with its neighbours and in the cycle.
MAX_PAGES_AMONG_BEST = 128
MAX_ROWS_AT_ONCE = 8192  # rows scored again when all priorities change at once
MIN_CHANGE = 0.01  # smaller changes of a priority are not stored, since those of the best rows change with every page
_EVER = np.iinfo(np.int32).max


class BestRows:
    """Last priority of each row, and the best rows."""

    def __init__(self) -> None:
        self.priority = np.zeros(1024, np.float32)
        self._until = np.full(1024, _EVER, np.int32)  # page number after which a row is no longer among the best
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
        """Return the rows to score after a page: the best ones, and the next slice of the cycle."""
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
        """Return the open rows, except those that were among the best for too long without being fetched."""
        n = len(table)
        rows: NDArray[np.intp] = ((table.state[:n] == OPEN) & (self._until[:n] > self._pages)).nonzero()[0]
        return rows

    def highest(self, table: Table) -> NDArray[np.intp]:
        """Return the open rows in ascending order, or those with the highest priorities if there are too many."""
        rows = table.rows().astype(np.intp)
        if len(rows) > MAX_ROWS_AT_ONCE:
            at = len(rows) - MAX_ROWS_AT_ONCE
            rows = np.sort(rows[self.priority[rows].argpartition(at)[at:]])
        return rows

    def update(self, rows: NDArray[np.intp], priorities: Priorities, always: NDArray[np.intp]) -> NDArray[np.intp]:
        """Store the priorities of sorted rows, including all best ones; return the rows with a new priority.

        Rows in `always` are stored and returned even if their change is small.
        """
        is_changed = np.abs(priorities - self.priority.take(rows)) > MIN_CHANGE
        is_changed[rows.searchsorted(always)] = True
        places = is_changed.nonzero()[0]
        self.priority[rows.take(places)] = priorities.take(places)
        self._choose(rows)
        return rows.take(places)

    def add(self, rows: NDArray[np.intp], priorities: Priorities) -> NDArray[np.intp]:
        """Store the priorities of rows, and let them compete with the best ones."""
        self.priority[rows] = priorities
        self._choose(distinct(np.concatenate([self._best, rows])))
        return rows

    def _choose(self, rows: NDArray[np.intp]) -> None:
        candidates = rows[self._until.take(rows) > self._pages]
        self._best = candidates.take(_highest(self.priority.take(candidates)))
        self._until[self._best] = np.minimum(self._until.take(self._best), self._pages + MAX_PAGES_AMONG_BEST)


def _highest(priorities: NDArray[np.float32]) -> NDArray[np.intp]:
    """Return the indices of the BEST highest priorities, in no order."""
    n = len(priorities)
    return priorities.argpartition(n - BEST)[n - BEST :] if n > BEST else np.arange(n)
