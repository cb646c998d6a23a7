"""Tests of the search index file."""

from __future__ import annotations

import sqlite3
import threading
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lycosa.core.errors import DamagedError, StoreError
from lycosa.store import search
from lycosa.store.search import NAME, IndexedPage, SearchIndex, index_lock

WORDS = st.sampled_from("coral reef fish sea 珊 瑚 récif x9".split())
TEXTS = st.lists(WORDS, max_size=12)


def entries(*texts: str, start: int = 1) -> list[IndexedPage]:
    """Return pages with these texts and distinct URLs."""
    return [IndexedPage(seq, f"http://a.test/{seq}", "", text) for seq, text in enumerate(texts, start)]


def pages_with(index: SearchIndex, *phrase: str) -> list[int]:
    """Return the numbers of pages that contain a phrase, counted from 0."""
    return (index.matches(phrase)["id"] - 1).tolist()


def brute_force(texts: list[list[str]], phrase: list[str]) -> list[int]:
    """Return the numbers of texts that contain a phrase."""
    n = len(phrase)
    return [i for i, words in enumerate(texts) if any(words[k : k + n] == phrase for k in range(len(words)))]


@settings(max_examples=25, deadline=None)
@given(st.lists(st.tuples(TEXTS, TEXTS), min_size=1, max_size=12), st.lists(WORDS, min_size=1, max_size=3))
def test_matches_equal_brute_force(pages: list[tuple[list[str], list[str]]], phrase: list[str]) -> None:
    with TemporaryDirectory() as folder:
        index = SearchIndex(Path(folder) / NAME)
        batch = [IndexedPage(i, str(i), " ".join(a), " ".join(b)) for i, (a, b) in enumerate(pages, 1)]
        half = len(batch) // 2
        for part in (batch[:half], batch[half:]):
            if part:
                index.add(part, "mark")
        for words in (phrase, phrase[:1]):
            everywhere = sorted(
                {*brute_force([a for a, _ in pages], words), *brute_force([b for _, b in pages], words)}
            )
            assert everywhere == pages_with(index, *words)
        assert (len(batch), "mark") == index.last()
        index.close()


def test_words_match_prefix(tmp_path: Path) -> None:
    index = SearchIndex(tmp_path / NAME)
    index.add(entries("coral corals co", "corona cora"), "")
    assert ["cora", "coral", "corals", "corona"] == index.words("cor")
    assert [1, 2] == index.matches(["cor"], prefix=True)["id"].tolist()
    assert [1] == index.matches(["coral"], prefix=True)["id"].tolist()
    index.close()


def test_pages_return_stored_values(tmp_path: Path) -> None:
    index = SearchIndex(tmp_path / NAME)
    index.add([IndexedPage(7, "u", "a b", "c", "a.test:81", "en", 1.7e9, 0.7, copy=True, unread=True, changed=3.0)], "")
    assert [(1, 7, 0.7, True)] == index.pages().tolist()
    assert (["a.test:81"], ["en"]) == (index.names("host"), index.names("language"))
    where = "host = 'a.test:81' AND language = 'en' AND fetched = ? AND changed = ? AND copy"
    assert 1 == len(index.pages(where, (1.7e9, 3.0)))
    assert 0 == len(index.pages(where, (1.7e9, 2.0)))
    index.close()


def test_add_replaces_older_version(tmp_path: Path) -> None:
    index = SearchIndex(tmp_path / NAME)
    first, second, third = entries("old", "other", "new")
    third.url = first.url
    index.add([first, second, third], "")
    reopened = IndexedPage(4, first.url, "", "newest")
    index.add([reopened], "")
    assert ([2, 4], 4) == (index.pages()["id"].tolist(), index.size())
    assert not index.is_mostly_outdated()
    index.close()


def test_is_mostly_outdated_after_half_is_replaced(tmp_path: Path) -> None:
    index = SearchIndex(tmp_path / NAME)
    for start in (1, 602):
        index.add([IndexedPage(start + n, str(n), "", "") for n in range(601)], "")
    assert not index.is_mostly_outdated()
    index.add([IndexedPage(9999, "0", "", "")], "")
    index.add([IndexedPage(10_000, "0", "", "")], "")
    assert index.is_mostly_outdated()
    index.close()


def test_add_is_atomic(tmp_path: Path) -> None:
    index = SearchIndex(tmp_path / NAME)
    index.add(entries("coral"), "first")
    bad = entries("reef", "fish", start=2)
    bad[1].url = object()  # type: ignore[assignment]
    with pytest.raises(DamagedError):
        index.add(bad, "second")
    assert (1, "first") == index.last()
    assert [] == pages_with(index, "reef")
    index.add(entries("reef", start=2), "second")
    assert [1] == pages_with(index, "reef")
    index.close()


def test_add_on_full_disk_raises(tmp_path: Path) -> None:
    index = SearchIndex(tmp_path / NAME)
    index.add(entries("coral reef"), "first")
    pages = index._db.execute("PRAGMA page_count").fetchone()[0]
    index._db.execute(f"PRAGMA max_page_count = {pages + 2}")
    with pytest.raises(StoreError, match=r"full.*the crawl itself is untouched"):
        index.add(entries(" ".join(f"word{n}" for n in range(20_000)), start=2), "second")
    assert (1, "first") == index.last()
    assert [0] == pages_with(index, "coral", "reef")
    index.close()


@pytest.mark.parametrize("what", ["garbage", "empty", "foreign", "older", "truncated", "no tables"])
def test_unusable_file_is_replaced(tmp_path: Path, what: str) -> None:
    path = tmp_path / NAME
    if what in ("garbage", "empty"):
        path.write_bytes(b"no database" * 500 if what == "garbage" else b"")
    elif what == "foreign":
        with sqlite3.connect(path) as db:
            db.execute("CREATE TABLE other (x)")
        db.close()
    else:
        index = SearchIndex(path)
        index.add(entries("coral"), "")
        if what == "older":
            index._db.execute(f"PRAGMA user_version = {search.FORMAT - 1}")
        elif what == "no tables":
            index._db.execute("DROP TABLE page")
        index.close()
        if what == "truncated":
            path.write_bytes(path.read_bytes()[:5000])
    index = SearchIndex(path)
    try:
        index.last()
        index.pages()
        index.matches(["coral"])
    except DamagedError:  # found during a search, which then rebuilds the index
        index.clear()
    assert (0, "") == index.last()
    index.add(entries("reef"), "")
    assert [0] == pages_with(index, "reef")
    index.close()


def test_journal_of_deleted_index_is_ignored(tmp_path: Path) -> None:
    old = SearchIndex(tmp_path / NAME)
    old.add(entries("coral"), "")
    journal = (tmp_path / f"{NAME}-wal").read_bytes()
    old.close()
    (tmp_path / NAME).unlink()
    (tmp_path / f"{NAME}-wal").write_bytes(journal)
    new = SearchIndex(tmp_path / NAME)
    assert (0, 0) == (new.last()[0], len(new.pages()))
    new.add(entries("reef"), "")
    assert ([], [0]) == (pages_with(new, "coral"), pages_with(new, "reef"))
    new.close()


def test_directory_in_place_of_index_raises(tmp_path: Path) -> None:
    (tmp_path / NAME).mkdir()
    with pytest.raises(StoreError, match=NAME):
        SearchIndex(tmp_path / NAME)


def test_inconsistent_tables_are_damage(tmp_path: Path) -> None:
    index = SearchIndex(tmp_path / NAME)
    index.add(entries("coral", "coral"), "")
    index._db.execute("UPDATE state SET size = 1")
    with pytest.raises(DamagedError, match="words of missing pages"):
        index.matches(["coral"])
    index._db.execute("DELETE FROM place_docsize")
    with pytest.raises(DamagedError):
        index.matches(["coral"])
    index._db.execute("DELETE FROM state")
    index._db.execute("DROP TABLE page")
    with pytest.raises(DamagedError):
        index.pages()
    index.close()


def test_reading_uses_one_snapshot(tmp_path: Path) -> None:
    writer = SearchIndex(tmp_path / NAME)
    writer.add(entries("coral"), "")
    reader = SearchIndex(tmp_path / NAME)
    with reader.reading():
        assert 1 == len(reader.pages())
        writer.add(entries("coral", start=2), "")
        assert 1 == len(reader.pages())
        assert [0] == pages_with(reader, "coral")
    assert 2 == len(reader.pages())
    reader.close()
    writer.close()


def test_clear_keeps_open_readers(tmp_path: Path) -> None:
    reader, other = SearchIndex(tmp_path / NAME), SearchIndex(tmp_path / NAME)
    reader.add(entries("coral"), "")
    other.clear()
    other.add(entries("reef"), "")
    assert [0] == pages_with(reader, "coral")
    assert reader.is_replaced
    assert not other.is_replaced
    reader.close()  # must not affect the new file
    third = SearchIndex(tmp_path / NAME)
    assert [0] == pages_with(third, "reef")
    third.close()
    (tmp_path / NAME).unlink()
    assert other.is_replaced
    other.close()


def test_index_lock_waits(tmp_path: Path) -> None:
    waiting, turns = threading.Event(), []

    def second() -> None:
        with index_lock(tmp_path, waiting.set):
            turns.append("second")

    with index_lock(tmp_path):
        thread = threading.Thread(target=second)
        thread.start()
        assert waiting.wait(60)
        turns.append("first")
    thread.join()
    assert ["first", "second"] == turns


def test_index_lock_in_missing_directory_raises(tmp_path: Path) -> None:
    with pytest.raises(StoreError, match="cannot write the search index"), index_lock(tmp_path / "nowhere"):
        pass


def test_very_long_words_are_found(tmp_path: Path) -> None:
    index = SearchIndex(tmp_path / NAME)
    index.add(entries("coral " + "x" * 100_000 + " reef"), "")
    assert [0] == pages_with(index, "reef")
    index.close()
