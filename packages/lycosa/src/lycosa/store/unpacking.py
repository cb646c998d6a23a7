"""Read plain files of a tar archive that may lie about everything.

Nothing is written under the names in it, links and devices are skipped, and the unpacked size is limited.
"""

from __future__ import annotations

import lzma
import tarfile
import zlib
from collections.abc import Iterator
from pathlib import PurePosixPath
from typing import IO, Any

from lycosa import zstd

# raised by readers of damaged archives
DAMAGE = (
    tarfile.TarError,
    EOFError,
    OSError,
    ValueError,
    OverflowError,
    KeyError,
    RecursionError,  # headers that announce headers that announce headers
    MemoryError,
    lzma.LZMAError,
    zlib.error,
    zstd.ZstdError,
)


class BadArchive(Exception):
    """An archive that is too large."""


def plain_files(stream: IO[bytes], largest: int, most: int) -> Iterator[tuple[PurePosixPath, IO[bytes]]]:
    """Yield the plain files of a tar archive; raise BadArchive above `largest` bytes or `most` members."""
    limited: Any = _Limited(stream, largest)
    with tarfile.open(fileobj=limited, mode="r|", bufsize=1 << 16) as archive:
        for number, member in enumerate(archive, 1):
            if number > most:
                raise BadArchive(f"it holds more than {most:,} files")
            # What is sparse may be of any size.
            content = archive.extractfile(member) if member.isreg() and not member.issparse() else None
            if content is not None:
                yield PurePosixPath(member.name), content
            archive.members = []  # type: ignore[attr-defined]  # a stream does not go back: let them go


class _Limited:
    """A stream that raises BadArchive where a bomb would go on."""

    def __init__(self, stream: IO[bytes], largest: int) -> None:
        self._stream, self._largest, self._left = stream, largest, largest

    def read(self, size: int) -> bytes:
        content = self._stream.read(size)
        self._left -= len(content)
        if self._left < 0:
            raise BadArchive(f"it holds more than {self._largest:,} bytes")
        return content
