"""The database on a PostgreSQL server, for a team."""

from __future__ import annotations

import select
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import lru_cache
from typing import Any
from urllib.parse import urlsplit

from lycosa.core.errors import InputError, StoreError
from lycosa.people.database import Database, DatabaseAway, NoRoom, Row, Taken, Value

CONNECT = 5
"""Seconds to wait for the server at most."""

PATIENCE = 10
"""Seconds to wait for another process that changes the same row: as long as for SQLite."""

FORGOTTEN = 300
"""Seconds after which PostgreSQL ends a transaction in which nothing happens, so that its locks hold up nobody."""

ALIVE = {"keepalives_idle": 30, "keepalives_interval": 10, "keepalives_count": 3, "tcp_user_timeout": 30_000}
"""How soon a server that vanished without a word is given up."""

OURS = 0x1C05A
"""The number of our lock among those of a PostgreSQL server."""


class Postgres(Database):
    """A connection that broke is made anew before the next statement. A statement that only reads is asked again if
    the connection broke under it; one that writes is not, as it may have been done.
    """

    lock = " FOR NO KEY UPDATE"  # as FOR UPDATE, but whoever only refers to the row need not wait

    def __init__(self, address: str) -> None:
        super().__init__()
        try:
            import psycopg
        except ImportError as error:
            raise InputError(
                "a PostgreSQL database needs psycopg: install Lycosa with pip install 'lycosa[postgres]'"
            ) from error
        self.address = address
        self._psycopg: Any = psycopg
        self._connection()

    @property
    def place(self) -> str:
        """The address without its password."""
        try:
            parts = urlsplit(self.address)
        except ValueError:
            return "postgresql://?"
        return f"postgresql://{parts.hostname or ''}{parts.path}"

    def _connection(self) -> Any:
        known = getattr(self._local, "connection", None)
        if self._deep:
            if known is None or known.closed:
                raise DatabaseAway(f"the database {self.place} was lost amid a change, which was not made: try again")
            return known
        if known is not None and not _hung_up(known):
            return known
        if known is not None:
            known.close()
        self._keep(self._connect())
        return self._local.connection

    def _connect(self) -> Any:
        from psycopg.rows import dict_row
        from psycopg.types.numeric import FloatLoader

        with self._explaining():
            try:
                made = self._psycopg.connect(
                    self.address,
                    autocommit=True,
                    row_factory=dict_row,
                    connect_timeout=CONNECT,
                    prepare_threshold=None,
                    **ALIVE,
                )
            except self._psycopg.ProgrammingError:
                # PostgreSQL's message repeats the address, and its password with it.
                raise InputError(
                    f"cannot read the database's address ({self.place}): "
                    "write postgresql://user:password@host:port/name"
                ) from None
            made.execute(f"SET lock_timeout = '{PATIENCE}s'; SET idle_in_transaction_session_timeout = '{FORGOTTEN}s'")
            made.adapters.register_loader("numeric", FloatLoader)  # a sum is a number like any other
            return made

    def _ask(self, statement: str, given: Sequence[Value]) -> tuple[list[Row], int]:
        asked = translated(statement)
        reads = statement.lstrip()[:6].upper() == "SELECT"
        with self._explaining():
            connection = self._connection()
            if self._deep and not reads:
                with connection.transaction():  # a savepoint: what is refused does not spoil the rest
                    return self._fetch(connection, asked, given)
            try:
                return self._fetch(connection, asked, given)
            except self._psycopg.OperationalError:
                if self._deep or not reads or not connection.closed:
                    raise
            return self._fetch(self._connection(), asked, given)

    @staticmethod
    def _fetch(connection: Any, asked: str, given: Sequence[Value]) -> tuple[list[Row], int]:
        cursor = connection.execute(asked, given)
        return (cursor.fetchall() if cursor.description else []), cursor.rowcount

    def alone(self) -> None:
        """A lock of this schema's own."""
        self.rows("SELECT pg_advisory_xact_lock(?, hashtext(current_schema()))", OURS)

    def _begin(self) -> None:
        self._start("BEGIN")

    def _look(self) -> None:
        self._start("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY")
        with self._explaining():
            self._local.connection.execute("SELECT 1")  # the moment is that of the first look

    def _start(self, statement: str) -> None:
        with self._explaining():
            connection = self._connection()
            try:
                connection.execute(statement)
            except self._psycopg.OperationalError:
                if not connection.closed:
                    raise
                self._connection().execute(statement)

    def _commit(self) -> None:
        with self._explaining():
            connection = self._connection()
            if connection.info.transaction_status == self._psycopg.pq.TransactionStatus.INERROR:
                raise StoreError(f"{self.place}: a statement of this change had failed: nothing of it was done")
            connection.execute("COMMIT")

    def _rollback(self) -> None:
        connection = self._local.connection
        try:
            connection.execute("ROLLBACK")
        except self._psycopg.Error:
            connection.close()

    def tables(self) -> dict[str, list[str]]:
        columns: dict[str, list[str]] = {}
        for row in self.rows(
            "SELECT table_name, column_name FROM information_schema.columns "
            "WHERE table_schema = current_schema() ORDER BY table_name, ordinal_position"
        ):
            columns.setdefault(row["table_name"], []).append(row["column_name"])
        return columns

    @contextmanager
    def _explaining(self) -> Iterator[None]:
        try:
            yield
        except self._psycopg.IntegrityError as error:
            raise Taken(str(error)) from error
        except self._psycopg.errors.DiskFull as error:
            raise NoRoom(f"{self.place}: {error}; free some space on its disk") from error
        except (self._psycopg.OperationalError, self._psycopg.InterfaceError) as error:
            raise DatabaseAway(
                f"the database {self.place} does not answer ({str(error).splitlines()[0] if str(error) else error!r}): "
                "see that PostgreSQL runs, then try again"
            ) from error
        except (self._psycopg.DataError, UnicodeEncodeError) as error:
            raise InputError(f"a value cannot be kept: {error}") from error
        except self._psycopg.Error as error:
            raise StoreError(f"{self.place}: {error}") from error


def _hung_up(connection: Any) -> bool:
    """Whether an idle connection is of no use any more: the server has nothing to say on it but that it has gone."""
    if connection.closed:
        return True
    waiting = select.poll()
    waiting.register(connection.fileno(), select.POLLIN | select.POLLHUP | select.POLLERR)
    return bool(waiting.poll(0))


@lru_cache(1024)
def translated(statement: str) -> str:
    """A statement with psycopg's marks for ours; what stands in quotes stays as it is.

    >>> translated("SELECT '50%?' AS what WHERE a LIKE ?")
    "SELECT '50%%?' AS what WHERE a LIKE %s"
    """
    parts = statement.replace("%", "%%").split("'")
    parts[::2] = [part.replace("?", "%s") for part in parts[::2]]
    return "'".join(parts)
