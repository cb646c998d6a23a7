"""Run a crawl on a cluster, in the terminal: for `lycosa crawl --cluster` and `lycosa resume`."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from dataclasses import replace
from typing import Any

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
        asyncio.run(_until_stopped(crawl, quiet or json))
    except StoreError as error:
        again = f"; continue with: lycosa resume {crawl.path}" if crawl.shards else ""
        raise StoreError(f"{error}{again}") from error
    if not quiet:
        for note in crawl.notes:
            print(f"note: {note}", file=sys.stderr)
    if not crawl.progress["pages"]:
        raise NothingFetched(f"no page could be fetched. {crawl.complaint or crawl.ending}")
    told: dict[str, Any] = {name: crawl.progress[name] for name in ("pages", "requests", "relevant")}
    if json:
        from lycosa.cli.printing import print_json

        print_json({"directory": crawl.path, **told, "shards": crawl.shards, "ending": crawl.ending})
    elif not quiet:
        print(f"{_line(crawl)}: {crawl.ending}. See it with: lycosa show {crawl.path}")


async def _until_stopped(crawl: ClusterCrawl, quiet: bool) -> None:
    interrupts, line = 0, None if quiet else StatusLine(patience=0.0)

    def interrupt() -> None:
        nonlocal interrupts
        interrupts += 1
        if interrupts > 1:  # what is recorded is safe; the actors end with this process
            sys.stderr.write(f"\nstopped immediately; continue with: lycosa resume {crawl.path}\n")
            os._exit(130)
        crawl.stop()

    loop = asyncio.get_running_loop()
    for name in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(name, interrupt)
    try:
        async for _ in crawl:
            if line is not None:
                line.show(lambda: _line(crawl))
    finally:
        await crawl.hosts.close()
    if line is not None:
        line.clear()


def _line(crawl: ClusterCrawl) -> str:
    told = crawl.progress
    return (
        f"{told['pages']:,} pages, {told['relevant']:,} relevant, {told['requests']:,} requests, {crawl.shards} shards"
    )
