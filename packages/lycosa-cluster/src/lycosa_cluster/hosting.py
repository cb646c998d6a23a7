"""Processes that host shards of any crawls: one per shard number, and one for all coordinators.

All crawls have the same number of shards, so a domain belongs to the same process in each of them: crawls take turns
there (`web/politeness.py`), and the process holds leases of shared addresses for all crawls. A *session* is one run of
a crawl; reopening it starts another one.
"""

from __future__ import annotations

import asyncio
import os
from collections import OrderedDict
from collections.abc import Callable
from contextlib import aclosing
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any, Protocol

from lycosa.core.budget import Budget
from lycosa.core.engine import Engine
from lycosa.core.errors import LockedError, LycosaError
from lycosa.core.options import Options
from lycosa.core.types import Label, ModelUpdate
from lycosa.crawling import Crawl
from lycosa.crawling.request import CrawlRequest
from lycosa.spaces.making import wall_clock
from lycosa.store.directory import CONFIG
from lycosa.web.politeness import SharedPoliteness
from lycosa.web.urls import Scope
from lycosa_cluster.coordinator import Coordinator
from lycosa_cluster.driving import Superseded, Unreachable, drive
from lycosa_cluster.leasing import LeaseRequest, LeaseTerm, Ledger
from lycosa_cluster.messages import Grant, ShardReport
from lycosa_cluster.owning import Owners
from lycosa_cluster.shard import Shard, add_new_labels, follow_update
from lycosa_cluster.splitting import shard_path

ENDED = "it was ended"


class Hosts(Protocol):
    """Interface of the host processes that crawls use."""

    count: int  # host processes; 0 until they are open

    async def open(self, go_on: Callable[[], bool] = lambda: True) -> None:
        """Start the processes if necessary; raise if that fails or `go_on` returns false."""

    async def call(self, number: int, method: str, *given: Any) -> Any:
        """Call a method of a host; raise `Unreachable` if that fails."""

    async def close(self) -> None:
        pass


@dataclass(frozen=True)
class Start:
    """Parameters for starting the shards of a crawl."""

    directory: str
    shards: int
    options: dict[str, Any]
    labels: list[Label]
    topic_terms: dict[str, Any]  # terms of example pages on the web, read once for all shards
    over: dict[int, int]  # by shard: epoch of the last lease, if it is known to have ended
    # by shard: model update by another judge since its last run
    judged: dict[int, ModelUpdate] = field(default_factory=dict)


class ShardHost:
    """Host of the shards with one number.

    `max_in_flight` limits the requests of all crawls, which share politeness; with None it hosts one crawl only.
    """

    def __init__(self, number: int, hosts: Any, max_in_flight: int | None = None) -> None:
        self.number, self.hosts = number, hosts
        self.clock = wall_clock()
        self.authority = self.ledger = None
        if max_in_flight is not None:
            self.authority = SharedPoliteness(self.clock, started_at=self.clock(), max_in_flight=max_in_flight)
            self.ledger = Ledger(created=self.clock())
        self._shards: dict[str, Shard] = {}
        self._tasks: dict[str, asyncio.Task[dict[str, Any]]] = {}
        self._over: OrderedDict[str, None] = OrderedDict()

    async def ready(self) -> int:
        return os.getpid()

    async def run(self, session: str, start: Start) -> dict[str, Any]:
        """Run a shard to the end of its crawl; a second call awaits the same run. Errors are returned."""
        if session not in self._tasks and session not in self._over:
            self._tasks[session] = asyncio.create_task(self._run(session, start), name=f"shard of {session}")
        if session not in self._tasks:
            return {"error": ENDED}
        task = self._tasks[session]
        await asyncio.wait({task})
        self._tasks.pop(session, None)
        if task.cancelled():
            return {"error": ENDED}
        if (bug := task.exception()) is not None:  # a bug in one crawl, while the others continue
            known = isinstance(bug, LycosaError | Superseded)
            return {"error": str(bug) if known else f"{type(bug).__name__}: {bug}"}
        return task.result()

    async def _run(self, session: str, start: Start) -> dict[str, Any]:
        owners = Owners(start.shards)
        crawl, engine = await self._open(start, owners)
        async with crawl:
            visits = aiter(crawl)
            follow_update(engine, start.judged.get(self.number))
            add_new_labels(engine, start.labels)
            scope, over = Scope.of(crawl.options), start.over.get(self.number)
            shard = self._shards[session] = Shard(self.number, owners, engine, scope, self.ledger, over)
            # The coordinator's budget is the only one, because it may grow while the crawl runs.
            engine.picker.budget = replace(engine.picker.budget, pages=0, requests=0)
            try:
                async with aclosing(drive(shard, visits, partial(self._reach, session))) as turns:
                    async for _ in turns:
                        await asyncio.sleep(0)  # let shards of other crawls run
            finally:
                del self._shards[session]
        return {"notes": crawl.notes, "ending": engine.ending, "complaint": engine.tally.complaint}

    async def _open(self, start: Start, owners: Owners) -> tuple[Crawl, Engine]:
        """Open the crawl of a shard at the end of its log, once its previous process is gone."""
        path, until = shard_path(Path(start.directory), self.number), self.clock() + 60.0
        path.parent.mkdir(parents=True, exist_ok=True)
        while True:
            request = CrawlRequest(
                Options.from_mapping(start.options, "cluster"), path, resuming=(path / CONFIG).exists(),
                owns=lambda node: owners.of(node) == self.number, first=self.number == 0,
                authority=self.authority, clock=self.clock, topic_terms=start.topic_terms,
            )  # fmt: skip
            crawl = Crawl(request)
            try:
                return crawl, await crawl.open()
            except LockedError:
                if self.clock() > until:
                    raise
                await asyncio.sleep(0.5)

    async def _reach(self, session: str, number: int, method: str, *given: Any) -> Any:
        return await self.hosts.call(number, method, session, *given)

    async def end(self, session: str) -> None:
        """Stop a shard at once; it writes nothing after this returns."""
        self._over[session] = None
        while len(self._over) > 1_000:
            self._over.popitem(last=False)
        if (task := self._tasks.get(session)) is not None:
            task.cancel()
            await asyncio.wait({task})

    def _shard(self, session: str) -> Shard:
        if session not in self._shards:
            raise Unreachable(f"shard {self.number} is not running")
        return self._shards[session]

    async def receive(self, session: str, packed: bytes) -> int:
        """Record links from another shard; return the number of the last page."""
        return self._shard(session).receive(packed)

    async def lease(self, session: str, shard: int, requests: list[LeaseRequest]) -> list[LeaseTerm]:
        return self._shard(session).leases.lease(shard, requests)

    async def add_labels(self, session: str, labels: list[Label]) -> None:
        """Record labels of pages; known ones are skipped."""
        add_new_labels(self._shard(session).engine, labels)

    async def ask(self, session: str, query: Callable[[Engine], Any]) -> Any:
        return query(self._shard(session).engine)


class CoordinatorHost:
    """Host of the coordinators of all crawls; their state can be rebuilt from the shards' reports."""

    def __init__(self) -> None:
        self._held: dict[str, Coordinator] = {}

    async def ready(self) -> int:
        return os.getpid()

    async def progress(
        self, session: str, shards: int, slots: int, choosy: float, budget: Budget, stop: bool
    ) -> dict[str, Any]:
        """Return the progress of a crawl over all shards.

        Creates its coordinator if there is none: this may be a new process.
        """
        coordinator = self._held.get(session)
        if coordinator is None:
            coordinator = self._held[session] = Coordinator(shards, budget, wall_clock(), slots=slots, choosy=choosy)
        coordinator.budget = budget
        if stop:
            coordinator.stop()
        reports = [known.report for known in coordinator.known.values()]
        totals = {name: sum(getattr(one, name) for one in reports) for name in ("pages", "requests", "relevant")}
        return {**totals, "over": coordinator.over, "reports": len(reports)}

    async def report(self, session: str, report: ShardReport) -> Grant:
        if session not in self._held:
            raise Unreachable("the coordinator is not running yet")
        return self._held[session].report(report)

    async def end(self, session: str) -> None:
        self._held.pop(session, None)
