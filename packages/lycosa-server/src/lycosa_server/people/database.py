"""The server's database: SQLite in a file, or PostgreSQL, with the same SQL for both.

Statements have named parameters (`:name`). Driver errors become `Conflict`, `InputError`, `DatabaseUnavailable`,
`DiskFull` or `StoreError`.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, nullcontext, suppress
from pathlib import Path
from typing import Any, TypeAlias

from sqlalchemy import Text, bindparam, create_engine, event, exc, inspect, text
from sqlalchemy.engine import URL, Connection, ExceptionContext, make_url

from lycosa.core.errors import InputError, LycosaError, StoreError

Row: TypeAlias = dict[str, Any]
Value: TypeAlias = str | int | float | Sequence[str] | None

MAX_WAIT_SECONDS = 10  # maximum wait for another writer (SQLite) or a locked row (PostgreSQL)


class DatabaseUnavailable(LycosaError):
    """Raised if the database cannot be reached; the same request may succeed later."""


class DiskFull(StoreError):
    pass


class Conflict(LycosaError):
    """Raised if a row with this key exists, or if the current state does not permit an operation."""


class Database:
    """Pool of database connections; outside `transaction()` each statement is committed by itself."""

    def __init__(self, address: str | Path) -> None:
        self._local = threading.local()
        url = _url(str(address))
        self.is_postgres = url.get_backend_name() == "postgresql"
        self._place = f"postgresql://{url.host or ''}/{url.database}" if self.is_postgres else str(address)
        how = {"connect_args": POSTGRES, "pool_pre_ping": True} if self.is_postgres else {}
        try:
            self._engine = create_engine(url, isolation_level="AUTOCOMMIT", max_overflow=-1, **how)
        except ImportError as error:
            raise InputError("missing-package", "psycopg is missing: pip install 'lycosa-server[postgres]'") from error
        event.listen(self._engine, "connect", _prepare_postgres if self.is_postgres else _prepare_sqlite)
        event.listen(self._engine, "handle_error", self._translate_error)
        with self._engine.connect():
            pass

    def close(self) -> None:
        self._engine.dispose()

    @property
    def lock(self) -> str:
        """SQL suffix that locks selected rows until the transaction ends; empty for SQLite, with its single writer."""
        return " FOR NO KEY UPDATE" if self.is_postgres else ""

    def rows(self, statement: str, /, **given: Value) -> list[Row]:
        return self._execute(statement, given)[0]

    def row(self, statement: str, /, **given: Value) -> Row | None:
        rows = self.rows(statement, **given)
        return rows[0] if rows else None

    def run(self, statement: str, /, **given: Value) -> int:
        return self._execute(statement, given)[1]

    def get(self, table: str, key: str, *, locked: bool = False) -> Row | None:
        return self.row(f"SELECT * FROM {table} WHERE id = :key{self.lock if locked else ''}", key=key)

    def find(self, table: str, **where: Value) -> Row | None:
        return self.row(f"SELECT * FROM {table} WHERE {_equal(where)}", **where)

    def count(self, table: str, where: str = "1 = 1", /, **given: Value) -> int:
        return int(self.rows(f"SELECT COUNT(*) AS n FROM {table} WHERE {where}", **given)[0]["n"])

    def update(self, table: str, key: str, changes: Row) -> int:
        columns = ", ".join(f"{name} = :{name}" for name in changes)
        return self._execute(f"UPDATE {table} SET {columns} WHERE id = :_key", {**changes, "_key": key})[1]

    def insert(self, table: str, row: Row | None = None, /, **values: Value) -> Row:
        row = {**(row or {}), **values}
        self._execute(_insertion(table, row), row)
        return row

    def delete(self, table: str, key: str | None = None, /, **where: Value) -> int:
        where = where if key is None else {"id": key}
        return self.run(f"DELETE FROM {table} WHERE {_equal(where)}", **where)

    def upsert(self, table: str, row: Row, key: Sequence[str], changing: Sequence[str]) -> None:
        changes = ", ".join(f"{name} = excluded.{name}" for name in changing)
        self._execute(f"{_insertion(table, row)} ON CONFLICT ({', '.join(key)}) DO UPDATE SET {changes}", row)

    @contextmanager
    def transaction(self, *, snapshot: bool = False) -> Iterator[None]:
        """Run the block in one transaction, or join the outer one; a `snapshot` is read-only and consistent.

        After a `Conflict` the transaction is still usable, with the work of earlier statements.
        """
        if self._current is not None:
            yield
            return
        begin = "BEGIN" if self.is_postgres or snapshot else "BEGIN IMMEDIATE"
        if self.is_postgres and snapshot:
            begin += " ISOLATION LEVEL REPEATABLE READ READ ONLY"
        with self._engine.connect() as connection, connection.begin():
            connection.exec_driver_sql(begin)
            self._local.connection = connection
            try:
                if snapshot:
                    self.tables()  # the first read fixes the snapshot
                yield
            finally:
                self._local.connection = None

    @property
    def _current(self) -> Connection | None:
        return getattr(self._local, "connection", None)

    @contextmanager
    def connection(self) -> Iterator[Connection]:
        if self._current is not None:
            yield self._current
            return
        with self._engine.connect() as connection:
            yield connection

    def truncate_wal(self) -> None:
        """Truncate SQLite's write-ahead log, which still contains erased data, unless a reader prevents it."""
        if not self.is_postgres:
            with suppress(DatabaseUnavailable):
                self.run("PRAGMA wal_checkpoint(TRUNCATE)")

    def tables(self) -> dict[str, list[str]]:
        with self.connection() as connection:
            seen = inspect(connection)
            return {table: [str(it["name"]) for it in seen.get_columns(table)] for table in seen.get_table_names()}

    def _execute(self, statement: str, given: Row) -> tuple[list[Row], int]:
        # In PostgreSQL a failed statement aborts its transaction; a savepoint keeps the work before it.
        lists = [name for name, value in given.items() if isinstance(value, list | tuple)]
        prepared = text(statement).bindparams(*(bindparam(name, type_=Text, expanding=True) for name in lists))
        keep = self.is_postgres and self._current is not None
        with self.connection() as connection, connection.begin_nested() if keep else nullcontext():
            result = connection.execute(prepared, _to_parameters(given))
            return [dict(row) for row in result.mappings()] if result.returns_rows else [], result.rowcount

    def _translate_error(self, context: ExceptionContext) -> Exception | None:
        error, kind = context.original_exception, context.sqlalchemy_exception
        if isinstance(error, OverflowError | UnicodeEncodeError) or isinstance(kind, exc.DataError):
            return InputError("bad-value", f"the database cannot store a value: {error}")
        if isinstance(kind, exc.IntegrityError):
            return Conflict(str(error))
        if type(error).__name__ == "DiskFull" or (not self.is_postgres and "full" in str(error)):
            return DiskFull(f"{self._place}: {error}; free some disk space")
        if isinstance(kind, exc.OperationalError | exc.InterfaceError):
            if self.is_postgres:
                why = next(iter(str(error).splitlines()), repr(error))
                return DatabaseUnavailable(f"cannot reach {self._place} ({why}): check that PostgreSQL is running")
            if "locked" in str(error) or "busy" in str(error):
                return DatabaseUnavailable(f"{self._place} is in use by another process: try again in a moment")
            return StoreError(f"{self._place}: {error}")
        if isinstance(kind, exc.DBAPIError) and not self.is_postgres:
            return StoreError(f"{self._place} is damaged or not a database ({error}): restore it from a backup")
        return StoreError(f"{self._place}: {error}") if isinstance(kind, exc.DBAPIError) else None


def _equal(where: Row) -> str:
    return " AND ".join(f"{name} = :{name}" for name in where)


def _insertion(table: str, row: Row) -> str:
    return f"INSERT INTO {table} ({', '.join(row)}) VALUES ({', '.join(f':{name}' for name in row)})"


def as_dict(text: str) -> dict[str, Any]:
    with suppress(ValueError):
        if isinstance(read := json.loads(text), dict):
            return read
    return {}


def _to_parameters(given: Row) -> Row:
    """Convert values for both databases: booleans to integers; reject NUL in text, which PostgreSQL cannot store.

    >>> _to_parameters({"a": "a", "b": True, "c": None})
    {'a': 'a', 'b': 1, 'c': None}
    """
    if any(isinstance(value, str) and "\0" in value for value in given.values()):
        raise InputError("bad-text", "the text contains a NUL character: remove it")
    return {name: int(value) if isinstance(value, bool) else value for name, value in given.items()}


# notice within a minute that a server is unreachable
POSTGRES = {
    "connect_timeout": 5,
    "prepare_threshold": None,
    "keepalives_idle": 30,
    "keepalives_interval": 10,
    "keepalives_count": 3,
    "tcp_user_timeout": 30_000,
}


def _url(address: str) -> URL:
    kind, separator, rest = address.partition("://")
    if not separator:
        return URL.create("sqlite", database=address)
    if kind not in ("postgresql", "postgres"):  # the rest is not shown, as it may contain a password
        raise InputError("bad-database", f"unknown database {kind}://: give a postgresql:// address or a file")
    try:
        return make_url(f"postgresql+psycopg://{rest}")
    except (exc.ArgumentError, ValueError):  # its message may contain the password
        raise InputError("bad-database", "give the database as postgresql://user:password@host:port/name") from None


def _prepare_sqlite(connection: Any, _: Any) -> None:
    connection.execute(f"PRAGMA busy_timeout = {1000 * MAX_WAIT_SECONDS}")
    connection.execute("PRAGMA journal_mode = WAL")
    connection.execute("PRAGMA synchronous = FULL")  # committed accounts survive a power cut
    connection.execute("PRAGMA foreign_keys = ON")
    connection.execute("PRAGMA trusted_schema = OFF")
    connection.execute("PRAGMA secure_delete = ON")  # erased data must not remain in the file
    connection.execute("PRAGMA case_sensitive_like = ON")  # as in PostgreSQL


def _prepare_postgres(connection: Any, _: Any) -> None:
    # PostgreSQL ends idle transactions, so that their locks do not block others.
    connection.execute(f"SET lock_timeout = '{MAX_WAIT_SECONDS}s'; SET idle_in_transaction_session_timeout = '300s'")
