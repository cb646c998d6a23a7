"""Migrations: of empty and existing databases, concurrent, and killed midway."""

from __future__ import annotations

import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from alembic.config import Config

from input_errors import raises_input_error
from lycosa.core.errors import LycosaError
from lycosa_server.people import migrations
from lycosa_server.people.database import Database, Row
from lycosa_server.people.migrating import migrate, newest, revision
from people_rows import fill


@pytest.fixture
def database(database_address: str) -> Iterator[Database]:
    opened = Database(database_address)
    yield opened
    opened.close()


LATER = """
import sqlalchemy as sa
from alembic import op

revision = "later"
down_revision = "{newest}"


def upgrade():
    op.create_table("later", sa.Column("x", sa.Text))
    with op.batch_alter_table("person") as person:
        person.add_column(sa.Column("colour", sa.Text, nullable=False, server_default="green"))
    {last}
"""


def with_revision(tmp_path: Path, last: str = "pass") -> Config:
    folder = tmp_path / "migrations"
    shutil.copytree(Path(migrations.__file__).parent, folder, ignore=shutil.ignore_patterns("__pycache__"))
    (folder / "versions" / "later.py").write_text(LATER.format(newest=newest(), last=last))
    config = Config()
    config.set_main_option("script_location", str(folder))
    return config


def everything(database: Database) -> dict[str, list[Row]]:
    return {
        table: sorted(database.rows(f"SELECT * FROM {table}"), key=str)
        for table in database.tables()
        if table != "alembic_version"
    }


def test_migrate_applies_later_revision(database: Database, tmp_path: Path) -> None:
    migrate(database)
    fill(database)
    tables, before = database.tables(), everything(database)
    assert all(before.values())
    migrate(database, with_revision(tmp_path))
    assert "later" == revision(database)
    assert {**tables, "later": ["x"], "person": [*tables["person"], "colour"]} == database.tables()
    after = everything(database)
    assert {"green"} == {row.pop("colour") for row in after["person"]}
    assert {**before, "later": []} == after


def test_migrate_refuses_newer_schema(database: Database) -> None:
    migrate(database)
    database.run("UPDATE alembic_version SET version_num = 'later'")
    with raises_input_error("newer-database"):
        migrate(database)


def test_migrate_failure_is_rolled_back(database: Database, tmp_path: Path) -> None:
    migrate(database)
    before = database.tables()
    with pytest.raises(LycosaError):
        migrate(database, with_revision(tmp_path, 'op.execute("SELECT nonsense")'))
    assert before == database.tables()
    assert newest() == revision(database)


KILLED = """
import os, signal, sys
from sqlalchemy import event
from lycosa_server.people.database import Database
from lycosa_server.people.migrating import migrate
database = Database(sys.argv[1])
seen = []
@event.listens_for(database._engine, "before_cursor_execute")
def count(connection, cursor, statement, *_):
    seen.extend(["CREATE TABLE"] * ("CREATE TABLE" in statement))
    if len(seen) == 12:
        os.kill(os.getpid(), signal.SIGKILL)
migrate(database)
"""


def test_migrate_killed_midway_is_rolled_back(database: Database, database_address: str) -> None:
    killed = subprocess.run([sys.executable, "-c", KILLED, database_address], check=False)
    assert -9 == killed.returncode
    assert {} == database.tables()
    migrate(database)
    assert newest() == revision(database)


CONCURRENT = """
import sys
from lycosa_server.people.database import Database
from lycosa_server.people.migrating import migrate, revision
sys.stdin.readline()
database = Database(sys.argv[1])
migrate(database)
print(revision(database))
"""


def test_migrate_by_two_processes_at_once_succeeds(database_address: str) -> None:
    Database(database_address).close()
    command = [sys.executable, "-c", CONCURRENT, database_address]
    both = [subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) for _ in range(2)]
    for process in both:
        assert process.stdin is not None
        process.stdin.write("go\n")
        process.stdin.flush()
    assert [f"{newest()}\n"] * 2 == [process.communicate(timeout=120)[0] for process in both]
