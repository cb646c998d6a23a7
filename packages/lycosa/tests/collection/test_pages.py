"""Tests of pages as rows of queries."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import numpy as np
import pytest

from lycosa.collection.pages import (
    LoggedWords,
    Origin,
    PageArray,
    best_link,
    harvest_curve,
    is_seed,
    origin_of,
    page_at,
    page_links,
    pages_at,
    path_graph,
    path_to,
    recent_pages,
    select_pages,
    state_of,
    terms_of,
)
from lycosa.core.types import Event, Links, ModelUpdate, Seed, Visit
from lycosa.store.log import NAME, SqliteLog
from revisited_crawl import DAY, EPOCH, THRESHOLD, Revisited, html, revisited
from synthetic_report import page, redirect, write

A, B, C, D, GONE = (f"http://reef.test/{name}" for name in ("", "b", "c", "d", "gone"))


@contextmanager
def log_of(path: Path, *events: Event) -> Iterator[SqliteLog]:
    with closing(SqliteLog(write(path / "crawl", events) / NAME, readonly=True)) as log:
        yield log


@pytest.fixture
def small(tmp_path: Path) -> Iterator[SqliteLog]:
    """Write a crawl of a seed with links to two pages, one of which redirects to a third; another page is gone."""
    with revisited(tmp_path / "c") as crawl:
        crawl.seed(A)
        crawl.page(A, html("Reefs", "coral reefs and corals"), 0.0, links=[B, C, GONE])
        crawl.page(B, html("Trains", "rails and engines"), 0.1, links=[A, D + "-old"], relevance=0.05)
        crawl.record(Visit(D + "-old", "redirect", "redirect", 3, started=EPOCH, links=Links.to(D)))
        crawl.record(Visit(GONE, "page", "gone", 4, started=EPOCH, status=404))
        crawl.page(D, html("Atolls", "coral coral coral atolls"), 0.2, relevance=0.9, priority=0.75)
        crawl.page(C, html("Reefs", "coral reefs and corals"), 0.3, same_as=A)
    with closing(SqliteLog(tmp_path / "c" / NAME, readonly=True)) as log:
        yield log


def test_select_pages_is_in_order_of_first_fetch(small: SqliteLog) -> None:
    assert [A, B, D, C] == [row.url for row in select_pages(small)]
    assert [C] == [row.url for row in select_pages(small, "visit.duplicate_of = ?", given=(A,))]
    firsts = [row.first for row in select_pages(small)]
    assert [D, A] == [row.url for row in pages_at(small, [firsts[2], 10_000, firsts[0]])]
    row = page_at(small, D)
    assert row is not None
    assert ("Atolls", "reef.test", "en", 0.9, 0.75, True) == (
        row.title,
        row.host,
        row.language,
        row.relevance_now,
        row.priority,
        row.is_archived,
    )
    assert (B, f"to {D}-old", 2) == (row.parent, row.anchor, row.depth)
    assert page_at(small, GONE) is page_at(small, D + "-old") is None


def test_rows_have_state_after_revisits(tmp_path: Path) -> None:
    with revisited(tmp_path / "c") as crawl:
        for node in (A, B, C):
            crawl.page(node, html("Reefs", f"coral of {node}"), 0.0)
        crawl.changed(A, html("Other reefs", "coral and sponges"), 1.0, relevance=0.7)
        crawl.unmodified(A, 2.0)
        crawl.gone(B, 3.0)
        crawl.moved(C, D, 4.0)
    with closing(SqliteLog(tmp_path / "c" / NAME, readonly=True)) as log:
        first, second, third = select_pages(log)
    assert ("Other reefs", 0.7, EPOCH + DAY, EPOCH + DAY, 2, 2) == (
        first.title,
        first.relevance,
        first.started,
        first.changed,
        first.versions,
        first.revisits,
    )
    assert [("stands", ""), ("vanished", ""), ("moved", D)] == [
        (row.state, row.moved_to) for row in (first, second, third)
    ]
    assert EPOCH + 3 * DAY == second.since


def test_page_array_counts_current_versions(small: SqliteLog) -> None:
    array = PageArray.read(small, further=["depth"])
    assert (4, THRESHOLD, small.end()) == (len(array), array.threshold, array.end)
    assert [True, True, True, False] == array.counted.tolist()
    assert [True, False, True, False] == array.relevant.tolist()
    assert 1 == PageArray.read(small, 0.6).relevant.sum()
    assert (4, 2) == (array.estimate.pages, array.estimate.relevant)
    drawn = array.harvest()
    assert ([0, 1, 2, 3, 4], [0, 1, 1, 2, 2]) == (drawn.pages, drawn.relevant)
    assert [0, 1, 1, 1, 2] == drawn.breadth  # C, a copy, is nearer to the seed than D


def test_page_array_uses_updated_relevances(tmp_path: Path) -> None:
    crawl = Revisited(tmp_path / "c")
    crawl.page(A, html("Reefs", "coral polyps"), 0.0)
    crawl.page(B, html("Shop", "coral jewellery"), 1.0, relevance=0.4)
    with crawl.log.batch():
        crawl.log.append(ModelUpdate("judge", {"widths": [0.5, 0.4]}))
        crawl.log.store_relevances(np.array([0.75, 0.0]))
    crawl.page(C, html("Atolls", "coral atolls"), 2.0, relevance=0.3)
    array = PageArray.read(crawl.log, further=["depth"])
    assert ([0.75, 0.0, 0.3], (0.5, 0.4)) == (array["relevance_now"].tolist(), array.count_widths)
    assert [0, 1, 1, 2] == array.harvest().relevant
    row = page_at(crawl.log, A)
    assert row is not None
    assert (0.5, 0.75) == (row.relevance, row.relevance_now)
    crawl.close()


def test_page_array_without_pages_is_empty(tmp_path: Path) -> None:
    with log_of(tmp_path, Seed(A)) as log:
        array = PageArray.read(log, further=["depth"])
        assert (0, [], 0) == (len(array), array.harvest().pages, array.estimate.relevant)
        assert 0 == recent_pages(log, EPOCH)


def test_harvest_curve_is_sampled() -> None:
    drawn = harvest_curve(np.ones(30, np.bool_), np.zeros(30), points=10)
    assert 10 == len(drawn.pages) == len(drawn.relevant) == len(drawn.breadth)
    assert (30, 30) == (drawn.pages[-1], drawn.relevant[-1])


def test_origin_distinguishes_every_kind(small: SqliteLog) -> None:
    found = {node: origin_of(small, node) for node in (A, B, C, D, GONE, "http://else.test/")}
    assert {
        A: Origin("seed"),
        B: Origin("link", A, "Reefs", f"to {B}"),
        C: Origin("link", A, "Reefs", f"to {C}"),
        D: Origin("link", B, "Trains", f"to {D}-old"),
        GONE: Origin("link", A, "Reefs", f"to {GONE}"),
        "http://else.test/": Origin(""),
    } == found
    assert [A, B, D] == path_to(small, D)


def test_origin_of_redirected_seed_is_seed(tmp_path: Path) -> None:
    events = (Seed("s"), redirect("s", "t"), redirect("t", "s"), redirect("t", "u"), page("u"), page("x"))
    with log_of(tmp_path, *events) as log:
        assert [True, True, True, False] == [is_seed(log, url) for url in ("s", "t", "u", "x")]
        assert ["seed", ""] == [origin_of(log, url).kind for url in ("u", "x")]


def test_origin_may_be_sitemap(tmp_path: Path) -> None:
    sitemap = Visit("map", "sitemap", "ok", 0, links=Links.to("m"))
    with log_of(tmp_path, Seed("a"), sitemap, page("m")) as log:
        assert Origin("sitemap", "map") == origin_of(log, "m")
        assert ["map", "m"] == path_to(log, "m")


def test_path_follows_first_links(tmp_path: Path) -> None:
    with log_of(
        tmp_path,
        Seed("a"),
        page("a", to=["b", "c", "nowhere"]),
        redirect("c", "d"),
        page("d", 0.9, to=["f", "a"]),
        page("f", 0.9),
        page("b", to=["e", "d"]),
        page("x", 0.9),
        page("e", to=["f", "e"]),
    ) as log:
        paths = {url: path_to(log, url) for url in ("a", "e", "f", "x", "nowhere")}
        assert {
            "a": ["a"], "e": ["a", "b", "e"], "f": ["a", "d", "f"], "x": ["x"], "nowhere": ["nowhere"]
        } == paths  # fmt: skip
        assert ["d", "f"] == path_to(log, "f", 2)
        depths = {row.url: row.depth for row in select_pages(log)}
        assert {"a": 0, "d": 1, "b": 1, "f": 2, "e": 2, "x": 0} == depths


def test_path_ends_at_loops(tmp_path: Path) -> None:
    with log_of(tmp_path, page("a", parent="b"), page("b", parent="a")) as log:
        assert ["a", "b"] == sorted(path_to(log, "a"))


def test_path_graph_is_truncated(small: SqliteLog) -> None:
    graph = path_graph(small, [D, C], 100)
    assert ({A: 0, B: 1, D: 2, C: 1}, False) == (graph.depths, graph.truncated)
    assert [(A, B), (B, D), (A, C)] == list(graph.steps)
    graph = path_graph(small, [D, C], 3)
    assert ([A, B, D], True) == (list(graph.depths), graph.truncated)


def test_links_have_state_of_target(small: SqliteLog) -> None:
    visit = next(small.visits("url = ?", given=(A,)))
    assert [(B, f"to {B}", 0.5, "fetched"), (C, f"to {C}", 0.5, "fetched"), (GONE, f"to {GONE}", 0.5, "gone")] == [
        (link.url, link.anchor, link.link_relevance, link.state) for link in page_links(small, visit)
    ]
    assert ["redirect", "not fetched"] == [state_of(small, url) for url in (D + "-old", "http://else.test/")]


def test_state_after_revisits(tmp_path: Path) -> None:
    with revisited(tmp_path / "c") as crawl:
        for node in (A, B, C):
            crawl.page(node, html("Reefs", "coral"))
        crawl.gone(A, 1.0)
        crawl.moved(B, D, 1.0)
        crawl.failed(C, 1.0)
        assert ["vanished", "moved", "fetched"] == [state_of(crawl.log, url) for url in (A, B, C)]


def test_best_link_prefers_relevance_and_text() -> None:
    links = Links.to("b", "b", "c", "b", anchors=["", "coral", "", "kelp"])
    assert [1, 2, -1] == [best_link(Visit("a", "page", "ok", 1, links=links), url) for url in ("b", "c", "d")]
    links.link_relevances = np.array([0.1, 0.2, 0.3, 0.9], np.float32)
    assert 3 == best_link(Visit("a", "page", "ok", 1, links=links), "b")


def test_words_are_counted(small: SqliteLog) -> None:
    words = LoggedWords(small, ["coral"])
    rows = {row.url: row for row in select_pages(small)}
    assert [2, 0, 3, 2] == [words.frequency.get(rows[url].seq, 0) for url in (A, B, D, C)]
    assert 2 == words.page_counts[words.words.index("coral")]  # without the copy
    ids, counts = terms_of(small, rows[D].seq)
    assert {"coral": 3, "atol": 3} == {words.words[at]: int(count) for at, count in zip(ids, counts, strict=True)}


def test_recent_pages_are_those_of_last_minute(tmp_path: Path) -> None:
    times = (EPOCH, EPOCH + 50.0, EPOCH + 100.0)
    with log_of(tmp_path, *(page(f"p{at}", ended=at) for at in times)) as log:
        assert [2, 1, 0] == [recent_pages(log, EPOCH + after) for after in (100.0, 150.0, 1000.0)]


def test_views_agree_with_page_array(small: SqliteLog) -> None:
    array = PageArray.read(small)
    with closing(sqlite3.connect(small.path)) as db:
        rows = db.execute("SELECT url, relevant, parent, depth FROM pages ORDER BY first_fetched").fetchall()
        relevant = db.execute("SELECT url FROM relevant_pages").fetchall()
    assert [(D,), (A,)] == relevant
    assert array.relevant.sum() == sum(row[1] for row in rows)
    assert (D, 1, B, 2) in rows
