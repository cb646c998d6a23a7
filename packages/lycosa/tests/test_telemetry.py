"""Tests of OpenTelemetry spans."""

from __future__ import annotations

from pathlib import Path

from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

import lycosa
from lycosa.telemetry import traced

GRAPH = {"a": ["b", "none"], "b": ["a", "c"], "c": []}
STEPS = ["pick", "visit", "judge", "learn", "rank", "record"]


def _tracing() -> tuple[TracerProvider, InMemorySpanExporter]:
    provider, exporter = TracerProvider(), InMemorySpanExporter()
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    return provider, exporter


def test_page_span_has_six_steps(tmp_path: Path) -> None:
    provider, exporter = _tracing()
    options = {"space": GRAPH.__getitem__, "strategy": "breadth-first", "concurrency": 1}
    crawl = lycosa.crawl(lambda page: 1.0, ["a"], out=tmp_path / "heard", budget=2, **options)  # type: ignore[arg-type]
    nodes = [visit.node for visit in traced(crawl, provider)]
    spans = exporter.get_finished_spans()
    pages = {span.context.span_id: span for span in spans if span.name == "lycosa.page"}
    assert [span.attributes["url.full"] for span in pages.values()] == nodes  # type: ignore[index]
    for number, page in pages.items():
        inside = [span for span in spans if span.parent is not None and span.parent.span_id == number]
        assert [span.name for span in inside] == [f"lycosa.{step}" for step in STEPS]
        assert all(page.start_time <= span.start_time <= span.end_time <= page.end_time for span in inside)  # type: ignore[operator]
        assert page.attributes["lycosa.outcome"] == ("ok" if page.attributes["url.full"] != "none" else "gone")  # type: ignore[index]
    silent = lycosa.crawl(lambda page: 1.0, ["a"], budget=2, **options)  # type: ignore[arg-type]
    assert [visit.node for visit in silent] == nodes
    again, exporter = _tracing()
    more = lycosa.resume(
        tmp_path / "heard",
        topic=lambda page: 1.0,
        space=GRAPH.__getitem__,
        budget=5,  # type: ignore[arg-type]
    )
    later = [visit.node for visit in traced(more, again)]
    urls = [span.attributes["url.full"] for span in exporter.get_finished_spans() if span.name == "lycosa.page"]  # type: ignore[index]
    assert later
    assert urls == later
    assert len(exporter.get_finished_spans()) == 7 * len(later)
