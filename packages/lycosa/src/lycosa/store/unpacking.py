"""Safe reading of untrusted tar archives.

Nothing is written under the names in the archive, links and devices are skipped, and the unpacked size is limited.
"""

from __future__ import annotations

import lzma
import tarfile
import zlib
from collections.abc import Iterator
from pathlib import PurePosixPath
from typing import IO, Any

from lycosa import zstd

# Exceptions raised by readers of damaged archives.
ARCHIVE_ERRORS = (
    tarfile.TarError,
    EOFError,
    OSError,
    ValueError,
    OverflowError,
    KeyError,
    RecursionError,  # deeply nested headers
    MemoryError,
    lzma.LZMAError,
    zlib.error,
    zstd.ZstdError,
)


class ArchiveTooLarge(Exception):
    """The archive contains too many files or bytes."""


def iter_files(stream: IO[bytes], max_bytes: int, max_files: int) -> Iterator[tuple[PurePosixPath, IO[bytes]]]:
    """Yield the regular files of a tar archive; raise ArchiveTooLarge above `max_bytes` or `max_files`."""
    limited: Any = _Limited(stream, max_bytes)
    with tarfile.open(fileobj=limited, mode="r|", bufsize=1 << 16) as archive:
        for number, member in enumerate(archive, 1):
            if number > max_files:
                raise ArchiveTooLarge(f"the archive has more than {max_files:,} files")
            # sparse files can claim any size
            content = archive.extractfile(member) if member.isreg() and not member.issparse() else None
            if content is not None:
                yield PurePosixPath(member.name), content
            archive.members = []  # type: ignore[attr-defined]  # tarfile keeps every member; free them, a stream can't seek back


class _Limited:
    """Readable stream that raises ArchiveTooLarge once more than `max_bytes` bytes were read."""

    def __init__(self, stream: IO[bytes], max_bytes: int) -> None:
        self._stream, self._max_bytes, self._left = stream, max_bytes, max_bytes

    def read(self, size: int) -> bytes:
        content = self._stream.read(size)
        self._left -= len(content)
        if self._left < 0:
            raise ArchiveTooLarge(f"the archive has more than {self._max_bytes:,} bytes")
        return content
