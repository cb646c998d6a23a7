"""Time at which a person last saw the changes of an interest, and the key of their feed of it."""

from __future__ import annotations

import secrets

from lycosa_server.people.credentials import digest
from lycosa_server.people.database import Database, Row

KEY = ("interest", "person")


def last_seen_at(database: Database, interest: str, person: str) -> float:
    row = database.find("seen", interest=interest, person=person)
    return float(row["at"]) if row else 0.0


def mark_seen(database: Database, now: float, interest: str, person: str) -> None:
    database.upsert("seen", {"interest": interest, "person": person, "at": now}, KEY, ["at"])


def open_feed(database: Database, interest: str, person: str) -> str:
    """Create a feed key, which revokes the previous one. Only its digest is stored."""
    key = secrets.token_urlsafe(24)
    row = {"interest": interest, "person": person, "at": 0.0, "feed": digest(key)}
    database.upsert("seen", row, KEY, ["feed"])
    return key


def close_feed(database: Database, interest: str, person: str) -> None:
    statement = "UPDATE seen SET feed = NULL WHERE interest = :interest AND person = :person"
    database.run(statement, interest=interest, person=person)


def by_key(database: Database, key: str) -> Row | None:
    return database.row("SELECT interest, person FROM seen WHERE feed = :feed", feed=digest(key))
