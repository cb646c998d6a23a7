"""Freshness behaviours, by which a person overrules the schedule: what is looked at now, always, often or seldom.

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

from collections.abc import Iterable
from typing import Literal, TypeAlias, get_args

import numpy as np
from numpy.typing import NDArray

from lycosa.core.durations import seconds
from lycosa.web.scope import compiled

Behaviour: TypeAlias = Literal["now", "always", "frequently", "infrequently", "automatic"]
BEHAVIOURS: tuple[Behaviour, ...] = get_args(Behaviour)

NOW, ALWAYS, FREQUENTLY, INFREQUENTLY, AUTOMATIC = range(len(BEHAVIOURS))


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
