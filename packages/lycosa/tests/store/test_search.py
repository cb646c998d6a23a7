"""The search index as a file: what goes in comes out, and what is wrong with it is mended."""

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
    """Pages with these texts, no two of one address."""
    return [IndexedPage(seq, f"http://a.test/{seq}", "", text) for seq, text in enumerate(texts, start)]


def holding(index: SearchIndex, *phrase: str) -> list[int]:
    """Numbers of the pages with these words side by side, from 0."""
    return (index.matches(phrase)["id"] - 1).tolist()


def brute(texts: list[list[str]], phrase: list[str]) -> list[int]:
    """Numbers of the texts with these words side by side."""
    n = len(phrase)
    return [i for i, words in enumerate(texts) if any(words[k : k + n] == phrase for k in range(len(words)))]


@settings(max_examples=25, deadline=None)
@given(st.lists(st.tuples(TEXTS, TEXTS), min_size=1, max_size=12), st.lists(WORDS, min_size=1, max_size=3))
def test_places_equal_brute_force(pages: list[tuple[list[str], list[str]]], phrase: list[str]) -> None:
    """Pages with a word or a phrase, in the title or in the text, are those found by looking at each page."""
    with TemporaryDirectory() as folder:
        index = SearchIndex(Path(folder) / NAME)
        batch = [IndexedPage(i, str(i), " ".join(a), " ".join(b)) for i, (a, b) in enumerate(pages, 1)]
        half = len(batch) // 2
        for part in (batch[:half], batch[half:]):
            if part:
                index.add(part, "mark")
        for words in (phrase, phrase[:1]):
            everywhere = sorted({*brute([a for a, _ in pages], words), *brute([b for _, b in pages], words)})
            assert everywhere == holding(index, *words)
        assert (len(batch), "mark") == index.last()
        index.close()


def test_words_by_their_beginning(tmp_path: Path) -> None:
    """All words that begin alike are known, and looked up together."""
    index = SearchIndex(tmp_path / NAME)
    index.add(entries("coral corals co", "corona cora"), "")
    assert ["cora", "coral", "corals", "corona"] == index.words("cor")
    assert [1, 2] == index.matches(["cor"], prefix=True)["id"].tolist()
    assert [1] == index.matches(["coral"], prefix=True)["id"].tolist()
    index.close()


def test_what_is_known_of_a_page_comes_back(tmp_path: Path) -> None:
    """Number, score and whether it was read come back exactly; pages are selected by all that is known of them."""
    index = SearchIndex(tmp_path / NAME)
    index.add([IndexedPage(7, "u", "a b", "c", "a.test:81", "en", 1.7e9, 0.7, copy=True, unread=True, changed=3.0)], "")
    assert [(1, 7, 0.7, True)] == index.pages().tolist()
    assert (["a.test:81"], ["en"]) == (index.names("host"), index.names("language"))
    where = "host = 'a.test:81' AND language = 'en' AND fetched = ? AND changed = ? AND copy"
    assert 1 == len(index.pages(where, (1.7e9, 3.0)))
    assert 0 == len(index.pages(where, (1.7e9, 2.0)))
    index.close()


def test_the_newest_visit_of_an_address_counts(tmp_path: Path) -> None:
    """A page that comes again gets a new record, and the old one is gone, also when both come in one batch."""
    index = SearchIndex(tmp_path / NAME)
    first, second, third = entries("old", "other", "new")
    third.url = first.url
    index.add([first, second, third], "")
    again = IndexedPage(4, first.url, "", "newest")
    index.add([again], "")
    assert ([2, 4], 4) == (index.pages()["id"].tolist(), index.size())
    assert not index.mostly_dead()
    index.close()


def test_an_index_of_the_dead_is_noticed(tmp_path: Path) -> None:
    """When most records are of visits long past, beginning anew is worth it."""
    index = SearchIndex(tmp_path / NAME)
    for start in (1, 602):
        index.add([IndexedPage(start + n, str(n), "", "") for n in range(601)], "")
    assert not index.mostly_dead()
    index.add([IndexedPage(9999, "0", "", "")], "")
    index.add([IndexedPage(10_000, "0", "", "")], "")
    assert index.mostly_dead()
    index.close()


def test_a_batch_goes_in_whole_or_not_at_all(tmp_path: Path) -> None:
    """A batch that fails on its way leaves nothing of itself behind."""
    index = SearchIndex(tmp_path / NAME)
    index.add(entries("coral"), "first")
    bad = entries("reef", "fish", start=2)
    bad[1].url = object()  # type: ignore[assignment]
    with pytest.raises(DamagedError):
        index.add(bad, "second")
    assert (1, "first") == index.last()
    assert [] == holding(index, "reef")
    index.add(entries("reef", start=2), "second")
    assert [1] == holding(index, "reef")
    index.close()


def test_a_full_disk_is_told_and_costs_the_batch_only(tmp_path: Path) -> None:
    """Without room the batch is taken back, the message says what to do, and the rest can still be read."""
    index = SearchIndex(tmp_path / NAME)
    index.add(entries("coral reef"), "first")
    pages = index._db.execute("PRAGMA page_count").fetchone()[0]
    index._db.execute(f"PRAGMA max_page_count = {pages + 2}")
    with pytest.raises(StoreError, match=r"full.*the crawl itself is untouched"):
        index.add(entries(" ".join(f"word{n}" for n in range(20_000)), start=2), "second")
    assert (1, "first") == index.last()
    assert [0] == holding(index, "coral", "reef")
    index.close()


@pytest.mark.parametrize("what", ["garbage", "empty", "foreign", "older", "truncated", "no tables"])
def test_what_is_no_index_of_ours_is_made_anew(tmp_path: Path, what: str) -> None:
    """A file that can't be used is replaced by an empty index, whatever it is."""
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
    except DamagedError:  # found later than at opening: the search that finds it begins anew
        index.clear()
    assert (0, "") == index.last()
    index.add(entries("reef"), "")
    assert [0] == holding(index, "reef")
    index.close()


def test_the_journal_of_a_deleted_index_is_not_mixed_in(tmp_path: Path) -> None:
    """Who deletes the file while it is in use, and leaves its journal there, gets an empty index."""
    old = SearchIndex(tmp_path / NAME)
    old.add(entries("coral"), "")
    journal = (tmp_path / f"{NAME}-wal").read_bytes()
    old.close()
    (tmp_path / NAME).unlink()
    (tmp_path / f"{NAME}-wal").write_bytes(journal)
    new = SearchIndex(tmp_path / NAME)
    assert (0, 0) == (new.last()[0], len(new.pages()))
    new.add(entries("reef"), "")
    assert ([], [0]) == (holding(new, "coral"), holding(new, "reef"))
    new.close()


def test_a_folder_in_the_way_is_told(tmp_path: Path) -> None:
    """What can't be replaced is named."""
    (tmp_path / NAME).mkdir()
    with pytest.raises(StoreError, match=NAME):
        SearchIndex(tmp_path / NAME)


def test_torn_parts_are_noticed(tmp_path: Path) -> None:
    """What can't be right is damage, not a crash."""
    index = SearchIndex(tmp_path / NAME)
    index.add(entries("coral", "coral"), "")
    index._db.execute("UPDATE state SET size = 1")
    with pytest.raises(DamagedError, match="does not know"):
        index.matches(["coral"])
    index._db.execute("DELETE FROM place_docsize")
    with pytest.raises(DamagedError):
        index.matches(["coral"])
    index._db.execute("DELETE FROM state")
    index._db.execute("DROP TABLE page")
    with pytest.raises(DamagedError):
        index.pages()
    index.close()


def test_readers_see_one_moment(tmp_path: Path) -> None:
    """What is added while someone reads is not seen before they ask again."""
    writer = SearchIndex(tmp_path / NAME)
    writer.add(entries("coral"), "")
    reader = SearchIndex(tmp_path / NAME)
    with reader.reading():
        assert 1 == len(reader.pages())
        writer.add(entries("coral", start=2), "")
        assert 1 == len(reader.pages())
        assert [0] == holding(reader, "coral")
    assert 2 == len(reader.pages())
    reader.close()
    writer.close()


def test_who_reads_may_go_on_while_it_is_made_anew(tmp_path: Path) -> None:
    """Clearing takes nothing from those who have the old file open, and they can tell that it was replaced."""
    reader, other = SearchIndex(tmp_path / NAME), SearchIndex(tmp_path / NAME)
    reader.add(entries("coral"), "")
    other.clear()
    other.add(entries("reef"), "")
    assert [0] == holding(reader, "coral")
    assert reader.replaced
    assert not other.replaced
    reader.close()  # and takes nothing of the new one along
    third = SearchIndex(tmp_path / NAME)
    assert [0] == holding(third, "reef")
    third.close()
    (tmp_path / NAME).unlink()
    assert other.replaced
    other.close()


def test_one_builds_and_others_wait(tmp_path: Path) -> None:
    """The right to build goes from one to the next, and who has to wait hears of it."""
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


def test_a_directory_that_can_not_be_written_is_told(tmp_path: Path) -> None:
    """The lock is the first thing that fails; its message says what could not be done."""
    with pytest.raises(StoreError, match="cannot write the search index"), index_lock(tmp_path / "nowhere"):
        pass


def test_endless_words_do_no_harm(tmp_path: Path) -> None:
    """What is longer than any word does not hide those beside it."""
    index = SearchIndex(tmp_path / NAME)
    index.add(entries("coral " + "x" * 100_000 + " reef"), "")
    assert [0] == holding(index, "reef")
    index.close()
