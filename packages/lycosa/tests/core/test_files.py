"""Tests of atomic writes and bounded reads."""

import errno
import os
from pathlib import Path

import pytest

from input_errors import raises_input_error
from lycosa.core import files
from lycosa.core.files import atomic_write, read_whole


def test_atomic_write_replaces_when_complete(tmp_path: Path) -> None:
    path = tmp_path / "x"
    path.write_bytes(b"old")
    with atomic_write(path) as file:
        file.write(b"new")
        assert b"old" == path.read_bytes()
    assert b"new" == path.read_bytes()
    assert [path] == list(tmp_path.iterdir())


def test_atomic_write_keeps_old_file_on_error(tmp_path: Path) -> None:
    path = tmp_path / "x"
    path.write_bytes(b"old")
    writing = atomic_write(path)
    writing.__enter__().write(b"half")
    stop = KeyboardInterrupt()
    assert not writing.__exit__(KeyboardInterrupt, stop, None), "the error goes on its way"
    assert b"old" == path.read_bytes()
    assert [path] == list(tmp_path.iterdir())


def test_atomic_write_mode_holds_from_start(tmp_path: Path) -> None:
    path = tmp_path / "key"
    with atomic_write(path, 0o600) as file:
        file.write(b"secret")
        assert {0o600} == {other.stat().st_mode & 0o777 for other in tmp_path.iterdir()}
    assert 0o600 == path.stat().st_mode & 0o777


def test_read_whole_limits_size(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(b"abc")
    assert b"abc" == read_whole(tmp_path / "a", 3)
    with pytest.raises(OSError, match="more than 2 bytes"):
        read_whole(tmp_path / "a", 2)


def test_read_whole_refuses_pipes_and_devices(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    for path, expected in (
        (tmp_path / "pipe", "a pipe or a device"),
        (Path("/dev/zero"), "a pipe"),
        (tmp_path, "directory"),
    ):
        with pytest.raises(OSError, match=expected):
            read_whole(path, 100)


def test_atomic_write_refuses_empty_name() -> None:
    with raises_input_error("bad-value", "not a file"), atomic_write(Path("")):
        pass


def test_sync_uses_fullfsync_where_supported(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[object] = []
    monkeypatch.setattr(files.os, "fsync", lambda descriptor: asked.append("fsync"))
    with open(tmp_path / "a", "wb") as file:
        files.sync(file.fileno())
        monkeypatch.setattr(files.fcntl, "F_FULLFSYNC", 51, raising=False)
        monkeypatch.setattr(files.fcntl, "fcntl", lambda descriptor, command: asked.append(command))
        files.sync(file.fileno())

        def refused(descriptor: int, command: int) -> None:
            raise OSError(errno.ENOTSUP, "not here")

        monkeypatch.setattr(files.fcntl, "fcntl", refused)
        files.sync(file.fileno())
    assert asked == ["fsync", 51, "fsync"]


def test_allow_many_files_falls_back(monkeypatch: pytest.MonkeyPatch) -> None:
    limits = []

    def choosy(kind: int, pair: tuple[int, int]) -> None:
        if pair[0] > 10_240:
            raise ValueError("current limit exceeds maximum limit")
        limits.append(pair)

    monkeypatch.setattr(files.resource, "getrlimit", lambda kind: (256, 2**63 - 1))
    monkeypatch.setattr(files.resource, "setrlimit", choosy)
    files.allow_many_files()
    assert limits == [(10_240, 2**63 - 1)]
