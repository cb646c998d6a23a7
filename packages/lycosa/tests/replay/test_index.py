"""Cached indexes of WARC files."""

import os
from array import array
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from input_errors import raises_input_error
from lycosa.core.errors import StoreError
from lycosa.replay import index as module
from lycosa.replay.captures import REVISIT, identify
from lycosa.replay.index import COLUMNS, Index, load, open_index
from replay_helpers import record, write

URLS = [f"http://a.example/{number}" for number in range(6)]


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Use a cache directory for each test."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return tmp_path / "cache" / "lycosa"


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return write(tmp_path / "a.warc.gz", *map(record, URLS[:4]))


class Scans:
    """Counter of how often a file was read."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.count = 0
        real = module.scan

        def scan(*given: Any) -> int:
            self.count += 1
            return real(*given)

        monkeypatch.setattr(module, "scan", scan)


@pytest.fixture
def scans(monkeypatch: pytest.MonkeyPatch) -> Scans:
    return Scans(monkeypatch)


def opened(path: Path) -> Index:
    return open_index(path, lambda reached, captures: None)


def known(index: Index) -> list[str]:
    """Return the members of `URLS` that an index contains."""
    return [url for url in URLS if index.rows(identify(url)[0])]


def kept(cache: Path) -> Path:
    """Return the only file in the cache."""
    (found,) = (cache / "index").iterdir()
    return found


def test_open_index_reads_file_once(path: Path, cache: Path, scans: Scans) -> None:
    assert URLS[:4] == known(opened(path))
    assert URLS[:4] == known(opened(path))
    assert 1 == scans.count
    assert path.name in kept(cache).name
    assert [path.name] == [file.name for file in path.parent.iterdir() if file.is_file()]


def test_open_index_reads_changed_file(path: Path, scans: Scans) -> None:
    first = opened(path)
    with open(path, "ab") as file:
        file.write(write(path.with_name("more.warc.gz"), *map(record, URLS[4:])).read_bytes())
    assert URLS == known(opened(path))
    os.truncate(path, int(first.columns["offset"].max()))
    assert URLS[:3] == known(opened(path))
    write(path, *map(record, URLS[1:]))
    assert URLS[1:] == known(opened(path))
    os.utime(path, (1, 1))
    assert URLS[1:] == known(opened(path))
    assert 5 == scans.count


@pytest.mark.parametrize("cut", [0, 10, 30, 200, -1])
def test_open_index_rebuilds_truncated_index(path: Path, cache: Path, scans: Scans, cut: int) -> None:
    opened(path)
    index = kept(cache)
    index.write_bytes(index.read_bytes()[:cut])
    assert load(index) is None
    assert URLS[:4] == known(opened(path))
    assert 2 == scans.count


def test_open_index_failed_write_keeps_old_index(path: Path, cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    old = opened(path)
    index = kept(cache)
    before = index.read_bytes()

    def full(descriptor: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OSError, match="No space"):
        Index(old.columns, dict(old.facts), b"x").save(index)
    assert before == kept(cache).read_bytes()


def test_open_index_works_without_writable_cache(path: Path, cache: Path) -> None:
    cache.parent.write_text("a file where a directory should be")
    assert URLS[:4] == known(opened(path))


def test_open_index_distinguishes_files_of_same_name(tmp_path: Path) -> None:
    for number in (0, 1):
        (tmp_path / str(number)).mkdir()
        write(tmp_path / str(number) / "a.warc.gz", record(URLS[number]))
    assert [URLS[0]] == known(opened(tmp_path / "0" / "a.warc.gz"))
    assert [URLS[1]] == known(opened(tmp_path / "1" / "a.warc.gz"))
    assert [URLS[0]] == known(opened(tmp_path / "0" / "a.warc.gz"))


def test_open_index_raises_for_files_without_records(tmp_path: Path) -> None:
    (tmp_path / "a.warc.gz").write_bytes(b"hello")
    with raises_input_error("bad-file", "contains no WARC"):
        opened(tmp_path / "a.warc.gz")
    with pytest.raises(StoreError, match=r"cannot read .*none.warc: No such file"):
        opened(tmp_path / "none.warc")


def test_open_index_of_archive_without_pages_is_empty(tmp_path: Path) -> None:
    path = write(tmp_path / "a.warc.gz", record("x", b"software: x", kind="warcinfo"))
    assert 0 == len(opened(path))
    assert 0 == len(opened(path))


@given(
    st.lists(st.tuples(st.integers(0, 20), st.integers(0, 5), st.integers(0, 3), st.booleans()), max_size=60),
    st.integers(0, 20),
    st.integers(0, 3),
)
def test_index_rows_equal_linear_search(rows: list[tuple[int, int, int, bool]], key: int, digest: int) -> None:
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
