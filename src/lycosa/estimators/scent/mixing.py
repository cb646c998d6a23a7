"""How much each term counts: weights that were fixed beforehand, and weights that outcomes have shifted, if better."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

RIDGE = 50.0
"""How firmly the fixed weights are believed in: a prior variance of .02, if outcomes have 1."""

DISCOUNT = 0.99
"""What a comparison keeps of what it knew, with every page."""

TRIAL = 20
"""Pages before the shifted weights may be used at all."""

MOST = 3.0
"""Outcomes, as multiples of the mean of the positive ones, above which a page is as good as any."""

Column = NDArray[np.float64]


class Mixing:
    """Bayesian linear regression of outcomes on terms, with the fixed weights as its prior; and a referee.

    With f the terms of a link when it was picked and y its outcome, w = w0 + (sum f f' + ridge I)^-1 sum f (y - w0' f),
    one update a page, terms and outcomes centred at their running means. The referee compares what the fixed and the
    shifted weights had said of each page *before* it was known with what it turned out to be: by the correlation over
    the last hundred pages or so. The shifted ones are in force only while they have been better.

    All of it but the means is sums over pages, so what other shards of a crawl have learned can be added.

    >>> one, other = Mixing(np.ones(2)), Mixing(np.ones(2))
    >>> for at in range(40):
    ...     one.learn(np.array([at % 2, 1.0]), 3.0 * (at % 2))
    >>> other.add(one.sums)
    >>> bool(other.ahead), bool(np.allclose(other.shifted, one.shifted)), bool(np.allclose(other.sums, one.sums))
    (True, True, True)
    >>> other.add(-one.sums)
    >>> bool(other.ahead), bool(np.allclose(other.shifted, other.fixed))
    (False, True)
    """

    def __init__(self, fixed: Column, ridge: float = RIDGE) -> None:
        self.fixed = fixed
        n = len(fixed)
        self._free = (fixed != 0.0).astype(np.float64)
        self._ridge = ridge
        self.shifted = fixed.copy()
        self.ahead = False
        self.pages = 0
        self.elsewhere = 0
        """Pages that other shards have learned from; of those the sums of terms, and the referee's."""
        self._terms_elsewhere, self._sums_elsewhere = np.zeros(n), np.zeros((2, 3))
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
        y = min(outcome, MOST)
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
        apart = terms - self._mean
        centred = apart * self._free
        self._mean += rate * apart
        self._outcome += rate * dy
        turned = self._inverse @ centred
        self._inverse -= turned[:, None] * turned / (1.0 + centred @ turned)
        self._said += centred * (dy - self.fixed @ centred)
        self._decide()

    def _decide(self) -> None:
        self.shifted = self.fixed + self._inverse @ self._said
        self.ahead = self.pages + self.elsewhere >= TRIAL and self._match(1) > self._match(0)

    @property
    def level(self) -> float:
        """What scores have more by the weights in force than by the fixed ones, at links as they were picked so far.
        It changes no order; but shards compare scores, and their weights differ."""
        usual = (self.pages * self._mean + self._terms_elsewhere) / max(self.pages + self.elsewhere, 1)
        return float((self.weights - self.fixed) @ usual)

    @property
    def sums(self) -> Column:
        """What was learned, as sums over pages: how many, their terms, the regression's sums, and the referee's."""
        squares = np.linalg.inv(self._inverse) - self._ridge * np.eye(len(self.fixed))
        terms, referee = self.pages * self._mean + self._terms_elsewhere, self._sums + self._sums_elsewhere
        return np.concatenate(
            [[self.pages + self.elsewhere], terms, squares.reshape(-1), self._said, referee.reshape(-1)]
        )

    def add(self, more: Column) -> None:
        """So much more was learned elsewhere; or less."""
        n = len(self.fixed)
        terms, squares, said, referee = np.split(more[1:], (n, n + n * n, n + n * n + n))
        squares = np.linalg.inv(self._inverse) + squares.reshape(n, n)
        self.elsewhere += round(float(more[0]))
        self._terms_elsewhere = self._terms_elsewhere + terms
        self._inverse, self._said = np.linalg.inv(squares).astype(np.float64, copy=False), self._said + said
        self._sums_elsewhere = self._sums_elsewhere + referee.reshape(2, 3)
        self._decide()

    def _match(self, at: int) -> float:
        """The correlation of what one of the two said with what came of it."""
        of_both, of_said, of_outcome = (self._sums[at] + self._sums_elsewhere[at]).tolist()
        return float(of_both / math.sqrt(max(of_said * of_outcome, 1e-12)))
