"""From any schema that was ever released to the newest: numbered scripts, each applied once, all of them or nothing."""

from __future__ import annotations

import time
from importlib.resources import files

from lycosa.core.errors import InputError
from lycosa.people.database import Database


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
