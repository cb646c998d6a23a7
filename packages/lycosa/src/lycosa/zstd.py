"""Zstandard (RFC 8878) compression with the standard library, before Python 3.14 with its backport.

>>> decompress(compress(b"a reef" * 100), 600) == b"a reef" * 100
True
>>> decompress(compress(b"a reef" * 100), 599)
Traceback (most recent call last):
ValueError: decompressed data exceeds 599 bytes
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
    """Compressors of the current thread, by level. They release the GIL and must not be shared between threads."""

    def __init__(self) -> None:
        self.by_level: dict[int, zstd.ZstdCompressor] = {}

    def get(self, level: int) -> zstd.ZstdCompressor:
        compressor = self.by_level.get(level)
        if compressor is None:
            options: dict[int, int] = {
                zstd.CompressionParameter.compression_level: level,
                zstd.CompressionParameter.checksum_flag: 1,
            }
            compressor = self.by_level[level] = zstd.ZstdCompressor(options=options)
        return compressor


_compressors = _Compressors()


def compress(data: bytes, level: int = 1) -> bytes:
    """Compress data into one frame, with its content size and a checksum."""
    compressor = _compressors.get(level)
    return compressor.compress(data, compressor.FLUSH_FRAME)


def decompress(data: bytes, max_bytes: int) -> bytes:
    """Decompress one frame; raise ValueError if it is truncated or decompresses to more than `max_bytes`.

    Memory grows with the actual content, not with the size claimed by the frame's header.
    """
    decompressor = ZstdDecompressor()
    content = decompressor.decompress(data, max_bytes + 1)
    if len(content) > max_bytes:
        raise ValueError(f"decompressed data exceeds {max_bytes:,} bytes")
    if not decompressor.eof:
        raise ValueError("the frame is truncated")
    return content
