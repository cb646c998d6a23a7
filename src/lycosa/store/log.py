"""The log is the crawl: events in order, one row each, one commit each, in SQLite.

WAL with `synchronous=NORMAL`: a commit costs 0.03 ms and survives the death of the process at any moment (power loss
may cost the last commits, never consistency). Readers (`lycosa show`) work beside a running crawl. Who writes holds
a lock on the directory, so that two crawls can't share one log.
"""

from __future__ import annotations

import fcntl
import os
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from lycosa.core.errors import DamagedError, LockedError, StoreError
from lycosa.core.types import Event, Place, Setting, Visit
from lycosa.store import codec

NAME = "log.sqlite"

_SCHEMA = """
CREATE TABLE event (
    seq     INTEGER PRIMARY KEY,
    kind    TEXT NOT NULL,          -- page, redirect, robots, ... for visits; seed, label, setting
    node    TEXT NOT NULL,
    outcome TEXT NOT NULL,
    beta    REAL NOT NULL,
    file    TEXT NOT NULL,          -- where the archive keeps the bytes
    start   INTEGER NOT NULL,
    length  INTEGER NOT NULL,
    body    BLOB NOT NULL
);
"""


class Lock:
    """The right to write in a crawl's directory; goes with the process, however that ends."""

    def __init__(self, directory: Path, *, peek: bool = False) -> None:
        self.path = directory / "lock"
        try:
            self._file = open(self.path, "r" if peek else "a+")  # noqa: SIM115 - held open for as long as the lock is held
        except OSError as error:
            raise StoreError(
                f"cannot write in {directory}: {error.strerror}; choose another directory with --out"
            ) from error
        try:
            fcntl.flock(self._file, (fcntl.LOCK_SH if peek else fcntl.LOCK_EX) | fcntl.LOCK_NB)
        except OSError:
            self._file.seek(0)
            holder = self._file.read().strip()
            self._file.close()
            raise LockedError(
                f"{directory} is in use by a running crawl (process {holder or 'unknown'}); "
                f"stop that one first, or watch it with: lycosa show {directory}"
            ) from None
        if peek:
            return
        self._file.truncate(0)
        self._file.write(f"{os.getpid()}\n")
        self._file.flush()

    def release(self) -> None:
        self._file.close()


class SqliteLog:
    """Append events, iterate over them; `Log` for a crawl on disk."""

    def __init__(self, path: Path, *, readonly: bool = False, busy_seconds: float = 10.0) -> None:
        self.path = path
        self._busy = busy_seconds
        try:
            if readonly:
                if not path.exists():
                    raise StoreError(f"{path} does not exist: nothing has been crawled there yet")
                self._db = sqlite3.connect(path, timeout=busy_seconds)
                self._db.execute("PRAGMA query_only=1")
            else:
                self._db = sqlite3.connect(path, timeout=busy_seconds, isolation_level=None)
                self._db.execute("PRAGMA journal_mode=WAL")
                self._db.execute("PRAGMA synchronous=NORMAL")
            self._check_version(readonly)
        except sqlite3.Error as error:
            raise self._explained(error) from error

    def _check_version(self, readonly: bool) -> None:
        version = self._db.execute("PRAGMA user_version").fetchone()[0]
        if version == 0 and not self._db.execute("SELECT 1 FROM sqlite_master").fetchone():
            if readonly:
                return
            self._db.executescript(f"BEGIN; {_SCHEMA} PRAGMA user_version={codec.VERSION}; COMMIT;")
        elif version != codec.VERSION:
            raise DamagedError(
                f"{self.path} has format {version}, this Lycosa reads format {codec.VERSION}: "
                "use the version of Lycosa that wrote it"
            )

    def append(self, event: Event) -> None:
        """Add one event and commit it: when this returns it survives kill -9."""
        if isinstance(event, Visit):
            place = event.place
            row: tuple[object, ...] = (
                event.kind,
                event.node,
                event.outcome,
                event.beta,
                place.file,
                place.offset,
                place.length,
                codec.encode_visit(event),
            )
        else:
            kind = type(event).__name__.lower()
            name = event.key if isinstance(event, Setting) else event.node
            row = (kind, name, "", 0.0, "", 0, 0, codec.encode_other(event))
        try:
            self._insert(row)
        except (sqlite3.Error, UnicodeEncodeError) as error:
            raise self._explained(error) from error

    def _insert(self, row: tuple[object, ...]) -> None:
        self._db.execute(
            "INSERT INTO event (kind, node, outcome, beta, file, start, length, body) VALUES (?,?,?,?,?,?,?,?)",
            row,
        )

    @contextmanager
    def together(self) -> Iterator[None]:
        """What is appended inside is committed all at once, or not at all."""
        try:
            self._db.execute("BEGIN")
            try:
                yield
            except BaseException:
                self._db.execute("ROLLBACK")
                raise
            self._db.execute("COMMIT")
        except sqlite3.Error as error:
            raise self._explained(error) from error

    def __iter__(self) -> Iterator[Event]:
        return self.events()

    def events(self, kinds: tuple[str, ...] = ()) -> Iterator[Event]:
        """Events in order, all or of some kinds; streams."""
        where = f"WHERE kind IN ({','.join('?' * len(kinds))})" if kinds else ""
        try:
            for kind, file, start, length, body in self._db.execute(
                f"SELECT kind, file, start, length, body FROM event {where} ORDER BY seq", kinds
            ):
                try:
                    if kind in ("seed", "label", "setting"):
                        event = codec.decode_other(kind, body)
                    else:
                        event = codec.decode_visit(body, Place(file, start, length))
                except codec.ERRORS as error:
                    raise DamagedError(
                        f"{self.path}: an event of kind {kind} can't be read ({error}): restore the log from a backup"
                    ) from error
                yield event
        except sqlite3.Error as error:
            raise self._explained(error) from error

    def rows(self, columns: str, where: str, order: str = "seq") -> Iterator[tuple[Any, ...]]:
        """Some columns of some events, for summaries."""
        try:
            yield from self._db.execute(f"SELECT {columns} FROM event WHERE {where} ORDER BY {order}")
        except sqlite3.Error as error:
            raise self._explained(error) from error

    def setting(self, key: str, default: Any) -> Any:
        """The last value of a setting."""
        found = self._db.execute(
            "SELECT body FROM event WHERE kind='setting' AND node=? ORDER BY seq DESC LIMIT 1", (key,)
        ).fetchone()
        event = codec.decode_other("setting", found[0]) if found else None
        return event.value if isinstance(event, Setting) else default

    def last(self, kind: str) -> Event | None:
        """The last event, if it is of a kind."""
        found = self._db.execute("SELECT kind, body FROM event ORDER BY seq DESC LIMIT 1").fetchone()
        return codec.decode_other(kind, found[1]) if found and found[0] == kind else None

    def archived(self) -> dict[str, int]:
        """For each file of the archive, the byte after the last one that the log knows of."""
        try:
            rows = self._db.execute("SELECT file, MAX(start + length) FROM event WHERE file != '' GROUP BY file")
            return dict(rows.fetchall())
        except sqlite3.Error as error:
            raise self._explained(error) from error

    def close(self) -> None:
        self._db.close()

    def _explained(self, error: Exception) -> StoreError:
        text = str(error)
        if "locked" in text or "busy" in text:
            return LockedError(
                f"{self.path} has been locked by another program for {self._busy:.0f} s: close that program "
                f"(a database browser, a backup?), then go on with: lycosa resume {self.path.parent}"
            )
        if "full" in text or "disk I/O" in text:
            return StoreError(
                f"cannot write {self.path}: {text}. Nothing recorded is lost: free some space, then go on with: "
                f"lycosa resume {self.path.parent}"
            )
        if "malformed" in text or "not a database" in text:
            return DamagedError(f"{self.path} is damaged ({text}): restore it from a backup")
        return StoreError(f"cannot use {self.path}: {text}")


class MemoryLog:
    """A log that dies with the process: experiments and tests."""

    def __init__(self) -> None:
        self.events: list[Event] = []

    def append(self, event: Event) -> None:
        self.events.append(event)

    @contextmanager
    def together(self) -> Iterator[None]:
        """As one."""
        yield

    def __iter__(self) -> Iterator[Event]:
        return iter(list(self.events))

    def close(self) -> None:
        """Nothing to let go of."""
