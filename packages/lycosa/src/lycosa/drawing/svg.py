"""Draw figures as SVG: `inline` for a page, `svg` for a file. Colours are CSS classes defined in figure.css."""

from __future__ import annotations

import math
import textwrap
from collections.abc import Iterable, Iterator
from functools import cache
from itertools import pairwise
from pathlib import Path

from markupsafe import Markup, escape

from lycosa.drawing.figure import Figure, Histogram, Tick, dates, ticks, times
from lycosa.drawing.formats import clean, clip, seconds, when

LETTER_WIDTH = 6.6  # mean width of a letter in pixels at font size 12
COLOURS, DASHES = 7, 4  # number of classes in figure.css; their 28 combinations are repeated for further curves
MAX_READINGS = 40  # maximum number of positions with a tooltip


@cache
def style() -> Markup:
    return Markup(Path(__file__).with_name("figure.css").read_text(encoding="utf-8"))


def inline(figure: Figure, alt: str, height: int = 0) -> Markup:
    """Draw a figure in two widths, one of which figure.css shows; `alt` is the text for screen readers."""
    wide, narrow = svg(figure, height=height), svg(figure, 360, height)
    return Markup('<div class="drawing" role="img" aria-label="{}">\n{}\n{}\n</div>').format(clean(alt), wide, narrow)


def svg(figure: Figure, width: int = 720, height: int = 0, *, standalone: bool = False, theme: str = "") -> Markup:
    """Draw a figure: `standalone` as a file with title and colours; `theme` is light, dark, or "" for the system's."""
    title = _text(figure.title)
    headings = textwrap.wrap(title, width // 10) if standalone else []
    parts = [_label(8, 25 + 19 * row, line, "start", "title") for row, line in enumerate(headings)]
    legend, top = _legend(figure, width, 12 + 19 * len(headings))
    bottom = top + 28 + (height or (0.42 if width > 500 else 0.62) * width)
    x, y = _axes(figure)
    y_ticks = ticks(y.low, y.high, 5, whole=y.is_whole)
    left, right = 14 + LETTER_WIDTH * max((len(tick.label) for tick in y_ticks), default=1), width - 14.0
    x.start, x.end, y.start, y.end = left, right, bottom, top + 28
    parts += [*legend, _label(8, top + 15, figure.y_label, "start")]
    for tick in y_ticks:
        parts.append(f'<path class="grid" d="M{left:.1f} {y(tick.at):.1f}H{right:.1f}"/>')
        parts.append(_label(left - 6, y(tick.at) + 4, tick.label, "end"))
    for tick in _x_ticks(figure, x, int((right - left) / 80)):
        parts.append(f'<path class="axis" d="M{x(tick.at):.1f} {bottom:.1f}v4"/>')
        parts.append(_label(min(x(tick.at), width - LETTER_WIDTH * len(tick.label) / 2), bottom + 18, tick.label))
    parts.append(f'<path class="axis" d="M{left:.1f} {bottom:.1f}H{right:.1f}"/>')
    parts += _bins(figure, x, y) if isinstance(figure, Histogram) else _lines(figure, x, y, readings=width > 500)
    parts.append(_label((left + right) / 2, bottom + 38, figure.x_label))
    size = f'viewBox="0 0 {width} {bottom + 48:.0f}" class="chart {"wide" if width > 500 else "narrow"}"'
    if standalone:
        size += f' xmlns="http://www.w3.org/2000/svg" width="{width}" height="{bottom + 48:.0f}"'
        size += f' data-theme="{theme}"' if theme else ""
        sheet = f'<style>\n{style()}</style>\n<rect class="sheet" width="100%" height="100%"/>'
        parts = [f"<title>{escape(title)}</title>", sheet, *parts, ""]
    return Markup(f"<svg {size}>{chr(10).join(parts)}</svg>")


class _Scale:
    """Linear axis: range of values mapped to pixels."""

    start = end = 0.0

    def __init__(self, values: Iterable[float], *, to_zero: bool = False) -> None:
        finite = list(filter(_is_drawn, values))
        low, high = min(finite, default=0.0), max(finite, default=1.0)
        low = 0.0 if to_zero and 0 <= low <= 0.6 * high else low
        self.low, self.high = (low, high) if low < high else (low - 0.5, high + 0.5)
        self.is_whole = bool(finite) and all(float(value).is_integer() for value in finite)

    def __call__(self, value: float) -> float:
        return self.start + (value - self.low) / (self.high - self.low) * (self.end - self.start)


def _is_drawn(*values: float | None) -> bool:
    return all(value is not None and math.isfinite(value) for value in values)


def _axes(figure: Figure) -> tuple[_Scale, _Scale]:
    if isinstance(figure, Histogram):
        sums = [sum(counts) for counts in zip(*(curve.y for curve in figure.curves), strict=True)]
        return _Scale([figure.low, figure.high]), _Scale([0, *sums])
    heights = (value for curve in figure.curves for value in (*curve.y, *curve.low, *curve.high))
    return _Scale(value for curve in figure.curves for value in curve.x), _Scale(heights, to_zero=True)


def _x_ticks(figure: Figure, x: _Scale, max_ticks: int) -> list[Tick]:
    unit = figure.unit if isinstance(figure, Histogram) else ""
    if unit == "seconds":
        return times(x.high, max_ticks)
    if unit == "date":
        return dates(x.low, x.high, max_ticks)
    return ticks(x.low, x.high, max_ticks, whole=x.is_whole and not isinstance(figure, Histogram))


def _legend(figure: Figure, width: int, top: float) -> tuple[list[str], float]:
    if len(figure.curves) < 2:
        return [], top
    parts, left, row = [], 8.0, top + 12
    palette = figure.palette if isinstance(figure, Histogram) else range(len(figure.curves))
    for colour, curve in zip(palette, figure.curves, strict=True):
        name = clip(_text(curve.label), 60 if width > 500 else 40) or "–"
        if left > 8 and left + 32 + LETTER_WIDTH * len(name) > width:
            left, row = 8.0, row + 20
        mark = f'<path class="line dash-{colour % DASHES}" d="M{left:.1f} {row - 4:.1f}h24"/>'
        if isinstance(figure, Histogram):
            mark = f'<rect class="block" x="{left + 6}" y="{row - 10}" width="12" height="12"/>'
        parts.append(f'<g class="{_colour_class(colour)}">{mark}{_label(left + 30, row, name, "start", "legend")}</g>')
        left += 48 + LETTER_WIDTH * len(name)
    return parts, row + 6


def _lines(figure: Figure, x: _Scale, y: _Scale, *, readings: bool) -> Iterator[str]:
    """Yield the curves with confidence bands and tooltips, with gaps for missing values; the first curve is on top."""
    dotted = all(len(curve.y) <= 12 for curve in figure.curves)
    for place, curve in reversed(list(enumerate(figure.curves))):
        path, dots, pen = "", "", "M"
        for at, value in zip(curve.x, curve.y, strict=False):
            if _is_drawn(at, value):
                path += f"{pen}{x(at):.1f} {y(value):.1f}"
                dots += f'<circle class="dot" cx="{x(at):.1f}" cy="{y(value):.1f}" r="2.5"/>'
            pen = "L" if _is_drawn(at, value) else "M"
        yield f'<g class="{_colour_class(place)}">'
        if sure := [edges for edges in zip(curve.x, curve.low, curve.high, strict=False) if _is_drawn(*edges)]:
            edge = [(at, high) for at, _, high in sure] + [(at, low) for at, low, _ in reversed(sure)]
            points = " ".join(f"{x(at):.1f},{y(value):.1f}" for at, value in edge)
            yield f'<polygon class="band" points="{points}"/>'
        yield f'<path class="line dash-{place % DASHES}" d="{path}"/>{dots if dotted else ""}</g>'
    yield from _readings(figure, x, y) if readings else ()


def _readings(figure: Figure, x: _Scale, y: _Scale) -> Iterator[str]:
    """Yield tooltips with the values of all curves at some positions."""
    places = [at for at in max((curve.x for curve in figure.curves), key=len, default=()) if _is_drawn(at)]
    places = places[:: max(1, -(-len(places) // MAX_READINGS))]
    indexed = [(curve, {at: n for n, at in enumerate(curve.x)}) for curve in figure.curves]
    middles = [(x(one) + x(other)) / 2 for one, other in pairwise(places)]
    for at, left, right in zip(places, [x.start, *middles], [*middles, x.end], strict=False):
        lines = [f"{figure.x_label}: {_number(at)}"]
        for curve, where in indexed:
            n = where.get(at, len(curve.y))
            if n < len(curve.y) and _is_drawn(curve.y[n]):
                sure = f" ({_number(curve.low[n])} to {_number(curve.high[n])})" if n < len(curve.low) else ""
                lines.append(f"{curve.label}: {_number(curve.y[n])}{sure}")
        box = f'<path d="M{left:.1f} {y.end:.1f}H{right:.1f}V{y.start:.1f}H{left:.1f}Z"/>'
        yield f'<g class="at">{_title(lines)}{box}<path d="M{x(at):.1f} {y.end:.1f}V{y.start:.1f}"/></g>'


def _bins(figure: Histogram, x: _Scale, y: _Scale) -> Iterator[str]:
    form = {"seconds": seconds, "date": when, "": _number}[figure.unit]
    count = len(figure.curves[0].y)
    edges = [figure.low + (figure.high - figure.low) * place / count for place in range(count + 1)]
    for place, (start, end) in enumerate(pairwise(edges)):
        parts = zip(figure.palette, figure.curves, strict=True)
        stack = [(colour, curve.label, curve.y[place]) for colour, curve in parts if curve.y[place]]
        lines = [f"{form(start)} to {form(end)}", *(f"{name}: {value:,}" for _, name, value in stack)]
        at, foot = f'x="{x(start) + 0.5:.1f}" width="{max(1, x(end) - x(start) - 1):.1f}"', 0.0
        yield f'<g class="bin">{_title(lines)}'
        for colour, _, value in stack:
            size = f'y="{y(foot + value):.1f}" height="{y(foot) - y(foot + value):.1f}"'
            yield f'<rect class="block {_colour_class(colour)}" {at} {size}/>'
            foot += value
        yield "</g>"
    for mark, label in figure.marks:
        flip = x(mark) > (x.start + x.end) / 2
        path = f'd="M{x(mark):.1f} {y.end - 4:.1f}V{y.start:.1f}"'
        text = _label(x(mark) + (-6 if flip else 6), y.end + 8, label, "end" if flip else "start")
        yield f'<g class="mark"><path {path}/>{text}</g>' if label else f'<path class="break" {path}/>'


def _colour_class(place: int) -> str:
    return f"curve-{place % COLOURS + 1}"


def _title(lines: Iterable[str]) -> str:
    return f"<title>{escape(chr(10).join(map(_text, lines)))}</title>"


def _label(x: float, y: float, text: str, anchor: str = "middle", kind: str = "") -> str:
    of = f' class="{kind}"' if kind else ""
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}"{of}>{escape(_text(text))}</text>'


def _number(value: float) -> str:
    return f"{value:,.0f}" if float(value).is_integer() or abs(value) >= 10_000 else f"{value:,.4g}"


def _text(text: str) -> str:
    return " ".join(clean(text).split())
