"""What a crawl keeps: its log, its archive, the mark of the page it works on, snapshots; and how much room is left."""

from __future__ import annotations

import gc
import math
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Generator, Iterator
from contextlib import contextmanager, suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

import xxhash

from lycosa.core.engine import Engine
from lycosa.core.errors import InputError
from lycosa.core.files import CrashMarker
from lycosa.core.options import Options
from lycosa.core.protocols import Log
from lycosa.core.spilled_rows import fits as spilled_fits
from lycosa.core.state import State, StateMismatch
from lycosa.core.types import Event, ModelUpdate, Visit
from lycosa.crawling.request import CrawlRequest
from lycosa.judges.factory import learning_key
from lycosa.spaces.making import user_agent
from lycosa.store.directory import Directory, shard_directories
from lycosa.store.log import NullLog, SqliteLog
from lycosa.store.snapshots import About, Snapshots, code_digest
from lycosa.store.versions import Versions
from lycosa.store.warc import WarcArchive
from lycosa.text.embeddings import digest
from lycosa.version import SOFTWARE

SPILLED = "spilled"  # rows that are not in memory: a cache, rebuilt from the log


class CrawlFiles:
    """Those of the directory that was asked for; without one nothing is kept."""

    readonly = False

    def __init__(self, request: CrawlRequest) -> None:
        self.request = request
        self.log: Log = NullLog()
        self.archive: WarcArchive | None = None
        self.mark = CrashMarker()
        self.snapshots: Snapshots | None = None
        self.until = math.inf  # last event that a snapshot may know
        self.without: tuple[str, ...] = ()  # parts of the engine left out by readers, where nothing is left to fold
        self.judged_by = ""  # judge of the last page of an earlier run
        self.spill_file: Path | None = None  # rows that are not in memory; None: a temporary file
        self._directory: Directory | None = None
        self._kept: Options | None = None

    def open(self) -> None:
        """Make the directory, or take it over."""
        request, options = self.request, self.request.options
        if request.path is None:
            return
        if request.resuming and shard_directories(request.path):
            raise InputError(
                f"{request.path} was crawled on a cluster: continue with 'lycosa resume', 'lycosa refresh' or 'lycosa "
                f"watch {request.path}' on the command line"
            )
        if request.resuming:
            directory = Directory.open(request.path, shard=request.owns is not None)
        else:
            directory = Directory.create(request.path, options)
        self._directory, request.in_directory = directory, True
        self.mark = CrashMarker(request.path)
        self.snapshots = Snapshots(request.path)
        if request.keeping is None:
            self.spill_file = request.path / SPILLED
        if not request.resuming:
            options = request.options = options.with_files(directory.options.files())  # copies of its own
        self._kept = replace(options, max_time=directory.options.max_time)  # a run's own time is not the crawl's
        log = self.log = directory.log()
        log.command = request.command
        if options.archive:
            self.archive = directory.archive(log, SOFTWARE, options.rotate, user_agent(options))
            self.archive.command = request.command
            request.notes += [f"beyond the log, moved aside: {what}" for what in directory.moved]

    def save_options(self) -> None:
        """Write changed options to crawl.toml, once nothing can refuse them any more."""
        directory, kept = self._directory, self._kept
        if directory is not None and kept is not None and vars(directory.options) != vars(kept):
            directory.options = kept
            directory.save()

    def events(self, after: int = 0) -> Generator[Event, None, None]:
        """The log's events, or the later ones; in passing it is noted who judged, and which payloads are archived."""
        for event in self.log.events("seq > ?", given=(after,)) if isinstance(self.log, SqliteLog) else self.log:
            if isinstance(event, Visit | ModelUpdate):
                self.judged_by = event.judge or self.judged_by
            if isinstance(event, Visit) and self.archive is not None:
                self.archive.remember(event)
            yield event

    def state(self) -> State:
        return {"judged_by": self.judged_by, "archive": None if self.archive is None else self.archive.state()}

    def restore(self, state: State) -> None:
        self.judged_by = state["judged_by"]
        if self.archive is not None and state["archive"] is not None:
            self.archive.restore(state["archive"])

    def versions(self) -> Versions:
        """The pages as they were, for those who look again."""
        assert isinstance(self.log, SqliteLog)
        assert self.request.path is not None
        return Versions(self.log, self.request.path / "archive")

    def close(self) -> None:
        for part in (self.mark, self.archive, self.log, self._directory):
            if part is not None:
                part.close()
        self.archive = self._directory = self.snapshots = None
        self.log = NullLog()


# -- room on the disk --------------------------------------------------------------------------------------

# How much of the disk a crawl takes, and whether there is enough left: it ends in order before there is not.

SPARE = 100_000_000  # bytes left on the disk, for what is in flight and for closing the log
EVERY, EVERY_BYTES = 100, 20_000_000  # visits, or bytes received, between two looks


class DiskGuard:
    """Looks at the disk now and then. `most`: bytes that the directory may take; 0: as many as there are."""

    def __init__(
        self, directory: Path, most: int = 0, free: Callable[[Path], int] = lambda path: shutil.disk_usage(path).free
    ) -> None:
        self.directory, self.most, self._free = directory, most, free
        self._visits = self._bytes = 0

    def visited(self, visit: Visit) -> str:
        """One more visit is recorded; why the crawl has to end, if it has to."""
        self._visits += 1
        self._bytes += visit.size
        if self._visits < EVERY and self._bytes < EVERY_BYTES and self._visits != 1:
            return ""
        self._visits, self._bytes = 1, 0
        return self.lacking()

    def lacking(self) -> str:
        """What there is too little of, in words; empty if there is enough."""
        try:
            free, taken = self._free(self.directory), size_of(self.directory) if self.most else 0
        except OSError:
            return ""  # whoever writes there says what is wrong
        if free < SPARE:
            left = f"the disk of {self.directory} is nearly full, {free / 1e6:,.0f} MB are left"
            return f"{left}: free some space, then continue"
        if self.most and taken >= self.most:
            return (
                f"{self.directory} takes {taken / 1e6:,.1f} MB, and --max-disk allows {self.most / 1e6:,.1f} MB: "
                "continue with a larger one"
            )
        return ""


def size_of(directory: Path) -> int:
    """Bytes that a directory takes on the disk, with all that is in it."""
    taken = 0
    for folder, _, files in os.walk(directory):
        for name in files:
            try:
                taken += os.lstat(os.path.join(folder, name)).st_blocks * 512
            except OSError:  # gone meanwhile
                continue
    return taken


# -- snapshots ---------------------------------------------------------------------------------------------

# Resuming from a snapshot: what a crawl has learned, as of some event of its log; only the later ones are folded.
#
# A snapshot is bound to the log up to that event, to the options that the fold goes by, and to the code that folds: one
# that does not fit is not used, and the log is folded from its beginning. The log stays the truth.
#
# While a crawl runs, a snapshot is written whenever that costs no more than two hundredths of the CPU time that was
# used so far, all snapshots of the process together. In the end one is written, too, if whoever looks at the crawl, or
# resumes it, would take longer to fold what the last one lacks.

SHARE = 0.02  # of the CPU time, for snapshots
FEWEST = 250  # visits between two snapshots
FOLDING, CHEAP = 0.002, 0.2  # CPU seconds to fold a visit, about; and to write a snapshot, at least
# Options that make no difference to what is learned from a log.
ASIDE = frozenset(
    """
    documents render render_resources render_time render_requests render_bytes render_at_once
    render_trackers browser browser_pages headers cookies warc_prefix
    operator log_file
    readers seeds seed_files search search_results budget max_requests max_bytes max_time concurrency delay per_host
    address_delay patience attempts contact timeout min_rate max_body proxy proxy_ca rotate per_hour explore schedule
    detect frequently infrequently always frequent infrequent watch_all notify notify_every
    max_disk index feeds feed_url tell_kinds tell_at_least choosy identity respect_opt_outs
    """.split()
)


def bound_to(request: CrawlRequest, engine: Engine) -> About:
    """What a snapshot has to be of, beside the log."""
    options = {name: value for name, value in vars(request.options).items() if name not in ASIDE}
    guide: Any = getattr(engine.strategy, "estimator", engine.strategy)
    judge: Any = getattr(engine.judge, "inner", engine.judge)
    parts = [engine.space, engine.judge, judge, engine.strategy, guide, engine.trap_filter, engine.reader]
    own = [_source(part) for part in parts]
    named = [f"{type(part).__module__}.{type(part).__qualname__}" for part in parts]
    vectors = digest() if getattr(guide, "meaning_", None) is not None else ""
    about = (sorted(options.items()), engine.model_updates.judge_name, engine.judge.threshold, named, own, vectors)
    strategy = repr(guide) if request.strategy is not None else ""
    crawl = xxhash.xxh3_128_hexdigest(f"{about!r} {strategy}".encode("utf-8", "replace"))
    return {
        "code": code_digest(),
        "judge": learning_key(request.options, engine.model_updates.judge_name),
        "crawl": crawl,
    }


def _renderer(engine: Engine) -> str:
    """Return the class name of the renderer, whose state depends on it; empty without one, as for readers."""
    renderer = getattr(getattr(engine, "space", None), "renderer", None)
    return "" if renderer is None else type(renderer).__name__


def _source(part: object) -> str:
    """The code of somebody's own class; another one each time where that can't be read."""
    module = type(part).__module__
    if module.partition(".")[0] in (__name__.partition(".")[0], "builtins"):
        return ""
    try:
        return xxhash.xxh3_64_hexdigest(Path(str(sys.modules[module].__file__)).read_bytes())
    except (OSError, KeyError, AttributeError):
        return os.urandom(8).hex()


def restore_snapshot(request: CrawlRequest, files: CrawlFiles, engine: Engine) -> int:
    """Restore a new engine from the snapshot, if one fits, and return the number of the last event it knows.

    Raise Untold if the snapshot turns out not to fit on the way: the engine is then of no use.
    """
    log = files.log
    if files.snapshots is None or request.keeping is not None or not isinstance(log, SqliteLog):
        return 0
    bound = bound_to(request, engine)
    without: list[str] = []

    def fits(about: About) -> bool:
        same = all(about[name] == value for name, value in bound.items()) and about["seq"] <= files.until
        same = same and spilled_fits(about.get("spilled", []), files.spill_file)
        same = same and log.chain(about["seq"]) == about["log"]
        if same and _renderer(engine) not in ("", about.get("renderer")):
            request.notes.append("a browser was installed or removed since the last run: the whole log was read again")
            return False
        without[:] = files.without if about["seq"] == log.end() else ()
        return bool(same)

    def wanted(names: tuple[str, ...]) -> bool:  # whoever only looks has no archive
        return names[0] == "engine" and names[1] not in without and " ".join(names[1:3]) not in without

    with _no_garbage():
        snapshot = files.snapshots.read(fits, wanted if files.readonly else None, progress=request.progress)
        if snapshot is None:
            return 0
        about, state = snapshot
        with files.snapshots.restoring():
            engine.restore(state.pop("engine"), without)
            files.restore(state["files"])
    return int(about["seq"])


def snapshot_seq(directory: Path) -> int:
    """The last event that the snapshot in a directory knows of; 0 if there is none, or of other code."""
    about = Snapshots(directory).about()
    return int(about["seq"]) if about is not None and about.get("code") == code_digest() else 0


class SnapshotWriter:
    """Writes snapshots of a crawl that runs."""

    spent = 0.0  # CPU seconds of all snapshots of the process

    def __init__(
        self,
        request: CrawlRequest,
        files: CrawlFiles,
        engine: Engine,
        cpu: Callable[[], float] = time.process_time,
        share: float = SHARE,
    ) -> None:
        self.files, self.engine = files, engine
        self._cpu, self._share = cpu, share
        self._bound = bound_to(request, engine)
        self._visits = 0
        self._cost = 0.0

    def visited(self, visit: Visit) -> None:
        """One more visit is recorded: time for a snapshot, perhaps."""
        self.files.judged_by = visit.judge or self.files.judged_by
        self._visits += 1
        if self._visits >= FEWEST and self._visits % 50 == 0:
            self.write()

    def finish(self) -> None:
        """The crawl is over."""
        self.write(sure=self._visits * FOLDING > max(self._cost, CHEAP))

    def write(self, sure: bool = False) -> bool:
        """Write one if it does not cost too much, or anyway."""
        snapshots, log = self.files.snapshots, self.files.log
        before = self._cpu()
        if snapshots is None or not isinstance(log, SqliteLog):
            return False
        if not sure and SnapshotWriter.spent + self._cost > self._share * before:
            return False
        try:
            seq = log.end()
            state = {"engine": self.engine.state(), "files": self.files.state()}
            spilled = getattr(self.engine, "spilled", None)
            about = [] if spilled is None else spilled.about()
            snapshots.write(
                {
                    **self._bound,
                    "seq": seq,
                    "log": log.chain(seq),
                    "spilled": about,
                    "renderer": _renderer(self.engine),
                },
                state,
            )
        except (StateMismatch, MemoryError, OverflowError):  # it is folded instead
            self.files.snapshots = None
            return False
        except OSError:
            self.files.snapshots = None
            with suppress(OSError):
                snapshots.remove()  # what is there of it must not take the crawl's room
            return False
        self._cost = self._cpu() - before
        SnapshotWriter.spent += self._cost
        self._visits = 0
        return True


@contextmanager
def _no_garbage() -> Iterator[None]:
    """Millions of objects are made, none of which is garbage: nobody has to look for it."""
    was = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was:
            gc.enable()


# -- the process beside a large crawl ----------------------------------------------------------------------

# A process beside a large crawl that keeps up to date what shows and searches it.
#
# It has the lowest priority, and only reads: a crawl goes on as it would without. It ends when the crawl has, and all
# of it is indexed; if it dies, it is started again a while later.

LARGE_CRAWL = 20_000  # pages from which on a crawl is followed: to read and index fewer takes less than a minute
LOOK_EVERY = 5_000  # pages after which it is looked after


class BackgroundIndexer:
    """Started when a crawl gets large."""

    def __init__(self, directory: Path, pages: int) -> None:
        self.directory = directory
        self._pages, self._next = pages, max(pages, LARGE_CRAWL)
        self._process: subprocess.Popen[bytes] | None = None

    def visited(self, visit: Visit) -> None:
        """One more visit is recorded."""
        self._pages += visit.is_page
        if self._pages < self._next:
            return
        self._next = self._pages + LOOK_EVERY
        if self._process is None or self._process.poll() is not None:
            self._process = start_indexer(self.directory, follow=True)

    def close(self) -> None:
        """The crawl is over: whoever follows it notices by itself, and has something to do until then."""
        if self._process is not None:
            with suppress(subprocess.TimeoutExpired):
                self._process.wait(0)
            self._process.returncode = self._process.returncode or 0  # nobody waits for it: no warning of that


def start_indexer(directory: Path, *, follow: bool = False) -> subprocess.Popen[bytes] | None:
    """Start one that goes on when this process has ended; None where that is not possible."""
    module = "lycosa.collection.searching"
    command = [sys.executable, "-m", module, str(directory.absolute()), *(["--follow"] if follow else [])]
    with suppress(OSError):
        nothing = subprocess.DEVNULL
        process = subprocess.Popen(command, stdin=nothing, stdout=nothing, stderr=nothing, start_new_session=True)
        with suppress(OSError):  # it may have ended
            os.setpriority(os.PRIO_PROCESS, process.pid, 19)  # lets everybody else go first
        return process
    return None
