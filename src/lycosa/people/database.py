"""One database, of either kind: SQLite in a file, or a PostgreSQL server. The same statements go to both.

Statements are written with `?` and in what the two have in common. Times are seconds since the epoch, truth is 0 or 1,
what has parts is JSON, and every key is a random name of our own (`new_id`). Each thread has its own connection, which
goes when the thread has ended and another one comes.
"""

from __future__ import annotations

import re
import secrets
import sqlite3
import threading
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from importlib.resources import files
from pathlib import Path
from typing import Any, TypeAlias

from lycosa.core.errors import InputError, LycosaError, StoreError

Row: TypeAlias = dict[str, Any]
Value: TypeAlias = str | int | float | None


class DatabaseAway(LycosaError):
    """The database can't be reached now; the same request may succeed later."""


class NoRoom(StoreError):
    """The disk is full: nothing can be kept until there is room."""


class Taken(LycosaError):
    """Something of that name is there already."""


class Database(ABC):
    """What a store of accounts has to do. Outside `transaction()` each statement stands for itself."""

    lock = ""
    """What makes a SELECT keep its rows from others until the transaction ends."""

    def __init__(self) -> None:
        self._local = threading.local()
        self._all: list[tuple[threading.Thread, Any]] = []
        self._lock = threading.Lock()

    def _keep(self, made: Any) -> None:
        """Have a new connection of this thread; close those of threads that are no more."""
        self._local.connection = made
        with self._lock:
            for thread, connection in self._all:
                if not thread.is_alive():
                    connection.close()
            self._all = [(thread, other) for thread, other in self._all if thread.is_alive()]
            self._all.append((threading.current_thread(), made))

    def close(self) -> None:
        with self._lock:
            for _, connection in self._all:
                connection.close()
            self._all.clear()
        self._local = threading.local()

    @staticmethod
    def open(address: str | Path) -> Database:
        """The database at an address: `postgresql://...`, or the path of a file."""
        if str(address).startswith(("postgresql://", "postgres://")):
            from lycosa.people.postgres import Postgres

            return Postgres(str(address))
        if "://" in str(address):
            kind = str(address).partition("://")[0]  # the rest may hold a password
            raise InputError(f"there is no database {kind}://: give a postgresql:// address, or a file for SQLite")

        return Sqlite(Path(address))

    def rows(self, statement: str, *given: Value) -> list[Row]:
        return self._ask(statement, plain(given))[0]

    def row(self, statement: str, *given: Value) -> Row | None:
        rows = self.rows(statement, *given)
        return rows[0] if rows else None

    def run(self, statement: str, *given: Value) -> int:
        """How many rows it changed."""
        return self._ask(statement, plain(given))[1]

    def get(self, table: str, key: str, *, locked: bool = False) -> Row | None:
        """The row with an id; `locked`: inside a transaction, kept from others until that ends."""
        return self.row(f"SELECT * FROM {table} WHERE id = ?{self.lock if locked else ''}", key)

    def active(self, person: str | None) -> Row | None:
        """The row of a person whose account is not suspended."""
        return self.row("SELECT * FROM person WHERE id = ? AND disabled = 0", person)

    def count(self, table: str, where: str = "1 = 1", *given: Value) -> int:
        return int(self.rows(f"SELECT COUNT(*) AS n FROM {table} WHERE {where}", *given)[0]["n"])

    def update(self, table: str, key: str, changes: Row) -> int:
        """Change columns of the row with an id; how many rows there were: one, or none."""
        columns = ", ".join(f"{name} = ?" for name in changes)
        return self.run(f"UPDATE {table} SET {columns} WHERE id = ?", *changes.values(), key)

    def insert(self, table: str, row: Row) -> None:
        """Add a row; `Taken` if its key is there already."""
        self.run(_insertion(table, row), *row.values())

    def delete(self, table: str, key: str) -> int:
        """Remove the row with an id; how many rows there were: one, or none."""
        return self.run(f"DELETE FROM {table} WHERE id = ?", key)

    def upsert(self, table: str, row: Row, key: Sequence[str], changing: Sequence[str]) -> None:
        """Add a row, or change some columns of the one that has this key already."""
        changes = ", ".join(f"{name} = excluded.{name}" for name in changing)
        added = f"{_insertion(table, row)} ON CONFLICT ({', '.join(key)}) DO UPDATE SET {changes}"
        self.run(added, *row.values())

    @contextmanager
    def transaction(self) -> Iterator[None]:
        """All of it or nothing. Inside another, it is part of that one. A statement that is refused (`Taken`) leaves
        what was done before it as it is: who catches that may go on.
        """
        with self._together(self._begin):
            yield

    @contextmanager
    def snapshot(self) -> Iterator[None]:
        """What is read inside is all of one moment, whatever others write meanwhile."""
        with self._together(self._look):
            yield

    @contextmanager
    def _together(self, begin: Callable[[], None]) -> Iterator[None]:
        if self._deep:
            yield
            return
        begin()
        self._local.deep = 1
        try:
            yield
            self._commit()
        except BaseException:
            self._rollback()
            raise
        finally:
            self._local.deep = 0

    def scour(self) -> None:  # noqa: B027 - nothing to do is fine
        """What was erased is not to lie about in a file beside the database either. Outside a transaction."""

    @property
    def _deep(self) -> bool:
        """Whether this thread is inside a transaction."""
        return bool(getattr(self._local, "deep", 0))

    @abstractmethod
    def _ask(self, statement: str, given: Sequence[Value]) -> tuple[list[Row], int]: ...

    @abstractmethod
    def alone(self) -> None:
        """Inside a transaction: until it ends, no other process gets past this."""

    @abstractmethod
    def _begin(self) -> None: ...

    @abstractmethod
    def _look(self) -> None: ...

    @abstractmethod
    def _commit(self) -> None: ...

    @abstractmethod
    def _rollback(self) -> None: ...

    @abstractmethod
    def tables(self) -> dict[str, list[str]]:
        """The tables that are there, each with its columns."""


def _insertion(table: str, row: Row) -> str:
    return f"INSERT INTO {table} ({', '.join(row)}) VALUES ({', '.join('?' * len(row))})"


def plain(given: Sequence[Value]) -> list[Value]:
    """Values as both kinds of database take them: truth as a number, no NUL in text (PostgreSQL can't keep one).

    >>> plain(["a", True, None])
    ['a', 1, None]
    """
    if any(isinstance(value, str) and "\0" in value for value in given):
        raise InputError("text with a NUL character in it cannot be kept: leave it out")
    return [int(value) if isinstance(value, bool) else value for value in given]


def new_id() -> str:
    """A key that nobody can guess: 96 bits."""
    return secrets.token_hex(12)


_ID = re.compile("[0-9A-Za-z_-]{1,64}", re.ASCII)


def is_id(text: object) -> bool:
    """Whether something can be a key of ours: whoever makes a path of one asks first.

    >>> is_id(new_id()), is_id("../../etc"), is_id(""), is_id(3)
    (True, False, False, False)
    """
    return isinstance(text, str) and _ID.fullmatch(text) is not None


# -- SQLite ------------------------------------------------------------------------------------------------

# The database in a file: no other service, and enough for some hundred people.

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


# -- migrations --------------------------------------------------------------------------------------------

# From any schema that was ever released to the newest: numbered scripts, each applied once, all of them or nothing.


def scripts() -> list[str]:
    """The scripts, in order; the schema's version is how many were applied."""
    entries = sorted(
        (entry for entry in files("lycosa.people").joinpath("schema").iterdir() if entry.name.endswith(".sql")),
        key=lambda entry: entry.name,
    )
    return [entry.read_text("utf-8") for entry in entries]


def version(database: Database) -> int:
    """The last script that the database has seen; 0 for an empty one."""
    if "migration" not in database.tables():
        return 0
    row = database.row("SELECT MAX(number) AS applied FROM migration")
    return int(row["applied"] or 0) if row else 0


def migrate(database: Database, upto: int | None = None) -> int:
    """Bring the schema up to date; returns the version that it has then. Processes that do so at once take turns."""
    known_scripts = scripts()
    wanted = known_scripts[:upto]
    if version(database) == len(wanted):
        return len(wanted)
    with database.transaction():
        database.alone()
        known = version(database)
        if known > len(known_scripts):
            raise InputError(
                f"the database has schema {known}, but this Lycosa knows {len(known_scripts)}: it was used by a newer "
                "version; install that one, or restore a backup"
            )
        if not known:
            _start(database, known_scripts)
        for number, script in enumerate(wanted[known:], known + 1):
            for statement in statements(script):
                database.run(statement)
            database.insert("migration", {"number": number, "applied": time.time()})
    return max(known, len(wanted))


def _start(database: Database, known: list[str]) -> None:
    """A place for the versions, if nothing of someone else's is in the way."""
    taken = sorted(set(tables_of(known)) & set(database.tables()))
    if taken:
        raise InputError(
            f"the database has a table {taken[0]!r} that is not Lycosa's: give Lycosa a database of its own"
        )
    database.run("CREATE TABLE IF NOT EXISTS migration (number INTEGER PRIMARY KEY, applied DOUBLE PRECISION NOT NULL)")


def tables_of(known: list[str]) -> list[str]:
    """The tables that scripts make; each comes after those that it refers to."""
    return [part.split()[2] for script in known for part in statements(script) if part.startswith("CREATE TABLE")]


def statements(script: str) -> list[str]:
    """A script's statements. (No text in a script may have a semicolon or two dashes in it.)

    >>> statements("-- a table\\nCREATE TABLE a (x TEXT);\\n\\nDROP TABLE b;\\n")
    ['CREATE TABLE a (x TEXT)', 'DROP TABLE b']
    """
    lines = [line.partition("--")[0].rstrip() for line in script.splitlines()]
    return [part.strip() for part in "\n".join(lines).split(";") if part.strip()]
