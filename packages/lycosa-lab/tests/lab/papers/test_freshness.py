from __future__ import annotations

import importlib
from dataclasses import replace
from pathlib import Path
from typing import cast

import pytest

from lycosa_lab.corpus_index import CorpusIndex
from lycosa_lab.findings import Findings, ReportFigure, ReportTable
from lycosa_lab.papers import EXPERIMENTS, PAPERS, Bench
from lycosa_lab.papers import freshness as experiment
from lycosa_lab.papers.freshness import FreshnessSize, Runs, findings
from lycosa_lab.papers.freshness.revisit_trials import SCHEDULES, FreshnessScenario, RevisitTrial, run_revisit_trial
from lycosa_lab.papers.freshness.upkeep import DAY
from lycosa_lab.report import write_report
from places import ROOT

SMALL = FreshnessSize(1, 240, 6, 70, 5.0, (24.0,), 12)


@pytest.fixture(scope="module")
def found(tmp_path_factory: pytest.TempPathFactory) -> tuple[Findings, Path, FreshnessSize]:
    """Run the quick experiment at a smaller size in this process."""
    out = tmp_path_factory.mktemp("freshness")
    bench = Bench(cast(CorpusIndex, None), out, quick=True, workers=1)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(experiment, "QUICK", SMALL)
        return findings(bench), out, SMALL


def test_findings_quick_run_has_all_tables(found: tuple[Findings, Path, FreshnessSize]) -> None:
    result, _, size = found
    tables = {part.key.removeprefix("freshness-") for part in result.parts if isinstance(part, ReportTable)}
    assert {"schedules", "detection"} == tables
    figures = {part.key.removeprefix("freshness-figure-") for part in result.parts if isinstance(part, ReportFigure)}
    assert {"days-24h"} == figures
    schedules = next(part for part in result.parts if part.key == "freshness-schedules")
    assert isinstance(schedules, ReportTable)
    assert [("1d", name) for name in SCHEDULES] == [tuple(row[:2]) for row in schedules.rows]
    days = next(part for part in result.parts if part.key == "freshness-figure-days-24h")
    assert isinstance(days, ReportFigure)
    assert [int(size.days)] * len(SCHEDULES) == [len(curve.y) for curve in days.curves]
    assert {"cannot be tested here"} == {claim.verdict for claim in result.claims}
    assert "freshness" in EXPERIMENTS
    assert "freshness" not in PAPERS


def test_findings_automatic_is_not_behind(found: tuple[Findings, Path, FreshnessSize]) -> None:
    result, out, size = found
    worlds = [FreshnessScenario(**world) for world in result.configuration["webs"]]
    trials = [RevisitTrial(world, name, 3600.0 * size.hours[0]) for world in worlds for name in SCHEDULES]
    runs = Runs({trial: run_revisit_trial(trial, out) for trial in trials})  # cached
    mean = {name: runs.interval(name, trials[0].every).mean for name in SCHEDULES}
    slack = 0.03  # smaller differences are noise with a single web
    assert mean["automatic"] >= mean["fixed"] - slack, mean
    for trial, one in runs.by_trial.items():
        most = one.watched * trial.world.days * DAY / trial.every
        assert one.checks + one.other <= most + 2, trial.key  # the budget includes robots.txt
        assert 0.5 < one.freshness < 1


def test_findings_second_run_is_cached(
    found: tuple[Findings, Path, FreshnessSize], monkeypatch: pytest.MonkeyPatch
) -> None:
    result, out, _ = found
    monkeypatch.setattr(experiment, "QUICK", SMALL)
    monkeypatch.setattr("lycosa_lab.papers.freshness.revisit_trials._watch", None)
    monkeypatch.setattr("lycosa_lab.papers.freshness.detection.detect", None)
    again = findings(Bench(cast(CorpusIndex, None), out, quick=True, workers=1))
    assert result == again
    assert [] == list((out / "running").iterdir())


def test_freshness_tool_fills_measured_regions(
    found: tuple[Findings, Path, FreshnessSize], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.syspath_prepend(str(ROOT / "tools"))
    tool = importlib.import_module("freshness")
    few = {"freshness-schedules", "freshness-detection", "freshness-figure-days-24h"}
    output = replace(found[0], parts=[part for part in found[0].parts if part.key in few])
    write_report(output, tmp_path / "out" / "freshness", "lycosa lab paper freshness")
    docs = tmp_path / "docs"
    docs.mkdir()
    report = tool.Report(tmp_path / "out")
    text = "Prose.\n" + "".join(f"<!-- measured: {name} -->\nold\n<!-- end -->\nmore\n" for name in (*few, "claims"))
    new = tool.filled(text, report, docs)
    assert ("Prose.\n", 4, 0) == (new[:7], new.count("<!-- end -->\nmore\n"), new.count("old\n"))
    assert "| 1d | automatic |" in new
    assert "| main-text | " in new
    assert "**cannot be tested here**" in new
    assert (docs / "freshness" / "days-24h.svg").is_file()
    assert new == tool.filled(new, report, docs)
    with pytest.raises(SystemExit, match="the report has no freshness-nothing"):
        tool.filled("<!-- measured: freshness-nothing -->\n<!-- end -->", report, docs)
