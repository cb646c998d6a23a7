"""Invitations, for admins. Accepting one is in `session.py`: who does is nobody yet."""

from __future__ import annotations

from fastapi import APIRouter, HTTPException, Request, Response
from pydantic import BaseModel, ConfigDict, Field

from lycosa.people import accounts, audit
from lycosa.server.address import address_of
from lycosa.server.api.session import Role
from lycosa.server.site import Site, site_of
from lycosa.server.who import Person, needs

router = APIRouter(tags=["invitations"])


class NewInvitation(BaseModel):
    """For which role, whom (a note for the admins), and how many days it is good."""

    model_config = ConfigDict(extra="forbid")
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
def invitations(request: Request, person: Person = needs("admin")) -> list[Invitation]:
    """All invitations, the newest first; those that are over stay for a month."""
    found = site_of(request).database.rows(
        "SELECT invitation.id, invitation.role, invitation.note, COALESCE(person.name, '') AS made_by, "
        "invitation.created, invitation.expires, invitation.used "
        "FROM invitation LEFT JOIN person ON person.id = invitation.made_by "
        "ORDER BY invitation.created DESC, invitation.id"
    )
    return [Invitation(**row) for row in found]


@router.post("/invitations", status_code=201)
def invite(wanted: NewInvitation, request: Request, person: Person = needs("admin")) -> MadeInvitation:
    """Make an invitation. Its code is after the # of the link: browsers do not send it, so that no log has it."""
    site = site_of(request)
    row, code = accounts.invite(site.database, site.clock(), wanted.role, wanted.note, wanted.days, person.id)
    _note(request, site, person, "made an invitation", row["note"], row["role"])
    shown = {key: row[key] for key in ("id", "role", "note", "created", "expires", "used")}
    return MadeInvitation(**shown, made_by=person.name, code=code, link=f"{site.settings.base}/join#{code}")


@router.delete("/invitations/{invitation}", status_code=204)
def revoke(invitation: str, request: Request, person: Person = needs("admin")) -> Response:
    """Take an invitation back; the account of one that was used stays."""
    site = site_of(request)
    row = site.database.row("SELECT * FROM invitation WHERE id = ?", invitation)
    if row is None:
        raise HTTPException(404, "no such invitation")
    site.database.run("DELETE FROM invitation WHERE id = ?", invitation)
    _note(request, site, person, "revoked an invitation", row["note"], row["role"])
    return Response(status_code=204)


def _note(request: Request, site: Site, by: Person, action: str, subject: str, detail: str) -> None:
    audit.record(site.database, site.clock(), by.id, by.name, action, subject, detail, address_of(request))
