"""Tokens, for programs that act for a person."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from fastapi import APIRouter, HTTPException, Request, Response
from pydantic import BaseModel, ConfigDict, Field

from lycosa.people import audit, tokens
from lycosa.people.database import Row
from lycosa.server.address import address_of
from lycosa.server.site import Site, site_of
from lycosa.server.who import Person, needs

router = APIRouter(tags=["tokens"])

Scope = Literal["read", "feedback", "write", "run", "account", "admin", "metrics"]


class NewToken(BaseModel):
    """What a token is for, what it may do, and for how many days (null: until it is revoked)."""

    model_config = ConfigDict(extra="forbid")
    name: str = Field(min_length=1, max_length=100)
    scopes: list[Scope] = Field(min_length=1, max_length=20)
    days: Annotated[int, Field(ge=1, le=3660)] | None = 90


class Token(BaseModel):
    """A token, without its secret."""

    id: str
    name: str
    scopes: list[str]
    created: float
    expires: float | None
    used: float | None
    revoked: float | None


class MadeToken(Token):
    """A token with its secret: shown this once."""

    token: str


@router.get("/me/tokens")
def my_tokens(request: Request, person: Person = needs("account")) -> list[Token]:
    """One's tokens, the newest first, also those that were revoked."""
    return [Token(**_shown(row)) for row in tokens.of_person(site_of(request).database, person.id)]


@router.post("/me/tokens", status_code=201)
def make(wanted: NewToken, request: Request, person: Person = needs("account")) -> MadeToken:
    """Make a token. It may not do more than who makes it, and if that is a token, not last longer either."""
    site = site_of(request)
    scopes = frozenset(wanted.scopes)
    if not scopes <= person.scopes:
        lacking = ", ".join(sorted(scopes - person.scopes))
        raise HTTPException(403, f"you cannot give away what you do not have: {lacking}")
    now = site.clock()
    days = _days(site, person, wanted.days, now)
    row, secret = tokens.make(site.database, now, person.id, wanted.name, scopes, days)
    _note(request, site, person, "made a token", row)
    return MadeToken(**_shown(row), token=secret)


@router.delete("/me/tokens/{token}", status_code=204)
def revoke(token: str, request: Request, person: Person = needs("account")) -> Response:
    """Revoke a token: it is worthless at once."""
    site = site_of(request)
    row = site.database.row("SELECT * FROM token WHERE id = ? AND person = ?", token, person.id)
    if row is None or not tokens.revoke(site.database, site.clock(), person.id, token):
        raise HTTPException(404, "no such token")
    _note(request, site, person, "revoked a token", row)
    return Response(status_code=204)


def _days(site: Site, person: Person, days: float | None, now: float) -> float | None:
    maker = site.database.row("SELECT expires FROM token WHERE id = ?", person.token) if person.token else None
    if maker is None or maker["expires"] is None:
        return days
    left = float(maker["expires"] - now) / tokens.DAY
    return left if days is None else min(days, left)


def _shown(row: Row) -> dict[str, Any]:
    kept = {key: row[key] for key in ("id", "name", "created", "expires", "used", "revoked")}
    return {**kept, "scopes": row["scopes"].split()}


def _note(request: Request, site: Site, person: Person, action: str, row: Row) -> None:
    audit.record(
        site.database,
        site.clock(),
        person.id,
        person.name,
        action,
        row["name"],
        row["scopes"],
        address_of(request),
    )
