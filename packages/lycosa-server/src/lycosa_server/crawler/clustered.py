"""A crawl on a cluster: its shards run elsewhere; its log, labels and settings are here."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from lycosa.core.budget import requests_for
from lycosa.crawling.request import CrawlRequest
from lycosa.crawling.runners import RemoteCrawl
from lycosa_server.crawler import live
from lycosa_server.crawler.running import RunningCrawl
from lycosa_server.logs import log


class RunningClusterCrawl(RunningCrawl):
    """A crawl whose shards run on a cluster."""

    _crawl: RemoteCrawl | None = None
    on_cluster = True

    async def _made(self, request: CrawlRequest) -> RemoteCrawl:
        assert self._around.hosts is not None
        return self._around.hosts.crawl(request)

    async def _follow(self, turn: Mapping[str, Any]) -> None:
        crawl = self._crawl
        assert crawl is not None
        if turn.get("heard") == crawl.shards:  # else some shards have not reported their counts yet
            self.pages, self.found = turn["pages"], turn["relevant"]
        words, asked = self.words, self.asked
        by_labels = asked is None or asked["judging"] == "labels"
        if by_labels and (words or asked) and await crawl.add_labels(words):
            self._was_judged(words, asked)
        shown = live.LiveState.together(await crawl.tell(live.of_shard))
        self.in_flight = len(shown.in_flight)
        if not self.stopped_at:
            self._look_for_room()
            try:
                shown.write(self._directory)
            except OSError as error:
                log("cannot show how a crawl is", crawl=self.id, error=str(error))

    def grow(self, budget: int) -> None:
        self.budget = budget
        if self._crawl is not None:
            self._crawl.budget = replace(self._crawl.budget, pages=budget, requests=requests_for(budget))

    def _count(self) -> None:
        if self._crawl is not None:
            self.pages = max(self.pages, self._crawl.progress["pages"])

    def _said(self) -> tuple[str, str, Mapping[str, int]]:
        crawl = self._crawl
        return ("", "", {}) if crawl is None else (crawl.ending, crawl.complaint, crawl.told.get("spent", {}))
