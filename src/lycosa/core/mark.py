"""The page that is being read or judged, written down where it outlives the process.

Before a page is worked on its node is put into a small file, and taken out after. Whoever finds a node there knows that
the last run died in it: of it, perhaps. Nothing is synced: what was written is there unless the machine itself went
down, and that was not the page.
"""

from __future__ import annotations

import os
from pathlib import Path
from types import TracebackType

NAME = "working-on"

MOST_DEATHS = 2
"""Deaths in a page after which it is left alone: one as usual, and one when it was read in a process of its own."""

_NOTHING = b"\0" * 4


class Mark:
    """Use it as `with mark.on(node):`. Without a file it does nothing."""

    def __init__(self, directory: Path | None = None) -> None:
        self.deaths: dict[str, int] = {}
        """Nodes in which runs have died, and how often."""
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

    def on(self, node: str) -> Mark:
        """Say what is worked on."""
        if self._file >= 0:
            name = node.encode("utf-8", "replace")
            self._write(len(name).to_bytes(4, "big") + name)
        return self

    def clear(self) -> None:
        """Nothing is."""
        if self._file >= 0:
            self._write(_NOTHING)

    def close(self) -> None:
        """Let go of the file."""
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
