"""Run a crawl on a cluster, in the terminal: for `lycosa crawl --cluster` and `lycosa resume`."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import Any

from lycosa.cli.hunting import Onlooker, until_stopped
from lycosa.cli.printing import give, print_notes
from lycosa.cli.progress import StatusLine
from lycosa.cluster.hosts_on_ray import RayHosts
from lycosa.cluster.reaching import Where
from lycosa.cluster.running import ClusterCrawl
from lycosa.cluster.splitting import shards_before
from lycosa.core.errors import NothingFetched, StoreError
from lycosa.crawling.request import Request


def hunt_together(request: Request, where: Where, *, quiet: bool = False, json: bool = False) -> None:
    """Run a crawl to its end, or until Ctrl-C."""
    assert request.path is not None
    where = replace(where, shards=where.shards or shards_before(request.path))
    hosts = RayHosts(where, note=request.notes.append)
    crawl = ClusterCrawl(request, hosts, hosts.gone)
    try:
        asyncio.run(_run(crawl, None if quiet or json else ClusterLine(crawl)))
    except StoreError as error:
        again = f"; continue with: lycosa resume {crawl.path}" if crawl.shards else ""
        raise StoreError(f"{error}{again}") from error
    print_notes([] if quiet else crawl.notes)
    if not crawl.progress["pages"]:
        raise NothingFetched(f"no page could be fetched. {crawl.complaint or crawl.ending}")
    facts = {name: crawl.progress[name] for name in ("pages", "requests", "relevant")}
    text = f"{_line(crawl)}: {crawl.ending}. See it with: lycosa show {crawl.path}"
    facts = {"directory": crawl.path, **facts, "shards": crawl.shards, "ending": crawl.ending}
    give(facts, [text], json=json, quiet=quiet)


async def _run(crawl: ClusterCrawl, line: ClusterLine | None) -> None:
    try:
        await until_stopped(crawl, line)
    finally:
        await crawl.hosts.close()


class ClusterLine(Onlooker):
    """One line for all shards."""

    def __init__(self, crawl: ClusterCrawl) -> None:
        self.crawl, self.line = crawl, StatusLine(patience=0.0)

    def __exit__(self, *error: object) -> None:
        self.line.clear()

    def say(self, text: str) -> None:
        self.line.clear()
        self.line.console.print(text)

    def update(self, visit: Any) -> None:
        self.draw()

    def draw(self) -> None:
        self.line.show(lambda: _line(self.crawl))


def _line(crawl: ClusterCrawl) -> str:
    pages, relevant, requests = (crawl.progress[name] for name in ("pages", "relevant", "requests"))
    return f"{pages:,} pages, {relevant:,} relevant, {requests:,} requests, {crawl.shards} shards"
