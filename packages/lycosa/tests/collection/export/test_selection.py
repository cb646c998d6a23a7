"""Tests of the selection of pages to export."""

from pathlib import Path

import pytest

from input_errors import raises_input_error
from lycosa.collection.crawl_directory import CrawlDirectory
from lycosa.collection.export.selection import Selection
from synthetic_crawl import crawled, html, prose


@pytest.fixture
def crawl(tmp_path: Path) -> Path:
    with crawled(tmp_path / "crawl") as crawl:
        for number, relevance in enumerate((0.9, 0.0, 0.9)):
            crawl.page(f"http://a.test/{number}", html(f"Page {number}", prose(number)), relevance=relevance)
    return tmp_path / "crawl"


def test_selection_counts_and_filters(crawl: Path) -> None:
    with CrawlDirectory(crawl) as collection:
        assert (2, 2) == ((chosen := Selection(collection)).total, chosen.archived)
        assert 3 == Selection(collection, everything=True).total
        (only,) = Selection(collection, everything=True, only="http://a.test/1").pages()
        assert "http://a.test/1" == only[1].node


def test_selection_contains_selected_events_only(crawl: Path) -> None:
    with CrawlDirectory(crawl) as collection:
        selection = Selection(collection)
        selected = [seq for seq, _ in selection.pages()]
        assert selected == [seq for seq in range(1, collection.log.end() + 1) if selection.holds(seq)]


def test_selection_reports_progress(crawl: Path) -> None:
    calls: list[tuple[str, int, int]] = []
    with CrawlDirectory(crawl) as collection:
        list(Selection(collection, progress=lambda *call: calls.append(call)).pages("copying"))
    assert [("copying", 0, 2), ("copying", 1, 2), ("copying", 2, 2)] == calls


def test_selection_rejects_unknown_opt_out(crawl: Path) -> None:
    with CrawlDirectory(crawl) as collection, raises_input_error("bad-value"):
        Selection(collection, respect="some")
