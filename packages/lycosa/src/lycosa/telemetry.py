"""OpenTelemetry spans of a crawl: one per page, with a child span for each of the six steps.

    from lycosa.telemetry import traced

    for visit in traced(lycosa.crawl("coral reefs", seeds)):
        ...

Spans go to the given tracer provider, or to the global one.
"""

from __future__ import annotations

import math
import time
from typing import Any

from lycosa.core.engine import StepTracer
from lycosa.core.errors import InputError
from lycosa.crawling import Crawl
from lycosa.version import __version__

try:
    from opentelemetry import trace
    from opentelemetry.trace import Span, SpanKind, Status, StatusCode, TracerProvider
except ImportError as error:
    raise InputError("missing-extra", "tracing needs OpenTelemetry: pip install 'lycosa[telemetry]'") from error

MAX_OPEN_SPANS = 10_000  # spans of pages that were picked and are not recorded yet


def traced(crawl: Crawl, provider: TracerProvider | None = None) -> Crawl:
    """Trace a crawl and return it; call this before the crawl starts."""
    crawl.request.steps = Spans(provider)
    return crawl


class Spans(StepTracer):
    """Step observer that creates `lycosa.page` spans with a child span for each step, such as `lycosa.judge`."""

    def __init__(self, provider: TracerProvider | None = None) -> None:
        self.tracer = trace.get_tracer("lycosa", __version__, provider)
        self._open: dict[str, Span] = {}
        self._judged = ""  # page between steps 3 and 6; `learn` and `rank` of other pages belong to a replay

    def now(self) -> int:
        return time.time_ns()

    def done(self, step: str, node: str, began: int, **facts: str | int | float) -> None:
        """Add the span of one step: the first step of a page starts the page's span, `record` ends it."""
        if step in ("learn", "rank") and node != self._judged:
            return
        ended = int(facts.pop("ended", 0)) or time.time_ns()
        began = min(began or ended, ended)  # custom spaces may omit the start time
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
        if len(self._open) >= MAX_OPEN_SPANS:  # left over from an interrupted run
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
