"""Draw a figure as SVG: `inline` in a page, `svg` as a file. Colours are classes, which figure.css defines."""

from __future__ import annotations

import math
import textwrap
from collections.abc import Sequence
from functools import cache
from itertools import pairwise
from pathlib import Path

from markupsafe import Markup, escape

from lycosa.drawing.figure import Curve, Figure, Histogram, Tick, dates, powers, ticks, times
from lycosa.drawing.formats import clean, clip, seconds, when

LETTER = 6.6  # mean width of a letter at 12 pixels
COLOURS, DASHES = 7, 4  # classes in figure.css
MAX_POINTS, MAX_READINGS = 400, 40  # of a curve; places whose values show under the pointer


@cache
def style() -> Markup:
    """Return the style sheet that a page with figures needs."""
    return Markup(Path(__file__).with_name("figure.css").read_text(encoding="utf-8"))


def inline(figure: Figure, says: str, height: int = 0) -> Markup:
    """Draw a figure for a page, in two widths of which figure.css shows one; `says` is for screen readers."""
    wide, narrow = svg(figure, height=height), svg(figure, 360, height)
    return Markup('<div class="drawing" role="img" aria-label="{}">\n{}\n{}\n</div>').format(clean(says), wide, narrow)


def svg(
    figure: Figure, width: int = 720, height: int = 0, *, alone: bool = False, badge: str = "", theme: str = ""
) -> Markup:
    """Draw a figure. `alone`: as a file, with its title, a badge below it, style sheet and background; `theme`: of a
    file, "light" or "dark", by default the reader's.
    """
    parts: list[str] = []
    top = 6.0
    for line in [*textwrap.wrap(_text(figure.title), width // 9), *([badge] if badge else [])] if alone else ():
        top += 19
        parts.append(_label(8, top, line, "start", "badge" if line is badge else "title"))
    legend, top = _legend(figure, width, top + 6)
    x, y, names = _scales(figure)
    longest = max((len(tick.label) for tick in y.ticks), default=1)
    left, right = 14 + LETTER * longest, width - 14.0
    slanted = sum(len(name) + 2 for name in names) * LETTER > right - left
    if names:
        names = [clip(name, min(28, width // 18)) or "–" for name in names]
        below = max(len(name) for name in names) * LETTER
        left = max(left, 0.9 * below - (right - left) / 2 / len(names)) if slanted else left
    top += 28
    bottom = top + (height or (0.42 if width > 500 else 0.62) * width)
    x.across(left, right)
    y.across(bottom, top)
    parts += [*legend, _label(8, top - 13, figure.y_label, "start")]
    parts += [f'<path class="grid" d="M{left:.1f} {y(tick.at):.1f}H{right:.1f}"/>' for tick in y.ticks]
    parts += [_label(left - 6, y(tick.at) + 4, tick.label, "end") for tick in y.ticks]
    if not names:
        x.ticks = _x_ticks(figure, x, int((right - left) / 80))
    for tick in x.ticks:
        parts.append(f'<path class="axis" d="M{x(tick.at):.1f} {bottom:.1f}v4"/>')
    for tick, name in zip(x.ticks, names or [tick.label for tick in x.ticks], strict=False):
        middle = x(tick.at) if slanted else min(x(tick.at), width - LETTER * len(name) / 2)
        parts.append(_label(middle, bottom + 18, name, "end" if slanted else "middle", slanted=slanted))
    parts.append(f'<path class="axis" d="M{left:.1f} {bottom:.1f}H{right:.1f}"/>')
    if isinstance(figure, Histogram):
        parts += _bins(figure, x, y)
    elif figure.bars:
        parts += _bars(figure, x, y)
    else:
        dotted = all(len(curve.y) <= 12 for curve in figure.curves)
        for place, curve in reversed(list(enumerate(figure.curves))):
            parts += _line(curve, place, x, y, dotted)
        parts += _readings(figure, x, y) if width > 500 else ()
    foot = bottom + (24 + 0.58 * below if slanted and names else 22) + 16
    parts.append(_label((left + right) / 2, foot, figure.x_label))
    size = f'viewBox="0 0 {width} {foot + 10:.0f}" class="chart {"wide" if width > 500 else "narrow"}"'
    if not alone:
        return Markup("<svg {}>{}</svg>").format(Markup(size), Markup("\n".join(parts)))
    chosen = f' data-theme="{theme}"' if theme else ""
    head = f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{foot + 10:.0f}" {size}{chosen}>'
    title = f"<title>{escape(_text(figure.title))}</title>"
    sheet = f'<style>\n{style()}</style>\n<rect class="sheet" width="100%" height="100%"/>'
    return Markup("\n".join([head, title, sheet, *parts, "</svg>\n"]))


class _Scale:
    """An axis: which values it spans, and which pixels."""

    def __init__(self, low: float, high: float, log: bool = False) -> None:
        if not low < high:
            low, high = (low / 2, high * 2) if log else (low - 0.5, high + 0.5)
        self.low, self.high, self.log = low, high, log
        self.ticks: list[Tick] = []

    def across(self, start: float, end: float) -> None:
        self.start, self.end = start, end

    def __call__(self, value: float) -> float:
        share = (value - self.low) / (self.high - self.low)
        if self.log:
            share = math.log(value / self.low) / math.log(self.high / self.low)
        return self.start + share * (self.end - self.start)

    def has(self, value: float | None) -> bool:
        """Whether a value can be drawn."""
        return value is not None and math.isfinite(value) and (value > 0 or not self.log)


def _scales(figure: Figure) -> tuple[_Scale, _Scale, list[str]]:
    """The axes, and the labels under bars."""
    heights = [[*curve.y, *(curve.low if curve.banded else ()), *(curve.high if curve.banded else ())]
               for curve in figure.curves]  # fmt: skip
    if isinstance(figure, Histogram):
        heights = [[sum(counts) for counts in zip(*heights, strict=True)]]
    y = _Scale(1, 10, figure.log_y)
    known = [value for values in heights for value in values if y.has(value)]
    low, high = min(known, default=0.0 if not figure.log_y else 1), max(known, default=1.0)
    stacked = figure.bars or isinstance(figure, Histogram)
    if not figure.log_y and (stacked or 0 <= low <= 0.6 * high):
        low, high = min(0.0, low), max(0.0, high)
    y = _Scale(low, max(high, 1) if stacked and low == high else high, figure.log_y)
    whole = all(float(value).is_integer() for value in known)
    y.ticks = powers(y.low, y.high) if y.log else ticks(y.low, y.high, 5, whole=whole)
    if isinstance(figure, Histogram):
        return _Scale(figure.low, figure.high), y, []
    if figure.bars:
        names = [_text(name) for name in figure.labels]
        x = _Scale(-0.5, len(names) - 0.5)
        x.ticks = [Tick(place, name) for place, name in enumerate(names)]
        return x, y, names
    x = _Scale(1, 10, figure.log_x)
    places = [value for curve in figure.curves for value in curve.x if x.has(value)]
    x = _Scale(min(places, default=1), max(places, default=10), figure.log_x)
    names = [_text(str(name)) for name in figure.ticks]
    if names and figure.curves:
        x.ticks = [Tick(at, name) for at, name in zip(figure.curves[0].x, names, strict=False) if x.has(at)]
    return x, y, names


def _x_ticks(figure: Figure, x: _Scale, most: int) -> list[Tick]:
    unit = figure.unit if isinstance(figure, Histogram) else ""
    if unit == "seconds":
        return times(x.high, most)
    if unit == "date":
        return dates(x.low, x.high, most)
    places = [value for curve in figure.curves for value in curve.x if x.has(value)]
    whole = bool(places) and all(float(value).is_integer() for value in places)
    return powers(x.low, x.high) if x.log else ticks(x.low, x.high, most, whole=whole)


def _look(figure: Figure, place: int) -> str:
    """Classes of a curve: 28 looks, then they repeat."""
    if isinstance(figure, Histogram):
        return f"curve-{figure.looks[place] % COLOURS + 1}"
    return f"curve-{place % COLOURS + 1}"


def _legend(figure: Figure, width: int, top: float) -> tuple[list[str], float]:
    """The names of curves, in rows, and where they end."""
    if len(figure.curves) < 2:
        return [], top
    filled = figure.bars or isinstance(figure, Histogram)
    parts, left, row = [], 8.0, top + 12
    for place, curve in enumerate(figure.curves):
        name = clip(_text(curve.label), 60 if width > 500 else 40) or "–"
        if left > 8 and left + 32 + LETTER * len(name) > width:
            left, row = 8.0, row + 20
        mark = f'<rect class="block" x="{left + 6}" y="{row - 10}" width="12" height="12"/>'
        if not filled:
            mark = f'<path class="line dash-{place % DASHES}" d="M{left:.1f} {row - 4:.1f}h24"/>'
        parts.append(f'<g class="{_look(figure, place)}">{mark}{_label(left + 30, row, name, "start", "legend")}</g>')
        left += 48 + LETTER * len(name)
    return parts, row + 6


def _line(curve: Curve, place: int, x: _Scale, y: _Scale, dotted: bool) -> list[str]:
    """A curve, with gaps where a value is missing, and its band."""
    size = min(len(curve.x), len(curve.y))
    chosen = _chosen(size, MAX_POINTS)
    path, dots, pen = [], [], "M"
    for at in chosen:
        if not (x.has(curve.x[at]) and y.has(curve.y[at])):
            pen = "M"
            continue
        path.append(f"{pen}{x(curve.x[at]):.1f} {y(curve.y[at]):.1f}")
        dots.append(f'<circle class="dot" cx="{x(curve.x[at]):.1f}" cy="{y(curve.y[at]):.1f}" r="2.5"/>')
        pen = "L"
    parts = [f'<path class="line dash-{place % DASHES}" d="{"".join(path)}"/>', *(dots if dotted else ())]
    if curve.banded:
        sure = [(curve.x[at], curve.low[at], curve.high[at]) for at in chosen]
        sure = [(at, low, high) for at, low, high in sure if x.has(at) and y.has(low) and y.has(high)]
        edge = [(at, high) for at, _, high in sure] + [(at, low) for at, low, _ in reversed(sure)]
        points = " ".join(f"{x(at):.1f},{y(value):.1f}" for at, value in edge)
        parts.insert(0, f'<polygon class="band" points="{points}"/>')
    return [f'<g class="curve-{place % COLOURS + 1}">', *parts, "</g>"]


def _readings(figure: Figure, x: _Scale, y: _Scale) -> list[str]:
    """What shows under the pointer: the values of all curves at some places."""
    places = [at for at in max((curve.x for curve in figure.curves), key=len, default=()) if x.has(at)]
    places = [places[at] for at in _chosen(len(places), MAX_READINGS)]
    known = [(curve, {at: place for place, at in enumerate(curve.x)}) for curve in figure.curves]
    middles = [(x(one) + x(other)) / 2 for one, other in pairwise(places)]
    parts = []
    for at, left, right in zip(places, [x.start, *middles], [*middles, x.end], strict=False):
        lines = [f"{_text(figure.x_label)}: {_number(at)}"]
        for curve, where in known:
            place = where.get(at, len(curve.y))
            if place < len(curve.y) and y.has(curve.y[place]):
                lines.append(f"{_text(curve.label)}: {_value(curve, place)}")
        box = f'<path d="M{left:.1f} {y.end:.1f}H{right:.1f}V{y.start:.1f}H{left:.1f}Z"/>'
        rule = f'<path d="M{x(at):.1f} {y.end:.1f}V{y.start:.1f}"/>'
        parts.append(f'<g class="at"><title>{escape(chr(10).join(lines))}</title>{box}{rule}</g>')
    return parts


def _bars(figure: Figure, x: _Scale, y: _Scale) -> list[str]:
    """Groups of bars, one of each curve, with whiskers for its band."""
    parts, width = [], 0.8 / max(1, len(figure.curves))
    for number, curve in enumerate(figure.curves):
        parts.append(f'<g class="{_look(figure, number)}">')
        for place, (name, value) in enumerate(zip(figure.labels, curve.y, strict=False)):
            if not y.has(value):
                continue
            left, wide = x(place - 0.4 + width * number), (x(1) - x(0)) * width * 0.94
            foot = y.start if y.log else y(0)
            said = f"{_text(name)}, {_text(curve.label)}: {_value(curve, place)}"
            parts.append(_bar(left, wide, foot, y(value), said))
            if curve.banded and y.has(curve.low[place]) and y.has(curve.high[place]):
                high, low, middle = y(curve.high[place]), y(curve.low[place]), left + wide / 2
                d = f"M{middle - 3:.1f} {high:.1f}h6m-3 0V{low:.1f}m-3 0h6"
                parts.append(f'<path class="whisker" d="{d}"/>')
        parts.append("</g>")
    return parts


def _bins(figure: Histogram, x: _Scale, y: _Scale) -> list[str]:
    """Stacked counts, and the lines across."""
    form = {"seconds": seconds, "date": when, "": _number}[figure.unit]
    count = len(figure.curves[0].y)
    edges = [figure.low + (figure.high - figure.low) * place / count for place in range(count + 1)]
    parts = []
    for place in range(count):
        stack = [(number, curve.label, curve.y[place]) for number, curve in enumerate(figure.curves) if curve.y[place]]
        if not stack:
            continue
        lines = [f"{form(edges[place])} to {form(edges[place + 1])}", *(f"{name}: {n:,}" for _, name, n in stack)]
        left, foot = x(edges[place]) + 0.5, 0.0
        parts.append(f'<g class="bin"><title>{escape(chr(10).join(map(_text, lines)))}</title>')
        for number, _, value in stack:
            drawn = _bar(left, max(1, x(edges[place + 1]) - left - 0.5), y(foot), y(foot + value))
            parts.append(f'<g class="{_look(figure, number)}">{drawn}</g>')
            foot += value
        parts.append("</g>")
    for at, label in figure.marks:
        flip = x(at) > (x.start + x.end) / 2
        path = f'd="M{x(at):.1f} {y.end - 4:.1f}V{y.start:.1f}"'
        text = _label(x(at) + (-6 if flip else 6), y.end + 8, label, "end" if flip else "start") if label else ""
        parts.append(f'<g class="mark"><path {path}/>{text}</g>' if label else f'<path class="break" {path}/>')
    return parts


def _bar(left: float, wide: float, foot: float, top: float, says: str = "") -> str:
    title = f"<title>{escape(says)}</title>" if says else ""
    high, low = min(foot, top), max(foot, top)
    size = f'x="{left:.1f}" y="{high:.1f}" width="{wide:.1f}" height="{low - high:.1f}"'
    return f'<rect class="block" {size}>{title}</rect>'


def _label(x: float, y: float, text: str, anchor: str = "middle", kind: str = "", *, slanted: bool = False) -> str:
    turn = f' transform="rotate(-35 {x:.1f} {y:.1f})"' if slanted else ""
    of = f' class="{kind}"' if kind else ""
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}"{of}{turn}>{escape(_text(text))}</text>'


def _chosen(size: int, most: int) -> Sequence[int]:
    """At most so many places, evenly, both ends among them."""
    return range(size) if size <= most else sorted({round(n * (size - 1) / (most - 1)) for n in range(most)})


def _value(curve: Curve, place: int) -> str:
    value = _number(curve.y[place])
    return f"{value} ({_number(curve.low[place])} to {_number(curve.high[place])})" if curve.banded else value


def _number(value: float) -> str:
    return f"{value:,.0f}" if float(value).is_integer() or abs(value) >= 10_000 else f"{value:,.4g}"


def _text(text: str) -> str:
    return " ".join(clean(text).split())
