"""`lycosa show`."""

from __future__ import annotations

from pathlib import Path

import pytest

from commands import Command
from revisited_crawl import Revisited, html, revisited


@pytest.fixture
def crawl(tmp_path: Path) -> Path:
    with revisited(tmp_path / "crawl") as made:
        _fill(made)
    return tmp_path / "crawl"


def _fill(crawl: Revisited) -> None:
    crawl.seed("http://a.test/")
    for number in range(3):
        crawl.page(f"http://a.test/{number}", html(f"Reef {number}", f"Corals grow in bay {number}."))


def test_show_counts_pages_and_hosts(crawl: Path, command: Command) -> None:
    text = command.out("show", crawl)
    assert "3 of 3 pages relevant, relevance" in text
    assert "1 host, a.test (3)" in text
    assert f"continue with: lycosa resume {crawl}" in text


def test_show_counts_by_given_threshold(crawl: Path, command: Command) -> None:
    assert "0 of 3 pages relevant, relevance 0.9 or more" in command.out("show", crawl, "--threshold", "0.9")


def test_show_prints_json(crawl: Path, command: Command) -> None:
    facts = command.json("show", crawl)
    assert (3, 3, "coral") == (facts["pages"], facts["relevant"], facts["topic"])


def test_show_reports_crawl_without_pages(tmp_path: Path, command: Command) -> None:
    with revisited(tmp_path / "empty") as made:
        made.seed("http://a.test/")
    assert "no pages yet" in command.out("show", tmp_path / "empty")
