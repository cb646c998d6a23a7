"""Your own account: preferences, password, sessions, deletion, tokens, notices."""

from __future__ import annotations

import json
from typing import Annotated, Literal

from fastapi import APIRouter, HTTPException, Request
from pydantic import BaseModel, BeforeValidator, Field, Strict

from lycosa_server import model_files as files
from lycosa_server.api import Body
from lycosa_server.api.session_routes import Profile, SessionOut, start_session
from lycosa_server.guards import Caller, needs, set_cookie
from lycosa_server.people import accounts, limits, models, notices, sessions, tokens
from lycosa_server.people.credentials import check_password
from lycosa_server.people.database import Row, as_dict
from lycosa_server.people.erasing import erase_person, remove_directories
from lycosa_server.people.permissions import NotFound, Scope, found
from lycosa_server.people.text_input import clean_line

router = APIRouter(tags=["me"])

Password = Annotated[str, Field(min_length=1, max_length=200)]


class Me(Profile):
    created: float
    scopes: list[str]


class Preferences(Body):
    """Your preferences; omitted fields stay as they are."""

    suggestions: Annotated[bool, Strict()] = True
    history: Annotated[bool, Strict()] = True
    theme: Literal["system", "light", "dark"] = "system"


class PreferencesChange(Body):
    preferences: Preferences


class PasswordChange(Body):
    old: Password
    new: Password


class AccountDeletion(Body):
    """Confirmation by password: deletion cannot be undone."""

    password: Password


class SessionInfo(BaseModel):
    id: str
    agent: str
    created: float
    seen: float
    expires: float
    current: bool


@router.get("/me")
def me(person: Caller = needs("read")) -> Me:
    """Return your account."""
    return Me(**person.row(), scopes=sorted(person.scopes))


@router.patch("/me")
def change(body: PreferencesChange, person: Caller = needs("account")) -> Me:
    """Change preferences. Turning `history` off also deletes the pages noted as opened."""
    database = person.site.database
    changes = body.preferences.model_dump(exclude_unset=True)
    with database.transaction():
        preferences = as_dict(person.row(locked=True)["preferences"])
        database.update("person", person.id, {"preferences": json.dumps({**preferences, **changes})})
        if changes.get("history") is False:
            database.delete("opened", person=person.id)
    return me(person)


@router.post("/me/password")
def set_password(body: PasswordChange, request: Request, person: Caller = needs("account")) -> SessionOut:
    """Change the password. All other sessions end; this one gets a new cookie and CSRF token. Tokens stay valid."""
    row = _confirmed(person, body.old)
    check_password(body.new, row["name"])
    accounts.set_password(person.site.database, person.site.passwords, row, body.new)
    person.record("changed the password")
    return start_session(request, row) if person.session else SessionOut(person=Profile(**row), csrf="")


@router.get("/me/sessions")
def my_sessions(person: Caller = needs("account")) -> list[SessionInfo]:
    """Return your sessions, one per browser."""
    rows = sessions.of_person(person.site.database, person.site.clock(), person.id)
    return [SessionInfo(**row, current=row["id"] == person.session) for row in rows]


@router.delete("/me/sessions/{session}", status_code=204)
def end_session(session: str, request: Request, person: Caller = needs("account")) -> None:
    """Sign out one browser."""
    if not person.site.database.delete("session", id=session, person=person.id):
        raise NotFound("no such session")
    if session == person.session:
        set_cookie(request, "")
    person.record("ended a session")


@router.delete("/me", status_code=204)
def leave(body: AccountDeletion, request: Request, person: Caller = needs("account")) -> None:
    """Delete your account and all its data."""
    _confirmed(person, body.password)
    remove(person, person.id, person.name)
    set_cookie(request, "")


def remove(by: Caller, person: str, name: str) -> None:
    site = by.site
    with site.database.transaction():
        accounts.keep_an_admin(site.database, person)
        accounts.revoke_invitations_of(site.database, person)
        model_ids = [row["id"] for row in models.of_person(site.database, person)]
        crawls = erase_person(site.database, person)
        by.record("deleted an account", name)
    site.database.truncate_wal()
    # The crawl process repeats this, as a crawl may just be starting.
    remove_directories([site.settings.crawl_directory(crawl) for crawl in crawls])
    files.remove(site.settings, model_ids)


def _confirmed(person: Caller, password: str) -> Row:
    site = person.site
    attempt = limits.record_attempt(site.database, site.clock(), limits.OLD_PASSWORD, person.id)
    row = person.row()
    if not site.passwords.verify(row["password"], password):
        person.record("gave a wrong password")
        raise HTTPException(401, "the password is wrong")
    limits.succeeded(site.database, site.clock(), attempt)
    return row


class NewToken(Body):
    """Purpose and scopes of a token, and its lifetime in days (null: unlimited)."""

    name: str = Field(min_length=1, max_length=100)
    scopes: list[Scope] = Field(min_length=1, max_length=20)
    days: Annotated[int, Field(ge=1, le=3660)] | None = 90


class Token(BaseModel):
    """A token, without its secret."""

    id: str
    name: str
    scopes: Annotated[list[str], BeforeValidator(str.split)]
    created: float
    expires: float | None
    used: float | None
    revoked: float | None


class CreatedToken(Token):
    """A token with its secret: shown this once."""

    token: str


@router.get("/me/tokens")
def my_tokens(person: Caller = needs("account")) -> list[Token]:
    """Return your tokens, newest first, including revoked ones."""
    return [Token(**row) for row in tokens.of_person(person.site.database, person.id)]


@router.post("/me/tokens", status_code=201)
def make(body: NewToken, person: Caller = needs("account")) -> CreatedToken:
    """Create a token. It can't have more scopes than its creator; created with a token, it can't outlast that one."""
    scopes = frozenset(body.scopes)
    if not scopes <= person.scopes:
        lacking = ", ".join(sorted(scopes - person.scopes))
        raise HTTPException(403, f"a token cannot have scopes that you do not have: {lacking}")
    site, now = person.site, person.site.clock()
    maker = site.database.get("token", person.token)
    left = (maker["expires"] - now) / tokens.DAY if maker and maker["expires"] is not None else None
    days = min((limit for limit in (body.days, left) if limit is not None), default=None)
    row, secret = tokens.create(site.database, now, person.id, body.name, scopes, days)
    person.record("made a token", row["name"], row["scopes"])
    return CreatedToken(**row, token=secret)


@router.delete("/me/tokens/{token}", status_code=204)
def revoke(token: str, person: Caller = needs("account")) -> None:
    """Revoke a token: it stops working immediately."""
    row = found(tokens.revoke(person.site.database, person.site.clock(), person.id, token), "token")
    person.record("revoked a token", row["name"], row["scopes"])


class Notice(BaseModel):
    id: str
    kind: str
    text: str
    interest: str | None
    at: float
    read: float | None


class Notices(BaseModel):
    unread: int
    notices: list[Notice]


class ReadNotices(Body):
    """Ids of the notices to mark as read; null: all."""

    ids: list[Annotated[str, Field(max_length=64)]] | None = Field(None, max_length=500)


@router.get("/me/notices")
def list_notices(unread: bool = False, person: Caller = needs("read")) -> Notices:
    """Return the latest hundred notices, or only unread ones."""
    database = person.site.database
    rows = notices.of_person(database, person.id, unread=unread)
    return Notices(unread=notices.unread(database, person.id), notices=[Notice(**row) for row in rows])


@router.post("/me/notices/read", status_code=204)
def read_notices(body: ReadNotices, person: Caller = needs("read")) -> None:
    """Mark notices as read. Ids of other people's notices are ignored."""
    ids = None if body.ids is None else [clean_line(text, "the id", 64) for text in body.ids]
    notices.read(person.site.database, person.site.clock(), person.id, ids)
