"""Progress of a crawl in plain lines."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

import lycosa
from lycosa.cli.crawl_progress import CrawlProgress
from lycosa.judges.space_judge import SpaceJudge
from lycosa.spaces.graph import GraphSpace


@pytest.fixture
def progress(tmp_path: Path) -> Iterator[CrawlProgress]:
    space = GraphSpace({"a": ["b", "c"], "b": ["d"]}, relevance={"b": 1.0})
    crawl = lycosa.crawl(SpaceJudge(), ["a"], space=space, strategy="breadth-first", budget=3, out=tmp_path / "c")
    with CrawlProgress(crawl) as shown:
        for visit in crawl:
            shown.update(visit)
        yield shown


def test_headline_counts_pages(progress: CrawlProgress) -> None:
    headline = progress._headline()
    assert ["3/3 pages", "harvest 33.3%"] == headline[:2]
    assert "frontier 1" == headline[-1]


def test_best_pages_are_relevant(progress: CrawlProgress) -> None:
    assert [(1.0, "b", "")] == [(relevance, node, "") for relevance, node, _ in progress._best]


def test_last_lines_name_next_command(progress: CrawlProgress, capsys: pytest.CaptureFixture[str]) -> None:
    progress.farewell()
    assert f"lycosa show {progress.crawl.path}" in capsys.readouterr().out
