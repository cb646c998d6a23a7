"""Schedules of revisits. `SCHEDULES` names the values of `--schedule`; `make_schedule` creates one.

All schedules share the budget, the bounds, and the treatment of failed and vanished pages.

>>> make_schedule("fixed,every=1d", per_second=0.1).every
86400.0
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable
from typing import Literal, TypeAlias, get_args

import numpy as np
from numpy.typing import NDArray

from lycosa.core.columns import fit
from lycosa.core.composite import GOLDEN, splitmix
from lycosa.core.durations import format_duration, parse_duration
from lycosa.core.errors import InputError
from lycosa.core.spec import Registry, RegistryEntry, check_parts, parse_spec
from lycosa.core.types import Rows
from lycosa.revisit.rates import Floats, Histories, Posterior, Rates, claim, waiting
from lycosa.web.urls import compile_patterns

MIN_INTERVAL_SECONDS = 600.0  # minimum interval between two visits of a page
# Maximum interval between two visits of a page, as far as the budget allows, so that wrong estimates show.
MAX_INTERVAL_SECONDS = 60 * 86_400.0
_SAMPLE = 8_192  # maximum pages from which the price is estimated; accurate to about a percent

ENTRIES = {
    "automatic": RegistryEntry(
        "schedules", "Automatic", "learns how often each page changes and revisits where that keeps most pages fresh",
        "Cho, Garcia-Molina 2003",
    ),
    "fixed": RegistryEntry(
        "schedules", "Fixed", "revisits all pages at the same interval, or as often as the budget allows",
    ),
}  # fmt: skip
SCHEDULES = Registry("schedule", "lycosa.revisit", ENTRIES)


def make_schedule(text: str, per_second: float) -> Schedule:
    """Create a schedule from a name with parameters, or from a user's class `module:Class`."""
    name, given = parse_spec(text)
    schedule: Schedule = SCHEDULES.make(name, given, per_second=per_second)
    if name not in SCHEDULES:
        check_parts(schedule, ("due", "claim", "per_second"), name)
    return schedule


class Schedule(ABC):
    """Base class of schedules, which compute due times, and an order if more pages are due than the budget allows.

    `per_second` is the budget in visits per second, which may be changed at any time. Unspent budget is lost: with
    `spending`, the next pages are due earlier if fewer are due than the budget allows, for instance in the first days,
    when all pages have just been visited.
    """

    spending = True

    def __init__(
        self,
        per_second: float = 0.0,
        least: float | str = MIN_INTERVAL_SECONDS,
        most: float | str = MAX_INTERVAL_SECONDS,
    ) -> None:
        self.per_second = per_second
        self.least = parse_duration(least, "least")
        self.most = parse_duration(most, "most")
        if self.least > self.most:
            least_text, most_text = format_duration(self.least), format_duration(self.most)
            raise InputError("conflicting-options", f"'least' ({least_text}) must not exceed 'most' ({most_text})")

    @abstractmethod
    def intervals(self, histories: Histories, rows: Rows, everything: bool) -> Floats:
        """Return the interval after the last visit of pages; `everything` is true if these are all pages."""

    def due(self, histories: Histories, which: Rows | int | None = None) -> Floats:
        """Return the due times of pages; all by default.

        A call for all pages updates the shared state (price, prior); a call for some uses it as is.
        """
        rows = histories.rows(which)
        times = histories.last[rows] + self.intervals(histories, rows, which is None)
        if which is None and self.spending and self.per_second > 0 and len(rows):
            times = self._spend_budget(histories, times)
        return self._delay_failed(histories, rows, times)

    def _spend_budget(self, histories: Histories, times: Floats) -> Floats:
        """Move due times forward so that the n-th visit is due no later than the budget allows after the last request.

        The last request is used instead of now, because otherwise the first visit would always be in the future. Budget
        unspent while the process was down is lost, except for an hour's worth.
        """
        n, rate = len(times), self.per_second
        earliest = histories.last[:n] + self.least
        # seconds of unspent budget that can still be used
        spent = max(float(histories.tried[:n].max()), histories.now - max(3600.0, 2 / rate))
        watched = np.flatnonzero(~histories.dropped[:n] & (histories.failures[:n] == 0))
        by_time = watched[np.argsort(times[watched], kind="stable")]
        # Pages that cannot be earlier, or not at their turn, keep their times and take their share then.
        slot = spent + np.arange(1, len(by_time) + 1) / rate
        is_held = earliest[by_time] >= np.minimum(times[by_time], slot)
        held, free = by_time[is_held], by_time[~is_held]
        taken = times[held]
        left = np.maximum.accumulate(rate * (taken - spent) - np.arange(len(taken)))  # visits left for others by then
        turn = np.arange(1, len(free) + 1)
        sooner = times.copy()
        latest = spent + (turn + np.searchsorted(left, turn)) / rate
        sooner[free] = np.minimum(times[free], np.maximum(earliest[free], latest))
        return sooner

    def claim(self, histories: Histories, which: Rows | int | None, now: float) -> Floats:
        """Return the claims of pages, by which due pages are ordered, largest first: here the time overdue."""
        overdue: Floats = now - self.due(histories, histories.rows(which))
        return overdue

    def _delay_failed(self, histories: Histories, rows: Rows, times: Floats) -> Floats:
        """Delay failed pages, and vanished ones for longer; the delay doubles with each failure."""
        failures = histories.failures[rows]
        if failures.any() or histories.dropped[rows].any():
            pause = np.minimum(3600.0 * 2.0 ** np.minimum(failures - 1, 40), self.most)  # doubled after each failure
            times = np.where(failures > 0, np.maximum(times, histories.tried[rows] + pause), times)
            # doubled each time that the page is still missing
            gone = np.minimum(86_400.0 * 2.0 ** np.clip(failures - 1, 0, 40), self.most)
            times = np.where(histories.dropped[rows], histories.tried[rows] + gone, times)
        return times

    def share(self, histories: Histories) -> float:
        """Return the time in which all pages can be visited once; infinite without a budget."""
        watched = len(histories) - int(np.count_nonzero(histories.dropped[: len(histories)]))
        return max(1, watched) / self.per_second if self.per_second > 0 else np.inf


class Fixed(Schedule):
    """Visit every page at the same interval `every`, by default as often as the budget allows.

    For equally relevant pages this beats visits in proportion to the rate of change, whatever the rates are.

    Paper: Cho, Garcia-Molina 2003, "Effective page refresh policies for web crawlers", the uniform policy.

    >>> histories = Histories(); page = histories.add(1000.0)
    >>> Fixed(every="1h").due(histories).tolist(), Fixed(per_second=1 / 7200).due(histories).tolist()
    ([4600.0], [8200.0])
    """

    def __init__(
        self,
        per_second: float = 0.0,
        every: float | str = "",
        least: float | str = MIN_INTERVAL_SECONDS,
        most: float | str = MAX_INTERVAL_SECONDS,
    ) -> None:
        super().__init__(per_second, least, most)
        self.every = parse_duration(every, "every") if every else 0.0
        self.spending = not self.every

    def intervals(self, histories: Histories, rows: Rows, everything: bool) -> Floats:
        return np.full(len(rows), self.every or max(self.least, self.share(histories)))


class Automatic(Schedule):
    """Visit a page when its claim (gain of a visit, see rates.py) reaches the price at which the budget is spent.

    Rates are estimated from each page's history with a prior by host and relevance (rates.py). The claim is the mean
    over the posterior, so that uncertainty causes visits. In benchmarks/refresh_schedules.py drawing rates at random
    (Thompson) was much worse, and using the estimate alone a little worse where visits are few. `rest` is the maximum
    share of the budget for pages whose claims would not reach the price within `most`.

    Paper: Cho, Garcia-Molina 2003, "Effective page refresh policies for web crawlers"; learning rates on the way and
    weighting by relevance are ours.
    """

    def __init__(
        self,
        per_second: float = 0.0,
        least: float | str = MIN_INTERVAL_SECONDS,
        most: float | str = MAX_INTERVAL_SECONDS,
        rest: float = 0.1,
    ) -> None:
        super().__init__(per_second, least, most)
        if not 0 <= rest <= 1:
            raise ValueError(f"'rest' is {rest}: it must be from 0 to 1, a share of the budget")
        self.rest = rest
        self.price = 0.0
        self._rates = Rates()
        self._longest = self.most
        self._wait: Floats = np.zeros(0)

    def posterior(self, histories: Histories, which: Rows | int | None = None) -> Posterior:
        return self._rates.posterior(histories, histories.rows(which))

    def intervals(self, histories: Histories, rows: Rows, everything: bool) -> Floats:
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
        """Return the gain of visits; at least the price for pages that have waited for the longest interval."""
        rows = histories.rows(which)
        waited = now - histories.last[rows]
        worth = claim(waited, histories.weight[rows], *self._rates.posterior(histories, rows))
        bar = self.price if self.price < np.inf else 1.0
        return np.maximum(worth, bar * np.clip(waited / self._longest, 0.0, 2.0))

    def _until(self, price: float, weight: Floats, known: Posterior, start: Floats) -> Floats:
        longest = np.full(len(weight), min(self._longest, 1e12))
        return np.maximum(waiting(price, weight, *known, longest, start), self.least)

    def _find_price(self, histories: Histories, rows: Rows, weight: Floats, known: Posterior) -> None:
        chosen = np.flatnonzero(~histories.dropped[rows] & (weight > 0))
        watched = len(chosen)
        if watched > _SAMPLE:  # sampled by a hash of the number, so that patterns in the numbers do not matter
            drawn = splitmix(rows[chosen].astype(np.uint64) * GOLDEN) % np.uint64(-(-watched // _SAMPLE))
            chosen = chosen[drawn == 0]
        if not len(chosen):
            self.price = np.inf  # no page has a weight, so all are visited in turn
            return
        if not 1 / self._longest < self.per_second / watched < 1 / self.least:
            self.price = 0.0
            return
        w, some, wait = weight[chosen], Posterior(known.rate[chosen], known.shape[chosen]), self._wait[rows[chosen]]
        mean = watched / self.per_second
        usual = float(np.median(claim(np.full(len(chosen), mean), w, *some)))
        at = np.log(self.price if 0 < self.price < np.inf else usual)
        low, high, before = -np.inf, np.inf, (np.nan, np.nan)
        for _ in range(40):  # secant steps in (log price, log visits), where the curve is nearly straight
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


Behaviour: TypeAlias = Literal["now", "always", "frequently", "infrequently", "automatic"]
BEHAVIOURS: tuple[Behaviour, ...] = get_args(Behaviour)

NOW, ALWAYS, FREQUENTLY, INFREQUENTLY, AUTOMATIC = range(len(BEHAVIOURS))


class Behaviours:
    """The user's overrides of the schedule, by URL pattern.

    Patterns are regular expressions searched in the URL, like those of --include.

        now            before everything else, once per run; after that as scheduled
        always         at each refresh and unconditionally, never from a cache; in a watch like `frequently`
        frequently     as scheduled, but at least every `frequent`
        infrequently   every `infrequent`, regardless of relevance and changes
        automatic      as scheduled: pages that match no pattern

    A page that matches several behaviours gets the first of them, in this order.

    Paper: Trivedi et al. 2014, section II, freshness tuning: "Re-crawl URL patterns" (now), "Always force re-crawl",
    "Crawl frequently", "Crawl infrequently". It specifies neither the precedence nor the intervals.
    """

    def __init__(
        self,
        now: Iterable[str] = (),
        always: Iterable[str] = (),
        frequently: Iterable[str] = (),
        infrequently: Iterable[str] = (),
        frequent: float | str = "1d",
        infrequent: float | str = "30d",
    ) -> None:
        self._patterns = [compile_patterns(patterns) for patterns in (now, always, frequently, infrequently)]
        self.frequent = parse_duration(frequent, "frequent")
        self.infrequent = parse_duration(infrequent, "infrequent")

    def number(self, url: str) -> int:
        for number, patterns in enumerate(self._patterns):
            if any(pattern.search(url) for pattern in patterns):
                return number
        return AUTOMATIC

    def of(self, url: str) -> Behaviour:
        return BEHAVIOURS[self.number(url)]

    def due(self, numbers: NDArray[np.integer], due: Floats, tried: Floats, started: float) -> Floats:
        """Return the due times of pages from the scheduled ones, their last requests and the start of the run.

        -inf: before everything else. A page requested in this run, even without success, is not due again at once.
        """
        waiting = tried < started
        often = np.minimum(due, tried + self.frequent)
        times = np.where(numbers == INFREQUENTLY, tried + self.infrequent, due)
        times = np.where((numbers == FREQUENTLY) | (numbers == ALWAYS), often, times)
        times = np.where((numbers == ALWAYS) & waiting, np.minimum(times, started), times)
        return np.where((numbers == NOW) & waiting, -np.inf, times)
