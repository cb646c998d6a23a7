"""How much of the disk a crawl takes, and whether there is enough left: it ends in order before there is not."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from pathlib import Path

from lycosa.core.types import Visit

SPARE = 100_000_000
"""Bytes that have to be left on the disk: what is in flight still arrives, and the log is closed in order."""

EVERY, EVERY_BYTES = 100, 20_000_000
"""Visits, or bytes received, after which somebody looks."""


class Room:
    """Looks at the disk now and then. `most`: bytes that the directory may take; 0: as many as there are."""

    def __init__(
        self, directory: Path, most: int = 0, free: Callable[[Path], int] = lambda path: shutil.disk_usage(path).free
    ) -> None:
        self.directory, self.most, self._free = directory, most, free
        self._visits = self._bytes = 0

    def visited(self, visit: Visit) -> str:
        """One more visit is recorded; why the crawl has to end, if it has to."""
        self._visits += 1
        self._bytes += visit.size
        if self._visits < EVERY and self._bytes < EVERY_BYTES and self._visits != 1:
            return ""
        self._visits, self._bytes = 1, 0
        return self.lacking()

    def lacking(self) -> str:
        """What there is too little of, in words; empty if there is enough."""
        try:
            free, taken = self._free(self.directory), size_of(self.directory) if self.most else 0
        except OSError:
            return ""  # whoever writes there says what is wrong
        if free < SPARE:
            left = f"the disk of {self.directory} is nearly full, {free / 1e6:,.0f} MB are left"
            return f"{left}: free some space, then continue"
        if self.most and taken >= self.most:
            return (
                f"{self.directory} takes {taken / 1e6:,.1f} MB, and --max-disk allows {self.most / 1e6:,.1f} MB: "
                "continue with a larger one"
            )
        return ""


def size_of(directory: Path) -> int:
    """Bytes that a directory takes on the disk, with all that is in it."""
    taken = 0
    for folder, _, files in os.walk(directory):
        for name in files:
            try:
                taken += os.lstat(os.path.join(folder, name)).st_blocks * 512
            except OSError:  # gone meanwhile
                continue
    return taken
