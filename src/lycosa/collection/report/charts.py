"""The numbers behind the report's charts: how finds came in, pages by score and by time, changes over time."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from lycosa.collection.view import sampled
from lycosa.drawing.figure import Curve, Figure, Histogram, Tick, dates, histogram, ticks, times

POINTS = 400
"""Points of a curve at most: more than a screen has room for."""

BINS = 40


@dataclass(slots=True)
class HarvestChart:
    """Finds among the first n pages: as they were fetched, breadth first, and at best."""

    figure: Figure
    x_ticks: list[Tick]
    y_ticks: list[Tick]
    half: int
    """Pages it took to have half of the finds."""
    half_breadth: int
    """The same, breadth first."""
    quarter: tuple[int, int, int]
    """A quarter of the pages, and the finds among them: as fetched, and breadth first."""


def harvest(relevant: NDArray[np.bool_], breadth: NDArray[np.bool_]) -> HarvestChart | None:
    """The harvest of pages in two orders; None without pages."""
    count = len(relevant)
    if not count:
        return None
    actual, other = np.cumsum(relevant), np.cumsum(breadth)
    total = int(actual[-1])
    at = sampled(count, POINTS)
    quarter = max(1, count // 4)
    curves = [
        Curve("this crawl", at.tolist(), [0, *actual[at[1:] - 1].tolist()]),
        Curve("the same pages, breadth-first", at.tolist(), [0, *other[at[1:] - 1].tolist()]),
        Curve("every relevant page first", [0, total, count], [0, max(1, total), max(1, total)]),
    ]
    return HarvestChart(
        Figure("harvest", "Harvest", "pages fetched", "relevant pages", curves),
        ticks(count, 6),
        ticks(max(1, total), 5),
        int(np.searchsorted(actual, (total + 1) // 2)) + 1,
        int(np.searchsorted(other, (total + 1) // 2)) + 1,
        (quarter, int(actual[quarter - 1]), int(other[quarter - 1])),
    )


def scores(betas: NDArray[np.float64], copies: NDArray[np.bool_], threshold: float) -> Histogram | None:
    """Pages by score, in bars that meet at the threshold; pages that score 0 are left out. None if there is nothing."""
    betas, copies = betas[betas != 0], copies[betas != 0]
    if not len(betas):
        return None
    low, high = min(0.0, float(betas.min())), max(float(betas.max()), threshold)
    width = (high - low) / BINS or 1.0
    below = round((threshold - low) / width)
    if below > 0:  # so wide that a whole number of bars lies below the threshold
        width = (threshold - low) / below
    bins = int((high - low) / width) + 1
    # A score of exactly the threshold lies above it, whatever rounding says.
    number = np.clip(np.floor((betas - low) / width + 1e-6), 0, bins - 1).astype(int)
    counts, parts = np.bincount(number, minlength=bins), np.bincount(number[copies], minlength=bins)
    span = bins * width
    across = [Tick((tick.at * (low + span) - low) / span, tick.label) for tick in ticks(low + span, 6)]
    strong = low + (np.arange(bins) + 0.5) * width >= threshold
    kinds = {"copy": parts, "weak": np.where(strong, 0, counts - parts), "strong": np.where(strong, counts - parts, 0)}
    chart = histogram(kinds, low, low + span, [tick for tick in across if 0 <= tick.at <= 1])
    chart.mark = (threshold - low) / span if threshold > low else -1.0
    return chart


def pace(at: NDArray[np.float64], relevant: NDArray[np.bool_], runs: list[tuple[float, float]]) -> Histogram | None:
    """Pages by the time at which they came, without the time between runs; None if nothing is known of time."""
    length = sum(end - start for start, end in runs)
    known = at > 0
    if length <= 0 or not known.any():
        return None
    at, relevant = at[known], relevant[known]
    offset, breaks, before = np.zeros(len(at)), [], 0.0
    for start, end in runs:
        offset[at >= start] = before + np.minimum(at[at >= start], end) - start
        before += end - start
        breaks.append(before / length)
    number = np.clip((offset / length * BINS).astype(int), 0, BINS - 1)
    counts, finds = np.bincount(number, minlength=BINS), np.bincount(number[relevant], minlength=BINS)
    chart = histogram({"strong": finds, "weak": counts - finds}, 0.0, length, times(length), 3)
    chart.breaks = breaks[:-1][:20]
    return chart


def stacked(
    times: NDArray[np.float64], sorts: NDArray[np.int64], kinds: Sequence[str], start: float, end: float
) -> Histogram | None:
    """Things of some kinds by when they were seen; None if there are none, or all were seen within the hour.

    >>> chart = stacked(np.array([0.0, 3600.0]), np.array([0, 1]), ["text", "link"], 0.0, 7200.0)
    >>> chart.top, [bar.parts for bar in chart.bars if bar.count]
    (1, [[('text', 0.0, 1.0)], [('link', 0.0, 1.0)]])
    """
    span = end - start
    if span < 3600 or not len(times):
        return None
    number = np.clip(((times - start) / span * BINS).astype(int), 0, BINS - 1)
    counts = {kind: np.bincount(number[sorts == sort], minlength=BINS) for sort, kind in enumerate(kinds)}
    return histogram(counts, start, end, dates(start, end))
