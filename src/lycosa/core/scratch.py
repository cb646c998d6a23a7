"""A temporary file that nobody else sees, for what would take too much memory. It is gone with whoever has it."""

from __future__ import annotations

import os
import tempfile
import weakref
from dataclasses import dataclass
from typing import Any

import numpy as np

from lycosa.core.errors import StoreError


class Scratch:
    """A file by places, in bytes. What was never written is zeros, up to the last place that was."""

    def __init__(self) -> None:
        try:
            with tempfile.TemporaryFile(prefix="lycosa-") as file:
                self._file = os.dup(file.fileno())
        except OSError as error:
            raise _full(error) from error
        weakref.finalize(self, os.close, self._file)

    def write(self, data: memoryview, place: int) -> None:
        """Write bytes there."""
        try:
            while data:
                written = os.pwrite(self._file, data, place)
                data, place = data[written:], place + written
        except OSError as error:
            raise _full(error) from error

    def read(self, view: memoryview, place: int) -> None:
        """Read as many bytes as there is room for."""
        while view:
            got = os.preadv(self._file, [view], place)
            if not got:
                raise OSError(5, "a temporary file is shorter than what was written to it")
            view, place = view[got:], place + got


@dataclass(frozen=True)
class Filed:
    """An array that is in a file, from its beginning."""

    file: Scratch
    dtype: np.dtype[Any]
    nbytes: int


def _full(error: OSError) -> StoreError:
    why = f"cannot write a temporary file in {tempfile.gettempdir()} ({error.strerror})"
    return StoreError(f"{why}: free some space, then continue")
