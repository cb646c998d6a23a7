"""Databases and sites for the tests of the server."""

from __future__ import annotations

import os
import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from lycosa_server.people.database import Database
from lycosa_server.people.migrating import migrate
from postgres_server import MISSING, PLACE_VARIABLE, WHEEL, PostgresServer, end_with

if TYPE_CHECKING:
    from site_maker import SiteUnderTest


@pytest.fixture(scope="session")
def postgres() -> str:
    """Return the URL of a shared PostgreSQL server. Without the wheel, tests are skipped, but fail in CI."""
    if find_spec(WHEEL) is None:
        if os.environ.get("CI") == "true":
            pytest.fail(MISSING)
        pytest.skip(MISSING)
    server = PostgresServer(Path(os.environ[PLACE_VARIABLE]))
    first = not server.directory.exists()
    address = server.start()
    if first:
        starter = os.getppid() if "PYTEST_XDIST_WORKER" in os.environ else os.getpid()
        end_with(starter, server)
    return address


@pytest.fixture(params=["sqlite", "postgres"])
def database_address(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[str]:
    """Return the URL of an empty database; tests run once per kind of database."""
    if request.param == "sqlite":
        yield str(tmp_path / "lycosa.sqlite")
    else:
        with _schema(request.getfixturevalue("postgres")) as address:
            yield address


@contextmanager
def _schema(server: str) -> Iterator[str]:
    """Create a temporary schema in a PostgreSQL server and yield the URL of its database."""
    import psycopg

    schema = f"test_{secrets.token_hex(6)}"
    with psycopg.connect(server, autocommit=True) as connection:
        connection.execute(f"CREATE SCHEMA {schema}")
    yield f"{server}&options=-csearch_path%3D{schema}"
    with psycopg.connect(server, autocommit=True) as connection:
        connection.execute("SET client_min_messages = warning; SET lock_timeout = '5s'")
        connection.execute(f"DROP SCHEMA {schema} CASCADE")


@pytest.fixture(scope="session")
def migrated_schema(postgres: str) -> Iterator[str]:
    """Return a PostgreSQL schema with all tables, emptied for each test."""
    with _schema(postgres) as address:
        made = Database(address)
        migrate(made)
        made.close()
        yield address


@pytest.fixture(params=["sqlite", "postgres"])
def database(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Database]:
    """Return a migrated, empty database; tests run once per kind of database."""
    if request.param == "sqlite":
        from site_maker import fresh_database

        (tmp_path / "lycosa.sqlite").write_bytes(fresh_database())
        made = Database(tmp_path / "lycosa.sqlite")
        made.run("DELETE FROM catalogue")
    else:
        made = Database(request.getfixturevalue("migrated_schema"))
        made.run(f"TRUNCATE {', '.join(table for table in made.tables() if table != 'alembic_version')}")
    yield made
    made.close()


@pytest.fixture
def site(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[SiteUnderTest]:
    """Return an empty site on SQLite, with the settings of `parametrize("site", [{...}], indirect=True)`.

    Differences between databases are tested with `database`, in tests/people.
    """
    from site_maker import make_site

    made = make_site(tmp_path / "lycosa.sqlite", tmp_path, **getattr(request, "param", {}))
    yield made
    made.close()
