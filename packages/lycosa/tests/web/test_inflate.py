"""Content encodings: valid, invalid and hostile bodies."""

import gzip
import io
import random
import tracemalloc
import zlib
from collections.abc import Callable
from functools import cache

import brotli
import pytest
import zstandard
from hypothesis import given, settings
from hypothesis import strategies as st

from lycosa.web.inflate import MAX_BLOCKS, MAX_MEMBERS, BadEncoding, inflate
from tables import each

CAP = 1_000_000
PAGE = b"".join(b"<p>Page %d of a web that goes on and on.</p>\n" % number for number in range(2_000))
NOISE = random.Random(7).randbytes(50_000)


def _raw_deflate(data: bytes) -> bytes:
    packer = zlib.compressobj(wbits=-15)
    return packer.compress(data) + packer.flush()


def _gzip(data: bytes) -> bytes:
    return gzip.compress(data, mtime=0)


def _zstd(data: bytes) -> bytes:
    return zstandard.ZstdCompressor(write_checksum=True).compress(data)


def _zstd_streamed(data: bytes) -> bytes:
    packer = zstandard.ZstdCompressor(write_content_size=False).compressobj()
    return (
        packer.compress(data[:50])
        + packer.flush(zstandard.COMPRESSOBJ_FLUSH_BLOCK)
        + packer.compress(data[50:])
        + packer.flush()
    )


PACKERS: dict[str, tuple[str, Callable[[bytes], bytes]]] = {
    "gzip": ("gzip", _gzip),
    "x-gzip": ("x-gzip", _gzip),
    "deflate": ("deflate", zlib.compress),
    "raw deflate": ("deflate", _raw_deflate),
    "brotli": ("br", brotli.compress),
    "zstd": ("zstd", _zstd),
    "streamed zstd": ("zstd", _zstd_streamed),
}
EACH = pytest.mark.parametrize(("encoding", "pack"), PACKERS.values(), ids=PACKERS)


@EACH
def test_inflate_round_trip(encoding: str, pack: Callable[[bytes], bytes]) -> None:
    for data in (b"", b"a", PAGE, NOISE, b"\0" * 500_000):
        assert inflate(pack(data), encoding, CAP) == (data, True)


@EACH
@settings(max_examples=25)
@given(data=st.binary(max_size=3_000), cap=st.integers(0, 3_000))
def test_inflate_cap_is_exact(encoding: str, pack: Callable[[bytes], bytes], data: bytes, cap: int) -> None:
    assert inflate(pack(data), encoding, cap) == (data[:cap], len(data) <= cap)


@EACH
def test_inflate_respects_cap_at_its_edges(encoding: str, pack: Callable[[bytes], bytes]) -> None:
    packed = pack(PAGE)
    for cap in (0, 1, len(PAGE) - 1, len(PAGE), len(PAGE) + 1):
        assert inflate(packed, encoding, cap) == (PAGE[:cap], len(PAGE) <= cap)


@each(["", "identity", " Identity , ", ",", "identity, identity, identity, identity"])
def test_inflate_identity_returns_body(encoding: str) -> None:
    assert inflate(PAGE, encoding, CAP) == (PAGE, True)
    assert inflate(PAGE, encoding, 10) == (PAGE[:10], False)


@each(["gzip", "deflate", "br", "zstd", "gzip, br", ""])
def test_inflate_empty_body_is_empty(encoding: str) -> None:
    assert inflate(b"", encoding, CAP) == (b"", True)


@each(
    [
        ("gzip, br", brotli.compress(_gzip(PAGE))),
        ("GZIP ,BR", brotli.compress(_gzip(PAGE))),
        ("gzip,gzip", _gzip(_gzip(PAGE))),
        ("identity, gzip, identity", _gzip(PAGE)),
        ("deflate, zstd, gzip", _gzip(_zstd(zlib.compress(PAGE)))),
        ("gzip, gzip", _gzip(PAGE)),  # the header repeats an encoding that was applied once
    ]
)
def test_inflate_decodes_stacked_encodings(encoding: str, body: bytes) -> None:
    assert inflate(body, encoding, CAP) == (PAGE, True)


@each(["utf-8", "none", "x" * 9_000, "gzip, what", "UTF-8, gzip"])
def test_inflate_ignores_unknown_names(encoding: str) -> None:
    assert (PAGE, True) == inflate(_gzip(PAGE) if "gzip" in encoding else PAGE, encoding, CAP)


@each(["compress", "gzip, Compress", "aes128gcm", "gzip, gzip, gzip, gzip"])
def test_inflate_rejects_unsupported_encodings(encoding: str) -> None:
    with pytest.raises(BadEncoding) as caught:
        inflate(_gzip(PAGE), encoding, CAP)
    assert len(str(caught.value)) < 200


@each([
    ("gzip", b"\x1f\x8b"),
    ("gzip", b"\x1f"),
    ("gzip", b"\x1f\x8b\x08\x00nothing that deflate knows"),
    ("gzip", _gzip(PAGE)[:10]),
    ("deflate", b"<html>"),
    ("deflate", b"\xff\xff\xff\xff"),
    ("br", b"\xff\xff\xff\xff\xff"),
    ("zstd", b"<html>"),
    ("zstd", b"\x28\xb5\x2f\xfd"),
    ("zstd", b"\x28\xb5\x2f"),
    ("zstd", b"\x28\xb5\x2f\xfd\xff\xff\xff\xff\xff\xff\xff"),
    ("zstd", b"\x50\x2a\x4d\x18\x02\x00\x00\x00hi"),
])  # fmt: skip
def test_inflate_rejects_undecodable_bodies(encoding: str, body: bytes) -> None:
    with pytest.raises(BadEncoding):
        inflate(body, encoding, CAP)


def test_inflate_accepts_plain_body_named_gzip() -> None:
    assert inflate(PAGE, "gzip", CAP) == (PAGE, True)
    assert inflate(PAGE, "x-gzip", 10) == (PAGE[:10], False)


@EACH
def test_inflate_keeps_beginning_of_truncated_body(encoding: str, pack: Callable[[bytes], bytes]) -> None:
    data = random.Random(1).randbytes(400_000)
    packed, small = pack(data), pack(PAGE)
    for share in (0.3, 0.9):
        found, complete = inflate(packed[: int(len(packed) * share)], encoding, CAP)
        assert not complete
        assert data.startswith(found)
        assert len(found) > len(data) * share - 140_000  # zstd returns only whole blocks of 128 KiB
    for lost in (1, 2):
        found, complete = inflate(small[:-lost], encoding, CAP)
        assert not complete
        assert PAGE.startswith(found)


@EACH
def test_inflate_ignores_trailing_garbage(encoding: str, pack: Callable[[bytes], bytes]) -> None:
    packed = pack(PAGE)
    for garbage in (b"\0", b"\0" * 1_000, b"<!-- cached -->", b"\r\n", b"\xff" * 100_000):
        assert inflate(packed + garbage, encoding, CAP) == (PAGE, True)


@EACH
def test_inflate_bounds_corrupt_bodies(encoding: str, pack: Callable[[bytes], bytes]) -> None:
    packed = pack(PAGE)
    chance = random.Random(3)
    for _ in range(100):
        damaged = bytearray(packed)
        damaged[chance.randrange(len(packed))] ^= 1 << chance.randrange(8)
        try:
            found, _complete = inflate(bytes(damaged), encoding, CAP)
        except BadEncoding:
            continue
        assert len(found) <= CAP


def test_inflate_keeps_data_before_wrong_checksum() -> None:
    for encoding, pack in [PACKERS[name] for name in ("gzip", "deflate", "zstd")]:
        packed = bytearray(pack(PAGE))
        packed[-5 if encoding == "gzip" else -1] ^= 0xFF
        assert inflate(bytes(packed), encoding, CAP) == (PAGE, False)


def test_inflate_keeps_data_before_corruption() -> None:
    head = b"kept " * 10
    packer = zlib.compressobj(wbits=31)
    packed = packer.compress(head) + packer.flush(zlib.Z_FULL_FLUSH) + b"\xff\xff\xff\xff"
    assert inflate(packed, "gzip", CAP) == (head, False)
    packer = brotli.Compressor()
    packed = packer.process(head) + packer.flush() + packer.process(NOISE) + packer.finish()
    broken = packed[:80] + bytes(255 - byte for byte in packed[80:])
    found, complete = inflate(broken, "br", CAP)
    assert (found[:50], complete) == (head, False)


@EACH
def test_inflate_joins_members_and_frames(encoding: str, pack: Callable[[bytes], bytes]) -> None:
    body = pack(PAGE) + pack(b"") + pack(NOISE)
    expected = PAGE + NOISE if encoding in ("gzip", "x-gzip", "zstd") else PAGE
    assert inflate(body, encoding, CAP) == (expected, True)
    cut = len(PAGE) + 100
    assert inflate(body, encoding, cut) == (expected[:cut], len(expected) <= cut)


def test_inflate_keeps_members_before_broken_one() -> None:
    for tail in [_gzip(NOISE)[:10], _gzip(NOISE)[:-3], b"\x1f\x8b", b"\x1f\x8bnonsense"]:
        found, complete = inflate(_gzip(PAGE) + tail, "gzip", CAP)
        assert found.startswith(PAGE)
        assert not complete


def test_inflate_skips_skippable_frames() -> None:
    note = b"\x53\x2a\x4d\x18\x04\x00\x00\x00note"
    assert inflate(note + _zstd(PAGE) + note + _zstd(NOISE), "zstd", CAP) == (PAGE + NOISE, True)


@cache
def _bomb(encoding: str) -> bytes:
    piece, out = b"\0" * 1_000_000, io.BytesIO()
    if encoding == "br":
        packer = brotli.Compressor(quality=1)
        for _ in range(60):
            out.write(packer.process(piece))
        return out.getvalue() + bytes(packer.finish())
    stream = (
        zstandard.ZstdCompressor().compressobj()
        if encoding == "zstd"
        else zlib.compressobj(9, wbits=31 if encoding == "gzip" else 15)
    )
    for _ in range(60):
        out.write(stream.compress(piece))
    return out.getvalue() + stream.flush()


def _zstd_rle_bomb() -> bytes:
    block = (0 | 1 << 1 | 131_072 << 3).to_bytes(3, "little") + b"a"
    return b"\x28\xb5\x2f\xfd\x00\x38" + block * 10_000


BOMBS: dict[str, tuple[str, Callable[[], bytes]]] = {
    "gzip": ("gzip", lambda: _bomb("gzip")),
    "deflate": ("deflate", lambda: _bomb("deflate")),
    "brotli": ("br", lambda: _bomb("br")),
    "zstd": ("zstd", lambda: _bomb("zstd")),
    "zstd of repeated blocks": ("zstd", _zstd_rle_bomb),
    "gzip in gzip": ("gzip, gzip", lambda: _gzip(_bomb("gzip"))),
    "zstd in brotli in gzip": ("zstd, br, gzip", lambda: _gzip(brotli.compress(_bomb("zstd")))),
    "members": ("gzip", lambda: _gzip(b"\0" * CAP) * 60),
    "a corrupt gzip bomb": ("gzip", lambda: _bomb("gzip")[:-8] + b"corrupt!"),
}


@each(BOMBS.values())
def test_inflate_bounds_bombs(encoding: str, make: Callable[[], bytes]) -> None:
    bomb = make()
    tracemalloc.start()
    try:
        before = tracemalloc.get_traced_memory()[0]
        found, complete = inflate(bomb, encoding, CAP)
        peak = tracemalloc.get_traced_memory()[1] - before
    finally:
        tracemalloc.stop()
    assert (len(found), complete) == (CAP, False)
    # Pieces, joined output, and the next compressed stage are in memory.
    assert peak < 3 * CAP + 300_000


def test_inflate_caps_inner_stages() -> None:
    found, complete = inflate(_gzip(_gzip(NOISE)), "gzip, gzip", 20_000)
    assert not complete
    assert NOISE.startswith(found)


@each(
    [
        ("gzip", _gzip(b"") * 200_000),
        ("gzip", _gzip(b"\0" * 900_000) + _gzip(b"a") * 200_000),
        ("zstd", b"\x28\xb5\x2f\xfd\x00\x38" + b"\0\0\0" * 1_000_000),
        ("zstd", _zstd(b"a") * 200_000),
    ]
)
def test_inflate_bounds_empty_members(encoding: str, body: bytes) -> None:
    try:
        found, complete = inflate(body, encoding, CAP)
    except BadEncoding:
        pass
    else:
        assert not complete
        assert len(found) <= 900_000 + max(MAX_MEMBERS, MAX_BLOCKS)


@given(
    st.binary(max_size=300),
    st.sampled_from(["gzip", "deflate", "br", "zstd", "gzip, zstd"]),
    st.integers(0, 500),
)
def test_inflate_never_raises_other_errors(body: bytes, encoding: str, cap: int) -> None:
    for magic in (b"", b"\x1f\x8b\x08\x00", b"\x28\xb5\x2f\xfd"):
        try:
            found, _ = inflate(magic + body, encoding, cap)
        except BadEncoding:
            continue
        assert len(found) <= cap
