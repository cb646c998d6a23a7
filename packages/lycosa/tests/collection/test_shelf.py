"""Tests of the on-disk cache of views."""

from pathlib import Path

import numpy as np
import pytest

from lycosa.collection import shelf
from lycosa.collection.crawl_directory import CrawlDirectory
from lycosa.collection.page_rows import COLUMNS
from lycosa.collection.view import CrawlView
from lycosa.core.types import Label
from lycosa.store.log import NAME
from revisited_crawl import Revisited, html, revisited

A = "http://a.test/"


def _grown(crawl: Revisited, start: int, pages: int) -> None:
    for number in range(start, start + pages):
        text = f"coral reef number{number} " * (1 + number % 3)
        crawl.page(f"{A}{number}", html(f"Page {number}", text), number, links=[f"{A}{number + 1}", f"{A}x{number}"])


def _same(view: CrawlView, other: CrawlView) -> None:
    assert (view.seq, view.nodes, view.fates, view.threshold) == (other.seq, other.nodes, other.fates, other.threshold)
    for name in COLUMNS:
        if name != "frequency" or view.content == other.content:
            assert view.column(name).tolist() == other.column(name).tolist(), name
    assert [np.asarray(part).tolist() for part in view.breadth_first()] == [
        np.asarray(part).tolist() for part in other.breadth_first()
    ]
    assert view.tally.state().keys() == other.tally.state().keys()
    for name, value in view.tally.state().items():
        if name != "revisits":
            assert value == other.tally.state()[name], name
    assert view.tally.revisits.by_kind == other.tally.revisits.by_kind
    assert list(view.tally.revisits.times) == list(other.tally.revisits.times)
    assert (view.state(f"{A}1"), view.first_link_event(f"{A}3")) == (
        other.state(f"{A}1"),
        other.first_link_event(f"{A}3"),
    )


def _folded(directory: Path) -> CrawlView:
    view = CrawlView(directory)
    view.use_cache = False
    view.catch_up()
    return view


def test_cached_view_equals_view_from_log(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shelf, "MIN_NEW_EVENTS", 5)
    directory = tmp_path / "c"
    crawl = Revisited(directory)
    crawl.seed(f"{A}0")
    _grown(crawl, 0, 8)
    crawl.changed(f"{A}2", html("Page 2", "other words on coral"), 20.0)
    crawl.gone(f"{A}3", 21.0)
    with CrawlDirectory(directory) as collection:  # no cached content, so the whole log is read
        assert collection.view().content
    assert (directory / shelf.NAME / "map").exists()
    lean, whole = CrawlView(directory, content=False), CrawlView(directory)
    lean.catch_up()
    whole.catch_up()
    assert (False, True, lean.seq, whole.seq) == (lean.content, whole.content, lean.cached_seq, whole.cached_seq)
    reference = _folded(directory)
    _same(lean, reference)
    _same(whole, reference)
    assert (whole.titles, whole.words) == (reference.titles, reference.words)
    assert whole.word_pages[: len(whole.words)].tolist() == reference.word_pages[: len(reference.words)].tolist()
    assert [whole.page(f"{A}1").terms[0].tolist()] == [words.tolist() for words, _ in reference.words_on([1])]  # type: ignore[union-attr]
    _grown(crawl, 8, 2)
    with crawl.log.batch():
        crawl.log.append(Label(f"{A}1", True, 30.0))
        crawl.log.store_relevances(np.linspace(0.1, 0.9, 11))
    later = CrawlView(directory, content=False)
    later.catch_up()
    assert not later.content  # few new events
    _same(later, _folded(directory))
    crawl.close()


def test_invalid_cache_is_ignored(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shelf, "MIN_NEW_EVENTS", 5)
    directory = tmp_path / "c"
    with revisited(directory) as crawl:
        crawl.seed(f"{A}0")
        _grown(crawl, 0, 6)
    reference = _folded(directory)
    CrawlView(directory).catch_up()
    place = directory / shelf.NAME
    blocks, written = (place / "blocks").read_bytes(), (place / "map").read_bytes()
    for name, content in (("blocks", blocks[:100]), ("blocks", bytes(len(blocks))), ("map", written[:200])):
        (place / name).write_bytes(content)
        view = CrawlView(directory, content=False)
        view.catch_up()
        _same(view, reference)
        assert view.content  # the whole log was read
    monkeypatch.setattr(shelf, "code_digest", lambda: "other")
    other = CrawlView(directory, content=False)
    other.catch_up()
    assert other.content
    for name in (NAME, f"{NAME}-wal", f"{NAME}-shm"):
        (directory / name).unlink(missing_ok=True)
    (directory / "crawl.toml").unlink()
    with revisited(directory) as crawl:
        crawl.seed(f"{A}0")
        _grown(crawl, 3, 4)
    replaced = CrawlView(directory, content=False)
    replaced.catch_up()
    _same(replaced, _folded(directory))
