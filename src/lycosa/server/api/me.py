"""One's own account: preferences, password, sessions, and its end."""

from __future__ import annotations

import json
from typing import Annotated, Any, Literal

from fastapi import APIRouter, HTTPException, Request, Response
from pydantic import BaseModel, ConfigDict, Field, Strict

from lycosa.people import accounts, audit, limits, sessions
from lycosa.people.credentials import check_password, check_text
from lycosa.people.database import Row
from lycosa.people.erasing import erase_person, sweep
from lycosa.server.address import address_of
from lycosa.server.api.session import TOO_MANY, Profile, SessionAnswer, begin, profile
from lycosa.server.site import Site, site_of
from lycosa.server.who import Person, needs, set_cookie

router = APIRouter(tags=["me"])

WRONG: dict[int | str, dict[str, Any]] = {401: {"description": "The password is wrong"}, **TOO_MANY}
Password = Annotated[str, Field(min_length=1, max_length=200)]


class Me(Profile):
    """The account, and what may be done with it as it was asked for."""

    created: float
    scopes: list[str]


class Preferences(BaseModel):
    """What a person wants or does not want; what is left out stays as it is."""

    model_config = ConfigDict(extra="forbid")
    suggestions: Annotated[bool, Strict()] = True
    history: Annotated[bool, Strict()] = True
    theme: Literal["system", "light", "dark"] = "system"


class MeChange(BaseModel):
    """What is to change."""

    model_config = ConfigDict(extra="forbid")
    preferences: Preferences


class PasswordChange(BaseModel):
    """The password as it is, and as it is to be."""

    model_config = ConfigDict(extra="forbid")
    old: Password
    new: Password


class Farewell(BaseModel):
    """The password once more: what follows cannot be undone."""

    model_config = ConfigDict(extra="forbid")
    password: Password


class SessionShown(BaseModel):
    """A browser that is signed in."""

    id: str
    agent: str
    created: float
    seen: float
    expires: float
    current: bool


@router.get("/me")
def me(request: Request, person: Person = needs("read")) -> Me:
    """The account of who asks."""
    return _me(site_of(request), person)


@router.patch("/me")
def change(wanted: MeChange, request: Request, person: Person = needs("account")) -> Me:
    """Change preferences. Without `history`, what was noted of pages that were opened is removed too."""
    site = site_of(request)
    told = wanted.preferences.model_dump(exclude_unset=True)
    with site.database.transaction():
        row = _row(site, person, site.database.lock)
        kept = json.dumps({**json.loads(row["preferences"]), **told})
        site.database.run("UPDATE person SET preferences = ? WHERE id = ?", kept, person.id)
        if told.get("history") is False:
            site.database.run("DELETE FROM opened WHERE person = ?", person.id)
    return _me(site, person)


@router.post("/me/password", responses=WRONG)
def set_password(wanted: PasswordChange, request: Request, person: Person = needs("account")) -> SessionAnswer:
    """Change the password. All sessions end; the one that asked goes on under a new cookie and a new CSRF token. Tokens
    stay: they are revoked one by one.
    """
    site = site_of(request)
    row = confirmed(request, site, person, wanted.old)
    check_password(wanted.new, row["name"])
    accounts.set_password(site.database, site.passwords, row, wanted.new)
    _note(request, site, person, "changed the password")
    if person.session:
        return begin(request, site, row)
    return SessionAnswer(person=profile(site, person.id), csrf="")


@router.get("/me/sessions")
def my_sessions(request: Request, person: Person = needs("account")) -> list[SessionShown]:
    """Where one is signed in."""
    site = site_of(request)
    found = sessions.of_person(site.database, site.clock(), person.id)
    return [SessionShown(**row, current=row["id"] == person.session) for row in found]


@router.delete("/me/sessions/{session}", status_code=204)
def end_session(session: str, request: Request, person: Person = needs("account")) -> Response:
    """Sign out one browser."""
    site = site_of(request)
    if session not in [row["id"] for row in sessions.of_person(site.database, site.clock(), person.id)]:
        raise HTTPException(404, "no such session")
    sessions.end(site.database, session)
    if session == person.session:
        set_cookie(request, site, "")
    _note(request, site, person, "ended a session")
    return Response(status_code=204)


@router.delete("/me", status_code=204, responses={409: {"description": "This is the last admin"}, **WRONG})
def leave(wanted: Farewell, request: Request, person: Person = needs("account")) -> Response:
    """Delete the account and everything of it."""
    site = site_of(request)
    confirmed(request, site, person, wanted.password)
    remove(request, site, person, person.id, person.name)
    set_cookie(request, site, "")
    return Response(status_code=204)


def remove(request: Request, site: Site, by: Person, whom: str, name: str) -> None:
    """Delete a person with everything of theirs."""
    with site.database.transaction():
        accounts.keep_an_admin(site.database, whom)
        accounts.revoke_invitations_of(site.database, whom)
        crawls = erase_person(site.database, whom)
        _note(request, site, by, "deleted an account", name)
    site.database.scour()
    # The crawl process looks after it, and says when it is gone: one of them may just be starting.
    sweep([site.settings.crawl_directory(crawl) for crawl in crawls])


def confirmed(request: Request, site: Site, person: Person, password: str) -> Row:
    """The person, if the password is theirs."""
    check_text(password, "the password")
    attempt = limits.one(site.database, site.clock(), limits.OLD, person.id)
    row = _row(site, person)
    if not site.passwords.fits(row["password"], password):
        _note(request, site, person, "gave a wrong password")
        raise HTTPException(401, "the password is wrong")
    limits.succeeded(site.database, site.clock(), attempt)
    return row


def _row(site: Site, person: Person, lock: str = "") -> Row:
    row = site.database.row("SELECT * FROM person WHERE id = ?" + lock, person.id)
    if row is None:
        raise HTTPException(403, "sign in first")
    return row


def _me(site: Site, person: Person) -> Me:
    created = _row(site, person)["created"]
    return Me(**profile(site, person.id).model_dump(), created=created, scopes=sorted(person.scopes))


def _note(request: Request, site: Site, person: Person, action: str, subject: str = "") -> None:
    audit.record(site.database, site.clock(), person.id, person.name, action, subject, address=address_of(request))
