"""Sharing an interest with named people: to read, or to edit. Only its owner shares it; who it is shared with may
leave.
"""

from __future__ import annotations

from typing import Literal

from lycosa.core.errors import InputError
from lycosa.people import notices
from lycosa.people.accounts import by_name
from lycosa.people.database import Database, Row
from lycosa.people.typed import line

Mode = Literal["read", "edit", "own"]
MODES = ("read", "edit")

MOST = 200  # people that one interest is shared with


def share(database: Database, now: float, interest: Row, by: str, name: str, mode: str) -> Row:
    """Share an interest with the person of this name, or change how far they may go; a notice says `by` whom."""
    if mode not in MODES:
        raise InputError(f"there is no way {mode[:40]!r} of sharing: choose read or edit")
    person = by_name(database, line(name, "the name", 100, 1))
    if person is None or person["disabled"]:
        raise InputError(f"there is nobody called {name.strip()[:60]!r} here: see how they spell their name")
    if person["id"] == interest["owner"]:
        raise InputError("it is your own: choose someone else to share it with")
    with database.transaction():
        if database.get("interest", interest["id"], locked=True) is None:
            raise InputError("the interest was deleted meanwhile")
        had = database.rows("SELECT person, mode FROM share WHERE interest = :interest", interest=interest["id"])
        before = {row["person"]: row["mode"] for row in had}.get(person["id"])
        if before is None and len(had) >= MOST:
            raise InputError(f"it is shared with {len(had)} people, which is the most")
        row = {"interest": interest["id"], "person": person["id"], "mode": mode, "created": now}
        database.upsert("share", row, ("interest", "person"), ["mode"])
        if before != mode:
            database.run(  # one word of it is enough, however often it is changed
                "DELETE FROM notice WHERE interest = :interest AND person = :person "
                "AND kind = 'shared' AND read IS NULL",
                interest=interest["id"],
                person=person["id"],
            )
            text = f"{by} shares the interest {interest['name']!r} with you, to {mode}"
            notices.notify(database, now, person["id"], "shared", text, interest["id"])
    return person


def stop(database: Database, interest: str, person: str) -> bool:
    """Share it no longer; whether it was. What the person had of it goes, too: feed, notices, what they opened."""
    with database.transaction():
        if not database.run(
            "DELETE FROM share WHERE interest = :interest AND person = :person", interest=interest, person=person
        ):
            return False
        for table in ("seen", "notice", "opened", "suggestion"):
            database.run(
                f"DELETE FROM {table} WHERE interest = :interest AND person = :person", interest=interest, person=person
            )
    return True


def people(database: Database, interest: str) -> list[Row]:
    """With whom an interest is shared: their ids, names, modes, since when."""
    return database.rows(
        "SELECT s.person, p.name, s.mode, s.created FROM share s JOIN person p ON p.id = s.person "
        "WHERE s.interest = :interest ORDER BY p.folded",
        interest=interest,
    )


def mode_of(database: Database, interest: str, person: str) -> Mode | None:
    """How far a person may go with an interest: own, edit, read; None: not at all, or suspended."""
    statement = (
        "SELECT i.owner, s.mode, p.disabled FROM interest i JOIN person p ON p.id = :person "
        "LEFT JOIN share s ON s.interest = i.id AND s.person = p.id WHERE i.id = :interest"
    )
    row = database.row(statement, person=person, interest=interest)
    if row is None or row["disabled"]:
        return None
    mode: Mode | None = "own" if row["owner"] == person else row["mode"]
    return mode
