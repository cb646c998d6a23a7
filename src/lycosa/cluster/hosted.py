"""A crawl whose shards are hosted beside those of other crawls, seen from where it was started."""

from __future__ import annotations

import asyncio
import uuid
from collections.abc import AsyncGenerator, Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import aclosing, suppress
from dataclasses import replace
from functools import partial
from typing import Any, TypeVar

from lycosa.cluster import running
from lycosa.cluster.driving import Unreachable
from lycosa.cluster.hosting import Hosts, Terms
from lycosa.cluster.merging import Merger
from lycosa.cluster.on_ray import COORDINATOR, Start
from lycosa.cluster.reaching import Where
from lycosa.cluster.running import ClusterCrawl
from lycosa.core.engine import Engine
from lycosa.core.types import Label
from lycosa.crawling.request import Request
from lycosa.spaces.making import wall_clock
from lycosa.store.log import news_of

T = TypeVar("T")

PATIENCE = 5.0
"""Seconds that a host has to answer in."""


class HostedCrawl(ClusterCrawl):
    """One crawl of many. Its log is read and written in a thread of its own: the others don't wait for it."""

    def __init__(self, request: Request, hosts: Hosts) -> None:
        self.hosts = hosts
        super().__init__(request, Where("hosts"))
        self.session = f"{self.path.name} {uuid.uuid4().hex}"
        self._thread = ThreadPoolExecutor(1, "log")
        self._terms: Terms | None = None
        self._told: list[Label] = []
        self._heard: dict[int, int] = {}  # of each shard: how many of them it has
        self._merger: Merger | None = None

    async def _on_files(self, work: Callable[..., T], *given: Any) -> T:
        doing = asyncio.get_running_loop().run_in_executor(self._thread, partial(work, *given))
        try:
            return await asyncio.shield(doing)
        except asyncio.CancelledError:  # a thread can't be: it writes in the directory until it is done
            await asyncio.wait({doing})
            raise

    # -- what people want of it while it runs ------------------------------------------------------------------

    async def hear(self, labels: Mapping[str, bool]) -> None:
        """Make these the labels that stand: first in the crawl's own log, then in those of the shards, each of which is
        told until it has them."""
        if self._merger is not None:
            self._told += await self._on_files(_noted, self._merger, dict(labels))

    async def tell(self, tell: Callable[[Engine], T]) -> list[T]:
        """What a function tells of the shards' engines, of those that run."""
        return [told for told in await self._each("ask", tell) if told is not None]

    # -- on hosts ----------------------------------------------------------------------------------------------

    def _load(self) -> None:
        pass  # whoever made the hosts has

    async def _join(self) -> None:
        await self.hosts.open()

    def _count(self) -> int:
        return self.hosts.count

    async def _start(self, start: Start) -> None:
        self._terms = Terms(start.shards, self.budget, start.slots, start.options["choosy"])
        await self._ask(stop=False)
        self._heard = dict.fromkeys(range(start.shards), 0)
        self.shards = list(range(start.shards))
        self._running = [
            asyncio.ensure_future(self.hosts.call(number, "run", self.session, start)) for number in self.shards
        ]

    async def _watch(self, merger: Merger) -> AsyncGenerator[dict[str, Any], None]:
        self._merger = merger
        try:
            async with aclosing(super()._watch(merger)) as turns:
                async for progress in turns:
                    yield progress
                    await self._teach(merger)
        finally:
            self._merger = None

    async def _ended(self) -> list[dict[str, Any]]:
        done, left = await asyncio.wait(self._running, timeout=running.EVERY)
        self._running = list(left)
        told: list[dict[str, Any]] = []
        for run in done:
            try:
                told.append(run.result())
            except Unreachable as error:
                told.append({"error": f"the cluster is gone: {' '.join(str(error).split())[:200]}"})
        return told

    async def _ask(self, *, stop: bool) -> dict[str, Any]:
        assert self._terms is not None
        terms = replace(self._terms, budget=self.budget, stop=stop)
        with suppress(Unreachable, TimeoutError):
            async with asyncio.timeout(PATIENCE):
                return dict(await self.hosts.call(COORDINATOR, "look", self.session, terms))
        return {}

    async def _each(self, method: str, *given: Any) -> list[Any]:
        """Ask all shards; None is the answer of those that can't be reached now."""

        async def one(number: int) -> Any:
            with suppress(Unreachable, TimeoutError):
                async with asyncio.timeout(PATIENCE):
                    return await self.hosts.call(number, method, self.session, *given)

        return await asyncio.gather(*map(one, self.shards))

    async def _teach(self, merger: Merger) -> None:
        """Tell shards what people have said meanwhile; what pages are worth once all have heard it is brought over."""
        behind = [number for number, heard in self._heard.items() if heard < len(self._told)]
        for number in behind:
            with suppress(Unreachable, TimeoutError):
                async with asyncio.timeout(PATIENCE):
                    upto = len(self._told)
                    news = self._told[self._heard[number] :]
                    if await self.hosts.call(number, "call", self.session, "hear", news):
                        self._heard[number] = upto
        if behind and all(heard == len(self._told) for heard in self._heard.values()):
            await self._on_files(merger.settle)

    async def _leave(self) -> None:
        """Have all shards end, however they are: nobody writes in the directory afterwards."""
        while self._running:
            await self._each("end")
            done, left = await asyncio.wait(self._running, timeout=PATIENCE)
            self._running = list(left)
            for run in done:
                run.exception()  # looked at, or asyncio complains
        with suppress(Unreachable, TimeoutError):
            async with asyncio.timeout(PATIENCE):
                await self.hosts.call(COORDINATOR, "end", self.session)

    def _close(self) -> None:
        self._thread.shutdown(wait=False)


def _noted(merger: Merger, labels: dict[str, bool]) -> list[Label]:
    """Labels that are new, in the crawl's log."""
    news = news_of(merger.log, labels, wall_clock()())
    with merger.log.together():
        for label in news:
            merger.log.append(label)
    return news
