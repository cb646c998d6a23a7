"""Notices to people about events during their absence."""

from __future__ import annotations

from collections.abc import Sequence

from lycosa_server.people.database import Database, Row
from lycosa_server.people.ids import new_id

MAX_NOTICES = 500  # maximum notices kept per person


def notify(database: Database, now: float, person: str, kind: str, text: str, interest: str | None = None) -> None:
    with database.transaction():
        text = text[:1_000]
        database.insert("notice", id=new_id(), person=person, interest=interest, kind=kind, text=text, at=now)
        database.run(
            # account notices are never removed to make room for others
            "DELETE FROM notice WHERE person = :person AND kind <> 'account' AND id NOT IN "
            "(SELECT id FROM notice WHERE person = :person ORDER BY at DESC, id LIMIT :limit)",
            person=person,
            limit=MAX_NOTICES,
        )


def of_person(database: Database, person: str, *, unread: bool = False, limit: int = 100) -> list[Row]:
    only = " AND read IS NULL" if unread else ""
    statement = f"SELECT * FROM notice WHERE person = :person{only} ORDER BY at DESC, id LIMIT :limit"
    return database.rows(statement, person=person, limit=limit)


def unread(database: Database, person: str) -> int:
    return database.count("notice", "person = :person AND read IS NULL", person=person)


def read(database: Database, now: float, person: str, ids: Sequence[str] | None = None) -> None:
    statement = "UPDATE notice SET read = :now WHERE person = :person AND read IS NULL"
    if ids is None:
        database.run(statement, now=now, person=person)
    else:
        database.run(f"{statement} AND id IN :ids", now=now, person=person, ids=list(ids))
