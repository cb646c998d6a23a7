"""A log made smaller: `lycosa compact`. What a crawl has learned, and will pick, stays as it is.

    links out of scope      the crawl never follows them: their words (anchor, what stands around them, their place in
                            the document) are dropped; addresses stay, as judges look at them
    later versions          links that an earlier version of the page had already: the same
    the file                rows side by side in pages of 16 kB; SQLite's usual 4 kB hold one visit each, and are half
                            empty

The new log is written beside the old one, read again, and put in its place in one step: whoever is killed has the one
or the other. What was left of a killed attempt is removed by the next. Labels, lessons, settings, terms, worths and all
numbers of events stay, and so do caches, but for a snapshot of a log whose visits have become shorter: it is bound to
their lengths.
"""

from __future__ import annotations

import os
import shutil
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from lycosa.collection.mending import settle
from lycosa.core.errors import StoreError
from lycosa.core.files import sync
from lycosa.core.options import Options
from lycosa.core.telling import Tell, silent
from lycosa.core.types import Links, Place, Visit
from lycosa.store import codec
from lycosa.store.directory import Directory
from lycosa.store.log import NAME, OTHERS, SqliteLog
from lycosa.store.snapshots import Snapshots
from lycosa.web.urls import Scope

PAGE_SIZE, LARGE = 16_384, 8_000_000
"""Bytes of a page of the new file, and of a log from which on such pages save room."""

AT_ONCE = 500
"""Events that are written together."""

LEVEL = 12
"""Of compression, for visits that are written anew."""

NEW = f"{NAME}.compact.new"

SPARE = 50_000_000
"""Bytes that have to be left on the disk."""


@dataclass(slots=True)
class Compacted:
    """What came of it."""

    events: int = 0
    outside: int = 0
    """Links out of scope whose words were dropped."""
    repeated: int = 0
    """Links of later versions whose words an earlier one has."""
    before: int = 0
    after: int = 0
    """Bytes."""
    snapshot: bool = False
    """Whether a snapshot had to go: the next resume reads the log once."""


def compact(directory: Path, tell: Tell = silent) -> Compacted:
    """Make the log of a crawl that does not run smaller."""
    opened = Directory.open(directory)
    try:
        path, new = directory / NAME, directory / NEW
        if not path.exists():
            raise StoreError(f"{path} does not exist: nothing has been crawled there yet")
        with closing(opened.log()):  # one of an earlier format is brought to this one
            pass
        settle(path)
        for left in (new, new.with_name(f"{NEW}-journal")):
            left.unlink(missing_ok=True)
        done = Compacted(before=path.stat().st_size)
        if shutil.disk_usage(directory).free < done.before + SPARE:
            raise StoreError(
                f"cannot write a smaller log next to {path}: it needs {done.before:,} bytes for a while; free space"
            )
        try:
            _Writing(opened.options, done, tell).write(path, new)
            done.after = new.stat().st_size
            if done.after >= done.before and not (done.outside or done.repeated):
                return Compacted(done.events, before=done.before, after=done.before)
            os.replace(new, path)
            _sync(directory)
        except (sqlite3.Error, OSError) as error:
            raise StoreError(f"cannot write a smaller log next to {path}: {error}; the log is unchanged") from error
        finally:
            new.unlink(missing_ok=True)
        if done.outside or done.repeated:
            done.snapshot = Snapshots(directory).about() is not None
            Snapshots(directory).remove()
        return done
    finally:
        opened.close()


class _Writing:
    """One log, from the old file to the new."""

    def __init__(self, options: Options, done: Compacted, tell: Tell) -> None:
        self.done, self.tell = done, tell
        bounded = bool(options.hosts or options.domains or options.include or options.exclude)
        self.scope = Scope.of(replace(options, max_depth=0)) if bounded and options.space in ("", "web") else None
        self._had: dict[str, set[str]] = {}

    def write(self, path: Path, new: Path) -> None:
        """All events, the dropped words aside."""
        with closing(SqliteLog(path, readonly=True)) as log, closing(_created(new, self.done.before >= LARGE)) as db:
            again = {node for (node,) in log.rows("DISTINCT node", "kind = 'revisit' AND outcome = 'ok'", "node")}
            end = log.end()
            rows = self._rows(log, again)
            while True:
                batch = [row for _, row in zip(range(AT_ONCE), rows, strict=False)]
                if not batch:
                    break
                db.execute("BEGIN")
                db.executemany(f"INSERT INTO event VALUES ({', '.join('?' * 10)})", batch)
                db.execute("COMMIT")
                self.done.events += len(batch)
                self.tell("compacting", batch[-1][0], end)
            db.execute("BEGIN")
            db.executemany(
                "INSERT INTO worth VALUES (?, ?)", zip(*(each.tolist() for each in log.worths(end)), strict=True)
            )
            db.execute("COMMIT")
        self._compare(path, new)
        with open(new, "rb+") as file:
            sync(file.fileno())

    def _rows(self, log: SqliteLog, again: set[str]) -> Iterator[tuple[Any, ...]]:
        columns = "seq, kind, node, outcome, beta, same, file, start, length, body"
        for row in log.rows(columns):
            seq, kind, node, *rest, body = row
            looks = kind not in OTHERS and (self.scope is not None or node in again)
            yield (seq, kind, node, *rest, self._body(body, Place(*rest[3:6]), node in again)) if looks else row

    def _body(self, body: bytes, place: Place, again: bool) -> bytes:
        """A visit without the words of links that nobody needs; as it was, if it has none."""
        visit = codec.decode_visit(body, place)
        links = visit.links
        dropped = self._dropped(visit, again)
        if not dropped:
            return body
        links.anchors = ["" if at in dropped else text for at, text in enumerate(links.anchors)]
        links.contexts = ["" if at in dropped else text for at, text in enumerate(links.contexts)]
        links.paths = ["" if at in dropped else text for at, text in enumerate(links.paths)]
        return codec.encode_visit(visit, LEVEL)

    def _dropped(self, visit: Visit, again: bool) -> set[int]:
        """The places of links whose words are dropped."""
        links, dropped = visit.links, set[int]()
        if self.scope is not None and visit.outcome != "redirect":
            outside = {at for at, url in enumerate(links.urls) if not self.scope(url, 0) and _says(links, at)}
            self.done.outside += len(outside)
            dropped |= outside
        if again and visit.is_version:
            had = self._had.setdefault(visit.node, set())
            repeated = {
                at for at, url in enumerate(links.urls) if url in had and at not in dropped and _says(links, at)
            }
            self.done.repeated += len(repeated)
            dropped |= repeated
            had.update(links.urls)
        return dropped

    def _compare(self, path: Path, new: Path) -> None:
        """Whether the new log has all that the old one has, and can be read."""
        with closing(SqliteLog(path, readonly=True)) as old, closing(SqliteLog(new, readonly=True)) as made:
            made.check()
            columns = "COUNT(*), TOTAL(seq), TOTAL(beta), TOTAL(start), TOTAL(length), COUNT(worth.worth)"
            if next(old.rows(columns, order="1")) != next(made.rows(columns, order="1")):
                raise StoreError(f"the new log is not what {path} is: nothing was changed")


def _says(links: Links, at: int) -> bool:
    """Whether there are words of a link."""
    return bool(links.anchors[at] or links.contexts[at] or (links.paths and links.paths[at]))


def _created(new: Path, large: bool) -> sqlite3.Connection:
    """An empty log, with larger pages if it will be large."""
    db = sqlite3.connect(new, isolation_level=None)
    if large:
        db.execute(f"PRAGMA page_size={PAGE_SIZE}")
    db.execute("PRAGMA synchronous=OFF")  # it is synced as a whole before it counts
    SqliteLog.lay_out(db)
    return db


def _sync(directory: Path) -> None:
    """That the new log has the old one's name survives a loss of power."""
    handle = os.open(directory, os.O_RDONLY)
    try:
        sync(handle)
    finally:
        os.close(handle)
