"""Step 1 of the crawl loop: pick the next visit, new or due again, within concurrency, rate limit and budgets."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from lycosa.core.budget import (
    BYTES_SPENT,
    EXHAUSTED,
    HOSTS_SPENT,
    LEFT_ALONE,
    NOTHING_DUE,
    PAGES_SPENT,
    REQUESTS_SPENT,
    REVISITS,
    STOPPED,
    TIME_SPENT,
    Budget,
    CrawlCounters,
    Meter,
    Pace,
)
from lycosa.core.frontier import Frontier
from lycosa.core.protocols import NEVER, Strategy, VisitScheduler
from lycosa.core.table import OPEN, Table
from lycosa.core.types import Task, Visit


@dataclass(slots=True)
class ShardBudget:
    """Part of the crawl's budget that is leased to one shard."""

    pages: int = 0
    requests: int = 0  # in total, including requests sent before the lease
    until: float = 0.0  # end of the lease; nothing is sent later
    over: str = ""  # why the whole crawl ended

    def covers(self, pages: int, requests: int, now: float) -> bool:
        """Return whether one more page may be fetched, given those fetched or in flight."""
        return not self.over and pages < self.pages and requests < self.requests and now < self.until


class Picker:
    """Source of the next tasks. A task counts as in flight until it is given back or postponed."""

    def __init__(
        self,
        strategy: Strategy,
        frontier: Frontier,
        table: Table,
        tally: CrawlCounters,
        *,
        budget: Budget | None = None,
        scheduler: VisitScheduler | None = None,
        pace: Pace | None = None,
        meter: Meter | None = None,
        concurrency: int = 16,
        patience: float = 300.0,
        hold: Callable[[float], float] = lambda now: 0.0,
    ) -> None:
        self.strategy, self.frontier, self.table, self.tally = strategy, frontier, table, tally
        self.budget, self.pace = budget or Budget(), pace or Pace(math.inf)
        self.scheduler = VisitScheduler() if scheduler is None else scheduler
        self.refreshing = self.scheduler.refreshes
        self.concurrency, self.patience, self._hold = concurrency, patience, hold
        self.stopped = False
        self.enough = ""  # why the crawl has enough by a stopping rule
        self.allowance: ShardBudget | None = None  # budget of a shard; None for a crawl without shards
        self._meter = meter or Meter()
        self._tasks = 0  # started and not finished
        self._pages = 0  # tasks in flight that may become pages
        self._deadline = NEVER
        self._before = 0  # requests not counted by this run's budget
        self._received = 0  # bytes received before this run, minus the meter's count at its start

    def next(self, now: float) -> Task | None:
        """Return the next task, new or due; None if nothing can be fetched now."""
        if self._tasks >= self.concurrency or self._over(now) or self.pace.next(now) > now or not self._allowed(now):
            return None
        if self._tasks and self._hold(now) > now:
            return None
        if self.spent_budget(now):  # the page budget does not apply to page assets
            return self._due(now)
        if self.scheduler.wants_turn():
            return self._due(now) or self._new(now)
        return self._new(now) or self._due(now)

    def _new(self, now: float) -> Task | None:
        if not self.scheduler.explores:
            return None
        number = self.tally.picks + 1
        row, arm, priority = self.strategy.pick(number, self.frontier, now)
        if row < 0:
            return None
        table = self.table
        return Task(
            node=table.nodes[row],
            kind="sitemap" if table.is_source[row] else "page",
            row=row,
            pick=number,
            arm=arm,
            priority=priority,
            attempt=int(table.attempts[row]) + 1,
            hops=int(table.hops[row]),
            **self._origin(row),
            priority_terms=self.explain(row, arm) if priority < math.inf else {},
        )

    def _origin(self, row: int) -> dict[str, Any]:
        """Return the page with the first link to a row, and the row's depth."""
        parent = int(self.table.parent[row])
        return {"parent": self.table.nodes[parent] if parent >= 0 else "", "depth": int(self.table.depth[row])}

    def explain(self, row: int, arm: str) -> dict[str, float]:
        """Return the terms of a row's priority, if the strategy explains them."""
        explain: Callable[[int, str, Table], Mapping[str, float]] | None = getattr(self.strategy, "explain", None)
        try:
            terms = {} if explain is None else explain(row, arm, self.table)
            return {str(name): float(value) for name, value in terms.items() if value and math.isfinite(value)}
        except Exception:  # of a user's own class; `lycosa why` of a waiting link reports it
            return {}

    def _due(self, now: float) -> Task | None:
        while (task := self.scheduler.pick(self.tally.picks + 1, now)) is not None and self._is_open(task):
            if task.row not in self.frontier.taken:
                self.frontier.mark_taken(task.row, free=True)
                break
            self.scheduler.give_back(task, now + 60.0)  # the strategy has already picked it
        return task if task is None or task.follows or task.row < 0 else replace(task, **self._origin(task.row))

    def _is_open(self, task: Task) -> bool:
        return task.row >= 0 and self.table.state.item(task.row) == OPEN

    def start(self, task: Task, sent: float | None = None) -> None:
        """Count a task, or its prerequisite, as in flight; `sent` is the time of its request, if there is one."""
        self._tasks += 1
        self._pages += task.row >= 0
        self.tally.picks += task.pick > 0
        if sent is not None:
            self.pace.take(sent)

    def finish(self, task: Task) -> None:
        self._tasks -= 1
        self._pages -= task.row >= 0
        self.give_back(task)

    def give_back(self, task: Task) -> None:
        """Put back a task that was recorded, cancelled, or has to wait for a prerequisite."""
        if task.due:
            self.scheduler.give_back(task)
        if (row := self._row(task)) >= 0:
            self.frontier.untake(row)

    def postpone(self, task: Task, until: float, why: str) -> None:
        """Put a task back until its host is ready."""
        if task.due:
            self.scheduler.give_back(task, until)
        if (row := self._row(task)) >= 0:
            self.frontier.postpone(row, until, why)

    def _row(self, task: Task) -> int:
        """Return the current row of a task, or -1 if there is none. A spilled row no longer counts as in flight."""
        spilled = self.table.spilled
        if task.row < 0 or task.follows:
            return -1
        if spilled is None or not spilled.sweeps:
            return task.row
        row = self.table.row_of.row_in_memory(task.node)
        if row is None:
            self.frontier.forget(task.node.encode("utf-8", "surrogatepass"), self.table.host_key(task.node))
        return -1 if row is None else row

    def recall(self, visit: Visit) -> None:
        """Count a visit of an earlier run in the rate limit."""
        if visit.address:
            self.pace.take(visit.started)

    def begin(self, now: float, full: Callable[[], None]) -> None:
        """Start a run: compute the remaining budgets; `full` is called when the byte budget is spent."""
        self._tasks = self._pages = 0
        self._deadline = now + self.budget.seconds if self.budget.seconds else NEVER
        self._before = self.tally.requests if self.refreshing else self.tally.spent[REVISITS]
        self._received = self.tally.bytes - self._meter.bytes
        self._meter.limit = self.budget.bytes - self._received if self.budget.bytes else math.inf
        self._meter.full = full

    @property
    def under_way(self) -> tuple[int, int]:
        """Number of requests in flight, and how many of them may become pages."""
        return self._tasks, self._pages

    @property
    def received(self) -> int:
        """Bytes received so far, including abandoned responses."""
        return max(self.tally.bytes, self._received + self._meter.bytes)

    @property
    def is_full(self) -> bool:
        """True if the byte budget is spent, including bytes in flight."""
        return self._meter.bytes >= self._meter.limit

    def spent_budget(self, now: float) -> str:
        """Return which budget is spent, including tasks in flight, or an empty string."""
        budget, tally = self.budget, self.tally
        if self.stopped:
            return STOPPED
        if self.enough:
            return self.enough
        if (budget.bytes and tally.bytes >= budget.bytes) or self.is_full:
            return BYTES_SPENT
        if budget.pages and tally.pages + self._pages >= budget.pages:
            return PAGES_SPENT
        if budget.requests and tally.requests - self._before + self._tasks >= budget.requests:
            return REQUESTS_SPENT
        return TIME_SPENT if now >= self._deadline else ""

    def _over(self, now: float) -> str:
        spent = self.spent_budget(now)
        return "" if spent in (PAGES_SPENT, self.enough) and self.scheduler.completes else spent

    def _allowed(self, now: float) -> bool:
        allowance, tally = self.allowance, self.tally
        return allowance is None or allowance.covers(tally.pages + self._pages, tally.requests + self._tasks, now)

    def why_over(self, now: float) -> str:
        """Return why the crawl is over, or an empty string if it only has to wait. Call it with nothing in flight."""
        if self.allowance is not None and not self.stopped:
            return self.allowance.over
        if spent := self._over(now):
            return spent
        if self.scheduler.next_due(now) < NEVER:
            return ""
        if spent := self.spent_budget(now):
            return spent
        if not self.scheduler.explores:
            return NOTHING_DUE
        if self.pace.next(now) > now:  # the hosts may be ready, but the rate limit is not
            return ""
        until = self.frontier.next_ready()
        if until == NEVER:
            return HOSTS_SPENT if self.frontier.waiting() else EXHAUSTED
        return LEFT_ALONE if until > now + self.patience else ""

    def next_ready(self, now: float) -> float:
        """Return when to pick again; NEVER if only a response can change anything."""
        if self._tasks >= self.concurrency or self._over(now) or not self._allowed(now):
            return NEVER
        until = self.pace.next(now)
        if until <= now:
            explores = self.scheduler.explores and not self.spent_budget(now)
            until = min(self.frontier.next_ready() if explores else NEVER, self.scheduler.next_due(now))
        held = self._hold(now) if self._tasks else 0.0
        return min(max(until, held), self._deadline)
