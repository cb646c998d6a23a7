"""A running crawl: opened from its settings, updated with labels, and reopened when its settings change."""

from __future__ import annotations

import asyncio
import json
import re
import shutil
import time
import traceback
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import aclosing, closing, contextmanager, nullcontext, suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from lycosa.collection.judging import judge, learn
from lycosa.collection.pages import PageArray
from lycosa.core.budget import EXHAUSTED, LEFT_ALONE, REQUESTS_SPENT, STOPPED, format_spending, requests_for
from lycosa.core.durations import parse_duration
from lycosa.core.engine import Engine
from lycosa.core.errors import LycosaError, StoreError
from lycosa.core.options import Options
from lycosa.core.protocols import Clock
from lycosa.core.types import Label
from lycosa.crawling import Crawl
from lycosa.crawling.request import CrawlRequest
from lycosa.crawling.runners import RemoteCrawl, RemoteHosts, collect_shards, join_shards
from lycosa.drawing.formats import printable
from lycosa.judges import DEFAULT
from lycosa.revisit.revisit_scheduler import RevisitPlan
from lycosa.store.directory import CONFIG, COPIED_FILES, Directory
from lycosa.store.log import NAME, SqliteLog, append_labels, missing_labels
from lycosa.web.politeness import SharedPoliteness
from lycosa_server import messages
from lycosa_server.crawler import live
from lycosa_server.logs import log
from lycosa_server.people.crawls import Ending
from lycosa_server.people.database import Row
from lycosa_server.people.interest_settings import (
    AUTOMATIC,
    REVISIT_SETTINGS,
    InterestSettings,
    crawl_options,
    stricter,
)
from lycosa_server.settings import Settings, hide_data_directory
from lycosa_server.unseen_changes import changes_since
from lycosa_server.validation import OPERATOR_OPTIONS

LEARNING_PAUSE_SECONDS = 1.0  # minimum pause between updates from labels; longer if an update takes long
MAX_STOP_SECONDS = 10.0  # maximum time that a stopping crawl waits for requests in flight
MAX_REASON_CHARACTERS = 500
# Free bytes at which crawls stop, because a full disk would even prevent deletions.
MIN_FREE_BYTES = 50_000_000


@dataclass(slots=True)
class CrawlEnvironment:
    settings: Settings
    clock: Clock
    authority: SharedPoliteness
    wall: Clock = time.time  # wall clock for comparison with other processes; it may be adjusted at any time
    # Logs are read one at a time, so that the first crawl starts soon.
    opening: asyncio.Lock = field(default_factory=asyncio.Lock)
    hosts: RemoteHosts | None = None  # hosts of the shards of crawls on a cluster


class RunningCrawl:
    on_cluster = False
    in_flight = 0  # requests in flight in other processes

    def __init__(
        self,
        row: Row,
        catalogue: list[str],
        labels: list[Label],
        environment: CrawlEnvironment,
        files: Mapping[str, str] = COPIED_FILES,
    ) -> None:
        self.id: str = row["id"]
        self.row = row
        self.budget: int = row["budget"]
        self.pages: int = row["pages"]
        self.relevant: int = row["relevant"]
        self.labels = labels  # labels to be added to its log
        self.last_label: int = row["last_label"]  # number of the last label in its log
        self.judge_request: Row | None = row if row["judging"] else None  # pending request to judge its pages again
        self.seen_requests: int = row["judge_requests"]  # number of such requests processed so far
        self.judge_result: tuple[int, int, str] | None = None  # to be stored: request, last label, failure
        self.stopped_at = 0.0
        self.opened_at = 0.0
        self.opening_seconds = self.learning_seconds = 0.0
        self.learned_at = 0.0
        self.engine: Engine | None = None
        self._task: asyncio.Task[Ending] | None = None
        self._catalogue = catalogue
        self._model_files = files  # files of the owner's models
        self._environment = environment
        self._directory = environment.settings.crawl_directory(self.id)
        self._crawl: Crawl | RemoteCrawl | None = None
        self._reopening = self._cancelled = False
        self._live_written_at = 0.0
        self._changes = 0
        self._disk_full = ""

    def start(self) -> None:
        self._task = asyncio.create_task(self.run(), name=f"crawl {self.id}")

    @property
    def is_over(self) -> bool:
        return self._task is not None and self._task.done()

    def result(self) -> Ending:
        assert self._task is not None
        return self._task.result()

    def cancel(self) -> None:
        if self._task is not None and not self._cancelled:
            self._cancelled = True
            self._task.cancel()

    async def ended(self, seconds: float) -> None:
        if self._task is not None:
            await asyncio.wait({self._task}, timeout=seconds)
            self.cancel()
            await asyncio.wait({self._task})

    async def run(self) -> Ending:
        ending = await self._run()
        if self.engine is not None:
            with suppress(LycosaError):
                ending.pages, ending.relevant = await asyncio.to_thread(count_pages, self._directory, self.row)
        return ending

    async def _run(self) -> Ending:
        try:
            self._check_free_space()
            reason = await self._run_sessions()
            if self._disk_full:
                raise StoreError(self._disk_full)
            if self.row["task"] == "refresh":
                # since this refresh began, including interruptions
                changes = await asyncio.to_thread(changes_since, self._directory, self.row["started"] or 0.0)
                self._changes = changes or 0
        except asyncio.CancelledError:  # requests in flight are not recorded, so the next run repeats them
            return self._ending(STOPPED)
        except LycosaError as error:
            return self._ending(str(error), failed=True)
        except Exception as bug:  # a bug that affects this crawl only
            log("crawl crashed", crawl=self.id, error=f"{type(bug).__name__}: {bug}", traceback=traceback.format_exc())
            return self._ending(f"{type(bug).__name__}: {bug}", failed=True)
        finally:
            (self._directory / live.FILE_NAME).unlink(missing_ok=True)
        return self._ending(reason)

    async def _run_sessions(self) -> str:
        while not self.stopped_at:
            crawl = await self._open()
            if crawl is None:
                break
            try:
                async with aclosing(aiter(crawl)) as turns:  # closes the crawl in any case
                    async for turn in turns:
                        await self._on_turn(turn)
            finally:
                self._update_counts()
            reason = self._outcome()[0] or STOPPED
            if reason != STOPPED or not self._reopening:
                return reason
        return STOPPED

    async def _open(self) -> Crawl | RemoteCrawl | None:
        environment, self._reopening = self._environment, False
        # false if it never started, or was killed before it wrote its configuration
        begun = (self._directory / CONFIG).exists()
        async with environment.opening if begun else nullcontext():
            if self.stopped_at:
                return None
            now = environment.clock()
            if begun:
                if not self.on_cluster:
                    await run_uninterrupted(join_shards, self._directory)  # the last run may have been on a cluster
                await self._judge(now)
            else:
                self._set_judge_result([], self.judge_request)
            crawl = self._crawl = await self._create(self._request(begun))
            self.opened_at = environment.clock()
            self.opening_seconds = self.opened_at - now
        self.set_budget(self.budget)
        self._update_counts()
        return crawl

    async def _create(self, request: CrawlRequest) -> Crawl | RemoteCrawl:
        crawl = Crawl(request)
        self.engine = await crawl.open()
        return crawl

    async def _on_turn(self, turn: Any) -> None:
        self._update_counts()
        await asyncio.sleep(0)  # yield to other crawls after every page

    async def _judge(self, now: float) -> None:
        """Record labels before the crawl is opened, so that its judge learns from them; judge again if requested."""
        labels, request, failed = self.labels, self.judge_request, ""
        if request is not None and request["judging"] != "labels":
            try:
                await run_uninterrupted(judge_again, self._directory, request, labels, now, self._model_files)
            except LycosaError as error:  # the crawl continues as before
                failed = hide_data_directory(self._environment.settings, str(error))
        if record_labels(self._directory, labels) is not None:
            self._set_judge_result(labels, request, failed)

    def _set_judge_result(self, labels: list[Label], request: Row | None, failed: str = "") -> None:
        self.labels = self.labels[len(labels) :]
        self.last_label = int(labels[-1].by) if labels else self.last_label
        requests = request["judge_requests"] if request else 0
        self.judge_result = (requests, self.last_label, failed[:MAX_REASON_CHARACTERS])
        self.judge_request = None if self.judge_request is request else self.judge_request

    def _request(self, resuming: bool) -> CrawlRequest:
        """Return the crawl request; a resumed crawl keeps its options, except the operator's and new seeds."""
        row, options, revisit_plan = self.row, self._options(), None
        if resuming:
            begun = Directory.read_options(self._directory)
            changes = {name: options[name] for name in ("log_file", "respect_opt_outs", "seeds", *OPERATOR_OPTIONS)}
            if row["task"] == "refresh":
                first = [re.escape(piece) for piece in json.loads(row["revisit_first"])]
                everything, began = bool(row["everything"]), row["started"] or 0.0
                revisit_plan = RevisitPlan(once=True, everything=everything, now=first, began=began)
                changes |= {name: options[name] for name in REVISIT_SETTINGS}
                # Pages not matched by the settings are due once per `revisit_every`, or practically never.
                every = parse_duration(row["revisit_every"]) if row["revisit_every"] else 3_650 * 86_400.0
                changes["schedule"] = "automatic" if everything else f"fixed,every={every:.0f}s"
            else:
                changes["budget"] = self.budget
            options = {**vars(begun), **changes}
        chosen = Options.from_mapping(options, "the interest's settings")
        clock, authority = self._environment.clock, self._environment.authority
        shared: dict[str, Any] = {"clock": clock, "authority": authority}
        return CrawlRequest(chosen, self._directory, resuming=resuming, revisit_plan=revisit_plan, **shared)

    def _options(self) -> dict[str, Any]:
        wanted, server = InterestSettings.from_json(self.row["settings"]), self._environment.settings
        own = {name: getattr(server, name) for name in OPERATOR_OPTIONS} | {"allow_network": list(server.allow_network)}
        own["respect_opt_outs"] = stricter(wanted.respect_opt_outs, server.respect_opt_outs)
        return crawl_options(wanted, self._catalogue, budget=self.budget, files=self._model_files, **own)

    def stop(self) -> None:
        self.stopped_at = self.stopped_at or self._environment.clock()
        if self._crawl is not None:
            self._crawl.stop()

    def set_budget(self, budget: int) -> None:
        self.budget = budget
        if self.engine is not None and self.row["task"] == "crawl":
            picker = self.engine.picker
            picker.budget = replace(picker.budget, pages=budget, requests=requests_for(budget))

    def judge(self, row: Row, labels: list[Label], files: Mapping[str, str]) -> None:
        self.judge_request, self.seen_requests, self._model_files = row, row["judge_requests"], files
        self.labels = [*self.labels, *labels]

    @property
    def last_received_label(self) -> int:
        return int(self.labels[-1].by) if self.labels else self.last_label

    def tick(self, now: float) -> None:
        request = self.judge_request
        if request is not None and request["judging"] != "labels":  # a person waits for the result
            if self._crawl is not None and now >= self.opened_at + max(LEARNING_PAUSE_SECONDS, self.opening_seconds):
                self._reopen(now)
        elif (self.labels or request) and now >= self.learned_at + max(
            LEARNING_PAUSE_SECONDS, 5 * self.learning_seconds
        ):
            self.learned_at = now
            self._learn(now)
        if self.engine is not None and not self.stopped_at and now >= self._live_written_at + 1.0:
            self._live_written_at = now
            self._check_free_space()
            live.LiveState.of(self.engine, now, self._environment.wall() - now).write(self._directory)

    def _reopen(self, now: float) -> None:
        self.opened_at = now
        self._reopening = True
        if self._crawl is not None:
            self._crawl.stop()

    def _learn(self, now: float) -> None:
        engine, labels, request = self.engine, self.labels, self.judge_request
        if engine is None or engine.ending or self.is_over or not isinstance(engine.log, SqliteLog):
            return
        begun = self._environment.clock()
        try:
            engine.add_labels(missing_labels(engine.log, labels))
        except Exception:  # includes bugs of judges; reopening the crawl reports the error
            self._reopen(now)
            return
        self.learning_seconds = self._environment.clock() - begun
        self._set_judge_result(labels, request)
        self._update_counts()

    def _check_free_space(self) -> None:
        free = shutil.disk_usage(self._environment.settings.data).free
        if free < MIN_FREE_BYTES and not self.stopped_at:
            self._disk_full = (
                f"the server's disk has only {free / 1e6:,.0f} MB left: delete what is not needed, or tell who runs "
                "this server; then resume"
            )
            self.stop()

    def _update_counts(self) -> None:
        if self.engine is not None:
            self.pages, self.relevant = self.engine.tally.pages, self.engine.tally.relevant

    def _outcome(self) -> tuple[str, str, Mapping[str, int]]:
        engine = self.engine
        return ("", "", {}) if engine is None else (engine.ending, engine.tally.complaint, engine.tally.spent)

    def _ending(self, reason: str, *, failed: bool = False) -> Ending:
        _, complaint, requests = self._outcome()
        if not self.pages and complaint and reason in (EXHAUSTED, LEFT_ALONE):
            reason, failed = messages.explain_no_pages(complaint), True
        spent = f": {format_spending(requests)}" if requests and reason == REQUESTS_SPENT else ""
        reason = hide_data_directory(self._environment.settings, messages.ENDINGS.get(reason, reason) + spent)
        text = printable(reason, " ")[:MAX_REASON_CHARACTERS]
        return Ending(text, failed, self.budget, self.pages, self.relevant, self._changes)


async def run_uninterrupted(work: Callable[..., object], *given: object) -> None:
    """Run a function in a thread; cancelled callers wait for it, because it may be using the directory."""
    doing = asyncio.ensure_future(asyncio.to_thread(work, *given))
    try:
        await asyncio.shield(doing)
    except asyncio.CancelledError:
        await asyncio.wait({doing})
        raise


def judge_again(
    directory: Path, row: Row, labels: Iterable[Label], now: float, files: Mapping[str, str] = COPIED_FILES
) -> int | None:
    """Judge pages again, atomically, and return the number of relevant ones; None if nothing was fetched.

    No other process may write to the directory. `files` are the owner's models.
    """
    if not (directory / NAME).exists():
        return None
    collect_shards(directory)
    judging, settings = row["judging"], InterestSettings.from_json(row["settings"])
    if record_labels(directory, labels) or judging == "labels":
        with _open_log(directory) as (opened, log):
            learn(opened, log, now)  # by the crawl's own judge
    if judging == "labels":
        pass
    elif judging == "threshold":
        judge(directory, threshold=settings.threshold, keep=True, now=now)
    elif settings.model:
        line = settings.threshold or None
        judge(directory, model=Path(files["model"]), targets=settings.targets, threshold=line, keep=True, now=now)
    else:
        named = DEFAULT if settings.judge == AUTOMATIC else settings.judge
        topic: dict[str, Any] = {"examples": settings.examples, "threshold": settings.threshold, "judge": named}
        judge(directory, settings.words, **topic, keep=True, now=now)
    return count_pages(directory, row)[1]


def record_labels(directory: Path, labels: Iterable[Label]) -> int | None:
    if not (directory / NAME).exists():
        return None
    with _open_log(directory) as (_, log):
        return len(append_labels(log, labels))


@contextmanager
def _open_log(directory: Path) -> Iterator[tuple[Directory, SqliteLog]]:
    with closing(Directory.open(directory)) as opened, closing(opened.log()) as log:
        yield opened, log


def count_pages(directory: Path, row: Row) -> tuple[int, int]:
    if not (directory / NAME).exists():
        return int(row["pages"]), int(row["relevant"])
    with closing(SqliteLog(directory / NAME, readonly=True)) as log:
        pages = PageArray.read(log)
        return len(pages), int(pages.relevant.sum())
