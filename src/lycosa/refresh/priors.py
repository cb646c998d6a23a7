"""What is to be expected of a page before it is known: how often its like change.

Rates of pages are taken for Gamma distributed with one shape a for all, and a mean that is the mean of all pages, times
a factor of the page's host, times a factor of its relevance class (quarters of the relevance). All are learned from the
pages themselves (empirical Bayes): estimate the rates with the prior so far, then fit the prior to them, and again.

Shape: with y = rate/mean, log a - digamma(a) = -mean(E log y), solved by Minka's approximation; E log y is that of each
page's own posterior, so that pages of which little is known do not look alike. Factor of a group g of n_g pages, after
Buehlmann:

    1 + Z_g (mean of y in g - 1)    Z_g = n_g / (n_g + 1/(a V))

where V is the variance between groups, by moments: what the group means differ by, beyond what chance would make of it.
Where groups are alike, or there is one only, V = 0 and all factors are 1.

Without any look: once in three weeks.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from lycosa.core.types import Rows
from lycosa.refresh.histories import Histories
from lycosa.refresh.rates import Floats, estimate

USUAL = 1 / (21 * 86_400.0)
"""Changes a second of a page about which nothing at all is known."""
SHAPE = 0.5
"""Rates of pages differ by orders of magnitude: half the pages change less than .45 times as often as the mean."""

_TRUST = 4.0
"""USUAL counts as so many pages."""
_ROUNDS = 6
_SAMPLE = 4_096
_CLASSES = 4


@dataclass(slots=True)
class Prior:
    """Shape, mean of all, and factors by host and by relevance class."""

    shape: float = SHAPE
    mean: float = USUAL
    hosts: Floats = field(default_factory=lambda: np.ones(0))
    classes: Floats = field(default_factory=lambda: np.ones(_CLASSES))

    def means(self, histories: Histories, rows: Rows) -> Floats:
        """What rate is to be expected of pages."""
        host = histories.host[rows]
        known = host < len(self.hosts)
        factor = np.where(known, self.hosts[np.where(known, host, 0)], 1.0) if len(self.hosts) else 1.0
        expected: Floats = self.mean * factor * self.classes[classes(histories.weight[rows])]
        return expected

    def fit(self, histories: Histories, rows: Rows | None = None) -> None:
        """Learn from what has been looked at. The result depends on the histories alone, not on what it was before."""
        rows = np.flatnonzero(histories.looks[: len(histories)]) if rows is None else rows
        self.shape, self.mean, self.hosts, self.classes = SHAPE, USUAL, np.ones(0), np.ones(_CLASSES)
        if not len(rows):
            return
        for _ in range(_ROUNDS):
            self._round(histories, rows[:: -(-len(rows) // _SAMPLE)])
        if len(rows) > _SAMPLE:
            self._round(histories, rows)

    def _round(self, histories: Histories, rows: Rows) -> None:
        means = self.means(histories, rows)
        rate, shape = estimate(histories.span[rows], histories.since[rows], self.shape, self.shape / means)
        mean = (_TRUST * USUAL + rate.sum()) / (_TRUST + len(rows))
        host, kind = histories.host[rows], classes(histories.weight[rows])
        hosts = credible(rate / mean, host, self.shape)
        kinds = credible(rate / (mean * hosts[host]), kind, self.shape)
        self.mean, self.hosts = float(mean), hosts
        self.classes = np.concatenate([kinds, np.ones(_CLASSES - len(kinds))])
        y = rate / self.means(histories, rows)
        log_y = np.log(y) + digamma(shape) - np.log(shape)
        spread = np.log(y.mean()) - log_y.mean()  # 0 for pages all alike
        spread = (_TRUST * 1.27 + len(rows) * spread) / (_TRUST + len(rows))  # 1.27 is that of SHAPE
        self.shape = float(np.clip((3 - spread + np.sqrt((spread - 3) ** 2 + 24 * spread)) / (12 * spread), 0.1, 4.0))


def classes(weight: Floats) -> NDArray[np.intp]:
    """The relevance class of pages: which quarter of [0, 1] their relevance is in."""
    return np.clip(_CLASSES * weight, 0, _CLASSES - 1).astype(np.intp)


def credible(y: Floats, group: NDArray[np.integer], shape: float) -> Floats:
    """A factor for each group: its mean, believed as far as the groups differ and the group is large.

    >>> y = np.array([0.1, 0.1, 0.1, 0.1, 1.9, 1.9, 1.9, 1.9]); host = np.array([0, 0, 0, 0, 1, 1, 1, 1])
    >>> credible(y, host, shape=4.0).round(2).tolist(), credible(y, 0 * host, 4.0).tolist()
    ([0.13, 1.87], [1.0])
    """
    n = np.bincount(group)
    used = n > 0
    means = np.where(used, np.bincount(group, y) / np.maximum(n, 1), 1.0)
    chance = (np.count_nonzero(used) - 1) / shape
    among = len(y) - (n**2).sum() / len(y)
    between = max(0.0, float((n * (means - 1) ** 2).sum()) - chance) / among if among > 0 else 0.0
    if between <= 0:
        return np.ones(len(n))
    factors: Floats = np.maximum(1 + n / (n + 1 / (shape * between)) * (means - 1), 0.01)
    return factors


def digamma(x: Floats) -> Floats:
    """The derivative of log Gamma, for x > 0, to 1e-8 or so.

    >>> round(float(digamma(np.array([1.0]))[0]), 7)  # minus Euler's constant
    -0.5772157
    """
    y = x + 5.0
    series = np.log(y) - 1 / (2 * y) - 1 / (12 * y**2) + 1 / (120 * y**4) - 1 / (252 * y**6)
    result: Floats = series - sum(1 / (x + step) for step in range(5))
    return result
