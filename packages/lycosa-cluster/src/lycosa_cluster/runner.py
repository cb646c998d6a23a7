"""The runner of this package: crawls on Ray, for `--cluster`."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from lycosa.crawling.request import Request
from lycosa_cluster.hosts_on_ray import RayHosts
from lycosa_cluster.reaching import Where
from lycosa_cluster.running import ClusterCrawl
from lycosa_cluster.splitting import join, shards_before


class RayRunner:
    """A `lycosa.crawling.runners.Runner`."""

    def __init__(self, where: str) -> None:
        self.where = Where.read(where)

    def crawl(self, request: Request) -> ClusterCrawl:
        """Return the crawl; without a number of shards it has as many as before."""
        shards = self.where.shards or (shards_before(request.path) if request.path else 0)
        hosts = RayHosts(replace(self.where, shards=shards), note=request.notes.append)
        return ClusterCrawl(request, hosts, hosts.gone)

    def join(self, directory: Path) -> None:
        """Make a plain crawl of one that has shards."""
        join(directory)
