"""The first revision of the schema."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from alembic.autogenerate import compare_metadata
from alembic.runtime.migration import MigrationContext

from lycosa.core.errors import StoreError
from lycosa_server.people.database import Database
from lycosa_server.people.migrating import migrate, newest, revision
from lycosa_server.people.schema import metadata


@pytest.fixture
def database(database_address: str) -> Iterator[Database]:
    opened = Database(database_address)
    yield opened
    opened.close()


def test_migrate_creates_schema(database: Database) -> None:
    for _ in range(2):
        migrate(database)
        assert newest() == revision(database)
        with database.connection() as connection:
            assert [] == compare_metadata(MigrationContext.configure(connection), metadata)


def test_migrate_refuses_foreign_database(database: Database) -> None:
    database.run("CREATE TABLE person (x TEXT)")
    with pytest.raises(StoreError, match="person"):
        migrate(database)
    assert {"person": ["x"]} == database.tables()
