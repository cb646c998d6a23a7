from __future__ import annotations

import importlib
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import cast

import pytest

from lycosa.core.durations import format_duration
from lycosa.core.errors import LycosaError
from lycosa.revisit.snapshot import Snapshot
from lycosa.testweb.changing import START, ChangingWeb
from lycosa.testweb.embedded_web import Web
from lycosa_lab.corpus_index import CorpusIndex
from lycosa_lab.findings import Findings, ReportFigure, ReportTable
from lycosa_lab.papers import EXPERIMENTS, PAPERS, Bench
from lycosa_lab.papers import freshness as experiment
from lycosa_lab.papers.freshness import FreshnessSize, Runs, findings
from lycosa_lab.papers.freshness.detection import (
    Detection,
    Pair,
    detect,
    drawn,
    pooled,
)
from lycosa_lab.papers.freshness.revisit_trials import (
    SCHEDULES,
    FreshnessScenario,
    RevisitTrial,
    crawl_scenario,
    run_revisit_trial,
)
from lycosa_lab.papers.freshness.upkeep import (
    DAY,
    PageCheck,
    Timeline,
    common,
    measure,
    share_over_time,
    spans,
    timeline,
)
from lycosa_lab.pool import map_parallel
from lycosa_lab.report import write_report
from places import ROOT

SMALL = FreshnessSize(1, 240, 6, 70, 5.0, (24.0,), 12)


def page(weight: float, changes: tuple[float, ...], *counts: tuple[float, float], fetched: float = 0.0) -> Timeline:
    return Timeline("", weight, fetched, changes, counts)


def got(at: float) -> PageCheck:
    """Return a check that fetched the page."""
    return PageCheck(at, "ok", 200)


def test_measure_by_hand() -> None:
    one = page(1.0, (2 * DAY, 6 * DAY), (0.0, 10 * DAY))
    two = page(3.0, (4 * DAY,), (0.0, 8 * DAY))  # gone after eight days
    looks = [[got(5 * DAY)], [got(1 * DAY), got(7 * DAY)]]
    made = measure([one, two], looks, 0.0, 10 * DAY)
    # One is fresh in [0, 2) and [5, 6); two in [0, 4) and [7, 8), and counts until 8. By weight of 4: [0, 2) 1, [2, 4)
    # 3/4, [4, 5) 0, [5, 6) 1/4, [6, 7) 0, [7, 8) 3/4; of 1: [8, 10) 0.
    assert (2 * 1 + 2 * 0.75 + 0.25 + 0.75) / 10 == pytest.approx(made.freshness)
    # One is stale from 2 to 5 and from 6 to 10: 9/2 + 16/2; two from 4 to 7: 9/2. Weight times time: 10 + 24.
    assert (12.5 + 3 * 4.5) / 34 == pytest.approx(made.age)
    assert [1, 1, 0.75, 0.75, 0, 0.25, 0, 0.75, 0, 0] == pytest.approx(made.days)
    assert (3, 0, 2) == (made.looks, made.unmodified, made.watched)


def test_measure_304_does_not_renew_copy() -> None:
    lied = PageCheck(3 * DAY, "unchanged", 304)
    made = measure([page(1.0, (2 * DAY,), (0.0, 4 * DAY))], [[lied]], 0.0, 4 * DAY)
    assert 0.5 == made.freshness  # two of four days
    assert 0.25 == made.lied  # the last of them
    assert 1 == made.unmodified


def test_share_over_time_ignores_uncounted_time() -> None:
    mean, days = share_over_time([1.0], [[(0.0, DAY)]], [[(0.0, DAY)]], 0.0, 2 * DAY)
    assert 1.0 == mean
    assert 1.0 == days[0]
    assert days[1] != days[1]


def test_spans_change_at_fetch_time() -> None:
    assert ([(0.0, 4.0), (5.0, 9.0)], [(4.0, 5.0)]) == spans([0.0, 5.0], [0.0, 4.0, 4.5], 9.0)
    assert [] == common([(0.0, 1.0)], [(1.0, 2.0)])
    made = measure([page(1.0, (5.0,), (0.0, 5.0))], [[PageCheck(6.0, "unchanged", 304)]], 0.0, 9.0)
    assert (0.0, 0.0) == (made.age, made.lied)  # stale only after it stopped counting


def test_measure_equals_sampling() -> None:
    now = [START]
    web = ChangingWeb(Web(seed=5, pages=80, hosts=4, traps=()), lambda: now[0], seed=5, days=10)
    end = START + 10 * DAY
    pages = [timeline(web, url, 1.0, START, START, end) for url in web.urls()]
    looks = [[got(START + 3.3 * DAY), got(START + 7.1 * DAY)] for _ in pages]
    moments = [START + 10 * DAY * (i + 0.5) / 400 for i in range(400)]
    shares = []
    for t in moments:
        there = [one for one in pages if any(a <= t < b for a, b in one.counts)]
        since = max(at for at in (START, START + 3.3 * DAY, START + 7.1 * DAY) if at <= t)
        shares.append(sum(web.fresh(one.url, since, t) for one in there) / len(there))
    assert sum(shares) / 400 == pytest.approx(measure(pages, looks, START, end).freshness, abs=2e-3)


def test_detection_scores_by_hand() -> None:
    """6 of 8 alarms are real, 6 of 10 changes are seen: 3/4, 3/5, and 2/3 for both."""
    counts = ((True, True, 6), (False, True, 2), (True, False, 4), (False, False, 8))
    made = Detection([(real, seen) for real, seen, times in counts for _ in range(times)])
    assert (0.75, 0.6, pytest.approx(2 * 0.75 * 0.6 / (0.75 + 0.6))) == made.scores
    assert (None, None, 0.0) == Detection([]).scores


def test_detect_by_digest_and_main_text() -> None:
    old = Snapshot.of("http://a.test/", b"<p>Coral reefs in the sea<footer>3 May 2024</footer>", "text/html")
    date = Snapshot.of("http://a.test/", b"<p>Coral reefs in the sea<footer>4 May 2024</footer>", "text/html")
    word = Snapshot.of("http://a.test/", b"<p>Coral reefs in the bay<footer>3 May 2024</footer>", "text/html")
    found = detect([Pair(old, word, True), Pair(old, date, False)])
    assert [(True, True), (False, True)] == found["digest"].said
    assert [(True, True), (False, False)] == found["main-text"].said == found["default"].said
    assert 2 == pooled([found, found])["digest"].count(False, True)


def test_drawn_pairs_have_both_outcomes() -> None:
    now = [START]
    web = ChangingWeb(Web(seed=4, pages=400, hosts=8, traps=()), lambda: now[0], seed=4)
    some = drawn(web, 40, seed=4)
    assert {True, False} == {pair.real for pair in some}
    assert all(pair.old.body != pair.new.body for pair in some if pair.real)


@pytest.fixture(scope="module")
def found(tmp_path_factory: pytest.TempPathFactory) -> tuple[Findings, Path, FreshnessSize]:
    """Run the quick experiment at a smaller size in this process."""
    out = tmp_path_factory.mktemp("freshness")
    bench = Bench(cast(CorpusIndex, None), out, quick=True, workers=1)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(experiment, "QUICK", SMALL)
        return findings(bench), out, SMALL


def test_findings_quick_run_has_all_tables(found: tuple[Findings, Path, FreshnessSize]) -> None:
    made, _, size = found
    tables = {part.key.removeprefix("freshness-") for part in made.parts if isinstance(part, ReportTable)}
    assert {"schedules", "detection"} == tables
    figures = {part.key.removeprefix("freshness-figure-") for part in made.parts if isinstance(part, ReportFigure)}
    assert {"days-24h"} == figures
    schedules = next(part for part in made.parts if part.key == "freshness-schedules")
    assert isinstance(schedules, ReportTable)
    assert [("1d", name) for name in SCHEDULES] == [tuple(row[:2]) for row in schedules.rows]
    days = next(part for part in made.parts if part.key == "freshness-figure-days-24h")
    assert isinstance(days, ReportFigure)
    assert [int(size.days)] * len(SCHEDULES) == [len(curve.y) for curve in days.curves]
    assert {"cannot be tested here"} == {claim.verdict for claim in made.claims}
    assert "freshness" in EXPERIMENTS
    assert "freshness" not in PAPERS


def test_findings_automatic_is_not_behind(found: tuple[Findings, Path, FreshnessSize]) -> None:
    made, out, size = found
    worlds = [FreshnessScenario(**world) for world in made.configuration["webs"]]
    trials = [RevisitTrial(world, name, 3600.0 * size.hours[0]) for world in worlds for name in SCHEDULES]
    runs = Runs({trial: run_revisit_trial(trial, out) for trial in trials})  # cached
    mean = {name: runs.interval(name, trials[0].every).mean for name in SCHEDULES}
    slack = 0.02  # one web gives no finer resolution
    assert mean["automatic"] >= mean["fixed"] - slack, mean
    for trial, one in runs.made.items():
        most = one.watched * trial.world.days * DAY / trial.every
        assert one.looks + one.other <= most + 2, trial.key  # the budget includes robots.txt
        assert 0.5 < one.freshness < 1


def test_findings_second_run_is_cached(
    found: tuple[Findings, Path, FreshnessSize], monkeypatch: pytest.MonkeyPatch
) -> None:
    made, out, _ = found
    monkeypatch.setattr(experiment, "QUICK", SMALL)
    monkeypatch.setattr("lycosa_lab.papers.freshness.revisit_trials._watch", None)
    monkeypatch.setattr("lycosa_lab.papers.freshness.detection.detect", None)
    again = findings(Bench(cast(CorpusIndex, None), out, quick=True, workers=1))
    assert made == again
    assert [] == list((out / "running").iterdir())


def test_freshness_tool_fills_measured_regions(
    found: tuple[Findings, Path, FreshnessSize], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.syspath_prepend(str(ROOT / "tools"))
    tool = importlib.import_module("freshness")
    few = {"freshness-schedules", "freshness-detection", "freshness-figure-days-24h"}
    told = replace(found[0], parts=[part for part in found[0].parts if part.key in few])
    write_report(told, tmp_path / "out" / "freshness", "lycosa lab paper freshness")
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


def test_run_revisit_trial_is_deterministic(tmp_path: Path) -> None:
    world = FreshnessScenario(7, 80, 3, 25, 2.0)
    trial = RevisitTrial(world, "automatic", 12 * 3600.0)
    one, two = (run_revisit_trial(trial, tmp_path / name) for name in "ab")
    assert one == two
    assert one.watched == len(crawl_scenario(world, tmp_path / "a").pages)


def test_map_parallel_order_and_failure() -> None:
    heard: list[tuple[str, int, int]] = []
    for workers in (1, 2):
        assert ["6h", "1d", "3d"] == map_parallel(
            format_duration, [21_600.0, 86_400.0, 259_200.0], workers, "speaking", lambda *told: heard.append(told)
        )
    assert ("speaking", 3, 3) == heard[-1]
    failing: Callable[[str], float] = _fail
    with pytest.raises(LycosaError, match="no such thing"):
        map_parallel(failing, ["a", "b"], 1, "failing", lambda *told: None)


def _fail(text: str) -> float:
    raise LycosaError("no such thing")
