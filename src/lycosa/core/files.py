"""Files that are there whole or not at all."""

from __future__ import annotations

import errno
import fcntl
import os
import resource
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
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
