"""ASGI middleware for every request: security checks and headers, metrics, access log."""

from __future__ import annotations

import asyncio
import secrets
import time
from collections.abc import Callable
from typing import Any
from urllib.parse import urlsplit

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, disable_created_metrics
from starlette.datastructures import Headers, MutableHeaders
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from lycosa.core.errors import LycosaError
from lycosa_server.guards import SAFE, identify
from lycosa_server.logs import log
from lycosa_server.settings import Settings

MAX_BODY_BYTES = 1_000_000  # bytes of a request body
CSP = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; "
    "frame-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
)
# Default headers; a route may set its own.
HEADERS = {
    "Content-Security-Policy": CSP,
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Permissions-Policy": "camera=(), geolocation=(), microphone=(), payment=(), usb=()",
}
disable_created_metrics()  # type: ignore[no-untyped-call]  # when a counter began says nothing here


class Metrics:
    def __init__(self) -> None:
        self.registry = CollectorRegistry()
        labels = ["method", "route"]
        self.requests = Counter("lycosa_requests", "Completed requests.", [*labels, "status"], registry=self.registry)
        self.in_flight = Gauge("lycosa_requests_in_flight", "Requests in flight.", registry=self.registry)
        buckets = (0.005, 0.01, 0.025, 0.05, 0.1, 0.2, 0.5, 1.0, 2.5, 10.0)
        how: dict[str, Any] = {"registry": self.registry, "buckets": buckets}
        self.seconds = Histogram("lycosa_request_seconds", "Request durations.", labels, **how)

    def end(self, method: str, route: str, status: int, seconds: float) -> None:
        self.in_flight.dec()
        self.requests.labels(method, route, str(status)).inc()
        self.seconds.labels(method, route).observe(seconds)


class ServerMiddleware:
    """Middleware that checks each request, adds headers to each response, and logs both."""

    def __init__(
        self,
        app: ASGIApp,
        settings: Settings,
        metrics: Metrics | None = None,
        prefix: str = "",
        wake: Callable[[], None] = lambda: None,
    ) -> None:
        self.app = app
        self.settings = settings
        self.metrics = metrics or Metrics()
        self.prefix = prefix
        self.wake = wake
        parts = urlsplit(settings.url.lower())
        standard = {"https": ":443", "http": ":80"}.get(parts.scheme, "")
        self.host = parts.netloc.removesuffix(standard) if standard else parts.netloc
        self.origin = f"{parts.scheme}://{self.host}"

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        request, began, status = secrets.token_hex(6), time.perf_counter(), 0
        exchange = scope["lycosa"] = {"begun": False, "cookie": ""}
        scope.setdefault("state", {})

        async def send_response(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status, exchange["begun"] = message["status"], True
                self._add_headers(scope, message, exchange)
                MutableHeaders(scope=message)["X-Request-Id"] = request
            await send(message)

        self.metrics.in_flight.inc()
        try:
            max_bytes = await _max_body_bytes(scope)
            if refused := self._refusal(scope, Headers(scope=scope), max_bytes):
                await JSONResponse({"detail": refused[1]}, refused[0])(scope, receive, send_response)
                return
            await self.app(scope, _limit_body(receive, max_bytes), send_response)
        except Exception:
            if not status:
                message = f"internal error: see request {request} in the server's log"
                await JSONResponse({"detail": message}, 500)(scope, receive, send_response)
            raise  # so that uvicorn logs it
        finally:
            status = status or 500
            seconds, route = time.perf_counter() - began, self._route(scope)
            method = scope["method"] if len(scope["method"]) <= 7 else "OTHER"
            self.metrics.end(method, route, status, seconds)
            if method not in SAFE and status < 400:
                self.wake()
            level, ms = "error" if status >= 500 else "info", round(1000 * seconds, 1)
            person = scope["state"].get("person", "")
            log("request", level, request=request, method=method, route=route, status=status, ms=ms, person=person)

    def _refusal(self, scope: Scope, headers: Headers, max_bytes: int) -> tuple[int, str] | None:
        if "\0" in scope["path"] or b"%00" in scope.get("query_string", b"") or b"\0" in scope.get("query_string", b""):
            return 422, "the URL contains a NUL character: remove it"
        host = headers.get("host", "").lower()
        # browsers never add this header themselves
        has_token = headers.get("authorization", "").lower().startswith("bearer ")
        origins = (self.origin,) if self.settings.url else (f"http://{host}", f"https://{host}")
        # health checks may not use the public host name
        if self.settings.url and host != self.host and not has_token and scope["path"] != "/api/v1/health":
            return 421, f"this server's address is {self.settings.base}: use that one"
        if scope["method"] not in SAFE and not has_token:
            site = headers.get("sec-fetch-site", "same-origin")
            if site not in ("same-origin", "none") or headers.get("origin", origins[0]) not in origins:
                return 403, "the request came from another site"
        length = headers.get("content-length", "0")
        if not length.isdecimal():
            return 400, "the header Content-Length is not a number"
        if int(length) > max_bytes:
            return 413, _too_large(max_bytes)
        return None

    def _add_headers(self, scope: Scope, message: Message, exchange: dict[str, Any]) -> None:
        headers = MutableHeaders(scope=message)
        if "content-security-policy" not in headers:
            headers["X-Frame-Options"] = "DENY"  # only a route with a policy of its own may allow framing
        for name, value in HEADERS.items():
            headers.setdefault(name, value)
        if scope["path"].startswith("/api/"):
            headers.setdefault("Cache-Control", "no-store")
        if self.settings.secure:
            headers.setdefault("Strict-Transport-Security", "max-age=31536000")
        if exchange["cookie"]:
            headers.append("Set-Cookie", exchange["cookie"])

    def _route(self, scope: Any) -> str:
        route: str | None = getattr(scope.get("route"), "path", None)
        if not route:
            return "unknown"  # one label for all unknown paths keeps the metrics bounded
        inside = scope["path"].startswith(f"{self.prefix}/") and not route.startswith(f"{self.prefix}/")
        return f"{self.prefix}{route}" if inside else route


async def _max_body_bytes(scope: Scope) -> int:
    """Return the maximum body size. Forms are parsed before guards run, so large ones require a valid session."""
    path = scope["path"]
    if scope["method"] in SAFE or not path.endswith(("/models", "/imports")):
        return MAX_BODY_BYTES
    try:
        await asyncio.to_thread(identify, Request(scope))
    except (HTTPException, LycosaError):  # the route reports the error
        return MAX_BODY_BYTES
    return 65_000_000 if path.endswith("/models") else 6_000_000


def _too_large(max_bytes: int) -> str:
    return f"the request is larger than {max_bytes // 1_000_000} MB: send less at once"


def _limit_body(receive: Receive, max_bytes: int) -> Receive:
    received = 0

    async def limited_receive() -> Message:
        nonlocal received
        message = await receive()
        received += len(message.get("body", b""))
        if received > max_bytes:
            raise HTTPException(413, _too_large(max_bytes))
        return message

    return limited_receive
