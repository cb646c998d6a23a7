"""Everything that the database knows of a person, as data for them to take along. Secrets are left out: a password's
hash, and the digests of tokens, sessions and feeds, are of no use to anyone but a thief.
"""

from __future__ import annotations

import json
from typing import Any

from lycosa.people.database import Database, Row

_SECRET = frozenset({"password", "digest", "previous", "feed", "folded"})
_JSON = frozenset({"wishes", "preferences", "strategies", "result", "sources", "about"})


def of_person(database: Database, person: str) -> dict[str, Any]:
    """All of a person's rows, by what they are."""

    def mine(table: str, column: str = "person", order: str = "") -> list[Row]:
        rows = database.rows(f"SELECT * FROM {table} WHERE {column} = ?{f' ORDER BY {order}' if order else ''}", person)
        return [_shown(row) for row in rows]

    interests = database.rows("SELECT id FROM interest WHERE owner = ? ORDER BY created, id", person)
    return {
        "account": next(iter(mine("person", "id")), {}),
        "interests": [of_interest(database, row["id"]) for row in interests],
        "shared_with_me": database.rows(
            "SELECT s.interest, i.name, p.name AS owner, s.mode, s.created FROM share s JOIN interest i "
            "ON i.id = s.interest JOIN person p ON p.id = i.owner WHERE s.person = ? ORDER BY s.created",
            person,
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


def of_interest(database: Database, interest: str) -> dict[str, Any]:
    row = database.row("SELECT * FROM interest WHERE id = ?", interest)
    of: dict[str, Any] = _shown(row) if row else {}
    for name, table, order in (
        ("crawls", "crawl", "number"),
        ("labels", "feedback", "at, url"),
        ("comparisons", "comparison", "created, id"),
    ):
        rows = database.rows(f"SELECT * FROM {table} WHERE interest = ? ORDER BY {order}", interest)
        of[name] = [_shown(row) for row in rows]
    of["shares"] = database.rows(
        "SELECT p.name, s.mode, s.created FROM share s JOIN person p ON p.id = s.person WHERE s.interest = ? "
        "ORDER BY p.folded",
        interest,
    )
    return of


def _shown(row: Row) -> Row:
    return {key: _read(key, value) for key, value in row.items() if key not in _SECRET}


def _read(key: str, value: Any) -> Any:
    if key in _JSON and isinstance(value, str):
        try:
            return json.loads(value)
        except ValueError:
            return value
    return value
