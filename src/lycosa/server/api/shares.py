"""Sharing an interest with named people, and leaving one that somebody shared."""

from __future__ import annotations

from typing import Literal

from fastapi import APIRouter, HTTPException, Request, Response
from pydantic import BaseModel, ConfigDict, Field

from lycosa.people import audit, sharing
from lycosa.server.address import address_of
from lycosa.server.api.interests import Named
from lycosa.server.site import site_of
from lycosa.server.who import Asked, interest_to

router = APIRouter(tags=["interests"])


class NewShare(BaseModel):
    """With whom, and how far they may go."""

    model_config = ConfigDict(extra="forbid")
    name: str = Field(min_length=1, max_length=100)
    mode: Literal["read", "edit"]


class Share(BaseModel):
    """Somebody who an interest is shared with."""

    person: Named
    mode: Literal["read", "edit"]
    created: float


@router.get("/interests/{interest}/shares")
def list_shares(request: Request, asked: Asked = interest_to("own", "read")) -> list[Share]:
    """With whom it is shared."""
    return _list(request, asked)


@router.put("/interests/{interest}/shares")
def share(request: Request, body: NewShare, asked: Asked = interest_to("own", "write")) -> list[Share]:
    """Share it with somebody, or change how far they may go. They are told. A reader still can't edit."""
    site, person = site_of(request), asked.person
    other = sharing.share(site.database, site.clock(), asked.interest, person.name, body.name, body.mode)
    audit.record(
        site.database, site.clock(), person.id, person.name, "interest shared", asked.interest["id"],
        f"with {other['name']}, to {body.mode}", address_of(request),
    )  # fmt: skip
    return _list(request, asked)


@router.delete("/interests/{interest}/shares/{person}", status_code=204, response_class=Response)
def stop_sharing(request: Request, person: str, asked: Asked = interest_to("read", "read")) -> None:
    """The owner shares it with this person no longer; or they, themselves, leave."""
    site, asker = site_of(request), asked.person
    owns, leaves = asked.mode == "own", person == asker.id
    if not (owns or leaves):
        raise HTTPException(403, "only its owner can say who it is shared with")
    if not asker.scopes & ({"write"} if owns else {"write", "account"}):
        raise HTTPException(403, f"this takes the scope {'write' if owns else 'account'!r}")
    if not sharing.stop(site.database, asked.interest["id"], person):
        raise HTTPException(404, "it is not shared with this person")
    audit.record(
        site.database, site.clock(), asker.id, asker.name, "interest left" if leaves else "interest unshared",
        asked.interest["id"], "" if leaves else f"with {person}", address_of(request),
    )  # fmt: skip


def _list(request: Request, asked: Asked) -> list[Share]:
    return [
        Share(person=Named(id=row["person"], name=row["name"]), mode=row["mode"], created=row["created"])
        for row in sharing.people(site_of(request).database, asked.interest["id"])
    ]
