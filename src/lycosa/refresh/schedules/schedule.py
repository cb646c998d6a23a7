"""What all schedules have in common: the budget, the bounds, what becomes of pages that fail or have vanished; and
freshness behaviours, by which a person overrules them.

Paper items:
    personalized-freshness: `lycosa refresh`, `POST /interests`. Test:
        refresh/test_refresh_behaviours.py::test_patterns_are_regular_expressions,
        server/test_server_interests.py::test_how_pages_are_looked_at_again. Departs: of several that match, the first
        in the order now, always, frequently, infrequently; in the dashboard pieces of addresses, no expressions.
    personalized-frequently: `--frequently`. Test:
        refresh/test_refresh_behaviours.py::test_frequently_is_as_scheduled_but_once_a_period_at_least. Departs: once a
        day at least (`--frequent`): the paper has no number.
    personalized-infrequently: `--infrequently`. Test:
        refresh/test_refresh_behaviours.py::test_infrequently_is_every_period_whatever_the_schedule_says. Departs: every
        30 days (`--infrequent`): the paper has no number.
    personalized-always: `--always`. Test:
        refresh/test_refresh_behaviours.py::test_always_is_at_each_run_and_then_as_frequently.
    personalized-now: `lycosa refresh --now`. Test:
        refresh/test_refresh_behaviours.py::test_now_comes_before_everything_once_in_a_run.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable
from typing import Literal, TypeAlias, get_args

import numpy as np
from numpy.typing import NDArray

from lycosa.core.durations import seconds, spoken
from lycosa.core.errors import InputError
from lycosa.core.types import Rows
from lycosa.refresh.histories import Histories
from lycosa.refresh.rates import Floats
from lycosa.web.scope import compiled

LEAST = 600.0
"""No page is looked at more often than this."""
MOST = 60 * 86_400.0
"""Each page is looked at once in this time, as far as the budget allows, so that a wrong estimate can be noticed."""
DAY = 86_400.0
"""After a page has vanished, doubled each time that it is still not there, up to MOST."""
PAUSE = 3600.0
"""After a failure, doubled with each that follows it, up to MOST."""
CATCH_UP = 3600.0
"""A budget that was not spent can be spent for so long."""

Behaviour: TypeAlias = Literal["now", "always", "frequently", "infrequently", "automatic"]
BEHAVIOURS: tuple[Behaviour, ...] = get_args(Behaviour)

NOW, ALWAYS, FREQUENTLY, INFREQUENTLY, AUTOMATIC = range(len(BEHAVIOURS))


class Schedule(ABC):
    """Says when pages are due, and whose turn it is when more are due than the budget allows.

    `per_second` is that budget: looks a second. It may be set anew at any time. A budget that is not spent is lost: if
    `spending`, pages are due earlier than they would be where otherwise fewer were due than the budget allows, the
    next ones first. So it is in the first days, when all pages have just been seen.
    """

    spending = True

    def __init__(self, per_second: float = 0.0, least: float | str = LEAST, most: float | str = MOST) -> None:
        self.per_second = per_second
        self.least = seconds(least, "least")
        self.most = seconds(most, "most")
        if self.least > self.most:
            raise InputError(f"least ({spoken(self.least)}) is longer than most ({spoken(self.most)})")

    @abstractmethod
    def intervals(self, histories: Histories, rows: Rows, everything: bool) -> Floats:
        """How long to wait after the last look at pages. `everything`: these are all there are."""

    def due(self, histories: Histories, which: Rows | int | None = None) -> Floats:
        """When the next look at each page is due; all pages if none are named.

        For all pages, what they share (price, prior) is brought up to date; for some it is used as it last was.
        """
        rows = histories.rows(which)
        times = histories.last[rows] + self.intervals(histories, rows, which is None)
        if which is None and self.spending and self.per_second > 0 and len(rows):
            times = self._spent(histories, times)
        return self._kept_away(histories, rows, times)

    def _spent(self, histories: Histories, times: Floats) -> Floats:
        """The n-th look is due, at the latest, when the budget allows so many after the last request.

        Counted from the last request and not from now: each time it is asked the first would be yet to come. But not
        from long ago either: what was not spent while nobody watched is lost, but for an hour's worth.
        """
        n, rate = len(times), self.per_second
        earliest = histories.last[:n] + self.least
        spent = max(float(histories.tried[:n].max()), histories.now - max(CATCH_UP, 2 / rate))
        watched = np.flatnonzero(~histories.dropped[:n] & (histories.failures[:n] == 0))
        by_time = watched[np.argsort(times[watched], kind="stable")]
        # Some can't be earlier, or not when it is their turn: they keep their times, and take their share then.
        slot = spent + np.arange(1, len(by_time) + 1) / rate
        is_held = earliest[by_time] >= np.minimum(times[by_time], slot)
        held, free = by_time[is_held], by_time[~is_held]
        taken = times[held]
        room = np.maximum.accumulate(rate * (taken - spent) - np.arange(len(taken)))  # looks left for others by then
        turn = np.arange(1, len(free) + 1)
        sooner = times.copy()
        at_latest = spent + (turn + np.searchsorted(room, turn)) / rate
        sooner[free] = np.minimum(times[free], np.maximum(earliest[free], at_latest))
        return sooner

    def claim(self, histories: Histories, which: Rows | int | None, now: float) -> Floats:
        """The page with the largest is looked at first. Here: how long it is overdue."""
        overdue: Floats = now - self.due(histories, histories.rows(which))
        return overdue

    def _kept_away(self, histories: Histories, rows: Rows, times: Floats) -> Floats:
        """What failed is left alone for a while, what has vanished for longer, and longer each time."""
        failures = histories.failures[rows]
        if failures.any() or histories.dropped[rows].any():
            pause = np.minimum(PAUSE * 2.0 ** np.minimum(failures - 1, 40), self.most)
            times = np.where(failures > 0, np.maximum(times, histories.tried[rows] + pause), times)
            gone = np.minimum(DAY * 2.0 ** np.clip(failures - 1, 0, 40), self.most)
            times = np.where(histories.dropped[rows], histories.tried[rows] + gone, times)
        return times

    def share(self, histories: Histories) -> float:
        """How long it takes to look at all pages once; for ever without a budget."""
        watched = len(histories) - int(np.count_nonzero(histories.dropped[: len(histories)]))
        return max(1, watched) / self.per_second if self.per_second > 0 else np.inf


class Behaviours:
    """What a person says of how often pages are to be looked at.

    Patterns are regular expressions, found anywhere in the address, as those of --include.

        now            as soon as possible: before everything else, once in a run; after that as the schedule says
        always         at each refresh, and never from a cache: no conditions are sent; while watching, as `frequently`
        frequently     as the schedule says, but never less often than `frequent`
        infrequently   every `infrequent`, whatever the page is worth and however often it changes
        automatic      as the schedule says: pages that no pattern names

    A page that patterns of several behaviours name has the first of them, in this order.

    Paper: Trivedi et al. 2014, section II, freshness tuning: "Re-crawl URL patterns" (now), "Always force re-crawl",
    "Crawl frequently", "Crawl infrequently". It does not say which comes first, nor how often is often.

    >>> behaviours = Behaviours(frequently=["/news/"], infrequently=["archive"], infrequent="2 weeks")
    >>> behaviours.of("http://a.test/news/archive"), behaviours.of("http://a.test/")
    ('frequently', 'automatic')
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
        self._patterns = [compiled(patterns) for patterns in (now, always, frequently, infrequently)]
        self.frequent = seconds(frequent, "the period of pages to be looked at frequently")
        self.infrequent = seconds(infrequent, "the period of pages to be looked at infrequently")

    def number(self, url: str) -> int:
        """The behaviour of a page, as its place in BEHAVIOURS; for columns of them."""
        for number, patterns in enumerate(self._patterns):
            if any(pattern.search(url) for pattern in patterns):
                return number
        return AUTOMATIC

    def of(self, url: str) -> Behaviour:
        """The behaviour of a page."""
        return BEHAVIOURS[self.number(url)]

    def due(
        self,
        numbers: NDArray[np.integer],
        due: NDArray[np.float64],
        tried: NDArray[np.float64],
        started: float,
    ) -> NDArray[np.float64]:
        """When pages are due, from when the schedule says, when they were last asked for and when the run started.

        -inf: before everything else. What was asked for in this run is not asked for again at once, even if it failed.

        >>> behaviours, kinds = Behaviours(), np.arange(5)  # one of each; all last seen at 0, the run starts at noon
        >>> (behaviours.due(kinds, np.full(5, 40 * 86_400.0), np.zeros(5), 43_200.0) / 86_400).tolist()
        [-inf, 0.5, 1.0, 30.0, 40.0]
        """
        waiting = tried < started
        often = np.minimum(due, tried + self.frequent)
        times = np.where(numbers == INFREQUENTLY, tried + self.infrequent, due)
        times = np.where((numbers == FREQUENTLY) | (numbers == ALWAYS), often, times)
        times = np.where((numbers == ALWAYS) & waiting, np.minimum(times, started), times)
        return np.where((numbers == NOW) & waiting, -np.inf, times)
