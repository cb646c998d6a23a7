"""Interests: topics that people follow, with their settings."""

from __future__ import annotations

from lycosa.core.errors import InputError
from lycosa_server.people.database import Database, Row
from lycosa_server.people.ids import new_id
from lycosa_server.people.interest_settings import InterestSettings, revisit_interval
from lycosa_server.people.permissions import VISIBLE
from lycosa_server.people.text_input import clean_line

MAX_NAME_LENGTH = 120


def create(
    database: Database,
    now: float,
    owner: str,
    name: str,
    settings: InterestSettings,
    revisit_every: str = "",
    max_count: int = 100,
) -> Row:
    row = _row(name, settings, revisit_every)
    with database.transaction():
        check_limit(database, "interest", owner, max_count)
        return database.insert("interest", row, id=new_id(), owner=owner, created=now, changed=now)


def check_limit(database: Database, table: str, owner: str, max_count: int) -> None:
    """Raise `InputError` if a person has `max_count` rows already. Locks the person until the transaction ends."""
    database.get("person", owner, locked=True)
    count = database.count(table, "owner = :owner", owner=owner)
    if count >= max_count:
        raise InputError("limit-reached", f"you have {count} {table}s, the maximum: delete one first")


def of_person(database: Database, person: str, interest: str = "") -> list[Row]:
    return database.rows(
        "SELECT v.*, (SELECT COUNT(*) FROM share s WHERE s.interest = v.id) AS shares, "
        "(SELECT COUNT(*) FROM feedback f WHERE f.interest = v.id AND f.relevant = 1) AS yes, "
        "(SELECT COUNT(*) FROM feedback f WHERE f.interest = v.id AND f.relevant = 0) AS no, "
        "COALESCE((SELECT n.at FROM seen n WHERE n.interest = v.id AND n.person = :person), 0) AS seen "
        f"FROM ({VISIBLE}) v WHERE :interest IN ('', v.id) ORDER BY v.changed DESC, v.id",
        person=person,
        interest=interest,
    )


def change(
    database: Database,
    now: float,
    interest: str,
    *,
    name: str | None = None,
    settings: InterestSettings | None = None,
    revisit_every: str | None = None,
) -> None:
    database.update("interest", interest, {"changed": now, **_row(name, settings, revisit_every)})


def _row(name: str | None, settings: InterestSettings | None, revisit_every: str | None) -> Row:
    row: Row = {}
    if name is not None:
        row["name"] = clean_line(name, "the name", MAX_NAME_LENGTH, 1)
    if settings is not None:
        row["settings"] = settings.as_json()
    if revisit_every is not None:
        row["revisit_every"] = revisit_interval(revisit_every, "how often to revisit pages")
    return row


def newest_crawls(database: Database, person: str) -> dict[str, Row]:
    rows = database.rows(
        f"SELECT c.* FROM ({VISIBLE}) v JOIN crawl c ON c.interest = v.id "
        "AND c.number = (SELECT MAX(number) FROM crawl n WHERE n.interest = v.id)",
        person=person,
    )
    return {row["interest"]: row for row in rows}


def newest_crawl(database: Database, interest: str) -> Row | None:
    statement = "SELECT * FROM crawl WHERE interest = :interest ORDER BY number DESC LIMIT 1"
    return database.row(statement, interest=interest)
