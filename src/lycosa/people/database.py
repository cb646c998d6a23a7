"""One database, of either kind: SQLite in a file, or a PostgreSQL server. The same statements go to both.

Statements are written with `?` and in what the two have in common. Times are seconds since the epoch, truth is 0 or 1,
what has parts is JSON, and every key is a random name of our own (`new_id`). Each thread has its own connection, which
goes when the thread has ended and another one comes.
"""

from __future__ import annotations

import re
import secrets
import threading
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
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
        from lycosa.people.sqlite import Sqlite

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
