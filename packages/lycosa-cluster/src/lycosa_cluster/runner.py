"""The runner of this package: crawls on Ray, for `--cluster`."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from lycosa.crawling.request import CrawlRequest
from lycosa_cluster.hosts_on_ray import RayHosts
from lycosa_cluster.reaching import ClusterTarget, check_cluster
from lycosa_cluster.running import ClusterCrawl
from lycosa_cluster.splitting import join, merge_shards, previous_shard_count


class RayRunner:
    """A `lycosa.crawling.runners.Runner` of crawls on Ray."""

    def __init__(self, address: str) -> None:
        self.target = ClusterTarget.parse(address)

    def check(self) -> None:
        """Raise InputError if the cluster is unreachable or Ray is missing."""
        check_cluster(self.target)

    def hosts(self, max_in_flight: int, note: Callable[[str], None]) -> RayHosts:
        """Return hosts for all crawls of a server."""
        return RayHosts(self.target, max_in_flight, note)

    def crawl(self, request: CrawlRequest) -> ClusterCrawl:
        """Return the crawl; the default number of shards is that of the previous run."""
        shards = self.target.shards or (previous_shard_count(request.path) if request.path else 0)
        own = RayHosts(replace(self.target, shards=shards), note=request.notes.append)
        return ClusterCrawl(request, own, own.gone)

    def merge_shards(self, directory: Path) -> None:
        """Merge the shards' logs of a stopped crawl into the common log."""
        merge_shards(directory)

    def join(self, directory: Path) -> None:
        """Convert a crawl with shards to one without."""
        join(directory)
