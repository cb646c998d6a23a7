"""Tokens, for programs that act for a person."""

from __future__ import annotations

from typing import Annotated, Literal

from fastapi import APIRouter, HTTPException
from pydantic import BaseModel, Field

from lycosa.people import tokens
from lycosa.people.database import Row
from lycosa.server.api import Body
from lycosa.server.guards import Person, needs

router = APIRouter(tags=["tokens"])

Scope = Literal["read", "feedback", "write", "run", "account", "admin", "metrics"]


class NewToken(Body):
    """What a token is for, what it may do, and for how many days (null: until it is revoked)."""

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
def my_tokens(person: Person = needs("account")) -> list[Token]:
    """One's tokens, the newest first, also those that were revoked."""
    return [Token(**_fields(row)) for row in tokens.of_person(person.site.database, person.id)]


@router.post("/me/tokens", status_code=201)
def make(wanted: NewToken, person: Person = needs("account")) -> MadeToken:
    """Make a token. It may not do more than who makes it, and if that is a token, not last longer either."""
    scopes = frozenset(wanted.scopes)
    if not scopes <= person.scopes:
        lacking = ", ".join(sorted(scopes - person.scopes))
        raise HTTPException(403, f"you cannot give away what you do not have: {lacking}")
    site, now = person.site, person.site.clock()
    row, secret = tokens.make(site.database, now, person.id, wanted.name, scopes, _days(person, wanted.days, now))
    person.record("made a token", row["name"], row["scopes"])
    return MadeToken(**_fields(row), token=secret)


@router.delete("/me/tokens/{token}", status_code=204)
def revoke(token: str, person: Person = needs("account")) -> None:
    """Revoke a token: it is worthless at once."""
    row = tokens.revoke(person.site.database, person.site.clock(), person.id, token)
    if row is None:
        raise HTTPException(404, "no such token")
    person.record("revoked a token", row["name"], row["scopes"])


def _days(person: Person, days: float | None, now: float) -> float | None:
    maker = person.site.database.get("token", person.token) if person.token else None
    if maker is None or maker["expires"] is None:
        return days
    left = float(maker["expires"] - now) / tokens.DAY
    return left if days is None else min(days, left)


def _fields(row: Row) -> Row:
    return {**row, "scopes": row["scopes"].split()}
