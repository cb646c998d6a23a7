"""All hosts of a cluster in this process."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from lycosa.crawling.request import CrawlRequest
from lycosa_cluster.driving import COORDINATOR
from lycosa_cluster.hosting import CoordinatorHost, ShardHost
from lycosa_cluster.running import ClusterCrawl


class HostsHere:
    """Hosts that already run and need no cleanup."""

    def __init__(self, shards: int, most: int | None = None) -> None:
        self.count = shards
        self.places: dict[int, Any] = {number: ShardHost(number, self, most) for number in range(shards)}
        self.places[COORDINATOR] = CoordinatorHost()

    async def open(self, go_on: Callable[[], bool] = lambda: True) -> None:
        pass

    async def call(self, number: int, method: str, *given: Any) -> Any:
        """Call a method of a host."""
        return await getattr(self.places[number], method)(*given)

    def crawl(self, request: CrawlRequest) -> ClusterCrawl:
        return ClusterCrawl(request, self)

    async def close(self) -> None:
        pass
