"""Signing in and out, and accepting an invitation."""

from __future__ import annotations

import json
from typing import Annotated, Any, Literal

from fastapi import APIRouter, HTTPException, Query, Request, Response
from pydantic import BaseModel, ConfigDict, Field

from lycosa.core.errors import InputError
from lycosa.people import accounts, audit, limits, notices, sessions
from lycosa.people.credentials import check_text
from lycosa.people.database import Row, Taken
from lycosa.server.address import address_of
from lycosa.server.site import Site, site_of
from lycosa.server.who import Person, cookie_name, needs, open_to_all, set_cookie

router = APIRouter(tags=["session"])

Role = Literal["reader", "member", "admin"]
TOO_MANY: dict[int | str, dict[str, Any]] = {
    429: {"description": "Too many attempts: the header Retry-After says how long"}
}


class Profile(BaseModel):
    """A person, as they see themselves."""

    id: str
    name: str
    role: Role
    preferences: dict[str, Any]


class SessionAnswer(BaseModel):
    """Who is signed in, and what the header X-CSRF-Token has to be when something is changed."""

    person: Profile
    csrf: str


class SignIn(BaseModel):
    """A name and its password."""

    model_config = ConfigDict(extra="forbid")
    name: str = Field(min_length=1, max_length=100)
    password: str = Field(min_length=1, max_length=200)


class Accept(BaseModel):
    """The code of an invitation, and what the new account is to be called."""

    model_config = ConfigDict(extra="forbid")
    code: str = Field(min_length=1, max_length=100)
    name: str = Field(min_length=1, max_length=100)
    password: str = Field(min_length=1, max_length=200)


class NewPassword(BaseModel):
    """The code of a link for a new password, and the password."""

    model_config = ConfigDict(extra="forbid")
    code: str = Field(min_length=1, max_length=100)
    password: str = Field(min_length=1, max_length=200)


class Checked(BaseModel):
    """What an invitation is for; with a name, it is a link that changes this person's password."""

    role: Role
    expires: float
    name: str = ""


@router.post("/session", responses={401: {"description": "No such name and password"}, **TOO_MANY})
def sign_in(wanted: SignIn, request: Request, _: None = open_to_all()) -> SessionAnswer:
    """Sign in: sets the session's cookie."""
    site, address = site_of(request), address_of(request)
    now = site.clock()
    check_text(wanted.name, "the name")
    check_text(wanted.password, "the password")
    attempt = limits.sign_in(site.database, now, accounts.fold(wanted.name), address)
    person = accounts.sign_in(site.database, site.passwords, wanted.name, wanted.password)
    if person is None:
        meant = accounts.by_name(site.database, wanted.name)
        name = meant["name"] if meant else ""  # what was typed may be a password
        audit.record(site.database, now, "", name, "sign-in failed", address=address)
        raise HTTPException(401, "the name or the password is wrong")
    limits.succeeded(site.database, now, attempt)
    audit.record(site.database, now, person["id"], person["name"], "signed in", address=address)
    return begin(request, site, person)


@router.get("/session")
def current(request: Request, person: Person = needs("read")) -> SessionAnswer:
    """Who is signed in."""
    return SessionAnswer(person=profile(site_of(request), person.id), csrf=person.csrf)


@router.delete("/session", status_code=204)
def sign_out(request: Request, person: Person = needs("read")) -> Response:
    """Sign out: ends the session. With a token there is nothing to end."""
    site = site_of(request)
    if person.session:
        sessions.end(site.database, person.session)
        set_cookie(request, site, "")
        audit.record(site.database, site.clock(), person.id, person.name, "signed out", address=address_of(request))
    return Response(status_code=204)


@router.post("/invitations/accept", status_code=201, responses={409: {"description": "The name is taken"}, **TOO_MANY})
def accept(wanted: Accept, request: Request, _: None = open_to_all()) -> SessionAnswer:
    """Make an account by an invitation, or by the first admin's one-time link, and sign in."""
    site, address = site_of(request), address_of(request)
    now = site.clock()
    attempt = limits.one(site.database, now, limits.CODE, address)
    try:
        person = accounts.accept(site.database, now, site.passwords, wanted.code, wanted.name, wanted.password)
    except accounts.NoInvitation as error:
        raise HTTPException(404, str(error)) from None
    except (InputError, Taken):
        limits.succeeded(site.database, now, attempt)  # the code was right
        raise
    limits.succeeded(site.database, now, attempt)
    audit.record(
        site.database,
        now,
        person["id"],
        person["name"],
        "accepted an invitation",
        detail=person["role"],
        address=address,
    )
    return begin(request, site, person)


@router.post("/invitations/reset", responses=TOO_MANY)
def reset(wanted: NewPassword, request: Request, _: None = open_to_all()) -> SessionAnswer:
    """Choose a new password by the link that an admin made, and sign in. All other sessions end; tokens stay, as they
    do when one changes the password oneself.
    """
    site, address = site_of(request), address_of(request)
    now = site.clock()
    attempt = limits.one(site.database, now, limits.CODE, address)
    try:
        person = accounts.reset(site.database, now, site.passwords, wanted.code, wanted.password)
    except accounts.NoInvitation as error:
        raise HTTPException(404, str(error)) from None
    except InputError:
        limits.succeeded(site.database, now, attempt)  # the code was right
        raise
    limits.succeeded(site.database, now, attempt)
    told = f"A new password was chosen by a link, from {address}. All sessions before have ended."
    notices.tell(site.database, now, person["id"], "account", told)
    audit.record(
        site.database, now, person["id"], person["name"], "chose a new password", detail="by a link", address=address
    )
    return begin(request, site, person)


@router.get("/invitations/check", responses=TOO_MANY)
def check(
    request: Request, code: Annotated[str, Query(min_length=1, max_length=100)], _: None = open_to_all()
) -> Checked:
    """What an invitation is for, if it is good."""
    site = site_of(request)
    now = site.clock()
    attempt = limits.one(site.database, now, limits.CODE, address_of(request))
    try:
        try:
            found, name = accounts.invitation(site.database, now, code), ""
        except accounts.NoInvitation:
            found, whose = accounts.reset_for(site.database, now, code)
            name = whose["name"]
    except accounts.NoInvitation as error:
        raise HTTPException(404, str(error)) from None
    limits.succeeded(site.database, now, attempt)
    return Checked(role=found["role"], expires=found["expires"], name=name)


def begin(request: Request, site: Site, person: Row) -> SessionAnswer:
    """Sign a person in: a new session, whatever cookie came with the request. Its own session, if any, ends."""
    now = site.clock()
    old = sessions.find(site.database, now, request.cookies.get(cookie_name(site), ""), turn=False)
    if old is not None:
        sessions.end(site.database, old.id)
    agent = "".join(character for character in request.headers.get("user-agent", "") if character.isprintable())
    _, value = sessions.begin(site.database, now, person["id"], agent[:200])
    set_cookie(request, site, value)
    return SessionAnswer(person=profile(site, person["id"]), csrf=sessions.csrf_of(value))


def profile(site: Site, person: str) -> Profile:
    """A person, from the database."""
    row = site.database.row("SELECT * FROM person WHERE id = ?", person)
    if row is None:
        raise HTTPException(403, "sign in first")
    return Profile(id=row["id"], name=row["name"], role=row["role"], preferences=json.loads(row["preferences"]))
