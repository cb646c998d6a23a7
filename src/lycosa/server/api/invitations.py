"""Invitations, for admins. Accepting one is in `session.py`: who does is nobody yet."""

from __future__ import annotations

from fastapi import APIRouter, HTTPException
from pydantic import BaseModel, Field

from lycosa.people import accounts
from lycosa.server.api import Body
from lycosa.server.api.session import Role
from lycosa.server.guards import Person, needs

router = APIRouter(tags=["invitations"])


class NewInvitation(Body):
    """For which role, whom (a note for the admins), and how many days it is good."""

    role: Role = "member"
    note: str = Field("", max_length=200)
    days: int = Field(7, ge=1, le=90)


class Invitation(BaseModel):
    """An invitation, without its code."""

    id: str
    role: Role
    note: str
    made_by: str
    """The name of who made it; empty for the first start."""
    created: float
    expires: float
    used: float | None


class MadeInvitation(Invitation):
    """An invitation with its code: shown this once."""

    code: str
    link: str


@router.get("/invitations")
def invitations(person: Person = needs("admin")) -> list[Invitation]:
    """All invitations, the newest first; those that are over stay for a month."""
    return [Invitation(**row) for row in accounts.invitations(person.site.database)]


@router.post("/invitations", status_code=201)
def invite(wanted: NewInvitation, person: Person = needs("admin")) -> MadeInvitation:
    """Make an invitation. Its code is after the # of the link: browsers do not send it, so that no log has it."""
    site = person.site
    row, code = accounts.invite(site.database, site.clock(), wanted.role, wanted.note, wanted.days, person.id)
    person.record("made an invitation", row["note"], row["role"])
    return MadeInvitation(**{**row, "made_by": person.name}, code=code, link=f"{site.settings.base}/join#{code}")


@router.delete("/invitations/{invitation}", status_code=204)
def revoke(invitation: str, person: Person = needs("admin")) -> None:
    """Take an invitation back; the account of one that was used stays."""
    database = person.site.database
    row = database.get("invitation", invitation)
    if row is None:
        raise HTTPException(404, "no such invitation")
    database.delete("invitation", invitation)
    person.record("revoked an invitation", row["note"], row["role"])
