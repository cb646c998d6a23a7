"""Files of a crawl: log, archive, crash marker and snapshots; disk space checks; the background indexer."""

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
from lycosa.text.embeddings import vectors_digest
from lycosa.version import SOFTWARE

SPILLED = "spilled"  # spilled rows: a cache, rebuilt from the log


class CrawlFiles:
    """Files in the directory of a crawl; without a directory nothing is stored."""

    readonly = False

    def __init__(self, request: CrawlRequest) -> None:
        self.request = request
        self.log: Log = NullLog()
        self.archive: WarcArchive | None = None
        self.mark = CrashMarker()
        self.snapshots: Snapshots | None = None
        self.until = math.inf
        self.without: tuple[str, ...] = ()  # parts of the engine skipped by readers if no events follow the snapshot
        self.judged_by = ""  # judge of the last page of an earlier run
        self.spill_file: Path | None = None  # None: a temporary file
        self._directory: Directory | None = None
        self._kept: Options | None = None

    def open(self) -> None:
        request, options = self.request, self.request.options
        if request.path is None:
            return
        if request.resuming and shard_directories(request.path):
            hint = "continue with 'lycosa resume', 'lycosa refresh' or 'lycosa watch' on the command line"
            raise InputError("shard-directory", f"{request.path} was crawled on a cluster: {hint}")
        if request.resuming:
            directory = Directory.open(request.path, shard=request.owns is not None)
        else:
            directory = Directory.create(request.path, options)
        self._directory, request.in_directory = directory, True
        self.mark = CrashMarker(request.path)
        self.snapshots = Snapshots(request.path)
        if request.revisit_plan is None:
            self.spill_file = request.path / SPILLED
        if not request.resuming:
            options = request.options = options.with_files(directory.options.files())  # with the directory's own copies
        self._kept = replace(options, max_time=directory.options.max_time)  # a time limit applies to one run
        log = self.log = directory.log()
        log.command = request.command
        if options.archive:
            self.archive = directory.archive(log, SOFTWARE, options.rotate, user_agent(options))
            self.archive.command = request.command
            request.notes += [f"beyond the log, moved aside: {what}" for what in directory.moved]

    def save_options(self) -> None:
        """Write changed options to crawl.toml, once everything has been validated."""
        directory, kept = self._directory, self._kept
        if directory is not None and kept is not None and vars(directory.options) != vars(kept):
            directory.options = kept
            directory.save()

    def events(self, after: int = 0) -> Generator[Event, None, None]:
        """Yield the log's events after a number; note their judge and the archived payloads."""
        numbered = self.log.events(after) if isinstance(self.log, SqliteLog) else enumerate(self.log)
        for _, event in numbered:
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
        assert isinstance(self.log, SqliteLog)
        assert self.request.path is not None
        return Versions(self.log, self.request.path / "archive")

    def close(self) -> None:
        for part in (self.mark, self.archive, self.log, self._directory):
            if part is not None:
                part.close()
        self.archive = self._directory = self.snapshots = None
        self.log = NullLog()


MIN_FREE_BYTES = 100_000_000  # minimum free bytes on the disk, for pages in flight and closing the log
CHECK_VISITS, CHECK_BYTES = 100, 20_000_000  # number of visits, or bytes received, between two checks


class DiskGuard:
    """Stops the crawl before the disk is full, or when its directory exceeds `max_bytes` bytes (0: no limit)."""

    def __init__(
        self, directory: Path, limit: int = 0, free: Callable[[Path], int] = lambda path: shutil.disk_usage(path).free
    ) -> None:
        self.directory, self.limit, self._free = directory, limit, free
        self._visits = self._bytes = 0

    def visited(self, visit: Visit) -> str:
        """Count a visit and check now and then; return why the crawl must end, or an empty string."""
        self._visits += 1
        self._bytes += visit.size
        if self._visits < CHECK_VISITS and self._bytes < CHECK_BYTES and self._visits != 1:
            return ""
        self._visits, self._bytes = 1, 0
        return self.lacking()

    def lacking(self) -> str:
        try:
            free, taken = self._free(self.directory), size_of(self.directory) if self.limit else 0
        except OSError:
            return ""  # the next write there reports the error
        if free < MIN_FREE_BYTES:
            left = f"the disk of {self.directory} is nearly full, {free / 1e6:,.0f} MB are left"
            return f"{left}: free some space, then continue"
        if self.limit and taken >= self.limit:
            limit = f"--max-disk allows {self.limit / 1e6:,.1f} MB"
            return f"{self.directory} takes {taken / 1e6:,.1f} MB, and {limit}: continue with a larger one"
        return ""


def size_of(directory: Path) -> int:
    taken = 0
    for folder, _, files in os.walk(directory):
        for name in files:
            try:
                taken += os.lstat(os.path.join(folder, name)).st_blocks * 512
            except OSError:  # deleted meanwhile
                continue
    return taken


# A snapshot holds the learned state up to some event of the log, so that resuming folds only later events. It is bound
# to the log up to that event, to the options that affect learning, and to the code; if any of these differs, the log is
# folded from its beginning.
# While a crawl runs, snapshots take at most 2 % of the process's CPU time. At the end one is written if folding the
# events since the last one would take longer than writing it.

MAX_CPU_SHARE = 0.02  # maximum share of CPU time for snapshots
MIN_VISITS = 250  # minimum visits between two snapshots
FOLDING, CHEAP = 0.002, 0.2  # approximate CPU seconds to fold a visit; minimum CPU seconds to write a snapshot
# Options that don't affect the state learned from a log
OPTIONS_NOT_LEARNED_FROM = frozenset(
    """
    documents render render_resources render_time render_requests render_bytes render_at_once render_trackers browser
    browser_pages headers cookies warc_prefix operator log_file readers seeds portals seed_files search search_results
    budget max_requests max_bytes max_time concurrency delay per_host address_delay patience attempts contact timeout
    min_rate max_body proxy proxy_ca rotate per_hour explore schedule detect frequently infrequently always frequent
    infrequent watch_all notify notify_every max_disk index feeds feed_url tell_kinds tell_at_least choosy identity
    respect_opt_outs until
    """.split()
)


def snapshot_key(request: CrawlRequest, engine: Engine) -> About:
    """Return the fingerprints that a snapshot must match, besides the log."""
    options = {name: value for name, value in vars(request.options).items() if name not in OPTIONS_NOT_LEARNED_FROM}
    guide: Any = getattr(engine.strategy, "estimator", engine.strategy)
    judge: Any = getattr(engine.judge, "inner", engine.judge)
    parts = [engine.space, engine.judge, judge, engine.strategy, guide, engine.trap_filter, engine.reader]
    own = [_source(part) for part in parts]
    named = [f"{type(part).__module__}.{type(part).__qualname__}" for part in parts]
    vectors = vectors_digest() if getattr(guide, "meaning_", None) is not None else ""
    summary = (sorted(options.items()), engine.model_updates.judge_name, engine.judge.threshold, named, own, vectors)
    strategy = repr(guide) if request.strategy is not None else ""
    crawl = xxhash.xxh3_128_hexdigest(f"{summary!r} {strategy}".encode("utf-8", "replace"))
    judge_key = learning_key(request.options, engine.model_updates.judge_name)
    return {"code": code_digest(), "judge": judge_key, "crawl": crawl}


def _renderer(engine: Engine) -> str:
    renderer = getattr(getattr(engine, "space", None), "renderer", None)
    return "" if renderer is None else type(renderer).__name__


def _source(part: object) -> str:
    module = type(part).__module__
    if module.partition(".")[0] in (__name__.partition(".")[0], "builtins"):
        return ""
    try:
        return xxhash.xxh3_64_hexdigest(Path(str(sys.modules[module].__file__)).read_bytes())
    except (OSError, KeyError, AttributeError):
        return os.urandom(8).hex()


def restore_snapshot(request: CrawlRequest, files: CrawlFiles, engine: Engine) -> int:
    """Restore a new engine from the snapshot, if one fits, and return the number of its last event.

    Raise StateMismatch if it turns out not to fit; the engine is then unusable.
    """
    log = files.log
    if files.snapshots is None or request.revisit_plan is not None or not isinstance(log, SqliteLog):
        return 0
    bound = snapshot_key(request, engine)
    without: list[str] = []

    def fits(facts: About) -> bool:
        same = all(facts[name] == value for name, value in bound.items()) and facts["seq"] <= files.until
        same = same and spilled_fits(facts.get("spilled", []), files.spill_file)
        same = same and log.chain(facts["seq"]) == facts["log"]
        if same and _renderer(engine) not in ("", facts.get("renderer")):
            request.notes.append("a browser was installed or removed since the last run: the whole log was read again")
            return False
        without[:] = files.without if facts["seq"] == log.end() else ()
        return bool(same)

    def wanted(names: tuple[str, ...]) -> bool:  # a read-only crawl restores the engine only
        return names[0] == "engine" and names[1] not in without and " ".join(names[1:3]) not in without

    with _no_garbage():
        snapshot = files.snapshots.read(fits, wanted if files.readonly else None, progress=request.progress)
        if snapshot is None:
            return 0
        summary, state = snapshot
        with files.snapshots.restoring():
            engine.restore(state.pop("engine"), without)
            files.restore(state["files"])
    return int(summary["seq"])


def snapshot_seq(directory: Path) -> int:
    """Return the last event number of a directory's snapshot; 0 if there is none or the code has changed."""
    summary = Snapshots(directory).about()
    return int(summary["seq"]) if summary is not None and summary.get("code") == code_digest() else 0


class SnapshotWriter:
    """Writer of the snapshots of a running crawl, within a limit of CPU time."""

    cpu_seconds = 0.0  # spent on snapshots by this process

    def __init__(
        self,
        request: CrawlRequest,
        files: CrawlFiles,
        engine: Engine,
        cpu: Callable[[], float] = time.process_time,
        share: float = MAX_CPU_SHARE,
    ) -> None:
        self.files, self.engine = files, engine
        self._cpu, self._share = cpu, share
        self._bound = snapshot_key(request, engine)
        self._visits = 0
        self._cost = 0.0

    def visited(self, visit: Visit) -> None:
        self.files.judged_by = visit.judge or self.files.judged_by
        self._visits += 1
        if self._visits >= MIN_VISITS and self._visits % 50 == 0:
            self.write()

    def finish(self) -> None:
        """Write a final snapshot if folding the events since the last one would take longer."""
        self.write(sure=self._visits * FOLDING > max(self._cost, CHEAP))

    def write(self, sure: bool = False) -> bool:
        """Write a snapshot, within the CPU limit unless `sure`; return whether it was written."""
        snapshots, log = self.files.snapshots, self.files.log
        before = self._cpu()
        if snapshots is None or not isinstance(log, SqliteLog):
            return False
        if not sure and SnapshotWriter.cpu_seconds + self._cost > self._share * before:
            return False
        try:
            seq = log.end()
            state = {"engine": self.engine.state(), "files": self.files.state()}
            spilled = getattr(self.engine, "spilled", None)
            summary = {**self._bound, "seq": seq, "log": log.chain(seq), "renderer": _renderer(self.engine)}
            snapshots.write(summary | {"spilled": [] if spilled is None else spilled.about()}, state)
        except (StateMismatch, MemoryError, OverflowError):  # without a snapshot the log is folded instead
            self.files.snapshots = None
            return False
        except OSError:
            self.files.snapshots = None
            with suppress(OSError):  # free the space for the crawl
                snapshots.remove()
            return False
        self._cost = self._cpu() - before
        SnapshotWriter.cpu_seconds += self._cost
        self._visits = 0
        return True


@contextmanager
def _no_garbage() -> Iterator[None]:
    was = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was:
            gc.enable()


LARGE_CRAWL = 20_000  # minimum pages for a background index; fewer are indexed in less than a minute
CHECK_PAGES = 5_000  # pages between two checks that the indexer still runs


class BackgroundIndexer:
    """Low-priority process that keeps the search index of a large, running crawl up to date.

    It ends when everything is indexed after the crawl, and is restarted if it dies.
    """

    def __init__(self, directory: Path, pages: int) -> None:
        self.directory = directory
        self._pages, self._next = pages, max(pages, LARGE_CRAWL)
        self._process: subprocess.Popen[bytes] | None = None

    def visited(self, visit: Visit) -> None:
        """Count a recorded visit; start or restart the process if needed."""
        self._pages += visit.is_page
        if self._pages < self._next:
            return
        self._next = self._pages + CHECK_PAGES
        if self._process is None or self._process.poll() is not None:
            self._process = start_indexer(self.directory, follow=True)

    def close(self) -> None:
        if self._process is not None:
            with suppress(subprocess.TimeoutExpired):
                self._process.wait(0)
            # avoids the ResourceWarning for a process not waited for
            self._process.returncode = self._process.returncode or 0


def start_indexer(directory: Path, *, follow: bool = False) -> subprocess.Popen[bytes] | None:
    """Start an indexer that outlives this process; return None if that fails."""
    module = "lycosa.collection.searching"
    command = [sys.executable, "-m", module, str(directory.absolute()), *(["--follow"] if follow else [])]
    with suppress(OSError):
        nothing = subprocess.DEVNULL
        process = subprocess.Popen(command, stdin=nothing, stdout=nothing, stderr=nothing, start_new_session=True)
        with suppress(OSError):  # the process may have ended already
            os.setpriority(os.PRIO_PROCESS, process.pid, 19)  # lowest priority
        return process
    return None
