"""Jobs that wait in a table for the crawl process, which does them one at a time: comparisons, models to be trained."""

from __future__ import annotations

from lycosa.people.database import Database, Row

RUNNING = {"comparison": "running", "model": "training"}
"""What the state of a job is called while it is done, by its table."""


def requeue(database: Database, table: str) -> None:
    """What was under way when an earlier process died is to be done again."""
    database.run(f"UPDATE {table} SET state = 'queued' WHERE state = ?", RUNNING[table])


def take(database: Database, table: str) -> Row | None:
    """The one that has waited longest, under way from now on; None if none waits."""
    row = database.row(f"SELECT id FROM {table} WHERE state = 'queued' ORDER BY created, id LIMIT 1")
    start = f"UPDATE {table} SET state = ? WHERE id = ? AND state = 'queued'"
    if row is None or not database.run(start, RUNNING[table], row["id"]):
        return None
    return database.get(table, row["id"])
