"""HTML pages: empty shells that scripts fill from the API.

A shell knows the person (name, role, colours) and the interest it is about. All other content comes from the API, with
the same permissions as for any client.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from functools import cache
from hashlib import sha256
from importlib.resources import files
from pathlib import Path
from typing import Any
from urllib.parse import quote

from fastapi import HTTPException, Request, Response
from fastapi.exception_handlers import http_exception_handler
from fastapi.responses import FileResponse, HTMLResponse, RedirectResponse
from jinja2 import Environment
from starlette.exceptions import HTTPException as StarletteHTTPException
from starlette.middleware.gzip import GZipMiddleware
from starlette.staticfiles import StaticFiles
from starlette.types import Scope

from lycosa.drawing.templates import environment
from lycosa.judges.model import KINDS
from lycosa.version import __version__
from lycosa_server.guards import Caller, identify, site_of
from lycosa_server.people.accounts import preferences
from lycosa_server.people.credentials import MAX_PASSWORD_LENGTH, MIN_PASSWORD_LENGTH
from lycosa_server.people.database import DatabaseUnavailable
from lycosa_server.people.permissions import SCOPES, Mode, interest_for

SIGN_IN = "/sign-in"
TABS = ("live", "graph", "results", "search", "changes", "feedback", "suggestions", "settings", "sharing")


@cache
def templates() -> Environment:
    loaded = environment("lycosa_server", cleaned=False)
    loaded.globals |= {"static": lambda name: f"/static/{build()}/{name}", "version": __version__, "all_scopes": SCOPES}
    loaded.globals |= {"shortest": MIN_PASSWORD_LENGTH, "longest": MAX_PASSWORD_LENGTH}
    return loaded


def render(request: Request, template: str, code: int = 200, person: Caller | None = None, **more: Any) -> Response:
    person = person or caller_or_none(request)
    shown = {"person": person, "theme": theme_of(person), "path": request.url.path, **more}
    shown["max_budget"] = site_of(request).settings.max_budget
    html = templates().get_template(f"{template}.html").render(shown)
    return HTMLResponse(html, code, {"Cache-Control": "no-store"})


def open_page(template: str) -> Callable[[Request], Response]:
    def respond(request: Request) -> Response:
        return render(request, template)

    return respond


def restricted_page(
    template: str, scope: str = "read", reach: Mode | None = None, **more: Any
) -> Callable[[Request], Response]:
    def respond(request: Request) -> Response:
        try:  # a redirect to the sign-in page fails, too, while the database is unavailable
            person = identify(request)
        except HTTPException:
            path = request.url.path + (f"?{request.url.query}" if request.url.query else "")
            return RedirectResponse(f"{SIGN_IN}?next={quote(path, safe='/')}", 303)
        context = _interest(request, person, reach) if reach else more
        if scope not in person.scopes:
            raise HTTPException(403)
        return render(request, template, person=person, **context)

    return respond


def _interest(request: Request, person: Caller, mode: Mode) -> dict[str, Any]:
    name, tab = request.path_params["interest"], request.path_params.get("tab", "")
    if not name.isprintable() or (tab and tab not in TABS):  # ids are printable
        raise HTTPException(404)
    row = interest_for(person.site.database, person.id, name, mode)
    return {"interest": row["id"], "name": row["name"], "mode": row["mode"], "tab": tab}


def sign_in(request: Request) -> Response:
    wanted = local_path(request.query_params.get("next", ""))
    if caller_or_none(request) is not None:
        return RedirectResponse(wanted, 303)
    return render(request, "sign_in", next=wanted)


@cache
def build() -> str:
    """Return a digest of all static files, whose URLs contain it, so that browsers may cache them forever."""
    found = sorted(files("lycosa_server").joinpath("static").iterdir(), key=lambda file: file.name)
    return sha256(b"".join(file.read_bytes() for file in found)).hexdigest()[:12]


class Static(StaticFiles):
    """Static files, cached forever under the current digest and revalidated under any other."""

    async def get_response(self, path: str, scope: Scope) -> Response:
        under, _, name = path.rpartition("/")
        response = await super().get_response(name, scope)
        kept = under == build()
        response.headers["Cache-Control"] = "public, max-age=31536000, immutable" if kept else "no-cache"
        if name == "reader.css":  # the sandboxed document that uses it has an opaque origin
            response.headers["Cross-Origin-Resource-Policy"] = "cross-origin"
        return response


STATIC = GZipMiddleware(Static(packages=[("lycosa_server", "static")]), minimum_size=1_000)


def favicon() -> Response:
    """Serve the icon at the path that browsers request for documents without a link to one, such as feeds."""
    return FileResponse(Path(__file__).with_name("static") / "favicon.svg")


PAGES: dict[str, Callable[..., Response]] = {
    "/": restricted_page("interests"),
    "/favicon.ico": favicon,
    SIGN_IN: sign_in,
    "/join": open_page("join"),
    "/privacy": open_page("privacy"),
    "/interests/new": restricted_page("interest_form", "write", interest="", name="", mode="own", tab=""),
    "/interests/{interest}/edit": restricted_page("interest_form", "write", "edit"),
    "/interests/{interest}": restricted_page("interest", "read", "read"),
    "/interests/{interest}/{tab}": restricted_page("interest", "read", "read"),
    "/models": restricted_page("models", classifiers={kind: loaded.name for kind, loaded in KINDS.items()}),
    "/account": restricted_page("account", "account"),
    "/admin": restricted_page("admin", "admin"),
}


async def handle_http_error(request: Request, error: Exception) -> Response:
    assert isinstance(error, StarletteHTTPException)
    return error_page(request, error.status_code) or await http_exception_handler(request, error)


def error_page(request: Request, status: int) -> Response | None:
    if "text/html" not in request.headers.get("accept", "") or request.url.path.startswith("/api/"):
        return None
    title, text = {
        403: ("No access", "You do not have access to this page. An administrator of this server can change that."),
        404: ("Nothing here", "This page does not exist, or it is not shared with you."),
        405: ("Nothing here", "This page does not exist, or it is not shared with you."),
        503: ("One moment", "The database is not available right now. Try again in a few seconds."),
    }.get(status, ("Something went wrong", "The server could not complete the request."))
    return render(request, "error", status, status=status, title=title, text=text)


def caller_or_none(request: Request) -> Caller | None:
    with suppress(HTTPException, DatabaseUnavailable):
        return identify(request)
    return None


def theme_of(person: Caller | None) -> str:
    chosen = preferences(person.site.database, person.id).get("theme") if person else None
    return chosen if chosen in ("system", "light", "dark") else "system"


def local_path(path: str) -> str:
    """Return a path of this site unchanged, or / if it could lead elsewhere.

    >>> [local_path(path) for path in ("/account", "//evil.test", "/\\\\evil.test", "https://evil.test", "")]
    ['/account', '/', '/', '/', '/']
    """
    safe = path.startswith("/") and not path.startswith("//") and "\\" not in path and path.isprintable()
    return path if safe and not path.startswith((SIGN_IN, "/api/", "/static/")) else "/"
