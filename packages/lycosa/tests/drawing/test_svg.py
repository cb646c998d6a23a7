"""Tests of SVG figures."""

from __future__ import annotations

import re
from typing import Any
from xml.etree import ElementTree

import pytest

from lycosa.drawing.figure import Curve, Figure, Histogram
from lycosa.drawing.svg import inline, svg

HOSTILE = "</title><script>alert(1)</script>\u202e"


def parts(figure: Figure, name: str, **given: Any) -> list[ElementTree.Element]:
    """Return the elements of a class, parsed as XML."""
    root = ElementTree.fromstring(svg(figure, **given))
    return [each for each in root.iter() if name in each.get("class", "").split()]


def heights(path: str) -> list[float]:
    return [float(y) for y in re.findall(r"[ML][\d.]+ ([\d.]+)", path)]


def test_svg_lines_rise() -> None:
    (line,) = parts(Figure("f", "F", "pages", "found", [Curve("a", [0, 1, 2], [0, 5, 10])]), "line")
    low, middle, high = heights(line.get("d", ""))
    assert low > middle > high
    assert middle == pytest.approx((low + high) / 2, abs=0.1)


def test_svg_missing_values_are_gaps() -> None:
    curve = Curve("a", [1, 2, 3, 4], [1.0, float("nan"), 3.0, 4.0])
    (line,) = parts(Figure("f", "F", "x", "y", [curve]), "line")
    assert 2 == line.get("d", "").count("M")


def test_svg_band_has_colour_of_curve() -> None:
    figure = Figure("f", "F", "x", "y", [Curve("a", [1, 2], [2, 3], [1, 2], [3, 4]), Curve("b", [1, 2], [1, 1])])
    groups = [each for each in parts(figure, "curve-1") if each.find("polygon") is not None]
    assert [4] == [len(each.find("polygon").get("points", "").split()) for each in groups]  # type: ignore[union-attr]
    assert not [each for each in parts(figure, "curve-2") if each.find("polygon") is not None]


def test_svg_curves_are_distinct() -> None:
    figure = Figure("f", "F", "x", "y", [Curve(str(number), [0, 1], [0, number]) for number in range(28)])
    root = ElementTree.fromstring(svg(figure))
    groups = [each for each in root.iter() if each.get("class", "").startswith("curve-")]
    looks = {(each.get("class"), each.find("path").get("class")) for each in groups}  # type: ignore[union-attr]
    assert (56, 28) == (len(groups), len(looks))  # each curve is in the legend, too


def test_svg_histogram_stacks_kinds() -> None:
    curves = [Curve("old", (), [1, 0]), Curve("new", (), [1, 4])]
    chart = Histogram("h", "H", "when", "things", curves, low=0, high=10, palette=[0, 6], marks=[(5, "half"), (7, "")])
    first, second = parts(chart, "bin")
    lower, upper = [each for each in first.iter() if "block" in each.get("class", "")]
    assert float(lower.get("y", "")) == pytest.approx(
        float(upper.get("y", "")) + float(upper.get("height", "")), abs=0.1
    )
    assert "0 to 5\nold: 1\nnew: 1" == first.findtext("title")
    assert "5 to 10\nnew: 4" == second.findtext("title")
    assert ["half"] == [each.findtext("text") for each in parts(chart, "mark")]
    assert 1 == len(parts(chart, "break"))


def test_svg_points_have_tooltips() -> None:
    figure = Figure("f", "F", "pages", "y", [Curve("a", [1, 2], [0.5, 0.25], [0, 0], [1, 1]), Curve("b", [2], [3])])
    assert ["pages: 1\na: 0.5 (0 to 1)", "pages: 2\na: 0.25 (0 to 1)\nb: 3"] == [
        each.findtext("title") for each in parts(figure, "at")
    ]
    assert not parts(figure, "at", width=360)


def test_svg_tooltips_of_long_curves_are_thinned() -> None:
    assert 40 == len(parts(Figure("f", "F", "x", "y", [Curve("a", range(10_000), range(10_000))]), "at"))


@pytest.mark.parametrize(
    "figure",
    [
        Figure("f", "F", "x", "y", []),
        Figure("f", "F", "x", "y", [Curve("a", [], [])]),
        Figure("f", "F", "x", "y", [Curve("a", [3], [7])]),
        Figure("f", "F", "x", "y", [Curve("a", [1, 2], [0, 0])]),
    ],
)
def test_svg_without_values_has_axes(figure: Figure) -> None:
    assert {"x", "y"} <= {each.text for each in ElementTree.fromstring(svg(figure)).iter("text")}


def test_svg_escapes_markup() -> None:
    curves = [Curve(HOSTILE, [1], [1]), Curve("b", [1], [1])]
    bins = {"low": 0, "high": 1, "palette": [0, 1], "marks": [(0.5, HOSTILE)]}
    words = ("f", HOSTILE, HOSTILE, HOSTILE)
    for figure in (Figure(*words, curves), Histogram(*words, curves, **bins)):
        for drawn in (svg(figure, standalone=True), inline(figure, HOSTILE)):
            assert "<script" not in drawn
            assert "\u202e" not in drawn


def test_svg_file_is_self_contained() -> None:
    drawn = svg(Figure("f", "A title", "x", "y", []), standalone=True, theme="dark")
    root = ElementTree.fromstring(drawn)
    assert "A title" in {each.text for each in root.iter("{http://www.w3.org/2000/svg}text")}
    assert "dark" == root.get("data-theme")
    assert "--curve-1" in drawn
    assert not re.search(r"url\(|@import|href", drawn)
