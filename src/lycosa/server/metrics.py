"""Every request leaves a line in the log and a mark in the metrics, which Prometheus reads in its text form.

lycosa_requests_total{method="GET",route="/api/v1/interests",status="200"} 12.0
"""

from __future__ import annotations

import secrets
import time
from collections.abc import Iterable, Mapping
from typing import Any

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, disable_created_metrics, generate_latest
from prometheus_client.core import GaugeMetricFamily
from prometheus_client.registry import Collector

from lycosa.server.logs import log

BOUNDS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.2, 0.5, 1.0, 2.5, 10.0)
"""Seconds: the edges of the histogram."""

UNKNOWN = "unknown"
"""The route of what is none: whatever strangers ask for, the metrics don't grow."""

disable_created_metrics()  # type: ignore[no-untyped-call]  # when a counter began says nothing here


class Metrics:
    """Requests by route and status, how long they took, and how many are under way. Safe from any thread."""

    def __init__(self) -> None:
        self.registry = CollectorRegistry()
        which = ["method", "route"]
        self.requests = Counter(
            "lycosa_requests", "Requests that were answered.", [*which, "status"], registry=self.registry
        )
        self.in_flight = Gauge("lycosa_requests_in_flight", "Requests under way.", registry=self.registry)
        self.seconds = Histogram(
            "lycosa_request_seconds", "How long requests took.", which, buckets=BOUNDS, registry=self.registry
        )

    def end(self, method: str, route: str, status: int, seconds: float) -> None:
        self.in_flight.dec()
        self.requests.labels(method, route, str(status)).inc()
        self.seconds.labels(method, route).observe(seconds)

    def text(self, *others: GaugeMetricFamily) -> bytes:
        """All of it, and other gauges beside it."""
        return generate_latest(self.registry) + generate_latest(_Families(others))


class _Families(Collector):
    def __init__(self, families: Iterable[GaugeMetricFamily]) -> None:
        self._families = families

    def collect(self) -> Iterable[GaugeMetricFamily]:
        return self._families


def gauge(name: str, meaning: str, samples: Iterable[tuple[Mapping[str, str], float]]) -> GaugeMetricFamily:
    """One gauge with its samples: each has labels and a value.

    >>> gauge("as", "As.", [({"of": "x"}, 2)]).samples[0].labels
    {'of': 'x'}
    """
    family = GaugeMetricFamily(name, meaning)
    for labels, value in samples:
        family.add_sample(name, dict(labels), value)
    return family


class AccessLog:
    """Around the whole application, as plain ASGI, so that live streams stay streams. Answers have the line's id."""

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

        self.metrics.in_flight.inc()
        try:
            await self.app(scope, receive, answer)
        finally:
            seconds = time.perf_counter() - began
            route = self._route(scope)
            method = scope["method"] if len(scope["method"]) <= 7 else "OTHER"
            self.metrics.end(method, route, status, seconds)
            log(
                "request",
                "error" if status >= 500 else "info",
                request=request,
                method=method,
                route=route,
                status=status,
                ms=round(1000 * seconds, 1),
                person=scope["state"].get("person", ""),
            )

    def _route(self, scope: Any) -> str:
        """The route as it is written in the code; of an API's route FastAPI may tell only what follows the prefix."""
        route: str = getattr(scope.get("route"), "path", None) or UNKNOWN
        inside = scope["path"].startswith(f"{self.prefix}/") and not route.startswith(f"{self.prefix}/")
        return f"{self.prefix}{route}" if inside and route != UNKNOWN else route
