"""Erasing, for real: rows at once and all together, the directories of crawls soon after. And own data to take along.

What is left of a person is the audit log, which is there to outlive them: when somebody did what, by the name they had.
Everything else of theirs goes, also what they had shared with others. A yes or no that they said to a page of
somebody else's interest stays, as that person's judge has learned from it, but nobody can tell any more who said it.

Directories can't be part of a transaction. Their names go into the table `rubbish`, and stay there until the crawl
process has removed them: also after a crash.
"""

from __future__ import annotations

import json
import shutil
import time
from contextlib import suppress
from pathlib import Path
from typing import Any

from lycosa.core.errors import LycosaError
from lycosa.people.crawls import held
from lycosa.people.database import Database, Row
from lycosa.people.ids import is_id
from lycosa.people.limits import forget
from lycosa.store.log import Lock


def erase_person(database: Database, person: str) -> list[str]:
    """Everything of a person; returns the crawls whose directories are to be removed."""
    with database.transaction():
        row = database.get("person", person, locked=True)
        if row is None:
            return []
        thrown: list[str] = []
        for interest in database.rows("SELECT id FROM interest WHERE owner = :person ORDER BY id", person=person):
            thrown += erase_interest(database, interest["id"])
        forget(database, row["folded"])
        database.delete("person", person)  # and what refers to them, by the schema's rules
    return thrown


def erase_interest(database: Database, interest: str) -> list[str]:
    """An interest and all that belongs to it; returns its crawls, whose directories are to be removed."""
    with database.transaction():
        # First of all, so that no crawl can come in between: nobody would remove its directory.
        if database.get("interest", interest, locked=True) is None:
            return []
        # In one order, so that two who erase the same don't wait for each other.
        rows = database.rows("SELECT id FROM crawl WHERE interest = :interest ORDER BY id", interest=interest)
        crawls = [row["id"] for row in rows]
        for crawl in crawls:
            _throw(database, crawl)
        database.delete("interest", interest)
    return crawls


def erase_crawl(database: Database, crawl: str) -> None:
    """Delete one crawl."""
    with database.transaction():
        if held(database, crawl) is not None:
            database.delete("crawl", crawl)
            _throw(database, crawl)


def rubbish(database: Database) -> list[str]:
    """Crawls whose rows are gone and whose directories are still to be removed, the oldest first; only ids."""
    rows = database.rows("SELECT crawl FROM rubbish ORDER BY at, crawl")
    return [row["crawl"] for row in rows if is_id(row["crawl"])]


def removed(database: Database, crawl: str) -> None:
    """The directory of a crawl is gone."""
    database.delete("rubbish", crawl=crawl)


def sweep(directories: list[Path]) -> list[Path]:
    """Remove directories that nobody writes in; returns those that are gone now.

    The directory of a running crawl is left for the crawl process, which ends the crawl first. Only a directory that is
    called as a crawl is, and that is reached without a detour, is removed: neither a link nor `..` leads anywhere.
    """
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


def _throw(database: Database, crawl: str) -> None:
    database.upsert("rubbish", {"crawl": crawl, "at": time.time()}, ["crawl"], ["at"])


# -- own data ----------------------------------------------------------------------------------------------

# Everything that the database knows of a person, as data for them to take along. Secrets are left out: a password's
# hash, and the digests of tokens, sessions and feeds, are of no use to anyone but a thief.

_SECRET = frozenset({"password", "digest", "previous", "feed", "folded"})
_JSON = frozenset({"wishes", "preferences", "sources", "about"})


def data_of_person(database: Database, person: str) -> dict[str, Any]:
    """All of a person's rows, by what they are."""

    def mine(table: str, column: str = "person", order: str = "") -> list[Row]:
        rows = database.rows(
            f"SELECT * FROM {table} WHERE {column} = :person{f' ORDER BY {order}' if order else ''}", person=person
        )
        return [_shown(row) for row in rows]

    interests = database.rows("SELECT id FROM interest WHERE owner = :person ORDER BY created, id", person=person)
    return {
        "account": next(iter(mine("person", "id")), {}),
        "interests": [data_of_interest(database, row["id"]) for row in interests],
        "shared_with_me": database.rows(
            "SELECT s.interest, i.name, p.name AS owner, s.mode, s.created FROM share s JOIN interest i "
            "ON i.id = s.interest JOIN person p ON p.id = i.owner WHERE s.person = :person ORDER BY s.created",
            person=person,
        ),
        "feedback": mine("feedback", order="at, url"),
        "opened": mine("opened", order="at, url"),
        "suggestions": mine("suggestion", order="at, value"),
        "visits": mine("seen", order="at, interest"),
        "notices": mine("notice", order="at, id"),
        "sessions": mine("session", order="created, id"),
        "models": mine("model", "owner", "created, id"),
        "tokens": mine("token", order="created, id"),
        "invitations": mine("invitation", "made_by", "created, id"),
        "audit": mine("audit", order="at, id"),
    }


def data_of_interest(database: Database, interest: str) -> dict[str, Any]:
    row = database.row("SELECT * FROM interest WHERE id = :id", id=interest)
    of: dict[str, Any] = _shown(row) if row else {}
    for name, source in (
        ("crawls", "crawl WHERE interest = :interest ORDER BY number"),
        ("labels", "feedback WHERE interest = :interest AND relevant IS NOT NULL ORDER BY at, url"),
    ):
        of[name] = [_shown(row) for row in database.rows(f"SELECT * FROM {source}", interest=interest)]
    of["shares"] = database.rows(
        "SELECT p.name, s.mode, s.created FROM share s JOIN person p ON p.id = s.person WHERE s.interest = :interest "
        "ORDER BY p.folded",
        interest=interest,
    )
    return of


def _shown(row: Row) -> Row:
    shown = {key: value for key, value in row.items() if key not in _SECRET}
    for key in _JSON & shown.keys():
        with suppress(ValueError, TypeError):
            shown[key] = json.loads(shown[key])
    return shown
