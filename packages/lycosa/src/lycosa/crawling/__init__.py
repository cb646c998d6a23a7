"""Run crawls: `lycosa.crawl(...)`, `resume`, `refresh` and `watch`; the command line is a thin layer over these."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Iterable, Iterator, Mapping
from contextlib import AsyncExitStack, aclosing
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from lycosa.core import blas_threads as threads
from lycosa.core.engine import Engine
from lycosa.core.errors import InputError
from lycosa.core.options import Options
from lycosa.core.protocols import Clock, Estimator, Judge, Space, Strategy
from lycosa.core.types import Visit
from lycosa.crawling.assembly import assemble
from lycosa.crawling.crawl_files import BackgroundIndexer, CrawlFiles, DiskGuard, SnapshotWriter
from lycosa.crawling.crawl_log import NONE, CrawlLog
from lycosa.crawling.functions import EstimatorFunction, JudgeFunction, SpaceFunction, as_judge, as_space, as_strategy
from lycosa.crawling.request import CrawlRequest
from lycosa.crawling.runners import join_shards
from lycosa.revisit.revisit_scheduler import RevisitPlan
from lycosa.spaces.making import wall_clock
from lycosa.store.directory import Directory
from lycosa.store.log import SqliteLog, current_labels
from lycosa.web.politeness import SharedPoliteness

if TYPE_CHECKING:
    from lycosa.revisit.notify import Notifier


def crawl(
    topic: str | Judge | JudgeFunction = "",
    seeds: str | Iterable[str] = (),
    *,
    out: str | Path | None = None,
    strategy: str | Estimator | Strategy | EstimatorFunction = "",
    space: str | Space | SpaceFunction | None = None,
    clock: Clock | None = None,
    config: str | Path | None = None,
    authority: SharedPoliteness | None = None,
    **options: Any,
) -> Crawl:
    """Return a new crawl; iterate over it to run it and get each `Visit`.

    `topic`, `strategy` and `space` may be your own objects or plain functions. The default strategy depends on the
    space (scent on the web) and the `config` file. Without `out` nothing is written to disk. Crawls in one process that
    share an `authority` share politeness delays. The other options are those of `lycosa crawl --help`, with
    underscores.

    >>> from lycosa.spaces.graph import GraphSpace
    >>> from lycosa.judges.space_judge import SpaceJudge
    >>> graph = GraphSpace({"a": ["b", "c"], "c": ["d"]}, relevance={"c": 1, "d": 1})
    >>> [visit.node for visit in crawl(SpaceJudge(), ["a"], space=graph, strategy="breadth-first")]
    ['a', 'b', 'c', 'd']
    """
    base = Options.load(Path(config)) if config is not None else Options()
    chosen = replace(base, seeds=([seeds] if isinstance(seeds, str) else list(seeds)) or base.seeds)
    if isinstance(topic, str) and topic:
        chosen.topic = topic
    if isinstance(strategy, str) and strategy:
        chosen.strategy = strategy
    if isinstance(space, str):
        chosen.space = space
    settings = Options.from_mapping({**vars(chosen), **options}, "crawl()")
    clock = clock or wall_clock()
    request = CrawlRequest(
        settings,
        Path(out) if out is not None else None,
        own_judge=None if isinstance(topic, str) else as_judge(topic, settings.threshold),
        strategy=None if isinstance(strategy, str) else as_strategy(strategy),
        space=None if isinstance(space, str) else as_space(space, clock),
        clock=clock,
        authority=authority,
    )
    return Crawl(request)


def resume(
    out: str | Path,
    *,
    topic: Judge | JudgeFunction | None = None,
    strategy: Estimator | Strategy | EstimatorFunction | None = None,
    space: Space | SpaceFunction | None = None,
    clock: Clock | None = None,
    authority: SharedPoliteness | None = None,
    **changes: Any,
) -> Crawl:
    """Continue the crawl in a directory; `changes` to its options, such as a larger budget, are saved.

    Your own objects of the crawl, if any, have to be passed again.
    """
    return _again(out, "resume()", changes, clock, topic=topic, strategy=strategy, space=space, authority=authority)


def refresh(
    out: str | Path,
    *,
    everything: bool = False,
    now: Iterable[str] = (),
    requests: int = 0,
    began: float = 0.0,
    topic: Judge | JudgeFunction | None = None,
    space: Space | SpaceFunction | None = None,
    clock: Clock | None = None,
    authority: SharedPoliteness | None = None,
    **changes: Any,
) -> Crawl:
    """Revisit the pages of a directory that are due, or `everything`, and end when nothing more is due.

    Iterate over it to get each `Visit`; `lycosa.change_of(visit)` returns how its page has changed. `now` are patterns
    of URLs to revisit first, due or not. `began` is the start time of an interrupted refresh to continue. `changes` to
    the crawl's options are saved.
    """
    revisit_plan = RevisitPlan(once=True, everything=everything, now=list(now), requests=requests, began=began)
    own = {"topic": topic, "space": space, "authority": authority}
    return _again(out, "refresh()", changes, clock, revisit_plan=revisit_plan, **own)


def watch(
    out: str | Path,
    *,
    now: Iterable[str] = (),
    requests: int = 0,
    topic: Judge | JudgeFunction | None = None,
    space: Space | SpaceFunction | None = None,
    clock: Clock | None = None,
    **changes: Any,
) -> Crawl:
    """Keep the pages of a directory fresh, with up to `per_hour` requests an hour, until stopped."""
    revisit_plan = RevisitPlan(now=list(now), requests=requests)
    return _again(out, "watch()", changes, clock, revisit_plan=revisit_plan, topic=topic, space=space)


def _again(out: str | Path, called: str, changes: Mapping[str, Any], clock: Clock | None, **arguments: Any) -> Crawl:
    path = Path(out)
    options = Options.from_mapping({**vars(Directory.read_options(path)), **changes}, called)
    if "revisit_plan" in arguments:
        join_shards(path)
    clock = clock or wall_clock()
    arguments["own_judge"] = as_judge(arguments.pop("topic", None), options.threshold)
    arguments["space"] = as_space(arguments.get("space"), clock)
    arguments["strategy"] = as_strategy(arguments.get("strategy"))
    return Crawl(CrawlRequest(options, path, clock=clock, resuming=True, **arguments))


class Crawl:
    """A crawl, new or resumed: an iterator over its visits for `for` and `async for`.

    While it runs, `engine` shows its progress: `engine.tally`, `engine.frontier`, `engine.in_flight`.
    """

    def __init__(self, request: CrawlRequest) -> None:
        self.request = request
        self.path = request.path
        self.engine: Engine | None = None
        self.notes: list[str] = request.notes
        """Messages for the user, such as files moved away and seeds out of scope."""
        self.batch_arrivals = False
        """Record pages that arrive together in one batch, which is faster. Only for callers that iterate to the end: a
        caller that stops early misses visits that are recorded but not yielded.
        """
        self.labels_learned_from = 0  # number of labels that the judge has learned from
        self.failure = ""
        """Reason why the crawl was stopped from outside (proxy gone, disk full); empty otherwise."""
        self._files = CrawlFiles(request)
        self._notifier: Notifier | None = None
        self._snapshots: SnapshotWriter | None = None
        self._crawl_log: CrawlLog | None = None
        self._follower: BackgroundIndexer | None = None
        self._disk_guard: DiskGuard | None = None
        self._is_open = self._stopping = self._working = False
        self._running: AsyncGenerator[Visit, None] | None = None
        request.on_failure = self._fail

    @property
    def options(self) -> Options:
        return self.request.options

    @property
    def command(self) -> str:
        """Subcommand of `lycosa` that continues the crawl."""
        return self.request.command

    async def open(self) -> Engine:
        """Prepare the crawl without fetching pages; otherwise done on the first iteration."""
        request, files = self.request, self._files
        try:
            self._work(True)
            assembly = await assemble(request, files)
            if driven := getattr(assembly.engine.space, "driven", ""):
                crawl = request.path or "this crawl"
                raise InputError("driven-crawl", f"{crawl} is run by {driven}: continue it there")
            self.engine = assembly.engine
            if request.revisit_plan is not None:
                self._notifier = self._make_notifier()
                self._notifier.start()
            await assembly.replay_log()
            self.engine = assembly.engine
            if request.revisit_plan is None and request.path is not None:
                self._snapshots = SnapshotWriter(request, files, assembly.engine)
            self._open_crawl_log(assembly.engine)
            if request.path is not None:
                self._disk_guard = DiskGuard(request.path, request.options.max_disk)
            if request.path is not None and request.options.index:
                self._follower = BackgroundIndexer(request.path, assembly.engine.tally.pages)
            if request.resuming and isinstance(files.log, SqliteLog):
                self.labels_learned_from = len(current_labels(files.log))
        except BaseException:
            await self.close()
            raise
        self._is_open = True
        return assembly.engine

    def _open_crawl_log(self, engine: Engine) -> None:
        request, log = self.request, self._files.log
        if request.path is None or not isinstance(log, SqliteLog) or request.options.log_file == NONE:
            return
        self._crawl_log = CrawlLog(request.options, request.path, log, engine.table)
        self._crawl_log.note = self.notes.append
        self._crawl_log.open(request.progress)

    def _work(self, working: bool) -> None:
        if working != self._working:
            self._working = working
            threads.limit_threads() if working else threads.restore_threads()

    def _make_notifier(self) -> Notifier:
        from lycosa.revisit.diff import Excerpts
        from lycosa.revisit.notify import Notifier

        request, log = self.request, self._files.log
        assert isinstance(log, SqliteLog)
        assert request.path is not None
        excerpts = Excerpts(self._files.versions())
        return Notifier(request.path, log, request.options, self.notes.append, excerpts)

    def __aiter__(self) -> AsyncGenerator[Visit, None]:
        """Run the crawl and yield recorded visits."""
        self._running = self._run()
        return self._running

    async def _run(self) -> AsyncGenerator[Visit, None]:
        engine = self.engine if self._is_open and self.engine is not None else await self.open()
        try:
            if self._stopping:
                engine.stop()
            engine.batch_arrivals = self.batch_arrivals
            async with aclosing(engine.run()) as visits:
                async for visit in visits:
                    if self._notifier is not None and "change" in visit.data:
                        self._notifier.news()
                    if self._snapshots is not None:
                        self._snapshots.visited(visit)
                    if self._crawl_log is not None:
                        self._crawl_log.visited(visit, engine.number)
                    if self._follower is not None:
                        self._follower.visited(visit)
                    if self._disk_guard is not None and (lacking := self._disk_guard.visited(visit)):
                        self._fail(lacking)
                    yield visit
            if self._snapshots is not None:
                self._snapshots.finish()
        finally:
            await self.close()

    def __iter__(self) -> Iterator[Visit]:
        """Run the crawl without asyncio. Nothing is fetched while the loop's body runs, so keep it short."""
        if asyncio._get_running_loop() is not None:
            raise InputError("event-loop-running", "an event loop is running (a notebook?): use 'async for' instead")
        with asyncio.Runner() as runner:
            visits = aiter(self)
            turn = list[Visit]()

            async def take() -> None:  # Returns nothing, as asyncio would format the results of tasks for debugging.
                turn[:] = [await anext(visits)]

            try:
                while True:
                    try:
                        runner.run(take())
                    except StopAsyncIteration:
                        break
                    yield turn.pop()
            finally:
                runner.run(visits.aclose())

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *exception: object) -> None:
        if self._running is not None:
            await self._running.aclose()
            self._running = None
        if self._is_open:  # the loop never started
            await self.close()

    def stop(self) -> None:
        """Stop the crawl as soon as the visits in flight have arrived."""
        self._stopping = True
        if self.engine is not None:
            self.engine.stop()

    def _fail(self, why: str) -> None:
        if not self.failure:
            self.failure = why
            self.notes.append(f"{why}: the crawl was stopped")
        self.stop()

    async def close(self) -> None:
        """Send pending notifications and close connections and files, each even if the others fail."""
        space, notifier = self.request.space, self._notifier
        self._is_open, self._notifier, self._snapshots = False, None, None
        if self._follower is not None:
            self._follower.close()
        self._work(False)
        async with AsyncExitStack() as last_first:
            last_first.callback(self._files.close)
            if self._crawl_log is not None:
                last_first.callback(self._crawl_log.close)
            if space is not None:
                self.notes += getattr(space, "notes", [])
                last_first.push_async_callback(space.close)
            if notifier is not None:
                last_first.push_async_callback(notifier.close)
