"""What sites say of their own changes: `lastmod` of sitemaps, dates of feeds. Heard, checked, believed as far as right.

A hint is news of a page: a time of change later than the one told before, and later than our last look at it. It stays
open until the page is looked at next, for whatever reason; then it was right if the page had changed, else wrong. For
each host

    precision = (right + 1) / (right + wrong + 2)       of the hints that were checked

A page with an open hint is stale with probability `precision`, and a look at a stale page of weight w brings w/lambda,
the time until it changes again. So it is due at once if precision * w/lambda is more than the price of a look
(allocation.py). At first eight hints of a host are tried. After that a host with a precision below a fifth has no say:
a sitemap whose every lastmod is the present day is soon unheard. Its hints are still checked by the looks that the
schedule makes anyway, so that it can win back its say.

All of it is a fold over visits in their order: sources that were read (`heard`), pages that were looked at (`learn`).
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Hashable
from dataclasses import dataclass, field

from lycosa.refresh.schedules.schedule import LEAST
from lycosa.web.dates import w3c_time

TRIALS = 8
"""Hints of a host that are followed before any was checked."""
TRUST = 0.2
"""The precision that a host needs to be heard."""


@dataclass(slots=True)
class _Host:
    right: int = 0
    wrong: int = 0
    trials: set[Hashable] = field(default_factory=set)

    @property
    def precision(self) -> float:
        return (self.right + 1) / (self.right + self.wrong + 2)


class Hints:
    """What hosts have said, and how often they were right. Nodes and hosts may be names or numbers.

    >>> hints = Hints()
    >>> hints.learn("a.test", "page", at=86_400.0, changed=False)
    >>> hints.heard("a.test", "page", "1970-01-05", now=5 * 86_400.0)  # the fifth day: after our look
    True
    >>> hints.believed("a.test", "page")
    0.5
    >>> hints.learn("a.test", "page", at=6 * 86_400.0, changed=True); round(hints.precision("a.test"), 3)
    0.667
    """

    def __init__(self) -> None:
        self._hosts: defaultdict[Hashable, _Host] = defaultdict(_Host)
        self._told: dict[Hashable, float] = {}  # the latest change of a page that its host has told of
        self._seen: dict[Hashable, float] = {}  # our last look at it
        self._open: dict[Hashable, float] = {}  # pages with news that were not looked at since: when it was heard

    def heard(self, host: Hashable, node: Hashable, lastmod: str | float, now: float) -> bool:
        """A source, read at `now`, says when a page last changed. Whether that is news.

        A time yet to come is none. A day is news as long as we have not looked since its end: the page may have changed
        after the look.
        """
        times = w3c_time(lastmod) if isinstance(lastmod, str) else (lastmod, lastmod)
        if times is None or not 0 < times[0] <= now + 86_400.0:
            return False
        first, last = times
        before = self._told.get(node)
        self._told[node] = max(first, before or 0.0)
        seen = self._seen.get(node, -math.inf)
        # Heard of for the first time: what was so when we looked is no news.
        news = seen < first if before is None else before < first and seen < last
        if news and node not in self._open:
            self._open[node] = now
            said = self._hosts[host]
            if said.right + said.wrong + len(said.trials) < TRIALS:
                said.trials.add(node)
        return news

    def learn(self, host: Hashable, node: Hashable, at: float, changed: bool) -> None:
        """The page was looked at."""
        self._seen[node] = max(at, self._seen.get(node, at))
        said = self._hosts[host]
        said.trials.discard(node)
        if self._open.pop(node, None) is not None:
            said.right += changed
            said.wrong += not changed

    @property
    def open(self) -> list[Hashable]:
        """The pages with news that were not looked at since."""
        return list(self._open)

    def precision(self, host: Hashable) -> float:
        """How likely a hint of the host is right."""
        return self._hosts[host].precision if host in self._hosts else 0.5

    def believed(self, host: Hashable, node: Hashable) -> float:
        """How likely the page has changed, by the word of its host: 0 if it has said nothing, or has no say."""
        if node not in self._open:
            return 0.0
        said = self._hosts[host]
        checked = said.right + said.wrong >= TRIALS and said.precision >= TRUST
        return said.precision if checked or node in said.trials else 0.0

    def due(
        self, host: Hashable, node: Hashable, due: float, *, weight: float, rate: float, price: float, last: float
    ) -> float:
        """When the page is due: when the hint was heard, if it is believed and worth it, else as the schedule says."""
        chance = self.believed(host, node)
        if chance <= 0 or chance * weight <= price * rate:
            return due
        return min(due, max(self._open[node], last + LEAST))
