"""The main loop of the crawl process, which runs crawls as set in the database.

Notifications from the web process wake it; without one it checks the database every few seconds. The process may be
killed at any time: fetched pages are in the crawls' logs, and the next process takes over crawls left in the state
`running`. While the database is unavailable, crawls continue; their endings are written when it is back.
"""

from __future__ import annotations

import asyncio
import gc
import json
import os
import time
import traceback
from collections.abc import Callable, Coroutine
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from functools import partial
from typing import ParamSpec, TypeVar

from lycosa.core.budget import STOPPED
from lycosa.core.errors import LockedError, LycosaError
from lycosa.core.protocols import Clock
from lycosa.core.types import Label
from lycosa.crawling.runners import RemoteHosts, collect_shards, runner
from lycosa.spaces.making import wall_clock
from lycosa.store.directory import COPIED_FILES
from lycosa.store.log import Lock
from lycosa.web.politeness import SharedPoliteness
from lycosa_server.crawler import live
from lycosa_server.crawler.clustered import RunningClusterCrawl
from lycosa_server.crawler.operator import OperatorNotifier
from lycosa_server.crawler.running import (
    MAX_REASON_CHARACTERS,
    MAX_STOP_SECONDS,
    CrawlEnvironment,
    RunningCrawl,
    count_pages,
    judge_again,
)
from lycosa_server.logs import log
from lycosa_server.people import catalogue, crawls, erasing, feedback, notices
from lycosa_server.people.crawls import Ending, crawls_to_start
from lycosa_server.people.database import Database, Row
from lycosa_server.people.interest_settings import InterestSettings
from lycosa_server.settings import Settings, hide_data_directory
from lycosa_server.training import TrainingQueue

TICK_SECONDS = 0.5  # interval of checks of running crawls
POLL_SECONDS = 5.0  # interval of polling the database if no notification arrives
HEARTBEAT_SECONDS = 1.0  # interval of heartbeats and of updates of counts
SCHEDULE_SECONDS = 5.0  # interval of checks for due refreshes
JUDGING_PAUSE_SECONDS = 2.0  # minimum pause between judgings of idle crawls; longer if judging takes long
MAX_REQUESTS = 128  # requests in flight over all crawls
P = ParamSpec("P")
T = TypeVar("T")

Counts = tuple[int, int]  # pages and relevant pages


class CrawlProcess:
    def __init__(
        self, settings: Settings, database: Database, clock: Clock | None = None, hosts: RemoteHosts | None = None
    ) -> None:
        self.settings = settings
        self.database = database
        self.clock = clock or wall_clock()
        self.authority = SharedPoliteness(self.clock, started_at=self.clock(), max_in_flight=MAX_REQUESTS)
        self.environment = CrawlEnvironment(settings, self.clock, self.authority, clock or time.time)
        self.environment.hosts = hosts or _hosts(settings)
        self.running: dict[str, RunningCrawl] = {}
        self.pending_endings: dict[str, tuple[Row, Ending, float]] = {}  # not in the database yet, with times
        # idle crawls being judged again, one at a time
        self.judging: dict[str, asyncio.Task[None]] = {}
        self.database_error = ""  # reason for its unavailability; empty if it is available
        self.rounds = 0
        self.messages = OperatorNotifier(settings.notify)
        self.training = TrainingQueue(settings, database)
        self._started = self.clock()
        self._stopping = False
        self._wake_event = asyncio.Event()
        self._next_poll = 0.0  # time of the next check of the database
        self._heartbeat_at = self._scheduled = 0.0
        self._thread = ThreadPoolExecutor(1, "database")  # never blocks crawls
        self._fetched = 0
        self._written_counts: dict[str, Counts] = {}
        self._judge_not_before: dict[str, float] = {}

    async def run(self) -> None:
        """Run until `stop()`; crawls then stop gently and stay `running` in the database for the next process."""
        directory = self.settings.data / "crawls"
        directory.mkdir(parents=True, exist_ok=True)
        try:
            lock = Lock(directory)
        except LockedError as error:
            raise LockedError(f"{self.settings.data} is in use by another crawl process: stop it first") from error
        log("crawl process started", data=str(self.settings.data))
        tasks = {
            asyncio.create_task(_restart_on_failure(self.training.run_queued)),
            asyncio.create_task(_restart_on_failure(self.messages.run)),
        }
        if self.environment.hosts is not None:
            tasks.add(asyncio.create_task(_open_hosts(self.environment.hosts)))
        try:
            while not self._stopping:
                self._wake_event.clear()
                try:
                    await self.tick()
                except LycosaError as error:  # a database error; writes are repeated
                    self._on_database_error(error)
                except Exception as bug:  # crawls continue, and the next round may succeed
                    log("look failed", "error", error=repr(bug), traceback=traceback.format_exc())
                with suppress(TimeoutError):
                    async with asyncio.timeout(TICK_SECONDS):
                        await self._wake_event.wait()
        finally:
            try:
                for task in tasks:
                    task.cancel()
                await asyncio.wait(tasks)
                await self._end_all()
                with suppress(TimeoutError):
                    async with asyncio.timeout(5):
                        await self.messages.send()
                if self.environment.hosts is not None:
                    await self.environment.hosts.close()
            finally:
                lock.release()
                self._thread.shutdown()
                log("crawl process ended")

    def stop(self) -> None:
        self._stopping = True
        self._wake_event.set()

    def wake(self, notice: bytes = b"") -> None:
        self._next_poll = 0.0
        self._wake_event.set()
        self.training.queued.set()

    async def tick(self) -> None:
        self.rounds += 1
        now = self.clock()
        for running in self.running.values():
            if running.is_over:
                continue  # the live state is already removed
            try:
                running.tick(now)
            except OSError as error:
                log("cannot show how a crawl is", crawl=running.id, error=str(error))
        self._collect()
        counts = {crawl: (each.pages, each.relevant) for crawl, each in self.running.items()}
        await self._in_thread(self._write, self._report(), counts)
        if (
            now < self._next_poll
            and not self.database_error
            and not any(it.judge_result or it.stopped_at for it in self.running.values())
        ):
            return
        self._next_poll = now + POLL_SECONDS
        rows, deleted_crawls, judging = await self._in_thread(self._read_database)
        if self.database_error:
            log("database back")
            self.database_error = ""
        await self._update_running({row["id"]: row for row in rows}, now)
        await self._resume_interrupted(rows)
        await self._start(rows)
        await self._judge(judging, now)
        await self._remove([crawl for crawl in deleted_crawls if crawl not in self.running])

    # Database access, in its own thread.

    async def _in_thread(self, work: Callable[P, T], *given: P.args, **named: P.kwargs) -> T:
        return await asyncio.get_running_loop().run_in_executor(self._thread, partial(work, *given, **named))

    def _write(self, report: dict[str, int], counts: dict[str, Counts]) -> None:
        for crawl, ended in list(self.pending_endings.items()):
            self._write_ending(*ended)
            del self.pending_endings[crawl]
        now = self.clock()
        if now < self._heartbeat_at + HEARTBEAT_SECONDS:
            return
        wall, stats = self.environment.wall(), json.dumps(report)
        beat = {"pid": os.getpid(), "started": self._started, "heartbeat": wall, "stats": stats}
        with self.database.transaction():
            self.database.upsert("process", {"name": "crawler", **beat}, ["name"], list(beat))
            for crawl, got in sorted(counts.items()):
                if got != self._written_counts.get(crawl):
                    crawls.update_counts(self.database, crawl, *got)
        self._heartbeat_at, self._written_counts = now, counts

    def _write_ending(self, row: Row, ending: Ending, at: float) -> None:
        """Write an ending and its notice in one transaction, so that neither is lost or repeated."""
        with self.database.transaction():
            state = crawls.end(self.database, at, row["id"], ending)
            notice, interest = ending_notice(row, ending, state), self.database.get("interest", row["interest"])
            if notice is not None and interest is not None:
                notices.notify(self.database, at, interest["owner"], *notice, interest["id"])
                self.messages.add(notice[1])
        log("crawl ended", crawl=row["id"], state=state or "gone", reason=ending.reason, pages=ending.pages)

    def _read_database(self) -> tuple[list[Row], list[str], list[Row]]:
        database, now = self.database, self.clock()
        if now >= self._scheduled + SCHEDULE_SECONDS:
            for crawl in crawls.schedule(database, now):
                log("crawl due", crawl=crawl)
            self._scheduled = now
        return crawls.under_way(database), erasing.deleted_crawls(database), crawls.to_judge(database)

    def _collect(self) -> None:
        over = [crawl for crawl, running in self.running.items() if running.is_over]
        for crawl in over:
            running = self.running.pop(crawl)
            self._fetched += running.pages - running.row["pages"]
            self.pending_endings[crawl] = running.row, running.result(), self.clock()
            del running
        if over:
            self._next_poll = 0.0  # other crawls may start
            # Engines are a few large objects in reference cycles. As Python counts objects and not bytes, dozens of
            # engines would stay in memory. A collection takes 20 ms with small crawls.
            gc.collect()

    async def _update_running(self, rows: dict[str, Row], now: float) -> None:
        for crawl, running in self.running.items():
            row = rows.get(crawl)
            if row is None:  # deleted
                running.cancel()
                continue
            if row["wanted"] != "run":
                running.stop()
                if now > running.stopped_at + MAX_STOP_SECONDS:
                    running.cancel()
                continue
            if row["budget"] != running.budget:
                running.set_budget(row["budget"])
            if (judged := running.judge_result) is not None:
                request, last_label, failed = judged
                done = partial(crawls.record_judged, last_label=last_label, failed=failed)
                await self._in_thread(done, self.database, crawl, request)
                running.judge_result = None if running.judge_result is judged else running.judge_result
            if row["judging"] and row["judge_requests"] > running.seen_requests:
                interest, last = row["interest"], running.last_received_label
                labels = await self._in_thread(feedback.after, self.database, interest, last)
                running.judge(row, labels, await self._in_thread(self._models, row))

    async def _resume_interrupted(self, rows: list[Row]) -> None:
        for row in rows:
            crawl = row["id"]
            if (
                row["state"] != "running"
                or crawl in self.running
                or crawl in self.pending_endings
                or crawl in self.judging
            ):
                continue
            if row["wanted"] != "run":
                pages, relevant = await self._in_thread(self._count_recorded, row)
                self.pending_endings[crawl] = row, Ending(STOPPED, pages=pages, relevant=relevant), self.clock()
            elif len(self.running) >= self.settings.crawls:  # the limit `--crawls` is lower than before the restart
                await self._in_thread(crawls.requeue, self.database, crawl)
            else:
                await self._begin(row)

    def _count_recorded(self, row: Row) -> tuple[int, int]:
        directory = self.settings.crawl_directory(row["id"])
        (directory / live.FILE_NAME).unlink(missing_ok=True)
        try:
            collect_shards(directory)
            return count_pages(directory, row)
        except LycosaError as error:  # opening the crawl reports the error
            log("cannot count", "warning", crawl=row["id"], why=str(error))
            return row["pages"], row["relevant"]

    async def _start(self, rows: list[Row]) -> None:
        busy = {*self.running, *self.pending_endings}
        rows = [row for row in rows if row["id"] not in self.judging]
        rows = [row | {"state": "running"} if row["id"] in busy else row for row in rows]
        for crawl in crawls_to_start(rows, self.settings.crawls, self.settings.crawls_per_person):
            if await self._in_thread(crawls.take, self.database, self.clock(), crawl):
                started = await self._in_thread(crawls.under_way, self.database)
                for row in (row for row in started if row["id"] == crawl):
                    await self._begin(row)

    async def _begin(self, row: Row) -> None:
        def read() -> tuple[list[str], list[Label], dict[str, str]]:
            try:
                settings = InterestSettings.from_json(row["settings"])
                seeds = catalogue.seeds_of(self.database, settings.preferences, settings.words)
            except (ValueError, TypeError):  # the crawl itself reports the error
                seeds = []
            labels = feedback.after(self.database, row["interest"], row["last_label"])
            return seeds, labels, self._models(row)

        seeds, labels, files = await self._in_thread(read)
        on_cluster = self.environment.hosts is not None and row["task"] != "refresh"
        kind = RunningClusterCrawl if on_cluster else RunningCrawl
        self.running[row["id"]] = kind(row, seeds, labels, self.environment, files)
        self.running[row["id"]].start()
        log("crawl started", crawl=row["id"], task=row["task"])

    def _models(self, row: Row) -> dict[str, str]:
        found = dict.fromkeys(COPIED_FILES, "models/gone")
        with suppress(ValueError, TypeError):
            settings = InterestSettings.from_json(row["settings"])
            for option, model in (("model", settings.model), ("strategy", settings.strategy_model)):
                if model and self.database.find("model", id=model, owner=row["owner"]) is not None:
                    found[option] = str(self.settings.model_file(model))
        return found

    async def _judge(self, rows: list[Row], now: float) -> None:
        if self.judging:
            return
        for row in rows:
            crawl = row["id"]
            idle = row["state"] != "running" and crawl not in self.running and crawl not in self.pending_endings
            if idle and now < self._judge_not_before.get(crawl, 0.0):
                self._next_poll = min(self._next_poll, self._judge_not_before[crawl])
            elif idle:
                labels = await self._in_thread(feedback.after, self.database, row["interest"], row["last_label"])
                self.judging[crawl] = asyncio.create_task(self._judge_crawl(row, labels), name=f"judging {crawl}")
                return

    async def _judge_crawl(self, row: Row, labels: list[Label]) -> None:
        crawl, begun = row["id"], self.clock()
        relevant, failed = None, ""
        try:
            try:
                directory = self.settings.crawl_directory(crawl)
                files = await self._in_thread(self._models, row)
                relevant = await asyncio.to_thread(judge_again, directory, row, labels, begun, files)
                log("crawl judged again", crawl=crawl, what=row["judging"])
            except LockedError:  # the crawl may be deleted at this moment, so retry later
                return
            except LycosaError as error:
                failed = hide_data_directory(self.settings, str(error))
            except Exception as bug:
                log("judging crashed", "error", crawl=crawl, error=repr(bug), traceback=traceback.format_exc())
                failed = f"{type(bug).__name__}: {bug}"
            last_label = row["last_label"] if relevant is None or not labels else int(labels[-1].by)
            failed = failed[:MAX_REASON_CHARACTERS]
            done = partial(crawls.record_judged, relevant=relevant, last_label=last_label, failed=failed)
            await self._in_thread(done, self.database, crawl, row["judge_requests"])
        except LycosaError as error:  # a database error; the work is repeated later
            self._on_database_error(error)
        finally:
            self._judge_not_before[crawl] = self.clock() + max(JUDGING_PAUSE_SECONDS, 5 * (self.clock() - begun))
            del self.judging[crawl]
            self.wake()

    async def _remove(self, waste: list[str]) -> None:
        def sweep() -> None:
            directories = {self.settings.crawl_directory(crawl): crawl for crawl in waste}
            for directory in erasing.remove_directories(list(directories)):
                self.database.delete("deleted_crawl", crawl=directories[directory])
                log("directory removed", crawl=directories[directory])

        if waste:
            await self._in_thread(sweep)

    async def _end_all(self) -> None:
        for running in self.running.values():
            running.stop()
        if self.judging:
            await asyncio.wait(self.judging.values())
        await asyncio.gather(*(running.ended(MAX_STOP_SECONDS) for running in self.running.values()))
        self._collect()
        counts: dict[str, Counts] = {}
        for crawl, (_, ending, _) in list(self.pending_endings.items()):
            if ending.reason == STOPPED and not ending.failed:
                del self.pending_endings[crawl]  # to be continued, so it stays `running`
                counts[crawl] = (ending.pages, ending.relevant)
        self._heartbeat_at = 0.0
        try:
            await self._in_thread(self._write, self._report(), counts)
        except LycosaError as error:  # the next process finds these crawls `running` and ends them
            self._on_database_error(error)

    def _on_database_error(self, error: LycosaError) -> None:
        if not self.database_error:
            log("database away", error=str(error))
        self.database_error = str(error)

    def _report(self) -> dict[str, int]:
        fetched = self._fetched + sum(each.pages - int(each.row["pages"]) for each in self.running.values())
        flying = self.authority.in_flight + sum(each.in_flight for each in self.running.values())
        report = {"running": len(self.running), "in_flight": flying, "pages": fetched}
        return report | ({"shards": self.environment.hosts.count} if self.environment.hosts is not None else {})


def _hosts(settings: Settings) -> RemoteHosts | None:
    if not settings.cluster:
        return None
    return runner(settings.cluster).hosts(MAX_REQUESTS, lambda text: log("cluster", why=text))


async def _open_hosts(hosts: RemoteHosts) -> None:
    """Start the cluster before the first crawl needs it; after a failure each crawl tries and notifies its owner."""
    try:
        await hosts.open()
        log("cluster ready", shards=hosts.count)
    except LycosaError as error:
        log("no cluster", "error", why=str(error))


async def _restart_on_failure(work: Callable[[], Coroutine[None, None, None]]) -> None:
    while True:
        try:
            await work()
        except Exception as bug:
            log("failed beside the crawls", "error", error=repr(bug), traceback=traceback.format_exc())
        await asyncio.sleep(10.0)


def ending_notice(row: Row, ending: Ending, state: str) -> tuple[str, str] | None:
    if state == "failed":
        job = "The revisit of" if row["task"] == "refresh" else "The crawl of"
        return "failed", f"{job} {row['name']} failed: {ending.reason}"
    if state != "finished":
        return None
    if row["task"] == "refresh":
        if not ending.changes:
            return None
        return "changes", f"{row['name']}: {ending.changes:,} page{'s have' if ending.changes != 1 else ' has'} changed"
    return "finished", f"{row['name']}: {ending.relevant:,} of {ending.pages:,} pages relevant ({ending.reason})"
