"""Golden crawls: default crawls pick the same pages as the recorded ones."""

from __future__ import annotations

import importlib.util
import math
import re
import sys
from pathlib import Path
from types import ModuleType

import pytest

from lycosa.strategies.scent.estimator import WEIGHTS

ROOT = Path(__file__).parents[1]


def _tool() -> ModuleType:
    spec = importlib.util.spec_from_file_location("golden", ROOT / "tools/golden.py")
    assert spec is not None
    assert spec.loader is not None
    module = sys.modules["golden"] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


golden = _tool()
RECORDED = golden.read(golden.RECORDED)


@pytest.mark.parametrize("name", golden.CRAWLS)
def test_crawl_picks_recorded_pages(name: str) -> None:
    if not golden.is_here(name, golden.CORPORA):
        pytest.skip(f"there is no {name.split('/')[0]} in {golden.CORPORA}")
    outcome = golden.compare(name, golden.CORPORA, RECORDED[name])
    assert not outcome.changes, "\n".join([*outcome.changes, *outcome.ties])


@pytest.mark.parametrize(("weight", "factor"), [("anchor", 2.0), ("address", 1.2)])
def test_compare_reports_changed_weight(monkeypatch: pytest.MonkeyPatch, weight: str, factor: float) -> None:
    monkeypatch.setitem(WEIGHTS, weight, factor * WEIGHTS[weight])
    name = "web/coral"
    (change,) = golden.compare(name, golden.CORPORA, RECORDED[name]).changes
    said = re.fullmatch(
        rf"{name}, pick (\d+): recorded (\S+) \(priority (.+), now (.+)\), picked (\S+) \(priority (.+)\)", change
    )
    assert said is not None, change
    number, recorded, priority, now, picked, higher = said.groups()
    assert RECORDED[name][int(number) - 1][:2] == (recorded, float(priority))
    assert picked != recorded
    assert float(higher) - float(now) > golden.TIE


def test_compare_reports_tie(monkeypatch: pytest.MonkeyPatch) -> None:
    name, at = "web/coral", 30
    monkeypatch.setattr(golden, "PICKS", at + 1)
    picks = golden.run(name, golden.CORPORA)
    monkeypatch.setattr(golden, "TIE", 100.0)  # any two candidates are tied
    other = next(pick for pick in RECORDED[name][at + 1 :] if pick.url not in {made.url for made in picks})
    recorded = [*picks[:at], other._replace(priority=picks[at].priority)]
    outcome = golden.compare(name, golden.CORPORA, recorded)
    assert f"{name}, pick {at + 1}: recorded {other.url}" in outcome.ties[0]
    assert len(outcome.ties) == 1
    assert outcome.changes == []


def test_read_returns_written_record(tmp_path: Path) -> None:
    crawls = {"web/x": [golden.Pick("http://a.test/", math.inf), golden.Pick("http://a.test/b", -0.25)]}
    golden.write(crawls, tmp_path / "picks.tsv")
    assert golden.read(tmp_path / "picks.tsv") == crawls
    assert [golden.digest(picks) for picks in crawls.values()] == [(tmp_path / "picks.tsv").read_text().split("\t")[1]]
