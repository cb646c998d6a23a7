"""Tests of running totals."""

from __future__ import annotations

from lycosa.collection.tally import MAX_EXAMPLES, MAX_FLAGS, CrawlTally
from lycosa.core.types import Setting, Visit
from synthetic_report import page


def tally_of(*events: Visit | Setting) -> CrawlTally:
    tally = CrawlTally("Lycosa")
    for event in events:
        if isinstance(event, Setting):
            tally.setting(event)
        else:
            tally.visit(event)
    return tally


def test_tally_adds_up_totals_per_host() -> None:
    tally = tally_of(
        page("http://a.test/1", 0.9, started=10.0, ended=12.0, size=100),
        page("http://b.test/", 0.9, started=12.0, ended=13.0, size=7),
        page("http://a.test/2", 0.1, started=13.0, ended=14.0, size=50),
        Visit("http://a.test/3", "page", "gone", 3, status=404, started=17.0, ended=17.5),
        Visit("http://a.test/4", "page", "denied", 4, started=18.0, ended=18.0),
    )
    host = tally.hosts["a.test"]
    assert (2, 1, 3, 150) == (host.pages, host.failures, host.requests, host.size)
    assert (3.5 / 3, 2.0, 1.0) == (host.response_time, host.pause, host.shortest)
    assert ({"pages": 3, "dead links": 1}, 157) == (tally.spent, tally.size)


def test_run_time_excludes_time_between_runs() -> None:
    tally = tally_of(
        Setting("threshold", 0.5, 100.0),
        page("http://a.test/1", started=101.0, ended=102.0),
        Setting("end", {"reason": "stopped"}, 103.0),
        Setting("threshold", 0.5, 900.0),
        page("http://a.test/2", started=905.0, ended=906.0),
    )
    assert [[100.0, 103.0], [900.0, 906.0]] == tally.runs
    assert 0 == tally.hosts["a.test"].pauses


def test_crawls_exclude_refreshes_without_due_pages() -> None:
    tally = tally_of(
        Setting("threshold", 0.5, 100.0),
        page("http://a.test/1", started=101.0, ended=102.0),
        Setting("end", {"reason": "stopped"}, 103.0),
        Setting("threshold", 0.5, 900.0),
        Setting("end", {"reason": "nothing more is due"}, 901.0),
    )
    assert [[100.0, 103.0]] == tally.crawls
    assert [[5.0, 6.0]] == tally_of(Setting("threshold", 0.5, 5.0), Setting("end", {}, 6.0)).crawls


def test_tally_records_crawl_delay_and_pauses_per_host() -> None:
    rules = {"body": b"User-agent: *\nCrawl-delay: 7"}
    tally = tally_of(
        Visit("http://b.test/r", "robots", "ok", 0, origin="http://a.test/", data=rules, started=1.0, ended=2.0),
        Visit("http://a.test/", "page", "busy", 1, data={"rest": 130.0}, started=3.0, ended=10.0),
        Visit("http://a.test/", "page", "busy", 2, data={"rest": 40.0}, started=20.0, ended=30.0),
    )
    host = tally.hosts["a.test"]
    assert (7.0, 2, 120.0) == (host.crawl_delay, host.rests, host.longest_rest)
    assert 0.0 == tally.hosts["b.test"].crawl_delay


def test_failures_are_grouped_by_cause() -> None:
    tally = tally_of(
        Visit("http://a.test/1", "page", "gone", 1, status=404),
        Visit("http://a.test/2", "page", "gone", 2, status=410),
        Visit("http://a.test/3", "redirect", "gone", 3, status=404),
        Visit("http://a.test/robots.txt", "robots", "gone", 0, status=404),
        Visit("http://a.test/made-up", "probe", "gone", 0, status=404),
        Visit("http://b.test/robots.txt", "robots", "timeout", 0),
        Visit("http://c.test/robots.txt", "robots", "broken", 0, status=500),
        Visit("http://a.test/5", "page", "denied", 5),
    )
    counts = {(cause.kind, cause.name): cause.count for cause in tally.causes.values()}
    assert {
        ("page", "Page not found"): 3,
        ("robots", "robots.txt could not be read"): 2,
        ("page", "robots.txt does not allow it, or an account has opted out"): 1,
    } == counts
    assert {404: 2, 410: 1} == tally.causes["page", "gone"].statuses
    assert all(cause.advice for cause in tally.causes.values())


def test_failure_examples_cover_several_hosts() -> None:
    many = [Visit(f"http://a.test/{i}", "page", "gone", i, note="lost") for i in range(50)]
    others = [Visit(f"http://{i}.test/", "page", "gone", i) for i in range(50)]
    examples = tally_of(*many, *others).causes["page", "gone"].examples
    assert MAX_EXAMPLES == len(examples)
    assert ("http://a.test/0", "lost") == examples[0]
    assert len({node.split("/")[2] for node, _ in examples}) > 2


def test_languages_are_counted_by_code() -> None:
    languages = ["en", "en-GB", "de, en", "EN", "", "<b>", "klingonese"]
    tally = tally_of(*(page(f"http://a.test/{i}", i / 2, language=code) for i, code in enumerate(languages)))
    assert {"en": 3, "de": 1, "": 3} == dict(tally.languages)


def test_flags_are_bounded() -> None:
    tally = tally_of(
        page("http://a.test/1", flags=["soft-404"]),
        page("http://a.test/2", flags=["soft-404", "odd"]),
        Visit("http://a.test/3", "page", "unwanted", 3, flags=["truncated:unwanted"]),
        *(page(f"http://a.test/{i}", flags=[f"flag {i}"]) for i in range(200)),
    )
    remark = tally.flags["soft-404"]
    assert (2, "http://a.test/1") == (remark.count, remark.example)
    assert "does not exist" in remark.meaning
    assert "truncated:unwanted" not in tally.flags
    assert MAX_FLAGS == len(tally.flags)


def test_recovered_counts_successful_retries() -> None:
    assert 1 == tally_of(page("http://a.test/1", attempt=2), page("http://a.test/2")).recovered


def test_nodes_without_host_are_counted() -> None:
    tally = tally_of(page("notes/reefs", 0.9), page("a://b://c", 0.9), page("", 0.1))
    host = tally.hosts[""]
    assert (3, 0.0, 0) == (host.pages, host.response_time, host.pauses)
