"""How much each term counts: weights that were fixed beforehand, and weights that outcomes have shifted, if better."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lycosa.core.columns import distinct, fit
from lycosa.core.table import OPEN, Table
from lycosa.core.types import Priorities, Rows
from lycosa.strategies.scent.trails import DEAD, DIRECTORY, HOST, NEIGHBOUR_WEIGHT, OF_ANCHOR, Lines

DISCOUNT = 0.99  # of what a comparison knew, with every page
TRIAL = 20  # pages before the shifted weights may be used
Column = NDArray[np.float64]


class Mixing:
    """Bayesian linear regression of outcomes on terms, with the fixed weights as its prior; and a referee.

    With f the terms of a link when it was picked and y its outcome, w = w0 + (sum f f' + ridge I)^-1 sum f (y - w0' f),
    one update a page, terms and outcomes centred at their running means. The referee compares what the fixed and the
    shifted weights had said of each page *before* it was known with what it turned out to be: by the correlation over
    the last hundred pages or so. The shifted ones are in force only while they have been better.

    >>> mixing = Mixing(np.ones(2))
    >>> for at in range(40):
    ...     mixing.learn(np.array([at % 2, 1.0]), 3.0 * (at % 2))
    >>> bool(mixing.ahead), bool(mixing.shifted[0] > 1.0), bool(mixing.level > 0.0)
    (True, True, True)
    """

    def __init__(self, fixed: Column, ridge: float = 50.0) -> None:
        self.fixed = fixed
        n = len(fixed)
        self.shifted = fixed.copy()
        self.ahead = False
        self.pages = 0
        self._inverse: Column = np.eye(n) / ridge
        self._said = np.zeros(n)
        self._mean = np.zeros(n)
        self._outcome = 0.0
        self._sums = np.zeros((2, 3))  # for each of the two: of p y, p^2, y^2, discounted and centred
        self._level = np.zeros(2)

    @property
    def weights(self) -> Column:
        """Those in force."""
        return self.shifted if self.ahead else self.fixed

    def learn(self, terms: Column, outcome: float) -> None:
        """A link of these terms, not weighted, has led to a page of this outcome."""
        y = min(outcome, 3.0)  # in means of the positive outcomes: beyond it, a page is as good as any
        self.pages += 1
        rate = max(1.0 / self.pages, 1 - DISCOUNT)
        dy = y - self._outcome
        for at, weights in enumerate((self.fixed, self.shifted)):
            p = float(weights @ terms) - self._level.item(at)
            of_both, of_said, of_outcome = self._sums[at].tolist()
            self._sums[at] = (
                DISCOUNT * of_both + p * dy,
                DISCOUNT * of_said + p * p,
                DISCOUNT * of_outcome + dy * dy,
            )
            self._level[at] += rate * p
        centred = terms - self._mean
        self._mean += rate * centred
        self._outcome += rate * dy
        turned = self._inverse @ centred
        self._inverse -= turned[:, None] * turned / (1.0 + centred @ turned)
        self._said += centred * (dy - self.fixed @ centred)
        self.shifted = self.fixed + self._inverse @ self._said
        self.ahead = self.pages >= TRIAL and self._match(1) > self._match(0)

    @property
    def level(self) -> float:
        """What scores have more by the weights in force than by the fixed ones, at links as they were picked so far.
        It changes no order; but shards compare scores, and their weights differ."""
        return float((self.weights - self.fixed) @ self._mean)

    def _match(self, at: int) -> float:
        """The correlation of what one of the two said with what came of it."""
        of_both, of_said, of_outcome = self._sums[at].tolist()
        return float(of_both / math.sqrt(max(of_said * of_outcome, 1e-12)))


# -- the best ----------------------------------------------------------------------------------------------

# Which rows to score again: those that look best, and a few of the others in turn.

TOP, SLICE = 64, 32
PERIOD, ROWS_A_PAGE = 16, 4096  # all scores are looked through after 16 pages, or one page for every 4,096 rows
# Pages after which one of the best rows that was not fetched makes room: it is held back as a likely trap, or its host
# is not available. It is scored again with its neighbours, and in its turn.
PATIENCE = 128
_EVER = np.iinfo(np.int32).max
FOREMOST = 8192  # rows scored again when all scores have changed at once


class Elite:
    """The scores that rows had last, and the best rows by them. A fold over what was scored, and nothing else."""

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
        known: dict[str, NDArray[Any]] = {"score": self.priority[rows], "until": self._until[rows]}
        self.priority[rows], self._until[rows] = 0.0, _EVER
        self._best = self._best[~np.isin(self._best, rows)]
        return known

    def join(self, rows: Rows, known: Mapping[str, NDArray[Any]]) -> None:
        self.priority[rows], self._until[rows] = known["score"], known["until"]

    def due(self, table: Table) -> NDArray[np.intp]:
        """The best rows, and the next slice of all rows."""
        n = len(table)
        begin = self._cursor if self._cursor < n else 0
        self._cursor = begin + SLICE
        self._pages += 1
        if self._pages >= self._next:
            self._next = self._pages + max(PERIOD, n // ROWS_A_PAGE)
            hopeful = self.hopeful(table)
            self._best = hopeful.take(_best(self.priority.take(hopeful)))
        return np.concatenate([self._best, np.arange(begin, min(n, begin + SLICE))])

    def hopeful(self, table: Table) -> NDArray[np.intp]:
        """The open rows, less those that were among the best for long and not fetched."""
        n = len(table)
        rows: NDArray[np.intp] = ((table.state[:n] == OPEN) & (self._until[:n] > self._pages)).nonzero()[0]
        return rows

    def foremost(self, table: Table) -> NDArray[np.intp]:
        """The open rows with the highest scores, in order of rows: all, unless there are very many."""
        rows = table.rows().astype(np.intp)
        if len(rows) > FOREMOST:
            rows = np.sort(rows[self.priority[rows].argpartition(len(rows) - FOREMOST)[len(rows) - FOREMOST :]])
        return rows

    def note(self, rows: NDArray[np.intp], priorities: Priorities, told: NDArray[np.intp]) -> NDArray[np.intp]:
        """The rows were scored, all that were the best among them; returned are those whose score is another one now.

        The rows are sorted. Those that are `told` are among them, however little has changed.
        """
        changed = np.abs(priorities - self.priority.take(rows)) > 0.01  # the best rows change a little with every page
        changed[rows.searchsorted(told)] = True
        places = changed.nonzero()[0]
        self.priority[rows.take(places)] = priorities.take(places)
        self._choose(rows)
        return rows.take(places)

    def admit(self, rows: NDArray[np.intp], priorities: Priorities) -> NDArray[np.intp]:
        """The rows were scored, and no others: those that are good enough are among the best from now on."""
        self.priority[rows] = priorities
        self._choose(distinct(np.concatenate([self._best, rows])))
        return rows

    def _choose(self, rows: NDArray[np.intp]) -> None:
        """The best rows are some of these from now on."""
        hopeful = rows[self._until.take(rows) > self._pages]
        self._best = hopeful.take(_best(self.priority.take(hopeful)))
        self._until[self._best] = np.minimum(self._until.take(self._best), self._pages + PATIENCE)


def _best(priorities: NDArray[np.float32]) -> NDArray[np.intp]:
    """Where the highest scores are, in no order."""
    n = len(priorities)
    return priorities.argpartition(n - TOP)[n - TOP :] if n > TOP else np.arange(n)


# -- risk --------------------------------------------------------------------------------------------------

# How likely a request gives no page: dead links, redirects to nowhere, files of unwanted types, soft 404s.

PLACES = 1 << 17  # hash buckets for words and places: 1 MB
# Step size of words and places, and what it is divided by at first (AdaGrad, Duchi et al. 2011): a page where one was
# expected moves hardly anything.
RATE, CALM = 1.0, 1.0
MOST_RISKED = 30.0  # log odds: nothing is more certain
# Log odds of a link all of whose neighbours gave no page; number of neighbours that is half believed.
NEAR, SHRINK = 2.0, 0.7
_LINK = slice(OF_ANCHOR.start, HOST + 1)
# Keeps directories and hosts apart from words of the same number.
_APART = np.array([*(1 for _ in range(OF_ANCHOR.start, DIRECTORY)), 3, 5], np.int32)


class Risk:
    """A logistic regression of "gave no page" on the words of anchor and address, directory, host and neighbours.

    It learns from every request that has an end. As long as none has failed, nothing is at risk: exactly 0. What a page
    is worth is learned from pages alone, so that the two can be multiplied. The weights of a link's words and places
    are added up and divided by the root of their number: they say much the same, and one dead link must not condemn all
    that share its words.
    """

    def __init__(self) -> None:
        self.failures = 0
        self._weight = np.zeros(PLACES, np.float32)
        self._moved = np.full(PLACES, CALM, np.float32)
        self._usual, self._usual_moved = -3.5, CALM  # log odds before anything is known: 3 %

    def learn(self, line: Lines, failed: bool) -> None:
        """A request for the row of the line has ended."""
        places = _places(line)[0]
        dead, neighbours = line.known.item(0, DEAD), line.known.item(0, NEIGHBOUR_WEIGHT)
        near = dead / (dead + neighbours + SHRINK)
        root = max(int(np.count_nonzero(places)), 1) ** 0.5
        odds = self._usual + NEAR * near + float(self._weight.take(places).sum()) / root
        wrong = failed - 1.0 / (1.0 + float(np.exp(min(max(-odds, -MOST_RISKED), MOST_RISKED))))
        self.failures += failed
        self._usual_moved += wrong * wrong
        self._usual += RATE * wrong / self._usual_moved**0.5
        moved = self._moved.take(places) + np.float32(wrong * wrong)
        # A word that is there twice moves once.
        self._weight[places] = self._weight.take(places) + np.float32(RATE * wrong) / np.sqrt(moved)
        self._moved[places] = moved
        self._weight[0] = 0.0  # the place of no word

    def of(self, lines: Lines) -> Column:
        """The probability that the rows give no page."""
        if not self.failures:
            return np.zeros(len(lines.rows))
        dead = lines.known[:, DEAD].astype(np.float64)
        near = dead / (dead + lines.known[:, NEIGHBOUR_WEIGHT] + SHRINK)
        places = _places(lines)
        root = np.sqrt(np.count_nonzero(places, axis=1).clip(1))
        odds = self._usual + NEAR * near + self._weight.take(places).sum(axis=1) / root
        probability: Column = 1.0 / (1.0 + np.exp(np.minimum(np.maximum(-odds, -MOST_RISKED), MOST_RISKED)))
        return probability


def _places(lines: Lines) -> NDArray[np.int32]:
    """Where what is known of each row's words and places is kept; 0 for no word."""
    places = lines.words[:, _LINK] * _APART
    places &= PLACES - 1
    return places
