"""Every request leaves a line in the log and a mark in the metrics. Plain ASGI, so that live streams stay streams."""

from __future__ import annotations

import secrets
import time
from typing import Any

from lycosa.server.logs import log
from lycosa.server.metrics import Metrics

UNKNOWN = "unknown"
"""The route of what is none: whatever strangers ask for, the metrics don't grow."""


class Watching:
    """Around the whole application. Each line has the id that the answer has in its headers."""

    def __init__(self, app: Any, metrics: Metrics, prefix: str) -> None:
        self.app = app
        self.metrics = metrics
        self.prefix = prefix

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        """Pass it on, and note what became of it."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        request, began, status = secrets.token_hex(6), time.perf_counter(), 500
        scope.setdefault("state", {})["request"] = request

        async def answer(message: Any) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                message = {**message, "headers": [*message.get("headers", ()), (b"x-request-id", request.encode())]}
            await send(message)

        self.metrics.begin()
        try:
            await self.app(scope, receive, answer)
        finally:
            taken = time.perf_counter() - began
            route = self._route(scope)
            method = scope["method"] if len(scope["method"]) <= 7 else "OTHER"
            self.metrics.end(method, route, status, taken)
            log(
                "request",
                "error" if status >= 500 else "info",
                request=request,
                method=method,
                route=route,
                status=status,
                ms=round(1000 * taken, 1),
                person=scope["state"].get("person", ""),
            )

    def _route(self, scope: Any) -> str:
        """The route as it is written in the code; of an API's route FastAPI may tell only what follows the prefix."""
        route: str = getattr(scope.get("route"), "path", None) or UNKNOWN
        inside = scope["path"].startswith(f"{self.prefix}/") and not route.startswith(f"{self.prefix}/")
        return f"{self.prefix}{route}" if inside and route != UNKNOWN else route
