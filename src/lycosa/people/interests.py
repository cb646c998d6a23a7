"""Interests: what a person wants to know about, and the wishes that go with it."""

from __future__ import annotations

from lycosa.core.errors import InputError
from lycosa.people.database import Database, Row
from lycosa.people.ids import new_id
from lycosa.people.typed import line
from lycosa.people.wishes import Wishes, again

LONGEST_NAME = 120


def create(
    database: Database, now: float, owner: str, name: str, wishes: Wishes, look_again: str = "", most: int = 100
) -> Row:
    """A new interest of a person, who may have `most` of them."""
    row: Row = {
        "id": new_id(),
        "owner": owner,
        "name": line(name, "the name", LONGEST_NAME, 1),
        "wishes": wishes.as_json(),
        "look_again": checked_again(look_again),
        "created": now,
        "changed": now,
    }
    with database.transaction():
        database.get("person", owner, locked=True)  # one at a time, or `most` means little
        had = database.count("interest", "owner = :owner", owner=owner)
        if had >= most:
            raise InputError(f"you have {had} interests, which is the most: delete one first")
        database.insert("interest", row)
    return row


def of_person(database: Database, person: str) -> list[Row]:
    """What a person has and what is shared with them, the latest first, with `mode` and `owner_name`."""
    statement = (
        "SELECT i.*, p.name AS owner_name, CASE WHEN i.owner = :person THEN 'own' ELSE s.mode END AS mode "
        "FROM interest i JOIN person p ON p.id = i.owner "
        "LEFT JOIN share s ON s.interest = i.id AND s.person = :person "
        "WHERE i.owner = :person OR s.person IS NOT NULL ORDER BY i.changed DESC, i.id"
    )
    return database.rows(statement, person=person)


def change(
    database: Database,
    now: float,
    interest: str,
    *,
    name: str | None = None,
    wishes: Wishes | None = None,
    look_again: str | None = None,
) -> None:
    """Change what is given; a crawl that runs goes on as it was begun."""
    changes: Row = {"changed": now}
    if name is not None:
        changes["name"] = line(name, "the name", LONGEST_NAME, 1)
    if wishes is not None:
        changes["wishes"] = wishes.as_json()
    if look_again is not None:
        changes["look_again"] = checked_again(look_again)
    database.update("interest", interest, changes)


def wishes_of(row: Row) -> Wishes:
    return Wishes.of_json(row["wishes"])


def checked_again(text: str) -> str:
    """How often finished crawls are looked at again: `1d`, `6 hours`; empty: never."""
    return again(text, "how often to revisit pages")


def beside(database: Database, person: str) -> dict[str, dict[str, Row]]:
    """What is told beside the interests that a person may see, each by the interest's id: labels, shares, crawls.

    `crawls` are the newest ones. Three statements, however many interests there are.
    """
    theirs = "(SELECT id FROM interest WHERE owner = :person UNION SELECT interest FROM share WHERE person = :person)"
    asked = {
        "labels": "SELECT interest, SUM(relevant) AS yes, SUM(1 - relevant) AS no FROM feedback "
        f"WHERE interest IN {theirs} GROUP BY interest",
        "shares": f"SELECT interest, COUNT(*) AS n FROM share WHERE interest IN {theirs} GROUP BY interest",
        "crawls": "SELECT c.* FROM crawl c JOIN (SELECT interest, MAX(number) AS number FROM crawl "
        f"WHERE interest IN {theirs} GROUP BY interest) last ON c.interest = last.interest AND c.number = last.number",
    }
    return {
        name: {row["interest"]: row for row in database.rows(statement, person=person)}
        for name, statement in asked.items()
    }


def newest_crawl(database: Database, interest: str) -> Row | None:
    return database.row(
        "SELECT * FROM crawl WHERE interest = :interest ORDER BY number DESC LIMIT 1", interest=interest
    )
