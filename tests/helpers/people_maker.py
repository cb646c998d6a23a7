"""A database with users, for tests below the HTTP layer."""

from __future__ import annotations

from lycosa_server.people import interests
from lycosa_server.people.accounts import fold
from lycosa_server.people.database import Database, Row
from lycosa_server.people.ids import new_id
from lycosa_server.people.interest_settings import InterestSettings

NOW = 1_700_000_000.0
REEFS = InterestSettings("coral reefs", seeds=["https://reefs.example/"])


def person(database: Database, name: str, role: str = "member") -> str:
    """Create a person; return the id."""
    row: Row = {
        "id": new_id(), "name": name, "folded": fold(name), "password": "-", "role": role, "created": NOW,
    }  # fmt: skip
    database.insert("person", row)
    return str(row["id"])


def interest(database: Database, owner: str, name: str = "Reefs", settings: InterestSettings = REEFS) -> str:
    """Create an interest; return the id."""
    return str(interests.create(database, NOW, owner, name, settings)["id"])


def crawl(database: Database, of: str, number: int = 1, **more: object) -> str:
    """Create a finished crawl; return the id."""
    row: Row = {
        "id": new_id(), "interest": of, "number": number, "task": "crawl", "wanted": "run", "state": "finished",
        "budget": 50, "created": NOW, "queued": NOW, **more,
    }  # fmt: skip
    database.insert("crawl", row)
    return str(row["id"])
