"""Two reports compared: cells, verdicts, configurations, corpora, curves."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from commands import run
from lycosa.core.errors import InputError
from lycosa.lab.findings import Claim, Curve, Figure, Findings, Mode, Table
from lycosa.lab.report import compare, write_report
from lycosa.lab.report.storing import stored


def report(
    path: Path, *, harvest: float = 0.5, fingerprint: str = "8f3a", verdict: Any = "holds", mode: Mode = "independent",
    order: int = 1, budget: int = 100, more: tuple[Table, ...] = (),
) -> Path:  # fmt: skip
    """A stored report, without its page."""
    rows: list[list[Any]] = [["best-first", 100, harvest], ["best-first", 300, 0.4], ["random", 100, None]]
    found = Findings(
        "demo", "Demo",
        parts=[
            Table("t", "Harvest", ["strategy", "budget", "harvest"], rows[::order], mode),
            Figure("f", "Curves", "pages", "harvest", [Curve("a", [1, 2], [0.1, harvest]), Curve("b", [1, 2], [0, 0])]),
            Table("slow", "Times", ["name", "ms"], [["a", harvest]], timed=True),
            *more,
        ],
        claims=[Claim("It is better", "Someone 2014", verdict, "")],
        configuration={"budgets": [budget], "judge": "vector"},
        corpus={"fingerprint": fingerprint, "pages": 3000},
    )  # fmt: skip
    path.mkdir()
    (path / "report.json").write_text(stored([found])[0])
    return path


def part(found: Findings, key: str) -> Table | Figure:
    return next(part for part in found.parts if part.key == key)


def test_a_report_and_itself(tmp_path: Path) -> None:
    """Nothing differs, and nothing is warned of; times are not compared."""
    found = compare(report(tmp_path / "a"), report(tmp_path / "b", order=-1))
    # 2 columns... the budget names a row: 3 rows x 1 cell, and 2 curves x 2 points.
    assert "Both have 1 table, 1 figure and 1 claim. 0 of 7 values differ. No verdict changed." == found.summary
    assert [] == found.remarks
    assert ["compare-parts", "compare-claims", "compare-f"] == [part.key for part in found.parts]


def test_cells_that_differ(tmp_path: Path) -> None:
    """Rows are matched by their names, whatever their order; differences are B less A, and in per cent of A."""
    found = compare(report(tmp_path / "a"), report(tmp_path / "b", harvest=0.75, order=-1))
    table = part(found, "compare-t")
    assert isinstance(table, Table)
    # 0.75 - 0.5 = 0.25; 100 x 0.25 / 0.5 = 50 %
    assert [["best-first, 100", "harvest", 0.5, 0.75, 0.25, 50.0]] == table.rows
    overview = part(found, "compare-parts")
    assert isinstance(overview, Table)
    # 0.25 of 0.75, the largest value of the column and of the figure: a third
    assert [["Harvest", 3, 1, 0.25], ["Curves", 4, 1, 0.25]] == [row[:4] for row in overview.rows]
    assert [pytest.approx(100 / 3)] * 2 == [row[4] for row in overview.rows]
    assert (
        "2 of 7 values differ: half of them by at most 33.3 % of the largest value beside them, all by at most 33.3 % "
        "(Harvest)."
    ) in found.summary


def test_values_next_to_nothing_are_not_divided_by(tmp_path: Path) -> None:
    """From .001 to .251 beside a value of .5 is half of what is seen there, and not 25,000 %."""
    rows = {"a": [["x", 0.5], ["y", 0.001]], "b": [["x", 0.5], ["y", 0.251]]}
    for name, cells in rows.items():
        table = Table("t", "Harvest", ["strategy", "harvest"], cells)
        figure = Figure("f", "Curves", "pages", "harvest", [Curve("c", [1, 2], [row[1] for row in cells])])
        (tmp_path / name).mkdir()
        (tmp_path / name / "report.json").write_text(stored([Findings("d", "D", [table, figure])])[0])
    found = compare(tmp_path / "a", tmp_path / "b")
    assert "2 of 4 values differ: half of them by at most 50.0 % of the largest value beside them" in found.summary
    assert [None] == [row[5] for row in part(found, "compare-t").rows]  # type: ignore[union-attr]


def test_other_corpora_are_warned_of(tmp_path: Path) -> None:
    """Another fingerprint is a warning, at the head of the page, too; so is another mode."""
    a, b = report(tmp_path / "a"), report(tmp_path / "b", fingerprint="77", mode="as-published")
    found = compare(a, b)
    assert found.remarks[0].startswith("WARNING: the corpora differ (8f3a in A, 77 in B)")
    assert "WARNING: Harvest (t) is independent in A and as-published in B." in found.remarks
    page = write_report(found, tmp_path / "out", "").read_text("utf-8")
    assert '<p class="warning" role="note"><strong>Warning</strong> the corpora differ' in page
    assert ["fingerprint", "8f3a", "77"] in list(part(found, "compare-corpus").rows)  # type: ignore[union-attr]


def test_what_differs_of_the_rest(tmp_path: Path) -> None:
    """Verdicts that changed, settings that differ, and parts that only one has are told."""
    extra = Table("extra", "Extra", ["a"], [["b"]])
    found = compare(report(tmp_path / "a"), report(tmp_path / "b", verdict="does not hold", budget=7, more=(extra,)))
    claims, settings = part(found, "compare-claims"), part(found, "compare-configuration")
    assert isinstance(claims, Table)
    assert isinstance(settings, Table)
    assert [["It is better", "holds", "does not hold", "changed"]] == claims.rows
    assert [["budgets", "100", "7"]] == settings.rows
    assert ["Only B has Extra (extra)."] == found.remarks
    assert "1 verdict changed." in found.summary


def test_reports_are_named_by_their_experiments(tmp_path: Path) -> None:
    """What `lycosa lab run` writes is always called report: the directory around it tells which."""
    for name in ("before", "after"):
        (tmp_path / name).mkdir()
        report(tmp_path / name / "report")
    found = compare(tmp_path / "before" / "report", tmp_path / "after" / "report")
    assert "before (A) against after (B)" == found.title


def test_curves_are_laid_over_each_other(tmp_path: Path) -> None:
    """Each curve of B has the colour of A's: it is set against it."""
    found = compare(report(tmp_path / "a"), report(tmp_path / "b", harvest=0.75))
    figure = part(found, "compare-f")
    assert isinstance(figure, Figure)
    assert [("a (A)", None), ("a (B)", 0), ("b (A)", None), ("b (B)", 2)] == [
        (curve.label, curve.twin_of) for curve in figure.curves
    ]
    apart = part(found, "compare-f-curves")
    assert isinstance(apart, Table)
    assert [["a", 0.5, 0.75, 0.25, "2"], ["b", 0, 0, None, None]] == apart.rows


def test_bars_are_matched_by_their_labels(tmp_path: Path) -> None:
    """A topic that only B has stands at the end; a value is compared with that of the same topic."""
    for name, ticks, y in (("a", ["x", "y"], [1, 2]), ("b", ["z", "x"], [3, 4])):
        figure = Figure("f", "F", "topic", "n", [Curve("n", [0, 1], y)], bars=True, ticks=ticks)
        (tmp_path / name).mkdir()
        (tmp_path / name / "report.json").write_text(stored([Findings("d", "D", [figure])])[0])
    found = compare(tmp_path / "a", tmp_path / "b")
    apart = part(found, "compare-f-curves")
    assert isinstance(apart, Table)
    assert ["x", "y", "z"] == part(found, "compare-f").ticks  # type: ignore[union-attr]
    # x: 4 - 1 = 3
    assert [3.0, "x"] == list(apart.rows[0][3:])


@pytest.mark.parametrize("content", ["", "[]", "{}", '{"format": 99}', '{"format": 1, "findings": [{"parts": 3}]}'])
def test_what_is_no_report(tmp_path: Path, content: str) -> None:
    """A damaged report, or one of another version, is an error that names the file."""
    (tmp_path / "report.json").write_text(content)
    with pytest.raises(InputError, match=r"report\.json"):
        compare(tmp_path, tmp_path)


def test_compare_on_the_command_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The command prints warnings and differences, writes a page on demand, and speaks JSON."""
    a, b = report(tmp_path / "a"), report(tmp_path / "b", harvest=0.75, fingerprint="77")
    assert 0 == run(monkeypatch, "lab", "compare", str(a), str(b), "--out", str(tmp_path / "out"), width=100)
    said = capsys.readouterr().out
    assert said.startswith("WARNING: the corpora differ")
    assert "Harvest" in said
    assert (tmp_path / "out" / "index.html").is_file()
    assert 0 == run(monkeypatch, "lab", "compare", str(a), str(b), "--json")
    assert "compare" == json.loads(capsys.readouterr().out)["key"]
    assert 2 == run(monkeypatch, "lab", "compare", str(a), str(tmp_path / "nothing"))
    assert "is not a report" in capsys.readouterr().err
