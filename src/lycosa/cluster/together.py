"""A cluster in one process: shards call each other directly, in real or in virtual time. For tests and experiments."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable

from lycosa.cluster.coordinator import Coordinator
from lycosa.cluster.driving import Peers, Unreachable, drive
from lycosa.cluster.leasing import Term, Want
from lycosa.cluster.messages import Grant, Report
from lycosa.cluster.shard import Shard
from lycosa.core.types import Visit


class Together(Peers):
    """All shards of a crawl. Messages take `delay` seconds; `lost` says of each whether it is lost on its way, or its
    answer is (the receiver has it then)."""

    def __init__(self, coordinator: Coordinator, *, delay: float = 0.0, lost: Callable[[], str] = lambda: "") -> None:
        self.coordinator = coordinator
        self.shards: dict[int, Shard] = {}
        self.delay, self.lost = delay, lost
        self.messages = self.bytes = 0

    async def report(self, report: Report) -> Grant:
        await asyncio.sleep(self.delay)
        return self.coordinator.report(report)

    async def send(self, receiver: int, messages: list[bytes]) -> int:
        await asyncio.sleep(self.delay)
        lost = self.lost()
        if lost == "there" or receiver not in self.shards:
            raise Unreachable
        number = self.shards[receiver].receive(messages)
        self.messages += len(messages)
        self.bytes += sum(map(len, messages))
        if lost == "back":
            raise Unreachable
        return number

    async def lease(self, owner: int, shard: int, wants: list[Want]) -> list[Term]:
        await asyncio.sleep(self.delay)
        if owner not in self.shards or self.lost():
            raise Unreachable
        terms = self.shards[owner].leases.lease(shard, wants)
        await asyncio.sleep(self.delay)
        return terms

    async def run(self, shard: Shard) -> AsyncIterator[Visit]:
        """Run one shard to the end of the crawl, or until it is left alone."""
        self.shards[shard.number] = shard
        visits = shard.engine.run()
        try:
            async for visit in drive(shard, visits, self):
                yield visit
        finally:
            if self.shards.get(shard.number) is shard:
                del self.shards[shard.number]
            await visits.aclose()
