"""Tests of the crawl summary."""

from pathlib import Path

import numpy as np
import pytest

from input_errors import raises_input_error
from lycosa.collection.summary import SeedRoles, Summary, summarise
from lycosa.core.options import Options
from lycosa.core.types import Label, Seed, Setting, Visit
from lycosa.store.directory import CONFIG
from lycosa.store.log import NAME, Lock, SqliteLog


@pytest.fixture
def directory(tmp_path: Path) -> Path:
    """Write a crawl with four pages of two hosts, two of them relevant at .3, and events that are not pages."""
    Lock(tmp_path).release()
    (tmp_path / CONFIG).write_text(Options(topic="reefs").to_toml())
    log = SqliteLog(tmp_path / NAME)
    for event in (
        Setting("threshold", 0.3),
        Seed("http://a.test/"),
        Visit("http://a.test/robots.txt", "robots", "ok", 0, status=200),
        Visit("http://b.test:81/robots.txt", "robots", "ok", 0, note="known from another crawl"),
        Visit("http://a.test/", "page", "ok", 1, relevance=0.1, title="One"),
        Visit("http://a.test/2", "page", "ok", 2, relevance=0.3, title="Two"),
        Visit("http://b.test:81/3", "page", "ok", 3, relevance=0.9, title="Three"),
        Visit("http://a.test/4", "page", "ok", 4, relevance=0.0, title="Four"),
        Visit("http://a.test/5", "page", "gone", 5),
        Visit("http://a.test/6", "redirect", "redirect", 6),
        Visit("http://a.test/7", "page", "timeout", 7),
        Visit("http://a.test/7", "page", "timeout", 8, attempt=2),
        Visit("http://a.test/8", "page", "denied", 9),
        Label("http://a.test/2", True),
        Setting("end", {"reason": "page budget spent", "pages": 4}),
    ):
        log.append(event)
    log.close()
    return tmp_path


def test_summary_counts_pages_and_harvest(directory: Path) -> None:
    summary = summarise(directory)
    assert (4, 2, 0.5, 0.3) == (summary.pages, summary.relevant, summary.harvest, summary.threshold)
    assert [False, True, True, False] == summary.relevant_pages.tolist()


def test_summary_counts_sites(directory: Path) -> None:
    summary = summarise(directory)
    assert (2, 0.5) == (summary.sites, summary.site_harvest)
    strict = summarise(directory, threshold=0.5).as_dict()
    assert (1, 0.25) == (strict["sites"], strict["site_harvest"])


def test_summary_uses_current_relevance(directory: Path) -> None:
    log = SqliteLog(directory / NAME)
    log.store_relevances(np.array([0.6, 0.2, 0.4, 0.0]))
    log.append(Setting("probability", True))
    log.close()
    summary = summarise(directory)
    assert [True, False, True, False] == summary.relevant_pages.tolist()
    assert ("about 1 of 4 pages relevant (0-3), 2 at the threshold", 9) == (
        summary.estimate.description,
        summary.requests,
    )
    assert 1 == summarise(directory, threshold=0.5).relevant
    assert ["One", "Three", "Two"] == [page["title"] for page in summary.best]


@pytest.mark.parametrize(
    ("examples", "portals", "expected"),
    [
        (0, [], ""),
        (1, [], "Seeds: 1 taken as an example of the topic."),
        (3, ["http://a.test/"], "Seeds: 3 taken as examples of the topic; not taken as examples: http://a.test/."),
        (0, ["http://a.test/", "http://b.test/"], "Seeds: not taken as examples: http://a.test/ and 1 more."),
    ],
)
def test_seed_roles_description(examples: int, portals: list[str], expected: str) -> None:
    assert expected == SeedRoles(examples, portals).description


def test_summary_lists_best_pages(directory: Path) -> None:
    assert ["Three", "Two", "One"] == [page["title"] for page in summarise(directory).best]
    assert [{"url": "http://b.test:81/3", "relevance": 0.9, "title": "Three"}] == summarise(directory, best=1).best


def test_summary_counts_outcomes_and_hosts(directory: Path) -> None:
    summary = summarise(directory)
    assert {
        ("page", "ok"): 4, ("robots", "ok"): 2, ("page", "gone"): 1, ("redirect", "redirect"): 1,
        ("page", "timeout"): 2, ("page", "denied"): 1,
    } == {(each.kind, each.outcome): each.count for each in summary.outcomes}  # fmt: skip
    assert {"a.test": 3, "b.test:81": 1} == dict(summary.pages_by_host)


def test_summary_counts_requests_by_purpose(directory: Path) -> None:
    expected = {"pages": 4, "robots.txt": 1, "dead links": 1, "redirects": 1, "errors": 1, "retries": 1}
    assert expected == dict(summarise(directory).spent) == summarise(directory).as_dict()["spent"]


def test_summary_ending_is_cleared_by_later_events(directory: Path) -> None:
    assert "page budget spent" == summarise(directory).ending
    log = SqliteLog(directory / NAME)
    log.append(Visit("http://a.test/7", "page", "ok", 7))
    log.close()
    assert "" == summarise(directory).ending


def test_summary_of_locked_crawl_is_running(directory: Path) -> None:
    assert not summarise(directory).running
    lock = Lock(directory)
    assert summarise(directory).running
    lock.release()


def test_summary_without_lock_file_is_not_running(directory: Path) -> None:
    (directory / "lock").unlink()
    assert (4, False) == (summarise(directory).pages, summarise(directory).running)


def test_summary_curve_is_sampled(directory: Path) -> None:
    assert [0, 1, 2, 2] == [point["relevant"] for point in summarise(directory).as_dict()["curve"]]
    curve = Summary(threshold=0.5, relevant_pages=np.ones(1999, np.bool_)).as_dict()["curve"]
    assert len(curve) <= 201
    assert {"pages": 1999, "relevant": 1999} == curve[-1]


def test_summary_before_first_crawl_raises(tmp_path: Path) -> None:
    (tmp_path / CONFIG).write_text(Options(topic="reefs").to_toml())
    with raises_input_error("nothing-crawled"):
        summarise(tmp_path)


def test_summary_without_pages_has_zeros(tmp_path: Path) -> None:
    Lock(tmp_path).release()
    (tmp_path / CONFIG).write_text(Options(topic="reefs").to_toml())
    SqliteLog(tmp_path / NAME).close()
    summary = summarise(tmp_path)
    assert (0, 0.0, [], []) == (summary.pages, summary.harvest, summary.best, summary.as_dict()["curve"])
