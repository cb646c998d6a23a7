"""Tests of states and current versions of pages after revisits."""

from __future__ import annotations

from pathlib import Path

from lycosa.collection.crawl_directory import CrawlDirectory
from lycosa.core.types import Visit
from revisited_crawl import DAY, EPOCH, html, revisited

A, B, C, D = (f"http://a.test/{name}" for name in "abcd")
LONG = "The reef, counted again and again, " + " ".join(f"coral{n}" for n in range(80))


def write_crawl(path: Path) -> Path:
    """Write a crawl with a page that changes twice, one that vanishes, one that moves, and an unchanged one."""
    with revisited(path) as crawl:
        crawl.page(A, html("Old", "An axolotl."), relevance=0.1)
        crawl.page(B, html("B", "A newt."))
        crawl.page(C, html("C", "A toad."))
        crawl.page(D, html("D", "A frog."))
        crawl.changed(A, html("New", "A salamander."), 1, relevance=0.9)
        crawl.gone(B, 1)
        crawl.unmodified(D, 1)
        crawl.failed(C, 1)
        crawl.moved(C, "http://b.test/", 2)
        crawl.gone(B, 3)
        crawl.changed(A, html("Newest", "A salamander"), 4, "cosmetic", 0.01, relevance=0.8)
        crawl.failed(A, 5)
    return path


def test_pages_yields_current_versions(tmp_path: Path) -> None:
    with CrawlDirectory(write_crawl(tmp_path / "crawl")) as collection:
        pages = list(collection.pages())
        assert [("B", 0.5), ("C", 0.5), ("D", 0.5), ("Newest", 0.8)] == [(v.title, v.relevance) for _, v in pages]
        numbers = {seq for seq, visit in collection.log.numbered() if isinstance(visit, Visit) and visit.is_version}
        assert {seq for seq, _ in pages} <= numbers
        assert max(numbers) == pages[-1][0]
        assert "A salamander" in collection.document(pages[-1][1]).marked


def test_relevant_uses_current_version(tmp_path: Path) -> None:
    with revisited(tmp_path / "crawl") as crawl:
        crawl.page(A, html("A", "Out"), relevance=0.1)
        crawl.page(B, html("B", "In"), relevance=0.9)
        crawl.changed(A, html("A", "In"), 1, "topic", relevance=0.9)
        crawl.changed(B, html("B", "Out"), 1, "topic", relevance=0.1)
    with CrawlDirectory(tmp_path / "crawl") as collection:
        assert [A] == [visit.node for visit in collection.relevant()]


def test_copies_follow_current_version(tmp_path: Path) -> None:
    with revisited(tmp_path / "crawl") as crawl:
        crawl.page(A, html("A", LONG))
        crawl.page(B, html("A", LONG), same_as=A)
        crawl.page(C, html("A", LONG), same_as=A)
        crawl.page(D, html("D", "A toad."))
        crawl.changed(B, html("A", LONG + " and more"), 1, same_as=A)
        crawl.changed(C, html("C", "Something else."), 1)
        crawl.changed(D, html("A", LONG), 1, same_as=A)
    with CrawlDirectory(tmp_path / "crawl") as collection:
        assert [A, C] == [visit.node for _, visit in collection.pages()]
        everything = [(visit.node, visit.same_as) for _, visit in collection.pages(copies=True)]
        assert [(A, ""), (B, A), (C, ""), (D, A)] == everything


def test_copies_that_change_alike_keep_one_page(tmp_path: Path) -> None:
    with revisited(tmp_path / "crawl") as crawl:
        crawl.page(A, html("A", LONG))
        crawl.page(B, html("A", LONG), same_as=A)
        crawl.changed(B, html("A", "New. " + LONG), 1)
        crawl.changed(A, html("A", "New. " + LONG), 2, same_as=B)
    with CrawlDirectory(tmp_path / "crawl") as collection:
        assert [B] == [visit.node for _, visit in collection.pages()]


def test_state_of_pages_has_counts(tmp_path: Path) -> None:
    with CrawlDirectory(write_crawl(tmp_path / "crawl")) as collection:
        found = {url: collection.state(url) for url in (A, B, C, D, "http://a.test/never")}
        assert found["http://a.test/never"] is None
        states = {url: (s.state, (s.since - EPOCH) / DAY, s.versions, s.revisits) for url, s in found.items() if s}
        assert {
            A: ("stands", 4, 3, 2),
            B: ("vanished", 1, 1, 2),
            C: ("moved", 2, 1, 1),
            D: ("stands", 0, 1, 1),
        } == states
        one, moved = found[A], found[C]
        assert one is not None
        assert moved is not None
        assert EPOCH + 1 * DAY == one.changed
        assert "http://b.test/" == moved.moved_to


def test_state_of_returned_page_is_stands(tmp_path: Path) -> None:
    with revisited(tmp_path / "crawl") as crawl:
        crawl.page(A, html("A", "Here"))
        crawl.gone(A, 1)
        crawl.changed(A, html("A", "Here"), 3, what="returned")
    with CrawlDirectory(tmp_path / "crawl") as collection:
        state = collection.state(A)
        assert state is not None
        assert ("stands", EPOCH + 3 * DAY, 2) == (state.state, state.since, state.versions)
