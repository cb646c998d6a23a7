"""Files that are there whole or not at all."""

import errno
import os
from pathlib import Path

import pytest

from lycosa.core import files
from lycosa.core.errors import InputError
from lycosa.core.files import read_whole, atomic_write


def test_a_file_is_replaced_when_it_is_complete(tmp_path: Path) -> None:
    """Until the block is left, the old content is there; then the new one, and nothing beside it."""
    path = tmp_path / "x"
    path.write_bytes(b"old")
    with atomic_write(path) as file:
        file.write(b"new")
        assert b"old" == path.read_bytes()
    assert b"new" == path.read_bytes()
    assert [path] == list(tmp_path.iterdir())


def test_an_error_leaves_everything_as_it_was(tmp_path: Path) -> None:
    """Neither a half file nor its beginnings stay behind."""
    path = tmp_path / "x"
    path.write_bytes(b"old")
    writing = atomic_write(path)
    writing.__enter__().write(b"half")
    stop = KeyboardInterrupt()
    assert not writing.__exit__(KeyboardInterrupt, stop, None), "the error goes on its way"
    assert b"old" == path.read_bytes()
    assert [path] == list(tmp_path.iterdir())


def test_a_secret_is_never_readable_by_others(tmp_path: Path) -> None:
    """The mode holds from the first byte on."""
    path = tmp_path / "key"
    with atomic_write(path, 0o600) as file:
        file.write(b"secret")
        assert {0o600} == {other.stat().st_mode & 0o777 for other in tmp_path.iterdir()}
    assert 0o600 == path.stat().st_mode & 0o777


def test_a_file_is_read_up_to_a_size(tmp_path: Path) -> None:
    """One of that size is read, a larger one is not."""
    (tmp_path / "a").write_bytes(b"abc")
    assert b"abc" == read_whole(tmp_path / "a", 3)
    with pytest.raises(OSError, match="more than 2 bytes"):
        read_whole(tmp_path / "a", 2)


def test_what_is_no_file_is_not_read(tmp_path: Path) -> None:
    """Nobody waits for a pipe that nobody writes to, nor reads a device that never ends."""
    os.mkfifo(tmp_path / "pipe")
    for path, told in (
        (tmp_path / "pipe", "a pipe or a device"),
        (Path("/dev/zero"), "a pipe"),
        (tmp_path, "directory"),
    ):
        with pytest.raises(OSError, match=told):
            read_whole(path, 100)


def test_nothing_is_no_name() -> None:
    """A name that a user left empty is said to be none."""
    with pytest.raises(InputError, match="not a name of a file"), atomic_write(Path("")):
        pass


def test_macos_is_asked_for_more(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where there is F_FULLFSYNC it is used; where the file system can't do it, or there is none, fsync is."""
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


def test_fewer_files_where_the_kernel_allows_no_more(monkeypatch: pytest.MonkeyPatch) -> None:
    """macOS names no limit and refuses 16,384; then it is what it allows, and never an error."""
    limits = []

    def choosy(kind: int, pair: tuple[int, int]) -> None:
        if pair[0] > 10_240:
            raise ValueError("current limit exceeds maximum limit")
        limits.append(pair)

    monkeypatch.setattr(files.resource, "getrlimit", lambda kind: (256, 2**63 - 1))
    monkeypatch.setattr(files.resource, "setrlimit", choosy)
    files.allow_many_files()
    assert limits == [(10_240, 2**63 - 1)]
