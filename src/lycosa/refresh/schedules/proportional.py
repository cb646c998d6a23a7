"""More often where more changes."""

from __future__ import annotations

import numpy as np

from lycosa.core.types import Rows
from lycosa.refresh.histories import Histories
from lycosa.refresh.rates import Floats
from lycosa.refresh.schedules.learning import Learning
from lycosa.refresh.schedules.schedule import LEAST, MOST, Schedule


class Proportional(Schedule):
    """Visits in proportion to the rate at which a page changes: f = budget * lambda / (sum of lambda).

    What everyone thinks of first, and worse than treating all alike: the fastest pages take the budget and are never
    fresh. Rates are estimated as for `automatic`.

    Paper: Cho, Garcia-Molina 2003, "Effective page refresh policies for web crawlers".
    """

    def __init__(self, per_second: float = 0.0, least: float | str = LEAST, most: float | str = MOST) -> None:
        super().__init__(per_second, least, most)
        self._learning = Learning()
        self._sum = 0.0

    def intervals(self, histories: Histories, rows: Rows, everything: bool) -> Floats:
        """One over the page's share of the budget."""
        if everything:
            self._learning.review(histories)
        rate, _ = self._learning.posterior(histories, rows)
        if everything:
            self._sum = float(rate[~histories.dropped[rows]].sum())
        wait = np.full(len(rows), self.most)
        np.divide(self._sum, self.per_second * rate, out=wait, where=self.per_second * rate > 0)
        bounded: Floats = np.clip(wait, self.least, self.most)
        return bounded
