"""Look where a look keeps most fresh: with rates that are learned, or, for experiments, with the true ones.

Paper items:
    batsakis-refresh: `lycosa refresh --schedule`. Test:
        refresh/test_refresh_schedules.py::test_automatic_keeps_more_fresh_than_the_baselines_and_less_than_who_knows.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from lycosa.core.columns import fit
from lycosa.core.errors import InputError
from lycosa.core.strategies import GOLDEN, splitmix
from lycosa.core.types import Rows
from lycosa.refresh.allocation import allocate, claim, gain, waiting
from lycosa.refresh.histories import Histories
from lycosa.refresh.rates import Floats, Posterior, Rates
from lycosa.refresh.schedules.schedule import LEAST, MOST, Schedule

_SAMPLE = 8_192
"""The price is found from so many pages at most: it is then right to a percent or so."""


class Automatic(Schedule):
    """A look at a page when its claim has reached the price at which the budget is spent.

    The rate of each page is estimated from its history (rates.py) with a prior by host and relevance. The claim
    is the mean over what the rate may be (allocation.py), so that doubt makes us look; drawing rates at random
    (Thompson) was much worse in benchmarks/refresh_schedules.py, and going by the estimate alone a little worse where
    looks are few.

    `rest` is the share of the budget, at most, that goes to pages whose claims would not reach the price within `most`.

    Paper: Cho, Garcia-Molina 2003, "Effective page refresh policies for web crawlers"; that rates have to be
    learned on the way, and what a page is worth, is ours.

    >>> histories = Histories()
    >>> for weight in (0.1, 0.9): page = histories.add(0.0, weight=weight); histories.look(page, 86_400.0, changed=True)
    >>> less, more = Automatic(per_second=1 / 86_400).due(histories)
    >>> bool(more < less)
    True
    """

    def __init__(
        self, per_second: float = 0.0, least: float | str = LEAST, most: float | str = MOST, rest: float = 0.1
    ) -> None:
        super().__init__(per_second, least, most)
        if not 0 <= rest <= 1:
            raise ValueError(f"rest is {rest}: it has to be from 0 to 1, a share of the budget")
        self.rest = rest
        self.price = 0.0
        self._rates = Rates()
        self._longest = self.most
        self._wait: Floats = np.zeros(0)

    def posterior(self, histories: Histories, which: Rows | int | None = None) -> Posterior:
        """What is known of the rates of pages, as of the last `due`."""
        return self._rates.posterior(histories, histories.rows(which))

    def intervals(self, histories: Histories, rows: Rows, everything: bool) -> Floats:
        """Until the claim reaches the price."""
        self._wait = fit(self._wait, len(histories))
        if everything:
            self._rates.review(histories)
        known = self._rates.posterior(histories, rows)
        weight = histories.weight[rows]
        if everything:
            self._longest = max(self.most, self.share(histories) / self.rest if self.rest > 0 else np.inf)
            self._find_price(histories, rows, weight, known)
        if self.price <= 0:
            return np.full(len(rows), self.least if self.per_second > 0 else np.inf)
        wait = self._until(self.price, weight, known, self._wait[rows])
        self._wait[rows] = wait
        return wait

    def claim(self, histories: Histories, which: Rows | int | None, now: float) -> Floats:
        """What a look brings; for a page that has waited for as long as any should, no less than the price."""
        rows = histories.rows(which)
        waited = now - histories.last[rows]
        worth = claim(waited, histories.weight[rows], *self._rates.posterior(histories, rows))
        bar = self.price if self.price < np.inf else 1.0
        return np.maximum(worth, bar * np.clip(waited / self._longest, 0.0, 2.0))

    def _until(self, price: float, weight: Floats, known: Posterior, start: Floats) -> Floats:
        longest = np.full(len(weight), min(self._longest, 1e12))
        return np.maximum(waiting(price, weight, *known, longest, start), self.least)

    def _find_price(self, histories: Histories, rows: Rows, weight: Floats, known: Posterior) -> None:
        """The price at which the visits of all pages are what the budget allows."""
        chosen = np.flatnonzero(~histories.dropped[rows] & (weight > 0))
        watched = len(chosen)
        if watched > _SAMPLE:  # by a hash of the number, so that no pattern in it matters
            drawn = splitmix(rows[chosen].astype(np.uint64) * GOLDEN) % np.uint64(-(-watched // _SAMPLE))
            chosen = chosen[drawn == 0]
        if not len(chosen):
            self.price = np.inf  # nothing is worth a look: all are looked at in turn
            return
        if not 1 / self._longest < self.per_second / watched < 1 / self.least:
            self.price = 0.0
            return
        w, some, wait = weight[chosen], Posterior(known.rate[chosen], known.shape[chosen]), self._wait[rows[chosen]]
        mean = watched / self.per_second
        usual = float(np.median(claim(np.full(len(chosen), mean), w, *some)))
        at = np.log(self.price if 0 < self.price < np.inf else usual)
        low, high, before = -np.inf, np.inf, (np.nan, np.nan)
        for _ in range(40):  # secants in (log price, log visits), where the curve is nearly straight
            wait = self._until(float(np.exp(at)), w, some, wait)
            off = float(np.log((mean / wait).mean()))
            if abs(off) < 1e-3:
                break
            low, high = (at, high) if off > 0 else (low, at)
            slope = (off - before[1]) / (at - before[0]) if at != before[0] else np.nan
            before = (at, off)
            at -= off / (min(max(slope, -5.0), -0.1) if slope == slope else -0.5)
            if not low < at < high:
                at = (low + high) / 2
        self.price = float(np.exp(at))


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
