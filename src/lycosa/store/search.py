"""The search index: which words stand on which page, how often, and where. One SQLite file beside the log.

It is derived from log and archive, so it may be deleted at any time, and whatever is wrong with it is mended by making
it anew. Three parts, and a batch of pages goes into all of them in one transaction, with the number of the last event:

    place    FTS5, without a copy of the text: where each word stands, for phrases
    tally    for a word and 16,384 pages, on which of them it stands and how often: three bytes each
    chunk    for the same pages what filters ask for, a few bytes each

FTS5 could rank, too, but its bm25 looks at every place of every word of the query. Where a word stands on each of
100,000 pages that takes 0.2 s, and 0.6 s for three such words; numpy goes through their tallies in a few milliseconds.

A page of which another version comes gets a new number, and the old one is marked as dead: its words count no more.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import groupby

import numpy as np
from numpy.typing import NDArray

from lycosa.store.indexfile import IndexDamaged, IndexFile

NAME = "search.sqlite"

FORMAT = 3
"""Of the file. Counts up whenever an index of before would answer otherwise, also when words are cut differently."""

CHUNK = 16_384
"""Pages to a tally: the last one is written again with each batch, and the others never."""

TITLE = 5
"""A word in the title counts as so many in the text."""

LONGEST = 64
"""Letters of a word that is still looked up; what is longer is no word."""

COPY, DEAD, UNREAD = 1, 2, 4
"""Flags: repeats another page's content, has a later version, could not be read out of the archive."""

PAGE = np.dtype(
    [
        ("seq", "<u4"),
        ("fetched", "<u4"),
        ("host", "<u4"),
        ("language", "<u4"),
        ("length", "<u4"),
        ("score", "<f8"),
        ("flags", "u1"),
        ("changed", "<u4"),
    ]
)
_TIMES = np.dtype([("page", "<u2"), ("times", "u1")])

_SCHEMA = f"""
CREATE TABLE state (last INTEGER NOT NULL, mark TEXT NOT NULL);
INSERT INTO state VALUES (0, '');
CREATE TABLE address (url TEXT PRIMARY KEY, page INTEGER NOT NULL) WITHOUT ROWID;
CREATE TABLE name (id INTEGER PRIMARY KEY, kind TEXT NOT NULL, text TEXT NOT NULL, UNIQUE (kind, text));
CREATE TABLE chunk (id INTEGER PRIMARY KEY, pages BLOB NOT NULL);
CREATE TABLE tally (
    word TEXT NOT NULL, chunk INTEGER NOT NULL, times BLOB NOT NULL, PRIMARY KEY (word, chunk)
) WITHOUT ROWID;
CREATE VIRTUAL TABLE place USING fts5 (title, text, content='', columnsize=0, tokenize='ascii');
-- A batch becomes one piece of FTS5's tree, not dozens that have to be merged: a third less time.
INSERT INTO place (place, rank) VALUES ('hashsize', {64 << 20});
"""

_BEGINS = "word >= ? AND word < ?"


def _bounds(prefix: str) -> tuple[str, str]:
    return prefix, prefix + "\U0010ffff"


def _quoted(phrase: Sequence[str]) -> str:
    return f'"{" ".join(phrase)}"'


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
    flags: int = 0
    changed: float = 0.0
    """When it last changed in what matters; 0: never."""


class Index(IndexFile):
    """Pages, numbered from 0 in the order in which they come."""

    schema = _SCHEMA
    format = FORMAT

    # -- writing -----------------------------------------------------------------------------------------------

    def add(self, entries: Sequence[IndexedPage], mark: str) -> None:
        """Take in pages, all of them or none; `mark` tells the last one's event from others of its number."""
        with self._explaining():
            self._db.execute("BEGIN IMMEDIATE")
            try:
                first = self._size()
                for chunk, group in groupby(enumerate(entries, first), lambda numbered: numbered[0] // CHUNK):
                    self._add(chunk, list(group))
                self._db.execute("UPDATE state SET last = ?, mark = ?", (entries[-1].seq, mark))
                self._db.execute("COMMIT")
            except BaseException:
                if self._db.in_transaction:  # a full disk makes SQLite roll back by itself
                    self._db.execute("ROLLBACK")
                raise

    def _add(self, chunk: int, numbered: list[tuple[int, IndexedPage]]) -> None:
        """Take in pages of one chunk."""
        tallies: defaultdict[str, list[bytes]] = defaultdict(list)
        records = np.zeros(len(numbered), PAGE)
        for place, (number, entry) in enumerate(numbered):
            title, text = entry.title.split(), entry.text.split()
            words = Counter(text)
            for word in title:
                words[word] += TITLE
            where = (number % CHUNK).to_bytes(2, "little")
            for word, times in words.items():
                if len(word) <= LONGEST:
                    tallies[word].append(where + bytes((min(times, 255),)))
            records[place] = (
                entry.seq,
                max(0, int(entry.fetched)),
                self._name("host", entry.host),
                self._name("language", entry.language),
                len(title) + len(text),
                entry.score,
                entry.flags,
                max(0, int(entry.changed)),
            )
        self._db.executemany(
            "INSERT INTO place (rowid, title, text) VALUES (?, ?, ?)",
            ((number + 1, entry.title, entry.text) for number, entry in numbered),
        )
        self._db.executemany(
            "INSERT INTO tally VALUES (?1, ?2, ?3) ON CONFLICT DO UPDATE SET times = CAST(times || ?3 AS BLOB)",
            ((word, chunk, b"".join(tallies[word])) for word in sorted(tallies)),
        )
        self._db.execute(
            "INSERT INTO chunk VALUES (?1, ?2) ON CONFLICT DO UPDATE SET pages = CAST(pages || ?2 AS BLOB)",
            (chunk, records.tobytes()),
        )
        for number, entry in numbered:
            earlier = self._db.execute("SELECT page FROM address WHERE url = ?", (entry.url,)).fetchone()
            if earlier:
                self._bury(earlier[0])
            self._db.execute("INSERT OR REPLACE INTO address VALUES (?, ?)", (entry.url, number))

    def _bury(self, number: int) -> None:
        """Mark a page as dead."""
        chunk, place = divmod(number, CHUNK)
        pages = self._records(self._db.execute("SELECT pages FROM chunk WHERE id = ?", (chunk,)).fetchone()[0]).copy()
        pages["flags"][place] |= DEAD
        self._db.execute("UPDATE chunk SET pages = ? WHERE id = ?", (pages.tobytes(), chunk))

    def _name(self, kind: str, text: str) -> int:
        self._db.execute("INSERT OR IGNORE INTO name (kind, text) VALUES (?, ?)", (kind, text))
        number: int = self._db.execute("SELECT id FROM name WHERE kind = ? AND text = ?", (kind, text)).fetchone()[0]
        return number

    def _size(self) -> int:
        sizes = self._db.execute("SELECT SUM(LENGTH(pages)) FROM chunk").fetchone()
        return (sizes[0] or 0) // PAGE.itemsize

    # -- reading -----------------------------------------------------------------------------------------------

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

    def mostly_dead(self) -> bool:
        """Whether so many pages have a later version that beginning anew is worth it."""
        flags = self.pages()["flags"]
        return len(flags) > 1_000 and 2 * int(np.count_nonzero(flags & DEAD)) > len(flags)

    def pages(self) -> NDArray[np.void]:
        """A record for each page, dead ones too."""
        with self._explaining():
            blobs = self._db.execute("SELECT pages FROM chunk ORDER BY id").fetchall()
            return self._records(b"".join(blob for (blob,) in blobs))

    def names(self, kind: str) -> list[tuple[int, str]]:
        """Every host or language, with the number by which the records know it."""
        with self._explaining():
            return self._db.execute("SELECT id, text FROM name WHERE kind = ?", (kind,)).fetchall()

    def words(self, prefix: str) -> list[str]:
        """Every word that begins so."""
        with self._explaining():
            words = self._db.execute(f"SELECT DISTINCT word FROM tally WHERE {_BEGINS}", _bounds(prefix))
            return [word for (word,) in words]

    def times(self, words: Iterable[str], size: int) -> NDArray[np.float32]:
        """How often the words stand on each of `size` pages, taken together."""
        return self._sum((("word = ?", (word,)) for word in words), size)

    def times_beginning(self, prefix: str, size: int) -> NDArray[np.float32]:
        """The same for all words that begin so."""
        return self._sum([(_BEGINS, _bounds(prefix))], size)

    def _sum(self, selections: Iterable[tuple[str, tuple[str, ...]]], size: int) -> NDArray[np.float32]:
        by_chunk: defaultdict[int, list[bytes]] = defaultdict(list)
        with self._explaining():
            for where, given in selections:
                for chunk, blob in self._db.execute(f"SELECT chunk, times FROM tally WHERE {where}", given):
                    by_chunk[chunk].append(blob)
        times = np.zeros(size, np.float32)
        for chunk, blobs in by_chunk.items():
            part = times[chunk * CHUNK : (chunk + 1) * CHUNK]
            try:
                tallies = np.frombuffer(b"".join(blobs), _TIMES)
                if len(blobs) == 1:
                    part[tallies["page"]] = tallies["times"]
                else:
                    part += np.bincount(tallies["page"], tallies["times"], len(part))
            except (ValueError, IndexError, TypeError) as error:
                raise IndexDamaged(f"{self.path} is damaged ({error})") from error
        return times

    def holding(self, phrase: Sequence[str]) -> NDArray[np.intp]:
        """The pages that hold the words side by side."""
        with self._explaining():
            query = "SELECT group_concat(rowid) FROM place WHERE place MATCH ?"
            (rows,) = self._db.execute(query, (_quoted(phrase),)).fetchone()
        return np.array(rows.split(","), np.intp) - 1 if rows else np.zeros(0, np.intp)

    def holding_one_by_one(self, phrase: Sequence[str], pages: Iterable[int]) -> list[int]:
        """Those of some pages. Fast for a phrase that is on many pages: FTS5 looks for the next one that has it."""
        query, match = "SELECT 1 FROM place WHERE place MATCH ? AND rowid = ?", _quoted(phrase)
        with self._explaining():
            return [page for page in pages if self._db.execute(query, (match, page + 1)).fetchone()]

    def holding_from(self, phrase: Sequence[str], first: int) -> int:
        """How many of the pages from a certain one on."""
        query = "SELECT COUNT(*) FROM place WHERE place MATCH ? AND rowid > ?"
        with self._explaining():
            count: int = self._db.execute(query, (_quoted(phrase), first)).fetchone()[0]
        return count

    def _records(self, blob: bytes) -> NDArray[np.void]:
        try:
            return np.frombuffer(blob, PAGE)
        except (ValueError, TypeError) as error:
            raise IndexDamaged(f"{self.path} is damaged ({error})") from error
