"""Sharing an interest with named people, to read or to edit."""

from __future__ import annotations

from typing import Literal

from lycosa.core.errors import InputError
from lycosa_server.people import notices
from lycosa_server.people.accounts import by_name
from lycosa_server.people.database import Database, Row
from lycosa_server.people.text_input import clean_line


def share(database: Database, now: float, interest: Row, by: str, name: str, mode: Literal["read", "edit"]) -> Row:
    """Share an interest with the person of this name, or change the mode, and notify them; `by` is the owner's name."""
    person = by_name(database, clean_line(name, "the name", 100, 1))
    if person is None or person["disabled"]:
        raise InputError("unknown-person", f"no account has the name {name.strip()[:60]!r}: check the spelling")
    if person["id"] == interest["owner"]:
        raise InputError("bad-value", "this interest is your own: choose someone else to share it with")
    pair = {"interest": interest["id"], "person": person["id"]}
    with database.transaction():
        if database.get("interest", interest["id"], locked=True) is None:
            raise InputError("unknown-interest", "the interest was just deleted")
        before = database.find("share", **pair)
        count = database.count("share", "interest = :interest", interest=interest["id"])
        if before is None and count >= 200:  # maximum people per interest
            raise InputError("limit-reached", f"the interest is shared with {count} people, the maximum")
        database.upsert("share", {**pair, "mode": mode, "created": now}, list(pair), ["mode"])
        if before is None or before["mode"] != mode:
            # at most one unread notice per share
            unread = "interest = :interest AND person = :person AND kind = 'shared' AND read IS NULL"
            database.run(f"DELETE FROM notice WHERE {unread}", **pair)
            text = f"{by} shares the interest {interest['name']!r} with you, to {mode}"
            notices.notify(database, now, person["id"], "shared", text, interest["id"])
    return person


def unshare(database: Database, interest: str, person: str) -> bool:
    with database.transaction():
        shared = database.delete("share", interest=interest, person=person)
        for table in ("seen", "notice", "opened", "suggestion") if shared else ():
            database.delete(table, interest=interest, person=person)
    return bool(shared)


def people(database: Database, interest: str) -> list[Row]:
    return database.rows(
        "SELECT s.person, p.name, s.mode, s.created FROM share s JOIN person p ON p.id = s.person "
        "WHERE s.interest = :interest ORDER BY p.folded",
        interest=interest,
    )
