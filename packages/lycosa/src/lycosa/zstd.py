"""Zstandard (RFC 8878): what comes with Python from 3.14 on, and before that the same as a small package.

>>> decompress(compress(b"a reef" * 100), 600) == b"a reef" * 100
True
>>> decompress(compress(b"a reef" * 100), 599)
Traceback (most recent call last):
ValueError: it has more than 599 bytes
"""

from __future__ import annotations

import sys
import threading

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd

DecompressionParameter = zstd.DecompressionParameter
ZstdDecompressor = zstd.ZstdDecompressor
ZstdDict = zstd.ZstdDict
ZstdError = zstd.ZstdError
ZstdFile = zstd.ZstdFile


class _Compressors(threading.local):
    """One of each level for every thread: they let others run while they work, and must not be shared."""

    def __init__(self) -> None:
        self.at: dict[int, zstd.ZstdCompressor] = {}

    def get(self, level: int) -> zstd.ZstdCompressor:
        made = self.at.get(level)
        if made is None:
            options: dict[int, int] = {
                zstd.CompressionParameter.compression_level: level,
                zstd.CompressionParameter.checksum_flag: 1,
            }
            made = self.at[level] = zstd.ZstdCompressor(options=options)
        return made


_compressors = _Compressors()


def compress(data: bytes, level: int = 1) -> bytes:
    """One frame, which says how many bytes it has, with a checksum."""
    compressor = _compressors.get(level)
    return compressor.compress(data, compressor.FLUSH_FRAME)


def decompress(data: bytes, most: int) -> bytes:
    """The bytes of one frame; ValueError if it is cut short, or has more than `most`. Memory is taken as they come, no
    matter what the frame says of its size.
    """
    decompressor = ZstdDecompressor()
    found = decompressor.decompress(data, most + 1)
    if len(found) > most:
        raise ValueError(f"it has more than {most:,} bytes")
    if not decompressor.eof:
        raise ValueError("it is cut short")
    return found
