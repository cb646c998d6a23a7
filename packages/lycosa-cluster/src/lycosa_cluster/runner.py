"""The runner of this package: crawls on Ray, for `--cluster`."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from lycosa.crawling.request import CrawlRequest
from lycosa_cluster.hosts_on_ray import RayHosts
from lycosa_cluster.reaching import Where, check_cluster
from lycosa_cluster.running import ClusterCrawl
from lycosa_cluster.splitting import bring_together, join, shards_before


class RayRunner:
    """A `lycosa.crawling.runners.Runner`."""

    def __init__(self, where: str) -> None:
        self.where = Where.read(where)

    def check(self) -> None:
        """Refuse a cluster that is not there, or that Ray is missing for."""
        check_cluster(self.where)

    def hosts(self, most: int, note: Callable[[str], None]) -> RayHosts:
        """Return hosts for all crawls of a server."""
        return RayHosts(self.where, most, note)

    def crawl(self, request: CrawlRequest) -> ClusterCrawl:
        """Return the crawl; without a number of shards it has as many as before."""
        shards = self.where.shards or (shards_before(request.path) if request.path else 0)
        own = RayHosts(replace(self.where, shards=shards), note=request.notes.append)
        return ClusterCrawl(request, own, own.gone)

    def bring_together(self, directory: Path) -> None:
        """Bring the log of a crawl that does not run up to where its shards are."""
        bring_together(directory)

    def join(self, directory: Path) -> None:
        """Make a plain crawl of one that has shards."""
        join(directory)
