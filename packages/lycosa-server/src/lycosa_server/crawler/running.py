"""One crawl while it runs: from the settings to an engine, through feedback, and as many re-openings as settings need."""

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
from lycosa.core.budget import EXHAUSTED, LEFT_ALONE, REQUESTS_SPENT, STOPPED, requests_for, spending
from lycosa.core.durations import parse_duration
from lycosa.core.engine import Engine
from lycosa.core.errors import LycosaError, StoreError
from lycosa.core.options import Options
from lycosa.core.protocols import Clock
from lycosa.core.types import Label
from lycosa.crawling import Crawl
from lycosa.crawling.request import CrawlRequest
from lycosa.crawling.runners import RemoteCrawl, RemoteHosts, bring_shards_together, join_shards
from lycosa.drawing.formats import printable
from lycosa.judges import DEFAULT
from lycosa.revisit.revisit_scheduler import RevisitPlan
from lycosa.store.directory import CONFIG, COPIED_FILES, Directory
from lycosa.store.log import NAME, PAGES, RELEVANCE_NOW, VERSIONS, SqliteLog, append_labels, missing_labels
from lycosa.web.politeness import SharedPoliteness
from lycosa_server import messages
from lycosa_server.crawler import live
from lycosa_server.logs import log
from lycosa_server.people.crawls import Ending
from lycosa_server.people.database import Row
from lycosa_server.people.interest_settings import AUTOMATIC, FRESHNESS, InterestSettings, options, stricter
from lycosa_server.settings import Settings, without_place
from lycosa_server.unseen_changes import changes_since
from lycosa_server.validation import OPERATORS

PATIENCE = 1.0  # seconds between two lessons from feedback, at least; longer for a crawl whose lessons take long
LONGEST_STOP = 10.0  # seconds that a crawl which is to stop may wait for what is in flight
LONGEST_REASON = 500
# bytes that crawls leave free: on a full disk nobody could delete anything, as that is written down, too
ROOM = 50_000_000


@dataclass(slots=True)
class CrawlEnvironment:
    settings: Settings
    clock: Clock
    authority: SharedPoliteness
    wall: Clock = time.time  # the time of day, which may be set at any moment: what others in this machine compare with
    # logs are read one after the other, so that the first is soon ready
    opening: asyncio.Lock = field(default_factory=asyncio.Lock)
    hosts: RemoteHosts | None = None  # hosts of the shards of crawls that run on a cluster


class RunningCrawl:
    """A crawl under way, in a task of its own."""

    on_cluster = False
    in_flight = 0  # requests under way in other processes

    def __init__(
        self,
        row: Row,
        catalogue: list[str],
        words: list[Label],
        around: CrawlEnvironment,
        files: Mapping[str, str] = COPIED_FILES,
    ) -> None:
        self.id: str = row["id"]
        self.row = row
        self.budget: int = row["budget"]
        self.pages: int = row["pages"]
        self.found: int = row["found"]
        self.words = words  # labels that its log does not have yet
        self.heard: int = row["heard"]  # the number of the last label that it has
        self.asked: Row | None = row if row["judging"] else None  # until its pages are judged again
        self.known: int = row["asked"]  # how often that was asked for, as far as it knows
        self.judged: tuple[int, int, str] | None = None  # to be noted: `asked`, `heard`, and why it failed
        self.stopped_at = 0.0
        self.opened_at = 0.0
        self.opening_took = self.hearing_took = 0.0
        self.heard_at = 0.0
        self.engine: Engine | None = None
        self._task: asyncio.Task[Ending] | None = None
        self._catalogue = catalogue
        self._files = files  # where the owner's models lie that the settings name
        self._around = around
        self._directory = around.settings.crawl_directory(self.id)
        self._crawl: Crawl | RemoteCrawl | None = None
        self._reopening = self._cancelled = False
        self._shown = 0.0
        self._changes = 0
        self._no_room = ""

    def start(self) -> None:
        self._task = asyncio.create_task(self.run(), name=f"crawl {self.id}")

    @property
    def over(self) -> bool:
        return self._task is not None and self._task.done()

    def result(self) -> Ending:
        assert self._task is not None
        return self._task.result()

    def cancel(self) -> None:
        """End at once: what is in flight is forgotten. Only once, as ending takes a moment, too."""
        if self._task is not None and not self._cancelled:
            self._cancelled = True
            self._task.cancel()

    async def ended(self, parse_duration: float) -> None:
        """Wait until it has ended; after so many seconds, at once."""
        if self._task is not None:
            await asyncio.wait({self._task}, timeout=parse_duration)
            self.cancel()
            await asyncio.wait({self._task})

    async def run(self) -> Ending:
        """Crawl until it is over, or is to stop; whatever goes wrong is an ending, too."""
        ending = await self._run()
        if self.engine is not None:
            with suppress(LycosaError):
                ending.pages, ending.found = await asyncio.to_thread(recorded, self._directory, self.row)
        return ending

    async def _run(self) -> Ending:
        try:
            self._look_for_room()
            reason = await self._sessions()
            if self._no_room:
                raise StoreError(self._no_room)
            if self.row["task"] == "refresh":
                # since this look at the pages began, however often it was broken off
                changes = await asyncio.to_thread(changes_since, self._directory, self.row["started"] or 0.0)
                self._changes = changes or 0
        except asyncio.CancelledError:  # what was in flight is not recorded, and asked for again by the next run
            return self._ending(STOPPED)
        except LycosaError as error:
            return self._ending(str(error), failed=True)
        except Exception as bug:  # of one crawl: the others go on
            log("crawl crashed", crawl=self.id, error=f"{type(bug).__name__}: {bug}", traceback=traceback.format_exc())
            return self._ending(f"{type(bug).__name__}: {bug}", failed=True)
        finally:
            (self._directory / live.NAME).unlink(missing_ok=True)
        return self._ending(reason)

    async def _sessions(self) -> str:
        while not self.stopped_at:
            crawl = await self._open()
            if crawl is None:
                break
            try:
                async with aclosing(aiter(crawl)) as turns:  # however this ends, the crawl is closed with it
                    async for turn in turns:
                        await self._follow(turn)
            finally:
                self._count()
            reason = self._said()[0] or STOPPED
            if reason != STOPPED or not self._reopening:
                return reason
        return STOPPED

    async def _open(self) -> Crawl | RemoteCrawl | None:
        """The crawl, where its log ends; None if it was stopped before that."""
        around, self._reopening = self._around, False
        begun = (self._directory / CONFIG).exists()  # else never, or killed before there was anything to go on with
        async with around.opening if begun else nullcontext():
            if self.stopped_at:
                return None
            now = around.clock()
            if begun:
                if not self.on_cluster:
                    await uninterrupted(join_shards, self._directory)  # it may have run there before
                await self._judge(now)
            else:
                self._was_judged([], self.asked)
            crawl = self._crawl = await self._made(self._request(begun))
            self.opened_at = around.clock()
            self.opening_took = self.opened_at - now
        self.grow(self.budget)
        self._count()
        return crawl

    async def _made(self, request: CrawlRequest) -> Crawl | RemoteCrawl:
        crawl = Crawl(request)
        self.engine = await crawl.open()
        return crawl

    async def _follow(self, turn: Any) -> None:
        self._count()
        await asyncio.sleep(0)  # others want a turn after every page

    async def _judge(self, now: float) -> None:
        """Record labels before the crawl is opened, so that its judge learns from them; judge again if asked to."""
        words, asked, failed = self.words, self.asked, ""
        if asked is not None and asked["judging"] != "labels":
            try:
                await uninterrupted(judge_again, self._directory, asked, words, now, self._files)
            except LycosaError as error:  # the crawl goes on as before
                failed = without_place(self._around.settings, str(error))
        if teach(self._directory, words) is not None:
            self._was_judged(words, asked, failed)

    def _was_judged(self, words: list[Label], asked: Row | None, failed: str = "") -> None:
        """Have it noted; what was said and asked for meanwhile is still to be done."""
        self.words = self.words[len(words) :]
        self.heard = int(words[-1].by) if words else self.heard
        self.judged = (asked["asked"] if asked else 0, self.heard, failed[:LONGEST_REASON])
        self.asked = None if self.asked is asked else self.asked

    def _request(self, resuming: bool) -> CrawlRequest:
        """The crawl as it is wished; one that is resumed as it was begun, but for what the operator sets and for seeds
        that have been added."""
        row, wished, keeping = self.row, self._options(), None
        if resuming:
            begun = Directory.read_options(self._directory)
            changes = {name: wished[name] for name in ("log_file", "respect_opt_outs", "seeds", *OPERATORS)}
            if row["task"] == "refresh":
                first = [re.escape(piece) for piece in json.loads(row["look_first"])]
                everything, began = bool(row["everything"]), row["started"] or 0.0
                keeping = RevisitPlan(once=True, everything=everything, now=first, began=began)
                changes |= {name: wished[name] for name in FRESHNESS}
                # pages that the settings do not name are due once in `look_again`
                every = parse_duration(row["look_again"]) if row["look_again"] else 3_650 * 86_400.0  # never
                changes["schedule"] = "automatic" if everything else f"fixed,every={every:.0f}s"
            else:
                changes["budget"] = self.budget
            wished = {**vars(begun), **changes}
        chosen = Options.from_mapping(wished, "the interest's settings")
        clock, authority = self._around.clock, self._around.authority
        return CrawlRequest(
            chosen, self._directory, clock=clock, authority=authority, resuming=resuming, keeping=keeping
        )

    def _options(self) -> dict[str, Any]:
        wanted, server = InterestSettings.of_json(self.row["settings"]), self._around.settings
        own = {name: getattr(server, name) for name in OPERATORS} | {"allow_network": list(server.allow_network)}
        own["respect_opt_outs"] = stricter(wanted.respect_opt_outs, server.respect_opt_outs)
        return options(wanted, self._catalogue, budget=self.budget, files=self._files, **own)

    # -- while it runs -----------------------------------------------------------------------------------------

    def stop(self) -> None:
        self.stopped_at = self.stopped_at or self._around.clock()
        if self._crawl is not None:
            self._crawl.stop()

    def grow(self, budget: int) -> None:
        self.budget = budget
        if self.engine is not None and self.row["task"] == "crawl":
            picker = self.engine.picker
            picker.budget = replace(picker.budget, pages=budget, requests=requests_for(budget))

    def judge(self, row: Row, words: list[Label], files: Mapping[str, str]) -> None:
        """Judge its pages again, by new labels too: at once, or when it is opened again before long."""
        self.asked, self.known, self._files = row, row["asked"], files
        self.words = [*self.words, *words]

    @property
    def told(self) -> int:
        """The number of the last label that it was told of."""
        return int(self.words[-1].by) if self.words else self.heard

    def look(self, now: float) -> None:
        """Called now and then: teaches it what people have said, and shows how it is."""
        asked = self.asked
        if asked is not None and asked["judging"] != "labels":  # somebody waits for it
            if self._crawl is not None and now >= self.opened_at + max(PATIENCE, self.opening_took):
                self._reopen(now)
        elif (self.words or asked) and now >= self.heard_at + max(PATIENCE, 5 * self.hearing_took):
            self.heard_at = now
            self._hear(now)
        if self.engine is not None and not self.stopped_at and now >= self._shown + 1.0:
            self._shown = now
            self._look_for_room()
            live.LiveState.of(self.engine, now, self._around.wall() - now).write(self._directory)

    def _reopen(self, now: float) -> None:
        self.opened_at = now
        self._reopening = True
        if self._crawl is not None:
            self._crawl.stop()

    def _hear(self, now: float) -> None:
        engine, words, asked = self.engine, self.words, self.asked
        if engine is None or engine.ending or self.over or not isinstance(engine.log, SqliteLog):
            return
        begun = self._around.clock()
        try:
            engine.add_labels(missing_labels(engine.log, words))
        except Exception:  # a bug of a judge, too: whoever opens the crawl is told, and the others go on
            self._reopen(now)
            return
        self.hearing_took = self._around.clock() - begun
        self._was_judged(words, asked)
        self._count()

    def _look_for_room(self) -> None:
        free = shutil.disk_usage(self._around.settings.data).free
        if free < ROOM and not self.stopped_at:
            self._no_room = (
                f"the server's disk has only {free / 1e6:,.0f} MB left: delete what is not needed, or tell who runs "
                "this server; then resume"
            )
            self.stop()

    def _count(self) -> None:
        if self.engine is not None:
            self.pages, self.found = self.engine.tally.pages, self.engine.tally.relevant

    def _said(self) -> tuple[str, str, Mapping[str, int]]:
        """How it ended, the last complaint, and what requests went to."""
        engine = self.engine
        return ("", "", {}) if engine is None else (engine.ending, engine.tally.complaint, engine.tally.spent)

    def _ending(self, reason: str, *, failed: bool = False) -> Ending:
        _, complaint, requests = self._said()
        if not self.pages and complaint and reason in (EXHAUSTED, LEFT_ALONE):
            reason, failed = messages.nothing(complaint), True
        spent = f": {spending(requests)}" if requests and reason == REQUESTS_SPENT else ""
        reason = without_place(self._around.settings, messages.ENDINGS.get(reason, reason) + spent)
        words = printable(reason, " ")[:LONGEST_REASON]
        return Ending(words, failed, self.budget, self.pages, self.found, self._changes)


async def uninterrupted(work: Callable[..., object], *given: object) -> None:
    """Do something in a thread. One who is cancelled waits for it, as a thread can't be: it has the directory until it
    is done."""
    doing = asyncio.ensure_future(asyncio.to_thread(work, *given))
    try:
        await asyncio.shield(doing)
    except asyncio.CancelledError:
        await asyncio.wait({doing})
        raise


# -- judged again ------------------------------------------------------------------------------------------

# Judge the pages that a crawl has again, fetching none: by what people said, another threshold, another topic.


def judge_again(
    directory: Path, row: Row, words: Iterable[Label], now: float, files: Mapping[str, str] = COPIED_FILES
) -> int | None:
    """Judge the pages of a crawl again by new labels, and by what its row asks for: its interest's threshold, or its
    whole topic. How many pages are relevant then; None where nothing was fetched yet. `files` are where the owner's
    models lie.

    Nobody else may write in the directory. Whoever is killed on the way leaves what was there before.
    """
    if not (directory / NAME).exists():
        return None
    bring_shards_together(directory)
    what, settings = row["judging"], InterestSettings.of_json(row["settings"])
    if teach(directory, words) or what == "labels":
        with _opened(directory) as (opened, log):
            learn(opened, log, now)  # by the crawl's own judge
    if what == "labels":
        pass
    elif what == "threshold":
        judge(directory, threshold=settings.threshold, keep=True, now=now)
    elif settings.model:
        line = settings.threshold or None
        judge(
            directory, model=Path(files["model"]), targets=settings.targets, threshold=line, keep=True, now=now,
        )  # fmt: skip
    else:
        named = DEFAULT if settings.judge == AUTOMATIC else settings.judge
        judge(
            directory, settings.words, examples=settings.examples, threshold=settings.threshold, judge=named, keep=True,
            now=now,
        )  # fmt: skip
    return recorded(directory, row)[1]


def teach(directory: Path, words: Iterable[Label]) -> int | None:
    """Append labels to a log that nobody else writes; how many it lacked, None where there is no log."""
    if not (directory / NAME).exists():
        return None
    with _opened(directory) as (_, log):
        return len(append_labels(log, words))


@contextmanager
def _opened(directory: Path) -> Iterator[tuple[Directory, SqliteLog]]:
    with closing(Directory.open(directory)) as opened, closing(opened.log()) as log:
        yield opened, log


def recorded(directory: Path, row: Row) -> tuple[int, int]:
    """Pages of a crawl, and how many are relevant as they are now, by its log: the same as its pages show. By its row
    where there is no log.
    """
    if not (directory / NAME).exists():
        return int(row["pages"]), int(row["found"])
    with closing(SqliteLog(directory / NAME, readonly=True)) as log:
        pages = next(log.rows("COUNT(*)", PAGES))[0]
        threshold = log.setting("threshold", 0.0)
        current = log.rows(f"MAX(seq), same, {RELEVANCE_NOW}", f"{VERSIONS} GROUP BY node")
        return int(pages), sum(not same and worth >= threshold for _, same, worth in current)
