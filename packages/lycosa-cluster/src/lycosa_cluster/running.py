"""A crawl on a cluster in the process that started it: start the shards, wait for them, and merge their logs."""

from __future__ import annotations

import asyncio
import shutil
import uuid
from collections.abc import AsyncGenerator, Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import aclosing, suppress
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

from lycosa.core.engine import Engine
from lycosa.core.errors import InputError, LycosaError, StoreError
from lycosa.core.options import Options
from lycosa.core.spec import parse_spec
from lycosa.core.types import Label
from lycosa.crawling.request import CrawlRequest
from lycosa.spaces.making import wall_clock
from lycosa.store.directory import SHARDS, Directory, with_resolved_files
from lycosa.store.log import SqliteLog, append_labels
from lycosa.web.urls import Scope
from lycosa_cluster.driving import COORDINATOR, Unreachable
from lycosa_cluster.hosting import Hosts, Start
from lycosa_cluster.initial_requests import InitialResults, fetch_initial
from lycosa_cluster.splitting import Merger, finish_replacing, make_shards, shard_count, split

T = TypeVar("T")
POLL_SECONDS = 1.0  # interval of polling the shards
HOST_TIMEOUT_SECONDS = 5.0  # timeout of a call to a host process


class ClusterCrawl:
    """A crawl on many shards; iterating over it runs it and yields its progress.

    `gone` returns the reason if no host can respond any more. The log is accessed in a thread.
    """

    def __init__(self, request: CrawlRequest, hosts: Hosts, gone: Callable[[], str] = lambda: "") -> None:
        options = request.options
        if parse_spec(options.space)[0] != "web":
            raise InputError("conflicting-options", "a cluster can only crawl the web: omit --cluster or --space")
        if options.until:
            raise InputError(
                "conflicting-options", "--until needs one process that sees all pages: omit it or --cluster"
            )
        if request.path is None:
            raise InputError("missing-option", "a cluster needs a directory: give one with --out DIR")
        self.request, self.hosts, self.path, self._gone = request, hosts, request.path, gone
        if request.resuming:
            finish_replacing(self.path)
        self.session = f"{self.path.name} {uuid.uuid4().hex}"
        self.notes: list[str] = request.notes
        self.ending = self.complaint = ""
        self.progress: dict[str, Any] = {"pages": 0, "requests": 0, "relevant": 0}
        self.summary: dict[str, Any] = {}  # result of the run, as in the log
        self.budget = request.budget  # may grow while the crawl runs
        self.shards = 0  # 0 until they are started
        self._slots = 0  # concurrent requests of all shards together
        self._thread = ThreadPoolExecutor(1, "log")
        self._running: list[asyncio.Future[Any]] = []
        self._stopping = False
        self._failed: list[str] = []
        self._merger: Merger | None = None
        self._new_labels: list[Label] = []  # labels from users during this run
        self._labels_sent: dict[int, int] = {}  # by shard: how many of these it has received

    def stop(self) -> None:
        self._stopping = True

    async def close(self) -> None:
        """Close the hosts, unless other crawls use them."""
        await self.hosts.close()

    async def __aiter__(self) -> AsyncGenerator[dict[str, Any], None]:
        directory = log = merger = None
        try:
            await self.hosts.open(lambda: not self._stopping)
            results = InitialResults() if self.request.resuming else await fetch_initial(self.request, InitialResults())
            directory = await self._on_files(self._directory)
            log = await self._on_files(directory.log)
            count = self.hosts.count
            options = self.request.options if self.request.resuming else directory.options
            merger = await self._on_files(self._distribute, log, count, options)
            if self.request.resuming:
                results = await fetch_initial(self.request, await self._on_files(InitialResults.recorded, log))
            await self._on_files(results.record, log)
            options = self._located(options)
            options = replace(options, search=[], portals=list(dict.fromkeys([*options.portals, *results.seeds])))
            place, labels = str(self.path.absolute()), await self._on_files(_labels, log)
            over = await self._on_files(merger.begin)
            judged = await self._on_files(merger.judged)
            await self._start(Start(place, count, vars(options), labels, results.topic_terms, over, judged))
            await self._on_files(self._save_options, directory)
            self._merger = merger
            async with aclosing(self._watch(merger)) as turns:
                async for progress in turns:
                    yield progress
            self.summary = await self._on_files(merger.finish, self.ending, wall_clock()())
            self.progress |= await self._on_files(merger.counts)
        finally:
            self._merger = None
            await self._end_shards()
            if merger is not None and not self.summary:  # interrupted, so merge all recorded visits
                with suppress(LycosaError):
                    self.progress |= await self._on_files(merger.counts)
            if log is not None:
                await self._on_files(log.close)
            if directory is not None:
                directory.close()
            self._thread.shutdown(wait=False)

    async def _on_files(self, work: Callable[..., T], *given: Any) -> T:
        doing = asyncio.get_running_loop().run_in_executor(self._thread, partial(work, *given))
        try:
            return await asyncio.shield(doing)
        except asyncio.CancelledError:  # a thread cannot be cancelled, so wait until it no longer writes
            await asyncio.wait({doing})
            raise

    def _directory(self) -> Directory:
        if not self.request.resuming:
            return Directory.create(self.path, self.request.options)
        return Directory.open(self.path)

    def _save_options(self, directory: Directory) -> None:
        if self.request.resuming and vars(directory.options) != vars(self.request.options):
            directory.options = self.request.options
            directory.save()

    def _located(self, options: Options) -> Options:
        path = self.path.absolute()
        return with_resolved_files(options, path)

    def _distribute(self, log: SqliteLog, count: int, options: Options) -> Merger:
        """Create the shards, or redistribute existing ones to the requested number."""
        there = shard_count(self.path)
        if there == count:
            return Merger(self.path, log, count, options.traps)
        if there:
            Merger(self.path, log, there, options.traps).merge_new()
        if log.end() == 0:  # nothing is recorded in the common log or in shards
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

    async def _start(self, start: Start) -> None:
        self.shards = start.shards
        self._slots = start.options["concurrency"] * start.shards
        self._labels_sent = dict.fromkeys(range(start.shards), 0)
        await self._poll()
        self._running = [
            asyncio.ensure_future(self.hosts.call(number, "run", self.session, start)) for number in range(start.shards)
        ]

    async def _watch(self, merger: Merger) -> AsyncGenerator[dict[str, Any], None]:
        while self._running:
            for summary in await self._ended():
                if "error" in summary:
                    self._failed.append(summary["error"])
                self.notes += [note for note in summary.get("notes", []) if note not in self.notes]
                self.ending = self.ending or summary.get("ending", "")
                self.complaint = self.complaint or summary.get("complaint", "")
            summary = await self._poll()
            await self._on_files(merger.merge_live)
            if summary:
                summary["relevant"] = max(0, summary["relevant"] - await self._on_files(merger.counted_twice))
            self.progress |= summary
            yield self.progress
            await self._send_labels(merger)
        if self._failed:
            raise StoreError(f"the crawl was stopped: {self._failed[0]}")

    async def _ended(self) -> list[dict[str, Any]]:
        """Return the results of shards that have ended within a poll interval."""
        done, left = await asyncio.wait(self._running, timeout=POLL_SECONDS)
        self._running = list(left)
        if gone := "" if done else self._gone():
            for run in left:
                run.cancel()
            self._running = []
            return [{"error": f"the Ray cluster failed: {gone}"}]
        summary: list[dict[str, Any]] = []
        for run in done:
            try:
                summary.append(run.result())
            except Unreachable as error:
                summary.append({"error": f"the Ray cluster failed: {' '.join(str(error).split())[:200]}"})
        return summary

    async def _poll(self) -> dict[str, Any]:
        """Return the crawl's progress; empty if the coordinator does not respond."""
        stop, choosy = self._stopping or bool(self._failed), self.request.options.choosy
        given = self.session, self.shards, self._slots, choosy, self.budget, stop
        return dict(await self._call(COORDINATOR, "progress", *given) or {}) if not self._gone() else {}

    async def _call(self, number: int, method: str, *given: Any) -> Any:
        """Call a method of a host; return None if it cannot be reached."""
        with suppress(Unreachable, TimeoutError):
            async with asyncio.timeout(HOST_TIMEOUT_SECONDS):
                return await self.hosts.call(number, method, *given)

    async def _call_all(self, method: str, *given: Any) -> list[Any]:
        return await asyncio.gather(*(self._call(n, method, self.session, *given) for n in range(self.shards)))

    async def add_labels(self, labels: Sequence[Label]) -> bool:
        """Record labels in the crawl's own log, then in those of the shards, with retries.

        Returns False while there is no log to write to.
        """
        if self._merger is None:
            return False
        self._new_labels += await self._on_files(append_labels, self._merger.log, labels)
        return True

    async def _send_labels(self, merger: Merger) -> None:
        """Send new labels to the shards; merge their relevances once all have received them."""
        behind = [number for number, sent in self._labels_sent.items() if sent < len(self._new_labels)]
        for number in behind:
            with suppress(Unreachable, TimeoutError):
                async with asyncio.timeout(HOST_TIMEOUT_SECONDS):
                    upto = len(self._new_labels)
                    labels = self._new_labels[self._labels_sent[number] :]
                    await self.hosts.call(number, "add_labels", self.session, labels)
                    self._labels_sent[number] = upto
        if behind and all(sent == len(self._new_labels) for sent in self._labels_sent.values()):
            await self._on_files(merger.settle)

    async def query(self, query: Callable[[Engine], T]) -> list[T]:
        return [summary for summary in await self._call_all("ask", query) if summary is not None]

    async def _end_shards(self) -> None:
        """End all shards in any state, so that no process writes in the directory afterwards."""
        while self._running:
            await self._call_all("end")
            done, left = await asyncio.wait(self._running, timeout=HOST_TIMEOUT_SECONDS)
            self._running = list(left)
            for run in done:
                run.exception()  # retrieve the exception to avoid a warning of asyncio
        if self.shards and not self._gone():
            await self._call(COORDINATOR, "end", self.session)


def _labels(log: SqliteLog) -> list[Label]:
    return log.labels()
