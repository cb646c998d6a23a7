"""The event log of a crawl: one SQLite row per event, in order.

Each event is committed on its own, or several in one `batch()`. WAL with `synchronous=NORMAL`: a commit takes 0.03 ms
and survives a kill of the process at any moment; a power failure may lose the last commits, but never consistency.
Readers (`lycosa show`) work while a crawl is running. The writer holds a lock on the directory, so that two crawls
cannot share a log.
"""

from __future__ import annotations

import fcntl
import json
import math
import os
import re
import sqlite3
import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import xxhash

from lycosa.core.errors import DamagedError, LockedError, StoreError
from lycosa.core.types import ArchivePlace, Event, InboundLinks, Label, LinkBatch, ModelUpdate, Setting, Visit
from lycosa.store import codec

if TYPE_CHECKING:
    from numpy.typing import NDArray

NAME = "log.sqlite"

PAGES = "kind = 'page' AND outcome = 'ok'"  # SQL for `Visit.is_page`
UNIQUE_PAGES = f"{PAGES} AND same = ''"  # the same without copies
VERSIONS = "kind IN ('page', 'revisit') AND outcome = 'ok'"  # SQL for `Visit.is_version`
RELEVANCE_NOW = "COALESCE(relevance_now.relevance_now, event.relevance)"  # SQL for `Visit.relevance_now`
NON_VISIT_KINDS = tuple(codec.EVENT_KINDS.values())
VISITS = f"kind NOT IN {NON_VISIT_KINDS}"
PLACE = re.compile(r"\w[\w.-]{0,250}", re.ASCII)  # archive file names, without path separators

_SCHEMA = """
CREATE TABLE event (
    seq     INTEGER PRIMARY KEY,
    kind    TEXT NOT NULL,          -- page, redirect, robots, ... for visits; seed, label, setting, model_update, ...
    node    TEXT NOT NULL,
    outcome TEXT NOT NULL,
    relevance REAL NOT NULL,
    same    TEXT NOT NULL,          -- node of which this is a copy
    file    TEXT NOT NULL,          -- archive file with its records
    start   INTEGER NOT NULL,
    length  INTEGER NOT NULL,
    body    BLOB NOT NULL
);
CREATE INDEX event_node ON event (node);
-- separate, since an update of `event` would rewrite the bodies; can be recomputed from the events
CREATE TABLE relevance_now (seq INTEGER PRIMARY KEY, relevance_now REAL NOT NULL);
"""


class Lock:
    """Exclusive lock on a crawl's directory; the kernel releases it when the process ends."""

    def __init__(self, directory: Path, *, peek: bool = False) -> None:
        self.path = directory / "lock"
        try:
            self._file = open(self.path, "r" if peek else "a+")  # noqa: SIM115 - held open for as long as the lock is held
        except OSError as error:
            advice = "make it writable, or choose another directory with --out"
            raise StoreError(f"cannot write to {directory}: {error.strerror}; {advice}") from error
        if not self._acquire(fcntl.LOCK_SH if peek else fcntl.LOCK_EX):
            self._file.seek(0)
            holder = self._file.read().strip()
            self._file.close()
            raise LockedError(
                f"{directory} is in use by a running crawl (process {holder or 'unknown'}); "
                f"stop it first, or watch it with: lycosa show {directory}"
            )
        if peek:
            return
        self._file.truncate(0)
        self._file.write(f"{os.getpid()}\n")
        self._file.flush()

    def _acquire(self, how: int) -> bool:
        """Try to lock for 0.2 s, since readers such as `lycosa show` hold the lock for a moment."""
        for _ in range(10):
            try:
                fcntl.flock(self._file, how | fcntl.LOCK_NB)
            except OSError:
                if how == fcntl.LOCK_SH:
                    return False
                time.sleep(0.02)
            else:
                return True
        return False

    def release(self) -> None:
        self._file.close()


class SqliteLog:
    """Event log in an SQLite file."""

    def __init__(self, path: Path, *, readonly: bool = False, busy_seconds: float = 10.0) -> None:
        self.path = path
        self.command = "resume"  # subcommand suggested in error messages
        self._name = str(path)
        self._busy = busy_seconds
        self._versions: list[int] | None = None
        self._chained = 0, b""
        if readonly and not path.exists():
            raise StoreError(f"{path} does not exist: nothing has been crawled there yet")
        if not path.exists():
            self._create()
        address = path.absolute().as_uri()
        if readonly and not os.access(path.parent, os.W_OK) and not path.with_name(f"{path.name}-wal").exists():
            address += "?immutable=1"  # SQLite creates files next to the log, which is impossible on a read-only medium
        with self._translating_errors():
            self._db = sqlite3.connect(address, timeout=busy_seconds, isolation_level=None, uri=True)
        try:
            self._set_up(readonly)
        except BaseException:
            self._db.close()
            raise

    def _create(self) -> None:
        """Create an empty log under a temporary name, then rename it, so that readers never see an incomplete log."""
        new = self.path.with_name(f"{self.path.name}.new")
        with self._translating_errors():
            new.unlink(missing_ok=True)
            with closing(sqlite3.connect(new, isolation_level=None)) as db:
                self.create_tables(db)
            new.rename(self.path)

    @staticmethod
    def create_tables(db: sqlite3.Connection) -> None:
        db.executescript(f"BEGIN; {_SCHEMA} PRAGMA user_version={codec.VERSION}; COMMIT;")

    def _set_up(self, readonly: bool) -> None:
        with self._translating_errors():
            harden(self._db)
            version = self._db.execute("PRAGMA user_version").fetchone()[0]
            new = not version and not self._db.execute("SELECT 1 FROM sqlite_master").fetchone()
            if version != codec.VERSION and not new:  # checked before writing, since this may be a foreign database
                raise DamagedError(
                    f"{self.path} was not written by this release of Lycosa: its format is {version}, not "
                    f"{codec.VERSION}. Use the release that wrote it"
                )
            if readonly:
                self._db.execute("PRAGMA query_only=1")
                return
            self._db.execute("PRAGMA journal_mode=WAL")
            self._db.execute("PRAGMA synchronous=NORMAL")
            self._db.execute("PRAGMA checkpoint_fullfsync=1")  # for macOS, see core/files.py
            if new:
                self.create_tables(self._db)

    def append(self, event: Event) -> int:
        """Append and commit an event; return its sequence number. A committed event survives kill -9."""
        body = codec.encode_visit(event) if isinstance(event, Visit) else codec.encode_other(event)
        seq = self.put(None, event, body)
        if isinstance(event, Visit) and self._versions is not None and event.is_version:
            self._versions.append(seq)
        if not os.path.exists(self._name):
            raise StoreError(f"{self.path} was deleted while the crawl ran: restore it, or start a new crawl")
        return seq

    def put(self, seq: int | None, event: Event, body: bytes, relevance_now: float | None = None) -> int:
        """Insert an encoded event under a sequence number, by default the next one; return the number."""
        with self._translating_errors():
            row = (seq, *row_columns(event), body)
            done = self._db.execute("INSERT INTO event VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)", row)
            if relevance_now is not None:
                self._db.execute("INSERT INTO relevance_now VALUES (?, ?)", (seq, relevance_now))
        return done.lastrowid or 0

    def store_relevances(self, relevances_now: NDArray[Any]) -> None:
        """Store the current relevance of each page version, in log order."""
        if self._versions is None:
            self._versions = [seq for (seq,) in self.rows("seq", VERSIONS)]
        seqs = self._versions
        if len(seqs) != len(relevances_now):
            raise StoreError(
                f"{self.path} has {len(seqs)} page versions, but {len(relevances_now)} relevances were given"
            )
        self.settle(zip(seqs, relevances_now.tolist(), strict=True))

    def forget_places(self, seqs: Sequence[int]) -> None:
        rows = [(seq,) for seq in seqs]
        with self.batch():
            self._db.executemany("UPDATE event SET file = '', start = 0, length = 0 WHERE seq = ?", rows)

    def settle(self, relevances_now: Iterable[tuple[int, float]]) -> None:
        """Store the current relevances of some pages, given as pairs of sequence number and relevance."""
        with self.batch():
            self._db.executemany("INSERT OR REPLACE INTO relevance_now VALUES (?, ?)", relevances_now)

    @contextmanager
    def batch(self) -> Iterator[None]:
        """Commit all events appended in the block at once, or none if it raises."""
        is_nested = self._db.in_transaction
        if is_nested:  # the outermost batch commits
            yield
            return
        with self._translating_errors():
            self._db.execute("BEGIN")
            try:
                yield
            except BaseException:
                if self._db.in_transaction:  # SQLite rolls back by itself if the disk is full
                    self._db.execute("ROLLBACK")
                self._versions = None  # may hold rows that were rolled back
                raise
            self._db.execute("COMMIT")

    def __iter__(self) -> Iterator[Event]:
        return self.events()

    def events(self, where: str = "TRUE", order: str = "seq", given: tuple[object, ...] = ()) -> Iterator[Event]:
        """Yield all events in order, or a selection given as SQL."""
        return (event for _, event in self.numbered(where, order, given))

    def visits(self, where: str, order: str = "seq", given: tuple[object, ...] = ()) -> Iterator[Visit]:
        """Yield the visits among the selected events."""
        return (event for event in self.events(where, order, given) if isinstance(event, Visit))

    def visit(self, seq: int) -> Visit:
        return next(self.visits("seq = ?", given=(seq,)))

    def numbered(
        self, where: str = "TRUE", order: str = "seq", given: tuple[object, ...] = ()
    ) -> Iterator[tuple[int, Event]]:
        """Yield sequence number and event of the selected events."""
        read = "seq, kind, file, start, length, body, relevance_now.relevance_now, node, outcome, relevance, same"
        for seq, kind, file, start, length, body, relevance_now, *columns in self.rows(read, where, order, given):
            yield seq, self._event(seq, kind, ArchivePlace(file, start, length), body, relevance_now, columns)

    def visits_at(self, seqs: Sequence[int], slice_size: int) -> Iterator[tuple[int, Visit]]:
        """Yield visits by sequence number; they are read in slices, so that a running crawl can write in between."""
        for start in range(0, len(seqs), slice_size):
            wanted = json.dumps(list(seqs[start : start + slice_size]))
            for seq, visit in self.numbered("seq IN (SELECT value FROM json_each(?))", given=(wanted,)):
                assert isinstance(visit, Visit)
                yield seq, visit

    def _event(
        self, seq: int, kind: str, place: ArchivePlace, body: bytes, relevance_now: float | None, columns: list[Any]
    ) -> Event:
        """Decode an event; raise DamagedError if it contradicts the columns of its row."""
        try:
            if kind in NON_VISIT_KINDS:
                event = codec.decode_other(kind, body)
                recorded = [node_column(event), "", 0.0, ""]
            else:
                event = visit = codec.decode_visit(body, place)
                visit.updated_relevance = relevance_now
                recorded = [visit.node, visit.outcome, visit.relevance, visit.same_as]
                if kind != visit.kind or not is_valid_place(place):
                    raise ValueError("its kind or archive position differs from its columns")
            if recorded != columns:
                raise ValueError("its columns differ from its body")
        except codec.DECODE_ERRORS as error:
            raise self._damaged(f"event {seq}, a {str(kind)[:40]!a}, can't be read: {_brief(error)}") from error
        return event

    def check(self, after: int = 0) -> None:
        """Raise DamagedError for the first defect after an event. Fast and safe, since no event is decoded."""
        with self._translating_errors():
            schema = self._db.execute("SELECT type, name, tbl_name FROM main.sqlite_master").fetchall()
            for kind, name, table in schema:
                if (kind, name, table) not in _SCHEMA_OBJECTS and not (
                    kind == "table" and str(name).startswith("sqlite_stat")
                ):
                    raise DamagedError(f"{self.path} is not a Lycosa log: it contains a {kind} {str(name)[:60]!a}")
            if not schema:
                return
            if [row[1] for row in self._db.execute("PRAGMA main.table_info(event)")] != _COLUMNS:
                raise DamagedError(f"{self.path} is not a Lycosa log: its table has other columns")
            # As bytes, since sqlite3 raises for TEXT that is not UTF-8.
            texts = ", ".join(f"CAST({name} AS BLOB)" for name in ("kind", "node", "outcome", "same", "file"))
            columns = f"seq, {texts}, relevance, start, length, typeof(body)"
            for seq, *row in self._db.execute(f"SELECT {columns} FROM event WHERE seq > ? ORDER BY seq", (after,)):
                if why := _column_defect(*row):
                    raise self._damaged(f"event {seq}: {why}")
            # Compare the node in the table with the copy in its index.
            lost = self._db.execute(
                "SELECT seq FROM event WHERE seq > ? AND NOT EXISTS "
                "(SELECT 1 FROM event AS same WHERE same.node = event.node AND same.seq = event.seq)",
                (after,),
            ).fetchone()
        if lost:
            raise self._damaged(f"event {lost[0]}: its node differs from the index")

    def _damaged(self, why: str) -> DamagedError:
        return DamagedError(
            f"{self.path} is damaged: {why}. Restore it from a backup, or keep the readable part with: "
            f"lycosa check {self.path.parent}"
        )

    def rows(
        self, columns: str, where: str = "TRUE", order: str = "seq", given: tuple[object, ...] = ()
    ) -> Iterator[tuple[Any, ...]]:
        """Yield columns of the selected rows; `RELEVANCE_NOW` is the SQL expression of a page's current relevance."""
        with self._translating_errors():
            yield from self._db.execute(
                f"SELECT {columns} FROM event LEFT JOIN relevance_now USING (seq) WHERE {where} ORDER BY {order}", given
            )

    def relevances_now(self, until: int) -> tuple[NDArray[Any], NDArray[Any]]:
        """Return the sequence numbers of rated pages up to an event, and their current relevances."""
        import numpy as np  # slow to import, and not needed for `lycosa --help`

        with self._translating_errors():
            rows = self._db.execute(
                "SELECT seq, relevance_now FROM relevance_now WHERE seq <= ? ORDER BY seq", (until,)
            ).fetchall()
        found = np.array(rows, [("seq", "i8"), ("relevance_now", "f8")])
        return np.ascontiguousarray(found["seq"]), np.ascontiguousarray(found["relevance_now"])

    def setting(self, key: str, default: Any) -> Any:
        for event in self.events("kind = 'setting' AND node = ?", "seq DESC LIMIT 1", (key,)):
            if isinstance(event, Setting):
                return event.value
        return default

    def end(self) -> int:
        """Return the sequence number of the last event, 0 for an empty log."""
        with self._translating_errors():
            return int(self._db.execute("SELECT COALESCE(MAX(seq), 0) FROM event").fetchone()[0])

    def chain(self, seq: int) -> str:
        """Return a hash of all events up to a sequence number.

        It covers the columns and number of each event, the bodies of seeds, labels and settings (a changed label may
        have the same length), and only the lengths of all other bodies.
        """
        at, hashed = self._chained if self._chained[0] <= seq else (0, b"")
        content = "CASE WHEN kind IN ('seed', 'label', 'setting') THEN HEX(body) ELSE LENGTH(body) END"
        columns = " || ' ' || ".join(("seq", "kind", "node", "outcome", "same", "file", "start", content))
        with self._translating_errors():
            for (row,) in self._db.execute(
                f"SELECT {columns} FROM event WHERE seq > ? AND seq <= ? ORDER BY seq", (at, seq)
            ):
                hashed = xxhash.xxh3_128_digest(hashed + str(row).encode("utf-8", "surrogatepass"))
        self._chained = seq, hashed
        return hashed.hex()

    def last(self) -> Event | None:
        """Return the last event of the crawl itself, excluding labels and judge updates made after its end."""
        later = "kind IN ('label', 'model_update') OR (kind = 'setting' AND node IN ('threshold', 'probability'))"
        return next(self.events(f"NOT ({later})", order="seq DESC LIMIT 1"), None)

    def archived(self) -> dict[str, int]:
        """Return the end offset of the last recorded visit in each archive file."""
        ends = dict(self.rows("file, MAX(start + length)", "file != '' GROUP BY file", "file"))
        for file, end in ends.items():
            if not is_valid_place(ArchivePlace(file, 0, end)):
                raise self._damaged(f"{str(file)[:60]!a} is not a valid archive file name")
        return ends

    def close(self) -> None:
        self._db.close()

    @contextmanager
    def _translating_errors(self) -> Iterator[None]:
        """Raise SQLite errors as StoreError with advice for the user."""
        try:
            yield
        except (sqlite3.Error, OSError, UnicodeError) as error:  # UnicodeError: messages about a damaged schema
            raise self._translated(error) from error

    def _translated(self, error: Exception) -> StoreError:
        text = " ".join(str(error).split())
        if "locked" in text or "busy" in text:
            return LockedError(
                f"{self.path} has been locked by another program for {self._busy:.0f} s: close that program "
                f"(a database browser, a backup?), then continue with: lycosa {self.command} {self.path.parent}"
            )
        if "full" in text or "disk I/O" in text:
            return StoreError(
                f"cannot write {self.path}: {text}. Nothing recorded is lost: free some space, then continue with: "
                f"lycosa {self.command} {self.path.parent}"
            )
        damage = ("malformed", "not a database", "Could not decode", "no such table", "no such column")
        if any(words in text for words in damage):
            return self._damaged(_brief(error))
        return StoreError(f"cannot use {self.path}: {text}")


def harden(db: sqlite3.Connection) -> None:
    """Harden a connection to an untrusted database, whose schema must not call functions with side effects."""
    db.execute("PRAGMA trusted_schema=OFF")
    db.execute("PRAGMA cell_size_check=ON")


_SCHEMA_OBJECTS = {
    ("table", "event", "event"),
    ("index", "event_node", "event"),
    ("table", "relevance_now", "relevance_now"),
}
_COLUMNS = ["seq", "kind", "node", "outcome", "relevance", "same", "file", "start", "length", "body"]


def _column_defect(kind: bytes, node: bytes, outcome: bytes, same: bytes, file: bytes, *rest: Any) -> str:
    """Return the first defect of an event's columns, or an empty string. Texts are given as bytes."""
    relevance, start, length, body = rest
    try:
        (kind_text, _, outcome_text, _), name = (part.decode() for part in (kind, node, outcome, same)), file.decode()
    except (UnicodeDecodeError, AttributeError):
        return "a column is not text"
    if kind_text not in NON_VISIT_KINDS and kind_text not in codec.KINDS:
        return f"unknown kind {kind_text[:40]!a}"
    if outcome_text not in codec.OUTCOMES and (outcome_text or kind_text not in NON_VISIT_KINDS):
        return f"unknown outcome {outcome_text[:40]!a}"
    if not isinstance(relevance, float | int) or not math.isfinite(relevance):
        return "its relevance is not a number"
    if type(start) is not int or type(length) is not int or not is_valid_place(ArchivePlace(name, start, length)):
        return f"{name[:60]!a} is not a place in the archive"
    return "" if body == "blob" else "it has no body"


def is_valid_place(place: ArchivePlace) -> bool:
    fits = 0 <= place.offset <= 2**53 and 0 <= place.length <= 2**53
    return fits and (not place.file or PLACE.fullmatch(place.file) is not None)


def row_columns(event: Event) -> tuple[object, ...]:
    """Return the columns of an event's row, without sequence number and body."""
    if not isinstance(event, Visit):
        return codec.EVENT_KINDS[type(event)], node_column(event), "", 0.0, "", "", 0, 0
    place = event.place
    return event.kind, event.node, event.outcome, event.relevance, event.same_as, place.file, place.offset, place.length


def node_column(event: Event) -> str:
    match event:
        case Setting():
            return event.key
        case ModelUpdate():
            return event.judge
        case InboundLinks() | LinkBatch():
            return f"{event.sender}:{event.number}"
        case _:
            return str(event.node)


def _brief(error: Exception) -> str:
    return " ".join(str(error).split())[:200] or type(error).__name__


class MemoryLog:
    """Event log in memory, for experiments and tests."""

    def __init__(self) -> None:
        self.events: list[Event] = []

    def append(self, event: Event) -> int:
        self.events.append(event)
        return len(self.events)

    def store_relevances(self, relevances_now: NDArray[Any]) -> None:
        versions = [event for event in self.events if isinstance(event, Visit) and event.is_version]
        for visit, relevance_now in zip(versions, relevances_now.tolist(), strict=True):
            visit.updated_relevance = relevance_now

    @contextmanager
    def batch(self) -> Iterator[None]:
        yield

    def __iter__(self) -> Iterator[Event]:
        return iter(list(self.events))

    def close(self) -> None:
        pass


class NullLog(MemoryLog):
    """Event log that discards all events, for crawls whose visits are processed immediately."""

    def append(self, event: Event) -> int:
        return 0

    def store_relevances(self, relevances_now: NDArray[Any]) -> None:
        pass


def current_labels(log: SqliteLog) -> dict[str, bool]:
    """Return the current label of each page in the order in which they were set; the last label of a page is used."""
    labels: dict[str, bool] = {}
    for event in log.events("kind = 'label'"):
        assert isinstance(event, Label)
        labels.pop(event.node, None)
        if event.relevant is not None:
            labels[event.node] = event.relevant
    return labels


def missing_labels(log: SqliteLog, labels: Iterable[Label]) -> list[Label]:
    """Return the labels that are missing in the log; after a crash, labels may be submitted again."""
    known = {(event.node, event.at, event.by) for event in log.events("kind = 'label'") if isinstance(event, Label)}
    return [label for label in labels if (label.node, label.at, label.by) not in known]


def append_labels(log: SqliteLog, labels: Iterable[Label]) -> list[Label]:
    missing = missing_labels(log, labels)
    with log.batch():
        for label in missing:
            log.append(label)
    return missing
