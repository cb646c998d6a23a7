"""Run a crawl on a cluster, in the terminal: for `lycosa crawl --cluster` and `lycosa resume`."""

from __future__ import annotations

import asyncio
from typing import Any

from lycosa.cli.crawl_runner import ProgressDisplay, until_stopped
from lycosa.cli.printing import print_notes, print_result
from lycosa.cli.progress_bar import StatusLine
from lycosa.core.errors import NothingFetched, StoreError
from lycosa.crawling.runners import RemoteCrawl


def run_cluster_crawl(crawl: RemoteCrawl, *, quiet: bool = False, json: bool = False) -> None:
    try:
        asyncio.run(_run(crawl, None if quiet or json else ClusterProgress(crawl)))
    except StoreError as error:
        again = f"; continue with: lycosa resume {crawl.path}" if crawl.shards else ""
        raise StoreError(f"{error}{again}") from error
    print_notes([] if quiet else crawl.notes)
    if not crawl.progress["pages"]:
        raise NothingFetched(f"no page could be fetched. {crawl.complaint or crawl.ending}")
    facts = {name: crawl.progress[name] for name in ("pages", "requests", "relevant")}
    text = f"{_line(crawl)}: {crawl.ending}. See it with: lycosa show {crawl.path}"
    facts = {"directory": crawl.path, **facts, "shards": crawl.shards, "ending": crawl.ending}
    print_result(facts, [text], json=json, quiet=quiet)


async def _run(crawl: RemoteCrawl, line: ClusterProgress | None) -> None:
    try:
        await until_stopped(crawl, line)
    finally:
        await crawl.close()


class ClusterProgress(ProgressDisplay):
    def __init__(self, crawl: RemoteCrawl) -> None:
        super().__init__(StatusLine(patience=0.0))
        self.crawl = crawl

    def update(self, visit: Any) -> None:
        self.draw()

    def draw(self) -> None:
        self.line.show(lambda: _line(self.crawl))


def _line(crawl: RemoteCrawl) -> str:
    pages, relevant, requests = (crawl.progress[name] for name in ("pages", "relevant", "requests"))
    return f"{pages:,} pages, {relevant:,} relevant, {requests:,} requests, {crawl.shards} shards"
