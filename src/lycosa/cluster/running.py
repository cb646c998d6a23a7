"""A crawl on a cluster, seen from where it was started: it starts the actors, brings their logs together, and waits."""

from __future__ import annotations

import asyncio
import os
import shutil
from collections.abc import AsyncGenerator, Callable
from contextlib import aclosing, suppress
from dataclasses import replace
from pathlib import Path
from typing import Any, TypeVar

from lycosa.cluster.asking import Answers, ask
from lycosa.cluster.on_ray import COORDINATOR, CoordinatorActor, Names, ShardActor, Start
from lycosa.cluster.ray_process import await_all, cores, dead_processes, join_ray, keep_signals, load, short
from lycosa.cluster.reaching import MOST_SHARDS, Where
from lycosa.cluster.splitting import Merger, make_shards, settle, shards_before, shards_in, split
from lycosa.core.errors import InputError, LycosaError, StoreError
from lycosa.core.options import Options
from lycosa.core.spec import parse
from lycosa.core.types import Label
from lycosa.crawling.request import Request
from lycosa.spaces.making import wall_clock
from lycosa.store.directory import SHARDS, Directory, located
from lycosa.store.log import SqliteLog
from lycosa.web.urls import Scope

T = TypeVar("T")
EVERY = 1.0  # seconds between two looks


def checked(request: Request) -> Request:
    """The request, if a cluster can do it."""
    options = request.options
    if parse(options.space)[0] != "web":
        raise InputError("a cluster crawls the web only: leave out --cluster, or --space")
    if request.path is None:
        raise InputError("a cluster needs a directory: name one with --out DIR")
    return request


class ClusterCrawl:
    """One crawl on many shards; iterate over it to make it run: each turn tells how it is getting on."""

    def __init__(self, request: Request, where: Where) -> None:
        self.request, self.where = checked(request), where
        assert request.path is not None
        self.path: Path = request.path
        self._load()  # before anything is written: it may not be installed
        if request.resuming:
            settle(self.path)
        self.notes: list[str] = request.notes
        self.ending = self.complaint = ""
        self.progress: dict[str, Any] = {"pages": 0, "requests": 0, "relevant": 0}
        self.told: dict[str, Any] = {}  # how the run ended, as in the log
        self.budget = request.budget  # may grow while the crawl runs
        self.shards: list[Any] = []
        self.coordinator: Any = None
        self._ray: Any = None
        self._ours = self._gone = False
        self._running: list[Any] = []
        self._stopping = False
        self._failed: list[str] = []

    def stop(self) -> None:
        """End after what is in flight has arrived."""
        self._stopping = True

    async def __aiter__(self) -> AsyncGenerator[dict[str, Any], None]:
        """Run it."""
        directory = log = merger = None
        try:
            await self._join()
            answers = Answers() if self.request.resuming else await ask(self.request, Answers())
            directory = await self._on_files(self._directory)
            log = await self._on_files(directory.log)
            count = self._count()
            options = self.request.options if self.request.resuming else directory.options
            merger = await self._on_files(self._share_out, log, count, options)
            if self.request.resuming:
                answers = await ask(self.request, await self._on_files(Answers.recorded, log))
            await self._on_files(answers.record, log)
            options = self._located(options)
            options = replace(options, search=[], seeds=list(dict.fromkeys([*options.seeds, *answers.seeds])))
            place, labels = str(self.path.absolute()), await self._on_files(_labels, log)
            over = await self._on_files(merger.begin)
            judged = await self._on_files(merger.judged)
            await self._start(Start(place, count, vars(options), labels, answers.learned, over, judged))
            await self._on_files(self._save_options, directory)
            async with aclosing(self._watch(merger)) as turns:
                async for progress in turns:
                    yield progress
            self.told = await self._on_files(merger.finish, self.ending, wall_clock()())
            self.progress |= await self._on_files(merger.counts)
        finally:
            await self._leave()
            if merger is not None and not self.told:  # it was broken off: all that was recorded is shown and counted
                with suppress(LycosaError):
                    self.progress |= await self._on_files(merger.counts)
            if log is not None:
                await self._on_files(log.close)
            if directory is not None:
                directory.close()
            self._close()

    def _close(self) -> None:
        """Nothing more is done with the crawl's own log."""

    async def _on_files(self, work: Callable[..., T], *given: Any) -> T:
        return work(*given)

    def _directory(self) -> Directory:
        if not self.request.resuming:
            return Directory.create(self.path, self.request.options)
        return Directory.open(self.path)

    def _save_options(self, directory: Directory) -> None:
        """Write changed options to crawl.toml, once nothing can refuse them any more."""
        if self.request.resuming and vars(directory.options) != vars(self.request.options):
            directory.options = self.request.options
            directory.save()

    def _located(self, options: Options) -> Options:
        """The options as shards need them, which are elsewhere."""
        path = self.path.absolute()
        return replace(located(options, path), dedupe=[os.path.normpath(path / name) for name in options.dedupe])

    def _share_out(self, log: SqliteLog, count: int, options: Options) -> Merger:
        """See to it that there are so many shards: new ones, or what is there shared out among them."""
        there = shards_in(self.path)
        if there == count:
            return Merger(self.path, log, count, options.traps)
        if there:
            Merger(self.path, log, there, options.traps).bring_over()
        if log.end() == 0:  # nothing is recorded, neither here nor in shards that there may have been
            shutil.rmtree(self.path / SHARDS, ignore_errors=True)
            make_shards(self.path, count)
            return Merger(self.path, log, count, options.traps)

        def make(path: Path) -> SqliteLog:
            part = Directory.create(path, self._located(options))
            made = part.log()
            part.close()
            return made

        split(self.path, log, count, Scope.of(options), make)
        self.notes.append(
            f"the crawl is shared out among {count} shard{'s' * (count > 1)}" + (f": it had {there}" if there else "")
        )
        return Merger(self.path, log, count, options.traps)

    async def _watch(self, merger: Merger) -> AsyncGenerator[dict[str, Any], None]:
        """Until all shards have ended."""
        while self._running:
            for told in await self._ended():
                if "error" in told:
                    self._failed.append(told["error"])
                self.notes += [note for note in told.get("notes", []) if note not in self.notes]
                self.ending = self.ending or told.get("ending", "")
                self.complaint = self.complaint or told.get("complaint", "")
            told = await self._ask(stop=self._stopping or bool(self._failed))
            await self._on_files(merger.keep_up)
            if told:
                told["relevant"] = max(0, told["relevant"] - await self._on_files(merger.counted_twice))
            self.progress |= told
            yield self.progress
        if self._failed:
            raise StoreError(f"the crawl was stopped: {self._failed[0]}")

    # -- on Ray, with actors of its own ------------------------------------------------------------------------

    def _load(self) -> None:
        load(self.where.address)

    async def _join(self) -> None:
        shards = self.where.shards or shards_before(self.path) or os.cpu_count() or 1
        self._ray = load(self.where.address)
        self._ours = await asyncio.to_thread(join_ray, self.where.address, shards, self.notes)
        keep_signals()

    def _count(self) -> int:
        """How many shards: as many as there are, or were asked for, or the cluster has cores."""
        return self.where.shards or shards_before(self.path) or min(MOST_SHARDS, cores(self._ray))

    async def _start(self, start: Start) -> None:
        ray, names, lasting = self._ray, Names(start.directory), {"max_restarts": -1, "max_task_retries": -1}
        self.coordinator = (
            ray.remote(CoordinatorActor)
            .options(name=names.of(COORDINATOR), num_cpus=0, **lasting)
            .remote(start.shards, self.budget, start.slots, start.options["choosy"])
        )
        self.shards = [
            ray.remote(ShardActor)
            .options(name=names.of(number), num_cpus=1, scheduling_strategy="SPREAD", **lasting)
            .remote(number, names.crawl, start)
            for number in range(start.shards)
        ]
        ready = [shard.pid.remote() for shard in self.shards]
        if dead := await asyncio.to_thread(await_all, ray, ready, start.shards, lambda: not self._stopping):
            raise StoreError(f"the crawl was stopped: {self._lost(dead)[0]['error']}")
        self._running = [shard.run.remote() for shard in self.shards]

    async def _ended(self) -> list[dict[str, Any]]:
        """What shards say that have ended; after a while, if none has."""
        wait, running = self._ray.wait, self._running
        try:
            done, left = await asyncio.to_thread(wait, running, num_returns=len(running), timeout=EVERY)
            told: list[dict[str, Any]] = await asyncio.to_thread(self._ray.get, done)
        except self._ray.exceptions.RayError as error:
            return self._lost(short(error))
        if not done and (dead := dead_processes(self._ray)):
            return self._lost(dead)
        self._running = left
        return told

    def _lost(self, why: str) -> list[dict[str, Any]]:
        self._running, self._gone = [], True
        return [{"error": f"the cluster is gone: {why}; continue with: lycosa resume {self.path}"}]

    async def _ask(self, *, stop: bool) -> dict[str, Any]:
        """How it is getting on; nothing if the coordinator does not answer."""
        if self._gone:
            return {}
        if stop:
            self.coordinator.stop.remote()
        ready, _ = await asyncio.to_thread(self._ray.wait, [self.coordinator.progress.remote()], timeout=EVERY)
        with suppress(self._ray.exceptions.RayError):  # whether all are gone is seen where shards are waited for
            return dict(await asyncio.to_thread(self._ray.get, ready[0])) if ready else {}
        return {}

    async def _leave(self) -> None:
        if not self._gone:
            for actor in [*self.shards, *filter(None, [self.coordinator])]:
                with suppress(self._ray.exceptions.RayError):
                    self._ray.kill(actor)
        if self._ours:
            await asyncio.to_thread(self._ray.shutdown)


def _labels(log: SqliteLog) -> list[Label]:
    return [event for event in log.events("kind = 'label'") if isinstance(event, Label)]


def resumed(directory: Path, where: Where | None, changes: dict[str, Any]) -> ClusterCrawl:
    """Go on with a crawl that has shards; without `where`, on this machine."""
    options = Options.from_mapping({**vars(Directory.read_options(directory)), **changes}, "command line")
    return ClusterCrawl(Request(options, directory, resuming=True), where or Where("local", shards_before(directory)))
