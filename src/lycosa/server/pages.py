"""The pages that people see: empty shells, filled by scripts from the API. Nobody is sent to sign in first.

A shell knows who looks at it (name, role, colours) and which interest it is about; everything else it shows comes from
the API, with the same rights as any other client's.
"""

from __future__ import annotations

import gzip
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from hashlib import sha256
from importlib.resources import files
from pathlib import Path
from typing import Any
from urllib.parse import quote

from fastapi import HTTPException, Request, Response
from fastapi.exception_handlers import http_exception_handler
from fastapi.responses import HTMLResponse, RedirectResponse
from jinja2 import Environment
from starlette.exceptions import HTTPException as StarletteHTTPException

from lycosa.drawing.pages import environment
from lycosa.people.accounts import preferences
from lycosa.people.credentials import LONGEST, SHORTEST
from lycosa.people.database import DatabaseAway
from lycosa.people.permissions import SCOPES, Forbidden, Mode, NotFound, interest_for
from lycosa.server.guards import Person, identify, site_of
from lycosa.version import __version__

SIGN_IN = "/sign-in"
THEMES = ("system", "light", "dark")
TABS = ("live", "graph", "results", "search", "changes", "feedback", "suggestions", "settings", "sharing")

PROBLEMS = {
    403: ("No access", "You do not have access to this page. An administrator of this server can change that."),
    404: ("Nothing here", "This page does not exist, or it is not shared with you."),
    405: ("Nothing here", "This page does not exist, or it is not shared with you."),
    503: ("One moment", "The database is not available right now. Try again in a few seconds."),
}


TYPES = {
    ".css": "text/css; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".svg": "image/svg+xml",
}


@cache
def templates() -> Environment:
    made = environment("lycosa.server", cleaned=False)
    made.globals |= {"static": lambda name: f"/static/{build()}/{name}", "version": __version__, "all_scopes": SCOPES}
    made.globals |= {"shortest": SHORTEST, "longest": LONGEST}
    return made


def show(request: Request, template: str, code: int = 200, person: Person | None = None, **more: Any) -> Response:
    person = person or known(request)
    shown = {"person": person, "theme": theme_of(person), "path": request.url.path, **more}
    shown["max_budget"] = site_of(request).settings.max_budget
    html = templates().get_template(f"{template}.html").render(shown)
    return HTMLResponse(html, code, {"Cache-Control": "no-store"})


def open_page(template: str) -> Callable[[Request], Response]:
    def answer(request: Request) -> Response:
        return show(request, template)

    return answer


def page(template: str, scope: str = "read", reach: Mode | None = None, **more: Any) -> Callable[[Request], Response]:
    """A page for who is signed in and may do what `scope` says; of an interest, if they may reach so far."""

    def answer(request: Request) -> Response:
        person = visitor(request)
        if person is None:
            return to_sign_in(request)
        about = _interest(request, person, reach) if reach else more
        if scope not in person.scopes:
            raise HTTPException(403)
        return show(request, template, person=person, **about)

    return answer


def _interest(request: Request, person: Person, mode: Mode) -> dict[str, Any]:
    """The interest and the tab that the path names."""
    name, tab = request.path_params["interest"], request.path_params.get("tab", "")
    if not name.isprintable() or (tab and tab not in TABS):  # no interest has such a name
        raise HTTPException(404)
    with as_page():
        row = interest_for(person.site.database, person.id, name, mode)
    return {"interest": row["id"], "name": row["name"], "mode": row["mode"], "tab": tab}


def sign_in(request: Request) -> Response:
    """The page to sign in; who is signed in goes on at once."""
    wanted = local_path(request.query_params.get("next", ""))
    if known(request) is not None:
        return RedirectResponse(wanted, 303)
    return show(request, "sign_in", next=wanted)


# -- the site's own style sheets and scripts: what lies in a list, nothing else --------------------------------


@cache
def assets() -> dict[str, tuple[bytes, bytes, str]]:
    """Return each file that may be asked for: its content, the same compressed, and its ETag."""
    contents = {file.name: file.read_bytes() for file in files("lycosa.server").joinpath("static").iterdir()}
    return {
        name: (content, gzip.compress(content, 6, mtime=0), f'"{sha256(content).hexdigest()[:20]}"')
        for name, content in sorted(contents.items())
        if Path(name).suffix in TYPES
    }


@cache
def build() -> str:
    """Return a digest of all files together. Pages link to them under it (/static/BUILD/site.css): so they may be kept
    for ever, modules that import each other are always of one build, and a new version is fetched at once. Without a
    build, or with an old one, the answer is the same file, to be asked for again each time (ETag).
    """
    return sha256("".join(tag for *_, tag in assets().values()).encode()).hexdigest()[:12]


def static(request: Request, name: str, under: str = "") -> Response:
    """A file, packed for who takes that; nothing for who has it."""
    if name not in assets():
        raise HTTPException(404)
    content, packed, tag = assets()[name]
    headers = {
        "ETag": tag,
        "Cache-Control": "public, max-age=31536000, immutable" if under == build() else "no-cache",
        "Vary": "Accept-Encoding",
    }
    if name == "reader.css":  # for a document in a sandbox, which is of no origin
        headers["Cross-Origin-Resource-Policy"] = "cross-origin"
    if tag in request.headers.get("if-none-match", ""):
        return Response(None, 304, headers)
    if "gzip" in request.headers.get("accept-encoding", "") and len(content) > 1000:
        headers["Content-Encoding"] = "gzip"
        content = packed
    return Response(content, 200, headers, TYPES[Path(name).suffix])


def favicon(request: Request) -> Response:
    return static(request, "favicon.svg")


PAGES: dict[str, Callable[..., Response]] = {
    "/": page("interests"),
    SIGN_IN: sign_in,
    "/join": open_page("join"),
    "/privacy": open_page("privacy"),
    "/interests/new": page("interest_form", "write", interest="", name="", mode="own", tab=""),
    "/interests/{interest}/edit": page("interest_form", "write", "edit"),
    "/interests/{interest}": page("interest", "read", "read"),
    "/interests/{interest}/{tab}": page("interest", "read", "read"),
    "/models": page("models"),
    "/account": page("account", "account"),
    "/admin": page("admin", "admin"),
    "/favicon.ico": favicon,
    "/static/{name}": static,
    "/static/{under}/{name}": static,
}


async def explain(request: Request, error: Exception) -> Response:
    """What does not exist, as a page for browsers and as JSON for programs."""
    assert isinstance(error, StarletteHTTPException)
    wants_page = "text/html" in request.headers.get("accept", "") and not request.url.path.startswith("/api/")
    if not wants_page:
        return await http_exception_handler(request, error)
    status = error.status_code
    title, text = PROBLEMS.get(status, ("Something went wrong", "The server could not complete the request."))
    return show(request, "error", status, status=status, title=title, text=text)


def known(request: Request) -> Person | None:
    """Whoever looks at a page, or None: also while the database is away, so that a page can say so."""
    try:
        return identify(request)
    except (HTTPException, DatabaseAway):
        return None


def visitor(request: Request) -> Person | None:
    """The same for a page that needs somebody. While the database is away nobody is sent to sign in: it would fail."""
    with as_page():
        try:
            return identify(request)
        except HTTPException:
            return None


@contextmanager
def as_page() -> Iterator[None]:
    """Refuse with a page that says so, not with an answer for programs."""
    try:
        yield
    except DatabaseAway:
        raise HTTPException(503, headers={"Retry-After": "2"}) from None
    except NotFound:
        raise HTTPException(404) from None
    except Forbidden:
        raise HTTPException(403) from None


def theme_of(person: Person | None) -> str:
    """The colours a person chose; written into the page, so that it never flashes in the wrong ones."""
    if person is None:
        return "system"
    try:
        chosen = preferences(person.site.database, person.id).get("theme")
    except DatabaseAway:
        return "system"
    return chosen if chosen in THEMES else "system"


def local_path(path: str) -> str:
    """A path of this site as it was given, or / where it might lead elsewhere.

    >>> [local_path(path) for path in ("/account", "//evil.test", "/\\\\evil.test", "https://evil.test", "")]
    ['/account', '/', '/', '/', '/']
    """
    safe = path.startswith("/") and not path.startswith("//") and "\\" not in path and path.isprintable()
    return path if safe and not path.startswith((SIGN_IN, "/api/", "/static/")) else "/"


def to_sign_in(request: Request) -> Response:
    path = request.url.path + (f"?{request.url.query}" if request.url.query else "")
    return RedirectResponse(f"{SIGN_IN}?next={quote(path, safe='/')}", 303)
