"""Tests of the search index after revisits."""

from __future__ import annotations

import sqlite3
from pathlib import Path

import pytest

from lycosa.collection import searching
from lycosa.collection.crawl_directory import CrawlDirectory
from lycosa.collection.searching import Search
from lycosa.store.directory import Directory
from lycosa.store.search import NAME, IndexedPage, SearchIndex
from revisited_crawl import DAY, EPOCH, Revisited, html, revisited

A, B, C = (f"http://a.test/{name}" for name in "abc")


def found(path: Path, words: str, **filters: object) -> list[str]:
    with CrawlDirectory(path) as collection, Search(collection) as search:
        return [hit.url for hit in search.find(words, **filters)]  # type: ignore[arg-type]


def go_on(crawl: Revisited) -> Revisited:
    """Reopen a closed crawl for appending."""
    crawl._directory = Directory.open(crawl.path)
    crawl.log = crawl._directory.log()
    crawl._archive = crawl._directory.archive(crawl.log, "Lycosa/test", 10**9)
    return crawl


def test_find_replaces_old_version(tmp_path: Path) -> None:
    with revisited(tmp_path / "crawl") as crawl:
        crawl.page(A, html("Old title", "An axolotl among corals."), relevance=0.3)
        crawl.page(B, html("B", "A newt among corals."))
    assert [A] == found(crawl.path, "axolotl")
    go_on(crawl).changed(A, html("New title", "A salamander among corals."), 2, relevance=0.7)
    crawl.unmodified(B, 2)
    crawl.close()
    assert [] == found(crawl.path, "axolotl")
    assert [A] == found(crawl.path, "salamander")
    assert {A, B} == set(found(crawl.path, "corals"))
    with CrawlDirectory(crawl.path) as collection, Search(collection) as search:
        (hit,) = search.find("salamander", since="2026-01-03", threshold=0.6)
        assert ("New title", 0.7, EPOCH + 2 * DAY) == (hit.title, hit.relevance, hit.fetched.timestamp())
        assert 2 == search.find("corals").pages


def test_find_changed_ignores_cosmetic_changes(tmp_path: Path) -> None:
    with revisited(tmp_path / "crawl") as crawl:
        for node in (A, B, C):
            crawl.page(node, html("Page", "About corals and nothing else."))
        crawl.changed(A, html("Page", "About corals and fish."), 2)
        crawl.changed(B, html("Page", "About corals, 1 reader."), 2, "cosmetic")
        crawl.changed(A, html("Page", "About corals and fish, 1 reader."), 9, "cosmetic")
    assert [A] == found(crawl.path, "corals", changed=0.0)
    assert [A] == found(crawl.path, "corals", changed=EPOCH + 2 * DAY)
    assert [] == found(crawl.path, "corals", changed=EPOCH + 3 * DAY)
    assert {A, B, C} == set(found(crawl.path, "corals"))


def test_find_returns_vanished_pages(tmp_path: Path) -> None:
    with revisited(tmp_path / "crawl") as crawl:
        crawl.page(A, html("A", "An axolotl."))
        crawl.gone(A, 3)
    with CrawlDirectory(crawl.path) as collection, Search(collection) as search:
        (hit,) = search.find("axolotl")
    assert ("vanished", "2026-01-04T00:00:00+00:00") == (hit.standing, hit.as_dict()["since"])


def test_find_excludes_version_that_became_copy(tmp_path: Path) -> None:
    with revisited(tmp_path / "crawl") as crawl:
        crawl.page(A, html("A", "An axolotl."))
        crawl.page(B, html("B", "A newt."))
        crawl.changed(B, html("A", "An axolotl."), 1, same_as=A)
    assert [A] == found(crawl.path, "axolotl")
    assert {A, B} == set(found(crawl.path, "axolotl", copies=True))
    go_on(crawl).changed(B, html("B", "An axolotl of its own."), 2)
    crawl.close()
    assert {A, B} == set(found(crawl.path, "axolotl"))


def dump(path: Path) -> list[object]:
    with sqlite3.connect(path / NAME) as db:
        tables = [db.execute(f"SELECT * FROM {name}").fetchall() for name in ("state", "page", "word")]
    db.close()
    return list(tables)


def test_interrupted_update_equals_full_build(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with revisited(tmp_path / "crawl") as crawl:
        for node in (A, B, C):
            crawl.page(node, html("Page", f"About corals of {node[-1]}."))
        crawl.changed(A, html("Page", "Now about salamanders."), 1)
        crawl.changed(A, html("Page", "Now about newts."), 2)
    monkeypatch.setattr(searching, "BATCH_PAGES", 1)
    found(crawl.path, "newts")
    whole = dump(crawl.path)
    add = SearchIndex.add
    for stop in range(3):  # B, C, and the current version of A
        (crawl.path / NAME).unlink()
        left = stop

        def stopping(index: SearchIndex, entries: list[IndexedPage], mark: str) -> None:
            nonlocal left
            if not left:
                raise KeyboardInterrupt
            left -= 1
            add(index, entries, mark)

        monkeypatch.setattr(SearchIndex, "add", stopping)
        with pytest.raises(KeyboardInterrupt):
            found(crawl.path, "newts")
        monkeypatch.setattr(SearchIndex, "add", add)
        assert [A] == found(crawl.path, "newts")
        assert whole == dump(crawl.path)


def test_rebuilt_index_drops_old_versions(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with revisited(tmp_path / "crawl") as crawl:
        crawl.page(A, html("Page", "About corals 0."))
    for day in range(1, 4):
        assert [A] == found(crawl.path, "corals")
        go_on(crawl).changed(A, html("Page", f"About corals {day}."), day)
        crawl.close()
    with CrawlDirectory(crawl.path) as collection, Search(collection) as search:
        assert 4 == search.update().size()
        assert 1 == search.update(rebuild=True).size()
        assert [A] == [hit.url for hit in search.find("corals")]
