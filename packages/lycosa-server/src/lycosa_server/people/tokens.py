"""API tokens: a program acts for a person, within its scopes and the person's role."""

from __future__ import annotations

from lycosa.core.errors import InputError
from lycosa_server.people.credentials import digest, new_secret
from lycosa_server.people.database import Database, Row
from lycosa_server.people.ids import new_id
from lycosa_server.people.permissions import active
from lycosa_server.people.text_input import clean_line

PREFIX = "lyc_"  # prefix of every token, so that leaked ones can be found
MAX_TOKENS = 50  # maximum valid tokens per person
DAY = 86400.0


def create(
    database: Database, now: float, person: str, name: str, scopes: frozenset[str], days: float | None
) -> tuple[Row, str]:
    title = clean_line(name, "the token's name", 100, 1)
    secret, expires = PREFIX + new_secret(), None if days is None else now + days * DAY
    with database.transaction():
        database.get("person", person, locked=True)  # serialises the count
        if len([one for one in of_person(database, person) if _is_current(one, now)]) >= MAX_TOKENS:
            raise InputError("limit-reached", f"you have {MAX_TOKENS} tokens, the maximum: revoke one first")
        row = database.insert(
            "token", id=new_id(), digest=digest(secret), person=person, name=title, scopes=" ".join(sorted(scopes)),
            created=now, expires=expires, used=None, revoked=None,
        )  # fmt: skip
    return row, secret


def find(database: Database, now: float, secret: str) -> Row | None:
    if not secret.startswith(PREFIX) or len(secret) > 100:
        return None
    row = database.find("token", digest=digest(secret))
    owner = active(database, row["person"]) if row and _is_current(row, now) else None
    if row is None or owner is None:
        return None
    if row["used"] is None or now - row["used"] >= 60.0:  # record use at most once a minute
        database.run("UPDATE token SET used = :now WHERE id = :id", now=now, id=row["id"])
    return {**row, "owner": owner}


def is_valid(database: Database, now: float, token: str) -> bool:
    row = database.get("token", token)
    return row is not None and _is_current(row, now) and active(database, row["person"]) is not None


def of_person(database: Database, person: str) -> list[Row]:
    return database.rows("SELECT * FROM token WHERE person = :person ORDER BY created DESC, id", person=person)


def revoke(database: Database, now: float, person: str, token: str) -> Row | None:
    row = database.find("token", id=token, person=person)
    if row is not None:
        database.run("UPDATE token SET revoked = :now WHERE id = :token AND revoked IS NULL", now=now, token=token)
    return row


def _is_current(row: Row, now: float) -> bool:
    return row["revoked"] is None and (row["expires"] is None or now < row["expires"])
