"""The FastAPI application of the web process."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from functools import cache
from typing import Any

from fastapi import APIRouter, FastAPI, Request, Response
from fastapi.exceptions import RequestValidationError
from pydantic import ValidationError
from starlette.exceptions import HTTPException as StarletteHTTPException
from starlette.routing import BaseRoute
from uvicorn.middleware.proxy_headers import ProxyHeadersMiddleware

from lycosa.core.errors import InputError, LockedError, LycosaError, StoreError
from lycosa.version import __version__
from lycosa_server.api import routers
from lycosa_server.guards import ServerContext
from lycosa_server.logs import log
from lycosa_server.middleware import Metrics, ServerMiddleware
from lycosa_server.pages import PAGES, STATIC, error_page
from lycosa_server.pages import handle_http_error as explain_as_page
from lycosa_server.people import catalogue
from lycosa_server.people.credentials import Passwords, TooManySignIns
from lycosa_server.people.database import Conflict, Database, DatabaseUnavailable, DiskFull
from lycosa_server.people.limits import TooManyAttempts
from lycosa_server.people.migrating import migrate
from lycosa_server.people.permissions import Forbidden, NotFound
from lycosa_server.settings import Settings, hide_data_directory

PREFIX = "/api/v1"
ERROR_RESPONSES: dict[int | str, dict[str, Any]] = {
    401: {"description": "The name or the password is wrong"},
    403: {"description": "Not signed in, or not allowed"},
    404: {"description": "Not found, or not yours"},
    409: {"description": "It is there already, in use, or not in the state for it"},
    413: {"description": "The file is too large"},
    429: {"description": "Too many attempts, exports or streams: the header Retry-After says how long to wait"},
}


def create_app(
    settings: Settings,
    database: Database | None = None,
    *,
    clock: Callable[[], float] = time.time,
    passwords: Passwords | None = None,
    wake: Callable[[], None] = lambda: None,
) -> FastAPI:
    """Migrate the database and build the application; `wake` is called after requests that may change crawls."""
    settings.check()
    database = database or Database(settings.database_address)
    migrate(database)
    catalogue.fill(database, clock())
    app = FastAPI(
        title="Lycosa",
        version=__version__,
        openapi_url=f"{PREFIX}/openapi.json",
        docs_url=None,  # the interactive docs load scripts from a CDN
        redoc_url=None,
        redirect_slashes=False,  # redirects would use the host in the request, and http
    )
    app.state.site = ServerContext(settings, database, clock, passwords or Passwords())
    app.router.routes.extend(_routes())
    app.state.metrics = Metrics()
    app.add_middleware(ServerMiddleware, settings=settings, metrics=app.state.metrics, prefix=PREFIX, wake=wake)
    # added last, so it runs before all other middleware
    app.add_middleware(ProxyHeadersMiddleware, trusted_hosts=settings.proxies)
    app.add_exception_handler(StarletteHTTPException, explain_as_page)
    app.add_exception_handler(LycosaError, _handle_error)
    app.add_exception_handler(OSError, _handle_error)
    app.add_exception_handler(RequestValidationError, _handle_invalid_request)
    app.add_exception_handler(ValidationError, _handle_invalid_request)
    app.add_exception_handler(UnicodeEncodeError, _handle_lone_surrogate)
    return app


@cache
def _routes() -> tuple[BaseRoute, ...]:
    api = APIRouter(prefix=PREFIX, responses=ERROR_RESPONSES)
    for router in routers():
        api.include_router(router)
    whole = FastAPI(openapi_url=None)
    whole.include_router(api)
    for path, handler in PAGES.items():
        whole.add_api_route(path, handler, methods=["GET", "HEAD"], include_in_schema=False, response_model=None)
    whole.mount("/static", STATIC)
    return tuple(whole.routes)


# Errors whose own text is only logged: log event, HTTP status, and the message for the client.
INTERNAL_ERRORS: dict[type[Exception], tuple[str, int, str]] = {
    DatabaseUnavailable: ("database away", 503, "the database does not respond: try again in a moment"),
    DiskFull: ("no room", 507, "the server's disk is full, and nothing was changed: contact the administrator"),
    LockedError: ("log in use", 503, "the crawl's log is in use: try again in a moment"),
    StoreError: ("store failed", 503, "this can't be read now: contact the administrator"),
    OSError: ("files failed", 503, "this can't be read or written now: contact the administrator"),
}
STATUSES = {TooManySignIns: 503, TooManyAttempts: 429, NotFound: 404, Forbidden: 403, Conflict: 409, InputError: 422}


async def _handle_error(request: Request, error: Exception) -> Response:
    for kind, (event, status, text) in INTERNAL_ERRORS.items():
        if isinstance(error, kind):
            log(event, "warning" if kind is DatabaseUnavailable else "error", why=str(error))
            headers = {"Retry-After": "2"} if status == 503 else None
            return error_page(request, status) or _json_response(status, text, headers)
    status = next((status for kind, status in STATUSES.items() if isinstance(error, kind)), 500)
    wait = {503: "2", 429: str(getattr(error, "wait", ""))}.get(status)
    settings: Settings = request.app.state.site.settings
    text = hide_data_directory(settings, str(error))
    return error_page(request, status) or _json_response(status, text, {"Retry-After": wait} if wait else None)


async def _handle_invalid_request(request: Request, error: Exception) -> Response:
    """Report validation errors without repeating the input: it may be a password, or text that JSON cannot encode."""
    assert isinstance(error, RequestValidationError | ValidationError)
    return _json_response(422, [{key: one[key] for key in ("type", "loc", "msg")} for one in error.errors()])


async def _handle_lone_surrogate(request: Request, error: Exception) -> Response:
    return _json_response(422, "the text contains an invalid character: leave it out")


def _json_response(status: int, detail: Any, headers: dict[str, str] | None = None) -> Response:
    """Return a JSON response in pure ASCII, so that any message can be encoded."""
    return Response(json.dumps({"detail": detail}), status, headers, "application/json")
