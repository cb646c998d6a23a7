"""The page that is worked on, written down for the next run."""

import os
from pathlib import Path

import pytest

from lycosa.core.files import MAX_CRASHES, MARKER_FILE, CrashMarker


def test_a_mark_is_there_while_a_page_is_worked_on(tmp_path: Path) -> None:
    """Before it and after it nothing is marked, and whatever it raises."""
    mark, other = CrashMarker(tmp_path), CrashMarker(tmp_path)
    assert "" == other.left
    with mark.on("http://a.test/r\u00e9cif"):
        assert "http://a.test/r\u00e9cif" == other.left
    assert "" == other.left
    with pytest.raises(ValueError, match="page"), mark.on("http://a.test/"):
        raise ValueError("page")
    assert "" == other.left


def test_a_shorter_node_after_a_longer_one(tmp_path: Path) -> None:
    """What is left of the longer one does not count."""
    mark = CrashMarker(tmp_path)
    mark.on("http://a.test/a-long-one")
    mark.on("http://b.test/")
    assert "http://b.test/" == CrashMarker(tmp_path).left


@pytest.mark.parametrize("content", [b"", b"\0", b"\xff" * 100, b"\0\0\0\x05\xff\xff"])
def test_a_file_that_makes_no_sense(tmp_path: Path, content: bytes) -> None:
    """It is no node, or some other one: never an error."""
    (tmp_path / MARKER_FILE).write_bytes(content)
    assert isinstance(CrashMarker(tmp_path).left, str)


def test_without_a_file() -> None:
    """Nothing is marked and nothing fails."""
    mark = CrashMarker()
    with mark.on("a"):
        assert "" == mark.left
    mark.close()


def test_no_room_for_it(tmp_path: Path) -> None:
    """A crawl goes on without a mark that can't be written."""
    (tmp_path / MARKER_FILE).mkdir()
    with CrashMarker(tmp_path).on("a"):
        pass
    full = CrashMarker(tmp_path.parent)
    os.close(full._file)
    with full.on("a"):
        pass


def test_suspects_and_poison() -> None:
    """One death makes a suspect, two make poison."""
    mark = CrashMarker()
    mark.deaths = {"a": 1, "b": MAX_CRASHES}
    assert [(True, False), (True, True), (False, False)] == [(mark.is_suspect(n), mark.is_poison(n)) for n in "abc"]
