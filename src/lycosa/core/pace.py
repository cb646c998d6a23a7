"""How many requests an hour, all hosts together: what a watch may spend."""

from __future__ import annotations

import math


class Pace:
    """So many requests an hour, evenly; what was not used may be caught up with, up to `burst` seconds' worth.

    The time by which all requests so far would be due if they came evenly is all there is to remember: a watch that is
    started again counts those of the log, and an hour is not spent twice. Nor is more than an hour ever owed: the crawl
    before it may have been faster.

    >>> pace = Pace(per_hour=60, burst=120)
    >>> [(pace.next(1000.0), pace.take(1000.0))[0] for _ in range(3)]
    [1000.0, 1000.0, 1060.0]
    """

    def __init__(self, per_hour: float, burst: float = 300.0) -> None:
        self.interval = 3600.0 / per_hour
        self.burst = max(burst, self.interval) if self.interval else math.inf  # without a limit nothing waits
        self._even = 0.0  # when the next request would be due if all came evenly

    def next(self, now: float) -> float:
        """When the next request may be sent: now, or later."""
        return max(now, self._even + self.interval - self.burst)

    def reset(self) -> None:
        """Forget the requests so far."""
        self._even = 0.0

    def take(self, at: float) -> None:
        """A request is sent."""
        self._even = min(max(self._even, at) + self.interval, at + max(3600.0, self.interval))
