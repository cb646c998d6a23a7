"""`lycosa check`: verify a crawl's log and archive, and rebuild the indexes derived from them.

A damaged log is replaced by a copy of its readable events and kept under another name. Words are numbered in the order
of the log, so visits after a lost one lose their words. A visit whose records cannot be read is marked as not archived.
"""

from __future__ import annotations

import gzip
import io
import os
import sqlite3
import time
import zlib
from collections.abc import Iterator
from contextlib import closing, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from lycosa.collection import searching, shelf
from lycosa.core.errors import DamagedError, LockedError, StoreError
from lycosa.core.progress import ProgressCallback, no_progress
from lycosa.core.types import ArchivePlace, Event, Terms, Visit
from lycosa.store import cdxj, codec
from lycosa.store.directory import Directory
from lycosa.store.log import NAME, NON_VISIT_KINDS, SqliteLog, harden, is_valid_place, row_columns
from lycosa.store.search import NAME as SEARCH
from lycosa.store.snapshots import Snapshots


@dataclass(slots=True)
class CrawlCheck:
    """Result of a check: faults, one per line, and the size in bytes of each part of the directory."""

    events: int = 0
    faults: list[str] = field(default_factory=list)
    rebuilt: list[str] = field(default_factory=list)  # rebuilt indexes; no data was lost, as after `kill -9`
    sizes: dict[str, int] = field(default_factory=dict)


def check(directory: Path, progress: ProgressCallback = no_progress) -> CrawlCheck:
    """Check a crawl or one shard of it; raise LockedError while it is running."""
    result, path = CrawlCheck(), directory / NAME
    with closing(Directory.open(directory, shard=True)):
        if not path.exists():
            raise StoreError(f"{path} does not exist: nothing has been crawled there yet")
        try:
            _check_log(path, result, progress)
        except sqlite3.Error as error:
            if "locked" in str(error):
                raise LockedError(f"{path} is locked by another program: close that program first") from error
            raise DamagedError(f"{path} cannot be read ({error}): restore it from a backup") from error
        _check_archive(directory, result, progress)
        if result.faults:  # snapshot and cached view belong to the old log
            Snapshots(directory).remove()
            shelf.remove(directory)
        _index_archive(directory, result)
        if _is_damaged(directory / SEARCH):
            (directory / SEARCH).unlink()
            result.rebuilt.append("search index: damaged; rebuilt")
    searching.index(directory, progress)
    for entry in directory.iterdir():
        name = next((known for known in (NAME, SEARCH) if entry.name.startswith(known)), entry.name)
        files = entry.rglob("*") if entry.is_dir() and not entry.is_symlink() else [entry]
        size = sum(file.lstat().st_size for file in files if file.is_file() and not file.is_symlink())
        result.sizes[name] = result.sizes.get(name, 0) + size
    return result


def _check_log(path: Path, result: CrawlCheck, progress: ProgressCallback) -> None:
    """Replace a damaged log by a copy of its readable events."""
    with closing(sqlite3.connect(path, isolation_level=None)) as db:
        harden(db)
        try:
            db.execute("PRAGMA journal_mode=DELETE")  # a leftover WAL of the old log must not be applied to the new one
        except sqlite3.DatabaseError as error:
            if "locked" in str(error):
                raise
    new = path.with_name(f"{NAME}.checked.new")
    new.unlink(missing_ok=True)
    try:
        faults = list(_copy(path, new, result, progress))
        if not faults and _is_damaged(path):
            faults = ["log: redundant data is damaged; all events can be read"]
        if faults:
            backup = path.with_name(f"{NAME}.damaged-{time.time_ns()}")
            os.link(path, backup)
            os.replace(new, path)
            result.faults += [*faults, f"log: replaced by a copy of {result.events:,} events; kept as {backup.name}"]
    finally:
        new.unlink(missing_ok=True)


def _copy(path: Path, new: Path, result: CrawlCheck, progress: ProgressCallback) -> Iterator[str]:
    """Copy all readable events; yield a description of each fault."""
    address = f"{path.absolute().as_uri()}?mode=ro"
    with closing(sqlite3.connect(address, uri=True)) as db, closing(SqliteLog(new)) as log, log.batch():
        harden(db)
        db.execute("PRAGMA writable_schema=ON")  # otherwise SQLite does not read truncated files
        db.text_factory = lambda raw: raw.decode("utf-8", "replace")
        relevances_now: dict[int, float] = {}
        query = "SELECT seq, relevance_now FROM relevance_now WHERE typeof(relevance_now) = 'real'"
        with suppress(sqlite3.DatabaseError):  # `lycosa judge` can compute the relevances again
            relevances_now = dict(db.execute(query))
        lost: list[str] = []
        rebuilt = wordless = 0
        words_lost = False
        for seq, row in _rows(db):
            if seq % 1000 == 0:
                progress("reading the log", seq, seq)
            event = _decoded(row) if row else None
            if event is None:
                lost.append(
                    f"{seq} ({row[1]} {row[2]})" if row else f"{seq} and all later ones" if row is None else str(seq)
                )
                words_lost = words_lost or not row or row[1] not in NON_VISIT_KINDS
                continue
            body = row[9]
            if isinstance(event, Visit) and words_lost and (len(event.terms.ids) or event.terms.new):
                event.terms, wordless = Terms(), wordless + 1
                body = codec.encode_visit(event)
            rebuilt += row_columns(event) != tuple(row[1:9])
            log.put(seq, event, body, relevances_now.get(seq) if isinstance(event, Visit) else None)
            result.events += 1
    if not result.events:
        raise sqlite3.DatabaseError("no event is readable")
    if lost:
        more = f" and {len(lost) - 10:,} more" if len(lost) > 10 else ""
        yield f"log: lost are the events {', '.join(lost[:10])}{more}"
    if rebuilt:
        yield f"log: {rebuilt:,} events had damaged columns; rebuilt from their contents"
    if wordless:
        yield f"log: {wordless:,} later visits have lost the words of their pages, which the judge learns from"


def _rows(db: sqlite3.Connection) -> Iterator[tuple[int, Any]]:
    """Yield the events by number: () for an unreadable one, None if all from there on are unreadable."""
    end, faults = 0, list[int]()
    with suppress(sqlite3.DatabaseError):
        end = int(db.execute("SELECT MAX(seq) FROM event").fetchone()[0] or 0)
    for seq in range(1, 1 + (end or 1_000_000)):
        try:
            row = db.execute("SELECT * FROM event WHERE seq = ?", (seq,)).fetchone()
        except sqlite3.DatabaseError:
            faults.append(seq)
            continue
        yield from ((fault, ()) for fault in faults if row)
        if row:
            faults = []
            yield seq, row
    if end:
        yield from ((fault, ()) for fault in faults)
    elif faults:  # the file does not record the number of events any more
        yield faults[0], None


def _decoded(row: tuple[Any, ...]) -> Event | None:
    """Decode an event. If its kind is damaged, try it as a visit, whose body contains the kind."""
    _, kind, _, _, _, _, file, start, length, body = row
    try:
        if kind in NON_VISIT_KINDS:
            return codec.decode_other(kind, body)
        plain = isinstance(file, str) and type(start) is int and type(length) is int
        place = ArchivePlace(file, start, length) if plain else ArchivePlace()
        return codec.decode_visit(body, place if is_valid_place(place) else ArchivePlace())
    except codec.DECODE_ERRORS:
        return None


def _is_damaged(path: Path) -> bool:
    if not path.exists():
        return False
    try:
        with closing(sqlite3.connect(path)) as db:
            harden(db)
            return bool(db.execute("PRAGMA integrity_check(1)").fetchone()[0] != "ok")
    except sqlite3.DatabaseError as error:
        return "locked" not in str(error)


def _check_archive(directory: Path, result: CrawlCheck, progress: ProgressCallback) -> None:
    archive = directory / "archive"
    unreadable: dict[str, list[int]] = {}
    with closing(SqliteLog(directory / NAME)) as log:
        for seq, file, start, length in log.rows("seq, file, start, length", "file != ''", "file, start"):
            if not _is_whole(archive / file, start, length):
                unreadable.setdefault(file, []).append(seq)
            progress("reading the archive", seq, seq)
        for file, seqs in unreadable.items():
            log.forget_places(seqs)
            state = "damaged" if (archive / file).exists() else "missing"
            result.faults.append(f"archive/{file}: {state}; {len(seqs):,} visits are no longer archived")


def _is_whole(path: Path, start: int, length: int) -> bool:
    try:
        with open(path, "rb") as file:
            file.seek(start)
            data = file.read(length)
        with gzip.open(io.BytesIO(data)) as records:
            while records.read(1 << 20):
                pass
    except (OSError, EOFError, zlib.error):
        return False
    return len(data) == length


def _index_archive(directory: Path, result: CrawlCheck) -> None:
    with closing(SqliteLog(directory / NAME, readonly=True)) as log:
        archived = log.archived()
    for name, end in archived.items():
        path, index = directory / "archive" / name, cdxj.index_path(directory / "archive" / name)
        if path.exists() and end and not cdxj.indexed_end(index, end):
            with suppress(StoreError):  # the file itself is damaged and has been reported
                cdxj.update_index(path, end)
                result.rebuilt.append(f"archive/{index.name}: incomplete; rebuilt")
