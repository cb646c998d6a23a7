"""`lycosa why` as typed by users."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import pytest

from commands import Command

LINKS = "a\tb\t.5\na\tc\t.25\na\td\t0\nb\te\t1\nb\tc\t.5\nz\ty\t1\n"
SCORES = "a\t.5\nb\t1\n"


@pytest.fixture
def graph(tmp_path: Path) -> str:
    """Write a graph for --space."""
    (tmp_path / "links.tsv").write_text(LINKS)
    (tmp_path / "scores.tsv").write_text(SCORES)
    return f"graph,file={tmp_path / 'links.tsv'},scores={tmp_path / 'scores.tsv'}"


Crawl = Callable[..., Path]


@pytest.fixture
def crawl(graph: str, tmp_path: Path, command: Command) -> Crawl:
    """Return a function that crawls the graph from a, two pages by default."""

    def run(strategy: str = "scent", budget: int = 2) -> Path:
        words = ["crawl", "--space", graph, "--seed", "a", "--out", tmp_path / "crawl", "--quiet"]
        command.out(*words, "--budget", budget, "--strategy", strategy)
        return tmp_path / "crawl"

    return run


def test_why_explains_waiting_link(crawl: Crawl, command: Command) -> None:
    made = crawl()
    told = command.out("why", made, "e", width=100)
    assert "waits as number 1 of 3" in told  # linked from b, the best page
    assert "█" in told
    assert "found on" in told
    facts = command.json("why", made, "e")
    assert ("e", "waits", ["b"]) == (facts["node"], facts["state"], [parent["node"] for parent in facts["parents"]])
    view = facts["views"][0]
    assert view["priority"] == pytest.approx(sum(view["terms"].values()), abs=1e-6)


def test_why_lists_next_links(crawl: Crawl, command: Command) -> None:
    made = crawl()
    for width in (40, 100):
        told = command.out("why", made, width=width)
        assert "the next of 3 links that wait" in told
        assert max(len(line) for line in told.split("\n") if "lycosa resume" not in line) <= width
    facts = command.json("why", made)
    assert (3, {"c", "d", "e"}) == (facts["waiting"], {link["node"] for link in facts["next"]})


def test_why_explains_fetched_page(crawl: Crawl, command: Command) -> None:
    made = crawl()
    told = command.out("why", made, "b", width=100)
    assert re.search(r"expected +\d*\.\d\d, by scent", told)
    assert "turned out  1.00, relevant" in told
    assert re.search(r"why it was fetched\n.*\n* *[\w ]+ +█+ +\d?\.\d\d\n", told)
    assert "path from a seed" in told
    assert "a seed comes first" in command.out("why", made, "a", width=100)


def test_why_names_strategy_without_terms(crawl: Crawl, command: Command) -> None:
    told = command.out("why", crawl("best-first"), "b", width=100)
    assert "expected    .50, by best-first" in told  # mean of page .5 and link .5
    assert "its priority was the best among ready hosts" in told


def test_why_of_bandit_shows_arms(crawl: Crawl, command: Command) -> None:
    made = crawl("mab_epsilon,arms=fl_deg+fl_n+scent")
    told = command.out("why", made, "d", width=100)
    assert all(arm in told for arm in ("fl_deg", "fl_n", "scent"))
    assert "the arm with the best pages so far" in command.out("why", made, width=100)


def test_why_with_empty_frontier_reports_no_links(crawl: Crawl, command: Command) -> None:
    assert "no links waiting" in command.out("why", crawl(budget=99))


def test_why_rejects_bad_input(crawl: Crawl, tmp_path: Path, command: Command) -> None:
    made, empty, untouched = crawl(), tmp_path / "empty", tmp_path / "untouched"
    for place in (empty, untouched):
        place.mkdir()
    (untouched / "crawl.toml").write_bytes((made / "crawl.toml").read_bytes())
    for place, told in (
        (tmp_path / "missing", "contains no crawl"),
        (empty, "contains no crawl"),
        (untouched, "nothing has been crawled in"),
        (made, "beta is unknown to the crawl"),
    ):
        assert told in command.complaint("why", place, "beta")


def test_report_includes_reasons(crawl: Crawl, tmp_path: Path, command: Command) -> None:
    made = crawl()
    command.out("report", made, "--out", tmp_path / "with.html")
    page = (tmp_path / "with.html").read_text("utf-8")
    assert "Next links, and why" in page
    assert '<dl class="terms">' in page
    (tmp_path / "links.tsv").unlink()
    command.out("report", made, "--out", tmp_path / "without.html")
    assert "Next links, and why" not in (tmp_path / "without.html").read_text("utf-8")


def test_why_of_fetched_page_in_large_crawl_replays_nothing(
    crawl: Crawl, command: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = crawl()
    whole = command.json("why", made, "b")
    assert whole["fetched"]["terms"]
    monkeypatch.setattr("lycosa.explaining.reasons.MAX_REPLAYED_EVENTS", -1)
    monkeypatch.delattr("lycosa.explaining.reasons.restored")
    assert whole == command.json("why", made, "b")
