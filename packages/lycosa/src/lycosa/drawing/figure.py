"""Charts as data, axis ticks, and block characters for a terminal; `drawing.svg` draws charts."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass
from datetime import UTC, datetime
from typing import Literal, NamedTuple

_STEPS = [hours * 3600 for hours in (1, 3, 6, 12)] + [days * 86_400 for days in (1, 2, 7, 14, 28, 91, 182, 364)]


@dataclass
class Curve:
    """Line of a figure; `low` and `high` are its confidence band, or empty."""

    label: str
    x: Sequence[float]
    y: Sequence[float]
    low: Sequence[float] = ()
    high: Sequence[float] = ()


@dataclass
class Figure:
    """Chart of curves over the same axes."""

    key: str  # short name, unique among the figures of a page, for file names and anchors
    title: str
    x_label: str
    y_label: str
    curves: Sequence[Curve]
    _: KW_ONLY
    note: str = ""


@dataclass
class Histogram(Figure):
    """Counts in bins of equal width from `low` to `high`; the curves are stacked in the given order."""

    low: float
    high: float
    palette: Sequence[int] = ()  # palette index of each curve
    unit: Literal["", "seconds", "date"] = ""
    marks: Sequence[tuple[float, str]] = ()  # vertical lines: position and label, which may be empty


class Tick(NamedTuple):
    """Labelled position on an axis."""

    at: float
    label: str


def ticks(low: float, high: float, max_ticks: int, *, whole: bool = False) -> list[Tick]:
    """Return about `max_ticks` round values between two.

    >>> [tick.label for tick in ticks(0, 300, 6)]
    ['0', '50', '100', '150', '200', '250', '300']
    >>> [tick.label for tick in ticks(-0.1, 0.31, 5)]
    ['-0.1', '0', '0.1', '0.2', '0.3']
    >>> [tick.label for tick in ticks(0, 2, 5, whole=True)]
    ['0', '1', '2']
    """
    min_step = (high - low) / max_ticks
    power = 10.0 ** math.floor(math.log10(min_step))
    step = next(power * nice for nice in (1, 2, 5, 10) if power * nice >= min_step * (1 - 1e-9))
    step = max(1.0, step) if whole else step
    digits = max(0, -math.floor(math.log10(step) + 1e-9))
    form = f",.{digits}f" if 1e-6 < step < 1e9 else ".2g"
    places = range(math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9) + 1)
    return [Tick(place * step, f"{place * step:{form}}" if place else "0") for place in places]


def times(length: float, max_ticks: int = 5) -> list[Tick]:
    """Return round durations in seconds from 0 to `length`, labelled in a suitable unit."""
    units = ((86_400, "d"), (3600, "h"), (60, "min"))
    unit, name = next(((size, name) for size, name in units if length >= size), (1, "s"))
    round_ticks = ticks(0, length / unit, max_ticks)
    return [Tick(tick.at * unit, f"{tick.label} {name}" if tick.at else "0") for tick in round_ticks]


def dates(start: float, end: float, max_ticks: int = 6) -> list[Tick]:
    """Return round dates or times of day between two times.

    >>> [tick.label for tick in dates(0.0, 3 * 86400.0)]
    ['1 Jan', '2 Jan', '3 Jan', '4 Jan']
    >>> [tick.label for tick in dates(0.0, 3 * 3600.0)]
    ['00:00', '01:00', '02:00', '03:00']
    """
    short = end - start <= 36 * 3600
    step = next((s for s in _STEPS if (end - start) / s <= max_ticks and (short or s >= 86_400)), _STEPS[-1])
    shape = "%H:%M" if step < 86_400 else "%-d %b" if step < 91 * 86_400 else "%b %Y"
    round_ticks = range(math.ceil(start / step) * step, int(end) + 1, step)
    return [Tick(at, datetime.fromtimestamp(at, UTC).strftime(shape)) for at in round_ticks]


def columns(shares: Sequence[float], height: int) -> list[str]:
    """Draw shares from 0 to 1 as columns of block characters; return the lines from top to bottom.

    >>> columns([0, 0.5, 0.75, 1], 2)
    ['  ▄█', ' ███']
    """
    return [
        "".join(" ▁▂▃▄▅▆▇█"[max(0, min(8, round((share * height - level) * 8)))] for share in shares)
        for level in reversed(range(height))
    ]


def bar(share: float, width: int = 4) -> str:
    """Draw a share as a bar; any share above 0 is visible."""
    eighths = max(0, min(8 * width, round(8 * width * share)))
    full, part = divmod(max(1, eighths) if share > 0 else eighths, 8)
    return f"{'█' * full}{'▏▎▍▌▋▊▉'[part - 1] if part else ''}".ljust(width)
