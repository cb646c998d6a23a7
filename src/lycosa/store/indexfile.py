"""The file of the search index: opened, locked, made anew when it can't be used, its troubles told.

It holds nothing that could not be made again, so nothing in here is careful with it; only with what others do to it
meanwhile.
"""

from __future__ import annotations

import fcntl
import os
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from lycosa.core.errors import DamagedError, LockedError, StoreError
from lycosa.store.log import harden

_OURS = 0x4C796353


class IndexDamaged(DamagedError):
    """The index can't be used: begin anew. The log may be damaged, too, but that is another matter."""


@contextmanager
def building(directory: Path, waiting: Callable[[], None] = lambda: None) -> Iterator[None]:
    """The right to open, make and extend the index; `waiting` hears of it when someone else has it."""
    try:
        file = open(directory / "search.lock", "a")  # noqa: SIM115 - held open for as long as the lock is held
    except OSError as error:
        raise StoreError(
            f"cannot write the search index in {directory}: {error.strerror}; make room or give access, "
            "or search a copy of the directory"
        ) from error
    with file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            waiting()
            fcntl.flock(file, fcntl.LOCK_EX)
        yield


class IndexFile:
    """An SQLite file of a certain schema and format, made if there is none, and made anew if it is another.

    Whoever opens or clears it holds the right of `building`.
    """

    schema = ""
    format = 0

    def __init__(self, path: Path) -> None:
        self.path = path
        self._start()

    def _start(self) -> None:
        try:
            self._db = self._open()
        except IndexDamaged:
            self._delete()
            self._db = self._open()
        self._file = os.stat(self.path).st_ino

    def _open(self) -> sqlite3.Connection:
        with self._explaining():
            db = sqlite3.connect(self.path, timeout=60, isolation_level=None)
        try:
            with self._explaining():
                harden(db)
                ids = [db.execute(f"PRAGMA {name}").fetchone()[0] for name in ("application_id", "user_version")]
                new = not db.execute("SELECT 1 FROM sqlite_master").fetchone()
                if ids != [_OURS, self.format] and not new:
                    raise IndexDamaged(f"{self.path} is not an index of this version")
                db.execute("PRAGMA journal_mode=WAL")
                db.execute("PRAGMA synchronous=NORMAL")
                db.execute("PRAGMA cache_size=-65536")
                if new:
                    marks = f"PRAGMA application_id = {_OURS}; PRAGMA user_version = {self.format};"
                    db.executescript(f"BEGIN; {self.schema} {marks} COMMIT;")
        except BaseException:
            db.close()
            raise
        return db

    def clear(self) -> None:
        """Begin anew with an empty file. Who is still reading the old one may go on."""
        self._db.close()
        self._delete()
        self._start()

    def _delete(self) -> None:
        try:
            for suffix in ("", "-wal", "-shm"):
                Path(f"{self.path}{suffix}").unlink(missing_ok=True)
        except OSError as error:
            raise StoreError(f"{self.path} is no index, and can't be deleted: {error.strerror}") from error

    def close(self) -> None:
        """Let go of the file."""
        self._db.close()

    @property
    def replaced(self) -> bool:
        """Whether the file was deleted or exchanged since it was opened."""
        try:
            return os.stat(self.path).st_ino != self._file
        except OSError:
            return True

    @contextmanager
    def _explaining(self) -> Iterator[None]:
        """What SQLite complains of: the disk, another program, or else an index that can't be used any more."""
        try:
            yield
        except sqlite3.Error as error:
            text = str(error)
            if "locked" in text or "busy" in text:
                raise LockedError(
                    f"{self.path} is held by another program: close that one, then search again"
                ) from error
            if any(word in text for word in ("full", "disk I/O", "readonly", "unable to open")):
                raise StoreError(
                    f"cannot write {self.path}: {text}. Make room or give access, then search again; "
                    "the crawl itself is untouched"
                ) from error
            raise IndexDamaged(f"{self.path} is damaged ({text}): delete it, it is made anew") from error
