"""How much each term counts: weights that were fixed beforehand, and weights that outcomes have shifted, if better."""

from __future__ import annotations

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
        predicted = np.array([self.fixed @ terms, self.shifted @ terms])
        self.pages += 1
        rate = max(1.0 / self.pages, 1 - DISCOUNT)
        p, dy = predicted - self._level, y - self._outcome
        self._sums *= DISCOUNT
        self._sums[:, 0] += p * dy
        self._sums[:, 1] += p * p
        self._sums[:, 2] += dy * dy
        centred = (terms - self._mean) * self._free
        self._level += rate * p
        self._mean += rate * (terms - self._mean)
        self._outcome += rate * dy
        turned = self._inverse @ centred
        self._inverse -= np.outer(turned, turned) / (1.0 + centred @ turned)
        self._said += centred * (dy - self.fixed @ centred)
        self.shifted = self.fixed + self._inverse @ self._said
        match = self._sums[:, 0] / np.sqrt(np.maximum(self._sums[:, 1] * self._sums[:, 2], 1e-12))
        self.ahead = bool(self.pages >= TRIAL and match[1] > match[0])
