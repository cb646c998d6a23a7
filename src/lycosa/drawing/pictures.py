"""Figures as files, SVG and PNG, by matplotlib: without a display, and the same bytes for the same figure."""

from __future__ import annotations

import io
import logging
import math
import textwrap
import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np

from lycosa.core.errors import InputError
from lycosa.drawing.figure import Figure, looks
from lycosa.drawing.formats import clean

LINES = {"solid": "-", "dash": (0, (5, 2)), "dot": (0, (1.2, 1.6)), "dashdot": (0, (5, 1.6, 1.2, 1.6))}

SETTINGS = {
    "svg.hashsalt": "lycosa",
    "svg.fonttype": "path",
    "text.parse_math": False,
    "text.usetex": False,
    "font.family": ["DejaVu Sans"],
    "font.size": 9.0,
    "axes.titlesize": 10.0,
    "axes.titlelocation": "left",
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.edgecolor": "#5a626b",
    "axes.labelcolor": "#1d2126",
    "xtick.color": "#5a626b",
    "ytick.color": "#5a626b",
    "axes.grid": True,
    "axes.axisbelow": True,
    "grid.color": "#dbd7cf",
    "grid.linewidth": 0.6,
    "legend.frameon": False,
    "legend.fontsize": 8.0,
    "path.simplify": True,
    "path.simplify_threshold": 0.2,
}


def pictures(figure: Figure, badge: str = "") -> dict[str, bytes]:
    """A figure as "svg" and as "png"; a badge is a line under its title."""
    matplotlib = _matplotlib()
    with warnings.catch_warnings(), matplotlib.rc_context():
        warnings.simplefilter("ignore")  # letters that the font does not have, empty axes
        matplotlib.rcdefaults()
        matplotlib.rcParams.update(SETTINGS)
        drawn = _drawn(figure, badge)
        found = {}
        for form, metadata in (("svg", {"Date": None, "Creator": None}), ("png", {"Software": None})):
            written = io.BytesIO()
            drawn.savefig(written, format=form, dpi=160, metadata=metadata, bbox_inches="tight", pad_inches=0.08)
            found[form] = written.getvalue()
    return found


def _matplotlib() -> Any:
    """The library, without a word about caches."""
    log = logging.getLogger("matplotlib")
    level = log.level
    log.setLevel(logging.ERROR)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            import matplotlib
            import matplotlib.backends.backend_agg
            import matplotlib.backends.backend_svg
            import matplotlib.figure
    except ImportError as error:
        raise InputError("a report needs matplotlib for its pictures: pip install 'lycosa[lab]'") from error
    finally:
        log.setLevel(level)
    return matplotlib


def _drawn(figure: Figure, badge: str) -> Any:
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure as Sheet

    below = len(figure.curves) > 4 or figure.bars  # no room inside
    sheet = Sheet(figsize=(6.4, 4.0), layout="constrained")
    FigureCanvasAgg(sheet)
    axes = sheet.add_subplot()
    lines = textwrap.wrap(_text(figure.title), 78) + ([badge] if badge else [])
    axes.set_title("\n".join(lines), loc="left")
    axes.set_xlabel(_text(figure.x_label))
    axes.set_ylabel(_text(figure.y_label))
    handles = _bars(axes, figure) if figure.bars else _lines(axes, figure)
    if figure.log_y:
        axes.set_yscale("log", nonpositive="mask")
        _label(axes.yaxis)
    if len(figure.curves) > 1:
        labels = [textwrap.shorten(_text(curve.label), 60, placeholder="…") or "–" for curve in figure.curves]
        # A label that begins with an underscore would be left out.
        labels = [f"\N{ZERO WIDTH SPACE}{label}" if label.startswith("_") else label for label in labels]
        if below:
            columns = max(1, min(4, 88 // (9 + max(len(label) for label in labels))))
            sheet.legend(handles, labels, loc="outside lower left", ncols=columns, handlelength=3.2)
        else:
            axes.legend(handles, labels, loc="best", handlelength=3.2)
    return sheet


def _lines(axes: Any, figure: Figure) -> list[Any]:
    handles = []
    for curve, look in zip(figure.curves, looks(figure.curves), strict=True):
        x, y = _array(curve.x), _array(curve.y)
        many = min(len(x), len(y))
        how: dict[str, Any] = {"color": look.colour, "linestyle": LINES[look.style], "linewidth": 1.5}
        if many <= 12:
            how |= {"marker": "o", "markersize": 3}
        handles += axes.plot(x[:many], y[:many], **how)
        if curve.banded:
            low, high = _array(curve.low), _array(curve.high)
            axes.fill_between(x[:many], low[:many], high[:many], color=look.colour, alpha=0.15, linewidth=0)
    if figure.log_x:
        axes.set_xscale("log", nonpositive="mask")
        _label(axes.xaxis)
    if figure.ticks and figure.curves:
        places = _array(figure.curves[0].x)[: len(figure.ticks)]
        axes.set_xticks(places, [_text(str(tick)) for tick in figure.ticks][: len(places)])
    return handles


def _bars(axes: Any, figure: Figure) -> list[Any]:
    handles = []
    groups = max((len(curve.y) for curve in figure.curves), default=0)
    width = 0.8 / max(1, len(figure.curves))
    for number, (curve, look) in enumerate(zip(figure.curves, looks(figure.curves), strict=True)):
        y = _array(curve.y)
        at = np.arange(len(y)) - 0.4 + width * (number + 0.5)
        how: dict[str, Any] = {}
        if curve.banded:
            spread = np.stack([y - _array(curve.low), _array(curve.high) - y])
            how = {"yerr": np.where(np.isfinite(spread), np.maximum(spread, 0), 0), "ecolor": "#1d2126", "capsize": 2}
            how["error_kw"] = {"elinewidth": 0.8, "capthick": 0.8}
        handles.append(axes.bar(at, y, width * 0.94, color=look.colour, edgecolor="white", linewidth=0, **how))
    ticks = [textwrap.shorten(_text(tick), 28, placeholder="…") or "–" for tick in figure.labels][:groups]
    long = sum(map(len, ticks)) > 70
    axes.set_xticks(range(len(ticks)), ticks, rotation=35 if long else 0, ha="right" if long else "center")
    axes.grid(visible=False, axis="x")
    return handles


def _label(axis: Any) -> None:
    """Label the ticks of a logarithmic axis with numbers: powers would be written as formulas, which are not drawn
    here. Those between powers have a label where the axis is short.
    """
    from matplotlib.ticker import LogFormatter

    class Between(LogFormatter):
        def __call__(self, x: float, pos: int | None = None) -> str:
            return _plain(x, 0) if super().__call__(x, pos) else ""

    axis.set_major_formatter(_plain)
    axis.set_minor_formatter(Between(labelOnlyBase=False))


def _plain(value: float, _: float) -> str:
    return f"{value:,g}"


def _array(values: Sequence[float]) -> np.ndarray[Any, np.dtype[np.float64]]:
    return np.array([math.nan if value is None else float(value) for value in values], np.float64)


def _text(told: str) -> str:
    return " ".join(clean(told).split())
