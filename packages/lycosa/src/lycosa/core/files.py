"""Atomic file writes, bounded reads, and the crash marker, which names the page being processed."""

from __future__ import annotations

import errno
import fcntl
import os
import resource
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from types import TracebackType
from typing import IO

from lycosa.core.errors import InputError


def read_whole(path: Path, max_bytes: int) -> bytes:
    """Return the contents of a regular file of at most `max_bytes` bytes; raise OSError for others, such as pipes."""
    status = path.stat()
    if stat.S_ISDIR(status.st_mode):
        raise IsADirectoryError(errno.EISDIR, "it is a directory")
    if not stat.S_ISREG(status.st_mode):
        raise OSError(errno.EINVAL, "it is a pipe or a device, not a file")
    with open(path, "rb") as file:
        content = file.read(max_bytes + 1)
    if len(content) > max_bytes:
        raise OSError(errno.EFBIG, f"it has more than {max_bytes:,} bytes")
    return content


def read_input(path: Path, max_bytes: int, noun: str) -> bytes:
    """Read a file named by the user, or raise InputError; `noun` is the kind of file in the message."""
    try:
        return read_whole(path, max_bytes)
    except OSError as error:
        raise InputError("unreadable-file", f"cannot read {noun} {path}: {error.strerror or error}") from error


@contextmanager
def atomic_write(path: Path, mode: int = 0o666) -> Iterator[IO[bytes]]:
    """Write a file under a temporary name and rename it once it is synced; on error the old file stays."""
    if not path.name:
        raise InputError("bad-value", f"{str(path)!r} is not a file name")
    temporary = path.with_name(f"{path.name}.{os.getpid()}.new")
    temporary.unlink(missing_ok=True)  # left by a killed process with the same id
    try:
        with open(temporary, "xb", opener=lambda name, flags: os.open(name, flags, mode)) as file:
            yield file
            file.flush()
            sync(file.fileno())
        temporary.replace(path)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise


def sync(descriptor: int) -> None:
    """Flush a file to disk. On macOS fsync leaves data in the disk's cache; F_FULLFSYNC, where supported, does not."""
    full = getattr(fcntl, "F_FULLFSYNC", None)
    if full is not None:
        with suppress(OSError):
            fcntl.fcntl(descriptor, full)
            return
    os.fsync(descriptor)


def allow_many_files(wanted: int = 16_384) -> None:
    """Raise the limit of open files as far as allowed, up to `wanted`."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    for limit in (wanted, 10_240):  # macOS reports no limit but allows at most 10,240
        with suppress(ValueError, OSError):
            resource.setrlimit(resource.RLIMIT_NOFILE, (max(soft, min(hard, limit)), hard))
            return


MARKER_FILE = "working-on"
MAX_CRASHES = 2  # the first crash: the page is retried in a separate process; the second: it is skipped


class CrashMarker:
    """Small file with the name of the page being read or judged, so that the next run knows where the process crashed.

    Use it as `with marker.on(node):`. Without a directory it does nothing. The file is not synced: only a crash of the
    machine could lose the name, and such a crash is not caused by the page.
    """

    def __init__(self, directory: Path | None = None) -> None:
        self.deaths: dict[str, int] = {}  # nodes in which runs crashed, and how often
        self._file = -1 if directory is None else _opened(directory / MARKER_FILE)

    @property
    def left(self) -> str:
        """Node in which the last run crashed; empty if it ended normally."""
        if self._file < 0:
            return ""
        size = int.from_bytes(os.pread(self._file, 4, 0), "big")
        return os.pread(self._file, size, 4).decode("utf-8", "replace") if 0 < size < 100_000 else ""

    def is_suspect(self, node: str) -> bool:
        return node in self.deaths

    def is_poison(self, node: str) -> bool:
        """Return whether this node caused so many crashes that it is skipped."""
        return self.deaths.get(node, 0) >= MAX_CRASHES

    def on(self, node: str) -> CrashMarker:
        if self._file >= 0:
            name = node.encode("utf-8", "replace")
            self._write(len(name).to_bytes(4, "big") + name)
        return self

    def clear(self) -> None:
        if self._file >= 0:
            self._write(b"\0" * 4)

    def close(self) -> None:
        if self._file >= 0:
            os.close(self._file)
            self._file = -1

    def _write(self, data: bytes) -> None:
        try:
            os.pwrite(self._file, data, 0)
        except OSError:  # disk full: the log reports the error
            return

    def __enter__(self) -> None:
        pass

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.clear()


def _opened(path: Path) -> int:
    try:
        return os.open(path, os.O_RDWR | os.O_CREAT, 0o666)
    except OSError:  # the crawl goes on without a marker; if the disk is full, the log reports it
        return -1
