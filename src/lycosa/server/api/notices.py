"""Notices: what happened while one was away."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Request, Response
from pydantic import BaseModel, ConfigDict, Field

from lycosa.people import notices
from lycosa.people.typed import line
from lycosa.server.site import site_of
from lycosa.server.who import Person, needs

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


class ReadNotices(BaseModel):
    """Which ones were read; null: all."""

    model_config = ConfigDict(extra="forbid")
    ids: list[Annotated[str, Field(max_length=64)]] | None = Field(None, max_length=500)


@router.get("/me/notices")
def list_notices(request: Request, unread: bool = False, person: Person = needs("read")) -> Notices:
    """The newest hundred, or only those that are not read yet."""
    database = site_of(request).database
    rows = notices.of_person(database, person.id, unread=unread)
    return Notices(
        unread=notices.unread(database, person.id),
        notices=[Notice(**{key: row[key] for key in Notice.model_fields}) for row in rows],
    )


@router.post("/me/notices/read", status_code=204, response_class=Response)
def read_notices(request: Request, body: ReadNotices, person: Person = needs("read")) -> None:
    """They were read. Ids that are not one's own are passed over."""
    site = site_of(request)
    ids = None if body.ids is None else [line(text, "the id", 64) for text in body.ids]
    notices.read(site.database, site.clock(), person.id, ids)
