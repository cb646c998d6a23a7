"""A cluster in one process: shards call each other directly, in real or virtual time."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from typing import Any

from lycosa.core.types import Visit
from lycosa_cluster.coordinator import Coordinator
from lycosa_cluster.driving import COORDINATOR, Unreachable, drive
from lycosa_cluster.shard import Shard


class Together:
    """All shards of a crawl in one process.

    Messages take `delay` seconds; `lost` returns for each whether the request, or its response, is lost.
    """

    def __init__(self, coordinator: Coordinator, *, delay: float = 0.0, lost: Callable[[], str] = lambda: "") -> None:
        self.coordinator = coordinator
        self.shards: dict[int, Shard] = {}
        self.delay, self.lost = delay, lost
        self.messages = self.bytes = 0

    async def call(self, number: int, method: str, *given: Any) -> Any:
        """Call a method of a shard or of the coordinator."""
        await asyncio.sleep(self.delay)
        if number == COORDINATOR:
            return self.coordinator.report(*given)
        lost = self.lost()
        if lost == "there" or number not in self.shards:
            raise Unreachable
        shard = self.shards[number]
        if method == "receive":
            answer: Any = shard.receive(*given)
            self.messages += 1
            self.bytes += len(given[0])
        else:
            answer = shard.leases.lease(*given)
            await asyncio.sleep(self.delay)
        if lost == "back":
            raise Unreachable
        return answer

    async def run(self, shard: Shard) -> AsyncIterator[Visit]:
        """Run one shard to the end of the crawl, or until it is alone."""
        self.shards[shard.number] = shard
        visits = shard.engine.run()
        try:
            async for visit in drive(shard, visits, self.call):
                yield visit
        finally:
            if self.shards.get(shard.number) is shard:
                del self.shards[shard.number]
            await visits.aclose()
