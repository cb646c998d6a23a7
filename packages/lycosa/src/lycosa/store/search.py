"""The search index: which words stand on which page, how often, and where. One SQLite file beside the log.

It is derived from log and archive, so it may be deleted at any time, and whatever is wrong with it is mended by making
it anew. A batch of pages goes into both parts in one transaction, with the number of the last event:

    place    FTS5, without a copy of the text: where each word stands, and how much that says of the page (BM25)
    page     what filters ask for, of each page as it is now

A page of which another version comes gets a new number. What FTS5 has of the old one counts for nobody any more.
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
from typing import IO

import numpy as np
from numpy.typing import NDArray

from lycosa.core.errors import DamagedError, LockedError, StoreError
from lycosa.store.log import harden

NAME = "search.sqlite"

FORMAT = 4  # of the file; raised whenever an older index would answer otherwise, also when words are cut differently
TITLE = 5  # a word in the title counts as so many in the text
PAGE = np.dtype([("id", "i8"), ("seq", "i8"), ("score", "f8"), ("unread", "?")])
MATCH = np.dtype([("id", "i8"), ("weight", "f8")])

_SCHEMA = f"""
CREATE TABLE state (last INTEGER NOT NULL, mark TEXT NOT NULL, size INTEGER NOT NULL);
INSERT INTO state VALUES (0, '', 0);
CREATE TABLE page (
    id INTEGER PRIMARY KEY, seq INTEGER NOT NULL, url TEXT NOT NULL UNIQUE, host TEXT NOT NULL, language TEXT NOT NULL,
    fetched REAL NOT NULL, changed REAL NOT NULL, score REAL NOT NULL, copy INTEGER NOT NULL, unread INTEGER NOT NULL
);
CREATE VIRTUAL TABLE place USING fts5 (title, text, content='', tokenize='ascii');
CREATE VIRTUAL TABLE word USING fts5vocab (place, row);
-- A batch becomes one piece of FTS5's tree, not dozens that have to be merged: a third less time.
INSERT INTO place (place, rank) VALUES ('hashsize', {64 << 20});
"""

_OURS = 0x4C796353  # application_id of our SQLite files


class IndexDamaged(DamagedError):
    """The index can't be used: begin anew. The log may be damaged, too, but that is another matter."""


@contextmanager
def building(
    directory: Path, waiting: Callable[[], None] = lambda: None, patience: float | None = None
) -> Iterator[bool]:
    """The right to open, make and extend the index; `waiting` hears of it when someone else has it.

    Whether one has got it: who has no more than some `patience` (seconds) may have to do without.
    """
    try:
        file = open(directory / "search.lock", "a")  # noqa: SIM115 - held open for as long as the lock is held
    except OSError as error:
        raise StoreError(
            f"cannot write the search index in {directory}: {error.strerror}; free some space or give access, "
            "or search a copy of the directory"
        ) from error
    with file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            if patience is not None:
                yield _got(file, patience)
                return
            waiting()
            fcntl.flock(file, fcntl.LOCK_EX)
        yield True


def _got(file: IO[str], patience: float) -> bool:
    """Whether a lock was to be had in time."""
    until = time.monotonic() + patience
    while time.monotonic() < until:
        time.sleep(0.02)
        with suppress(BlockingIOError):
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            return True
    return False


@dataclass(slots=True)
class IndexedPage:
    """A page on its way into the index; title and text are words with blanks between them."""

    seq: int
    url: str
    title: str
    text: str
    host: str = ""
    language: str = ""
    fetched: float = 0.0
    score: float = 0.0
    copy: bool = False  # it repeats another page's content
    unread: bool = False  # it could not be read out of the archive
    changed: float = 0.0  # when it last changed in what matters; 0: never


class Index:
    """Pages, numbered from 1 in the order in which they come. The file is made if there is none, and made anew if it is
    another; it holds nothing that could not be made again, so nothing in here is careful with it.

    Whoever opens or clears it holds the right of `building`; without it an index that is there can be read (`mine`).
    """

    def __init__(self, path: Path, *, mine: bool = True) -> None:
        self.path = path
        self._start(mine)

    def _start(self, mine: bool = True) -> None:
        try:
            self._db = self._open()
        except IndexDamaged:
            if not mine:
                raise
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
                if ids != [_OURS, FORMAT] and not new:
                    raise IndexDamaged(f"{self.path} is not an index of this version")
                db.execute("PRAGMA journal_mode=WAL")
                db.execute("PRAGMA synchronous=NORMAL")
                db.execute("PRAGMA cache_size=-65536")
                if new:
                    marks = f"PRAGMA application_id = {_OURS}; PRAGMA user_version = {FORMAT};"
                    db.executescript(f"BEGIN; {_SCHEMA} {marks} COMMIT;")
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
            raise StoreError(f"{self.path} is not an index, and can't be deleted: {error.strerror}") from error

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
                    f"cannot write {self.path}: {text}. Free some space or give access, then search again; "
                    "the crawl itself is untouched"
                ) from error
            raise IndexDamaged(f"{self.path} is damaged ({text}): delete it; it will be rebuilt") from error

    # -- what it holds -----------------------------------------------------------------------------------------

    def add(self, entries: Sequence[IndexedPage], mark: str) -> None:
        """Take in pages, all of them or none; `mark` tells the last one's event from others of its number."""
        with self._explaining():
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
                        (number, page.seq, page.url, page.host, page.language, page.fetched, page.changed, page.score,
                         page.copy, page.unread)
                        for number, page in enumerate(entries, first)
                    ),
                )  # fmt: skip
                size = first + len(entries) - 1
                self._db.execute("UPDATE state SET last = ?, mark = ?, size = ?", (entries[-1].seq, mark, size))
                self._db.execute("COMMIT")
            except BaseException:
                if self._db.in_transaction:  # a full disk makes SQLite roll back by itself
                    self._db.execute("ROLLBACK")
                raise

    @contextmanager
    def reading(self) -> Iterator[None]:
        """What is read inside is of one moment, whatever is added meanwhile."""
        with self._explaining():
            self._db.execute("BEGIN")
            try:
                yield
            finally:
                if self._db.in_transaction:
                    self._db.execute("ROLLBACK")

    def last(self) -> tuple[int, str]:
        """The number of the last event taken in, and its mark."""
        with self._explaining():
            seq, mark = self._db.execute("SELECT last, mark FROM state").fetchone()
        return seq, mark

    def size(self) -> int:
        """How many pages have come, with those of which there is another version by now."""
        with self._explaining():
            size: int = self._db.execute("SELECT size FROM state").fetchone()[0]
        return size

    def mostly_dead(self) -> bool:
        """Whether so many pages have a later version that beginning anew is worth it."""
        return self.size() > max(1_000, 2 * len(self.pages()))

    def pages(self, where: str = "TRUE", values: Sequence[object] = ()) -> NDArray[np.void]:
        """The pages as they are now, or a selection of them: number, event, score, whether it could be read."""
        with self._explaining():
            rows = self._db.execute(f"SELECT id, seq, score, unread FROM page WHERE {where} ORDER BY id", values)
            return np.array(rows.fetchall(), PAGE)

    def names(self, column: str) -> list[str]:
        """Every host, or every language."""
        with self._explaining():
            return [name for (name,) in self._db.execute(f"SELECT DISTINCT {column} FROM page")]

    def words(self, prefix: str) -> list[str]:
        """Every word that begins so."""
        with self._explaining():
            words = self._db.execute(
                "SELECT term FROM word WHERE term >= ? AND term < ?", (prefix, prefix + "\U0010ffff")
            )
            return [word for (word,) in words]

    def matches(self, words: Sequence[str], *, prefix: bool = False) -> NDArray[np.void]:
        """The pages that hold the words side by side, and what BM25 says of them; the last may be a beginning."""
        match = f'"{" ".join(words)}"' + "*" * prefix
        with self._explaining():
            rows = self._db.execute(
                f"SELECT rowid, -bm25(place, {TITLE}, 1) FROM place WHERE place MATCH ?", (match,)
            ).fetchall()
        matches = np.array(rows, MATCH)
        if len(matches) and matches["id"].max() > self.size():
            raise IndexDamaged(f"{self.path} is damaged: it has words of pages that it does not know")
        return matches
