"""Tests of the counts of a crawl."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing
from pathlib import Path

import pytest

from lycosa.collection import counts
from lycosa.collection.counts import MAX_EXAMPLES, MAX_FLAGS, Outcome
from lycosa.core.types import Event, Setting, Visit
from lycosa.store.log import NAME, SqliteLog
from revisited_crawl import DAY, EPOCH, html, revisited
from synthetic_report import page, write

A, B, C = (f"http://a.test/{name}" for name in "abc")
LogOf = Callable[..., SqliteLog]


@pytest.fixture
def log_of(tmp_path: Path) -> Iterator[LogOf]:
    """Return a function that writes events to a new log and opens it."""
    with ExitStack() as opened:

        def make(*events: Event) -> SqliteLog:
            path = write(tmp_path / f"crawl{len(list(tmp_path.iterdir()))}", events)
            return opened.enter_context(closing(SqliteLog(path / NAME, readonly=True)))

        yield make


def test_hosts_have_counts(log_of: LogOf) -> None:
    log = log_of(
        page("http://a.test/1", 0.9, started=10.0, ended=12.0, size=100),
        page("http://b.test/", 0.9, started=12.0, ended=13.0, size=7, same_as="http://a.test/1"),
        page("http://a.test/2", 0.1, started=13.0, ended=14.0, size=50),
        Visit("http://a.test/3", "page", "gone", 3, status=404, started=17.0, ended=17.5),
        Visit("http://a.test/4", "page", "denied", 4, started=18.0, ended=18.0),
    )
    host, other = counts.hosts(log, 0.5)
    assert ("a.test", 2, 1, 1, 3, 150) == (
        host.name,
        host.pages,
        host.relevant,
        host.failures,
        host.requests,
        host.size,
    )
    assert (3.5 / 3, 2, 2.0, 1.0) == (host.response_time, host.pauses, host.pause, host.shortest)
    assert ("b.test", 1, 0, 0.0) == (other.name, other.pages, other.relevant, other.pause)
    assert [("a.test", 2, 1), ("b.test", 1, 0)] == counts.pages_by_host(log, 0.5)
    assert ({"pages": 3, "dead links": 1}, 157) == ((found := counts.visits(log)).spent, found.size)


def test_nodes_without_host_are_counted(log_of: LogOf) -> None:
    (host,) = counts.hosts(log_of(page("notes/reefs", 0.9), page("a://b://c", 0.9), page("", 0.1)), 0.5)
    assert (3, 2, 0.0, 0) == (host.pages, host.relevant, host.response_time, host.pauses)


def test_pauses_are_within_runs(log_of: LogOf) -> None:
    log = log_of(
        Setting("threshold", 0.5, 100.0),
        page("http://a.test/1", started=101.0, ended=102.0),
        Setting("end", {"reason": "stopped"}, 103.0),
        Setting("threshold", 0.5, 900.0),
        page("http://a.test/2", started=905.0, ended=906.0),
        page("http://a.test/3", started=908.0, ended=909.0),
    )
    assert [(100.0, 103.0), (900.0, 909.0)] == counts.runs(log)
    (host,) = counts.hosts(log, 0.5)
    assert (1, 2.0) == (host.pauses, host.shortest)


def test_runs_without_settings_last_from_first_to_last_visit(log_of: LogOf) -> None:
    log = log_of(page(A, started=5.0, ended=6.0), page(B, started=7.0, ended=9.0))
    assert [(5.0, 9.0)] == counts.runs(log)
    assert [] == counts.runs(log_of())


def test_runs_exclude_refreshes(log_of: LogOf) -> None:
    crawl = [
        Setting("threshold", 0.5, 100.0),
        page(A, started=101.0, ended=102.0),
        Setting("end", {"reason": "stopped"}, 103.0),
        Setting("threshold", 0.5, 900.0),
    ]
    end = Setting("end", {"reason": "nothing more is due"}, 903.0)
    again = Visit(A, "revisit", "unchanged", 1, started=901.0, ended=902.0)
    assert [(100.0, 103.0)] == counts.runs(log_of(*crawl, end)) == counts.runs(log_of(*crawl, again, end))
    assert [(5.0, 6.0)] == counts.runs(log_of(Setting("threshold", 0.5, 5.0), Setting("end", {}, 6.0)))
    assert [] == counts.runs(log_of(Setting("threshold", 0.5, 900.0), again, end))


def test_hosts_have_crawl_delay_and_rests(log_of: LogOf) -> None:
    rules = {"body": b"User-agent: *\nCrawl-delay: 7"}
    hosts = counts.hosts(
        log_of(
            Visit("http://b.test/r", "robots", "ok", 0, origin="http://a.test/", data=rules, started=1.0, ended=2.0),
            Visit("http://a.test/", "page", "busy", 1, data={"rest": 130.0}, started=3.0, ended=10.0),
            Visit("http://a.test/", "page", "busy", 2, data={"rest": 40.0}, started=20.0, ended=30.0),
        ),
        0.5,
    )
    assert {"b.test": (0.0, 0, 0.0), "a.test": (7.0, 2, 120.0)} == {
        host.name: (host.crawl_delay, host.rests, host.longest_rest) for host in hosts
    }


def test_outcomes_have_last_complaint(log_of: LogOf) -> None:
    log = log_of(
        Visit(A, "page", "timeout", 1, note="slow"),
        page(B),
        Visit(C, "page", "timeout", 2, status=504, note="slower"),
        Visit(A, "probe", "gone", 0, status=404),
        Visit(A, "robots", "ok", 0),
    )
    found = counts.visits(log)
    assert [
        Outcome("page", "timeout", 2, f"504 slower {C}"),
        Outcome("page", "ok", 1, ""),
        Outcome("probe", "gone", 1, ""),
        Outcome("robots", "ok", 1, ""),
    ] == found.outcomes
    assert {"errors": 2, "pages": 1, "probes": 1} == found.spent  # robots.txt was known


def test_requests_of_rendered_pages_are_counted(log_of: LogOf) -> None:
    log = log_of(page(A, size=10, data={"render": {"requests": 3, "bytes": 500}}), page(B, size=5))
    found = counts.visits(log)
    assert ({"pages": 2, "resources of rendered pages": 3}, 515) == (found.spent, found.size)


def test_causes_group_failures(log_of: LogOf) -> None:
    log = log_of(
        Visit("http://a.test/1", "page", "gone", 1, status=404),
        Visit("http://a.test/2", "page", "gone", 2, status=410),
        Visit("http://a.test/3", "redirect", "gone", 3, status=404),
        Visit("http://a.test/robots.txt", "robots", "gone", 0, status=404),
        Visit("http://a.test/made-up", "probe", "gone", 0, status=404),
        Visit("http://b.test/robots.txt", "robots", "timeout", 0),
        Visit("http://c.test/robots.txt", "robots", "broken", 0, status=500),
        Visit("http://a.test/5", "page", "denied", 5),
    )
    found = counts.causes(log)
    assert {
        ("page", "Page not found"): 3,
        ("robots", "robots.txt could not be read"): 2,
        ("page", "robots.txt does not allow it, or an account has opted out"): 1,
    } == {(cause.kind, cause.name): cause.count for cause in found}
    assert ({404: 2, 410: 1}, 3) == (found[0].statuses, len(found[0].examples))
    assert all(cause.advice for cause in found)
    assert [("http://b.test/robots.txt", ""), ("http://c.test/robots.txt", "500")] == found[1].examples


def test_examples_cover_several_hosts(log_of: LogOf) -> None:
    many = [Visit(f"http://a.test/{i}", "page", "gone", i, note="lost") for i in range(50)]
    others = [Visit(f"http://{i}.test/", "page", "gone", i) for i in range(50)]
    (cause,) = counts.causes(log_of(*many, *others))
    assert MAX_EXAMPLES == len(cause.examples)
    assert ("http://a.test/0", "lost") == cause.examples[0]
    assert len({node.split("/")[2] for node, _ in cause.examples}) > 2


def test_languages_are_counted_by_code(log_of: LogOf) -> None:
    languages = ["en", "en-GB", "de, en", "EN", "", "<b>", "klingonese"]
    log = log_of(*(page(f"http://a.test/{i}", i / 2, language=code) for i, code in enumerate(languages)))
    assert {("en", 3, 2), ("de", 1, 1), ("", 3, 3)} == set(counts.languages(log, 0.5))
    assert "" != counts.languages(log, 0.5)[0][0]


def test_flags_are_counted_and_bounded(log_of: LogOf) -> None:
    found = counts.remarks(
        log_of(
            page("http://a.test/1", flags=["soft-404"]),
            page("http://a.test/2", flags=["soft-404", "odd"]),
            Visit("http://a.test/3", "page", "unwanted", 3, flags=["truncated:unwanted"]),
            *(page(f"http://a.test/x{i}", flags=[f"flag {i}"]) for i in range(200)),
        )
    )
    assert ("soft-404", 2, "http://a.test/1") == (found[0].name, found[0].count, found[0].example)
    assert "does not exist" in found[0].meaning
    assert "truncated:unwanted" not in {remark.name for remark in found}
    assert MAX_FLAGS == len(found)


def test_copies_are_counted_by_original(log_of: LogOf) -> None:
    log = log_of(page("a"), page("b"), *(page(f"copy {i}", same_as="a" if i else "b") for i in range(4)))
    assert [("a", 3, "copy 1"), ("b", 1, "copy 0")] == counts.copies(log)


def test_recovered_counts_successful_retries(log_of: LogOf) -> None:
    assert 1 == counts.recovered(log_of(page(A, attempt=2), page(B), Visit(C, "page", "gone", 3, attempt=2)))


def test_revisits_are_counted_by_outcome(tmp_path: Path) -> None:
    with revisited(tmp_path / "c") as crawl:
        for url in (A, B, C):
            crawl.page(url, html("Reefs", f"coral of {url}"))
        crawl.changed(A, html("Reefs", "kelp"), 1.0)
        crawl.changed(A, html("Reefs", "kelp, 7 readers"), 2.0, "cosmetic", 0.01)
        crawl.gone(B, 3.0)
        crawl.gone(B, 4.0)
        crawl.failed(C, 5.0)
        crawl.page(f"{A}new", html("New", "coral"), 6.0, data={"change": {"what": "new"}})
        found = counts.visits(crawl.log).revisits
        changes = list(counts.recorded_changes(crawl.log))
    assert (5, 1, EPOCH + DAY, EPOCH + 5 * DAY) == (found.count, found.new, found.first, found.last)
    assert {"ok": 2, "gone": 2, "timeout": 1} == found.outcomes
    assert {"changed": 1, "cosmetic": 1, "vanished": 1} == found.changes
    assert {"timeout": f"no answer {C}"} == found.reasons
    assert [("text", True), ("cosmetic", False), ("vanished", True)] == [(each.kind, each.matters) for each in changes]


def test_revisits_of_crawl_without_any_are_zero(log_of: LogOf) -> None:
    found = counts.visits(log_of(page(A))).revisits
    assert (0, 0, {}) == (found.count, found.new, found.changes)
