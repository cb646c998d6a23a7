"""The audit log: who did what, from where. It has no secrets, and outlives the people it names."""

from __future__ import annotations

from lycosa.drawing.formats import printable
from lycosa_server.people.database import Database, Row
from lycosa_server.people.ids import new_id

KEPT = 365 * 86400.0  # seconds after which an entry is forgotten
LONGEST = 300  # characters of a part of an entry


def record(
    database: Database,
    now: float,
    person_id: str,
    name: str,
    action: str,
    subject: str = "",
    detail: str = "",
    address: str = "",
) -> None:
    """Note that something was done. `person_id` is empty where nobody was signed in."""
    database.run("DELETE FROM audit WHERE at < :at", at=now - KEPT)
    said = {"name": name, "action": action, "subject": subject, "detail": detail, "address": address}
    database.insert("audit", {key: _short(text) for key, text in said.items()}, id=new_id(), at=now, person=person_id)


def entries(database: Database, before: float | None = None, limit: int = 100) -> list[Row]:
    """The newest entries, or those before a time, newest first. Entries of one moment are not torn apart: there may be
    some more than `limit`, so that the next `before` leaves none out.
    """
    return database.rows(
        "SELECT * FROM audit WHERE at < :until AND at >= COALESCE("
        "(SELECT at FROM audit WHERE at < :until ORDER BY at DESC LIMIT 1 OFFSET :last), 0) ORDER BY at DESC, id DESC",
        until=1e12 if before is None else before,
        last=limit - 1,
    )


def _short(text: str) -> str:
    """What both databases can keep, at a length that can be shown."""
    clean = printable(text)
    return clean if len(clean) <= LONGEST else clean[: LONGEST - 1] + "…"
