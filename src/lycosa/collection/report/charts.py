"""The numbers behind the charts: sampled curves, bars, round ticks. Positions are shares of the chart, 0 to 1."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from datetime import UTC, datetime

import numpy as np
from numpy.typing import NDArray

from lycosa.collection.view import sampled

POINTS = 400
"""Points of a curve at most: more than a screen has room for."""

BINS = 40

_STEPS = [hours * 3600 for hours in (1, 3, 6, 12)] + [days * 86_400 for days in (1, 2, 7, 14, 28, 91, 182, 364)]


@dataclass(slots=True)
class Tick:
    """A labelled place on an axis."""

    at: float
    label: str


@dataclass(slots=True)
class Curve:
    """Finds among the first n pages: as they were fetched, breadth first, and at best."""

    pages: list[int]
    found: list[int]
    breadth: list[int]
    x_ticks: list[Tick]
    y_ticks: list[Tick]
    half: int
    """Pages it took to have half of the finds."""
    half_breadth: int
    """The same, breadth first."""
    quarter: tuple[int, int, int]
    """A quarter of the pages, and the finds among them: as fetched, and breadth first."""

    def points(self, values: list[int]) -> str:
        """A line for SVG, in a square of 1,000 by 1,000."""
        across, up = self.pages[-1], max(1, self.found[-1])
        return " ".join(
            f"{1000 * x / across:.4g},{1000 - 1000 * y / up:.4g}" for x, y in zip(self.pages, values, strict=True)
        )

    @property
    def ideal(self) -> str:
        """The line of a crawl that fetches every find first."""
        across, up = self.pages[-1], self.found[-1]
        return f"0,1000 {1000 * up / across:.4g},0 1000,0"


@dataclass(slots=True)
class Bar:
    """A bar from left to right of so much height; `part` is the share of it that is set apart."""

    left: float
    right: float
    low: float
    high: float
    count: int
    part: int = 0
    strong: bool = False


@dataclass(slots=True)
class Bars:
    """A histogram."""

    bars: list[Bar]
    top: int
    x_ticks: list[Tick]
    y_ticks: list[Tick]
    mark: float = -1.0
    """Where a line is drawn across, if anywhere."""
    breaks: list[float] = field(default_factory=list)


@dataclass(slots=True)
class Stack:
    """A bar of parts on top of each other: for each that there is, which part, from where, how high."""

    left: float
    right: float
    start: float
    end: float
    count: int
    parts: list[tuple[int, float, float]]


@dataclass(slots=True)
class Stacks:
    """A histogram of several kinds of things over calendar time."""

    bars: list[Stack]
    top: int
    x_ticks: list[Tick]
    y_ticks: list[Tick]


def curve(found: NDArray[np.bool_], breadth: NDArray[np.bool_]) -> Curve | None:
    """The harvest of pages in two orders; None without pages."""
    count = len(found)
    if not count:
        return None
    actual, other = np.cumsum(found), np.cumsum(breadth)
    total = int(actual[-1])
    at = sampled(count, POINTS)
    quarter = max(1, count // 4)
    return Curve(
        at.tolist(),
        [0, *actual[at[1:] - 1].tolist()],
        [0, *other[at[1:] - 1].tolist()],
        ticks(count, 6),
        ticks(max(1, total), 5),
        int(np.searchsorted(actual, (total + 1) // 2)) + 1,
        int(np.searchsorted(other, (total + 1) // 2)) + 1,
        (quarter, int(actual[quarter - 1]), int(other[quarter - 1])),
    )


def scores(betas: NDArray[np.float64], copies: NDArray[np.bool_], threshold: float) -> Bars | None:
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
    bars = [
        Bar(
            i / bins,
            (i + 1) / bins,
            low + i * width,
            low + (i + 1) * width,
            int(counts[i]),
            int(parts[i]),
            low + (i + 0.5) * width >= threshold,
        )
        for i in range(bins)
    ]
    across = [Tick((tick.at * (low + span) - low) / span, tick.label) for tick in ticks(low + span, 6)]
    top = int(counts.max())
    return Bars(
        bars,
        top,
        [tick for tick in across if 0 <= tick.at <= 1],
        ticks(top, 4),
        mark=(threshold - low) / span if threshold > low else -1.0,
    )


def pace(times: NDArray[np.float64], found: NDArray[np.bool_], runs: list[tuple[float, float]]) -> Bars | None:
    """Pages by the time at which they came, without the time between runs; None if nothing is known of time."""
    length = sum(end - start for start, end in runs)
    known = times > 0
    if length <= 0 or not known.any():
        return None
    times, found = times[known], found[known]
    offset, breaks, before = np.zeros(len(times)), [], 0.0
    for start, end in runs:
        offset[times >= start] = before + np.minimum(times[times >= start], end) - start
        before += end - start
        breaks.append(before / length)
    number = np.clip((offset / length * BINS).astype(int), 0, BINS - 1)
    counts, finds = np.bincount(number, minlength=BINS), np.bincount(number[found], minlength=BINS)
    bars = [
        Bar(i / BINS, (i + 1) / BINS, i * length / BINS, (i + 1) * length / BINS, int(counts[i]), int(finds[i]))
        for i in range(BINS)
    ]
    top = int(counts.max())
    return Bars(bars, top, _times(length), ticks(top, 3), breaks=breaks[:-1][:20])


def stacked(
    times: NDArray[np.float64], sorts: NDArray[np.int64], kinds: int, start: float, end: float
) -> Stacks | None:
    """Things of some kinds by when they were seen; None if there are none, or all were seen within the hour.

    >>> chart = stacked(np.array([0.0, 3600.0]), np.array([0, 1]), 2, 0.0, 7200.0)
    >>> chart.top, [bar.parts for bar in chart.bars if bar.count]
    (1, [[(0, 0.0, 1.0)], [(1, 0.0, 1.0)]])
    """
    span = end - start
    if span < 3600 or not len(times):
        return None
    number = np.clip(((times - start) / span * BINS).astype(int), 0, BINS - 1)
    counts = np.zeros((BINS, kinds), np.int64)
    np.add.at(counts, (number, sorts), 1)
    top = int(counts.sum(1).max())
    bars = []
    for i, row in enumerate(counts.tolist()):
        parts, foot = [], 0
        for kind, count in enumerate(row):
            if count:
                parts.append((kind, foot / top, count / top))
                foot += count
        edges = (start + i * span / BINS, start + (i + 1) * span / BINS)
        bars.append(Stack(i / BINS, (i + 1) / BINS, *edges, foot, parts))
    return Stacks(bars, top, dates(start, end), ticks(top, 4))


def dates(start: float, end: float, most: int = 6) -> list[Tick]:
    """Round times between two, as people name them.

    >>> [tick.label for tick in dates(0.0, 3 * 86400.0)]
    ['1 Jan', '2 Jan', '3 Jan', '4 Jan']
    >>> [tick.label for tick in dates(0.0, 3 * 3600.0)]
    ['00:00', '01:00', '02:00', '03:00']
    """
    short = end - start <= 36 * 3600
    step = next((s for s in _STEPS if (end - start) / s <= most and (short or s >= 86_400)), _STEPS[-1])
    shape = "%H:%M" if step < 86_400 else "%-d %b" if step < 91 * 86_400 else "%b %Y"
    first = math.ceil(start / step) * step
    return [
        Tick((at - start) / (end - start), datetime.fromtimestamp(at, UTC).strftime(shape))
        for at in range(int(first), int(end) + 1, step)
    ]


def ticks(top: float, most: int) -> list[Tick]:
    """Round numbers from 0 up to a top, about so many.

    >>> [tick.label for tick in ticks(300, 6)]
    ['0', '50', '100', '150', '200', '250', '300']
    >>> [tick.label for tick in ticks(0.61, 4)]
    ['0', '0.2', '0.4', '0.6']
    >>> [tick.label for tick in ticks(2, 5)]
    ['0', '1', '2']
    """
    step = _round_step(top / most, whole=isinstance(top, int))
    count = int(top / step + 1e-9)
    digits = max(0, -math.floor(math.log10(step) + 1e-9))
    form = f",.{digits}f" if 1e-6 < step < 1e9 else ".2g"
    return [Tick(i * step / top, f"{i * step:{form}}" if i else "0") for i in range(count + 1)]


def _round_step(least: float, whole: bool) -> float:
    """The next of 1, 2, 5, 10, ... and so on."""
    power = 10.0 ** math.floor(math.log10(least))
    step = next(power * nice for nice in (1, 2, 5, 10) if power * nice >= least * (1 - 1e-9))
    return max(1.0, step) if whole else step


def _times(length: float) -> list[Tick]:
    """Round times from 0 to a length in seconds."""
    unit, name = next(
        (size, name) for size, name in ((86400, "d"), (3600, "h"), (60, "min"), (1, "s")) if length >= size or size == 1
    )
    return [Tick(tick.at, f"{tick.label} {name}" if tick.at else "0") for tick in ticks(length / unit, 5)]
