"""The schema: from nothing, from every release, by two at once, and killed in the middle."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from lycosa.core.errors import InputError, LycosaError
from lycosa.people import database as schema
from lycosa.people.database import Database, Row, migrate, scripts, version
from people_rows import fill


@pytest.fixture
def database(database_address: str) -> Iterator[Database]:
    """An empty one."""
    opened = Database.open(database_address)
    yield opened
    opened.close()


def everything(database: Database) -> dict[str, list[Row]]:
    return {
        table: sorted(database.rows(f"SELECT * FROM {table}"), key=str)
        for table in database.tables()
        if table != "migration"
    }


@pytest.mark.parametrize("release", range(1, len(scripts()) + 1))
def test_every_release_becomes_the_newest(
    database: Database, release: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A database of any release gets the newest schema, and keeps its rows."""
    later = "CREATE TABLE later (x TEXT);\nALTER TABLE person ADD COLUMN colour TEXT NOT NULL DEFAULT 'green';"
    known = scripts()
    assert release == migrate(database, release)
    fill(database)
    before = everything(database)
    assert all(before.values())
    assert len(known) == migrate(database)
    newest = fresh(tmp_path)
    assert newest == database.tables()
    monkeypatch.setattr(schema, "scripts", lambda: [*known, later])
    assert len(known) + 1 == migrate(database)
    assert {**newest, "later": ["x"], "person": [*newest["person"], "colour"]} == database.tables()
    after = everything(database)
    for table, rows in before.items():
        assert rows == [{name: row[name] for name in rows[0]} for row in after[table]]


def fresh(tmp_path: Path) -> dict[str, list[str]]:
    """The tables of a database that was never anything else."""
    new = Database.open(tmp_path / "fresh.sqlite")
    migrate(new)
    tables = new.tables()
    new.close()
    return tables


def test_a_second_time_changes_nothing(database: Database) -> None:
    """A schema that is up to date stays as it is."""
    assert len(scripts()) == migrate(database) == migrate(database) == version(database)


def test_a_newer_schema_is_refused(database: Database) -> None:
    """Lycosa doesn't touch what a later version has made."""
    migrate(database)
    database.insert("migration", {"number": len(scripts()) + 1, "applied": 0.0})
    with pytest.raises(InputError, match="newer version"):
        migrate(database)


def test_a_foreign_database_is_refused(database: Database) -> None:
    """Where someone else's table has our name, nothing is changed."""
    database.run("CREATE TABLE person (x TEXT)")
    with pytest.raises(InputError, match="person"):
        migrate(database)
    assert {"person": ["x"]} == database.tables()


def test_a_script_that_fails_leaves_nothing(database: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    """All scripts that are due are applied, or none."""
    migrate(database)
    before = database.tables()
    broken = [*scripts(), "CREATE TABLE later (x TEXT);", "CREATE TABLE even_later (x TEXT);\nSELECT nonsense;"]
    monkeypatch.setattr(schema, "scripts", lambda: broken)
    with pytest.raises(LycosaError):
        migrate(database)
    assert before == database.tables()
    assert len(scripts()) == version(database)


KILLED = """
import os, signal, sys
from lycosa.people.database import Database
from lycosa.people.database import migrate
database = Database.open(sys.argv[1])
run, seen = database.run, []
def counted(statement, *given):
    seen.append(statement)
    if len(seen) == 12:
        os.kill(os.getpid(), signal.SIGKILL)
    return run(statement, *given)
database.run = counted
migrate(database)
"""


def test_killed_in_the_middle_it_starts_anew(database: Database, database_address: str) -> None:
    """kill -9 amid a migration leaves the schema of before."""
    killed = subprocess.run([sys.executable, "-c", KILLED, database_address], check=False)
    assert -9 == killed.returncode
    assert 0 == version(database)
    assert len(scripts()) == migrate(database)


TOGETHER = """
import sys
from lycosa.people.database import Database
from lycosa.people.database import migrate
sys.stdin.readline()
database = Database.open(sys.argv[1])
print(migrate(database))
"""


def test_two_at_once_take_turns(database_address: str) -> None:
    """Two processes that start on an empty database at the same moment both succeed."""
    command = [sys.executable, "-c", TOGETHER, database_address]
    both = [subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) for _ in range(2)]
    for process in both:
        assert process.stdin is not None
        process.stdin.write("go\n")
        process.stdin.flush()
    assert [f"{len(scripts())}\n"] * 2 == [process.communicate(timeout=120)[0] for process in both]
