"""Tests of indexing in advance: in steps, and during a crawl."""

import fcntl
import os
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest

from lycosa.collection import searching
from lycosa.collection.crawl_directory import CrawlDirectory
from lycosa.collection.searching import Search
from lycosa.core.types import Visit
from lycosa.crawling import crawl_files as files
from lycosa.store.directory import Directory
from lycosa.store.search import index_lock
from revisited_crawl import html, revisited

A = "http://a.test/"


def _crawl(directory: Path, pages: int = 12) -> None:
    with revisited(directory) as crawl:
        crawl.seed(f"{A}0")
        for number in range(pages):
            crawl.page(f"{A}{number}", html(f"Page {number}", f"coral word{number}"), number)
        crawl.changed(f"{A}3", html("Page 3", "kelp"), 20.0)


def test_find_without_patience_uses_partial_index(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    _crawl(tmp_path / "c")
    with CrawlDirectory(tmp_path / "c") as collection, Search(collection, patience=0.0) as search:
        found = search.find("coral", limit=50)
        assert (1, 1, True) == (found.total, found.pages, found.behind > 0)
        seen = [search.find("coral", limit=50).total for _ in range(20)]
        assert (sorted(seen), 11, 0) == (seen, seen[-1], search.behind)  # page 3 no longer contains the word
        assert ["http://a.test/3"] == [hit.url for hit in search.find("kelp")]
    with index_lock(tmp_path / "c"), CrawlDirectory(tmp_path / "c") as collection:  # another process holds the lock
        monkeypatch.setattr("lycosa.collection.searching.LOCK_TIMEOUT_SECONDS", 0.01)
        monkeypatch.setattr("lycosa.collection.searching.SMALL_CRAWL_EVENTS", 0)
        with Search(collection, patience=0.0) as search:
            assert 11 == search.find("coral", limit=50).total


def test_follow_updates_until_crawl_ends(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    directory = tmp_path / "c"
    _crawl(directory)
    monkeypatch.setattr(searching, "MAX_STEP_SECONDS", 0.0)
    turns: list[float] = []
    opened = Directory.open(directory)

    def sleep(seconds: float) -> None:
        turns.append(seconds)
        if len(turns) == 2:
            opened.close()  # the crawl has ended

    assert searching.follow(directory, sleep)
    assert [searching.POLL_SECONDS] * 2 == turns
    with CrawlDirectory(directory) as collection, Search(collection, patience=0.0) as search:
        assert (11, 0) == (search.find("coral", limit=50).total, search.behind)
    with open(directory / searching.FOLLOWER_LOCK) as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        assert not searching.follow(directory, sleep)


def test_background_indexer_restarts_killed_process(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    directory = tmp_path / "c"
    _crawl(directory)
    monkeypatch.setattr(files, "LARGE_CRAWL", 3)
    monkeypatch.setattr(files, "CHECK_PAGES", 2)
    begun: list[subprocess.Popen[bytes]] = []
    real = files.start_indexer

    def start_indexer(place: Path, *, follow: bool = False) -> subprocess.Popen[bytes] | None:
        assert (directory, True) == (place, follow)
        begun.append(started) if (started := real(place, follow=follow)) is not None else None
        return started

    monkeypatch.setattr(files, "start_indexer", start_indexer)
    follower = files.BackgroundIndexer(directory, 0)
    page = Visit(A, "page", "ok", 1)
    for _ in range(2):
        follower.visited(page)
    assert not begun
    for _ in range(3):
        follower.visited(page)
    assert [0] == [process.wait(300) for process in begun]  # no crawl is running, so they end at once
    with closing(CrawlDirectory(directory)) as collection, Search(collection, patience=0.0) as search:
        assert 0 == (search.update() and search.behind)
    follower.visited(page)
    follower.visited(page)
    assert 2 == len(begun)
    os.kill(begun[1].pid, 9)
    begun[1].wait(60)
    follower.close()
    assert sys.executable in begun[0].args  # type: ignore[operator]
