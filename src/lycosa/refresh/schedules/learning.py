"""What a schedule knows of the rates of pages, kept up to date as cheaply as can be."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from lycosa.core.columns import fit
from lycosa.core.types import Rows
from lycosa.refresh.histories import Histories
from lycosa.refresh.priors import Prior
from lycosa.refresh.rates import Floats, Posterior, estimate

_GROWTH = 1.1
"""The prior is fitted again when there are so many times the looks, or pages, of the last time."""


class Learning:
    """Rates, estimated again only for pages with new looks; for all of them when the prior is fitted again."""

    def __init__(self) -> None:
        self.prior = Prior()
        self.rate: Floats = np.zeros(0)
        self.shape: Floats = np.zeros(0)
        self._seen: NDArray[np.int32] = np.zeros(0, np.int32)
        self._fitted = 0.0

    def review(self, histories: Histories) -> None:
        """Fit the prior, if enough has been seen since."""
        if histories.total + len(histories) > self._fitted * _GROWTH + 16:
            self.prior.fit(histories)
            self._fitted = histories.total + len(histories)
            self._seen[:] = -1

    def posterior(self, histories: Histories, rows: Rows) -> Posterior:
        """What is known of the rates of pages."""
        self.rate, self.shape = fit(self.rate, len(histories)), fit(self.shape, len(histories))
        self._seen = fit(self._seen, len(histories), -1)
        stale = rows[self._seen[rows] != histories.looks[rows]]
        if len(stale):
            a = self.prior.shape
            means = self.prior.means(histories, stale)
            start = np.where(self._seen[stale] < 0, self.rate[stale], 0.0)  # only the prior has changed
            found = estimate(histories.span[stale], histories.since[stale], a, a / means, start)
            self.rate[stale], self.shape[stale] = found
            self._seen[stale] = histories.looks[stale]
        return Posterior(self.rate[rows], self.shape[rows])
