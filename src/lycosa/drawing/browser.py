"""Figures that move: as plotly draws them, and plotly's script, which goes into the page as it is."""

from __future__ import annotations

import html
import math
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from lycosa.core.errors import InputError
from lycosa.drawing.figure import Curve, Figure, Look, looks
from lycosa.drawing.formats import clean


def plotly_script() -> str:
    found = find_spec("plotly")
    if found is None or not found.submodule_search_locations:
        raise InputError("a report needs plotly for its figures: pip install 'lycosa[lab]'")
    path = Path(found.submodule_search_locations[0]) / "package_data" / "plotly.min.js"
    try:
        script = path.read_text(encoding="utf-8")
    except OSError as error:
        raise InputError("plotly is installed without its script: pip install --force-reinstall plotly") from error
    return script.replace("</script", "<\\/script")


def plot(figure: Figure) -> dict[str, Any]:
    """Data and layout of a figure. Colours of paper and ink are the page's: its script adds them."""
    traces: list[dict[str, Any]] = []
    for number, (curve, look) in enumerate(zip(figure.curves, looks(figure.curves), strict=True)):
        group = f"curve {number}"
        if figure.bars:
            traces.append(_bars(figure, curve, look, group))
            continue
        if curve.banded:
            traces.append(_band(curve, look, group))
        traces.append(_line(curve, look, group))
    layout: dict[str, Any] = {
        "xaxis": _axis(figure.x_label, figure.log_x and not figure.bars),
        "yaxis": _axis(figure.y_label, figure.log_y),
        # Of more than 8 curves, only the nearest one's value is shown.
        "hovermode": "x unified" if len(figure.curves) <= 8 else "closest",
        "showlegend": len(figure.curves) > 1,
        "barmode": "group",
    }
    if figure.bars:
        layout["xaxis"] |= {"type": "category", "categoryorder": "array", "categoryarray": _ticks(figure)}
    elif figure.ticks:
        places = figure.curves[0].x if figure.curves else ()
        layout["xaxis"] |= {"tickvals": _numbers(places), "ticktext": _ticks(figure)}
    return {"data": traces, "layout": layout}


def text(told: str) -> str:
    """Text as plotly takes it: it reads a little HTML, and must find none."""
    return html.escape(clean(told), quote=False)


def _numbers(values: Sequence[float]) -> list[float | None]:
    return [float(value) if value is not None and math.isfinite(value) else None for value in values]


def _ticks(figure: Figure) -> list[str]:
    return [text(tick) for tick in figure.labels]


def _line(curve: Curve, look: Look, group: str) -> dict[str, Any]:
    few = len(curve.x) <= 12
    return {
        "type": "scatter",
        "mode": "lines+markers" if few else "lines",
        "name": text(curve.label),
        "legendgroup": group,
        "x": _numbers(curve.x),
        "y": _numbers(curve.y),
        "line": {"color": look.colour, "dash": look.style, "width": 2},
        "marker": {"color": look.colour, "size": 5},
        "hovertemplate": "%{y:.4~g}<extra>%{fullData.name}</extra>",
    }


def _band(curve: Curve, look: Look, group: str) -> dict[str, Any]:
    """The confidence band: an area there and back, of the same group, so that it comes and goes with its curve."""
    sure = [
        (x, low, high)
        for x, low, high in zip(curve.x, curve.low, curve.high, strict=False)
        if all(value is not None and math.isfinite(value) for value in (x, low, high))
    ]
    there = [x for x, _, _ in sure]
    return {
        "type": "scatter",
        "mode": "lines",
        "name": text(curve.label),
        "legendgroup": group,
        "showlegend": False,
        "x": _numbers(there + there[::-1]),
        "y": _numbers([high for _, _, high in sure] + [low for _, low, _ in reversed(sure)]),
        "fill": "toself",
        "fillcolor": look.band,
        "line": {"color": look.colour, "width": 0},
        "hoverinfo": "skip",
    }


def _bars(figure: Figure, curve: Curve, look: Look, group: str) -> dict[str, Any]:
    trace: dict[str, Any] = {
        "type": "bar",
        "name": text(curve.label),
        "legendgroup": group,
        "x": _ticks(figure)[: len(curve.y)],
        "y": _numbers(curve.y),
        "marker": {"color": look.colour},
        "hovertemplate": "%{y:.4~g}<extra>%{fullData.name}</extra>",
    }
    if curve.banded:
        y = _numbers(curve.y)
        trace["error_y"] = {
            "type": "data",
            "symmetric": False,
            "array": [_over(high, at) for high, at in zip(_numbers(curve.high), y, strict=True)],
            "arrayminus": [_over(at, low) for low, at in zip(_numbers(curve.low), y, strict=True)],
            "thickness": 1.2,
            "width": 3,
        }
    return trace


def _over(high: float | None, low: float | None) -> float:
    return max(0.0, high - low) if high is not None and low is not None else 0.0


def _axis(label: str, logarithmic: bool) -> dict[str, Any]:
    axis: dict[str, Any] = {"title": {"text": text(label)}, "automargin": True, "zeroline": False}
    if logarithmic:
        axis |= {"type": "log", "dtick": 1, "exponentformat": "none"}
    return axis
