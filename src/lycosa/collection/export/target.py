"""Where an export goes: whole or not at all.

A file grows as FILE.part and takes its name when it is complete and on disk; an older FILE stays until then. A failure
or Ctrl-C removes the part. One that a killed process left behind is taken over, unless someone still writes it.
"""

from __future__ import annotations

import fcntl
import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

from lycosa.core.errors import InputError, StoreError
from lycosa.core.files import sync


@contextmanager
def whole_file(path: Path) -> Iterator[IO[bytes]]:
    """A file to write; it has its name when the block is left without an error."""
    with _explaining(path):
        if path.exists() and not path.is_file():
            if path.is_dir():
                raise InputError(f"{path} is a directory: give a file with --out")
            with open(path, "wb") as device:  # a pipe or a device can't be replaced
                yield device
            return
        path = path.resolve()  # what a link points to is replaced, not the link
        part = path.with_name(path.name + ".part")
        file = _claim(part)
        try:
            with file:
                yield file
                file.flush()
                sync(file.fileno())
                part.replace(path)
        except BaseException:
            part.unlink(missing_ok=True)
            raise


def _claim(part: Path) -> IO[bytes]:
    """Open a part for this process alone, empty."""
    while True:
        file = open(part, "wb", opener=_open)  # noqa: SIM115 - the caller closes it
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            file.close()
            raise InputError(f"another export is writing {part}: wait for it, or choose another FILE") from error
        if part.exists() and os.path.samestat(os.fstat(file.fileno()), part.stat()):
            file.truncate()
            return file
        file.close()  # the other export has just been finished: what we opened is its FILE now


def _open(path: str, flags: int) -> int:
    """Open without emptying: it may be someone else's still."""
    return os.open(path, flags & ~os.O_TRUNC, 0o666)


@contextmanager
def whole_folder(path: Path) -> Iterator[Path]:
    """A folder to fill; it has its name when the block is left without an error. It must not hold anything yet."""
    with _explaining(path):
        if path.exists() and (not path.is_dir() or any(path.iterdir())):
            raise InputError(f"{path} is there already and not an empty directory: choose another one with --out")
        part = path.with_name(path.name + ".part")
        try:
            part.mkdir()
        except FileExistsError as error:
            raise InputError(f"{part} is in the way, perhaps of an export that was killed: delete it first") from error
        try:
            yield part
            part.replace(path)
        except BaseException:
            shutil.rmtree(part, ignore_errors=True)
            raise


@contextmanager
def _explaining(path: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        unchanged = " What was there before is unchanged." if path.exists() else ""
        raise StoreError(
            f"cannot write {path}: {error.strerror or error}.{unchanged} Free some space or give access, "
            "or choose another FILE with --out"
        ) from error
