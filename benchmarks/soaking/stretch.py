"""A stretch of simulated time in one process, the server with its people or a revisit crawl, until its end or a kill.

The server runs its own code: the crawl process's loop with all crawls, and the application with its clients, on one
database. Simulated are the separation of processes, the event loop, whose clock jumps and in which threads' work is
done at once, and the transport (`Wire`).
"""

from __future__ import annotations

import asyncio
import json
import os
import secrets
import sys
import tempfile
import threading
from collections.abc import Callable
from contextlib import closing, suppress
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from typing import Any

import anyio.to_thread

import lycosa
from lycosa.core.errors import LycosaError
from lycosa.spaces import making
from lycosa.store.directory import CONFIG
from lycosa.store.log import NAME, PAGES, SqliteLog
from lycosa.testweb.simulation import VirtualLoop, clock
from lycosa_server.app import create_app
from lycosa_server.crawler import process as crawl_process
from lycosa_server.crawler.process import CrawlProcess
from lycosa_server.crawler.running import RunningCrawl
from lycosa_server.people.database import Database
from lycosa_server.settings import Settings
from soaking.dying import Disk, at, die, die_after, die_in_a_write
from soaking.people import CHEAP, Person
from soaking.world import CRAWL, HOUR, Report, Wire, World

SAMPLE = 2 * HOUR
GRACE = 4 * HOUR
DELAY = 1.0
TICK = 300.0
"""Simulated seconds between ticks of the crawl process; two per second would be 5 million in a month."""


@dataclass
class Full:
    """A period with a full disk."""

    start: float
    end: float
    max_bytes: int
    reported: bool


@dataclass
class Plan:
    """Events of a stretch, drawn in advance."""

    number: int
    party: str
    """"server" or "watch"."""
    start: float
    end: float
    death: str = ""
    """Way of killing the process from `end` on: after some calls, in a page (after some calls from the next response
    on), or in a write; empty to stop it.
    """
    calls: int = 0
    offset: float = 0.0
    """Error of the clock at the start of the process."""
    jump_at: float = 0.0
    jump: float = 0.0
    """Time and size of a clock change."""
    full: Full | None = None
    idle: bool = False
    """Whether people do nothing, so that crawls are completed."""
    ended: float = 0.0
    """Time when it ended."""

    @property
    def until(self) -> float:
        """Time when it is stopped; a kill at a response may have to wait for one."""
        return self.end + (GRACE if self.death else 0.0)


@dataclass
class Place:
    """Directories, accounts and parameters of a soak test."""

    root: Path
    tokens: list[str] = field(default_factory=list)
    interests: dict[str, int] = field(default_factory=dict)
    """Number of the owner of each interest known from the journal."""
    seed: int = 0
    topic: str = ""
    load: float = 1.0
    """Amount of work: factor of the crawls' budgets and of the requests per hour of the revisit crawl."""

    @property
    def settings(self) -> Settings:
        return Settings(self.root / "server", allow_network=("127.0.0.0/8",), delay=DELAY, crawls=6, random_seed=1)

    @property
    def watched(self) -> Path:
        """Directory of the revisit crawl."""
        return self.root / "watch"


class InlineLoop(VirtualLoop):
    """Event loop in virtual time in which the work of threads is done at once, so that no time passes."""

    def run_in_executor(self, executor: Any, func: Callable[..., Any], *args: Any) -> Any:
        future = self.create_future()
        try:
            future.set_result(func(*args))
        except Exception as error:
            future.set_exception(error)
        return future


async def _run_sync(func: Callable[..., Any], *args: Any, **options: Any) -> Any:
    return func(*args)


class _Lines:
    """Standard error of the process, which sends errors in the server's log to the journal."""

    def __init__(self, report: Report) -> None:
        self._report = report

    def write(self, text: str) -> None:
        for line in text.splitlines():
            try:
                entry = json.loads(line)
            except ValueError:
                self._report(["stderr", line[:2_000]])
                continue
            if "traceback" in entry or "trace" in entry:
                self._report(["broken", json.dumps(entry)[:3_000]])
            elif entry.get("level") == "error":
                self._report(["stderr", json.dumps(entry)[:500]])

    def flush(self) -> None:
        pass


def prepare(place: Place, world: World) -> None:
    """Replace the real components by simulated ones, in the parent process before any stretch."""
    Wire.world = world
    making.HttpTransport = Wire  # type: ignore[misc, assignment]
    anyio.to_thread.run_sync = _run_sync  # type: ignore[assignment]
    crawl_process.TICK_SECONDS = crawl_process.POLL_SECONDS = crawl_process.HEARTBEAT_SECONDS = TICK
    crawl_process.SCHEDULE_SECONDS = 300.0
    run = RunningCrawl.run

    async def named(self: RunningCrawl) -> Any:
        CRAWL.set(self.id)
        return await run(self)

    RunningCrawl.run = named  # type: ignore[method-assign]
    tempfile.tempdir = str(place.root / "tmp")
    Path(tempfile.tempdir).mkdir(exist_ok=True)


def run_stretch(plan: Plan, place: Place, world: World, pipe: int) -> None:
    """Run a stretch in this process."""
    loop: InlineLoop | None = None

    def report(message: list[Any]) -> None:
        os.write(pipe, json.dumps(message).encode() + b"\n")

    Wire.report = staticmethod(report)
    ids = Random(f"{place.seed} {plan.number} ids")
    secrets.token_hex = lambda size=16: ids.randbytes(size).hex()  # type: ignore[assignment, misc]  # same seed, same ids
    sys.stderr = _Lines(report)  # type: ignore[assignment]

    def new_loop() -> InlineLoop:
        nonlocal loop
        loop = InlineLoop(plan.start)
        return loop

    async def main() -> None:
        _schedule_failures(plan, report)
        sampling = asyncio.create_task(_sample(place, plan, report))
        try:
            await (_serve if plan.party == "server" else _watch)(plan, place, world, report)
        finally:
            sampling.cancel()
        if plan.death:  # it was to be killed, but had no work left
            die(report)
        report(["ended", asyncio.get_running_loop().time()])

    with asyncio.Runner(loop_factory=new_loop) as runner:
        runner.run(main())


def _schedule_failures(plan: Plan, report: Report) -> None:
    """Schedule the kill and the full disk."""
    if plan.death == "calls":
        at(plan.end, lambda: die_after(plan.calls, report))
    elif plan.death == "page":
        at(plan.end, lambda: setattr(Wire, "on_response", lambda: die_after(plan.calls, report)))
    elif plan.death == "write":
        at(plan.end, lambda: die_in_a_write(report))
    disk = Disk()
    if (full := plan.full) is not None:
        at(full.start, lambda: disk.fill(full.max_bytes, full.reported))
        at(full.end, disk.empty)


async def _sample(place: Place, plan: Plan, report: Report) -> None:
    """Record the resource use periodically."""
    while True:
        now = asyncio.get_running_loop().time()
        report(["sample", plan.party, plan.number, now, *sizes(place, plan.party)])
        await asyncio.sleep(SAMPLE)


def sizes(place: Place, party: str) -> list[int]:
    """Return memory, file handles, threads, tasks, and bytes of logs, archives and the database."""
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    logs = archives = people = 0
    for folder, _, names in os.walk(place.root / party):
        for name in names:
            with suppress(OSError):
                size = os.path.getsize(os.path.join(folder, name))
                if name.startswith("crawl.sqlite"):
                    logs += size
                elif name.endswith(".warc.gz"):
                    archives += size
                elif name.startswith("lycosa.sqlite"):
                    people += size
    memory, handles = pages * os.sysconf("SC_PAGE_SIZE"), len(os.listdir("/proc/self/fd"))
    return [memory, handles, threading.active_count(), len(asyncio.all_tasks()), logs, archives, people]


async def _serve(plan: Plan, place: Place, world: World, report: Report) -> None:
    """Run the crawl process and the application, with all people."""
    settings, loop = place.settings, asyncio.get_running_loop()

    def wall() -> float:
        return clock() + plan.offset + (plan.jump if plan.jump_at and loop.time() >= plan.jump_at else 0.0)

    with (
        closing(Database(settings.database_address)) as database,
        closing(Database(settings.database_address)) as own,
    ):
        process = CrawlProcess(settings, own, lambda: clock() + plan.offset)
        process.environment.wall = wall
        app = create_app(settings, database, clock=wall, passwords=CHEAP)
        people = [
            Person(
                number,
                token,
                app,
                settings.base,
                world,
                Random(f"{place.seed} {plan.number} {number}"),
                report,
                place.load,
            )
            for number, token in enumerate(place.tokens)
        ]
        for person in people:
            person.others = [key for key, owner in place.interests.items() if owner != person.number]
        crawling = asyncio.create_task(process.run())
        living = [] if plan.idle else [asyncio.create_task(person.live()) for person in people]
        until = asyncio.create_task(asyncio.sleep(plan.until - loop.time()))
        await asyncio.wait([crawling, until], return_when=asyncio.FIRST_COMPLETED)
        if crawling.done():
            report(["broken", f"the crawl process ended by itself: {crawling.exception()!r}"])
        until.cancel()
        for task in living:
            task.cancel()
        await asyncio.gather(*living, until, return_exceptions=True)
        process.stop()
        await asyncio.gather(crawling, return_exceptions=True)
        for person in people:
            await person.me.close()


async def _watch(plan: Plan, place: Place, world: World, report: Report) -> None:
    """Run a crawl, then revisits; restart it an hour after a full disk has ended it."""
    loop = asyncio.get_running_loop()
    end = plan.until
    while loop.time() < end:
        try:
            going = _next(plan, place, world)
            stopping = loop.call_at(end, going.stop)
            try:
                async with going:
                    async for _ in going:
                        pass
            finally:
                stopping.cancel()
        except LycosaError as error:
            report(["stopped", loop.time(), str(error)])
            with suppress(TimeoutError):
                await asyncio.sleep(min(HOUR, max(1.0, end - loop.time())))


def _next(plan: Plan, place: Place, world: World) -> lycosa.Crawl:
    """Return the next crawl of the directory: a new one, the rest of it, or revisits."""
    given: dict[str, Any] = {"clock": lambda: clock() + plan.offset, "allow_network": ["127.0.0.0/8"]}
    out = place.watched
    if not (out / CONFIG).exists():
        return lycosa.crawl(
            world.query(place.topic), world.seeds(place.topic, 3), out=out, budget=int(120 * place.load), sitemaps=True,
            rotate=400_000, delay=DELAY, **given,
        )  # fmt: skip
    pages = 0
    if (out / NAME).exists():
        with closing(SqliteLog(out / NAME, readonly=True)) as log:
            pages = next(log.rows("COUNT(*)", PAGES))[0]
    if pages < int(120 * place.load) and not (place.root / "crawled").exists():
        return _Crawled(lycosa.resume(out, **given), place.root / "crawled")  # type: ignore[return-value]
    return lycosa.watch(out, per_hour=30.0 * place.load, explore=0.1, **given)


class _Crawled:
    """A resumed crawl that records its end in a file, because there may be fewer pages than the budget."""

    def __init__(self, crawl: lycosa.Crawl, mark: Path) -> None:
        self.crawl, self.mark, self.stop = crawl, mark, crawl.stop

    async def __aenter__(self) -> lycosa.Crawl:
        return await self.crawl.__aenter__()

    async def __aexit__(self, *exception: object) -> None:
        await self.crawl.__aexit__(*exception)
        engine = self.crawl.engine
        if engine is not None and engine.ending and engine.ending != "stopped":
            self.mark.touch()
