"""The main loop of the crawl process: runs crawls as the database says.

Notices from the web process wake it; without one it checks the database every few seconds. The process may be killed at
any time: fetched pages are in the crawls' logs, and the next process takes over crawls left in the state `running`.
While the database is unavailable, crawls continue; their endings are written when it is back.
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
from lycosa.crawling.runners import RemoteHosts, bring_shards_together, runner
from lycosa.spaces.making import wall_clock
from lycosa.store.directory import COPIED_FILES
from lycosa.store.log import Lock
from lycosa.web.politeness import SharedPoliteness
from lycosa_server.crawler import live
from lycosa_server.crawler.clustered import RunningClusterCrawl
from lycosa_server.crawler.operator import OperatorMessages
from lycosa_server.crawler.running import (
    LONGEST_REASON,
    LONGEST_STOP,
    CrawlEnvironment,
    RunningCrawl,
    judge_again,
    recorded,
)
from lycosa_server.logs import log
from lycosa_server.people import catalogue, crawls, erasing, feedback, notices
from lycosa_server.people.crawls import Ending, choose
from lycosa_server.people.database import Database, Row
from lycosa_server.people.interest_settings import InterestSettings
from lycosa_server.settings import Settings, without_place
from lycosa_server.training import TrainingQueue

TICK = 0.5  # seconds between checks of running crawls
EVERY = 5.0  # seconds between checks of the database without a notice
BEAT = 1.0  # seconds between heartbeats, and between updates of counts
SCHEDULE = 5.0  # seconds between checks for crawls due for a refresh
REST = 2.0  # minimum seconds between judging an idle crawl again; longer if it takes long
MOST_REQUESTS = 128  # in flight over all crawls
P = ParamSpec("P")
T = TypeVar("T")

Far = tuple[int, int]  # pages, relevant pages


class CrawlProcess:
    """All crawls of a server. `run()` continues until `stop()`."""

    def __init__(
        self, settings: Settings, database: Database, clock: Clock | None = None, hosts: RemoteHosts | None = None
    ) -> None:
        self.settings = settings
        self.database = database
        self.clock = clock or wall_clock()
        self.authority = SharedPoliteness(self.clock, began=self.clock(), most=MOST_REQUESTS)
        self.around = CrawlEnvironment(settings, self.clock, self.authority, clock or time.time)
        self.around.hosts = hosts or _hosts(settings)
        self.running: dict[str, RunningCrawl] = {}
        # Endings that are not in the database yet, with their times.
        self.unwritten: dict[str, tuple[Row, Ending, float]] = {}
        # Idle crawls being judged again, one at a time.
        self.judging: dict[str, asyncio.Task[None]] = {}
        self.away = ""  # why the database is unavailable; empty if it is not
        self.looks = 0
        self.messages = OperatorMessages(settings.notify)
        self.training = TrainingQueue(settings, database)
        self._started = self.clock()
        self._stopping = False
        self._woken = asyncio.Event()
        self._due = 0.0  # time of the next check of the database
        self._beaten = self._scheduled = 0.0
        self._thread = ThreadPoolExecutor(1, "database")  # so that waiting for the database never blocks crawls
        self._fetched = 0
        self._written: dict[str, Far] = {}
        self._rests: dict[str, float] = {}

    async def run(self) -> None:
        """Run until `stop()`; crawls then stop gently and stay `running` in the database, for the next process."""
        directory = self.settings.data / "crawls"
        directory.mkdir(parents=True, exist_ok=True)
        try:
            lock = Lock(directory)
        except LockedError as error:
            raise LockedError(
                f"{self.settings.data} is crawled by another process already: stop that one first, or serve another "
                "directory"
            ) from error
        log("crawl process started", data=str(self.settings.data))
        beside = {
            asyncio.create_task(_keep_going(self.training.run_queued)),
            asyncio.create_task(_keep_going(self.messages.run)),
        }
        if self.around.hosts is not None:
            beside.add(asyncio.create_task(_open_hosts(self.around.hosts)))
        try:
            while not self._stopping:
                self._woken.clear()
                try:
                    await self.look()
                except LycosaError as error:  # the database: writes are retried
                    self._gone(error)
                except Exception as bug:  # crawls continue, and the next round may succeed
                    log("look failed", "error", error=repr(bug), traceback=traceback.format_exc())
                with suppress(TimeoutError):
                    async with asyncio.timeout(TICK):
                        await self._woken.wait()
        finally:
            try:
                for task in beside:
                    task.cancel()
                await asyncio.wait(beside)
                await self._end_all()
                with suppress(TimeoutError):
                    async with asyncio.timeout(5):
                        await self.messages.send()
                if self.around.hosts is not None:
                    await self.around.hosts.close()
            finally:
                lock.release()
                self._thread.shutdown()
                log("crawl process ended")

    def stop(self) -> None:
        """Shut down gently. Safe in a signal handler of the loop."""
        self._stopping = True
        self._woken.set()

    def wake(self, notice: bytes = b"") -> None:
        self._due = 0.0
        self._woken.set()
        self.training.queued.set()

    async def look(self) -> None:
        self.looks += 1
        now = self.clock()
        for running in self.running.values():
            if running.over:
                continue  # its live state is already removed
            try:
                running.look(now)
            except OSError as error:
                log("cannot show how a crawl is", crawl=running.id, error=str(error))
        self._collect()
        far = {crawl: (each.pages, each.found) for crawl, each in self.running.items()}
        await self._ask(self._write, self._report(), far)
        if now < self._due and not self.away and not any(it.judged or it.stopped_at for it in self.running.values()):
            return
        self._due = now + EVERY
        rows, rubbish, judging = await self._ask(self._see)
        if self.away:
            log("database back")
            self.away = ""
        await self._steer({row["id"]: row for row in rows}, now)
        await self._take_up(rows)
        await self._start(rows)
        await self._judge(judging, now)
        await self._remove([crawl for crawl in rubbish if crawl not in self.running])

    # Database access, in its own thread.

    async def _ask(self, work: Callable[P, T], *given: P.args, **named: P.kwargs) -> T:
        return await asyncio.get_running_loop().run_in_executor(self._thread, partial(work, *given, **named))

    def _write(self, report: dict[str, int], far: dict[str, Far]) -> None:
        for crawl, ended in list(self.unwritten.items()):
            self._write_ending(*ended)
            del self.unwritten[crawl]
        now = self.clock()
        if now < self._beaten + BEAT:
            return
        beat = {"pid": os.getpid(), "started": self._started, "beat": self.around.wall(), "told": json.dumps(report)}
        with self.database.transaction():
            self.database.upsert("process", {"name": "crawler", **beat}, ["name"], list(beat))
            for crawl, got in sorted(far.items()):
                if got != self._written.get(crawl):
                    crawls.progress(self.database, crawl, *got)
        self._beaten, self._written = now, far

    def _write_ending(self, row: Row, ending: Ending, at: float) -> None:
        """Write an ending and its notice in one transaction, so that neither is lost or repeated."""
        with self.database.transaction():
            state = crawls.end(self.database, at, row["id"], ending)
            notice, interest = told_of(row, ending, state), self.database.get("interest", row["interest"])
            if notice is not None and interest is not None:
                notices.notify(self.database, at, interest["owner"], *notice, interest["id"])
                self.messages.add(notice[1])
        log("crawl ended", crawl=row["id"], state=state or "gone", reason=ending.reason, pages=ending.pages)

    def _see(self) -> tuple[list[Row], list[str], list[Row]]:
        """Return crawls that run or should, directories to remove, and crawls whose pages are to be judged again."""
        database, now = self.database, self.clock()
        if now >= self._scheduled + SCHEDULE:
            for crawl in crawls.schedule(database, now):
                log("crawl due", crawl=crawl)
            self._scheduled = now
        return crawls.under_way(database), erasing.rubbish(database), crawls.to_judge(database)

    def _collect(self) -> None:
        over = [crawl for crawl, running in self.running.items() if running.over]
        for crawl in over:
            running = self.running.pop(crawl)
            self._fetched += running.pages - running.row["pages"]
            self.unwritten[crawl] = running.row, running.result(), self.clock()
            del running
        if over:
            self._due = 0.0  # others may start
            # An engine is a few large objects in reference cycles. Python triggers collection by the number of objects,
            # not by bytes, so dozens of engines would stay in memory. Takes 20 ms beside small crawls, more beside
            # large ones.
            gc.collect()

    async def _steer(self, rows: dict[str, Row], now: float) -> None:
        """Apply the wanted state, budget and labels to running crawls."""
        for crawl, running in self.running.items():
            row = rows.get(crawl)
            if row is None:  # deleted
                running.cancel()
                continue
            if row["wanted"] != "run":
                running.stop()
                if now > running.stopped_at + LONGEST_STOP:
                    running.cancel()
                continue
            if row["budget"] != running.budget:
                running.grow(row["budget"])
            if (judged := running.judged) is not None:
                asked, heard, failed = judged
                await self._ask(crawls.judged, self.database, crawl, asked, heard=heard, failed=failed)
                running.judged = None if running.judged is judged else running.judged
            if row["judging"] and row["asked"] > running.known:
                words = await self._ask(feedback.after, self.database, row["interest"], running.told)
                running.judge(row, words, await self._ask(self._models, row))

    async def _take_up(self, rows: list[Row]) -> None:
        for row in rows:
            crawl = row["id"]
            if row["state"] != "running" or crawl in self.running or crawl in self.unwritten or crawl in self.judging:
                continue
            if row["wanted"] != "run":
                pages, found = await self._ask(self._recorded, row)
                self.unwritten[crawl] = row, Ending(STOPPED, pages=pages, found=found), self.clock()
            elif len(self.running) >= self.settings.crawls:  # `--crawls` is lower than before the restart
                await self._ask(crawls.give_back, self.database, crawl)
            else:
                await self._begin(row)

    def _recorded(self, row: Row) -> tuple[int, int]:
        directory = self.settings.crawl_directory(row["id"])
        (directory / live.NAME).unlink(missing_ok=True)
        try:
            bring_shards_together(directory)
            return recorded(directory, row)
        except LycosaError as error:  # it will not run; opening it reports the error
            log("cannot count", "warning", crawl=row["id"], why=str(error))
            return row["pages"], row["found"]

    async def _start(self, rows: list[Row]) -> None:
        busy = {*self.running, *self.unwritten}
        rows = [
            row | {"state": "running"} if row["id"] in busy else row for row in rows if row["id"] not in self.judging
        ]
        for crawl in choose(rows, self.settings.crawls, self.settings.crawls_per_person):
            if await self._ask(crawls.take, self.database, self.clock(), crawl):
                started = await self._ask(crawls.under_way, self.database)
                for row in (row for row in started if row["id"] == crawl):
                    await self._begin(row)

    async def _begin(self, row: Row) -> None:
        def read() -> tuple[list[str], list[Label], dict[str, str]]:
            try:
                settings = InterestSettings.of_json(row["settings"])
                seeds = catalogue.seeds_of(self.database, settings.preferences, settings.words)
            except (ValueError, TypeError):  # the crawl itself reports the error
                seeds = []
            words = feedback.after(self.database, row["interest"], row["heard"])
            return seeds, words, self._models(row)

        seeds, words, files = await self._ask(read)
        on_cluster = self.around.hosts is not None and row["task"] != "refresh"
        kind = RunningClusterCrawl if on_cluster else RunningCrawl
        self.running[row["id"]] = kind(row, seeds, words, self.around, files)
        self.running[row["id"]].start()
        log("crawl started", crawl=row["id"], task=row["task"])

    def _models(self, row: Row) -> dict[str, str]:
        """Return the files of the models in an interest's settings; a missing path for models of other people."""
        found = dict.fromkeys(COPIED_FILES, "models/gone")
        with suppress(ValueError, TypeError):
            settings = InterestSettings.of_json(row["settings"])
            for option, model in (("model", settings.model), ("strategy", settings.strategy_model)):
                if model and self.database.find("model", id=model, owner=row["owner"]) is not None:
                    found[option] = str(self.settings.model_file(model))
        return found

    async def _judge(self, rows: list[Row], now: float) -> None:
        """Judge the pages of one idle crawl again; running ones are handled by `_steer`."""
        if self.judging:
            return
        for row in rows:
            crawl = row["id"]
            idle = row["state"] != "running" and crawl not in self.running and crawl not in self.unwritten
            if idle and now < self._rests.get(crawl, 0.0):
                self._due = min(self._due, self._rests[crawl])
            elif idle:
                words = await self._ask(feedback.after, self.database, row["interest"], row["heard"])
                self.judging[crawl] = asyncio.create_task(self._judged(row, words), name=f"judging {crawl}")
                return

    async def _judged(self, row: Row, words: list[Label]) -> None:
        crawl, begun = row["id"], self.clock()
        relevant, failed = None, ""
        try:
            try:
                directory = self.settings.crawl_directory(crawl)
                files = await self._ask(self._models, row)
                relevant = await asyncio.to_thread(judge_again, directory, row, words, begun, files)
                log("crawl judged again", crawl=crawl, what=row["judging"])
            except LockedError:  # it may be being deleted: retry later
                return
            except LycosaError as error:
                failed = without_place(self.settings, str(error))
            except Exception as bug:
                log("judging crashed", "error", crawl=crawl, error=repr(bug), traceback=traceback.format_exc())
                failed = f"{type(bug).__name__}: {bug}"
            heard = row["heard"] if relevant is None or not words else int(words[-1].by)
            done = partial(crawls.judged, found=relevant, heard=heard, failed=failed[:LONGEST_REASON])
            await self._ask(done, self.database, crawl, row["asked"])
        except LycosaError as error:  # the database: the work is repeated later
            self._gone(error)
        finally:
            self._rests[crawl] = self.clock() + max(REST, 5 * (self.clock() - begun))
            del self.judging[crawl]
            self.wake()

    async def _remove(self, waste: list[str]) -> None:
        """Remove the directories of deleted crawls; running ones are ended first by `_steer`."""

        def sweep() -> None:
            directories = {self.settings.crawl_directory(crawl): crawl for crawl in waste}
            for directory in erasing.sweep(list(directories)):
                self.database.delete("rubbish", crawl=directories[directory])
                log("directory removed", crawl=directories[directory])

        if waste:
            await self._ask(sweep)

    async def _end_all(self) -> None:
        for running in self.running.values():
            running.stop()
        if self.judging:
            await asyncio.wait(self.judging.values())
        await asyncio.gather(*(running.ended(LONGEST_STOP) for running in self.running.values()))
        self._collect()
        far: dict[str, Far] = {}
        for crawl, (_, ending, _) in list(self.unwritten.items()):
            if ending.reason == STOPPED and not ending.failed:
                del self.unwritten[crawl]  # to be continued: stays `running`
                far[crawl] = (ending.pages, ending.found)
        self._beaten = 0.0
        try:
            await self._ask(self._write, self._report(), far)
        except LycosaError as error:  # the next process finds them `running`, and sees that they are over
            self._gone(error)

    def _gone(self, error: LycosaError) -> None:
        if not self.away:
            log("database away", error=str(error))
        self.away = str(error)

    def _report(self) -> dict[str, int]:
        """Return statistics of this process for monitoring; `pages` counts those it has fetched."""
        fetched = self._fetched + sum(each.pages - int(each.row["pages"]) for each in self.running.values())
        flying = self.authority.in_flight + sum(each.in_flight for each in self.running.values())
        told = {"running": len(self.running), "in_flight": flying, "pages": fetched}
        return told | ({"shards": self.around.hosts.count} if self.around.hosts is not None else {})


def _hosts(settings: Settings) -> RemoteHosts | None:
    """Return the cluster to run crawls on, if the operator configured one."""
    if not settings.cluster:
        return None
    return runner(settings.cluster).hosts(MOST_REQUESTS, lambda text: log("cluster", why=text))


async def _open_hosts(hosts: RemoteHosts) -> None:
    """Start the cluster before the first crawl needs it. On failure each crawl tries, and its owner is notified."""
    try:
        await hosts.open()
        log("cluster ready", shards=hosts.count)
    except LycosaError as error:
        log("no cluster", "error", why=str(error))


async def _keep_going(work: Callable[[], Coroutine[None, None, None]]) -> None:
    """Restart a background task when it fails, without affecting crawls."""
    while True:
        try:
            await work()
        except Exception as bug:
            log("failed beside the crawls", "error", error=repr(bug), traceback=traceback.format_exc())
        await asyncio.sleep(10.0)


def told_of(row: Row, ending: Ending, state: str) -> tuple[str, str] | None:
    if state == "failed":
        what = "The revisit of" if row["task"] == "refresh" else "The crawl of"
        return "failed", f"{what} {row['name']} failed: {ending.reason}"
    if state != "finished":
        return None
    if row["task"] == "refresh":
        if not ending.changes:
            return None
        return "changes", f"{row['name']}: {ending.changes:,} page{'s have' if ending.changes != 1 else ' has'} changed"
    return "finished", f"{row['name']}: {ending.found:,} of {ending.pages:,} pages relevant ({ending.reason})"
