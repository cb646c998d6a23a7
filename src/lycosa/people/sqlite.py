"""The database in a file: no other service, and enough for some hundred people."""

from __future__ import annotations

import sqlite3
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from lycosa.core.errors import InputError, StoreError
from lycosa.people.database import Database, DatabaseAway, NoRoom, Row, Taken, Value

PATIENCE = 10.0
"""Seconds to wait for another process that writes."""


class _Connection(sqlite3.Connection):
    """One that is not closed under another thread's statement: SQLite would not survive that."""

    def __init__(self, *given: Any, **named: Any) -> None:
        super().__init__(*given, **named)
        self.lock = threading.Lock()

    def close(self) -> None:
        """When the statement that runs has ended."""
        with self.lock:
            super().close()


class Sqlite(Database):
    """Write-ahead log, so that readers and the one writer do not stop each other."""

    def __init__(self, path: Path) -> None:
        super().__init__()
        self.path = path
        self._connection()

    def _connection(self) -> _Connection:
        known: _Connection | None = getattr(self._local, "connection", None)
        if known is not None:
            return known
        with self._explaining():
            made = sqlite3.connect(
                self.path, PATIENCE, isolation_level=None, check_same_thread=False, factory=_Connection
            )
            made.row_factory = lambda cursor, values: dict(
                zip((column[0] for column in cursor.description), values, strict=True)
            )
            try:
                self._write_ahead(made)
            except sqlite3.Error:
                made.close()
                raise
            made.execute("PRAGMA synchronous = FULL")  # an account that was made is there after a power cut, too
            made.execute("PRAGMA foreign_keys = ON")
            made.execute("PRAGMA trusted_schema = OFF")
            made.execute("PRAGMA secure_delete = ON")  # what somebody had erased is not to be found in the file either
            made.execute("PRAGMA case_sensitive_like = ON")  # as PostgreSQL has it
        self._keep(made)
        return made

    @staticmethod
    def _write_ahead(made: sqlite3.Connection) -> None:
        """The mode is kept in the file. For the change SQLite does not wait as it does for everything else."""
        for last in [False] * 100 + [True]:
            try:
                made.execute("PRAGMA journal_mode = WAL")
                return
            except sqlite3.OperationalError as error:
                if last or "locked" not in str(error):
                    raise
                time.sleep(0.02)

    def _ask(self, statement: str, given: Sequence[Value]) -> tuple[list[Row], int]:
        with self._explaining():
            connection = self._connection()
            with connection.lock:
                cursor = connection.execute(statement, given)
                return (cursor.fetchall() if cursor.description else []), cursor.rowcount

    def alone(self) -> None:
        """There is only one that writes in any case."""

    def scour(self) -> None:
        """The write-ahead log still has what was written before: it is emptied. Where a reader is in the way, SQLite
        overwrites it sooner or later by itself.
        """
        with suppress(DatabaseAway):
            self._ask("PRAGMA wal_checkpoint(TRUNCATE)", ())

    def _begin(self) -> None:
        self._ask("BEGIN IMMEDIATE", ())

    def _look(self) -> None:
        self._ask("BEGIN", ())
        self._ask("SELECT COUNT(*) FROM sqlite_master", ())  # the moment is that of the first look

    def _commit(self) -> None:
        self._ask("COMMIT", ())

    def _rollback(self) -> None:
        if self._connection().in_transaction:  # a full disk makes SQLite roll back by itself
            self._ask("ROLLBACK", ())

    def tables(self) -> dict[str, list[str]]:
        names = [row["name"] for row in self.rows("SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY name")]
        return {
            name: [row["name"] for row in self.rows(f"PRAGMA table_info({name})")]
            for name in names
            if not name.startswith("sqlite_")
        }

    @contextmanager
    def _explaining(self) -> Iterator[Any]:
        try:
            yield
        except sqlite3.IntegrityError as error:
            raise Taken(str(error)) from error
        except (OverflowError, UnicodeEncodeError, sqlite3.DataError) as error:
            raise InputError(f"a value cannot be kept: {error}") from error
        except sqlite3.OperationalError as error:
            if "locked" in str(error) or "busy" in str(error):
                raise DatabaseAway(f"{self.path} is in use by another process: try again in a moment") from error
            if "full" in str(error):
                raise NoRoom(f"{self.path}: {error}; free some space on its disk") from error
            raise StoreError(f"{self.path}: {error}") from error
        except sqlite3.DatabaseError as error:
            raise StoreError(f"{self.path} is damaged or no database ({error}): restore it from a backup") from error
