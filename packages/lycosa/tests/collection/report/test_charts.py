"""The numbers behind the charts."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from lycosa.collection.report.figures import BINS, POINTS, harvest_chart, pages_over_time, relevance_histogram
from lycosa.drawing.figure import Histogram


def flags(text: str) -> np.ndarray[tuple[int], np.dtype[np.bool_]]:
    return np.array([letter == "x" for letter in text])


def counts(chart: Histogram, kind: str) -> Any:
    """How many things of a kind are in each bin."""
    found = [curve.y for curve in chart.curves if curve.label.startswith(kind)]
    return np.sum(found, 0) if found else np.zeros(0)


def test_the_curve_counts_finds() -> None:
    """Each point is the finds among the first n pages, in either order."""
    found = harvest_chart(flags("x-xx"), flags("--xx"))
    assert found is not None
    crawl, breadth, _ = found.figure.curves
    assert [0, 1, 2, 3, 4] == crawl.x == breadth.x
    assert [0, 1, 1, 2, 3] == crawl.y
    assert [0, 0, 0, 1, 2] == breadth.y
    assert (1, 1, 0) == found.quarter


def test_half_of_the_finds() -> None:
    """The pages that it took to have half of the finds, rounded up."""
    found = harvest_chart(flags("xx--x-"), flags("---xxx"))
    assert found is not None
    assert (2, 5) == (found.half, found.half_breadth)


def test_a_long_curve_is_sampled() -> None:
    """However many pages, the curve has so many points at most, the last page included."""
    hits = np.ones(1_000_003, np.bool_)
    found = harvest_chart(hits, hits)
    assert found is not None
    crawl = found.figure.curves[0]
    assert POINTS + 1 == len(crawl.x)
    assert (1_000_003, 1_000_003) == (crawl.x[-1], crawl.y[-1])


def test_no_pages_no_curve() -> None:
    """Without pages there is nothing to draw; without finds there is a flat line."""
    assert harvest_chart(flags(""), flags("")) is None
    flat = harvest_chart(flags("--"), flags("--"))
    assert flat is not None
    assert [0, 0, 0] == flat.figure.curves[0].y


@pytest.mark.parametrize("threshold", [0.1, 0.3, 0.025, 1e-9, 0.0, 2.0])
def test_bars_meet_at_the_threshold(threshold: float) -> None:
    """No bar holds finds and others: all counts on the strong side are scores at or above the threshold."""
    relevances = np.array([0.0, 0.02, threshold / 2, threshold, 0.3, 0.3, 0.61, 0.99], np.float64)
    found = relevance_histogram(relevances, np.zeros(len(relevances), np.bool_), threshold)
    assert found is not None
    if threshold != 1e-9:  # so small that one bar holds it and what lies around it
        assert int(((relevances >= threshold) & (relevances > 0)).sum()) == counts(found, "relevant").sum()
    assert int((relevances > 0).sum()) == counts(found, "").sum()
    assert len(found.curves[0].y) <= 2 * BINS
    assert [at for at, _ in found.marks] == ([threshold] if threshold > 1e-6 else [])


def test_copies_are_a_part_of_their_bar() -> None:
    """Pages that repeat others are counted in their bar, and apart."""
    found = relevance_histogram(np.array([0.5, 0.5, 0.5], np.float64), flags("x--"), 0.1)
    assert found is not None
    assert (3, 1) == (counts(found, "").sum(), counts(found, "copies").sum())


def test_scores_of_nothing() -> None:
    """Pages that all score 0 make no chart, negative scores do."""
    assert relevance_histogram(np.zeros(3, np.float64), flags("---"), 0.1) is None
    found = relevance_histogram(np.array([-1.0, 0.5], np.float64), flags("--"), 0.1)
    assert found is not None
    assert 2 == counts(found, "").sum()


def test_pace_leaves_out_the_time_between_runs() -> None:
    """Pages stand where they came in the time spent crawling; runs follow each other without a gap."""
    found = pages_over_time(np.array([1.0, 10.0, 1000.0, 1010.0]), flags("x--x"), [(0.0, 10.0), (1000.0, 1010.0)])
    assert found is not None
    assert 20 == found.high
    assert [(10.0, "")] == found.marks
    pages = counts(found, "")
    assert (4, 1, 2) == (pages.sum(), pages[2], pages[BINS // 2])
    assert [2, BINS - 1] == np.flatnonzero(counts(found, "relevant")).tolist()


def test_no_time_no_pace() -> None:
    """A space that knows no time has no pace."""
    assert pages_over_time(np.zeros(3), flags("---"), []) is None
    assert pages_over_time(np.zeros(3), flags("---"), [(5.0, 9.0)]) is None
