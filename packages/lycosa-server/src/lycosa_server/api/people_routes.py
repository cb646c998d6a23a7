"""People: administration, invitations, search by name, and the audit log."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, HTTPException, Query
from pydantic import BaseModel, Field, Strict

from lycosa_server.api import Body, Named
from lycosa_server.api.own_account_routes import remove
from lycosa_server.guards import Caller, needs
from lycosa_server.people import accounts, audit, notices
from lycosa_server.people.database import Row
from lycosa_server.people.permissions import Role, found

router = APIRouter(tags=["people"])


class AccountOut(Named):
    """An account, as admins see it."""

    role: Role
    disabled: bool
    created: float


class AccountChange(Body):
    """Fields to change; null fields stay."""

    role: Role | None = None
    disabled: Annotated[bool, Strict()] | None = None


class PasswordResetLink(BaseModel):
    """A password reset link, which is shown this once."""

    code: str
    link: str
    expires: float


@router.get("/people")
def people(person: Caller = needs("admin")) -> list[AccountOut]:
    """Return all accounts."""
    return [AccountOut(**row) for row in person.site.database.rows("SELECT * FROM person ORDER BY folded")]


@router.get("/people/names")
def names(begins: Annotated[str, Query(min_length=2, max_length=100)], person: Caller = needs("read")) -> list[str]:
    """Return up to ten names with this prefix, for sharing."""
    return accounts.names(person.site.database, begins)


@router.patch("/people/{person}")
def change(body: AccountChange, person: str, by: Caller = needs("admin")) -> AccountOut:
    """Change a role; suspend an account immediately, or reactivate it."""
    database = by.site.database
    with database.transaction():
        row = _row(by, person)
        if body.role is not None and body.role != row["role"]:
            accounts.set_role(database, person, body.role)
            by.record("changed a role", row["name"], f"{row['role']} to {body.role}")
        if body.disabled is not None and body.disabled != bool(row["disabled"]):
            accounts.set_disabled(database, person, body.disabled)
            by.record("suspended an account" if body.disabled else "reactivated an account", row["name"])
        return AccountOut(**_row(by, person))


@router.delete("/people/{person}", status_code=204)
def delete(person: str, by: Caller = needs("admin")) -> None:
    """Delete an account and all its data."""
    remove(by, person, _row(by, person)["name"])


@router.post("/people/{person}/reset", status_code=201)
def reset(person: str, by: Caller = needs("admin", by_token=False)) -> PasswordResetLink:
    """Create a link that resets a person's password, valid once and for a day. Only for admins in a browser, not with
    tokens.

    The person is notified now and when the link is used; its use ends all their sessions.
    """
    site = by.site
    row = _row(by, person)
    if row["id"] == by.id:
        raise HTTPException(403, "change your own password in your account, with your current password")
    if row["disabled"]:
        raise HTTPException(409, f"{row['name']} is suspended: reactivate the account first")
    now = site.clock()
    with site.database.transaction():
        link, code = accounts.offer_reset(site.database, now, row, by.id)
        text = f"{by.name} created a link that resets your password. If you did not request it, ask them why."
        notices.notify(site.database, now, row["id"], "account", text)
        by.record("created a password reset link", row["name"])
    return PasswordResetLink(code=code, link=f"{site.settings.base}/join#{code}", expires=link["expires"])


def _row(by: Caller, person: str) -> Row:
    return found(by.site.database.get("person", person), "person")


class NewInvitation(Body):
    """Role, a note for the admins, and lifetime in days."""

    role: Role = "member"
    note: str = Field("", max_length=200)
    days: int = Field(7, ge=1, le=90)


class Invitation(BaseModel):
    id: str
    role: Role
    note: str
    made_by: str  # name of the creator; empty for the first admin's invitation
    created: float
    expires: float
    used: float | None


class CreatedInvitation(Invitation):
    """An invitation with its code, which is shown this once."""

    code: str
    link: str


@router.get("/invitations")
def invitations(person: Caller = needs("admin")) -> list[Invitation]:
    """Return all invitations, newest first; used and expired ones are kept for a month."""
    return [Invitation(**row) for row in accounts.invitations(person.site.database)]


@router.post("/invitations", status_code=201)
def invite(body: NewInvitation, person: Caller = needs("admin")) -> CreatedInvitation:
    """Create an invitation. Its code is in the link's fragment, which browsers do not send, so it is in no log."""
    site = person.site
    row, code = accounts.invite(site.database, site.clock(), body.role, body.note, body.days, person.id)
    person.record("made an invitation", row["note"], row["role"])
    return CreatedInvitation(**{**row, "made_by": person.name}, code=code, link=f"{site.settings.base}/join#{code}")


@router.delete("/invitations/{invitation}", status_code=204)
def revoke(invitation: str, person: Caller = needs("admin")) -> None:
    """Revoke an invitation; an account created with it stays."""
    row = found(person.site.database.get("invitation", invitation), "invitation")
    person.site.database.delete("invitation", invitation)
    person.record("revoked an invitation", row["note"], row["role"])


class AuditEntryOut(BaseModel):
    at: float
    name: str
    action: str
    subject: str
    detail: str
    address: str


class AuditLogOut(BaseModel):
    entries: list[AuditEntryOut]


@router.get("/audit")
def entries(
    before: Annotated[float | None, Query(ge=0, le=1e12, allow_inf_nan=False)] = None,
    limit: Annotated[int, Query(ge=1, le=500)] = 100,
    person: Caller = needs("admin"),
) -> AuditLogOut:
    """Return entries before a time. Those with the same time stay together, so there may be more than `limit`."""
    return AuditLogOut(entries=[AuditEntryOut(**row) for row in audit.entries(person.site.database, before, limit)])
