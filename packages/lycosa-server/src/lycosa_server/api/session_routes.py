"""Signing in and out, and accepting invitations."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Annotated

from fastapi import APIRouter, HTTPException, Query, Request
from pydantic import BaseModel, Field

from lycosa.core.errors import InputError
from lycosa.drawing.formats import printable
from lycosa_server.api import Body, JsonColumn, Named
from lycosa_server.guards import Caller, address_of, cookie_name, needs, open_to_all, set_cookie, site_of
from lycosa_server.people import accounts, audit, limits, notices, sessions
from lycosa_server.people.database import Conflict, Row
from lycosa_server.people.permissions import Role

router = APIRouter(tags=["session"])


class Profile(Named):
    role: Role
    preferences: JsonColumn


class SessionOut(BaseModel):
    """The signed-in person, and the value of the header X-CSRF-Token for requests that change something."""

    person: Profile
    csrf: str


class SignIn(Body):
    name: str = Field(min_length=1, max_length=100)
    password: str = Field(min_length=1, max_length=200)


class NewPassword(Body):
    code: str = Field(min_length=1, max_length=100)
    password: str = Field(min_length=1, max_length=200)


class AcceptInvitation(SignIn, NewPassword):
    """Code of an invitation, with name and password of the new account."""


class InvitationInfo(BaseModel):
    """Purpose of an invitation; with a name, it is a password reset link for this person."""

    role: Role
    expires: float
    name: str = ""


@router.post("/session")
def sign_in(body: SignIn, request: Request, _: None = open_to_all()) -> SessionOut:
    """Sign in and set the session cookie."""
    site, address = site_of(request), address_of(request)
    now = site.clock()
    attempt = limits.record_sign_in(site.database, now, accounts.fold(body.name), address)
    person = accounts.sign_in(site.database, site.passwords, body.name, body.password)
    if person is None:
        meant = accounts.by_name(site.database, body.name)
        name = meant["name"] if meant else ""  # the name in the database, as the typed one may be a password
        audit.record(site.database, now, "", name, "sign-in failed", address=address)
        raise HTTPException(401, "the name or the password is wrong")
    limits.succeeded(site.database, now, attempt)
    return start_session(request, person, "signed in")


@router.get("/session")
def current(person: Caller = needs("read")) -> SessionOut:
    """Return the signed-in person."""
    return SessionOut(person=Profile(**person.row()), csrf=person.csrf)


@router.delete("/session", status_code=204)
def sign_out(request: Request, person: Caller = needs("read")) -> None:
    """Sign out by ending the session; no effect with a token."""
    if person.session:
        person.site.database.delete("session", person.session)
        set_cookie(request, "")
        person.record("signed out")


@router.post("/invitations/accept", status_code=201)
def accept(body: AcceptInvitation, request: Request, _: None = open_to_all()) -> SessionOut:
    """Create an account with an invitation, or with the first admin's one-time link, and sign in."""
    site = site_of(request)
    with _limited_code_attempt(request):
        person = accounts.accept(site.database, site.clock(), site.passwords, body.code, body.name, body.password)
    return start_session(request, person, "accepted an invitation", person["role"])


@router.post("/invitations/reset")
def reset(body: NewPassword, request: Request, _: None = open_to_all()) -> SessionOut:
    """Set a new password with a reset link, and sign in. All other sessions end; tokens stay valid."""
    site, now = site_of(request), site_of(request).clock()
    with _limited_code_attempt(request):
        person = accounts.reset(site.database, now, site.passwords, body.code, body.password)
    text = f"Your password was reset with a link, from {address_of(request)}. All earlier sessions have ended."
    notices.notify(site.database, now, person["id"], "account", text)
    return start_session(request, person, "chose a new password", "by a link")


@router.get("/invitations/check")
def check(
    request: Request, code: Annotated[str, Query(min_length=1, max_length=100)], _: None = open_to_all()
) -> InvitationInfo:
    """Return the purpose of an invitation, if it is valid."""
    site, now = site_of(request), site_of(request).clock()
    with _limited_code_attempt(request):
        return InvitationInfo(**accounts.invitation(site.database, now, code))


@contextmanager
def _limited_code_attempt(request: Request) -> Iterator[None]:
    """Limit wrong codes per address; an attempt that raises 404 remains counted."""
    site, address = site_of(request), address_of(request)
    attempt = limits.record_attempt(site.database, site.clock(), limits.CODE, address)
    try:
        yield
    except (InputError, Conflict):
        limits.succeeded(site.database, site.clock(), attempt)  # the code was correct
        raise
    limits.succeeded(site.database, site.clock(), attempt)


def start_session(request: Request, person: Row, action: str = "", detail: str = "") -> SessionOut:
    site = site_of(request)
    now = site.clock()
    if action:
        address = address_of(request)
        audit.record(site.database, now, person["id"], person["name"], action, detail=detail, address=address)
    old = sessions.find(site.database, now, request.cookies.get(cookie_name(site), ""), turn=False)
    if old is not None:
        site.database.delete("session", old.id)
    agent = printable(request.headers.get("user-agent", ""), "")
    _, value = sessions.create(site.database, now, person["id"], agent[:200])
    set_cookie(request, value)
    return SessionOut(person=Profile(**person), csrf=sessions.csrf_of(value))
