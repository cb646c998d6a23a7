"""What a crawl keeps: its log, its archive, and the mark of the page it works on."""

from __future__ import annotations

import math
import os
import shutil
from collections.abc import Callable, Generator
from dataclasses import replace
from pathlib import Path

from lycosa.core.errors import InputError
from lycosa.core.files import Mark
from lycosa.core.protocols import Log
from lycosa.core.state import State
from lycosa.core.types import Event, Lesson, Visit
from lycosa.crawling.request import Request
from lycosa.spaces.making import user_agent
from lycosa.store.directory import SHARDS, Directory
from lycosa.store.earlier import Earlier, Versions
from lycosa.store.log import NullLog, SqliteLog
from lycosa.store.snapshots import Snapshots
from lycosa.store.warc import WarcArchive
from lycosa.version import SOFTWARE

COLD = "cold"
"""The file of rows that are not in memory: a cache, made again from the log."""


class Files:
    """Those of the directory that was asked for; without one nothing is kept."""

    readonly = False

    def __init__(self, request: Request) -> None:
        self.request = request
        self.log: Log = NullLog()
        self.archive: WarcArchive | None = None
        self.mark = Mark()
        self.snapshots: Snapshots | None = None
        self.until = math.inf
        """The last event of which a snapshot may know."""
        self.without: tuple[str, ...] = ()
        """Parts of the engine that whoever only looks does without, where nothing is left to be folded."""
        self.judged_by = ""
        """The judge of the last page of an earlier run."""
        self.cold_file: Path | None = None
        """Where rows are that are not in memory; without one, in a temporary file."""
        self._directory: Directory | None = None

    def open(self) -> None:
        """Make the directory, or take it over; options that have changed are written down."""
        request, options = self.request, self.request.options
        if request.path is None:
            return
        if request.resuming and any((request.path / SHARDS).glob("[0-9][0-9][0-9]")):
            raise InputError(
                f"{request.path} was crawled on a cluster: continue with 'lycosa resume', 'lycosa refresh' or 'lycosa "
                f"watch {request.path}' on the command line"
            )
        if request.resuming:
            directory = Directory.open(request.path, shard=request.owns is not None)
        else:
            directory = Directory.create(request.path, options)
        self._directory, request.in_directory = directory, True
        self.mark = Mark(request.path)
        self.snapshots = Snapshots(request.path)
        if request.keeping is None:
            self.cold_file = request.path / COLD
        if not request.resuming:
            own = directory.options  # has copies of its own, and sees from there what lies beside it
            options = request.options = replace(options.with_files(own.files()), dedupe=own.dedupe)
        kept = replace(options, max_time=directory.options.max_time)  # a run's own time is not the crawl's
        if vars(directory.options) != vars(kept):
            directory.options = kept
            directory.save()
        log = self.log = directory.log()
        log.command = request.command
        if options.archive:
            earlier = Earlier(options.dedupe, request.path) if options.dedupe else None
            self.archive = directory.archive(
                log, SOFTWARE, options.rotate, user_agent(options), earlier, request.notes.append
            )
            self.archive.command = request.command
            request.notes += [f"beyond the log, moved aside: {what}" for what in directory.moved]

    def events(self, after: int = 0) -> Generator[Event, None, None]:
        """The log's events, or the later ones; in passing it is noted who judged, and which payloads are archived."""
        for event in self.log.events("seq > ?", given=(after,)) if isinstance(self.log, SqliteLog) else self.log:
            if isinstance(event, Visit | Lesson):
                self.judged_by = event.judge or self.judged_by
            if isinstance(event, Visit) and self.archive is not None:
                self.archive.remember(event)
            yield event

    def state(self) -> State:
        """What is noted in passing."""
        return {"judged_by": self.judged_by, "archive": None if self.archive is None else self.archive.state()}

    def restore(self, state: State) -> None:
        """Have it noted."""
        self.judged_by = state["judged_by"]
        if self.archive is not None and state["archive"] is not None:
            self.archive.restore(state["archive"])

    def versions(self) -> Versions:
        """The pages as they were, for those who look again."""
        assert isinstance(self.log, SqliteLog)
        assert self.request.path is not None
        return Versions(self.log, self.request.path / "archive")

    def close(self) -> None:
        """Let others write."""
        for part in (self.mark, self.archive, self.log, self._directory):
            if part is not None:
                part.close()
        self.archive = self._directory = self.snapshots = None
        self.log = NullLog()


# -- room on the disk --------------------------------------------------------------------------------------

# How much of the disk a crawl takes, and whether there is enough left: it ends in order before there is not.

SPARE = 100_000_000
"""Bytes that have to be left on the disk: what is in flight still arrives, and the log is closed in order."""

EVERY, EVERY_BYTES = 100, 20_000_000
"""Visits, or bytes received, after which somebody looks."""


class Room:
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
