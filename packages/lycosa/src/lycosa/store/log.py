"""The log is the crawl: events in order, one row each, in SQLite; one commit each, or for several together.

WAL with `synchronous=NORMAL`: a commit costs 0.03 ms and survives the death of the process at any moment (power loss
may cost the last commits, never consistency). Readers (`lycosa show`) work beside a running crawl. Who writes holds
a lock on the directory, so that two crawls can't share one log.
"""

from __future__ import annotations

import fcntl
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
from lycosa.core.types import Event, Inbound, Label, Lesson, Parcel, Place, Setting, Visit
from lycosa.store import codec

if TYPE_CHECKING:
    from numpy.typing import NDArray

NAME = "log.sqlite"

PAGES = "kind = 'page' AND outcome = 'ok'"  # SQL: `Visit.is_page`; FIRSTS: the first page with its content
FIRSTS = f"{PAGES} AND same = ''"

VERSIONS = "kind IN ('page', 'revisit') AND outcome = 'ok'"  # SQL: `Visit.is_version`
WORTH = "COALESCE(worth.worth, event.beta)"  # SQL: `Visit.worth`
OTHERS = ("seed", "label", "setting", "lesson", "inbound", "parcel")  # kinds of events that are no visits
VISITS = f"kind NOT IN {OTHERS}"
PLACE = re.compile(r"\w[\w.-]{0,250}", re.ASCII)  # names of archive files: none leads out of the archive's directory

_SCHEMA = """
CREATE TABLE event (
    seq     INTEGER PRIMARY KEY,
    kind    TEXT NOT NULL,          -- page, redirect, robots, ... for visits; seed, label, setting, lesson
    node    TEXT NOT NULL,
    outcome TEXT NOT NULL,
    beta    REAL NOT NULL,
    same    TEXT NOT NULL,          -- the node whose content this one repeats
    file    TEXT NOT NULL,          -- where the archive keeps the bytes
    start   INTEGER NOT NULL,
    length  INTEGER NOT NULL,
    body    BLOB NOT NULL
);
CREATE INDEX event_node ON event (node);
-- a table of its own, as an update of `event` would write the bodies again; it can be made from the events
CREATE TABLE worth (seq INTEGER PRIMARY KEY, worth REAL NOT NULL);
"""


class Lock:
    """The right to write in a crawl's directory; goes with the process, however that ends."""

    def __init__(self, directory: Path, *, peek: bool = False) -> None:
        self.path = directory / "lock"
        try:
            self._file = open(self.path, "r" if peek else "a+")  # noqa: SIM115 - held open for as long as the lock is held
        except OSError as error:
            raise StoreError(
                f"cannot write in {directory}: {error.strerror}; make it writable, or "
                "choose another directory with --out"
            ) from error
        if not self._acquire(fcntl.LOCK_SH if peek else fcntl.LOCK_EX):
            self._file.seek(0)
            holder = self._file.read().strip()
            self._file.close()
            raise LockedError(
                f"{directory} is in use by a running crawl (process {holder or 'unknown'}); "
                f"stop that one first, or watch it with: lycosa show {directory}"
            )
        if peek:
            return
        self._file.truncate(0)
        self._file.write(f"{os.getpid()}\n")
        self._file.flush()

    def _acquire(self, how: int) -> bool:
        """Try for a moment: someone who only looks (`lycosa show`) holds the lock for an instant."""
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
    """Append events, iterate over them; `Log` for a crawl on disk."""

    def __init__(self, path: Path, *, readonly: bool = False, busy_seconds: float = 10.0) -> None:
        self.path = path
        self.command = "resume"  # continues the crawl when there is room again: for messages
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
            address += (
                "?immutable=1"  # a backup, a medium that can't be written: SQLite wants files of its own beside it
            )
        with self._explaining():
            self._db = sqlite3.connect(address, timeout=busy_seconds, isolation_level=None, uri=True)
        try:
            self._set_up(readonly)
        except BaseException:
            self._db.close()
            raise

    def _create(self) -> None:
        """An empty log, which nobody sees before it is whole: others may look for it at any moment."""
        new = self.path.with_name(f"{self.path.name}.new")
        with self._explaining():
            new.unlink(missing_ok=True)
            with closing(sqlite3.connect(new, isolation_level=None)) as db:
                self.lay_out(db)
            new.rename(self.path)

    @staticmethod
    def lay_out(db: sqlite3.Connection) -> None:
        """Make an empty database a log."""
        db.executescript(f"BEGIN; {_SCHEMA} PRAGMA user_version={codec.VERSION}; COMMIT;")

    def _set_up(self, readonly: bool) -> None:
        with self._explaining():
            harden(self._db)
            version = self._db.execute("PRAGMA user_version").fetchone()[0]
            new = not version and not self._db.execute("SELECT 1 FROM sqlite_master").fetchone()
            if version != codec.VERSION and not new:  # nothing has been changed so far: it may be someone else's
                raise DamagedError(
                    f"{self.path} was not written by this release of Lycosa: its format is {version}, not "
                    f"{codec.VERSION}. Use the release that wrote it"
                )
            if readonly:
                self._db.execute("PRAGMA query_only=1")
                return
            self._db.execute("PRAGMA journal_mode=WAL")
            self._db.execute("PRAGMA synchronous=NORMAL")
            self._db.execute("PRAGMA checkpoint_fullfsync=1")  # for macOS: see core/files.py
            if new:
                self.lay_out(self._db)

    def append(self, event: Event) -> int:
        """Add one event and commit it: when this returns it survives kill -9. Its number."""
        with self._explaining():
            seq = self._insert(_row_of(event))
        if isinstance(event, Visit) and self._versions is not None and event.is_version:
            self._versions.append(seq)
        if not os.path.exists(self._name):
            raise StoreError(f"{self.path} was deleted while the crawl ran: restore it, or start a new crawl")
        return seq

    def put(self, seq: int, event: Event, body: bytes, worth: float | None) -> None:
        """Add an event under its number, with its bytes: for a log that is copied from another."""
        with self._explaining():
            row = (seq, *columns_of(event), body)
            self._db.execute(f"INSERT INTO event VALUES ({', '.join('?' * 10)})", row)
            if worth is not None:
                self._db.execute("INSERT INTO worth VALUES (?, ?)", (seq, worth))

    def _insert(self, row: tuple[object, ...]) -> int:
        done = self._db.execute(
            "INSERT INTO event (kind, node, outcome, beta, same, file, start, length, body) VALUES (?,?,?,?,?,?,?,?,?)",
            row,
        )
        return done.lastrowid or 0

    def rate(self, worths: NDArray[Any]) -> None:
        """Keep what each version of a page is worth by now, in the order of the log: one number for each."""
        if self._versions is None:
            self._versions = [seq for (seq,) in self.rows("seq", VERSIONS)]
        seqs = self._versions
        if len(seqs) != len(worths):
            raise StoreError(f"{self.path}: the judge rated {len(worths)} pages, the log has {len(seqs)}")
        with self.together():
            self._db.executemany("INSERT OR REPLACE INTO worth VALUES (?, ?)", zip(seqs, worths.tolist(), strict=True))

    def forget_places(self, seqs: Sequence[int]) -> None:
        """Take visits for not archived: their records cannot be read."""
        with self.together():
            self._db.executemany(
                "UPDATE event SET file = '', start = 0, length = 0 WHERE seq = ?", [(seq,) for seq in seqs]
            )

    def settle(self, worths: Sequence[tuple[int, float]]) -> None:
        """Keep what some pages are worth by now, each by its number: for a log that is made from others."""
        with self.together():
            self._db.executemany("INSERT OR REPLACE INTO worth VALUES (?, ?)", worths)

    @contextmanager
    def together(self) -> Iterator[None]:
        """What is appended inside is committed all at once, or not at all."""
        inner = self._db.in_transaction
        if inner:  # part of what others do together
            yield
            return
        with self._explaining():
            self._db.execute("BEGIN")
            try:
                yield
            except BaseException:
                if self._db.in_transaction:  # a full disk makes SQLite roll back by itself
                    self._db.execute("ROLLBACK")
                self._versions = None  # some may be none
                raise
            self._db.execute("COMMIT")

    def __iter__(self) -> Iterator[Event]:
        return self.events()

    def events(self, where: str = "TRUE", order: str = "seq", given: tuple[object, ...] = ()) -> Iterator[Event]:
        """Events, all in their order or a selection; streams."""
        return (event for _, event in self.numbered(where, order, given))

    def visits(self, where: str, order: str = "seq", given: tuple[object, ...] = ()) -> Iterator[Visit]:
        """The visits among some events."""
        return (event for event in self.events(where, order, given) if isinstance(event, Visit))

    def visit(self, seq: int) -> Visit:
        """A visit by its number."""
        return next(self.visits("seq = ?", given=(seq,)))

    def numbered(
        self, where: str = "TRUE", order: str = "seq", given: tuple[object, ...] = ()
    ) -> Iterator[tuple[int, Event]]:
        """The same, each with its number in the log."""
        for seq, kind, file, start, length, body, worth, *columns in self.rows(
            "seq, kind, file, start, length, body, worth.worth, node, outcome, beta, same", where, order, given
        ):
            yield seq, self._event(seq, kind, Place(file, start, length), body, worth, columns)

    def _event(self, seq: int, kind: str, place: Place, body: bytes, worth: float | None, columns: list[Any]) -> Event:
        """An event from its row, if both say the same."""
        try:
            if kind in OTHERS:
                event = codec.decode_other(kind, body)
                recorded = [name_of(event), "", 0.0, ""]
            else:
                event = visit = codec.decode_visit(body, place)
                visit.rated = worth
                recorded = [visit.node, visit.outcome, visit.beta, visit.same_as]
                if kind != visit.kind or not is_place(place):
                    raise ValueError("its kind, or where its bytes are kept, is another")
            if recorded != columns:
                raise ValueError("its columns are not what was recorded")
        except codec.ERRORS as error:
            raise self._damaged(f"event {seq}, a {str(kind)[:40]!a}, can't be read: {_brief(error)}") from error
        return event

    def check(self, after: int = 0) -> None:
        """Whether this is a log, and all of it: what can be seen without reading what events say. Quick, and to be
        asked of one that may have come from anywhere: `DamagedError` says what is wrong first. Events up to `after` are
        believed.
        """
        with self._explaining():
            schema = self._db.execute("SELECT type, name, tbl_name FROM main.sqlite_master").fetchall()
            for kind, name, of in schema:
                if (kind, name, of) not in _OURS and not (kind == "table" and str(name).startswith("sqlite_stat")):
                    raise DamagedError(f"{self.path} is not a log of Lycosa: it has a {kind} {str(name)[:60]!a}")
            if not schema:
                return
            if [row[1] for row in self._db.execute("PRAGMA main.table_info(event)")] != _COLUMNS:
                raise DamagedError(f"{self.path} is not a log of Lycosa: it has other columns")
            # As bytes: SQLite would not give what is no text.
            texts = ", ".join(f"CAST({name} AS BLOB)" for name in ("kind", "node", "outcome", "same", "file"))
            columns = f"seq, {texts}, beta, start, length, typeof(body)"
            for seq, *row in self._db.execute(f"SELECT {columns} FROM event WHERE seq > ? ORDER BY seq", (after,)):
                if why := _wrong(*row):
                    raise self._damaged(f"event {seq}: {why}")
            # A node is kept twice, in the table and in its index.
            lost = self._db.execute(
                "SELECT seq FROM event WHERE seq > ? AND NOT EXISTS "
                "(SELECT 1 FROM event AS same WHERE same.node = event.node AND same.seq = event.seq)",
                (after,),
            ).fetchone()
        if lost:
            raise self._damaged(f"event {lost[0]}: its node is not what was recorded")

    def _damaged(self, why: str) -> DamagedError:
        return DamagedError(
            f"{self.path} is damaged: {why}. Restore it from a backup, or keep what can be read, then continue: "
            f"lycosa check {self.path.parent}"
        )

    def rows(
        self, columns: str, where: str = "TRUE", order: str = "seq", given: tuple[object, ...] = ()
    ) -> Iterator[tuple[Any, ...]]:
        """Some columns of some events; what a page is worth is `WORTH`."""
        with self._explaining():
            yield from self._db.execute(
                f"SELECT {columns} FROM event LEFT JOIN worth USING (seq) WHERE {where} ORDER BY {order}", given
            )

    def worths(self, until: int) -> tuple[NDArray[Any], NDArray[Any]]:
        """What pages are worth by now, where somebody has rated them: the numbers of events, in order, and worths."""
        import numpy as np  # when it is needed: whoever asks for help does not wait for it

        with self._explaining():
            rows = self._db.execute("SELECT seq, worth FROM worth WHERE seq <= ? ORDER BY seq", (until,)).fetchall()
        found = np.array(rows, [("seq", "i8"), ("worth", "f8")])
        return np.ascontiguousarray(found["seq"]), np.ascontiguousarray(found["worth"])

    def setting(self, key: str, default: Any) -> Any:
        """The last value of a setting."""
        for event in self.events("kind = 'setting' AND node = ?", "seq DESC LIMIT 1", (key,)):
            if isinstance(event, Setting):
                return event.value
        return default

    def end(self) -> int:
        """The number of the last event."""
        with self._explaining():
            return int(self._db.execute("SELECT COALESCE(MAX(seq), 0) FROM event").fetchone()[0])

    def chain(self, seq: int) -> str:
        """A hash of all events up to this one: of each what its columns say, its number and how long its body is.

        What people said is taken as it is: a yes is as long as a no.
        """
        at, hashed = self._chained if self._chained[0] <= seq else (0, b"")
        said = "CASE WHEN kind IN ('seed', 'label', 'setting') THEN HEX(body) ELSE LENGTH(body) END"
        columns = " || ' ' || ".join(("seq", "kind", "node", "outcome", "same", "file", "start", said))
        with self._explaining():
            for (row,) in self._db.execute(
                f"SELECT {columns} FROM event WHERE seq > ? AND seq <= ? ORDER BY seq", (at, seq)
            ):
                hashed = xxhash.xxh3_128_digest(hashed + str(row).encode("utf-8", "surrogatepass"))
        self._chained = seq, hashed
        return hashed.hex()

    def last(self) -> Event | None:
        """The last event of the crawl itself: when it is over it may be labelled and judged anew."""
        later = "kind IN ('label', 'lesson') OR (kind = 'setting' AND node IN ('threshold', 'probability'))"
        return next(self.events(f"NOT ({later})", order="seq DESC LIMIT 1"), None)

    def archived(self) -> dict[str, int]:
        """For each file of the archive, the byte after the last one that the log knows of."""
        ends = dict(self.rows("file, MAX(start + length)", "file != '' GROUP BY file", "file"))
        for file, end in ends.items():
            if not is_place(Place(file, 0, end)):
                raise self._damaged(f"{str(file)[:60]!a} is not a file of the archive")
        return ends

    def close(self) -> None:
        self._db.close()

    @contextmanager
    def _explaining(self) -> Iterator[None]:
        """What SQLite complains of, told as something a person can act upon."""
        try:
            yield
        except (sqlite3.Error, OSError, UnicodeError) as error:  # SQLite's own words of a damaged schema may be no text
            raise self._explained(error) from error

    def _explained(self, error: Exception) -> StoreError:
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
    """For a database that may have come from anywhere: what is written in its schema can do nothing but keep rows."""
    db.execute("PRAGMA trusted_schema=OFF")
    db.execute("PRAGMA cell_size_check=ON")


_OURS = {("table", "event", "event"), ("index", "event_node", "event"), ("table", "worth", "worth")}
_COLUMNS = ["seq", "kind", "node", "outcome", "beta", "same", "file", "start", "length", "body"]


def _wrong(kind: bytes, node: bytes, outcome: bytes, same: bytes, file: bytes, *rest: Any) -> str:
    """What is wrong with an event's columns; empty if nothing is. Texts are given as bytes."""
    beta, start, length, body = rest
    try:
        (kind_text, _, outcome_text, _), name = (part.decode() for part in (kind, node, outcome, same)), file.decode()
    except (UnicodeDecodeError, AttributeError):
        return "a column is not text"
    if kind_text not in OTHERS and kind_text not in codec.KINDS:
        return f"there is no kind {kind_text[:40]!a}"
    if outcome_text not in codec.OUTCOMES and (outcome_text or kind_text not in OTHERS):
        return f"there is no outcome {outcome_text[:40]!a}"
    if not isinstance(beta, float | int) or not math.isfinite(beta):
        return "its score is not a number"
    if type(start) is not int or type(length) is not int or not is_place(Place(name, start, length)):
        return f"{name[:60]!a} is not a place in the archive"
    return "" if body == "blob" else "it has no body"


def is_place(place: Place) -> bool:
    """Whether the archive can have such a place."""
    fits = 0 <= place.offset <= 2**53 and 0 <= place.length <= 2**53
    return fits and (not place.file or PLACE.fullmatch(place.file) is not None)


def _row_of(event: Event) -> tuple[object, ...]:
    body = codec.encode_visit(event) if isinstance(event, Visit) else codec.encode_other(event)
    return (*columns_of(event), body)


def columns_of(event: Event) -> tuple[object, ...]:
    """Return what an event is found by: all columns but its number and its bytes."""
    if not isinstance(event, Visit):
        return type(event).__name__.lower(), name_of(event), "", 0.0, "", "", 0, 0
    place = event.place
    return event.kind, event.node, event.outcome, event.beta, event.same_as, place.file, place.offset, place.length


def name_of(event: Event) -> str:
    """What an event is found by."""
    match event:
        case Setting():
            return event.key
        case Lesson():
            return event.judge
        case Inbound() | Parcel():
            return f"{event.sender}:{event.number}"
        case _:
            return str(event.node)


def _brief(error: Exception) -> str:
    return " ".join(str(error).split())[:200] or type(error).__name__


class MemoryLog:
    """A log that dies with the process: experiments and tests."""

    def __init__(self) -> None:
        self.events: list[Event] = []

    def append(self, event: Event) -> int:
        self.events.append(event)
        return len(self.events)

    def rate(self, worths: NDArray[Any]) -> None:
        """Say what each version of a page is worth by now."""
        versions = [event for event in self.events if isinstance(event, Visit) and event.is_version]
        for visit, worth in zip(versions, worths.tolist(), strict=True):
            visit.rated = worth

    @contextmanager
    def together(self) -> Iterator[None]:
        """As one."""
        yield

    def __iter__(self) -> Iterator[Event]:
        return iter(list(self.events))

    def close(self) -> None:
        """Nothing to let go of."""


class NullLog(MemoryLog):
    """Keeps nothing: for a crawl whose visits are only looked at as they come."""

    def append(self, event: Event) -> int:
        """Forget it."""
        return 0

    def rate(self, worths: NDArray[Any]) -> None:
        """Forget them."""


# -- labels ------------------------------------------------------------------------------------------------

# A person's word on pages, as a crawl's log keeps it: events that are only ever added, of which the last counts.


def labels_in(log: SqliteLog) -> dict[str, bool]:
    """The labels that stand, by page, in the order in which they were given."""
    labels: dict[str, bool] = {}
    for event in log.events("kind = 'label'"):
        assert isinstance(event, Label)
        labels.pop(event.node, None)
        if event.relevant is not None:
            labels[event.node] = event.relevant
    return labels


def missing_labels(log: SqliteLog, labels: Iterable[Label]) -> list[Label]:
    """Those of some labels that the log lacks: after a crash some may be given again."""
    had = {(event.node, event.at, event.by) for event in log.events("kind = 'label'") if isinstance(event, Label)}
    return [label for label in labels if (label.node, label.at, label.by) not in had]


def append_labels(log: SqliteLog, labels: Iterable[Label]) -> list[Label]:
    """Append the labels that the log lacks, and return them."""
    missing = missing_labels(log, labels)
    with log.together():
        for label in missing:
            log.append(label)
    return missing
