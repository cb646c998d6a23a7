"""Tests of the view of a crawl."""

from __future__ import annotations

import shutil
import sqlite3
import threading
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from lycosa.collection import view as view_module
from lycosa.collection.crawl_directory import CrawlDirectory
from lycosa.collection.page_rows import COLUMNS
from lycosa.collection.report import gather
from lycosa.collection.view import CrawlView, Origin
from lycosa.core.errors import DamagedError
from lycosa.core.types import Label, Links, ModelUpdate, Visit
from lycosa.store.directory import Directory
from lycosa.store.log import NAME
from revisited_crawl import DAY, EPOCH, THRESHOLD, Revisited, html, revisited

A, B, C, D, GONE = (f"http://reef.test/{name}" for name in ("", "b", "c", "d", "gone"))


def small(path: Path) -> None:
    """Write a crawl of a seed with links to two pages, one of which redirects to a third; another page is gone."""
    with revisited(path) as crawl:
        crawl.seed(A)
        crawl.page(A, html("Reefs", "coral reefs and corals"), 0.0, links=[B, C, GONE])
        crawl.page(B, html("Trains", "rails and engines"), 0.1, links=[A, D + "-old"], relevance=0.05)
        crawl.log.append(Visit(D + "-old", "redirect", "redirect", 3, started=EPOCH, links=Links.to(D)))
        crawl.log.append(Visit(GONE, "page", "gone", 4, started=EPOCH, status=404))
        crawl.page(D, html("Atolls", "coral coral coral atolls"), 0.2, relevance=0.9, priority=0.75)
        crawl.page(C, html("Reefs", "coral reefs and corals"), 0.3, same_as=A)


def nodes(view: CrawlView) -> list[str]:
    return [page.node for page in view.pages()]


def test_view_of_missing_directory_is_empty(tmp_path: Path) -> None:
    view = CrawlView(tmp_path / "none")
    assert 0 == view.catch_up()
    assert [] == view.pages()
    assert [] == view.harvest().pages
    assert 0.0 == view.rate(EPOCH)


def test_pages_excludes_copies_by_default(tmp_path: Path) -> None:
    small(tmp_path / "c")
    view = CrawlView(tmp_path / "c")
    assert 8 == view.catch_up()
    assert [A, B, D] == nodes(view)
    assert [A, B, D, C] == [page.node for page in view.pages(copies=True)]
    assert THRESHOLD == view.threshold
    assert (("coral",), [2, 0, 3]) == (view.topic, [page.frequency for page in view.pages()])
    assert view.page(GONE) is None
    assert view.page(D + "-old") is None


def test_incremental_view_equals_view_read_at_once(tmp_path: Path) -> None:
    followed = CrawlView(tmp_path / "c")
    crawl = Revisited(tmp_path / "c")
    crawl.seed(A)
    for day in range(1, 4):
        crawl.page(f"{A}{day}", html(f"Page {day}", "coral " * day), day, links=[f"{A}{day + 1}"])
        followed.catch_up()
    crawl.changed(f"{A}2", html("Page 2", "other words on coral"), 5.0)
    followed.catch_up()
    crawl.gone(f"{A}3", 6.0)
    followed.catch_up()
    crawl.close()
    fresh = CrawlView(tmp_path / "c")
    fresh.catch_up()
    assert fresh.nodes == followed.nodes
    for name in COLUMNS:
        assert fresh.column(name).tolist() == followed.column(name).tolist(), name
    assert (fresh.titles, fresh.fates) == (followed.titles, followed.fates)
    assert fresh.seq == followed.seq
    assert fresh.harvest() == followed.harvest()
    assert list(fresh.words) == list(followed.words)


def test_view_read_in_small_steps_is_equal(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    small(tmp_path / "c")
    monkeypatch.setattr(view_module, "EVENTS_PER_STEP", 2)
    view = CrawlView(tmp_path / "c")
    view.catch_up()
    assert [A, B, D] == nodes(view)


def test_pages_have_state_after_revisits(tmp_path: Path) -> None:
    with revisited(tmp_path / "c") as crawl:
        for node in (A, B, C):
            crawl.page(node, html("Reefs", f"coral of {node}"), 0.0)
        crawl.changed(A, html("Other reefs", "coral and sponges"), 1.0, relevance=0.7)
        crawl.unmodified(A, 2.0)
        crawl.gone(B, 3.0)
        crawl.moved(C, D, 4.0)
    view = CrawlView(tmp_path / "c")
    view.catch_up()
    first, second, third = view.pages()
    assert ("Other reefs", 0.7, EPOCH + DAY, EPOCH + DAY) == (
        first.title,
        first.relevance,
        first.started,
        first.changed,
    )
    assert ["stands", "vanished", "moved"] == [first.state, second.state, third.state]
    with CrawlDirectory(tmp_path / "c") as collection:
        assert [collection.fate(page.node) for page in view.pages()] == [page.fate for page in view.pages()]


def test_url_lookups_hold_lock(tmp_path: Path) -> None:
    small(tmp_path / "c")
    view = CrawlView(tmp_path / "c")
    view.catch_up()
    graph = view.graph

    class Watched:
        def __getattr__(self, name: str) -> object:
            assert view.lock._is_owned(), name  # type: ignore[attr-defined]
            return getattr(graph, name)

    view.graph = Watched()  # type: ignore[assignment]
    with CrawlDirectory(tmp_path / "c") as collection:
        nodes = [A, B, GONE, "http://else.test/"]
        kinds = [view.origin(collection.log, node).kind for node in nodes]
        assert [["seed", "link", "link", ""]] * 2 == [
            kinds,
            [view.origin(collection.log, node).kind for node in nodes],
        ]
        visit = collection.history(A)[0]
    assert {B, C, GONE} == {link.url for link in view.links(visit)}
    page = view.page(D)
    assert page is not None
    assert 4 == len(view.path_graph([page], 100).depths)
    assert view.first_link_event(A) < 0 <= view.first_link_event(B)


def test_origin_distinguishes_every_kind(tmp_path: Path) -> None:
    small(tmp_path / "c")
    view = CrawlView(tmp_path / "c")
    view.catch_up()
    with CrawlDirectory(tmp_path / "c") as collection:
        origins = {node: view.origin(collection.log, node) for node in (A, B, C, D, GONE, "http://else.test/")}
    assert {
        A: Origin("seed"),
        B: Origin("link", A, "Reefs", f"to {B}", 0.5),
        C: Origin("link", A, "Reefs", f"to {C}", 0.5),
        D: Origin("redirect", D + "-old"),
        GONE: Origin("link", A, "Reefs", f"to {GONE}", 0.5),
        "http://else.test/": Origin(""),
    } == origins
    assert ["fetched", "fetched", "redirect", "gone", "not fetched"] == [
        view.state(node) for node in (A, D, D + "-old", GONE, "http://else.test/")
    ]
    page = view.page(D)
    assert page is not None
    assert 0.75 == page.pick
    assert [A, B, D + "-old", D] == [view.nodes[vertex] for vertex in view.path_to(page.number)]


def test_harvest_equals_report(tmp_path: Path) -> None:
    small(tmp_path / "c")
    view = CrawlView(tmp_path / "c")
    view.catch_up()
    with CrawlDirectory(tmp_path / "c") as collection:
        curve = gather(collection).curve
    assert curve is not None
    drawn = view.harvest()
    assert [0, 1, 2, 3, 4] == drawn.pages
    assert [0, 1, 1, 2, 2] == drawn.relevant == curve.figure.curves[0].y
    assert [0, 1, 1, 1, 2] == drawn.breadth == curve.figure.curves[1].y


def test_harvest_is_sampled(tmp_path: Path) -> None:
    with revisited(tmp_path / "c", archive=False) as crawl:
        for number in range(30):
            crawl.page(f"{A}{number}", html("Page", "coral"))
    view = CrawlView(tmp_path / "c")
    view.catch_up()
    drawn = view.harvest(points=10)
    assert 10 == len(drawn.pages) == len(drawn.relevant) == len(drawn.breadth)
    assert (30, 30) == (drawn.pages[-1], drawn.relevant[-1])


def test_tally_counts_failures_and_hosts(tmp_path: Path) -> None:
    small(tmp_path / "c")
    view = CrawlView(tmp_path / "c")
    view.catch_up()
    assert [("gone", 1)] == [(cause.outcome, cause.count) for cause in view.tally.causes.values()]
    assert 4 == view.tally.hosts["reef.test"].pages


def test_replaced_directory_resets_view(tmp_path: Path) -> None:
    small(tmp_path / "c")
    view = CrawlView(tmp_path / "c")
    view.catch_up()
    shutil.rmtree(tmp_path / "c")
    assert (0, []) == (view.catch_up(), view.pages())
    before = view.generation
    with revisited(tmp_path / "c") as crawl:
        crawl.page(D, html("Atolls", "coral"))
    view.catch_up()
    assert [D] == nodes(view)
    assert 1 == before


def test_damaged_log_keeps_earlier_events(tmp_path: Path) -> None:
    small(tmp_path / "c")
    view = CrawlView(tmp_path / "c")
    db = sqlite3.connect(tmp_path / "c" / NAME)
    with db:
        db.execute("UPDATE event SET body = X'00' WHERE seq = 4")
    db.close()
    with pytest.raises(DamagedError, match=NAME):
        view.catch_up()
    assert 3 == view.seq
    assert [A] == nodes(view)


def test_threads_catch_up_once(tmp_path: Path) -> None:
    view = CrawlView(tmp_path / "c")
    crawl = Revisited(tmp_path / "c", archive=False)
    done = threading.Event()
    failed: list[Exception] = []

    def follow() -> None:
        try:
            while not done.is_set():
                view.catch_up()
                seen = nodes(view)
                assert [f"{A}{number}" for number in range(len(seen))] == seen
        except Exception as error:
            failed.append(error)

    threads = [threading.Thread(target=follow) for _ in range(4)]
    for thread in threads:
        thread.start()
    for number in range(60):
        crawl.page(f"{A}{number}", html("Page", "coral"), links=[f"{A}{number + 1}"])
    done.set()
    for thread in threads:
        thread.join()
    crawl.close()
    view.catch_up()
    assert [] == failed
    assert 60 == len(view.pages())


def test_relevances_are_updated(tmp_path: Path) -> None:
    crawl = Revisited(tmp_path / "c")
    crawl.page(A, html("Reefs", "coral polyps"), 0.0)
    crawl.page(B, html("Shop", "coral jewellery"), 1.0, relevance=0.4)
    view = CrawlView(tmp_path / "c")
    view.catch_up()
    assert [0.5, 0.4] == [page.relevance_now for page in view.pages()]
    assert [0, 1, 2] == view.harvest().relevant
    with crawl.log.batch():
        crawl.log.append(ModelUpdate("judge", {}))
        crawl.log.store_relevances(np.array([0.75, 0.0]))
    crawl.page(C, html("Atolls", "coral atolls"), 2.0, relevance=0.3)
    view.catch_up()
    assert [(0.5, 0.75), (0.4, 0.0), (0.3, 0.3)] == [(page.relevance, page.relevance_now) for page in view.pages()]
    view._next_harvest_time = 0.0
    assert [0, 1, 1, 2] == view.harvest().relevant
    assert ([2], 2) == ([host.relevant for host in view.hosts()], view.relevant_by_language()["en"])
    with crawl.log.batch():
        crawl.log.append(Label(B, True))
        crawl.log.store_relevances(np.array([0.75, 0.9, 0.3]))
    view.catch_up()
    assert [0.75, 0.9, 0.3] == [page.relevance_now for page in view.pages()]
    crawl.close()


def test_topic_change_recounts_words(tmp_path: Path) -> None:
    crawl = Revisited(tmp_path / "crawl")
    crawl.page("http://a.test/", html("A", "coral polyps, coral and a train"))
    crawl.close()
    view = CrawlView(tmp_path / "crawl")
    view.catch_up()
    before = view.page("http://a.test/")
    assert before is not None
    assert 2 == before.frequency
    opened = Directory.open(tmp_path / "crawl")
    opened.options = replace(opened.options, topic="trains")
    opened.save()
    opened.close()
    view.catch_up()
    after = view.page("http://a.test/")
    assert after is not None
    assert (("train",), 1) == (view.topic, after.frequency)
