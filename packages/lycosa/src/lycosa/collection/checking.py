"""`lycosa check`: verify a crawl's log and archive, and rebuild the indexes derived from them.

A damaged log is replaced by a copy of its readable events and kept under another name; the derived tables are made
again. Words are numbered in the order of the log, so visits after a lost one lose their words. A visit whose records
cannot be read is marked as not archived.
"""

from __future__ import annotations

import gzip
import io
import os
import sqlite3
import time
import zlib
from collections import Counter
from collections.abc import Iterator
from contextlib import closing, suppress
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

from lycosa.collection import searching
from lycosa.core.errors import DamagedError, LockedError, StoreError
from lycosa.core.progress import ProgressCallback, no_progress
from lycosa.core.types import Event, Terms, Visit
from lycosa.store import cdxj, schema
from lycosa.store.directory import Directory
from lycosa.store.log import EVENT_TABLES, NAME, SqliteLog, harden, stored_event
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
        if result.faults:  # a snapshot belongs to the old log
            Snapshots(directory).remove()
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
        if not faults and (_is_damaged(path) or _is_altered(path)):
            faults = ["log: redundant data is damaged; all events can be read"]
        if not faults and _derived_tables(path) != _derived_tables(new):
            faults = ["log: the tables of pages and relevances did not fit the events; made again"]
        if faults:
            backup = path.with_name(f"{NAME}.damaged-{time.time_ns()}")
            os.link(path, backup)
            os.replace(new, path)
            result.faults += [*faults, f"log: replaced by a copy of {result.events:,} events; kept as {backup.name}"]
    finally:
        new.unlink(missing_ok=True)


def _derived_tables(path: Path) -> tuple[list[Any], list[Any]]:
    with closing(sqlite3.connect(path)) as db:
        harden(db)
        queries = ("SELECT * FROM page ORDER BY first", "SELECT seq FROM score ORDER BY seq")
        pages, scores = (db.execute(query).fetchall() for query in queries)
        return pages, scores


def _copy(path: Path, new: Path, result: CrawlCheck, progress: ProgressCallback) -> Iterator[str]:
    """Copy all readable events; yield a description of each fault."""
    address = f"{path.absolute().as_uri()}?mode=ro"
    lost: list[str] = []
    parts: Counter[str] = Counter()  # damaged parts of visits
    with closing(sqlite3.connect(address, uri=True)) as db, closing(SqliteLog(new)) as log, log.batch():
        harden(db)
        db.execute("PRAGMA writable_schema=ON")  # otherwise SQLite does not read truncated files
        db.text_factory = partial(_text, parts)
        words_lost = False
        for seq, event, defects in _stored_events(db, lost):
            if seq % 1000 == 0:
                progress("reading the log", seq, seq)
            words_lost = words_lost or "visit" in defects or "terms" in defects
            if event is None:
                continue
            if isinstance(event, Visit) and words_lost and (len(event.terms.ids) or event.terms.new):
                event.terms, defects = Terms(), [*defects, "terms"]
            parts.update(defects)
            log.put(seq, event)
            result.events += 1
    if not result.events:
        raise sqlite3.DatabaseError("no event is readable")
    if lost:
        more = f" and {len(lost) - 10:,} more" if len(lost) > 10 else ""
        yield f"log: lost are the events {', '.join(lost[:10])}{more}"
    for part, what in _PARTS.items():
        if parts[part]:
            yield f"log: {what.format(parts[part])}"


_MAX_UNREADABLE = 100_000  # events in a row; a damaged inner page of a table makes some 5,000 unreadable
_PARTS = {
    "text": "{:,} texts were damaged; unreadable letters were replaced",
    "links": "{:,} visits have lost their links",
    "terms": "{:,} visits have lost the words of their pages, which the judge learns from",
    "binary": "{:,} visits have lost some of their data",
}


def _stored_events(db: sqlite3.Connection, lost: list[str]) -> Iterator[tuple[int, Event | None, list[str]]]:
    """Yield all events with their numbers and unreadable parts, None for an unreadable one; fill a list of these."""
    end, is_certain = _last_event(db)
    seq, missing, last_read = 0, list[str](), 0
    while seq < end or not (is_certain or seq > max(end, last_read) + _MAX_UNREADABLE):
        seq += 1
        event, defects = stored_event(db, seq)
        if event is None and not defects:  # lost in an earlier repair
            continue
        if event is None:
            missing.append(f"{seq} ({' or '.join(defects)})")
        else:
            lost += missing
            missing, last_read = [], seq
        yield seq, event, defects
    lost += missing if is_certain or not missing else [f"{missing[0].partition(' ')[0]} and all later ones"]


def _text(parts: Counter[str], raw: bytes) -> str:
    try:
        return raw.decode()
    except UnicodeDecodeError:
        parts["text"] += 1
        return raw.decode("utf-8", "replace")


def _last_event(db: sqlite3.Connection) -> tuple[int, bool]:
    """Return the number of the last event, and whether it is certain that none follows."""
    last, is_certain = 0, True
    for name in (*EVENT_TABLES, "content", "score"):
        try:
            last = max(last, db.execute(f"SELECT COALESCE(MAX(seq), 0) FROM {name}").fetchone()[0])
        except sqlite3.DatabaseError:
            is_certain = is_certain and name not in EVENT_TABLES
    return last, is_certain


def _is_damaged(path: Path) -> bool:
    if not path.exists():
        return False
    try:
        with closing(sqlite3.connect(path)) as db:
            harden(db)
            return bool(db.execute("PRAGMA integrity_check(1)").fetchone()[0] != "ok")
    except sqlite3.DatabaseError as error:
        return "locked" not in str(error)


def _is_altered(path: Path) -> bool:
    """Return whether other tables, indexes or views were defined in a log."""
    with closing(sqlite3.connect(path)) as db:
        harden(db)
        return schema.objects(db) != schema.expected_objects()


def _check_archive(directory: Path, result: CrawlCheck, progress: ProgressCallback) -> None:
    archive = directory / "archive"
    unreadable: dict[str, list[int]] = {}
    with closing(SqliteLog(directory / NAME)) as log:
        for seq, file, start, length in log.rows(
            "seq, warc_file, warc_offset, warc_length", "warc_file != ''", "warc_file, warc_offset"
        ):
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
