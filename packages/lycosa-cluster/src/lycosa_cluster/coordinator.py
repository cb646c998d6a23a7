"""Distribution of the budget: one choice for all shards, based on the best rows that each reports.

The coordinator's only state is the last report of each shard, so a restarted one is complete after a report of each.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field

from lycosa.core.budget import (
    BYTES_SPENT,
    EXHAUSTED,
    LEFT_ALONE,
    PAGES_SPENT,
    REQUESTS_SPENT,
    STOPPED,
    TIME_SPENT,
    Budget,
)
from lycosa.version import SOFTWARE
from lycosa_cluster.messages import Grant, ShardReport

LEASE_SECONDS = 10.0  # length of a lease: a shard without contact for this long stops fetching
SMALL_CRAWL_PAGES = 2_000  # up to this size batches are not delayed and no budget is granted ahead
# In larger crawls one more page per 100 is granted ahead, up to 3 times the slots, to save reports of shards.
AHEAD = 100, 3
FRESH_SECONDS = 3.0  # age in seconds up to which a report counts; a shard without contact for longer may have died
SUPERSEDED = "another process has taken over"


@dataclass
class _Known:
    """Last report of a shard, and its grants so far."""

    report: ShardReport
    at: float
    pages: int
    requests: int  # maximum of requests that it may send in total
    pending: list[float] = field(default_factory=list)  # priorities of promised rows without a grant, best first


class Coordinator:
    """Coordinator of a crawl.

    `slots`: concurrent requests of all shards together. `grants`: whether budget goes to the best rows instead of in
    order of requests.
    """

    def __init__(
        self,
        shards: int,
        budget: Budget,
        clock: Callable[[], float],
        *,
        slots: int = 16,
        choosy: float = 0.0,
        grants: bool = True,
    ) -> None:
        self.shards, self.budget, self.clock = shards, budget, clock
        self.slots, self.choosy, self.grants = slots, choosy, grants
        self.known: dict[int, _Known] = {}
        self.over = ""
        self._began = clock()
        self._quiet: list[tuple[int, ...]] | None = None
        self._agreed: set[int] = set()
        self.reports = 0

    def report(self, report: ShardReport) -> Grant:
        """Process a shard's report and return its grant."""
        self.reports += 1
        before = self.known.get(report.shard)
        if before is not None and report.epoch < before.report.epoch:
            return Grant(over=SUPERSEDED)
        if report.version and report.version != SOFTWARE:
            self.stop(f"shard {report.shard} has {report.version}, the coordinator {SOFTWARE}: install one version")
        now = self.clock()
        known = self.known[report.shard] = _Known(
            report, now, max(report.granted_pages, report.pages), max(report.granted_requests, report.requests),
            sorted(report.promises, reverse=True),
        )  # fmt: skip
        self.over = self.over or self._ended(report.shard, now)
        if not self.over and (len(self.known) == self.shards or now > self._began + 2 * LEASE_SECONDS):
            self._grant(known, now)
        return Grant(known.pages, known.requests, LEASE_SECONDS, self.over, self.pages)

    def _grant(self, known: _Known, now: float) -> None:
        """Grant a shard free budget for as many of its rows as are among the best of all shards."""
        known_shards = self.known.values()
        in_flight = sum(one.pages - one.report.pages for one in known_shards if now < one.at + LEASE_SECONDS)
        free = self.slots + min(max(0, self.pages - SMALL_CRAWL_PAGES) // AHEAD[0], AHEAD[1] * self.slots) - in_flight
        if self.budget.pages:
            free = min(free, self.budget.pages - sum(one.pages for one in known_shards))
        wanted = known.pending[: max(0, free)]
        if self.grants and wanted:
            best = sorted((priority for one in self._recent(now) for priority in one.pending), reverse=True)[:free]
            bar = max(best[-1], self._bar(now))
            wanted = [claim for claim in wanted if claim >= bar]
        known.pages += len(wanted)
        del known.pending[: len(wanted)]
        known.requests = self._requests(known)

    def _bar(self, now: float) -> float:
        """Return the minimum priority of a row in a choosy crawl, below which waiting for the best row is better.

        The margin follows from the best row's own priority (`Frontier._min_priority`), before its level was subtracted.
        """
        if not self.choosy:
            return -math.inf
        priorities = [
            (priority, one.report.level)
            for one in self._recent(now)
            for priority in (one.report.soon, *one.pending[:1])
            if one.report.proportional and math.isfinite(priority)
        ]
        best, level = max(priorities, default=(-math.inf, 0.0))
        return best - (1.0 - self.choosy) * abs(best + level) if priorities else best

    def _recent(self, now: float) -> list[_Known]:
        return [one for one in self.known.values() if now < one.at + FRESH_SECONDS]

    def _requests(self, known: _Known) -> int:
        """Return the total requests of a shard: those sent, plus a margin for its pages, prerequisites and failures."""
        wanted = known.report.requests + 4 * max(0, known.pages - known.report.pages) + 8
        if self.budget.requests:
            others = sum(one.requests for one in self.known.values() if one is not known)
            wanted = min(wanted, self.budget.requests - others)
        return max(known.requests, wanted)

    @property
    def pages(self) -> int:
        return sum(one.report.pages for one in self.known.values())

    def stop(self, why: str = STOPPED) -> None:
        self.over = self.over or why

    def _ended(self, shard: int, now: float) -> str:
        budget, reports = self.budget, [self.known[number].report for number in sorted(self.known)]
        if budget.seconds and now >= self._began + budget.seconds:
            return TIME_SPENT
        if budget.pages and self.pages >= budget.pages:
            return PAGES_SPENT
        if budget.bytes and sum(report.bytes for report in reports) >= budget.bytes:
            return BYTES_SPENT
        if budget.requests and sum(report.requests for report in reports) >= budget.requests:
            return REQUESTS_SPENT
        return self._exhausted(shard, reports)

    def _exhausted(self, shard: int, reports: list[ShardReport]) -> str:
        """Return the reason for the end of the crawl if no shard has work left; else empty.

        All shards are idle, all links are confirmed, and each has reported so again since that was first true, with
        nothing fetched in between.
        """
        if len(reports) < self.shards or any(report.busy for report in reports):
            self._quiet = None
            return ""
        quiet: list[tuple[int, ...]] = [
            (report.shard, report.epoch, report.pages, report.requests) for report in reports
        ]
        if self._quiet != quiet:
            self._quiet, self._agreed = quiet, set()
        self._agreed.add(shard)
        if len(self._agreed) < self.shards:
            return ""
        return LEFT_ALONE if any(report.alone for report in reports) else EXHAUSTED
