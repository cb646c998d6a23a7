"""Tests of the figures gathered from whole crawls."""

from __future__ import annotations

from contextlib import closing
from dataclasses import asdict
from pathlib import Path

import pytest

from lycosa.collection.crawl_directory import CrawlDirectory
from lycosa.collection.report import MAX_BEST, MAX_CARDS, MAX_HOSTS, ReportFigures, gather, render
from lycosa.collection.summary import Figures
from lycosa.core.types import Event, Held, Label, Seed, Setting, Visit
from lycosa.store.log import NAME, Lock, SqliteLog
from synthetic_report import large, page, redirect, write

A, B = "http://a.test", "http://b.test"


def report_of(path: Path, *events: Event, **options: object) -> ReportFigures:
    with CrawlDirectory(write(path / "crawl", events, **options)) as collection:
        return gather(collection)


def test_gather_counts_headline_numbers(tmp_path: Path) -> None:
    report = report_of(
        tmp_path,
        Setting("threshold", 0.5, 100.0),
        Seed(f"{A}/"),
        Visit(f"{A}/robots.txt", "robots", "ok", 0, status=200, size=20, started=100.5, ended=101.0),
        page(f"{A}/", 0.1, [f"{B}/1", f"{B}/2"], size=1000, started=102.0, ended=103.0),
        page(f"{B}/1", 0.9, size=500, started=103.0, ended=104.0),
        page(f"{B}/2", 0.9, same_as=f"{B}/1", size=500, started=105.0, ended=106.0),
        Label(f"{B}/1", True),
        Setting("end", {"reason": "page budget spent", "pages": 3}, 110.0),
        budget=3,
    )
    assert (3, 1, 1 / 3, 2) == (report.pages, report.relevant, report.harvest, report.host_count)
    assert (4, 2020, 10.0, 1) == (report.requests, report.size, report.seconds, report.runs)
    assert "3 pages, 1 robots.txt" == report.spent
    assert ("page budget spent", False, 1) == (report.ending, report.running, report.copy_count)
    assert "lycosa resume" in report.steps[0][0]
    assert report.steps[0][0].endswith("--budget 6")
    assert ["coral reef", True] == [report.subject, report.has_topic_words]


def test_gather_draws_harvest_curves(tmp_path: Path) -> None:
    report = report_of(
        tmp_path,
        Setting("threshold", 0.5, 1.0),
        Seed("s"),
        page("s", to=["u", "v", "x"]),
        page("x", 0.9, to=["y"]),
        page("y", 0.9),
        page("u"),
        page("v"),
    )
    assert report.curve is not None
    curves = report.curve.figure.curves
    assert [[0, 0, 1, 2, 2, 2], [0, 0, 1, 1, 1, 2]] == [curve.y for curve in curves[:2]]
    assert (2, 2) == (report.curve.half, report.curve.half_by_depth)


def test_gather_ranks_best_pages(tmp_path: Path) -> None:
    report = report_of(
        tmp_path,
        Setting("threshold", 0.5, 1.0),
        Seed("a"),
        page("a", 0.6, ["r", "c"]),
        redirect("r", "b"),
        page("b", 0.8, title="B", priority=0.25),
        page("c", 0.8),
        page("d", 0.4),
    )
    assert ["b", "c", "a"] == [card.node for card in report.best]
    best = report.best[0]
    assert ("a", "to r", 1, 2, 0.25) == (
        best.parent,
        best.anchor,
        best.depth,
        best.number,
        best.priority,
    )
    assert 3 == report.path_count
    assert ["a", "b", "c", "d"] == [card.node for card in report.cards]


def test_gather_lists_closest_pages_if_none_is_relevant(tmp_path: Path) -> None:
    report = report_of(tmp_path, Setting("threshold", 0.5, 1.0), Seed("a"), page("a", 0.1, ["b"]), page("b", 0.2))
    assert (0, ["b", "a"]) == (report.relevant, [card.node for card in report.best])
    assert "Closest pages" in render(report)


@pytest.mark.parametrize(
    "events",
    [
        (),
        (Setting("threshold", 0.1, 5.0), Seed(f"{A}/")),
        (Seed(f"{A}/"), Visit(f"{A}/", "page", "unknown-host", 1, note="no such host")),
        (Seed(f"{A}/"), page(f"{A}/", 0.9)),
        (Seed("x"), page("x", 0.9, ["y"]), page("y", 0.0)),
        (page("", 0.9, title=""), page("a//b", 0.2)),
        (Setting("threshold", -1.0, 5.0), page("a", -0.5), page("b", 0.0)),
        (Setting("threshold", 0.1, 5.0), page("a", 1e300), page("b", 1e-300)),
    ],
    ids=["empty", "no pages", "only failures", "one page", "no web", "no names", "negative", "huge"],
)
def test_report_of_small_crawls_is_complete_page(tmp_path: Path, events: tuple[Event, ...]) -> None:
    report = report_of(tmp_path, *events)
    text = render(report)
    assert "</html>" in text
    assert ("No page has been fetched" in text) == (report.pages == 0)


def test_report_without_archive_has_no_excerpts(tmp_path: Path) -> None:
    report = report_of(tmp_path, Seed(f"{A}/"), page(f"{A}/", 0.9), archive=False)
    assert [] == report.best[0].excerpt
    assert not any("search" in command for command, _ in report.steps)
    assert "nothing was archived" in render(report)


def test_report_with_missing_archive_files_has_no_excerpts(tmp_path: Path) -> None:
    visit = page(f"{A}/", 0.9)
    visit.place.file, visit.place.length = "lycosa-00001.warc.gz", 100
    assert [] == report_of(tmp_path, Seed(f"{A}/"), visit).best[0].excerpt


def test_report_ignores_events_after_its_start(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = write(tmp_path / "crawl", [Seed(f"{A}/"), page(f"{A}/", 0.9)])
    lock = Lock(path)

    def read(figures: ReportFigures, collection: CrawlDirectory, max_questions: int) -> None:
        Figures.read(figures, collection, max_questions)
        with closing(SqliteLog(path / NAME)) as writer:
            writer.append(page(f"{A}/late", 0.9))

    monkeypatch.setattr(ReportFigures, "read", read)
    with CrawlDirectory(path) as collection:
        report = gather(collection)
    lock.release()
    assert (1, 1, True) == (report.pages, sum(host.pages for host in report.hosts), report.running)
    assert "Still running" in render(report)
    assert [f"lycosa show {path}"] == [command for command, _ in report.steps[:1]]


def test_report_counts_held_links(tmp_path: Path) -> None:
    held = [Held("calendar", "whats-on.test/events", 1204, 8, f"{A}/2031/")]
    end = {"reason": "page budget spent", "held": 1300, "groups": [asdict(group) for group in held]}
    report = report_of(tmp_path, page(f"{A}/"), Setting("end", end, 9.0), budget=10)
    text = render(report)
    for totals in ("1,300 known addresses", "calendar", "1,204", "--trust whats-on.test/events --budget 20</code>"):
        assert totals in text
    assert "when the last run ended" not in text
    going_on = report_of(tmp_path / "on", page(f"{A}/"), Setting("end", end, 9.0), page(f"{A}/2"))
    assert "when the last run ended" in render(going_on)
    assert "Nothing was held back" in render(report_of(tmp_path / "none", page(f"{A}/")))
    assert "--no-traps" in render(report_of(tmp_path / "off", page(f"{A}/"), traps=False))


def test_gather_requests_and_copies(tmp_path: Path) -> None:
    report = report_of(
        tmp_path,
        page(f"{A}/", title="Original"),
        page(f"{A}/print", same_as=f"{A}/", flags=["soft-404"]),
        Visit(f"{A}/made-up", "probe", "gone", 0),
        Visit(f"{A}/sitemap.xml", "sitemap", "ok", 0),
        Visit(f"{A}/x", "page", "gone", 3),
    )
    kinds = {meaning.split(":")[0]: (count, failed) for meaning, count, failed in report.kinds}
    assert {"pages": (3, 1), "probes": (1, 0), "sources": (1, 0)} == kinds
    assert [(f"{A}/", "Original", 1, f"{A}/print")] == report.copies
    assert [("soft-404", 1)] == [(remark.name, remark.count) for remark in report.remarks]


def test_gather_counts_copies_per_page(tmp_path: Path) -> None:
    copies = [page(f"copy {i}", 0.9, same_as="a" if i else "b") for i in range(4)]
    report = report_of(tmp_path, page("a", 0.5), page("b", 0.49), *copies, page("lost", same_as="nowhere"))
    assert [("a", 3, "copy 1"), ("b", 1, "copy 0")] == [
        (node, count, example) for node, _, count, example in report.copies
    ]


def test_gather_lists_changed_options(tmp_path: Path) -> None:
    report = report_of(tmp_path, page(f"{A}/"), delay=2.5, per_host=3, hosts=["a.test", "b.test"])
    totals = {flag: value for flag, value, _ in report.options}
    assert {
        "TOPIC": "coral reef",
        "--seed": "http://a.test/",
        "--delay": "2.5",
        "--per-host": "3",
        "--host": "a.test, b.test",
    } == totals


def test_report_of_large_crawl_is_small(tmp_path: Path) -> None:
    report = report_of(tmp_path, *large(800, hosts=200, links=4))
    assert (MAX_BEST, MAX_CARDS, MAX_HOSTS) == (len(report.best), len(report.cards), len(report.hosts))
    assert report.pages > 700
    assert report.hosts_left == report.host_count - MAX_HOSTS
    text = render(report)
    assert len(text.encode()) < 600_000
    assert f"And {report.relevant - MAX_BEST:,} more relevant pages" in text
    assert f"And {report.pages - MAX_CARDS:,} more pages" in text


def test_report_of_longest_names_is_bounded(tmp_path: Path) -> None:
    def node(number: int) -> str:
        return f"http://host-{number}.test/{number}/".ljust(2000, "x")

    events = [
        page(node(i), 0.2 + i / 1000, [node(i + 1)], title="T" * 500, flags=[f"flag-{i}" * 20]) for i in range(500)
    ]
    failures = [Visit(node(1000 + i), "page", "gone", i, note="n" * 5000) for i in range(500)]
    report = report_of(tmp_path, Seed(node(0)), *events, *failures)
    assert len(render(report).encode()) < 4_000_000
