"""Ray as the carrier: an actor for each shard and one for the coordinator. It starts them again, and carries messages.

Calls are idempotent, so that Ray may make them again: a report is only the last one, links that came twice are left
out, and `run` goes on from the log. Only this file knows Ray, which is loaded when a cluster is asked for.
"""

from __future__ import annotations

import asyncio
import os
from pathlib import Path
from typing import Any

from lycosa.cluster.coordinator import Coordinator
from lycosa.cluster.driving import Superseded, Unreachable, drive
from lycosa.cluster.leasing import Term, Want
from lycosa.cluster.merging import shard_path
from lycosa.cluster.messages import Grant, Report, Sums
from lycosa.cluster.owning import Owners
from lycosa.cluster.shard import Shard, hear_labels
from lycosa.core.budget import Budget
from lycosa.core.errors import InputError, LockedError, LycosaError
from lycosa.core.options import Options
from lycosa.core.types import Label
from lycosa.crawling import Crawl
from lycosa.crawling.request import Request
from lycosa.spaces.making import wall_clock
from lycosa.store.directory import CONFIG
from lycosa.web.scope import Scope

MISSING = "a cluster needs Ray, which is not installed: pip install 'lycosa[cluster]'"

STORE = 80_000_000
"""Bytes of Ray's object store where we start it: messages are small."""

LOCKED = 60.0
"""Seconds that a shard waits for the directory of one before it, whose process may not be gone yet."""


def load() -> Any:
    """Ray, if it is installed."""
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")  # it would tell its makers that it is used
    os.environ.setdefault("RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO", "0")
    try:
        import ray
    except ImportError:
        raise InputError(MISSING) from None
    return ray


class Names:
    """How the actors of one crawl are called."""

    def __init__(self, crawl: str) -> None:
        self.crawl = crawl

    @property
    def coordinator(self) -> str:
        """The coordinator's."""
        return f"lycosa {self.crawl} coordinator"

    def shard(self, number: int) -> str:
        """That of a shard."""
        return f"lycosa {self.crawl} shard {number}"


class OverRay:
    """The others, as one shard reaches them."""

    def __init__(self, names: Names) -> None:
        self.names = names
        self._ray = load()
        self._handles: dict[str, Any] = {}

    async def _call(self, name: str, method: str, *given: Any) -> Any:
        try:
            if name not in self._handles:
                self._handles[name] = await asyncio.to_thread(self._ray.get_actor, name)
            return await getattr(self._handles[name], method).remote(*given)
        except (self._ray.exceptions.RayError, ValueError) as error:  # ValueError: there is no such actor yet
            self._handles.pop(name, None)
            raise Unreachable(str(error)) from error

    async def report(self, report: Report) -> Grant:
        """Ask the coordinator."""
        grant: Grant = await self._call(self.names.coordinator, "report", report)
        return grant

    async def share(self, shard: int, sums: Sums) -> Sums:
        """Tell it what was learned."""
        others: Sums = await self._call(self.names.coordinator, "share", shard, sums)
        return others

    async def send(self, receiver: int, messages: list[bytes]) -> int:
        """Send links to another shard."""
        number: int = await self._call(self.names.shard(receiver), "receive", messages)
        if number < 0:
            raise Unreachable("it has ended")
        return number

    async def lease(self, owner: int, shard: int, wants: list[Want]) -> list[Term]:
        """Ask another shard for leases of its addresses."""
        terms: list[Term] = await self._call(self.names.shard(owner), "lease", shard, wants)
        return terms


class CoordinatorActor:
    """Around a coordinator, which knows nothing that shards could not tell it again."""

    def __init__(self, shards: int, budget: Budget, slots: int, choosy: float) -> None:
        self.coordinator = Coordinator(shards, budget, wall_clock(), slots=slots, choosy=choosy)

    async def report(self, report: Report) -> Grant:
        """A shard tells how it is getting on."""
        return self.coordinator.report(report)

    async def share(self, shard: int, sums: Sums) -> Sums:
        """And what it has learned."""
        return self.coordinator.share(shard, sums)

    async def stop(self) -> None:
        """No more grants."""
        self.coordinator.stop()

    async def progress(self) -> dict[str, Any]:
        """How it is getting on, over all shards."""
        reports = [known.report for known in self.coordinator.known.values()]
        told = {name: sum(getattr(one, name) for one in reports) for name in ("pages", "requests", "relevant")}
        return {**told, "over": self.coordinator.over, "heard": len(reports), "pid": os.getpid()}


class ShardActor:
    """Around a shard: a crawl that lives in a directory of its own."""

    def __init__(
        self, number: int, shards: int, directory: str, options: dict[str, Any], crawl: str, labels: list[Label]
    ) -> None:
        self.number, self.owners, self.directory = number, Owners(shards), Path(directory)
        self.options, self.names, self.labels = options, Names(crawl), labels
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
            hear_labels(engine, self.labels)
            self.shard = shard = Shard(self.number, self.owners, engine, Scope.of(crawl.options))
            self._ready.set()
            async for _ in drive(shard, visits, OverRay(self.names)):
                pass
        return {"notes": crawl.notes, "ending": engine.ending, "complaint": engine.tally.complaint}

    async def _open(self) -> tuple[Crawl, Any]:
        """The crawl of this shard, where its log ends; once whoever was this shard before is gone."""
        path, until = shard_path(self.directory, self.number), wall_clock()() + LOCKED
        path.parent.mkdir(parents=True, exist_ok=True)
        while True:
            request = Request(
                Options.from_mapping(self.options, "cluster"), path, resuming=(path / CONFIG).exists(),
                owns=lambda node: self.owners.of(node) == self.number, first=self.number == 0,
            )  # fmt: skip
            crawl = Crawl(request)
            try:
                return crawl, await crawl.open()
            except LockedError:
                if wall_clock()() > until:
                    raise
                await asyncio.sleep(0.5)
