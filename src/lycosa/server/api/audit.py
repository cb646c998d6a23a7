"""The audit log, for admins."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Query
from pydantic import BaseModel

from lycosa.people import audit
from lycosa.server.guards import Person, needs

router = APIRouter(tags=["audit"])


class Entry(BaseModel):
    """What was done, by whom, to what, from where."""

    at: float
    name: str
    action: str
    subject: str
    detail: str
    address: str


class Entries(BaseModel):
    """The newest first."""

    entries: list[Entry]


@router.get("/audit")
def entries(
    before: Annotated[float | None, Query(ge=0, le=1e12, allow_inf_nan=False)] = None,
    limit: Annotated[int, Query(ge=1, le=500)] = 100,
    person: Person = needs("admin"),
) -> Entries:
    """Entries before a time. There may be some more than `limit`: those of one moment are not torn apart."""
    return Entries(entries=[Entry(**row) for row in audit.entries(person.site.database, before, limit)])
