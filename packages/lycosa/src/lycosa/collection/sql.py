"""SQL queries over a crawl: read-only, with the functions links(seq) and terms(seq)."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import chain
from pathlib import Path
from typing import Any

from lycosa.collection.pages import LoggedWords
from lycosa.core.errors import InputError
from lycosa.store import codec
from lycosa.store.log import NAME, SqliteLog

_ALLOWED = {sqlite3.SQLITE_SELECT, sqlite3.SQLITE_READ, sqlite3.SQLITE_FUNCTION, sqlite3.SQLITE_RECURSIVE}


@dataclass(slots=True)
class QueryResult:
    """Column names of a query, and its rows as they are read."""

    columns: list[str]
    rows: Iterator[tuple[Any, ...]]


class CrawlDatabase:
    """The database of a crawl, for queries of its users; the crawl may be running."""

    def __init__(self, directory: Path) -> None:
        self.log = SqliteLog(directory / NAME, readonly=True)
        db = self.log.connection
        db.create_function("links", 1, self._links)
        db.create_function("terms", 1, self._terms)
        query = """
            SELECT name, (SELECT group_concat(column.name, ' ') FROM pragma_table_info(sqlite_master.name) AS column)
            FROM sqlite_master WHERE type IN ('view', 'table') ORDER BY type = 'table', rowid
        """
        self.tables = {name: columns.split() for name, columns in self.log.query(query)}  # columns by name, views first
        db.execute("SELECT 1 FROM json_each('[]'), json_tree('[]')")  # the first use of these is not only reading
        db.set_authorizer(lambda action, *_: sqlite3.SQLITE_OK if action in _ALLOWED else sqlite3.SQLITE_DENY)
        db.set_progress_handler(lambda: 0, 100_000)  # lets Ctrl-C end a long query

    def close(self) -> None:
        self.log.close()

    def query(self, sql: str) -> QueryResult:
        """Return the result of one SELECT statement; raise InputError for anything else."""
        try:
            cursor = self.log.connection.execute(sql)
        except (sqlite3.Error, sqlite3.Warning, UnicodeError) as error:
            raise _explained(error) from error
        return QueryResult([column[0] for column in cursor.description or ()], _rows(cursor))

    def _content(self, seq: int, column: str) -> bytes | None:
        row = self.log.connection.execute(f"SELECT {column} FROM content WHERE seq = ?", (seq,)).fetchone()
        return None if row is None else row[0]

    def _links(self, seq: int) -> str:
        """Return the links of a visit as a JSON array, in page order."""
        links = codec.unpack_links(self._content(seq, "links"))
        relevances = links.link_relevances.tolist() or [0.0] * len(links)
        found = zip(links.urls, links.anchors, relevances, strict=True)
        return json.dumps([{"url": url, "anchor": anchor, "relevance": round(r, 4)} for url, anchor, r in found])

    def _terms(self, seq: int) -> str:
        """Return the word stems of a visit and their counts as a JSON object, the most frequent first."""
        terms = codec.unpack_terms(self._content(seq, "terms"))
        counts = zip(terms.ids.tolist(), terms.counts.tolist(), strict=True)
        return json.dumps({self._words[number]: count for number, count in sorted(counts, key=lambda pair: -pair[1])})

    @cached_property
    def _words(self) -> list[str]:
        return LoggedWords(self.log).words


def _rows(cursor: sqlite3.Cursor) -> Iterator[tuple[Any, ...]]:
    try:
        yield from chain(cursor)  # a bare cursor would be closed, perhaps after the database
    except sqlite3.Error as error:
        raise _explained(error) from error


def _explained(error: Exception) -> InputError:
    text = " ".join(str(error).split()).rstrip(".")
    if text == "interrupted":
        raise KeyboardInterrupt from error
    if "not authorized" in text or "prohibited" in text:
        text = "only SELECT is possible: nothing is changed"
    return InputError("bad-query", f"{text}. Tables and columns: lycosa sql DIR")
