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
    """

    def __init__(self, fixed: Column, ridge: float = RIDGE) -> None:
        self.fixed = fixed
        n = len(fixed)
        self._free = (fixed != 0.0).astype(np.float64)
        self.shifted = fixed.copy()
        self.ahead = False
        self.pages = 0
        self._inverse = np.eye(n) / ridge
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
        self.shifted = self.fixed + self._inverse @ self._said
        self.ahead = self.pages >= TRIAL and self._match(1) > self._match(0)

    def _match(self, at: int) -> float:
        """The correlation of what one of the two said with what came of it."""
        of_both, of_said, of_outcome = self._sums[at].tolist()
        return float(of_both / math.sqrt(max(of_said * of_outcome, 1e-12)))
