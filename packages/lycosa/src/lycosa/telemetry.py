"""Spans of a crawl for OpenTelemetry: one for each page, and in it one for each of the six steps.

    from lycosa.telemetry import traced

    for visit in traced(lycosa.crawl("coral reefs", seeds)):
        ...

Where the spans go is the business of OpenTelemetry: of the provider that is given, or of the one that the process has.
"""

from __future__ import annotations

import math
import time
from typing import Any

from lycosa.core.engine import Steps
from lycosa.core.errors import InputError
from lycosa.crawling import Crawl
from lycosa.version import __version__

try:
    from opentelemetry import trace
    from opentelemetry.trace import Span, SpanKind, Status, StatusCode, TracerProvider
except ImportError as error:
    raise InputError("spans are OpenTelemetry's: pip install 'lycosa[telemetry]'") from error

MOST_OPEN = 10_000  # pages that were picked and have not come yet, whose spans are kept


def traced(crawl: Crawl, provider: TracerProvider | None = None) -> Crawl:
    """The same crawl, whose steps are heard of; call it before the crawl begins."""
    crawl.request.steps = Spans(provider)
    return crawl


class Spans(Steps):
    """Turns steps into spans: `lycosa.page`, and in it `lycosa.pick`, `visit`, `judge`, `learn`, `rank`, `record`."""

    def __init__(self, provider: TracerProvider | None = None) -> None:
        self.tracer = trace.get_tracer("lycosa", __version__, provider)
        self._open: dict[str, Span] = {}
        self._judged = ""
        """The page that steps 4 and 5 are heard of now; of others they are a replay's."""

    def now(self) -> int:
        """The time of day."""
        return time.time_ns()

    def done(self, step: str, node: str, began: int, **facts: str | int | float) -> None:
        """One span more; the first opens that of the page, the last closes it."""
        if step in ("learn", "rank") and node != self._judged:
            return
        ended = int(facts.pop("ended", 0)) or time.time_ns()
        began = min(began or ended, ended)  # a space of one's own need not say when
        facts = {name: value for name, value in facts.items() if isinstance(value, str) or math.isfinite(value)}
        page = self._open.get(node)
        if page is None:
            page = self._begin(node, began)
        span = self.tracer.start_span(f"lycosa.{step}", trace.set_span_in_context(page), start_time=began)
        span.set_attributes({f"lycosa.{name}": value for name, value in facts.items()})
        span.end(ended)
        if step == "judge":
            self._judged = node
        elif step == "record":
            self._judged = ""
            self._end(self._open.pop(node), facts, ended)

    def _begin(self, node: str, began: int) -> Span:
        if len(self._open) >= MOST_OPEN:  # those of a run that was broken off
            self._open.pop(next(iter(self._open))).end()
        kind, about = SpanKind.CLIENT, {"url.full": node}
        page = self._open[node] = self.tracer.start_span("lycosa.page", kind=kind, attributes=about, start_time=began)
        return page

    def _end(self, page: Span, facts: dict[str, Any], ended: int) -> None:
        outcome = str(facts.get("outcome", "ok"))
        page.set_attributes({f"lycosa.{name}": value for name, value in facts.items()})
        if outcome not in ("ok", "unchanged", "redirect"):
            page.set_status(Status(StatusCode.ERROR, outcome))
        page.end(ended)
