"""Size and cost of Lycosa are below tools/ceilings.toml."""

from __future__ import annotations

import tomllib
from typing import Any

import pytest

from test_docs import ROOT, _tool

TOOL = _tool("size")
CEILINGS = tomllib.loads((ROOT / "tools" / "ceilings.toml").read_text("utf-8"))
HELP = "lower it, or let the first commit of a feature that needs more raise the ceiling in tools/ceilings.toml"


def excesses(part: str, figures: dict[str, float], ceilings: dict[str, float]) -> list[str]:
    """Return a line for each figure above its ceiling, and for each ceiling without a figure."""
    tolerance = ceilings.get("tolerance_percent", 0) / 100
    lines = [f"{part}.{name}: has no ceiling in tools/ceilings.toml" for name in figures if name not in ceilings]
    for name, ceiling in ceilings.items():
        if name == "tolerance_percent":
            continue
        if name not in figures:
            lines.append(f"{part}.{name}: there is no such figure any more: delete its ceiling")
        elif figures[name] > ceiling * (1 + tolerance * name.endswith("_calls")):
            excess = round(figures[name] - ceiling, 1)
            lines.append(f"{part}.{name}: {figures[name]:,} is {excess:,} above {ceiling:,}: {HELP}")
    return lines


def test_lines_by_folder_are_below_ceilings() -> None:
    above = excesses("lines", TOOL.lines_by_folder(ROOT), CEILINGS["lines"])
    assert not above, "\n".join(above)


def test_size_is_below_ceilings() -> None:
    measured = TOOL.size(ROOT)
    limited = {name: measured[name] for name in measured if name not in ("modules", "dataclasses", "protocols")}
    above = excesses("size", limited, CEILINGS["size"])
    assert not above, "\n".join(above)


def test_walk_is_below_ceilings() -> None:
    above = excesses("walk", TOOL.walk(ROOT), CEILINGS["walk"])
    assert not above, "\n".join(above)


@pytest.mark.parametrize(
    ("figures", "ceilings", "expected"),
    [
        ({"web": 10}, {"web": 10}, []),
        ({"web": 12}, {"web": 10}, [f"lines.web: 12 is 2 above 10: {HELP}"]),
        ({"web": 10, "cli": 1}, {"web": 10}, ["lines.cli: has no ceiling in tools/ceilings.toml"]),
        ({}, {"web": 10}, ["lines.web: there is no such figure any more: delete its ceiling"]),
        ({"page_calls": 102, "page_files": 50}, {"page_calls": 100, "page_files": 50, "tolerance_percent": 2}, []),
        (
            {"page_calls": 103, "page_files": 51},
            {"page_calls": 100, "page_files": 50, "tolerance_percent": 2},
            [f"lines.page_calls: 103 is 3 above 100: {HELP}", f"lines.page_files: 51 is 1 above 50: {HELP}"],
        ),
    ],
)
def test_excesses_name_figures_above_ceilings(
    figures: dict[str, float], ceilings: dict[str, float], expected: list[str]
) -> None:
    assert expected == excesses("lines", figures, ceilings)


def test_dialect_counts_docstrings_only() -> None:
    tree = TOOL.ast.parse(
        '"""What nobody reads."""\nx = 1  # what\n"""Two words."""\ndef what(): """Four other words here"""'
    )
    assert 222.2 == TOOL.dialect([tree])


def test_constants_are_module_level_capitals() -> None:
    tree: Any = TOOL.ast.parse("A = 1\nB: int = 2\nC, _D = 3, 4\nother = 5\ndef f():\n    E = 6\n")
    assert ["A", "B", "C", "_D"] == list(TOOL.constants(tree))
