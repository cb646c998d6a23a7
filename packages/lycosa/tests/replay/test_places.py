"""Locations of files to serve."""

from pathlib import Path

import pytest

from input_errors import raises_input_error
from lycosa.replay.places import archives, cache_directory, data_directory
from lycosa.replay.recording import Recording
from replay_helpers import record, write

A = "http://a.example/"


def test_archives_lists_files_of_directories_once(tmp_path: Path) -> None:
    crawl = tmp_path / "crawl"
    (crawl / "archive" / "aside").mkdir(parents=True)
    path = write(crawl / "archive" / "a.warc.gz", record(A))
    write(crawl / "archive" / "aside" / "torn.warc.gz", record(A + "torn"))
    write(crawl / "archive" / "notes.txt", b"notes")
    with Recording([crawl, crawl / "archive", path]) as recording:
        assert [path] == [held.path for held in recording.archives]
        assert 1 == len(recording)
    with Recording([crawl]) as recording:
        assert 1 == len(recording)


def test_archives_raises_for_missing_path(tmp_path: Path) -> None:
    with raises_input_error("missing-file", "none.warc"):
        archives([tmp_path / "none.warc"])


def test_archives_raises_for_directory_without_files(tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("none")
    with raises_input_error("missing-file", r"names end in \.warc"):
        archives([tmp_path])


def test_directories_follow_environment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
    monkeypatch.setenv("XDG_CACHE_HOME", "relative")
    monkeypatch.setenv("HOME", "/home/ann")
    assert data_directory() == tmp_path / "lycosa"
    assert cache_directory() == Path("/home/ann/.cache/lycosa")
