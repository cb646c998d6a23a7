"""Take files out of a tar archive or a Debian package, without the tools of either.

An archive from elsewhere may lie about everything. So nothing is written by the names it uses: wanted files are known
by their last part, come back as bytes, and have to be plain files; links and devices are passed over. All sizes have a
limit, packed and unpacked.
"""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import tarfile
import zlib
from collections.abc import Collection, Iterator
from pathlib import Path, PurePosixPath
from typing import IO, Any

from lycosa import zstd
from lycosa.core.errors import InputError
from lycosa.core.files import read_whole

LARGEST_PACKED, LARGEST_UNPACKED = 100_000_000, 400_000_000  # bytes; unpacked: all content, wanted or not
_AR = b"!<arch>\n"
_AR_HEADER = 60
_PACKED: list[tuple[bytes, Any]] = [
    (b"\x1f\x8b", lambda file: gzip.GzipFile(fileobj=file)),
    (b"\xfd7zXZ\0", lzma.LZMAFile),
    (b"BZh", bz2.BZ2File),
    (b"\x28\xb5\x2f\xfd", zstd.ZstdFile),
]
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
    """It is no archive, or a damaged one; the text says how."""


def files_in(place: Path, wanted: Collection[str]) -> dict[str, bytes]:
    """The wanted files of a package, an archive or a directory, by name. Of several directories, the fullest."""
    try:
        if place.is_dir():
            return _of_directory(place, wanted)
        packed = read_whole(place, LARGEST_PACKED)
    except OSError as error:
        raise InputError(f"cannot read {place}: {error.strerror}") from error
    try:
        return unpack(packed, wanted)
    except BadArchive as error:
        raise InputError(f"{place} is not a package or archive that can be unpacked: {error}") from error


def unpack(packed: bytes, wanted: Collection[str]) -> dict[str, bytes]:
    """The wanted files of a Debian package (its data part) or of a tar archive, packed or not."""
    if packed.startswith(_AR):
        packed = _data_of_package(packed)
    try:
        return _of_tar(packed, wanted)
    except DAMAGE as error:
        raise BadArchive(str(error) or type(error).__name__) from error


def _data_of_package(packed: bytes) -> bytes:
    """A Debian package is an ar archive of three members; the files are in data.tar, packed somehow."""
    at = len(_AR)
    while at + _AR_HEADER <= len(packed):
        header = packed[at : at + _AR_HEADER]
        name, size = header[:16].decode("latin-1").strip().rstrip("/"), header[48:58].strip()
        if not header.endswith(b"`\n") or not size.isdigit():
            raise BadArchive(f"byte {at:,} begins no member")
        at += _AR_HEADER
        if at + int(size) > len(packed):
            raise BadArchive("it is cut short")
        if name.startswith("data.tar"):
            return packed[at : at + int(size)]
        at += int(size) + int(size) % 2
    raise BadArchive("it has no data.tar")


def _of_tar(packed: bytes, wanted: Collection[str]) -> dict[str, bytes]:
    stream: Any = io.BytesIO(packed)
    for magic, opened in _PACKED:
        if packed.startswith(magic):
            stream = opened(stream)
            break
    by_directory: dict[str, dict[str, bytes]] = {}
    for path, content in plain_files(stream, LARGEST_UNPACKED, 10_000):
        if path.name in wanted:
            by_directory.setdefault(str(path.parent), {})[path.name] = content.read()
    return _fullest(by_directory)


def plain_files(stream: IO[bytes], largest: int, most: int) -> Iterator[tuple[PurePosixPath, IO[bytes]]]:
    """The plain files of a tar archive, one after the other: `largest` bytes and `most` members, or it is a bomb."""
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
    """A stream that ends with an error where a bomb would go on."""

    def __init__(self, stream: IO[bytes], largest: int) -> None:
        self._stream, self._largest, self._left = stream, largest, largest

    def read(self, size: int) -> bytes:
        content = self._stream.read(size)
        self._left -= len(content)
        if self._left < 0:
            raise BadArchive(f"it holds more than {self._largest:,} bytes")
        return content


def _of_directory(place: Path, wanted: Collection[str]) -> dict[str, bytes]:
    """The wanted files of a directory, or of the one below it that has them."""
    found = {
        str(directory): {
            name: read_whole(directory / name, LARGEST_PACKED) for name in wanted if (directory / name).exists()
        }
        for directory in (place, place / "dict", place / "usr" / "share" / "wordnet")
        if directory.is_dir()
    }
    return _fullest(found)


def _fullest(by_directory: dict[str, dict[str, bytes]]) -> dict[str, bytes]:
    return max(by_directory.values(), key=len, default={})
