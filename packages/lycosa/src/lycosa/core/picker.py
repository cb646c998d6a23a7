"""Step 1 of the loop: what is visited next, something new or something that is due, and when.

The strategy takes what is new from the frontier, the keeper knows what is due again. How many visits are under way at
once, how many requests an hour and how many at all is decided here, too. What is picked is not learned: a resumed crawl
has nothing under way.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

from lycosa.core.budget import (
    BYTES_SPENT,
    EXHAUSTED,
    HOSTS_SPENT,
    LEFT_ALONE,
    LOOKS,
    PAGES_SPENT,
    REFRESHED,
    REQUESTS_SPENT,
    STOPPED,
    TIME_SPENT,
    Budget,
    Meter,
    Pace,
    SpentBudget,
)
from lycosa.core.frontier import Frontier
from lycosa.core.protocols import NEVER, Strategy, VisitScheduler
from lycosa.core.table import OPEN, Table
from lycosa.core.types import Task, Visit


@dataclass(slots=True)
class ShardBudget:
    """What a shard may spend of the budget of the whole crawl; more is granted as it goes."""

    pages: int = 0
    requests: int = 0  # in all, with what was spent before
    until: float = 0.0  # end of the lease: nothing is sent after that
    over: str = ""  # why the whole crawl is over

    def covers(self, pages: int, requests: int, now: float) -> bool:
        """Whether one more may be fetched, beside so many that were or are under way."""
        return not self.over and pages < self.pages and requests < self.requests and now < self.until


class Picker:
    """Says which node comes next. A task that it gives is in flight until it is given back, postponed or finished."""

    def __init__(
        self,
        strategy: Strategy,
        frontier: Frontier,
        table: Table,
        tally: SpentBudget,
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
        self.allowance: ShardBudget | None = None  # of a shard: how much of the whole budget it may spend by now
        self._meter = meter or Meter()
        self._tasks = 0  # under way: started, and not yet finished
        self._pages = 0  # those among them that may become pages
        self._deadline = NEVER
        self._before = 0  # requests that the budget does not count
        self._received = 0  # bytes before this run, less what the meter said then

    # -- what comes next ---------------------------------------------------------------------------------------

    def next(self, now: float) -> Task | None:
        """Something new or something that is due: whose turn it is, comes first. None if nothing can be had now."""
        if self._tasks >= self.concurrency or self._over(now) or self.pace.next(now) > now or not self._allowed(now):
            return None
        if self._tasks and self._hold(now) > now:
            return None
        if self.spent(now):  # but not what the pages lack
            return self._due(now)
        if self.scheduler.wants_turn():
            return self._due(now) or self._new(now)
        return self._new(now) or self._due(now)

    def _new(self, now: float) -> Task | None:
        """The frontier's best node that can be had."""
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
        )

    def _due(self, now: float) -> Task | None:
        """What the keeper wants fetched: a node that was visited before, as a rule."""
        while (task := self.scheduler.pick(self.tally.picks + 1, now)) is not None and self._is_open(task):
            if task.row not in self.frontier.taken:
                self.frontier.lend(task.row, free=True)
                break
            self.scheduler.give_back(task, now + 60.0)  # the strategy was quicker
        return task

    def _is_open(self, task: Task) -> bool:
        """Whether the task is the first visit of a row, which the strategy might pick as well."""
        return task.row >= 0 and self.table.state.item(task.row) == OPEN

    # -- what becomes of it ------------------------------------------------------------------------------------

    def start(self, task: Task, sent: float | None = None) -> None:
        """The task is under way, or an errand for it. `sent`: when its request is sent, if one is."""
        self._tasks += 1
        self._pages += task.row >= 0
        self.tally.picks += task.pick > 0
        if sent is not None:
            self.pace.take(sent)

    def finish(self, task: Task) -> None:
        """What was started has been recorded."""
        self._tasks -= 1
        self._pages -= task.row >= 0
        self.give_back(task)

    def give_back(self, task: Task) -> None:
        """The task is not in flight any more: recorded, forgotten, or something else has to come first."""
        if task.due:
            self.scheduler.give_back(task)
        if (row := self._row(task)) >= 0:
            self.frontier.untake(row)

    def postpone(self, task: Task, until: float, why: str) -> None:
        """The task has to wait, as its host does."""
        if task.due:
            self.scheduler.give_back(task, until)
        if (row := self._row(task)) >= 0:
            self.frontier.postpone(row, until, why)

    def _row(self, task: Task) -> int:
        """The row of the frontier that a task's node has by now; -1 if it never had one, or was put aside: then it is
        in flight no more.
        """
        spilled = self.table.spilled
        if task.row < 0 or task.follows:
            return -1
        if spilled is None or not spilled.sweeps:
            return task.row
        row = self.table.row_of.here(task.node)
        if row is None:
            self.frontier.forget(task.node.encode("utf-8", "surrogatepass"), self.table.host_key(task.node))
        return -1 if row is None else row

    def recall(self, visit: Visit) -> None:
        """A visit of an earlier run: an hour is not spent twice."""
        if visit.address:
            self.pace.take(visit.started)

    # -- when to wait, when to end -----------------------------------------------------------------------------

    def begin(self, now: float, full: Callable[[], None]) -> None:
        """What this run may spend, by what the log knows of those before it; `full` is called when all bytes are."""
        self._tasks = self._pages = 0
        self._deadline = now + self.budget.seconds if self.budget.seconds else NEVER
        self._before = self.tally.requests if self.refreshing else self.tally.spent[LOOKS]
        self._received = self.tally.bytes - self._meter.bytes
        self._meter.limit = self.budget.bytes - self._received if self.budget.bytes else math.inf
        self._meter.full = full

    @property
    def under_way(self) -> tuple[int, int]:
        """How many requests are in flight, and how many of them may become pages."""
        return self._tasks, self._pages

    @property
    def received(self) -> int:
        """Bytes so far, those of what was given up among them."""
        return max(self.tally.bytes, self._received + self._meter.bytes)

    @property
    def is_full(self) -> bool:
        """Whether as many bytes have come as may, those of what is in flight among them."""
        return self._meter.bytes >= self._meter.limit

    def spent(self, now: float) -> str:
        """Which budget is spent, with what is under way; empty if something more may be sent."""
        budget, tally = self.budget, self.tally
        if self.stopped:
            return STOPPED
        if (budget.bytes and tally.bytes >= budget.bytes) or self.is_full:
            return BYTES_SPENT
        if budget.pages and tally.pages + self._pages >= budget.pages:
            return PAGES_SPENT
        if budget.requests and tally.requests - self._before + self._tasks >= budget.requests:
            return REQUESTS_SPENT
        return TIME_SPENT if now >= self._deadline else ""

    def _over(self, now: float) -> str:
        """The same, but that the pages are spent does not count where something else may be due."""
        spent = self.spent(now)
        return "" if spent == PAGES_SPENT and self.scheduler.completes else spent

    def _allowed(self, now: float) -> bool:
        allowance, tally = self.allowance, self.tally
        return allowance is None or allowance.covers(tally.pages + self._pages, tally.requests + self._tasks, now)

    def why_over(self, now: float) -> str:
        """Asked when nothing that counts is in flight: why the crawl is over, or empty if it only has to wait."""
        if self.allowance is not None and not self.stopped:
            return self.allowance.over
        if spent := self._over(now):
            return spent
        if self.scheduler.next_due(now) < NEVER:
            return ""
        if spent := self.spent(now):
            return spent
        if not self.scheduler.explores:
            return REFRESHED
        if self.pace.next(now) > now:  # lanes may be ready that wait for nothing else
            return ""
        until = self.frontier.next_ready()
        if until == NEVER:
            return HOSTS_SPENT if self.frontier.waiting() else EXHAUSTED
        return LEFT_ALONE if until > now + self.patience else ""

    def next_ready(self, now: float) -> float:
        """When there may be something to visit; NEVER if only an answer can change that."""
        if self._tasks >= self.concurrency or self._over(now) or not self._allowed(now):
            return NEVER
        until = self.pace.next(now)
        if until <= now:
            explores = self.scheduler.explores and not self.spent(now)
            until = min(self.frontier.next_ready() if explores else NEVER, self.scheduler.next_due(now))
        held = self._hold(now) if self._tasks else 0.0
        return min(max(until, held), self._deadline)
