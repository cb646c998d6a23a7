from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import pytest

from lycosa_lab.corpora.recorded import embedded
from lycosa_lab.corpus_index import CorpusIndex
from lycosa_lab.findings import AS_PUBLISHED, INDEPENDENT, UNTESTED, Findings, ReportFigure, ReportTable, plain
from lycosa_lab.index_writer import write_index
from lycosa_lab.papers import Bench, findings
from lycosa_lab.papers.gouriten import graphs
from lycosa_lab.papers.gouriten.claims import GLOBAL

TABLES = [f"gouriten-table-{number}" for number in range(1, 8)]
FIGURES = [f"gouriten-figure-{number}" for number in range(1, 4)]
NODES = 320
"""Number of nodes of generated graphs."""


@pytest.fixture(scope="module")
def small_web(tmp_path_factory: pytest.TempPathFactory) -> CorpusIndex:
    return write_index(embedded(pages=320, hosts=15), tmp_path_factory.mktemp("web") / "index", source="small web")


@pytest.fixture(scope="module")
def report(small_web: CorpusIndex, tmp_path_factory: pytest.TempPathFactory) -> tuple[Findings, Path]:
    out = tmp_path_factory.mktemp("gouriten")
    with pytest.MonkeyPatch.context() as patch:
        small(patch)
        return findings("gouriten", Bench(small_web, out, quick=True, workers=1, large=True)), out


def small(patch: pytest.MonkeyPatch) -> None:
    """Make generated graphs small, including those of figure 1 and table 5."""
    patch.setattr(graphs, "QUICK_NODES", NODES)
    patch.setattr(graphs, "LARGE_NODES", NODES)
    patch.setattr(graphs, "QUICK_LIKE", ("happy", "jazz"))


@pytest.mark.paper("gouriten-table-1", "gouriten-figure-3")
def test_findings_has_all_tables_and_figures(report: tuple[Findings, Path]) -> None:
    output = report[0]
    keys = [part.key for part in output.parts]
    assert len(keys) == len(set(keys))
    modes = {part.key: part.mode for part in output.parts}
    assert dict.fromkeys([*TABLES, *FIGURES], AS_PUBLISHED) == {key: modes.get(key) for key in [*TABLES, *FIGURES]}


def test_findings_table_7_is_repeated_by_labels(report: tuple[Findings, Path]) -> None:
    by_key = {part.key: part for part in report[0].parts}
    table = by_key["gouriten-table-7-independent"]
    assert isinstance(table, ReportTable)
    yardsticks = {"oracle, greedy", "oracle, looking ahead"}
    assert (INDEPENDENT, set(GLOBAL) | yardsticks) == (table.mode, {row[0] for row in table.rows})


def test_findings_scores_and_correlations_are_in_range(report: tuple[Findings, Path]) -> None:
    by_key = {part.key: part for part in report[0].parts}
    for key in ("gouriten-table-6", "gouriten-table-7", "gouriten-table-7-independent"):
        table = by_key[key]
        assert isinstance(table, ReportTable)
        by_name = {name: [cell for row in table.rows if row[0] == name for cell in row[2:] if isinstance(cell, float)]
                   for name in {str(row[0]) for row in table.rows}}  # fmt: skip
        assert {1.0} == set(by_name.pop("oracle, greedy"))
        assert min(by_name.pop("oracle, looking ahead")) >= 1
        numbers = [number for of in by_name.values() for number in of]
        assert numbers
        assert all(0 <= number <= 1.2 for number in numbers)
    for key in ("gouriten-table-3", "gouriten-table-4"):
        table = by_key[key]
        assert isinstance(table, ReportTable)
        assert all(-1 <= cell <= 1 for row in table.rows for cell in row[1:] if isinstance(cell, float))


def test_findings_figure_1_jazz_and_table_5_happy(report: tuple[Findings, Path]) -> None:
    by_key = {part.key: part for part in report[0].parts}
    assert by_key["gouriten-figure-1-like-jazz"].title.endswith(", like JAZZ")
    times, large = by_key["gouriten-table-5"], by_key["gouriten-table-7-large"]
    assert isinstance(times, ReportTable)
    assert isinstance(large, ReportTable)
    assert ["like HAPPY"] == sorted({str(row[0]) for row in times.rows if str(row[0]).startswith("like")})
    cheap = {"bfs", "opic", "n", "e", "ne", "opic, original", "oracle, greedy", "oracle, looking ahead"}
    assert cheap == {row[0] for row in large.rows}
    assert f"like HAPPY ({NODES:,} nodes), like JAZZ" in large.note


def test_findings_only_table_5_is_timed(report: tuple[Findings, Path]) -> None:
    assert ["gouriten-table-5"] == [part.key for part in report[0].parts if part.timed]


@pytest.mark.paper("gouriten-figure-1")
def test_findings_figure_1_ends_at_greedy(report: tuple[Findings, Path]) -> None:
    figure = next(part for part in report[0].parts if part.key == "gouriten-figure-1")
    assert isinstance(figure, ReportFigure)
    assert [(1.0, 1.0)] * 3 == [(curve.x[-1], curve.y[-1]) for curve in figure.curves]


def untimed(found: Findings) -> Any:
    output = plain(found.as_dict())
    return output | {key: [one for one in output[key] if not one["timed"]] for key in ("parts", "claims")}


def test_findings_second_run_is_identical(
    small_web: CorpusIndex, report: tuple[Findings, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    small(monkeypatch)
    again = findings("gouriten", Bench(small_web, report[1], quick=True, workers=1, large=True))
    assert untimed(report[0]) == untimed(again)
    assert any(claim.timed for claim in again.claims)


def test_findings_claims_have_source_and_numbers(report: tuple[Findings, Path]) -> None:
    made_of = report[0].claims
    assert len(made_of) > 25
    assert all("2014, " in claim.source and any(letter.isdigit() for letter in claim.evidence) for claim in made_of)


def test_findings_long_run_claims_are_untested(report: tuple[Findings, Path]) -> None:
    late = [claim for claim in report[0].claims if "in the long run" in claim.text]
    assert {UNTESTED} == {claim.verdict for claim in late}


def test_findings_table_7_has_all_numbers(report: tuple[Findings, Path]) -> None:
    table = next(part for part in report[0].parts if part.key == "gouriten-table-7")
    assert isinstance(table, ReportTable)
    at_100 = [row for row in table.rows if row[1] == 100 and row[0] in GLOBAL]
    assert 7 == len(at_100)
    assert all(isinstance(cell, float) and not math.isnan(cell) for row in at_100 for cell in row[2:])
