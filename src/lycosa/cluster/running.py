"""A crawl on a cluster, seen from where it was started: it starts the actors, brings their logs together, and waits."""

from __future__ import annotations

import asyncio
import os
import re
import shutil
from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from lycosa.cluster.merging import Merger, make_shards, shards_in
from lycosa.cluster.on_ray import STORE, CoordinatorActor, Names, ShardActor, load
from lycosa.cluster.splitting import settle, shards_before, split
from lycosa.core.errors import InputError, StoreError
from lycosa.core.options import Options
from lycosa.core.spec import parse
from lycosa.core.types import Label
from lycosa.crawling.request import Request
from lycosa.spaces.making import wall_clock
from lycosa.store.directory import SHARDS, Directory, located
from lycosa.store.log import SqliteLog
from lycosa.web.scope import Scope
from lycosa.web.urls import is_http

MOST_SHARDS = 999

STARTS = 3
"""How often it is tried to start Ray on this machine."""

EVERY = 1.0
"""Seconds between two looks at how it goes."""


@dataclass(frozen=True)
class Where:
    """Where a crawl runs: `local:4`, `auto`, or a cluster's address; and on how many shards (0: as many as cores)."""

    address: str
    shards: int = 0

    @classmethod
    def read(cls, text: str) -> Where:
        """What --cluster says.

        >>> Where.read("local:4"), Where.read("ray://head:10001,shards=8")
        (Where(address='local', shards=4), Where(address='ray://head:10001', shards=8))
        """
        name, given = parse(text)
        shards = given.pop("shards", "")
        if local := re.fullmatch(r"local(?::(\d+))?", name):
            name, shards = "local", local[1] or shards
        if (
            given
            or not name
            or name.startswith("local:")
            or not (shards or "0").isdigit()
            or not 0 < int(shards or 1) <= MOST_SHARDS
        ):
            raise InputError(
                f"--cluster {text} is not known: say local:4 for four shards on this machine, auto for the cluster "
                f"that this machine belongs to, or an address; and ,shards=N for how many, 1 to {MOST_SHARDS}"
            )
        return cls(name, int(shards or 0))


def checked(request: Request) -> Request:
    """The request, if a cluster can do it."""
    options = request.options
    if parse(options.space)[0] != "web":
        raise InputError("a cluster crawls the web only: leave out --cluster, or --space")
    if options.search:
        raise InputError("a cluster does not ask search engines: save what they name in a file, and use --seeds FILE")
    if any(map(is_http, options.examples)):
        raise InputError("a cluster takes examples from files only: save the page, and name the file with --example")
    if request.path is None:
        raise InputError("a cluster needs a directory: name one with --out DIR")
    return request


class ClusterCrawl:
    """One crawl on many shards; iterate over it to make it run: each turn tells how it is getting on."""

    def __init__(self, request: Request, where: Where) -> None:
        self.request, self.where = checked(request), where
        assert request.path is not None
        self.path: Path = request.path
        load()  # before anything is written: it may not be installed
        if request.resuming:
            settle(self.path)
        self.notes: list[str] = request.notes
        self.ending = self.complaint = ""
        self.progress: dict[str, Any] = {"pages": 0, "requests": 0, "relevant": 0}
        self.shards: list[Any] = []
        self.coordinator: Any = None
        self._stopping = False

    def stop(self) -> None:
        """End after what is in flight has arrived."""
        self._stopping = True

    async def __aiter__(self) -> AsyncIterator[dict[str, Any]]:
        """Run it."""
        ray = load()
        ours = await asyncio.to_thread(self._join, ray)
        directory = None
        try:
            count = self._count(ray)
            if self.request.resuming:
                directory = Directory.open(self.path)
                if vars(directory.options) != vars(self.request.options):
                    directory.options = self.request.options
                    directory.save()
            else:
                directory = Directory.create(self.path, self.request.options)
            log = directory.log()
            try:
                self._share_out(log, count, directory.options)
                merger = Merger(self.path, log, count)
                labels = [event for event in log.events("kind = 'label'") if isinstance(event, Label)]
                self._start(ray, count, located(directory.options, self.path.absolute()), labels)
                async for progress in self._watch(ray, merger):
                    yield progress
                merger.finish(self.ending, wall_clock()())
            finally:
                log.close()
        finally:
            for actor in [*self.shards, *filter(None, [self.coordinator])]:
                ray.kill(actor)
            if directory is not None:
                directory.close()
            if ours:
                await asyncio.to_thread(ray.shutdown)

    def _join(self, ray: Any) -> bool:
        """Join the cluster, or start one here; whether it is to be left again."""
        if ray.is_initialized():
            return False
        quiet = {"log_to_driver": False, "logging_level": "ERROR", "namespace": "lycosa"}
        if self.where.address != "local":
            try:
                ray.init(address=self.where.address, **quiet)
                return True
            except (ConnectionError, ValueError, RuntimeError) as error:
                if self.where.address != "auto":
                    why = " ".join(str(error).split())[:200]
                    raise InputError(f"there is no cluster at {self.where.address}: {why}") from None
                self.notes.append("no cluster is running here: the crawl runs on this machine alone")
        shards = self.where.shards or shards_before(self.path) or os.cpu_count() or 1
        for left in reversed(range(STARTS)):
            try:
                ray.init(address="local", num_cpus=shards, include_dashboard=False, object_store_memory=STORE, **quiet)
                return True
            except Exception as error:  # it raises nothing more telling: on a busy machine it gives up after 30 seconds
                ray.shutdown()
                if not left:
                    why = " ".join(str(error).split())[:200]
                    raise StoreError(f"Ray did not start on this machine: {why}; resume the crawl later") from error
        return True

    def _count(self, ray: Any) -> int:
        """How many shards: as many as there are, or were asked for, or the cluster has cores."""
        there = shards_before(self.path)
        return self.where.shards or there or min(MOST_SHARDS, max(1, int(ray.cluster_resources().get("CPU", 1))))

    def _share_out(self, log: SqliteLog, count: int, options: Options) -> None:
        """See to it that there are so many shards: new ones, or what is there shared out among them."""
        there = shards_in(self.path)
        if there == count:
            return
        if there:
            Merger(self.path, log, there).bring_over()
        if log.end() == 0:  # nothing is recorded, neither here nor in shards that there may have been
            shutil.rmtree(self.path / SHARDS, ignore_errors=True)
            make_shards(self.path, count)
            return

        def make(path: Path) -> SqliteLog:
            part = Directory.create(path, located(options, self.path.absolute()))
            made = part.log()
            part.close()
            return made

        split(self.path, log, count, Scope.of(options), make)
        self.notes.append(f"the crawl is shared out among {count} shards" + (f": it had {there}" if there else ""))

    def _start(self, ray: Any, count: int, options: Options, labels: list[Label]) -> None:
        names, lasting = Names(str(self.path.absolute())), {"max_restarts": -1, "max_task_retries": -1}
        budget = self.request.budget
        self.coordinator = (
            ray.remote(CoordinatorActor)
            .options(name=names.coordinator, num_cpus=0, **lasting)
            .remote(count, budget, options.concurrency * count, options.choosy)
        )
        self.shards = [
            ray.remote(ShardActor)
            .options(name=names.shard(number), num_cpus=1, scheduling_strategy="SPREAD", **lasting)
            .remote(number, count, str(self.path.absolute()), vars(options), names.crawl, labels)
            for number in range(count)
        ]

    async def _watch(self, ray: Any, merger: Merger) -> AsyncIterator[dict[str, Any]]:
        """Until all shards have ended."""
        running = [shard.run.remote() for shard in self.shards]
        failed: list[str] = []
        while running:
            done, running = await asyncio.to_thread(ray.wait, running, num_returns=len(running), timeout=EVERY)
            for told in await asyncio.to_thread(ray.get, done):
                if "error" in told:
                    failed.append(told["error"])
                self.notes += [note for note in told.get("notes", []) if note not in self.notes]
                self.ending = self.ending or told.get("ending", "")
                self.complaint = self.complaint or told.get("complaint", "")
            if self._stopping or failed:
                self.coordinator.stop.remote()
            ready, _ = await asyncio.to_thread(ray.wait, [self.coordinator.progress.remote()], timeout=EVERY)
            if ready:
                self.progress |= await asyncio.to_thread(ray.get, ready[0])
            merger.bring_over()
            yield self.progress
        self.progress |= {"pages": self._pages(merger)}
        if failed:
            raise StoreError(f"the crawl was stopped: {failed[0]}")

    def _pages(self, merger: Merger) -> int:
        merger.bring_over()
        return int(next(merger.log.rows("COUNT(*)", "kind = 'page' AND outcome = 'ok'"))[0])


def resumed(directory: Path, where: Where | None, changes: dict[str, Any]) -> ClusterCrawl:
    """Go on with a crawl that has shards; without `where`, on this machine."""
    options = Options.from_mapping({**vars(Directory.read_options(directory)), **changes}, "command line")
    return ClusterCrawl(Request(options, directory, resuming=True), where or Where("local", shards_before(directory)))
