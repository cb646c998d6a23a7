"""Full-text index of a crawl: one SQLite file beside the log.

The index is derived from log and archive: it can be deleted at any time, and a damaged one is rebuilt. A batch of pages
is added to both tables in one transaction, with the number of the last event:

    place    FTS5 without a copy of the text: word positions, ranked by BM25
    page     filter columns of each page's current version

A new version of a page gets a new row id; FTS5 rows of older versions are ignored.
"""

from __future__ import annotations

import fcntl
import os
import sqlite3
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from lycosa.core.errors import DamagedError, LockedError, StoreError
from lycosa.store.log import harden

NAME = "search.sqlite"

FORMAT = 5  # must be increased when results of older indexes would differ, also when the tokenizer changes
TITLE_WEIGHT = 5  # BM25 weight of the title; that of the text is 1
PAGE = np.dtype([("id", "i8"), ("seq", "i8"), ("relevance", "f8"), ("unread", "?")])
MATCH = np.dtype([("id", "i8"), ("weight", "f8")])

_SCHEMA = f"""
CREATE TABLE state (last INTEGER NOT NULL, mark TEXT NOT NULL, size INTEGER NOT NULL);
INSERT INTO state VALUES (0, '', 0);
CREATE TABLE page (
    id INTEGER PRIMARY KEY, seq INTEGER NOT NULL, url TEXT NOT NULL UNIQUE, host TEXT NOT NULL, language TEXT NOT NULL,
    fetched REAL NOT NULL, changed REAL NOT NULL, relevance REAL NOT NULL,
    copy INTEGER NOT NULL, unread INTEGER NOT NULL
);
CREATE VIRTUAL TABLE place USING fts5 (title, text, content='', tokenize='ascii');
CREATE VIRTUAL TABLE word USING fts5vocab (place, row);
-- One FTS5 segment per batch instead of dozens to merge: a third less time.
INSERT INTO place (place, rank) VALUES ('hashsize', {64 << 20});
"""

APPLICATION_ID = 0x4C796353  # application_id of our SQLite files


class IndexDamaged(DamagedError):
    """The index file is unusable and has to be rebuilt."""


@contextmanager
def index_lock(
    directory: Path, waiting: Callable[[], None] = lambda: None, patience: float | None = None
) -> Iterator[bool]:
    """Lock the index to open and change it; yield False if that takes longer than `patience` seconds.

    Calls `waiting` before it waits without limit.
    """
    try:
        file = open(directory / "search.lock", "a")  # noqa: SIM115 - held open for as long as the lock is held
    except OSError as error:
        message = f"cannot write the search index in {directory}: {error.strerror}"
        raise StoreError(f"{message}; free some space or give access, or search a copy") from error
    with file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            if patience is not None:
                yield _wait_for_lock(file, patience)
                return
            waiting()
            fcntl.flock(file, fcntl.LOCK_EX)
        yield True


def _wait_for_lock(file: IO[str], patience: float) -> bool:
    until = time.monotonic() + patience
    while time.monotonic() < until:
        time.sleep(0.02)
        with suppress(BlockingIOError):
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            return True
    return False


@dataclass(slots=True)
class IndexedPage:
    """A page to add to the index; title and text are words separated by spaces."""

    seq: int
    url: str
    title: str
    text: str
    host: str = ""
    language: str = ""
    fetched: float = 0.0
    relevance: float = 0.0
    copy: bool = False  # True for a copy of another page
    unread: bool = False  # True if not readable in the archive
    changed: float = 0.0  # Unix time of the last significant change; 0 if there is none


class SearchIndex:
    """Search index of a crawl's pages, with row ids from 1 in order of addition.

    A missing, damaged or outdated file is replaced by an empty one, which requires the lock of `index_lock`; without
    the lock, pass `is_locked=False` to read an existing index.
    """

    def __init__(self, path: Path, *, is_locked: bool = True) -> None:
        self.path = path
        self._start(is_locked)

    def _start(self, is_locked: bool = True) -> None:
        try:
            self._db = self._open()
        except IndexDamaged:
            if not is_locked:
                raise
            self._delete()
            self._db = self._open()
        self._file = os.stat(self.path).st_ino

    def _open(self) -> sqlite3.Connection:
        with self._translating_errors():
            db = sqlite3.connect(self.path, timeout=60, isolation_level=None)
        try:
            with self._translating_errors():
                harden(db)
                ids = [db.execute(f"PRAGMA {name}").fetchone()[0] for name in ("application_id", "user_version")]
                new = not db.execute("SELECT 1 FROM sqlite_master").fetchone()
                if ids != [APPLICATION_ID, FORMAT] and not new:
                    raise IndexDamaged(f"{self.path} is not an index of this version")
                db.execute("PRAGMA journal_mode=WAL")
                db.execute("PRAGMA synchronous=NORMAL")
                db.execute("PRAGMA cache_size=-65536")
                if new:
                    marks = f"PRAGMA application_id = {APPLICATION_ID}; PRAGMA user_version = {FORMAT};"
                    db.executescript(f"BEGIN; {_SCHEMA} {marks} COMMIT;")
        except BaseException:
            db.close()
            raise
        return db

    def clear(self) -> None:
        """Replace the file by an empty one; open readers keep reading the old file."""
        self._db.close()
        self._delete()
        self._start()

    def _delete(self) -> None:
        try:
            for suffix in ("", "-wal", "-shm"):
                Path(f"{self.path}{suffix}").unlink(missing_ok=True)
        except OSError as error:
            raise StoreError(f"{self.path} is not a search index and can't be deleted: {error.strerror}") from error

    def close(self) -> None:
        self._db.close()

    @property
    def is_replaced(self) -> bool:
        """True if the file was deleted or replaced since it was opened."""
        try:
            return os.stat(self.path).st_ino != self._file
        except OSError:
            return True

    @contextmanager
    def _translating_errors(self) -> Iterator[None]:
        try:
            yield
        except sqlite3.Error as error:
            text = str(error)
            if "locked" in text or "busy" in text:
                raise LockedError(f"{self.path} is locked by another program: close it, then search again") from error
            if any(word in text for word in ("full", "disk I/O", "readonly", "unable to open")):
                raise StoreError(
                    f"cannot write {self.path}: {text}. Free some space or give access, then search again; "
                    "the crawl itself is untouched"
                ) from error
            raise IndexDamaged(f"{self.path} is damaged ({text}): delete it; it will be rebuilt") from error

    def add(self, entries: Sequence[IndexedPage], mark: str) -> None:
        """Add pages in one transaction; `mark` is the log's chain hash at the last page's event."""
        with self._translating_errors():
            self._db.execute("BEGIN IMMEDIATE")
            try:
                first = self.size() + 1
                self._db.executemany(
                    "INSERT INTO place (rowid, title, text) VALUES (?, ?, ?)",
                    ((number, entry.title, entry.text) for number, entry in enumerate(entries, first)),
                )
                self._db.executemany(
                    "INSERT OR REPLACE INTO page VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
                    (
                        (number, page.seq, page.url, page.host, page.language, page.fetched, page.changed,
                         page.relevance, page.copy, page.unread)
                        for number, page in enumerate(entries, first)
                    ),
                )  # fmt: skip
                size = first + len(entries) - 1
                self._db.execute("UPDATE state SET last = ?, mark = ?, size = ?", (entries[-1].seq, mark, size))
                self._db.execute("COMMIT")
            except BaseException:
                if self._db.in_transaction:  # SQLite rolls back by itself if the disk is full
                    self._db.execute("ROLLBACK")
                raise

    @contextmanager
    def reading(self) -> Iterator[None]:
        """Run all reads inside the block on one database snapshot."""
        with self._translating_errors():
            self._db.execute("BEGIN")
            try:
                yield
            finally:
                if self._db.in_transaction:
                    self._db.execute("ROLLBACK")

    def _rows(self, query: str, values: Sequence[object] = ()) -> list[Any]:
        with self._translating_errors():
            return self._db.execute(query, values).fetchall()

    def last(self) -> tuple[int, str]:
        """Return the sequence number of the last indexed event, and its mark."""
        ((seq, mark),) = self._rows("SELECT last, mark FROM state")
        return seq, mark

    def size(self) -> int:
        """Return the number of added pages, including outdated versions."""
        ((size,),) = self._rows("SELECT size FROM state")
        return int(size)

    def is_mostly_outdated(self) -> bool:
        """Return True if more than half of the rows are outdated, so that a rebuild is worthwhile."""
        return self.size() > max(1_000, 2 * len(self.pages()))

    def pages(self, where: str = "TRUE", values: Sequence[object] = ()) -> NDArray[np.void]:
        """Return id, sequence number, relevance and unread flag of current pages, or of a selection given as SQL."""
        rows = self._rows(f"SELECT id, seq, relevance, unread FROM page WHERE {where} ORDER BY id", values)
        return np.array(rows, PAGE)

    def names(self, column: str) -> list[str]:
        return [name for (name,) in self._rows(f"SELECT DISTINCT {column} FROM page")]

    def words(self, prefix: str) -> list[str]:
        after = prefix + "\U0010ffff"
        return [word for (word,) in self._rows("SELECT term FROM word WHERE term >= ? AND term < ?", (prefix, after))]

    def matches(self, words: Sequence[str], *, prefix: bool = False) -> NDArray[np.void]:
        """Return ids and BM25 weights of pages with the words as a phrase; `prefix` makes the last word a prefix."""
        match = f'"{" ".join(words)}"' + "*" * prefix
        rows = self._rows(f"SELECT rowid, -bm25(place, {TITLE_WEIGHT}, 1) FROM place WHERE place MATCH ?", (match,))
        matches = np.array(rows, MATCH)
        if len(matches) and matches["id"].max() > self.size():
            raise IndexDamaged(f"{self.path} is damaged: it has words of missing pages")
        return matches
