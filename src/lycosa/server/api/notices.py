"""Notices: what happened while one was away."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter
from pydantic import BaseModel, Field

from lycosa.people import notices
from lycosa.people.typed import line
from lycosa.server.api import Body
from lycosa.server.guards import Person, needs

router = APIRouter(tags=["notices"])


class Notice(BaseModel):
    """Something to know."""

    id: str
    kind: str
    text: str
    interest: str | None
    at: float
    read: float | None


class Notices(BaseModel):
    """The newest ones, and how many are not read yet."""

    unread: int
    notices: list[Notice]


class ReadNotices(Body):
    """Which ones were read; null: all."""

    ids: list[Annotated[str, Field(max_length=64)]] | None = Field(None, max_length=500)


@router.get("/me/notices")
def list_notices(unread: bool = False, person: Person = needs("read")) -> Notices:
    """The newest hundred, or only those that are not read yet."""
    database = person.site.database
    rows = notices.of_person(database, person.id, unread=unread)
    return Notices(unread=notices.unread(database, person.id), notices=[Notice(**row) for row in rows])


@router.post("/me/notices/read", status_code=204)
def read_notices(body: ReadNotices, person: Person = needs("read")) -> None:
    """They were read. Ids that are not one's own are passed over."""
    ids = None if body.ids is None else [line(text, "the id", 64) for text in body.ids]
    notices.read(person.site.database, person.site.clock(), person.id, ids)
