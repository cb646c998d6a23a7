"""The optimum, for those who know."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from lycosa.core.errors import InputError
from lycosa.core.types import Rows
from lycosa.refresh.allocation import allocate, gain
from lycosa.refresh.histories import Histories
from lycosa.refresh.rates import Floats
from lycosa.refresh.schedules.schedule import LEAST, MOST, Schedule


class Known(Schedule):
    """Visits as allocation.py gives them out, with the true rates, one for each page of the histories.

    No schedule that learns can be better for long, if pages change at constant rates. Where they change by the clock
    or in bursts, it is the best that can be done by someone who does not know when.
    """

    def __init__(
        self,
        rates: NDArray[np.float64] | None = None,
        per_second: float = 0.0,
        least: float | str = LEAST,
        most: float | str = MOST,
    ) -> None:
        super().__init__(per_second, least, most)
        if rates is None:
            raise InputError(
                "the schedule 'known' has to be told the true rates: it is for experiments, take automatic"
            )
        self.rates = rates
        self._visits: Floats = np.zeros(0)
        self._price = 0.0

    def intervals(self, histories: Histories, rows: Rows, everything: bool) -> Floats:
        """One over the visits."""
        if everything or len(self._visits) < len(histories):
            weight = np.where(histories.dropped[: len(histories)], 0.0, histories.weight[: len(histories)])
            found = allocate(weight, self.rates[: len(histories)], self.per_second, 0.0, 1 / self.least, self._price)
            self._visits, self._price = found
        visits = self._visits[rows]
        wait = np.full(len(rows), np.inf)
        np.divide(1.0, visits, out=wait, where=visits > 0)
        return wait

    def claim(self, histories: Histories, which: Rows | int | None, now: float) -> Floats:
        """w/lambda (1 - (1 + r) exp(-r)) with r = lambda times the time since the last look."""
        rows = histories.rows(which)
        rate = np.maximum(self.rates[rows], 1e-300)
        worth: Floats = histories.weight[rows] / rate * gain(rate * np.maximum(now - histories.last[rows], 0.0))
        return worth
