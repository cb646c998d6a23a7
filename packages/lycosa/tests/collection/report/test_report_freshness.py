"""Tests of revisits in the report."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from lycosa.collection.crawl_directory import CrawlDirectory
from lycosa.collection.report import ReportFigures, figures, gather, render
from lycosa.core.types import Setting
from lycosa.revisit.change import Change
from revisited_crawl import DAY, EPOCH, html, revisited

A, B, C, D = (f"http://a.test/{name}" for name in "abcd")


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> ReportFigures:
    """Return the report of a crawl of a minute that was revisited over ten days in a second run."""
    path = tmp_path_factory.mktemp("freshness") / "crawl"
    with revisited(path) as crawl:
        crawl.seed(A)
        crawl.page(A, html("Old <b>A</b>", "Corals."), links=[B, C], relevance=0.9)
        crawl.page(B, html("B", "Corals."), 10 / DAY)
        crawl.page(C, html("C", "Atolls."), 20 / DAY)
        crawl.log.append(Setting("end", {"reason": "done"}, EPOCH + 60))
        crawl.log.append(Setting("threshold", 0.2, EPOCH + DAY))
        crawl.changed(A, html("New A", "More corals."), 1, "topic", 0.25, links=[D])
        crawl.page(D, html("D", "Found on the new version."), 1.5, data={"change": Change("new").as_data()})
        crawl.unmodified(B, 2)
        crawl.changed(A, html("New A", "Corals, 7 readers."), 4, "cosmetic", 0.01)
        crawl.failed(B, 5)
        crawl.gone(B, 6)
        crawl.moved(C, "http://b.test/c", 7)
        crawl.gone(B, 8)
        crawl.changed(A, html("Newest A", "Corals, and fish."), 10, "text", 0.5)
    with CrawlDirectory(path) as collection:
        return gather(collection)


def test_report_has_freshness_figures(report: ReportFigures) -> None:
    fresh = report.freshness
    assert fresh is not None
    assert (8, EPOCH + 10 * DAY, 2) == (fresh.revisits, fresh.last, fresh.changed)
    assert [("topic", 1), ("text", 1), ("vanished", 1), ("moved", 1), ("cosmetic", 1)] == fresh.by_kind
    changes = [(entry.url, entry.change) for entry in fresh.latest]
    latest = [(url, change.kind if change.what == "changed" else change.what) for url, change in changes]
    assert [(A, "text"), (C, "moved"), (B, "vanished"), (A, "topic")] == latest
    assert 1 == fresh.new
    assert [("C", "moved", "http://b.test/c"), ("B", "vanished", "")] == [
        (title, what, target) for _, title, what, _, target in fresh.gone
    ]
    assert [EPOCH + 7 * DAY, EPOCH + 6 * DAY] == [since for *_, since, _ in fresh.gone]
    assert [("Newest A", 2, 3, EPOCH + 10 * DAY)] == [row[1:] for row in fresh.change_counts]


def test_revisits_do_not_count_as_pages(report: ReportFigures) -> None:
    assert (4, 4, 1) == (report.pages, report.relevant, report.host_count)
    assert 4 == report.hosts[0].pages
    assert 0 == report.hosts[0].failures
    assert {"pages": (4, 0), "pages again": (8, 1)} == {
        name: (requests, failed) for name, requests, failed in report.kinds
    }
    assert [("Revisit: timeout", 1)] == [(cause.name, cause.count) for cause in report.causes]
    assert [1, 2, 3, 4] == [card.number for card in report.cards]


def test_card_parent_may_be_later_version(report: ReportFigures) -> None:
    card = report.cards[3]
    assert (D, "link", A, 1) == (card.node, card.origin, card.parent, card.parent_number)


def test_best_pages_show_current_state(report: ReportFigures) -> None:
    assert {
        A: ("changed", EPOCH + 10 * DAY),
        B: ("vanished", EPOCH + 6 * DAY),
        C: ("moved", EPOCH + 7 * DAY),
        D: ("", 0.0),
    } == {card.node: (card.state, card.state_since) for card in report.best}


def test_report_excludes_revisit_time(tmp_path: Path) -> None:
    with revisited(tmp_path / "crawl") as crawl:
        crawl.page(A, html("A", "Corals."), 10 / DAY)
        crawl.log.append(Setting("end", {"reason": "done"}, EPOCH + 60))
        crawl.log.append(Setting("threshold", 0.2, EPOCH + DAY))
        for day in range(1, 11):
            crawl.unmodified(A, day)
        crawl.log.append(Setting("end", {"reason": "done"}, EPOCH + 11 * DAY))
    with CrawlDirectory(tmp_path / "crawl") as collection:
        report = gather(collection)
    assert (1, 60.0) == (report.runs, report.seconds)


def test_report_shows_changes(report: ReportFigures) -> None:
    page = render(report)
    assert 'id="changes"' in page
    assert 'href="#changes"' in page
    assert "8 revisits, the last on 11 January 2026, 00:00 UTC." in page
    assert "2 changes in the content of pages; 1 only cosmetic." in page
    assert "1 new page was discovered since." in page
    assert f"lycosa changes {report.quoted_directory} URL" in page
    assert f"<b>Figure {report.figure('changes')}.</b> Changes by the time" in page
    assert "topic 1" in page
    assert "Vanished since 7 January 2026." in page
    assert "<b>A</b>" not in page


def test_report_without_revisits_has_no_freshness(tmp_path: Path) -> None:
    with revisited(tmp_path / "crawl") as crawl:
        crawl.page(A, html("A", "Corals."))
    with CrawlDirectory(tmp_path / "crawl") as collection:
        report = gather(collection)
    assert report.freshness is None
    assert "What has changed" not in render(report)


def test_changes_over_time_are_stacked_by_kind() -> None:
    times = np.array([0.0, 0.0, 0.0, 40 * DAY])
    chart = figures.changes_over_time(times, np.array([0, 3, 3, 1]), ["a", "b", "none", "c"], 0.0, 40 * DAY)
    assert chart is not None
    assert [("a 1", 1, 0), ("b 1", 0, 1), ("c 2", 2, 0)] == [
        (curve.label, curve.y[0], curve.y[-1]) for curve in chart.curves
    ]
    assert ([0, 1, 3], 0.0, 40 * DAY) == (chart.palette, chart.low, chart.high)
    assert (
        figures.changes_over_time(times[:3], np.array([0, 2, 2]), ["a", "b", "c"], 0.0, 60.0) is None
    )  # within a minute
