"""Processes that host shards: one for each number, of whatever crawls there are, and one for all coordinators.

As all crawls have as many shards, a domain belongs to the same number in each of them: its hosts are asked by one
process, in which the crawls take turns (`web/politeness.py`); and so does an address that hosts of several numbers
share, of which one process has a lease for all crawls. A *session* is one run of a crawl: when it is opened again, that
is another one.
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
from lycosa_cluster.leasing import Ledger, Term, Want
from lycosa_cluster.messages import Grant, ShardReport
from lycosa_cluster.owning import Owners
from lycosa_cluster.shard import Shard, add_new_labels, follow_update
from lycosa_cluster.splitting import shard_path

ENDED = "it was ended"


class Hosts(Protocol):
    """The processes, as crawls reach them."""

    count: int  # host shards; 0 until they are open

    async def open(self, go_on: Callable[[], bool] = lambda: True) -> None:
        """Start them, unless they run; an error says why that can't be done, or that it was not to go on."""

    async def call(self, number: int, method: str, *given: Any) -> Any:
        """Have a host do something; `Unreachable` if that fails."""

    async def close(self) -> None:
        """End them."""


@dataclass(frozen=True)
class Start:
    """What the shards of a crawl are told when it is started."""

    directory: str
    shards: int
    options: dict[str, Any]
    labels: list[Label]
    learned: dict[str, Any]  # terms of example pages on the web: read once, for all shards
    over: dict[int, int]  # epoch of the last lease of shards for which it need not be waited out
    judged: dict[int, ModelUpdate] = field(default_factory=dict)  # of each shard: what another judge has said since


class ShardHost:
    """Hosts the shards of one number. `most` requests are in flight at once, over all crawls, which share their pauses;
    None: it hosts one crawl only."""

    def __init__(self, number: int, hosts: Any, most: int | None = None) -> None:
        self.number, self.hosts = number, hosts
        self.clock = wall_clock()
        self.authority = self.ledger = None
        if most is not None:
            self.authority = SharedPoliteness(self.clock, began=self.clock(), most=most)
            self.ledger = Ledger(made=self.clock())
        self._shards: dict[str, Shard] = {}
        self._tasks: dict[str, asyncio.Task[dict[str, Any]]] = {}
        self._over: OrderedDict[str, None] = OrderedDict()

    async def ready(self) -> int:
        return os.getpid()

    # -- one shard ---------------------------------------------------------------------------------------------

    async def run(self, session: str, start: Start) -> dict[str, Any]:
        """Run a shard to the end of its crawl. Asked again, it waits for the same. What went wrong is told."""
        if session not in self._tasks and session not in self._over:
            self._tasks[session] = asyncio.create_task(self._run(session, start), name=f"shard of {session}")
        if session not in self._tasks:
            return {"error": ENDED}
        task = self._tasks[session]
        await asyncio.wait({task})
        self._tasks.pop(session, None)
        if task.cancelled():
            return {"error": ENDED}
        if (bug := task.exception()) is not None:  # of one crawl: the others go on
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
            # The coordinator's budget is the only one: it may grow while the crawl runs.
            engine.picker.budget = replace(engine.picker.budget, pages=0, requests=0)
            try:
                async with aclosing(drive(shard, visits, partial(self._reach, session))) as turns:
                    async for _ in turns:
                        await asyncio.sleep(0)  # there may be shards of other crawls here
            finally:
                del self._shards[session]
        return {"notes": crawl.notes, "ending": engine.ending, "complaint": engine.tally.complaint}

    async def _open(self, start: Start, owners: Owners) -> tuple[Crawl, Engine]:
        """The crawl of a shard, where its log ends; once whoever was this shard before is gone."""
        path, until = shard_path(Path(start.directory), self.number), self.clock() + 60.0
        path.parent.mkdir(parents=True, exist_ok=True)
        while True:
            request = CrawlRequest(
                Options.from_mapping(start.options, "cluster"), path, resuming=(path / CONFIG).exists(),
                owns=lambda node: owners.of(node) == self.number, first=self.number == 0,
                authority=self.authority, clock=self.clock, learned=start.learned,
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
        """End a shard at once; when this returns it writes nothing more."""
        self._over[session] = None
        while len(self._over) > 1_000:
            self._over.popitem(last=False)
        if (task := self._tasks.get(session)) is not None:
            task.cancel()
            await asyncio.wait({task})

    # -- what it is asked while it runs ------------------------------------------------------------------------

    def _shard(self, session: str) -> Shard:
        if session not in self._shards:
            raise Unreachable(f"shard {self.number} does not run")
        return self._shards[session]

    async def receive(self, session: str, parcel: bytes) -> int:
        """Links from another shard, recorded when this returns: the number of the last page."""
        return self._shard(session).receive(parcel)

    async def lease(self, session: str, shard: int, wants: list[Want]) -> list[Term]:
        return self._shard(session).leases.lease(shard, wants)

    async def add_labels(self, session: str, labels: list[Label]) -> None:
        """What people have said of pages, recorded when this returns; what is known already is left out."""
        add_new_labels(self._shard(session).engine, labels)

    async def ask(self, session: str, tell: Callable[[Engine], Any]) -> Any:
        return tell(self._shard(session).engine)


class CoordinatorHost:
    """Hosts the coordinators of all crawls, which know nothing that shards could not tell them again."""

    def __init__(self) -> None:
        self._held: dict[str, Coordinator] = {}

    async def ready(self) -> int:
        return os.getpid()

    async def look(
        self, session: str, shards: int, slots: int, choosy: float, budget: Budget, stop: bool
    ) -> dict[str, Any]:
        """How a crawl is getting on, over all shards. Its coordinator is made, if there is none: this may be another
        process than before."""
        coordinator = self._held.get(session)
        if coordinator is None:
            coordinator = self._held[session] = Coordinator(shards, budget, wall_clock(), slots=slots, choosy=choosy)
        coordinator.budget = budget
        if stop:
            coordinator.stop()
        reports = [known.report for known in coordinator.known.values()]
        told = {name: sum(getattr(one, name) for one in reports) for name in ("pages", "requests", "relevant")}
        return {**told, "over": coordinator.over, "heard": len(reports)}

    async def report(self, session: str, report: ShardReport) -> Grant:
        if session not in self._held:
            raise Unreachable("there is no coordinator yet")
        return self._held[session].report(report)

    async def end(self, session: str) -> None:
        self._held.pop(session, None)
