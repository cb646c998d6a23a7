"""The people of the server: kept by admins, found by name by everyone who wants to share."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, HTTPException, Query, Request, Response
from pydantic import BaseModel, ConfigDict, Strict

from lycosa.people import accounts, audit, notices
from lycosa.people.database import Row
from lycosa.server.address import address_of
from lycosa.server.api.me import remove
from lycosa.server.api.session import Role
from lycosa.server.site import Site, site_of
from lycosa.server.who import Person, needs

router = APIRouter(tags=["people"])

LAST: dict[int | str, dict[str, Any]] = {409: {"description": "This is the last admin"}}


class PersonShown(BaseModel):
    """A person, as admins see them: not what they do."""

    id: str
    name: str
    role: Role
    disabled: bool
    created: float


class PersonChange(BaseModel):
    """What is to change; what is null stays."""

    model_config = ConfigDict(extra="forbid")
    role: Role | None = None
    disabled: Annotated[bool, Strict()] | None = None


class Reset(BaseModel):
    """A link for a new password: shown this once."""

    code: str
    link: str
    expires: float


@router.get("/people")
def people(request: Request, person: Person = needs("admin")) -> list[PersonShown]:
    """Everyone who has an account."""
    return [_shown(row) for row in site_of(request).database.rows("SELECT * FROM person ORDER BY folded")]


@router.get("/people/names")
def names(
    request: Request, begins: Annotated[str, Query(min_length=2, max_length=100)], person: Person = needs("read")
) -> list[str]:
    """At most ten names that begin like this, to share with."""
    return accounts.names(site_of(request).database, begins)


@router.patch("/people/{person}", responses=LAST)
def change(wanted: PersonChange, person: str, request: Request, by: Person = needs("admin")) -> PersonShown:
    """Change a role; shut someone out at once, or let them in again."""
    site = site_of(request)
    with site.database.transaction():
        row = _row(site, person)
        if wanted.role is not None and wanted.role != row["role"]:
            accounts.set_role(site.database, person, wanted.role)
            _note(request, site, by, "changed a role", row["name"], f"{row['role']} to {wanted.role}")
        if wanted.disabled is not None and wanted.disabled != bool(row["disabled"]):
            accounts.set_disabled(site.database, person, wanted.disabled)
            _note(request, site, by, "disabled an account" if wanted.disabled else "enabled an account", row["name"])
        return _shown(_row(site, person))


@router.delete("/people/{person}", status_code=204, responses=LAST)
def delete(person: str, request: Request, by: Person = needs("admin")) -> Response:
    """Delete an account and everything of it."""
    site = site_of(request)
    remove(request, site, by, person, _row(site, person)["name"])
    return Response(status_code=204)


@router.post("/people/{person}/reset", status_code=201, responses={409: {"description": "The account is shut out"}})
def reset(person: str, request: Request, by: Person = needs("admin")) -> Reset:
    """Make a link by which someone who forgot their password chooses a new one, once, within a day. It is for an admin
    in a browser, not for tokens. The person is told of it, and that it was used; using it signs them out everywhere.
    """
    site = site_of(request)
    row = _row(site, person)
    if by.token:
        raise HTTPException(403, "a token cannot do this: sign in in a browser")
    if row["id"] == by.id:
        raise HTTPException(403, "change your own password in your account: it takes the one you have")
    if row["disabled"]:
        raise HTTPException(409, f"{row['name']} is shut out: let them in first")
    now = site.clock()
    with site.database.transaction():
        made, code = accounts.offer_reset(site.database, now, row, by.id)
        told = f"{by.name} made a link that changes your password. If you did not ask for it, ask them why."
        notices.tell(site.database, now, row["id"], "account", told)
        _note(request, site, by, "made a link for a new password", row["name"])
    return Reset(code=code, link=f"{site.settings.base}/join#{code}", expires=made["expires"])


def _row(site: Site, person: str) -> Row:
    row = site.database.row("SELECT * FROM person WHERE id = ?", person)
    if row is None:
        raise HTTPException(404, "no such person")
    return row


def _shown(row: Row) -> PersonShown:
    return PersonShown(
        id=row["id"], name=row["name"], role=row["role"], disabled=bool(row["disabled"]), created=row["created"]
    )


def _note(request: Request, site: Site, by: Person, action: str, subject: str, detail: str = "") -> None:
    audit.record(site.database, site.clock(), by.id, by.name, action, subject, detail, address_of(request))
