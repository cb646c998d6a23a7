"""The search index: which words stand on which page, how often, and where. One SQLite file beside the log.

It is derived from log and archive, so it may be deleted at any time, and whatever is wrong with it is mended by making
it anew. A batch of pages goes into both parts in one transaction, with the number of the last event:

    place    FTS5, without a copy of the text: where each word stands, and how much that says of the page (BM25)
    page     what filters ask for, of each page as it is now

A page of which another version comes gets a new number. What FTS5 has of the old one counts for nobody any more.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from lycosa.store.indexfile import IndexDamaged, IndexFile

NAME = "search.sqlite"

FORMAT = 4
"""Of the file. Counts up whenever an index of before would answer otherwise, also when words are cut differently."""

TITLE = 5
"""A word in the title counts as so many in the text."""

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
    copy: bool = False
    """Whether it repeats another page's content."""
    unread: bool = False
    """Whether it could not be read out of the archive."""
    changed: float = 0.0
    """When it last changed in what matters; 0: never."""


class Index(IndexFile):
    """Pages, numbered from 1 in the order in which they come."""

    schema = _SCHEMA
    format = FORMAT

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
