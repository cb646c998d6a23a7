"""Erasing and exporting personal data.

All rows of a person are deleted in one transaction, except for the audit log, and for their labels on other people's
interests, which become anonymous. Directories cannot be part of a transaction: their ids stay in the table
`deleted_crawl` until the crawl process has removed them, even after a crash.
"""

from __future__ import annotations

import shutil
import time
from collections import defaultdict
from pathlib import Path
from typing import Any

from lycosa.core.errors import LycosaError
from lycosa.store.log import Lock
from lycosa_server.people.crawls import lock_crawl
from lycosa_server.people.database import Database, Row, as_dict
from lycosa_server.people.ids import is_id
from lycosa_server.people.limits import forget
from lycosa_server.people.schema import metadata
from lycosa_server.people.sharing import people


def erase_person(database: Database, person: str) -> list[str]:
    with database.transaction():
        row = database.get("person", person, locked=True)
        if row is None:
            return []
        crawls = _mark_for_removal(database, "owner", person)
        forget(database, row["folded"])
        database.delete("person", person)  # also deletes all rows that reference it, by the schema's rules
    return crawls


def erase_interest(database: Database, interest: str) -> list[str]:
    with database.transaction():
        crawls = _mark_for_removal(database, "id", interest)
        database.delete("interest", interest)
    return crawls


def _mark_for_removal(database: Database, column: str, key: str) -> list[str]:
    """Mark the crawls of interests for removal; the interests are locked in a fixed order to prevent deadlocks."""
    chosen = f"SELECT id FROM interest WHERE {column} = :key ORDER BY id"
    interests = [row["id"] for row in database.rows(chosen + database.lock, key=key)]
    rows = database.rows("SELECT id FROM crawl WHERE interest IN :interests ORDER BY id", interests=interests)
    for row in rows:
        database.insert("deleted_crawl", crawl=row["id"], at=time.time())
    return [row["id"] for row in rows]


def erase_crawl(database: Database, crawl: str) -> None:
    with database.transaction():
        if lock_crawl(database, crawl) is not None:
            database.delete("crawl", crawl)
            database.insert("deleted_crawl", crawl=crawl, at=time.time())


def deleted_crawls(database: Database) -> list[str]:
    rows = database.rows("SELECT crawl FROM deleted_crawl ORDER BY at, crawl")
    return [row["crawl"] for row in rows if is_id(row["crawl"])]


def remove_directories(directories: list[Path]) -> list[Path]:
    """Remove crawl directories that are not locked, without following links; return those that no longer exist."""
    gone = []
    for directory in directories:
        if not is_id(directory.name) or ".." in directory.parts or directory.is_symlink():
            continue
        if directory.is_dir():
            try:
                lock = Lock(directory)
            except LycosaError:
                continue
            try:
                shutil.rmtree(directory, ignore_errors=True)
            finally:
                lock.release()
        if not directory.exists():
            gone.append(directory)
    return gone


# Export of all rows about a person, without secrets: password hashes and digests are useful only to a thief.


def data_of_person(database: Database, person: str) -> dict[str, Any]:
    found: dict[str, list[Row]] = defaultdict(list, audit=_shown(database, "audit WHERE person = :key", person))
    for table in metadata.sorted_tables:
        for column in table.columns:
            if any(reference.column.table.name == "person" for reference in column.foreign_keys):
                found[table.name] += _shown(database, f"{table.name} WHERE {column.name} = :key", person)
    interests = [data_of_interest(database, row["id"]) for row in found.pop("interest")]
    return {"account": _shown(database, "person WHERE id = :key", person)[0], "interests": interests, **found}


def data_of_interest(database: Database, interest: str) -> dict[str, Any]:
    [row] = _shown(database, "interest WHERE id = :key", interest) or [{}]
    row["crawls"] = _shown(database, "crawl WHERE interest = :key ORDER BY number", interest)
    row["labels"] = _shown(database, "feedback WHERE interest = :key AND relevant IS NOT NULL ORDER BY at", interest)
    row["shares"] = [{key: one[key] for key in ("name", "mode", "created")} for one in people(database, interest)]
    return row


def _shown(database: Database, source: str, key: str) -> list[Row]:
    rows = [
        {name: value for name, value in row.items() if name not in {"password", "digest", "previous", "feed", "folded"}}
        for row in database.rows(f"SELECT * FROM {source}", key=key)
    ]
    for row in rows:
        row |= {name: as_dict(row[name]) for name in {"settings", "preferences", "sources", "about"} & row.keys()}
    return rows
