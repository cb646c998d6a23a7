"""Tests of the crash marker."""

import os
from pathlib import Path

import pytest

from lycosa.core.files import MARKER_FILE, MAX_CRASHES, CrashMarker


def test_marker_contains_node_during_work(tmp_path: Path) -> None:
    marker, other = CrashMarker(tmp_path), CrashMarker(tmp_path)
    assert "" == other.left
    with marker.on("http://a.test/r\u00e9cif"):
        assert "http://a.test/r\u00e9cif" == other.left
    assert "" == other.left
    with pytest.raises(ValueError, match="page"), marker.on("http://a.test/"):
        raise ValueError("page")
    assert "" == other.left


def test_marker_of_shorter_node_overwrites_longer(tmp_path: Path) -> None:
    marker = CrashMarker(tmp_path)
    marker.on("http://a.test/a-long-one")
    marker.on("http://b.test/")
    assert "http://b.test/" == CrashMarker(tmp_path).left


@pytest.mark.parametrize("content", [b"", b"\0", b"\xff" * 100, b"\0\0\0\x05\xff\xff"])
def test_damaged_marker_file_is_ignored(tmp_path: Path, content: bytes) -> None:
    (tmp_path / MARKER_FILE).write_bytes(content)
    assert isinstance(CrashMarker(tmp_path).left, str)


def test_marker_without_file_does_nothing() -> None:
    marker = CrashMarker()
    with marker.on("a"):
        assert "" == marker.left
    marker.close()


def test_marker_on_full_disk_does_not_raise(tmp_path: Path) -> None:
    (tmp_path / MARKER_FILE).mkdir()
    with CrashMarker(tmp_path).on("a"):
        pass
    full = CrashMarker(tmp_path.parent)
    os.close(full._file)
    with full.on("a"):
        pass


def test_node_is_suspect_then_poison() -> None:
    marker = CrashMarker()
    marker.deaths = {"a": 1, "b": MAX_CRASHES}
    assert [(True, False), (True, True), (False, False)] == [(marker.is_suspect(n), marker.is_poison(n)) for n in "abc"]
