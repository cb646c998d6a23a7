"""Sessions: a browser that is signed in.

The cookie is `root.turn`, both random. The turn changes every hour of use, when the role changes and when the password
does, so that a copy of the cookie is worth little; the value before stays good for a minute, for requests that were on
their way. The root stays for as long as the session, and the CSRF token is derived from it: pages that are open need
not learn a new one each hour. A session is made at sign-in only, with values the browser had no say in.
"""

from __future__ import annotations

from dataclasses import dataclass

from lycosa_server.people.credentials import derived, digest, new_secret, same
from lycosa_server.people.database import Database, Row
from lycosa_server.people.ids import new_id
from lycosa_server.people.permissions import active

IDLE = 14 * 86400.0  # seconds without a request after which a session is over
WHOLE = 90 * 86400.0  # seconds after which it is over in any case


@dataclass(frozen=True, slots=True)
class Session:
    """A session that is good, and whose it is."""

    id: str
    person: Row
    csrf: str
    fresh: str = ""
    """The value that the cookie gets now, if it changes."""


def begin(database: Database, now: float, person: str, agent: str = "") -> tuple[str, str]:
    """A new session: its id, and the cookie's value."""
    database.run("DELETE FROM session WHERE expires <= :now OR seen <= :seen", now=now, seen=now - IDLE)
    value = f"{new_secret()}.{new_secret()}"
    times = {"created": now, "rotated": now, "seen": now, "expires": now + WHOLE}
    row = database.insert("session", times, id=new_id(), digest=digest(value), person=person, agent=agent)
    return row["id"], value


def find(database: Database, now: float, value: str, *, turn: bool = True) -> Session | None:
    """The session with this cookie, if it is good and its person not disabled. `turn`: it may get a new value."""
    if not 80 <= len(value) <= 100:
        return None
    mark = digest(value)
    row = database.find("session", digest=mark) or database.find("session", previous=mark)
    if row is None or not _good(row, now):
        return None
    current, person = same(row["digest"], mark), active(database, row["person"])
    if person is None or (not current and now - row["rotated"] > 60.0):  # seconds that the value before is still good
        return None
    fresh = ""
    if current and turn and now - row["rotated"] >= 3600.0:  # an hour of use
        fresh = _turned(database, now, row["id"], value)
    elif now - row["seen"] >= 60.0:  # seconds between two notes of its use
        database.update("session", row["id"], {"seen": now})
    return Session(row["id"], person, csrf_of(value), fresh)


def csrf_of(value: str) -> str:
    return derived(value.partition(".")[0], "csrf")


def alive(database: Database, now: float, session: str) -> bool:
    """Whether a session is still good, by its id: for streams that last longer than a cookie's value."""
    row = database.get("session", session)
    return row is not None and _good(row, now) and active(database, row["person"]) is not None


def of_person(database: Database, now: float, person: str) -> list[Row]:
    rows = database.rows(
        "SELECT id, agent, created, seen, expires FROM session WHERE person = :person ORDER BY seen DESC, id",
        person=person,
    )
    return [row for row in rows if _good(row, now)]


def _good(row: Row, now: float) -> bool:
    return bool(now < row["expires"] and now - row["seen"] < IDLE)


def _turned(database: Database, now: float, session: str, value: str) -> str:
    """A new value; empty if another request was first, which then has told the browser."""
    made = f"{value.partition('.')[0]}.{new_secret()}"
    turn = (
        "UPDATE session SET digest = :digest, previous = :previous, rotated = :now, seen = :now "
        "WHERE id = :session AND digest = :previous"
    )
    won = database.run(turn, digest=digest(made), previous=digest(value), now=now, session=session)
    return made if won else ""
