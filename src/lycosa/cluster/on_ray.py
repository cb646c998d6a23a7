"""Ray as the carrier: an actor for each shard and one for the coordinator. It starts them again, and carries messages.

Calls are idempotent, so that Ray may make them again: a report is only the last one, links that came twice are left
out, and `run` goes on from the log.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import Awaitable, Callable
from contextlib import aclosing
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from lycosa.cluster.coordinator import Coordinator
from lycosa.cluster.driving import Superseded, Unreachable, drive
from lycosa.cluster.leasing import Ledger, Term, Want
from lycosa.cluster.messages import Grant, Report
from lycosa.cluster.owning import Owners
from lycosa.cluster.ray_process import load
from lycosa.cluster.shard import Shard, hear_labels, hear_lesson
from lycosa.cluster.splitting import shard_path
from lycosa.core.budget import Budget
from lycosa.core.errors import LockedError, LycosaError
from lycosa.core.options import Options
from lycosa.core.types import Label, Lesson
from lycosa.crawling import Crawl
from lycosa.crawling.request import Request
from lycosa.spaces.making import wall_clock
from lycosa.store.directory import CONFIG
from lycosa.web.politeness import Authority
from lycosa.web.urls import Scope

Call = Callable[..., Awaitable[Any]]  # given the number of a shard, the name of a method, and its arguments
COORDINATOR = -1  # in place of a shard's number


class Names:
    """How the actors of one crawl are called."""

    def __init__(self, crawl: str) -> None:
        self.crawl = crawl

    def of(self, number: int) -> str:
        """That of a shard, or the coordinator's."""
        return f"lycosa {self.crawl} " + ("coordinator" if number == COORDINATOR else f"shard {number}")


class Actors:
    """Actors of Ray, by their names."""

    def __init__(self, names: Names) -> None:
        self.names = names
        self._handles: dict[int, Any] = {}

    async def call(self, number: int, method: str, *given: Any) -> Any:
        """Have one of them do something; `Unreachable` if that fails, whatever the reason."""
        ray = load()
        if not ray.is_initialized():  # it would start a cluster by itself
            raise Unreachable("the cluster was left")
        try:
            if number not in self._handles:
                self._handles[number] = await asyncio.to_thread(ray.get_actor, self.names.of(number))
            return await getattr(self._handles[number], method).remote(*given)
        except (ray.exceptions.RayError, ValueError) as error:  # ValueError: there is no such actor yet
            self._handles.pop(number, None)
            raise Unreachable(str(error)) from error


class Others:
    """The other shards and the coordinator, as one shard reaches them; `call` carries it."""

    def __init__(self, call: Call) -> None:
        self._call = call

    async def report(self, report: Report) -> Grant:
        """Ask the coordinator."""
        grant: Grant = await self._call(COORDINATOR, "report", report)
        return grant

    async def send(self, receiver: int, messages: list[bytes]) -> int:
        """Send links to another shard."""
        number: int = await self._call(receiver, "receive", messages)
        if number < 0:
            raise Unreachable("it has ended")
        return number

    async def lease(self, owner: int, shard: int, wants: list[Want]) -> list[Term]:
        """Ask another shard for leases of its addresses."""
        terms: list[Term] = await self._call(owner, "lease", shard, wants)
        return terms


class CoordinatorActor:
    """Around a coordinator, which knows nothing that shards could not tell it again."""

    def __init__(self, shards: int, budget: Budget, slots: int, choosy: float) -> None:
        self.coordinator = Coordinator(shards, budget, wall_clock(), slots=slots, choosy=choosy)

    async def report(self, report: Report) -> Grant:
        """A shard tells how it is getting on."""
        return self.coordinator.report(report)

    async def stop(self) -> None:
        """No more grants."""
        self.coordinator.stop()

    async def progress(self) -> dict[str, Any]:
        """How it is getting on, over all shards."""
        reports = [known.report for known in self.coordinator.known.values()]
        told = {name: sum(getattr(one, name) for one in reports) for name in ("pages", "requests", "relevant")}
        return {**told, "over": self.coordinator.over, "heard": len(reports), "pid": os.getpid()}


@dataclass(frozen=True)
class Start:
    """What the shards of a crawl are told when it is started."""

    directory: str
    shards: int
    options: dict[str, Any]
    labels: list[Label]
    learned: dict[str, Any]  # terms of example pages on the web: read once, for all shards
    over: dict[int, int]  # epoch of the last lease of shards for which it need not be waited out
    judged: dict[int, Lesson] = field(default_factory=dict)  # of each shard: what another judge has said since

    @property
    def slots(self) -> int:
        """Requests that may be under way at once, of all shards together."""
        return int(self.options["concurrency"]) * self.shards


class ShardActor:
    """Around a shard: a crawl that lives in a directory of its own."""

    def __init__(self, number: int, crawl: str, start: Start) -> None:
        self.number, self.owners, self.start = number, Owners(start.shards), start
        self.call: Call = Actors(Names(crawl)).call
        self.clock = wall_clock()
        self.authority: Authority | None = None
        self.ledger: Ledger | None = None  # with `authority`, shared by the shards of several crawls in one process
        self.shard: Shard | None = None
        self._ready, self._over = asyncio.Event(), False

    async def pid(self) -> int:
        """The process it is in."""
        return os.getpid()

    async def receive(self, messages: list[bytes]) -> int:
        """Links from another shard, recorded when this returns; -1 when all is over."""
        while self.shard is None and not self._over:
            await self._ready.wait()
        return -1 if self._over or self.shard is None else self.shard.receive(messages)

    async def lease(self, shard: int, wants: list[Want]) -> list[Term]:
        """Turns of our addresses for another shard; nothing while there is no shard here."""
        return [] if self._over or self.shard is None else self.shard.leases.lease(shard, wants)

    async def hear(self, labels: list[Label]) -> bool:
        """What people have said of pages, recorded when this returns True; what is known already is left out."""
        if self._over or self.shard is None:
            return False
        hear_labels(self.shard.engine, labels)
        return True

    async def run(self) -> dict[str, Any]:
        """Crawl to the end of the whole crawl, from where the log ends. What went wrong is told, not raised."""
        try:
            return await self._run()
        except (LycosaError, Superseded) as error:
            return {"error": str(error), "kind": type(error).__name__}
        finally:
            self._over = True
            self._ready.set()

    async def _run(self) -> dict[str, Any]:
        crawl, engine = await self._open()
        async with crawl:
            visits = aiter(crawl)
            hear_lesson(engine, self.start.judged.get(self.number))
            hear_labels(engine, self.start.labels)
            scope, over = Scope.of(crawl.options), self.start.over.get(self.number)
            self.shard = shard = Shard(self.number, self.owners, engine, scope, self.ledger, over)
            # The coordinator's budget is the only one: it may grow while the crawl runs.
            engine.picker.budget = replace(engine.picker.budget, pages=0, requests=0)
            self._ready.set()
            async with aclosing(drive(shard, visits, Others(self.call))) as turns:
                async for _ in turns:
                    await asyncio.sleep(0)  # there may be shards of other crawls here
        return {"notes": crawl.notes, "ending": engine.ending, "complaint": engine.tally.complaint}

    async def _open(self) -> tuple[Crawl, Any]:
        """The crawl of this shard, where its log ends; once whoever was this shard before is gone."""
        path, until = shard_path(Path(self.start.directory), self.number), self.clock() + 60.0
        path.parent.mkdir(parents=True, exist_ok=True)
        while True:
            request = Request(
                Options.from_mapping(self.start.options, "cluster"), path, resuming=(path / CONFIG).exists(),
                owns=lambda node: self.owners.of(node) == self.number, first=self.number == 0,
                authority=self.authority, clock=self.clock, learned=self.start.learned,
            )  # fmt: skip
            crawl = Crawl(request)
            try:
                return crawl, await crawl.open()
            except LockedError:
                if self.clock() > until:
                    raise
                await asyncio.sleep(0.5)
