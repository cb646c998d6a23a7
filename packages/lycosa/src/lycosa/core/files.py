"""Files that are there whole or not at all; and the one that names the page in work, should the process die of it."""

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


def read_whole(path: Path, most: int) -> bytes:
    """What is in a file of at most so many bytes; anything else (a pipe, a device) is refused, not waited for."""
    about = path.stat()
    if stat.S_ISDIR(about.st_mode):
        raise IsADirectoryError(errno.EISDIR, "it is a directory")
    if not stat.S_ISREG(about.st_mode):
        raise OSError(errno.EINVAL, "it is a pipe or a device, not a file")
    with open(path, "rb") as file:
        content = file.read(most + 1)
    if len(content) > most:
        raise OSError(errno.EFBIG, f"it has more than {most:,} bytes")
    return content


def read_input(path: Path, most: int, what: str) -> bytes:
    """The same of a file that a user named; an InputError that says `what` it should have been if it can't be read."""
    try:
        return read_whole(path, most)
    except OSError as error:
        raise InputError(f"cannot read {what} {path}: {error.strerror or error}") from error


@contextmanager
def replacing(path: Path, mode: int = 0o666) -> Iterator[IO[bytes]]:
    """A file to write, under another name until it is complete and on disk; an error leaves what was there before."""
    if not path.name:
        raise InputError(f"{str(path)!r} is not a name of a file")
    temporary = path.with_name(f"{path.name}.{os.getpid()}.new")
    temporary.unlink(missing_ok=True)  # of a process of the same number that was killed
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
    """Have what was written survive a loss of power. macOS would leave it in the disk's own cache, unless it is asked
    for more; some of its file systems can't do that.
    """
    full = getattr(fcntl, "F_FULLFSYNC", None)
    if full is not None:
        with suppress(OSError):
            fcntl.fcntl(descriptor, full)
            return
    os.fsync(descriptor)


def allow_many_files(most: int = 16_384) -> None:
    """Raise the limit of files and connections that are open at once, as far as that is allowed."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    for wished in (most, 10_240):  # macOS names no limit, and allows no more than that
        with suppress(ValueError, OSError):
            resource.setrlimit(resource.RLIMIT_NOFILE, (max(soft, min(hard, wished)), hard))
            return


# -- the page that is worked on ----------------------------------------------------------------------------

# The page that is being read or judged, written down where it outlives the process.
#
# Before a page is worked on its node is put into a small file, and taken out after. Whoever finds a node there knows
# that the last run died in it: of it, perhaps. Nothing is synced: what was written is there unless the machine itself
# went down, and that was not the page.

NAME = "working-on"
MOST_DEATHS = 2  # then the page is skipped: one death as usual, one when it was read in a process of its own


class CrashMarker:
    """Use it as `with mark.on(node):`. Without a file it does nothing."""

    def __init__(self, directory: Path | None = None) -> None:
        self.deaths: dict[str, int] = {}  # nodes in which runs have died, and how often
        self._file = -1 if directory is None else _opened(directory / NAME)

    @property
    def left(self) -> str:
        """The node that the last run died in; empty if it did not."""
        if self._file < 0:
            return ""
        size = int.from_bytes(os.pread(self._file, 4, 0), "big")
        return os.pread(self._file, size, 4).decode("utf-8", "replace") if 0 < size < 100_000 else ""

    def is_suspect(self, node: str) -> bool:
        """Whether a run has died in it: it is to be read in a process of its own."""
        return node in self.deaths

    def is_poison(self, node: str) -> bool:
        """Whether so many have that it is to be left alone."""
        return self.deaths.get(node, 0) >= MOST_DEATHS

    def on(self, node: str) -> CrashMarker:
        """Say what is worked on."""
        if self._file >= 0:
            name = node.encode("utf-8", "replace")
            self._write(len(name).to_bytes(4, "big") + name)
        return self

    def clear(self) -> None:
        """Nothing is."""
        if self._file >= 0:
            self._write(b"\0" * 4)

    def close(self) -> None:
        if self._file >= 0:
            os.close(self._file)
            self._file = -1

    def _write(self, data: bytes) -> None:
        try:
            os.pwrite(self._file, data, 0)
        except OSError:  # a full disk: the log says so, too, and to more effect
            return

    def __enter__(self) -> None:
        """See `on`."""

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.clear()


def _opened(path: Path) -> int:
    try:
        return os.open(path, os.O_RDWR | os.O_CREAT, 0o666)
    except OSError:  # no room for it: the crawl goes on without, or its log says what is wrong
        return -1
