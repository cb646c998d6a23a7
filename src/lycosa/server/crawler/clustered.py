"""One crawl on a cluster while it runs: its shards are elsewhere, its log, its labels and its wishes are here."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import aclosing
from dataclasses import replace
from typing import Any

from lycosa.cluster.running import ClusterCrawl
from lycosa.core.budget import STOPPED, requests_for
from lycosa.core.options import Options
from lycosa.crawling.request import Request
from lycosa.server.crawler import live
from lycosa.server.crawler.running import PATIENCE, Running
from lycosa.server.logs import log
from lycosa.server.validation import harmless_directory, harmless_wishes
from lycosa.store.directory import CONFIG, Directory


class RunningOnCluster(Running):
    """A crawl whose shards are hosted by a cluster. What differs from one in this process is how it is reached."""

    _hosted: ClusterCrawl | None = None
    _cancelled = False
    _flying = 0

    def cancel(self) -> None:
        """End at once. Only once: its shards have to be ended, too, and that takes a moment."""
        if not self._cancelled:
            self._cancelled = True
            super().cancel()

    async def _sessions(self) -> str:
        while not self.stopped_at:
            crawl = await self._opened()
            if crawl is None:
                break
            try:
                async with aclosing(aiter(crawl)) as turns:  # however this ends, its shards end with it
                    async for progress in turns:
                        await self._follow(crawl, progress)
            finally:
                self.pages = max(self.pages, crawl.progress["pages"])
            reason = crawl.ending or STOPPED
            if reason != STOPPED or not self._reopening:
                return reason
        return STOPPED

    async def _opened(self) -> ClusterCrawl | None:
        """The crawl, where its shards' logs end; None if it was stopped before that."""
        around, self._reopening = self._around, False
        assert around.hosts is not None
        harmless_wishes(self.row["wishes"])
        if not (self._directory / CONFIG).exists():
            self._was_judged([], self.asked)
            options = Options.from_mapping(self._options(), "crawl()")
            request = Request(options, self._directory, **self._common())
        else:
            async with around.opening:
                if self.stopped_at:
                    return None
                harmless_directory(self._directory)
                await self._judge(around.clock())
            begun = vars(Directory.read_options(self._directory))
            options = Options.from_mapping({**begun, **self._changed(), "budget": self.budget}, "resume()")
            request = Request(options, self._directory, resuming=True, **self._common())
        if self.stopped_at:
            return None
        crawl = self._hosted = ClusterCrawl(request, around.hosts)
        self.opened_at = around.clock()
        self.grow(self.budget)
        return crawl

    async def _follow(self, crawl: ClusterCrawl, progress: Mapping[str, Any]) -> None:
        """Once a second: how far it is, what people have said, and what it does just now."""
        if progress.get("heard") == crawl.shards:  # else some have not told yet what they have
            self.pages, self.found = progress["pages"], progress["relevant"]
        words, asked = self.words, self.asked
        by_labels = asked is None or asked["judging"] == "labels"
        if by_labels and (words or asked) and await crawl.hear(words):
            self._was_judged(words, asked)
        shown = live.Live.together(await crawl.tell(live.of_shard))
        self._flying = len(shown.in_flight)
        if not self.stopped_at:
            self._look_for_room()
            try:
                shown.write(self._directory)
            except OSError as error:
                log("cannot show how a crawl is", crawl=self.id, error=str(error))

    @property
    def in_flight(self) -> int:
        return self._flying

    # -- while it runs -----------------------------------------------------------------------------------------

    def stop(self) -> None:
        """End after what is in flight has arrived."""
        super().stop()
        if self._hosted is not None:
            self._hosted.stop()

    def grow(self, budget: int) -> None:
        self.budget = budget
        if self._hosted is not None:
            self._hosted.budget = replace(self._hosted.budget, pages=budget, requests=requests_for(budget))

    def look(self, now: float) -> None:
        """Called now and then: opens it again, if its pages are to be judged by something else."""
        if self.asked is not None and self.asked["judging"] != "labels" and now >= self.opened_at + PATIENCE:
            self._reopen(now)

    def _reopen(self, now: float) -> None:
        super()._reopen(now)
        if self._hosted is not None:
            self._hosted.stop()

    def _said(self) -> tuple[str, Mapping[str, int]]:
        return ("", {}) if self._hosted is None else (self._hosted.complaint, self._hosted.told.get("spent", {}))
