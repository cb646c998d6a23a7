"""The server's database: SQLite in a file, or PostgreSQL. The same statements go to both.

Statements have named parameters (`:name`). Errors of the drivers become `Taken`, `InputError`, `DatabaseAway`, `NoRoom`
or `StoreError`.
"""

from __future__ import annotations

import json
import sqlite3
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, nullcontext, suppress
from functools import partial
from pathlib import Path
from typing import Any, TypeAlias
from urllib.parse import urlsplit

from sqlalchemy import URL, Connection, ExceptionContext, Text, bindparam, create_engine, event, exc, inspect, text

from lycosa.core.errors import InputError, LycosaError, StoreError

Row: TypeAlias = dict[str, Any]
Value: TypeAlias = str | int | float | Sequence[str] | None

MAX_WAIT_seconds = 10  # for another process that writes (SQLite), or that changes the same row (PostgreSQL)


class DatabaseAway(LycosaError):
    """The database can't be reached now; the same request may succeed later."""


class NoRoom(StoreError):
    """The disk is full: nothing can be kept until there is room."""


class Taken(LycosaError):
    """Something of that name is there already."""


class Database:
    """A pool of connections. Outside `transaction()` each statement is committed by itself."""

    def __init__(self, address: str | Path) -> None:
        """Connect to `postgresql://...`, or to the SQLite file at a path, which is made if there is none."""
        self._local = threading.local()
        self._place = _without_password(str(address))
        self.is_postgres = str(address).startswith(("postgresql://", "postgres://"))
        if self.is_postgres:
            url, connect = URL.create("postgresql+psycopg"), partial(_connect_postgres, str(address), self._place)
        elif "://" in str(address):
            kind = str(address).partition("://")[0]  # the rest may hold a password
            raise InputError(f"there is no database {kind}://: give a postgresql:// address, or a file for SQLite")
        else:
            url, connect = URL.create("sqlite", database=str(address)), partial(_connect_sqlite, str(address))
        try:
            self._engine = create_engine(
                url,
                creator=connect,
                isolation_level="AUTOCOMMIT",
                max_overflow=-1,
                pool_pre_ping=self.is_postgres,
            )
        except ImportError as error:
            raise InputError(
                "a PostgreSQL database needs psycopg: install Lycosa with pip install 'lycosa[postgres]'"
            ) from error
        event.listen(self._engine, "handle_error", self._explained)
        with self._engine.connect():
            pass

    def close(self) -> None:
        """Close idle connections; one that another thread uses is closed when that has finished."""
        self._engine.dispose()

    @property
    def lock(self) -> str:
        """What makes a SELECT keep its rows from others until the transaction ends. (SQLite has one writer anyway. Rows
        that only refer to a locked one do not wait, as they would with FOR UPDATE.)
        """
        return " FOR NO KEY UPDATE" if self.is_postgres else ""

    def rows(self, statement: str, /, **given: Value) -> list[Row]:
        return self._execute(statement, given)[0]

    def row(self, statement: str, /, **given: Value) -> Row | None:
        rows = self.rows(statement, **given)
        return rows[0] if rows else None

    def run(self, statement: str, /, **given: Value) -> int:
        """How many rows it changed."""
        return self._execute(statement, given)[1]

    def get(self, table: str, key: str, *, locked: bool = False) -> Row | None:
        """The row with an id; `locked`: inside a transaction, kept from others until that ends."""
        return self.row(f"SELECT * FROM {table} WHERE id = :key{self.lock if locked else ''}", key=key)

    def find(self, table: str, **where: Value) -> Row | None:
        return self.row(f"SELECT * FROM {table} WHERE {_equal(where)}", **where)

    def count(self, table: str, where: str = "1 = 1", /, **given: Value) -> int:
        return int(self.rows(f"SELECT COUNT(*) AS n FROM {table} WHERE {where}", **given)[0]["n"])

    def update(self, table: str, key: str, changes: Row) -> int:
        """Change columns of the row with an id; how many rows there were: one, or none."""
        columns = ", ".join(f"{name} = :{name}" for name in changes)
        return self._execute(f"UPDATE {table} SET {columns} WHERE id = :_key", {**changes, "_key": key})[1]

    def insert(self, table: str, row: Row | None = None, /, **values: Value) -> Row:
        """Add a row and return it; `Taken` if its key is there already."""
        row = {**(row or {}), **values}
        self._execute(_insertion(table, row), row)
        return row

    def delete(self, table: str, key: str | None = None, /, **where: Value) -> int:
        """Remove the row with an id, or the rows with these values; return how many there were."""
        where = where if key is None else {"id": key}
        return self.run(f"DELETE FROM {table} WHERE {_equal(where)}", **where)

    def upsert(self, table: str, row: Row, key: Sequence[str], changing: Sequence[str]) -> None:
        """Add a row, or change some columns of the one that has this key already."""
        changes = ", ".join(f"{name} = excluded.{name}" for name in changing)
        self._execute(f"{_insertion(table, row)} ON CONFLICT ({', '.join(key)}) DO UPDATE SET {changes}", row)

    @contextmanager
    def transaction(self) -> Iterator[None]:
        """All of it or nothing. Inside another, it is part of that one. A statement that is refused (`Taken`) leaves
        what was done before it as it is: who catches that may go on.
        """
        with self._begun("BEGIN" if self.is_postgres else "BEGIN IMMEDIATE"):
            yield

    @contextmanager
    def snapshot(self) -> Iterator[None]:
        """What is read inside is all of one moment, whatever others write meanwhile."""
        with self._begun("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY" if self.is_postgres else "BEGIN"):
            self.tables()  # the moment is that of the first look
            yield

    @contextmanager
    def _begun(self, begin: str) -> Iterator[None]:
        if self._current is not None:
            yield
            return
        with self._engine.connect() as connection, connection.begin():
            connection.exec_driver_sql(begin)
            self._local.connection = connection
            try:
                yield
            finally:
                self._local.connection = None

    @property
    def _current(self) -> Connection | None:
        """The connection of this thread's transaction."""
        return getattr(self._local, "connection", None)

    @contextmanager
    def connection(self) -> Iterator[Connection]:
        """The connection of this thread's transaction; outside one, any."""
        if self._current is not None:
            yield self._current
            return
        with self._engine.connect() as connection:
            yield connection

    def scour(self) -> None:
        """Empty SQLite's write-ahead log, which still has what was erased. Where a reader is in the way, SQLite
        overwrites it sooner or later by itself. Outside a transaction.
        """
        if not self.is_postgres:
            with suppress(DatabaseAway):
                self.run("PRAGMA wal_checkpoint(TRUNCATE)")

    def tables(self) -> dict[str, list[str]]:
        """The tables that are there, each with its columns."""
        with self.connection() as connection:
            seen = inspect(connection)
            return {table: [str(it["name"]) for it in seen.get_columns(table)] for table in seen.get_table_names()}

    def _execute(self, statement: str, given: Row) -> tuple[list[Row], int]:
        # In PostgreSQL a statement that fails would spoil its transaction: a savepoint keeps what was done before.
        lists = [
            bindparam(name, type_=Text, expanding=True)
            for name, value in given.items()
            if isinstance(value, list | tuple)
        ]
        prepared = text(statement).bindparams(*lists)
        keep = self.is_postgres and self._current is not None
        with self.connection() as connection, connection.begin_nested() if keep else nullcontext():
            result = connection.execute(prepared, _plain(given))
            return [dict(row) for row in result.mappings()] if result.returns_rows else [], result.rowcount

    def _explained(self, context: ExceptionContext) -> Exception | None:
        """An error of the driver in our words."""
        error, kind = context.original_exception, context.sqlalchemy_exception
        if isinstance(error, OverflowError | UnicodeEncodeError) or isinstance(kind, exc.DataError):
            return InputError(f"a value cannot be kept: {error}")
        if isinstance(kind, exc.IntegrityError):
            return Taken(str(error))
        if type(error).__name__ == "DiskFull" or (not self.is_postgres and "full" in str(error)):
            return NoRoom(f"{self._place}: {error}; free some space on its disk")
        if isinstance(kind, exc.OperationalError | exc.InterfaceError):
            if self.is_postgres:
                why = next(iter(str(error).splitlines()), repr(error))
                return DatabaseAway(
                    f"the database {self._place} does not answer ({why}): see that PostgreSQL runs, then try again"
                )
            if "locked" in str(error) or "busy" in str(error):
                return DatabaseAway(f"{self._place} is in use by another process: try again in a moment")
            return StoreError(f"{self._place}: {error}")
        if isinstance(kind, exc.DBAPIError) and not self.is_postgres:
            return StoreError(f"{self._place} is damaged or no database ({error}): restore it from a backup")
        return StoreError(f"{self._place}: {error}") if isinstance(kind, exc.DBAPIError) else None


def _equal(where: Row) -> str:
    return " AND ".join(f"{name} = :{name}" for name in where)


def _insertion(table: str, row: Row) -> str:
    return f"INSERT INTO {table} ({', '.join(row)}) VALUES ({', '.join(f':{name}' for name in row)})"


def as_dict(text: str) -> dict[str, Any]:
    """Read an object of JSON from a column; empty where it is damaged."""
    with suppress(ValueError):
        if isinstance(read := json.loads(text), dict):
            return read
    return {}


def _plain(given: Row) -> Row:
    """Values as both kinds of database take them: truth as a number, no NUL in text (PostgreSQL can't keep one).

    >>> _plain({"a": "a", "b": True, "c": None})
    {'a': 'a', 'b': 1, 'c': None}
    """
    if any(isinstance(value, str) and "\0" in value for value in given.values()):
        raise InputError("text with a NUL character in it cannot be kept: leave it out")
    return {name: int(value) if isinstance(value, bool) else value for name, value in given.items()}


def _without_password(address: str) -> str:
    """The address of a database as messages may show it.

    >>> _without_password("postgresql://ada:secret@db.example/lycosa")
    'postgresql://db.example/lycosa'
    """
    if "://" not in address:
        return address
    try:
        parts = urlsplit(address)
    except ValueError:
        return "postgresql://?"
    return f"postgresql://{parts.hostname or ''}{parts.path}"


def _connect_sqlite(path: str) -> sqlite3.Connection:
    made = sqlite3.connect(path, MAX_WAIT_seconds, isolation_level=None, check_same_thread=False)
    try:
        _write_ahead(made)
        made.execute("PRAGMA synchronous = FULL")  # an account that was made is there after a power cut, too
        made.execute("PRAGMA foreign_keys = ON")
        made.execute("PRAGMA trusted_schema = OFF")
        made.execute("PRAGMA secure_delete = ON")  # what somebody had erased is not to be found in the file either
        made.execute("PRAGMA case_sensitive_like = ON")  # as PostgreSQL has it
    except sqlite3.Error:
        made.close()
        raise
    return made


def _write_ahead(made: sqlite3.Connection) -> None:
    """Let readers and the one writer not stop each other. For this change of the file SQLite does not wait as it does
    for everything else.
    """
    for last in [False] * 100 + [True]:
        try:
            made.execute("PRAGMA journal_mode = WAL")
            return
        except sqlite3.OperationalError as error:
            if last or "locked" not in str(error):
                raise
            time.sleep(0.02)


def _connect_postgres(address: str, place: str) -> Any:
    import psycopg
    from psycopg.types.numeric import FloatLoader

    try:
        made = psycopg.connect(
            address,
            autocommit=True,
            connect_timeout=5,
            prepare_threshold=None,
            keepalives_idle=30,  # a server that vanished without a word is given up soon
            keepalives_interval=10,
            keepalives_count=3,
            tcp_user_timeout=30_000,
        )
    except psycopg.ProgrammingError:
        # PostgreSQL's message repeats the address, and its password with it.
        raise InputError(
            f"cannot read the database's address ({place}): write postgresql://user:password@host:port/name"
        ) from None
    # PostgreSQL ends a transaction in which nothing happens, so that its locks hold up no others.
    made.execute(f"SET lock_timeout = '{MAX_WAIT_seconds}s'; SET idle_in_transaction_session_timeout = '300s'")
    made.adapters.register_loader("numeric", FloatLoader)  # a sum is a number like any other
    return made
