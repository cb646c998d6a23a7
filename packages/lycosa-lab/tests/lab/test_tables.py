from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from input_errors import raises_input_error
from lycosa_lab.experiment_runner import run
from lycosa_lab.experiments import Experiment
from lycosa_lab.results import ExperimentResults, read_rows
from lycosa_lab.tables import differences, findings, unpaired


def paged(corpus: Path, **more: Any) -> Experiment:
    settings: dict[str, Any] = {
        "strategies": ["breadth-first", "best-first", "oracle"], "subjects": ["astronomy", "computing"], "seed_sets": 2,
        "seed_count": 2, "budgets": [20, 60], **more,
    }  # fmt: skip
    return Experiment("pages", str(corpus), **settings)


@pytest.fixture(scope="module")
def fair(corpus: Path, tmp_path_factory: pytest.TempPathFactory) -> ExperimentResults:
    return run(paged(corpus), tmp_path_factory.mktemp("fair"), workers=1)


def test_findings_have_tables_curves_and_settings(fair: ExperimentResults) -> None:
    results = fair
    found = findings(results)
    assert ["pages-harvest", "pages-curves", "pages-end", "pages-subjects"] == [part.key for part in found.parts]
    assert ["strategy", "pages", "difference", "low", "high", "p", "topics"] == findings(results, "oracle").parts[
        2
    ].columns
    assert (results.index.fingerprint, [20, 60]) == (found.corpus["fingerprint"], found.configuration["budgets"])
    table: Any = found.parts[0]
    assert results.ranked(60) == [row[0] for row in table.rows]
    assert [["strategy", "given", "20 pages", "60 pages"]] == [table.columns]
    assert [str(results.interval(row[0], 20)) for row in table.rows] == [row[2] for row in table.rows]
    curves: Any = found.parts[1]
    last = {
        curve.label: (curve.x[-1], curve.y[-1], curve.low[-1] <= curve.y[-1] <= curve.high[-1])
        for curve in curves.curves
    }
    for text in results.strategies:
        of = [one for one in results.rows if one["strategy"] == text and one["budget"] == 60]
        assert last[text] == (60, pytest.approx(np.mean([row["score"] / 60 for row in of])), True)


def test_findings_rule_on_claims(fair: ExperimentResults, corpus: Path) -> None:
    plan = paged(corpus, claims=["best-first better than breadth-first", "oracle like best-first"])
    one, other = findings(replace(fair, experiment=plan)).claims
    assert ("best-first better than breadth-first", "cannot be tested here") == (one.text, one.verdict)
    assert one.evidence.startswith("2 topics only")
    assert "best-first less breadth-first, harvest: +" in one.evidence
    assert "oracle less best-first" in other.evidence
    for wrong in ("best-first beats oracle", "best-first better than random"):
        with raises_input_error("bad-value"):
            paged(corpus, claims=[wrong]).check()


def test_differences_are_paired_by_topic_and_seed_set(fair: ExperimentResults) -> None:
    lines = {(text, budget): apart for text, budget, apart in differences(fair, "best-first")}
    assert {("breadth-first", 20), ("breadth-first", 60), ("oracle", 20), ("oracle", 60)} == set(lines)
    for (text, budget), apart in lines.items():
        assert apart.mean == pytest.approx(fair.mean(text, budget) - fair.mean("best-first", budget))
        assert (2, True) == (apart.n, apart.low <= apart.mean <= apart.high)


def test_differences_compare_with_another_experiment(fair: ExperimentResults, tmp_path: Path) -> None:
    fair.write_tables(tmp_path)
    before = read_rows(tmp_path, fair.index.fingerprint)
    assert [] == unpaired(fair, "there", before)
    assert {0.0} == {apart.mean for _, _, apart in differences(fair, before=before)}
    better = [
        {**row, "harvest": row["harvest"] + 0.1 * (row["strategy"] == "best-first" and row["budget"] == 20)}
        for row in before
    ]
    lines = {(text, budget): apart.mean for text, budget, apart in differences(fair, before=better)}
    assert -0.1 == pytest.approx(lines.pop(("best-first", 20)))
    assert {0.0} == set(lines.values())
    other = [{**row, "start": "x" if row["seed_set"] == 1 else row["start"]} for row in before]
    assert ["Other seeds than in there: 2 of 4 sets."] == unpaired(fair, "there", other)
    none = [{**row, "subject": "music"} for row in before]
    assert ["Nothing to compare: there has none of these strategies, topics and budgets."] == unpaired(
        fair, "there", none
    )


def test_read_rows_rejects_other_results(fair: ExperimentResults, tmp_path: Path) -> None:
    with raises_input_error("unreadable-file", r"cannot read .*results\.csv"):
        read_rows(tmp_path, "f")
    fair.write_tables(tmp_path)
    with raises_input_error("wrong-corpus"):
        read_rows(tmp_path, "f")
    for text in ("corpus,strategy\nf,fl_n\n", (tmp_path / "results.csv").read_text("utf-8") + "f,x\n"):
        (tmp_path / "results.csv").write_text(text, "utf-8")
        with raises_input_error("bad-file"):
            read_rows(tmp_path, fair.index.fingerprint)
