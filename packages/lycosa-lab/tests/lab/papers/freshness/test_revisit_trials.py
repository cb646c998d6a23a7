from __future__ import annotations

from pathlib import Path

from lycosa_lab.papers.freshness.revisit_trials import (
    FreshnessScenario,
    RevisitTrial,
    crawl_scenario,
    run_revisit_trial,
)


def test_run_revisit_trial_is_deterministic(tmp_path: Path) -> None:
    world = FreshnessScenario(7, 80, 3, 25, 2.0)
    trial = RevisitTrial(world, "automatic", 12 * 3600.0)
    one, two = (run_revisit_trial(trial, tmp_path / name) for name in "ab")
    assert one == two
    assert one.watched == len(crawl_scenario(world, tmp_path / "a").pages)
