"""Figures as data: curves or bars over axes, histograms, ticks, and how curves look; and as block characters, for a
terminal. What else draws them is beside this."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass, field
from datetime import UTC, datetime

import numpy as np
from numpy.typing import NDArray

# Okabe and Ito's; yellow and black replaced by colours that show on white and on black
PALETTE = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#B8860B", "#56B4E9", "#737373")
STYLES = ("solid", "dash", "dot", "dashdot")  # plotly's names
_STEPS = [hours * 3600 for hours in (1, 3, 6, 12)] + [days * 86_400 for days in (1, 2, 7, 14, 28, 91, 182, 364)]


@dataclass
class Curve:
    """A line with its uncertainty: low and high are a confidence band, or empty."""

    label: str
    x: Sequence[float]
    y: Sequence[float]
    low: Sequence[float] = ()
    high: Sequence[float] = ()

    @property
    def banded(self) -> bool:
        """Whether it has a band, or its bars have whiskers."""
        return bool(len(self.low)) and len(self.low) == len(self.high) == len(self.y)


@dataclass
class Figure:
    """Curves over the same axes; with `bars` the y of each curve are bars over the labels in `ticks`."""

    key: str  # short and unique among figures shown together: for files and anchors
    title: str
    x_label: str
    y_label: str
    curves: Sequence[Curve]
    _: KW_ONLY
    log_x: bool = False
    log_y: bool = False
    bars: bool = False
    ticks: Sequence[str] = ()
    note: str = ""

    @property
    def labels(self) -> list[str]:
        """The labels under bars; where they are missing, the places."""
        first = self.curves[0].x if self.curves else ()
        return [str(tick) for tick in self.ticks] or [f"{x:g}" for x in first]

    @property
    def lines(self) -> list[str]:
        """Each curve as a line for SVG, in a square of 1,000 by 1,000 that the first one fills."""
        across, up = self.curves[0].x[-1], max(1, *self.curves[0].y)
        return [
            " ".join(f"{1000 * x / across:.4g},{1000 - 1000 * y / up:.4g}" for x, y in zip(line.x, line.y, strict=True))
            for line in self.curves
        ]


@dataclass(slots=True)
class Tick:
    """A labelled place on an axis, as a share of its length."""

    at: float
    label: str


@dataclass(slots=True)
class Bar:
    """One bin: where it lies on the axis (as shares, and as values), how much is in it, and of which kinds.

    Of each kind that is in it: the name, where its part begins and how high it is, as shares of the highest bar.
    """

    left: float
    right: float
    low: float
    high: float
    count: int
    parts: list[tuple[str, float, float]]


@dataclass(slots=True)
class Histogram:
    """Things in bins, each bar made of kinds of them on top of each other."""

    bars: list[Bar]
    top: int
    x_ticks: list[Tick]
    y_ticks: list[Tick]
    mark: float = -1.0  # where a line is drawn across; below 0: nowhere
    breaks: list[float] = field(default_factory=list)


def histogram(
    kinds: dict[str, NDArray[np.int64]], low: float, high: float, x_ticks: list[Tick], most: int = 4
) -> Histogram:
    """Bins of the same width between two values: of each kind how many things are in each, the lowest part first.

    >>> chart = histogram({"old": np.array([1, 0]), "new": np.array([1, 4])}, 0.0, 10.0, [])
    >>> chart.top, chart.bars[0].parts, chart.bars[1].parts, chart.bars[1].low
    (4, [('old', 0.0, 0.25), ('new', 0.25, 0.25)], [('new', 0.0, 1.0)], 5.0)
    """
    counts = np.array(list(kinds.values()))
    bins, top = counts.shape[1], int(counts.sum(0).max())
    width = (high - low) / bins
    bars = []
    for at in range(bins):
        parts, foot = [], 0
        for kind, count in zip(kinds, counts[:, at].tolist(), strict=True):
            if count:
                parts.append((kind, foot / top, count / top))
                foot += count
        begin, end = (low + place * width for place in (at, at + 1))
        bars.append(Bar(at / bins, (at + 1) / bins, begin, end, foot, parts))
    return Histogram(bars, top, x_ticks, ticks(top, most))


@dataclass(frozen=True)
class Look:
    """A curve's colour, and its line style as plotly names it."""

    colour: str
    style: str

    @property
    def band(self) -> str:
        red, green, blue = (int(self.colour[at : at + 2], 16) for at in (1, 3, 5))
        return f"rgba({red},{green},{blue},0.16)"


def looks(curves: Sequence[Curve]) -> list[Look]:
    """Return the looks of curves, by place: 28 of them (7 colours x 4 styles), then they repeat."""
    return [Look(PALETTE[place % len(PALETTE)], STYLES[place % len(STYLES)]) for place in range(len(curves))]


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


def times(length: float) -> list[Tick]:
    unit, name = next(
        (size, name) for size, name in ((86400, "d"), (3600, "h"), (60, "min"), (1, "s")) if length >= size or size == 1
    )
    return [Tick(tick.at, f"{tick.label} {name}" if tick.at else "0") for tick in ticks(length / unit, 5)]


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


# -- in a terminal -----------------------------------------------------------------------------------------

BLOCKS = " ▁▂▃▄▅▆▇█"
EIGHTHS = "▏▎▍▌▋▊▉"


def columns(shares: Sequence[float], height: int) -> list[str]:
    """Shares from 0 to 1 as columns of so many lines, the uppermost first.

    >>> columns([0, 0.5, 0.75, 1], 2)
    ['  ▄█', ' ███']
    """
    return [
        "".join(BLOCKS[max(0, min(8, round((share * height - level) * 8)))] for share in shares)
        for level in reversed(range(height))
    ]


def bar(share: float, width: int = 4) -> str:
    """A share as a bar of so many places; what is more than nothing shows.

    >>> bar(0.0), bar(0.3), bar(1.0)
    ('    ', '█▎  ', '████')
    """
    eighths = max(0, min(8 * width, round(8 * width * share)))
    if share > 0:
        eighths = max(1, eighths)
    full, part = divmod(eighths, 8)
    return f"{'█' * full}{EIGHTHS[part - 1] if part else ''}".ljust(width)
