"""Tests of chart data."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from lycosa.collection.report.figures import BINS, harvest_chart, pages_over_time, relevance_histogram
from lycosa.drawing.figure import Histogram


def flags(text: str) -> np.ndarray[tuple[int], np.dtype[np.bool_]]:
    return np.array([letter == "x" for letter in text])


def counts(chart: Histogram, kind: str) -> Any:
    """Return the counts of a kind in each bin."""
    found = [curve.y for curve in chart.curves if curve.label.startswith(kind)]
    return np.sum(found, 0) if found else np.zeros(0)


def test_harvest_chart_counts_relevant_pages() -> None:
    found = harvest_chart(flags("x-xx"), np.array([1, 0, 0, 2]))
    assert found is not None
    crawl, by_depth, _ = found.figure.curves
    assert [0, 1, 2, 3, 4] == crawl.x == by_depth.x
    assert [0, 1, 1, 2, 3] == crawl.y
    assert [0, 0, 1, 2, 3] == by_depth.y
    assert (1, 1, 0) == found.quarter


def test_harvest_chart_marks_half_of_relevant_pages() -> None:
    found = harvest_chart(flags("xx--x-"), np.array([2, 2, 1, 1, 2, 0]))
    assert found is not None
    assert (2, 5) == (found.half, found.half_by_depth)


def test_harvest_chart_is_sampled() -> None:
    hits = np.ones(1_000_003, np.bool_)
    found = harvest_chart(hits, np.zeros(len(hits)))
    assert found is not None
    crawl = found.figure.curves[0]
    assert 400 == len(crawl.x)
    assert (1_000_003, 1_000_003) == (crawl.x[-1], crawl.y[-1])


def test_harvest_chart_without_pages_is_empty() -> None:
    assert harvest_chart(flags(""), np.zeros(0)) is None
    flat = harvest_chart(flags("--"), np.zeros(2))
    assert flat is not None
    assert [0, 0, 0] == flat.figure.curves[0].y


@pytest.mark.parametrize("threshold", [0.1, 0.3, 0.025, 1e-9, 0.0, 2.0])
def test_relevance_histogram_has_edge_at_threshold(threshold: float) -> None:
    relevances = np.array([0.0, 0.02, threshold / 2, threshold, 0.3, 0.3, 0.61, 0.99], np.float64)
    found = relevance_histogram(relevances, np.zeros(len(relevances), np.bool_), threshold)
    assert found is not None
    if threshold != 1e-9:  # too small for a bin edge of its own
        assert int(((relevances >= threshold) & (relevances > 0)).sum()) == counts(found, "relevant").sum()
    assert int((relevances > 0).sum()) == counts(found, "").sum()
    assert len(found.curves[0].y) <= 2 * BINS
    assert [at for at, _ in found.marks] == ([threshold] if threshold > 1e-6 else [])


def test_relevance_histogram_counts_copies() -> None:
    found = relevance_histogram(np.array([0.5, 0.5, 0.5], np.float64), flags("x--"), 0.1)
    assert found is not None
    assert (3, 1) == (counts(found, "").sum(), counts(found, "copies").sum())


def test_relevance_histogram_without_relevances_is_empty() -> None:
    assert relevance_histogram(np.zeros(3, np.float64), flags("---"), 0.1) is None
    found = relevance_histogram(np.array([-1.0, 0.5], np.float64), flags("--"), 0.1)
    assert found is not None
    assert 2 == counts(found, "").sum()


def test_pages_over_time_skips_gaps_between_runs() -> None:
    found = pages_over_time(np.array([1.0, 10.0, 1000.0, 1010.0]), flags("x--x"), [(0.0, 10.0), (1000.0, 1010.0)])
    assert found is not None
    assert 20 == found.high
    assert [(10.0, "")] == found.marks
    pages = counts(found, "")
    assert (4, 1, 2) == (pages.sum(), pages[2], pages[BINS // 2])
    assert [2, BINS - 1] == np.flatnonzero(counts(found, "relevant")).tolist()


def test_pages_over_time_without_times_is_empty() -> None:
    assert pages_over_time(np.zeros(3), flags("---"), []) is None
    assert pages_over_time(np.zeros(3), flags("---"), [(5.0, 9.0)]) is None
