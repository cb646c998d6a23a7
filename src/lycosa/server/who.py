"""Who asks, and whether they may. Every route of the API names its guard; a test fails for one that does not.

    needs("run")                    someone signed in, or a token, with this scope
    interest_to("edit", "write")    the same, and the interest in the path is theirs, or shared with them that far
    crawl_to("read", "read")        the same for a crawl, by its interest
    open_to_all()                   anyone: health, signing in, accepting an invitation

What a person may not know of, does not exist: 404. What they may know of but not do: 403. Nobody at all: 403, too.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from fastapi import Depends, HTTPException, Request

from lycosa.people import sessions, tokens
from lycosa.people.credentials import same
from lycosa.people.database import Row
from lycosa.server.site import Site, site_of

Mode = Literal["read", "edit", "own"]

SCOPES = {
    "read": "see interests, pages and changes, and search",
    "feedback": "say yes or no to pages, and answer suggestions",
    "write": "make, change, share and delete interests",
    "run": "start, pause and stop crawls and comparisons",
    "account": "change, export and delete the account",
    "admin": "keep accounts, invitations, the seed catalogue and the audit log",
    "metrics": "read the server's metrics",
}
"""What a token may be allowed to do."""

ROLES: dict[str, frozenset[str]] = {
    "reader": frozenset({"read", "account"}),
    "member": frozenset({"read", "feedback", "write", "run", "account"}),
    "admin": frozenset(SCOPES),
}
"""What a person may do, by role; on what, ownership and sharing say. An admin sees nobody else's interests."""

SAFE = frozenset({"GET", "HEAD", "OPTIONS"})
"""Methods that change nothing: a session may use them without a CSRF token."""

RANK = {"read": 0, "edit": 1, "own": 2}


@dataclass(frozen=True, slots=True)
class Person:
    """Who asks: a person in a session, or by a token."""

    id: str
    name: str
    role: str
    scopes: frozenset[str]
    session: str = ""
    """The session's id; empty for a token."""
    token: str = ""
    csrf: str = ""


@dataclass(frozen=True, slots=True)
class Asked:
    """An interest that someone may look at, and how far they may go."""

    person: Person
    interest: Row
    mode: Mode


@dataclass(frozen=True, slots=True)
class AskedCrawl:
    """A crawl of such an interest, and where it lies."""

    person: Person
    interest: Row
    mode: Mode
    crawl: Row
    directory: Path


def open_to_all() -> Any:
    """No one needs to sign in for this."""

    def guard() -> None:
        return None

    guard.access = ("open", "", "")  # type: ignore[attr-defined]
    return Depends(guard)


def needs(scope: str) -> Any:
    """Someone who may do this kind of thing."""

    def guard(request: Request) -> Person:
        person = identify(request, site_of(request))
        if scope not in person.scopes:
            raise HTTPException(403, f"this takes the scope {scope!r}, which your {_whose(person)} does not have")
        return person

    guard.access = ("person", "", scope)  # type: ignore[attr-defined]
    return Depends(guard)


def interest_to(mode: Mode, scope: str) -> Any:
    """Someone who may do this with the interest that the path names."""
    check = needs(scope).dependency

    def guard(request: Request, interest: str) -> Asked:
        person: Person = check(request)
        return may(site_of(request), person, interest, mode)

    guard.access = ("interest", mode, scope)  # type: ignore[attr-defined]
    return Depends(guard)


def crawl_to(mode: Mode, scope: str) -> Any:
    """Someone who may do this with the crawl that the path names."""
    check = needs(scope).dependency

    def guard(request: Request, crawl: str) -> AskedCrawl:
        person: Person = check(request)
        site = site_of(request)
        row = site.database.row("SELECT * FROM crawl WHERE id = ?", crawl)
        if row is None:
            raise HTTPException(404, "no such crawl")
        try:
            asked = may(site, person, row["interest"], mode)
        except HTTPException as error:
            raise HTTPException(
                error.status_code, "no such crawl" if error.status_code == 404 else error.detail
            ) from None
        return AskedCrawl(person, asked.interest, asked.mode, row, site.settings.crawl_directory(row["id"]))

    guard.access = ("crawl", mode, scope)  # type: ignore[attr-defined]
    return Depends(guard)


def may(site: Site, person: Person, interest: str, mode: Mode) -> Asked:
    """The interest, if the person may go so far with it."""
    row = site.database.row("SELECT * FROM interest WHERE id = ?", interest)
    had: Mode | None = None
    if row is not None and row["owner"] == person.id:
        had = "own"
    elif row is not None:
        share = site.database.row("SELECT mode FROM share WHERE interest = ? AND person = ?", interest, person.id)
        had = share["mode"] if share else None
    if row is None or had is None:
        raise HTTPException(404, "no such interest")
    if RANK[had] < RANK[mode]:
        raise HTTPException(
            403, "this interest is shared with you to " + ("read only" if had == "read" else "edit, no more")
        )
    return Asked(person, row, had)


def identify(request: Request, site: Site) -> Person:
    """Whoever the cookie or the token speaks for; 403 for nobody, a forged request, a revoked token."""
    kind, _, secret = request.headers.get("authorization", "").partition(" ")
    person = _by_token(site, secret.strip()) if kind.lower() == "bearer" else _by_session(request, site)
    request.state.person = person.id  # for the log
    return person


def still_there(site: Site, person: Person) -> bool:
    """Whether who asked is still signed in, or their token still good: for answers that take long."""
    if person.token:
        return tokens.alive(site.database, site.clock(), person.token)
    return sessions.alive(site.database, site.clock(), person.session)


def cookie_name(site: Site) -> str:
    """`__Host-` makes browsers refuse it from another host, or without https."""
    return "__Host-lycosa" if site.settings.secure else "lycosa"


def set_cookie(request: Request, site: Site, value: str) -> None:
    """Have the answer set the session's cookie; an empty value removes it. The middleware writes the header, so that it
    is there with answers of every kind.
    """
    kept = f"Max-Age={int(sessions.WHOLE)}" if value else "Max-Age=0"
    secure = "; Secure" if site.settings.secure else ""
    request.scope["lycosa"]["cookie"] = f"{cookie_name(site)}={value}; Path=/; {kept}; HttpOnly; SameSite=Lax{secure}"


def _by_token(site: Site, secret: str) -> Person:
    row = tokens.find(site.database, site.clock(), secret)
    if row is None:
        raise HTTPException(403, "this token is not known, was revoked, or is too old: make a new one in your account")
    owner = row["owner"]
    scopes = ROLES[owner["role"]] & frozenset(row["scopes"].split())
    return Person(owner["id"], owner["name"], owner["role"], scopes, token=row["id"])


def _by_session(request: Request, site: Site) -> Person:
    value = request.cookies.get(cookie_name(site), "")
    exchange = request.scope.get("lycosa", {"begun": True})
    found = sessions.find(site.database, site.clock(), value, turn=not exchange["begun"]) if value else None
    if found is None:
        raise HTTPException(403, "sign in first")
    if found.fresh:  # also with an answer that refuses: the old value is good for a minute only
        set_cookie(request, site, found.fresh)
    if request.method not in SAFE and not same(request.headers.get("x-csrf-token", ""), found.csrf):
        raise HTTPException(403, "the header X-CSRF-Token is missing or not this session's: GET /session tells it")
    who = found.person
    return Person(who["id"], who["name"], who["role"], ROLES[who["role"]], session=found.id, csrf=found.csrf)


def _whose(person: Person) -> str:
    return "token" if person.token else "role"
