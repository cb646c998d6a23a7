"""The audit log: actions, with person and IP address. It contains no secrets and outlives the accounts it names."""

from __future__ import annotations

from lycosa.drawing.formats import printable
from lycosa_server.people.database import Database, Row
from lycosa_server.people.ids import new_id

MAX_AGE_SECONDS = 365 * 86400.0  # time for which entries are kept
MAX_FIELD_LENGTH = 300  # maximum characters per field


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
    database.run("DELETE FROM audit WHERE at < :at", at=now - MAX_AGE_SECONDS)
    fields = {"name": name, "action": action, "subject": subject, "detail": detail, "address": address}
    row = {key: _shorten(text) for key, text in fields.items()}
    database.insert("audit", row, id=new_id(), at=now, person=person_id)


def entries(database: Database, before: float | None = None, limit: int = 100) -> list[Row]:
    return database.rows(
        "SELECT * FROM audit WHERE at < :until AND at >= COALESCE("
        "(SELECT at FROM audit WHERE at < :until ORDER BY at DESC LIMIT 1 OFFSET :last), 0) ORDER BY at DESC, id DESC",
        until=1e12 if before is None else before,
        last=limit - 1,
    )


def _shorten(text: str) -> str:
    clean = printable(text)
    return clean if len(clean) <= MAX_FIELD_LENGTH else clean[: MAX_FIELD_LENGTH - 1] + "…"
