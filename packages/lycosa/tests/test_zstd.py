"""Tests of Zstandard compression."""

from concurrent.futures import ThreadPoolExecutor

import pytest

from lycosa import zstd

DATA = bytes(range(256)) * 400


@pytest.mark.parametrize("level", [1, 3, 19])
def test_compress_round_trip(level: int) -> None:
    assert DATA == zstd.decompress(zstd.compress(DATA, level), len(DATA))


def test_decompress_limits_size() -> None:
    with pytest.raises(ValueError, match="exceeds"):
        zstd.decompress(zstd.compress(DATA), len(DATA) - 1)


def test_decompress_refuses_truncated_frame() -> None:
    with pytest.raises(ValueError, match="truncated"):
        zstd.decompress(zstd.compress(DATA)[:-3], len(DATA))


def test_decompress_refuses_damaged_content() -> None:
    frame = bytearray(zstd.compress(DATA))
    frame[-1] ^= 1
    with pytest.raises(zstd.ZstdError):
        zstd.decompress(bytes(frame), len(DATA))


def test_compress_works_in_several_threads() -> None:
    with ThreadPoolExecutor(4) as pool:
        frames = list(pool.map(zstd.compress, [DATA] * 16))
    assert {DATA} == {zstd.decompress(frame, len(DATA)) for frame in frames}
