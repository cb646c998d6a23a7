"""Sign-in sessions of browsers.

The cookie is `root.turn`, both random. The turn is rotated after an hour of use, and when the role changes, so that a
copied cookie soon becomes useless; the previous value works for another minute, for requests already under way. The
root stays the same for the whole session, and the CSRF token is derived from it, so open pages keep theirs. Sessions
are only created at sign-in, with values that the browser cannot choose.
"""

from __future__ import annotations

from dataclasses import dataclass

from lycosa_server.people.credentials import derive_secret, digest, new_secret, secrets_equal
from lycosa_server.people.database import Database, Row
from lycosa_server.people.ids import new_id
from lycosa_server.people.permissions import active

MAX_IDLE_SECONDS = 14 * 86400.0  # time without a request after which a session expires
MAX_AGE_SECONDS = 90 * 86400.0  # maximum age of a session


@dataclass(frozen=True, slots=True)
class Session:
    id: str
    person: Row
    csrf: str
    fresh: str = ""
    """New value for the cookie; empty if unchanged."""


def create(database: Database, now: float, person: str, agent: str = "") -> tuple[str, str]:
    database.run("DELETE FROM session WHERE expires <= :now OR seen <= :seen", now=now, seen=now - MAX_IDLE_SECONDS)
    value = f"{new_secret()}.{new_secret()}"
    times = {"created": now, "rotated": now, "seen": now, "expires": now + MAX_AGE_SECONDS}
    row = database.insert("session", times, id=new_id(), digest=digest(value), person=person, agent=agent)
    return row["id"], value


def find(database: Database, now: float, value: str, *, turn: bool = True) -> Session | None:
    if not 80 <= len(value) <= 100:
        return None
    mark = digest(value)
    row = database.find("session", digest=mark) or database.find("session", previous=mark)
    if row is None or not _is_current(row, now):
        return None
    current, person = secrets_equal(row["digest"], mark), active(database, row["person"])
    if person is None or (not current and now - row["rotated"] > 60.0):  # the previous value works for a minute
        return None
    fresh = ""
    if current and turn and now - row["rotated"] >= 3600.0:  # an hour of use
        fresh = _rotate(database, now, row["id"], value)
    elif now - row["seen"] >= 60.0:  # record use at most once a minute
        database.update("session", row["id"], {"seen": now})
    return Session(row["id"], person, csrf_of(value), fresh)


def csrf_of(value: str) -> str:
    return derive_secret(value.partition(".")[0], "csrf")


def is_valid(database: Database, now: float, session: str) -> bool:
    row = database.get("session", session)
    return row is not None and _is_current(row, now) and active(database, row["person"]) is not None


def of_person(database: Database, now: float, person: str) -> list[Row]:
    rows = database.rows(
        "SELECT id, agent, created, seen, expires FROM session WHERE person = :person ORDER BY seen DESC, id",
        person=person,
    )
    return [row for row in rows if _is_current(row, now)]


def _is_current(row: Row, now: float) -> bool:
    return bool(now < row["expires"] and now - row["seen"] < MAX_IDLE_SECONDS)


def _rotate(database: Database, now: float, session: str, value: str) -> str:
    """Rotate the cookie; return "" if a concurrent request has rotated and sent it."""
    rotated = f"{value.partition('.')[0]}.{new_secret()}"
    turn = (
        "UPDATE session SET digest = :digest, previous = :previous, rotated = :now, seen = :now "
        "WHERE id = :session AND digest = :previous"
    )
    won = database.run(turn, digest=digest(rotated), previous=digest(value), now=now, session=session)
    return rotated if won else ""
