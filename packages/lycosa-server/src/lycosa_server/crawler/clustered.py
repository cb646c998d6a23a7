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
    _crawl: RemoteCrawl | None = None
    on_cluster = True

    async def _create(self, request: CrawlRequest) -> RemoteCrawl:
        assert self._environment.hosts is not None
        return self._environment.hosts.crawl(request)

    async def _on_turn(self, turn: Mapping[str, Any]) -> None:
        crawl = self._crawl
        assert crawl is not None
        if turn.get("reports") == crawl.shards:  # otherwise some shards have not reported their counts yet
            self.pages, self.relevant = turn["pages"], turn["relevant"]
        labels, request = self.labels, self.judge_request
        by_labels = request is None or request["judging"] == "labels"
        if by_labels and (labels or request) and await crawl.add_labels(labels):
            self._set_judge_result(labels, request)
        shown = live.LiveState.merged(await crawl.query(live.of_shard))
        self.in_flight = len(shown.in_flight)
        if not self.stopped_at:
            self._check_free_space()
            try:
                shown.write(self._directory)
            except OSError as error:
                log("cannot show how a crawl is", crawl=self.id, error=str(error))

    def set_budget(self, budget: int) -> None:
        self.budget = budget
        if self._crawl is not None:
            self._crawl.budget = replace(self._crawl.budget, pages=budget, requests=requests_for(budget))

    def _update_counts(self) -> None:
        if self._crawl is not None:
            self.pages = max(self.pages, self._crawl.progress["pages"])

    def _outcome(self) -> tuple[str, str, Mapping[str, int]]:
        crawl = self._crawl
        return ("", "", {}) if crawl is None else (crawl.ending, crawl.complaint, crawl.summary.get("spent", {}))
