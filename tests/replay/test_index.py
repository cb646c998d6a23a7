"""The index that is kept beside a WARC file."""

import os
from array import array
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lycosa.core.errors import InputError, StoreError
from lycosa.replay import index as module
from lycosa.replay.captures import REVISIT, identify
from lycosa.replay.index import COLUMNS, ENDING, Index, load, open_index
from replay.helpers import record, write

URLS = [f"http://a.example/{number}" for number in range(6)]


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A cache directory for each test."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return tmp_path / "cache" / "lycosa"


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return write(tmp_path / "a.warc.gz", *map(record, URLS[:4]))


class Scans:
    """Counts how often a file was read, and from where."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.starts: list[int] = []
        real = module.scan

        def scan(path: Path, part: tuple[int, int], into: Any, tell: Any, start: int = 0) -> int:
            self.starts.append(start)
            return real(path, part, into, tell, start)

        monkeypatch.setattr(module, "scan", scan)


@pytest.fixture
def scans(monkeypatch: pytest.MonkeyPatch) -> Scans:
    return Scans(monkeypatch)


def opened(path: Path) -> Index:
    return open_index(path, lambda reached, captures: None)


def known(index: Index) -> list[str]:
    """Which of the addresses an index knows."""
    return [url for url in URLS if index.rows(identify(url)[0])]


def test_it_is_made_once(path: Path, scans: Scans) -> None:
    """The second time the file is not read."""
    assert URLS[:4] == known(opened(path))
    assert URLS[:4] == known(opened(path))
    assert [0] == scans.starts
    assert path.with_name(path.name + ENDING).exists()


def test_a_file_that_has_grown_is_read_on(path: Path, scans: Scans) -> None:
    """Only what is new is read, and the result is that of reading all."""
    size = path.stat().st_size
    opened(path)
    with open(path, "ab") as file:
        file.write(write(path.with_name("more.warc.gz"), *map(record, URLS[4:])).read_bytes())
    grown = opened(path)
    assert [0, size] == scans.starts
    assert URLS == known(grown)
    path.with_name(path.name + ENDING).unlink()
    new = opened(path)
    for name in COLUMNS:
        assert np.array_equal(new.columns[name], grown.columns[name]), name
    assert new.hosts() == grown.hosts()


def test_a_file_that_is_being_written(path: Path, scans: Scans) -> None:
    """What is whole is known; when the rest has come it is read from the record that was torn."""
    data = path.read_bytes()
    path.write_bytes(data[:-20])
    assert URLS[:3] == known(opened(path))
    path.write_bytes(data)
    assert URLS[:4] == known(opened(path))
    assert 0 < scans.starts[1] < len(data) - 20


def test_a_file_that_has_changed_is_read_anew(path: Path, scans: Scans) -> None:
    """A longer file with another content has nothing of the old index."""
    opened(path)
    write(path, *map(record, URLS[1:]))
    assert URLS[1:] == known(opened(path))
    assert [0, 0] == scans.starts


def test_a_file_that_was_cut_is_read_anew(path: Path, scans: Scans) -> None:
    """A shorter file, as after a crawl that moved its tail aside."""
    index = opened(path)
    os.truncate(path, int(index.columns["offset"].max()))
    assert URLS[:3] == known(opened(path))
    assert [0, 0] == scans.starts


def test_the_same_size_at_another_time(path: Path, scans: Scans) -> None:
    """A file that was only touched is looked at again, from where it was whole: nothing is left to read."""
    opened(path)
    os.utime(path, (1, 1))
    assert URLS[:4] == known(opened(path))
    assert URLS[:4] == known(opened(path))
    assert [0, path.stat().st_size] == scans.starts


@pytest.mark.parametrize("cut", [0, 10, 30, 200, -1])
def test_half_an_index_is_none(path: Path, scans: Scans, cut: int) -> None:
    """An index that was cut anywhere is made anew, not believed."""
    opened(path)
    beside = path.with_name(path.name + ENDING)
    beside.write_bytes(beside.read_bytes()[:cut])
    assert load(beside) is None
    assert URLS[:4] == known(opened(path))
    assert [0, 0] == scans.starts


def test_a_write_that_fails_leaves_what_was_there(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Until the last byte is safe the old index stays, and no half one is left behind."""
    old = opened(path)
    beside = path.with_name(path.name + ENDING)
    before = beside.read_bytes()

    def full(descriptor: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    new = Index(old.columns, dict(old.facts), b"x")
    with pytest.raises(OSError, match="No space"):
        new.save(beside)
    assert before == beside.read_bytes()
    assert [path.name, beside.name] == sorted(file.name for file in path.parent.iterdir())


def test_a_directory_that_cannot_be_written(path: Path, cache: Path, scans: Scans) -> None:
    """Then the index is kept in the user's cache, which is said, and is found there the next time."""
    path.with_name(path.name + ENDING).mkdir()  # in the way: also root can't write over it
    first, second = opened(path), opened(path)
    assert f"indexes are kept in {cache / 'index'}" in first.note
    assert "" == second.note
    assert URLS[:4] == known(second)
    assert [0] == scans.starts


def test_nowhere_to_keep_it(path: Path, cache: Path) -> None:
    """Without any place to write, the file is served all the same."""
    path.with_name(path.name + ENDING).mkdir()
    cache.parent.write_text("a file where a directory should be")
    index = opened(path)
    assert "rebuilt the next time" in index.note
    assert URLS[:4] == known(index)


def test_the_index_in_the_cache_is_that_of_its_file(tmp_path: Path, cache: Path) -> None:
    """Two files of one name in two directories have two indexes in the cache."""
    for number in (0, 1):
        place = tmp_path / str(number)
        (place / f"a.warc.gz{ENDING}").mkdir(parents=True)
        write(place / "a.warc.gz", record(URLS[number]))
    assert [URLS[0]] == known(opened(tmp_path / "0" / "a.warc.gz"))
    assert [URLS[1]] == known(opened(tmp_path / "1" / "a.warc.gz"))
    assert [URLS[0]] == known(opened(tmp_path / "0" / "a.warc.gz"))


def test_other_files_are_refused(tmp_path: Path) -> None:
    """A file without WARC records is an error that says so, and so is one that is not there."""
    (tmp_path / "a.warc.gz").write_bytes(b"hello")
    with pytest.raises(InputError, match="contains no WARC records"):
        opened(tmp_path / "a.warc.gz")
    with pytest.raises(StoreError, match=r"cannot read .*none.warc: No such file"):
        opened(tmp_path / "none.warc")


def test_an_archive_without_pages_is_fine(tmp_path: Path) -> None:
    """A crawl that has only just begun has a file without answers."""
    path = write(tmp_path / "a.warc.gz", record("x", b"software: x", kind="warcinfo"))
    assert 0 == len(opened(path))
    assert 0 == len(opened(path))


@given(
    st.lists(st.tuples(st.integers(0, 20), st.integers(0, 5), st.integers(0, 3), st.booleans()), max_size=60),
    st.integers(0, 20),
    st.integers(0, 3),
)
def test_searching_equals_looking_at_all(rows: list[tuple[int, int, int, bool]], key: int, digest: int) -> None:
    """Rows of a key are all of them in the order of their dates, rows of a digest all that are no revisits."""
    huge = 2**63  # keys use all 64 bits
    rows.sort()
    columns = {name: np.zeros(len(rows), kind) for name, kind in COLUMNS.items()}
    columns["key"][:] = array("Q", [row[0] + huge for row in rows])
    columns["date"][:] = [row[1] for row in rows]
    columns["digest"][:] = array("Q", [row[2] + huge for row in rows])
    columns["flags"][:] = [REVISIT * row[3] for row in rows]
    columns["by_digest"][:] = np.argsort(columns["digest"], kind="stable")
    index = Index(columns, {})
    assert [number for number, row in enumerate(rows) if row[0] == key] == list(index.rows(key + huge))
    expected = [number for number, row in enumerate(rows) if row[2] == digest and not row[3]]
    assert expected == index.with_digest(digest + huge)


def test_a_directory_that_is_read_only_stays_as_it_is(path: Path, cache: Path) -> None:
    """By its mode, whoever asks: an administrator could write there all the same."""
    path.parent.chmod(0o555)
    try:
        index = opened(path)
    finally:
        path.parent.chmod(0o755)
    assert f"indexes are kept in {cache / 'index'}" in index.note
    assert not path.with_name(path.name + ENDING).exists()
