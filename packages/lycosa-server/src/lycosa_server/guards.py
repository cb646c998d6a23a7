"""Authentication and authorisation of API routes. Every route names one of these guards; a test enforces it.

    needs("run")                    a session or token with this scope
    interest_to("edit", "write")    the same, and at least this access to the interest in the path
    crawl_to("read", "read")        the same for a crawl, through its interest
    model_to("write")               the same for one's own model; models are never shared
    sharer()                        someone who may end a share: the interest's owner, or the person it is shared with
    open_to_all()                   anyone: health, signing in, accepting an invitation

`people.permissions` decides. Things that a person may not see are 404; actions that they may not take are 403.
"""

from __future__ import annotations

import ipaddress
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from fastapi import Depends, HTTPException, Request

from lycosa_server.crawl_cache import CachedCrawl, CrawlCache
from lycosa_server.people import audit, crawls, feedback, permissions, sessions, tokens
from lycosa_server.people.credentials import Passwords, secrets_equal
from lycosa_server.people.database import Database, Row
from lycosa_server.people.permissions import ROLES, SCOPES, Mode
from lycosa_server.settings import Settings
from lycosa_server.streaming import Quota

SAFE = frozenset({"GET", "HEAD", "OPTIONS"})  # methods that need no CSRF token


@dataclass(frozen=True, slots=True)
class Caller:
    site: ServerContext
    id: str
    name: str
    role: str
    scopes: frozenset[str]
    session: str = ""  # empty for a token
    token: str = ""
    csrf: str = ""
    address: str = ""  # IP address of the client

    def row(self, *, locked: bool = False) -> Row:
        return permissions.found(self.site.database.get("person", self.id, locked=locked), "person")

    def record(self, action: str, subject: str = "", detail: str = "") -> None:
        site = self.site
        audit.record(site.database, site.clock(), self.id, self.name, action, subject, detail, self.address)


@dataclass(frozen=True, slots=True)
class Access:
    person: Caller

    @property
    def site(self) -> ServerContext:
        return self.person.site


@dataclass(frozen=True, slots=True)
class InterestAccess(Access):
    interest: Row

    @property
    def labels(self) -> dict[str, bool]:
        return feedback.labels_of(self.site.database, self.interest["id"])


@dataclass(frozen=True, slots=True)
class CrawlAccess(InterestAccess):
    crawl: Row
    directory: Path

    @property
    def cached(self) -> CachedCrawl:
        return self.site.cache.get(self.directory)


@dataclass(frozen=True, slots=True)
class ModelAccess(Access):
    model: Row


def open_to_all() -> Any:
    return _guard(lambda: None, "open")


def sharer() -> Any:
    def guard(request: Request, interest: str, person: str) -> InterestAccess:
        asker = _with_scope(request, "read")
        access = InterestAccess(asker, permissions.interest_for(asker.site.database, asker.id, interest))
        owns = access.interest["mode"] == "own"
        if not (owns or person == asker.id):
            raise HTTPException(403, "only the owner of an interest can change who it is shared with")
        if not asker.scopes & ({"write"} if owns else {"write", "account"}):
            raise HTTPException(403, f"this requires the scope {'write' if owns else 'account'!r}")
        return access

    return _guard(guard, "interest", "read", "read")


def needs(scope: str, *, by_token: bool = True) -> Any:
    def guard(request: Request) -> Caller:
        person = _with_scope(request, scope)
        if person.token and not by_token:
            raise HTTPException(403, "this is not possible with a token: sign in with a browser")
        return person

    return _guard(guard, "person", "", scope)


def interest_to(mode: Mode, scope: str) -> Any:
    def guard(request: Request, interest: str) -> InterestAccess:
        person = _with_scope(request, scope)
        return InterestAccess(person, permissions.interest_for(person.site.database, person.id, interest, mode))

    return _guard(guard, "interest", mode, scope)


def crawl_to(mode: Mode, scope: str) -> Any:
    def guard(request: Request, crawl: str) -> CrawlAccess:
        person = _with_scope(request, scope)
        row, interest = permissions.crawl_for(person.site.database, person.id, crawl, mode)
        return CrawlAccess(person, interest, row, person.site.settings.crawl_directory(row["id"]))

    return _guard(guard, "crawl", mode, scope)


def model_to(scope: str) -> Any:
    def guard(request: Request, model: str) -> ModelAccess:
        person = _with_scope(request, scope)
        row = person.site.database.find("model", id=model, owner=person.id)
        return ModelAccess(person, permissions.found(row, "model"))

    return _guard(guard, "model", "own", scope)


def _guard(check: Callable[..., Any], on: str, mode: str = "", scope: str = "") -> Any:
    check.access = (on, mode, scope)  # type: ignore[attr-defined]
    return Depends(check)


def _with_scope(request: Request, scope: str) -> Caller:
    person = identify(request)
    if scope not in person.scopes:
        grant = "token" if person.token else "role"
        raise HTTPException(403, f"this requires the scope {scope!r}, which your {grant} does not have")
    return person


def identify(request: Request) -> Caller:
    """Return the person whose cookie or token the request has; raise 403 if it is missing, forged or revoked."""
    kind, _, secret = request.headers.get("authorization", "").partition(" ")
    person = _by_token(request, secret.strip()) if kind.lower() == "bearer" else _by_session(request)
    request.state.person = person.id  # for the access log
    return person


def is_still_authorized(person: Caller) -> bool:
    site = person.site
    if person.token:
        return tokens.is_valid(site.database, site.clock(), person.token)
    return sessions.is_valid(site.database, site.clock(), person.session)


def cookie_name(site: ServerContext) -> str:
    return "__Host-lycosa" if site.settings.secure else "lycosa"


def set_cookie(request: Request, value: str) -> None:
    """Have the middleware set the session cookie on the response; an empty value removes it."""
    site = site_of(request)
    kept = f"Max-Age={int(sessions.MAX_AGE_SECONDS)}" if value else "Max-Age=0"
    secure = "; Secure" if site.settings.secure else ""
    request.scope["lycosa"]["cookie"] = f"{cookie_name(site)}={value}; Path=/; {kept}; HttpOnly; SameSite=Lax{secure}"


def _by_token(request: Request, secret: str) -> Caller:
    site = site_of(request)
    row = tokens.find(site.database, site.clock(), secret)
    if row is None:
        raise HTTPException(403, "this token is unknown, revoked or expired: create a new one in your account")
    return _caller(request, row["owner"], frozenset(row["scopes"].split()), token=row["id"])


def _by_session(request: Request) -> Caller:
    site = site_of(request)
    value = request.cookies.get(cookie_name(site), "")
    exchange = request.scope.get("lycosa", {"begun": True})
    session = sessions.find(site.database, site.clock(), value, turn=not exchange["begun"]) if value else None
    if session is None:
        raise HTTPException(403, "sign in first")
    if session.fresh:  # also on error responses, as the old value expires within a minute
        set_cookie(request, session.fresh)
    if request.method not in SAFE and not secrets_equal(request.headers.get("x-csrf-token", ""), session.csrf):
        raise HTTPException(403, "the header X-CSRF-Token is missing or wrong: get its value from GET /session")
    return _caller(request, session.person, frozenset(SCOPES), session=session.id, csrf=session.csrf)


def _caller(request: Request, row: Row, scopes: frozenset[str], **how: str) -> Caller:
    role, address = row["role"], address_of(request)
    return Caller(site_of(request), row["id"], row["name"], role, ROLES[role] & scopes, address=address, **how)


def address_of(request: Request) -> str:
    """Return the client's IP address; "unknown" for anything else that a trusted proxy passes on."""
    host = request.client.host if request.client else ""
    try:
        return str(ipaddress.ip_address(host))
    except ValueError:
        return "unknown"


@dataclass(slots=True)
class ServerContext:
    settings: Settings
    database: Database
    clock: Callable[[], float] = time.time
    passwords: Passwords = field(default_factory=Passwords)
    # running exports, each of which uses a thread and most of a core
    writers: Quota = field(default_factory=lambda: Quota(2, 8, 30, "other exports are being sent: try again later"))
    streams: Quota = field(default_factory=lambda: Quota(10, 1_000, 5, "you have 10 live views open: close one first"))
    cache: CrawlCache = field(default_factory=CrawlCache)

    def cached_crawls(self, interest: str) -> Iterator[CachedCrawl]:
        for row in crawls.of_interest(self.database, interest):
            path = self.settings.crawl_directory(row["id"])
            if path.is_dir():
                yield self.cache.get(path)


def site_of(request: Request) -> ServerContext:
    site: ServerContext = request.app.state.site
    return site
