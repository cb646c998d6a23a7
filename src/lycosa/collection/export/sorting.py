"""Sort more lines than fit into memory: sorted heaps of them in unnamed files, merged while they are read."""

from __future__ import annotations

import heapq
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from tempfile import TemporaryFile
from types import TracebackType
from typing import IO, Self


class SortedLines:
    """Add lines in any order, then iterate over them in theirs; the files go when the block is left.

    >>> with SortedLines(most=4) as lines:
    ...     for line in (b"c\\n", b"a\\n", b"b\\n"):
    ...         lines.add(line)
    ...     list(lines)
    [b'a\\n', b'b\\n', b'c\\n']
    """

    def __init__(self, directory: Path | None = None, most: int = 16_000_000) -> None:
        self._directory = directory
        self._most = most
        self._lines: list[bytes] = []
        self._size = 0
        self._heaps: list[IO[bytes]] = []
        self._stack = ExitStack()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._stack.close()

    def add(self, line: bytes) -> None:
        """Take a line, with its newline."""
        self._lines.append(line)
        self._size += len(line)
        if self._size >= self._most:
            self._lines.sort()
            heap = self._stack.enter_context(TemporaryFile(dir=self._directory))  # noqa: SIM115 - closed with the others
            heap.writelines(self._lines)
            heap.seek(0)
            self._heaps.append(heap)
            self._lines, self._size = [], 0

    def __iter__(self) -> Iterator[bytes]:
        self._lines.sort()
        return heapq.merge(*self._heaps, self._lines)
