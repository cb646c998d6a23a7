"""The schedules that others have, for comparison: all pages alike, sooner after a change, more where more changes."""

from __future__ import annotations

import numpy as np

from lycosa.core.durations import seconds
from lycosa.core.types import Rows
from lycosa.refresh.histories import Histories
from lycosa.refresh.rates import Floats, Rates
from lycosa.refresh.schedules.schedule import LEAST, MOST, Schedule


class Fixed(Schedule):
    """Every page after the same time: `every`, or by default as often as the budget allows.

    Not as bad as it looks: for pages equally relevant it beats visits in proportion to the rate of change, whatever
    the rates are.

    Paper: Cho, Garcia-Molina 2003, "Effective page refresh policies for web crawlers", the uniform policy.

    >>> histories = Histories(); page = histories.add(1000.0)
    >>> Fixed(every="1h").due(histories).tolist(), Fixed(per_second=1 / 7200).due(histories).tolist()
    ([4600.0], [8200.0])
    """

    def __init__(
        self, per_second: float = 0.0, every: float | str = "", least: float | str = LEAST, most: float | str = MOST
    ) -> None:
        super().__init__(per_second, least, most)
        self.every = seconds(every, "every") if every else 0.0
        self.spending = not self.every

    def intervals(self, histories: Histories, rows: Rows, everything: bool) -> Floats:
        """The same for all."""
        return np.full(len(rows), self.every or max(self.least, self.share(histories)))


class Adaptive(Schedule):
    """The interval of a page is multiplied by (1 - rate) after a change, by (1 + rate) after none.

    As Apache Nutch's AdaptiveFetchSchedule does, which has .2 for both. It knows of no budget: where more is due than
    the budget allows, looks come late, those longest overdue first. It finds intervals in which a page changes with a
    certain probability, whatever the page is worth, and follows what cannot be followed.

    With `spend` pages are looked at earlier than that where a budget would be left.

    The interval is that of the last 64 looks, from `start` on: what was before has been forgotten by then.

    >>> histories = Histories(); page = histories.add(0.0)
    >>> histories.look(page, 100.0, changed=True); histories.look(page, 200.0, changed=False)
    >>> (Adaptive(start="1d").due(histories) - 200.0).round(6).tolist()  # 86400 * .8 * 1.2
    [82944.0]
    """

    def __init__(
        self,
        per_second: float = 0.0,
        rate: float = 0.2,
        start: float | str = "1d",
        least: float | str = "1h",
        most: float | str = "30d",
        spend: bool = False,
    ) -> None:
        super().__init__(per_second, least, most)
        self.spending = spend
        if not 0 < rate < 1:
            raise ValueError(f"rate is {rate}: it has to be between 0 and 1")
        self.rate = rate
        self.start = min(max(seconds(start, "start"), self.least), self.most)

    def intervals(self, histories: Histories, rows: Rows, everything: bool) -> Floats:
        """Look by look, oldest first."""
        interval = np.full(len(rows), self.start)
        looks, marks = histories.looks[rows], histories.marks[rows]
        for age in range(min(64, int(looks.max(initial=0))) - 1, -1, -1):
            changed = (marks >> np.uint64(age)) & np.uint64(1)
            moved = np.clip(interval * np.where(changed, 1 - self.rate, 1 + self.rate), self.least, self.most)
            interval = np.where(looks > age, moved, interval)
        return interval


class Proportional(Schedule):
    """Visits in proportion to the rate at which a page changes: f = budget * lambda / (sum of lambda).

    What everyone thinks of first, and worse than treating all alike: the fastest pages take the budget and are never
    fresh. Rates are estimated as for `automatic`.

    Paper: Cho, Garcia-Molina 2003, "Effective page refresh policies for web crawlers".
    """

    def __init__(self, per_second: float = 0.0, least: float | str = LEAST, most: float | str = MOST) -> None:
        super().__init__(per_second, least, most)
        self._rates = Rates()
        self._sum = 0.0

    def intervals(self, histories: Histories, rows: Rows, everything: bool) -> Floats:
        """One over the page's share of the budget."""
        if everything:
            self._rates.review(histories)
        rate, _ = self._rates.posterior(histories, rows)
        if everything:
            self._sum = float(rate[~histories.dropped[rows]].sum())
        wait = np.full(len(rows), self.most)
        np.divide(self._sum, self.per_second * rate, out=wait, where=self.per_second * rate > 0)
        bounded: Floats = np.clip(wait, self.least, self.most)
        return bounded
