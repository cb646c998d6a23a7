from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import typer

from lycosa_lab.cli.printing import printed_parts, report_interrupt
from lycosa_lab.findings import AS_PUBLISHED, Claim, Findings, ReportTable
from lycosa_lab.report import BADGE

FOUND = Findings(
    "demo",
    "Demo",
    [
        ReportTable("t", "Harvest", ["name", "share"], [["a [b]", 0.25], ["c", None]], AS_PUBLISHED),
        ReportTable("other", "Other", ["name"], [["x"]]),
    ],
    [Claim("It holds", "8.2", "holds", "one\ntwo")],
    "One crawl.",
    remarks=["Left out:\nd"],
)


def test_printed_parts_have_order_and_text() -> None:
    table, *lines = printed_parts(FOUND, "t")
    assert not isinstance(table, str)
    assert lines == ["- Left out: d", "holds: It holds. one two", "One crawl."]


def test_printed_parts_align_table_cells() -> None:
    table: Any = next(printed_parts(FOUND, "t"))
    assert BADGE in table.title
    assert [column.justify for column in table.columns] == ["left", "right"]
    assert [[str(cell) for cell in column.cells] for column in table.columns] == [["a [b]", "c"], ["0.250", "–"]]


def test_report_interrupt_exits_with_130(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(typer.Exit) as caught, report_interrupt(Path("out")):
        raise KeyboardInterrupt
    assert caught.value.exit_code == 130
    assert "kept in out. The same command continues" in capsys.readouterr().err
