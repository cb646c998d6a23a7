"""Stopping rules, alone and in a crawl."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import lycosa
from input_errors import raises_input_error
from lycosa.core.stopping import Exhausted, HarvestMonitor, HarvestSoFar, LowHarvest, RelevantPages, read_rules
from lycosa.core.types import Visit


def so_far(*relevant: int, pages: int) -> HarvestSoFar:
    """Return a harvest with relevant pages at some places."""
    mask = np.zeros(pages, np.bool_)
    mask[list(relevant)] = True
    return HarvestSoFar(pages, len(relevant), mask)


def test_exhausted_needs_relevant_page_and_whole_window() -> None:
    rule = Exhausted(pages=5)
    assert "" == rule.reason(so_far(pages=20))
    assert "" == rule.reason(so_far(0, 15, pages=20))
    assert "" == rule.reason(so_far(0, pages=4))
    assert "the topic looks exhausted: none of the last 5 pages is relevant" == rule.reason(so_far(0, 14, pages=20))


def test_relevant_pages_and_low_harvest() -> None:
    assert ["", "3 relevant pages found"] == [
        RelevantPages(3).reason(found) for found in (so_far(1, 2, pages=9), so_far(1, 2, 3, pages=9))
    ]
    rule = LowHarvest(share=0.5, pages=4)
    assert "" == rule.reason(so_far(6, 7, pages=8))
    assert "" == rule.reason(so_far(0, pages=3))
    assert "1 of the last 4 pages are relevant, less than 0.5" == rule.reason(so_far(0, 1, 2, 7, pages=8))


@pytest.mark.parametrize(
    ("typed", "code"),
    [
        ("exhausted=0", "out-of-range"),
        ("exhausted=many", "bad-value"),
        ("harvest=1.5", "out-of-range"),
        ("harvest=nan", "bad-value"),
        ("never=1", "bad-value"),
        ("relevant=0", "out-of-range"),
        ("exhausted=150000", "out-of-range"),
        ("enough", "unknown-name"),
    ],
)
def test_wrong_rule_is_refused(typed: str, code: str) -> None:
    with raises_input_error(code):
        read_rules([typed])


def test_monitor_counts_by_current_model() -> None:
    known = np.ones(30, np.bool_)
    monitor = HarvestMonitor([RelevantPages(30)], lambda: 0.5, lambda: known)
    for number in range(9):
        monitor.visited(Visit("a", "page", "ok", number, relevance=0.0), number, 0)
        assert "" == monitor.reason
    monitor.visited(Visit("a", "redirect", "redirect", 9), 9, 0)
    assert "" == monitor.reason
    monitor.visited(Visit("a", "page", "ok", 10, relevance=0.0), 10, 0)
    assert "enough: 30 relevant pages found" == monitor.reason


def crawl(path: Path, relevant: int = 10, **options: Any) -> lycosa.Crawl:
    """Crawl an endless chain of pages, the first of which are relevant."""

    def judge(page: lycosa.Page) -> float:
        return float(int(page.title or relevant) < relevant)

    def following(node: str) -> list[str]:
        return [str(int(node) + 1)]

    return lycosa.crawl(judge, ["0"], out=path, space=following, strategy="breadth-first", threshold=0.5, **options)


def test_crawl_ends_when_exhausted_and_can_be_continued(tmp_path: Path) -> None:
    running = crawl(tmp_path / "crawl", until=["exhausted=30"], budget=500)
    assert 40 == len(list(running))
    assert running.engine is not None
    assert "enough: the topic looks exhausted: none of the last 30 pages is relevant" == running.engine.ending
    with lycosa.open(tmp_path / "crawl")._opened() as collection:
        assert running.engine.ending == collection.log.setting("end", {})["reason"]


def test_crawl_without_rule_uses_its_budget(tmp_path: Path) -> None:
    assert 60 == len(list(crawl(tmp_path / "crawl", budget=60)))
    assert 60 == len(list(crawl(tmp_path / "other", budget=60, until=["never"])))


def test_crawl_ends_with_enough_relevant_pages(tmp_path: Path) -> None:
    assert 20 == len(list(crawl(tmp_path / "crawl", 100, until=["exhausted", "relevant=15"], budget=500)))


def test_wrong_rule_leaves_nothing_behind(tmp_path: Path) -> None:
    with raises_input_error("bad-value"):
        crawl(tmp_path / "crawl", until=["relevant=many"])
    assert not (tmp_path / "crawl").exists()


class Broken:
    """Rule that fails."""

    def reason(self, harvest: HarvestSoFar) -> str:
        raise ZeroDivisionError("no pages")


def test_own_rule_that_fails_is_named(tmp_path: Path) -> None:
    with raises_input_error("bad-plugin", r"Broken.reason\(harvest\) failed: ZeroDivisionError: no pages"):
        list(crawl(tmp_path / "crawl", until=[f"{__name__}:Broken"], budget=60))
    with raises_input_error("bad-plugin", "without reason"):
        read_rules(["os:getcwd"])
