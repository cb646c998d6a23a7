"""Hosts of shards as Ray actors; Ray restarts them when they die, and carries messages.

Calls are idempotent, so Ray may repeat them: only the last report counts, duplicate links are dropped, and `run`
continues from the log.
"""

from __future__ import annotations

import asyncio
import os
import uuid
from collections.abc import Callable
from contextlib import suppress
from typing import Any

from lycosa.core.errors import LycosaError, StoreError
from lycosa.crawling.request import CrawlRequest
from lycosa_cluster.driving import COORDINATOR, Unreachable
from lycosa_cluster.hosting import CoordinatorHost, ShardHost
from lycosa_cluster.ray_process import START_SECONDS, await_all, cores, dead_processes, join_ray, keep_signals, load
from lycosa_cluster.reaching import MAX_SHARDS, ClusterTarget
from lycosa_cluster.running import ClusterCrawl


class Actors:
    """Actors of one cluster, by name."""

    def __init__(self, cluster: str) -> None:
        self.cluster = cluster
        self._handles: dict[int, Any] = {}

    def name(self, number: int) -> str:
        return f"lycosa {self.cluster} " + ("coordinator" if number == COORDINATOR else f"shard {number}")

    async def call(self, number: int, method: str, *given: Any) -> Any:
        """Call a method of an actor; raise `Unreachable` for any failure."""
        ray = load()
        if not ray.is_initialized():  # otherwise Ray would start a cluster itself
            raise Unreachable("the connection to the cluster was closed")
        try:
            if number not in self._handles:
                self._handles[number] = await asyncio.to_thread(ray.get_actor, self.name(number))
            return await getattr(self._handles[number], method).remote(*given)
        except (ray.exceptions.RayError, ValueError) as error:  # ValueError: the actor does not exist yet
            self._handles.pop(number, None)
            raise Unreachable(str(error)) from error


class RayHosts:
    """Hosts for one crawl, or for all crawls of a server.

    `max_in_flight` limits the requests of each host over all crawls; `note` receives messages for the operator.
    """

    def __init__(
        self, target: ClusterTarget, max_in_flight: int | None = None, note: Callable[[str], None] = lambda text: None
    ) -> None:
        self.target, self.max_in_flight, self.note = target, max_in_flight, note
        self.count = 0
        self._actors: list[Any] = []
        self._reached: Actors | None = None
        self._ours = False
        self._opening = asyncio.Lock()

    async def open(self, go_on: Callable[[], bool] = lambda: True) -> None:
        """Join the cluster or start a local one, and start the hosts; restart them if they have ended."""
        async with self._opening:
            if self.count and await self._is_responding():
                return
            await self._shut()
            try:
                await self._join()
                await self._start(self.target.shards or min(MAX_SHARDS, cores(load())), go_on)
            except BaseException:
                await self._shut()
                raise

    async def _join(self) -> None:
        notes: list[str] = []
        cpus = self.target.shards or os.cpu_count() or 1
        joining = asyncio.ensure_future(asyncio.to_thread(join_ray, self.target.address, cpus, notes))
        try:
            await asyncio.shield(joining)
        finally:  # also after a cancellation: the thread continues, and the next call would start Ray again
            await asyncio.wait({joining})
            self._ours = joining.exception() is None and joining.result()
        keep_signals()
        for text in notes:
            self.note(text)

    async def _start(self, count: int, go_on: Callable[[], bool]) -> None:
        ray, actors = load(), Actors(uuid.uuid4().hex)
        self._reached = actors
        lasting = {"max_restarts": -1, "max_task_retries": -1}
        self._actors = [
            ray.remote(CoordinatorHost).options(name=actors.name(COORDINATOR), num_cpus=0, **lasting).remote(),
            *(
                ray.remote(ShardHost)
                .options(name=actors.name(number), num_cpus=1, scheduling_strategy="SPREAD", **lasting)
                .remote(number, Actors(actors.cluster), self.max_in_flight)
                for number in range(count)
            ),
        ]
        ready = [actor.ready.remote() for actor in self._actors]
        if dead := await asyncio.to_thread(await_all, ray, ready, count, go_on):
            raise StoreError(f"the Ray cluster failed: {dead}")
        self.count = count

    async def _is_responding(self) -> bool:
        """Return whether the actors respond; restarting ones count, those of a lost cluster do not."""
        ray = load()
        if not ray.is_initialized():
            return False
        ready = [actor.ready.remote() for actor in self._actors]
        with suppress(ray.exceptions.RayError):
            done, _ = await asyncio.to_thread(ray.wait, ready, num_returns=1, timeout=START_SECONDS)
            await asyncio.to_thread(ray.get, done)
            return bool(done)
        return False

    def gone(self) -> str:
        """Return why the hosts of a local Ray cannot respond any more; empty if they can."""
        return dead_processes(load())

    async def call(self, number: int, method: str, *given: Any) -> Any:
        if self._reached is None:
            raise Unreachable("the cluster is not started yet")
        return await self._reached.call(number, method, *given)

    def crawl(self, request: CrawlRequest) -> ClusterCrawl:
        return ClusterCrawl(request, self)

    async def close(self) -> None:
        async with self._opening:
            await self._shut()

    async def _shut(self) -> None:
        self.count = 0
        actors, self._actors = self._actors, []
        if not actors and not self._ours:
            return
        ray = load()
        with suppress(ray.exceptions.RayError, ValueError, LycosaError):
            # otherwise Ray would start a cluster itself, or wait for a lost one
            for actor in actors if ray.is_initialized() and not dead_processes(ray) else ():
                ray.kill(actor)
        if self._ours:
            self._ours = False
            await asyncio.to_thread(ray.shutdown)
