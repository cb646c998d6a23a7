"""Tests of the lookup of a page by URL."""

from __future__ import annotations

from pathlib import Path

import pytest

from handmade import FRONT, crawl, html, redirect, visit_again
from input_errors import raises_input_error
from lycosa.collection.crawl_directory import CrawlDirectory
from lycosa.collection.pages import Origin, origin_of, page_links
from lycosa.collection.tracing import latest_content, visits_of

A = "http://a.localhost/"


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Crawl a front page that links to one and old (redirects to new), which link to deep; the budget omits some."""
    path = tmp_path_factory.mktemp("made") / "crawl"
    pages = {
        FRONT: html("Front", "Begin", (A + "one", "first words"), (A + "old", "moved"), (A + "gone", "dead")),
        A + "one": html("One", "coral", (A + "deep/er", "deeper words"), (FRONT, "home"), (A + "one", "self")),
        A + "old": redirect(A + "new"),
        A + "new": html("New", "coral reef", (A + "deep/er", "other words"), (A + "deep/er", "again")),
        A + "deep/er": html("Deep", "coral", (A + "never", "not\x1b[2J fetched")),
    }
    crawl(path, pages, budget=4)
    return path


@pytest.mark.parametrize(
    ("node", "origin"),
    [
        (FRONT, Origin("seed")),
        (A + "one", Origin("link", FRONT, "Front", "first words")),
        (A + "new", Origin("link", FRONT, "Front", "moved")),
        (A + "deep/er", Origin("link", A + "one", "One", "deeper words")),
        (A + "unheard-of", Origin("")),
    ],
)
def test_origin_is_first_link(node: str, origin: Origin, made: Path) -> None:
    with CrawlDirectory(made) as collection:
        assert origin == origin_of(collection.log, node)


def test_links_have_state_of_target(made: Path) -> None:
    with CrawlDirectory(made) as collection:

        def states(url: str) -> list[tuple[str, str, str]]:
            visit = latest_content(visits_of(collection, url))
            assert visit is not None
            return [(link.url.removeprefix(A), link.anchor, link.state) for link in page_links(collection.log, visit)]

        expected = [("one", "first words", "fetched"), ("old", "moved", "redirect"), ("gone", "dead", "gone")]
        assert expected == states(FRONT)
        assert [("deep/er", "other words", "fetched")] == states(A + "new")
        assert ["not fetched"] == [state for *_, state in states(A + "deep/er")]


@pytest.mark.parametrize(
    "typed", [A + "one", "HTTP://A.LOCALHOST:80/one#x", "a.localhost/one", "https://a.localhost/one"]
)
def test_visits_accepts_equivalent_urls(typed: str, made: Path) -> None:
    with CrawlDirectory(made) as collection:
        assert [A + "one"] == [visit.node for visit in visits_of(collection, typed)]


@pytest.mark.parametrize(
    ("typed", "message"),
    [
        (A + "onee", r"onee was not visited in .*crawl; similar visited URLs: http://a\.localhost/one(,|$)"),
        (A + "never", r"never was not visited in .*; similar"),
        (
            "http://elsewhere.localhost/x",
            "was not visited in .*crawl; search for pages with: lycosa search .*crawl WORDS",
        ),
        ("no address", "was not visited"),
        ("\ud800", "was not visited"),
    ],
)
def test_visits_of_unknown_url_suggests_similar(typed: str, message: str, made: Path) -> None:
    with CrawlDirectory(made) as collection, raises_input_error("unknown-page", match=message):
        visits_of(collection, typed)


def test_latest_content_skips_unchanged_visits(tmp_path: Path) -> None:
    path = tmp_path / "crawl"
    crawl(path, {FRONT: html("Front", "old text")})
    visit_again(path, FRONT, html("Front", "new text"), kind="revisit")
    visit_again(path, FRONT, "", kind="revisit", status=304, days=2)
    with CrawlDirectory(path) as collection:
        visits = visits_of(collection, FRONT)
        assert 3 == len(visits)
        newest = latest_content(visits)
        assert newest is not None
        assert "new text" in collection.document(newest).marked
        assert None is latest_content(visits[2:])
