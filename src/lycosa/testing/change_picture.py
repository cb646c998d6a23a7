"""Small pictures that can be replaced, or encoded anew: other bytes, the same picture."""

from __future__ import annotations

import math
import struct
import zlib

from .chance import dice

SIZE = 48


def png(key: tuple[object, ...], encoding: int = 0) -> bytes:
    """Draw the picture that goes with the key: two waves and a disc, in grey, the n-th encoding of them.

    >>> png(("a",))[:4], png(("a",)) == png(("a",), 1), png(("a",)) == png(("b",))
    (b'\\x89PNG', False, False)
    """
    rng = dice("png", *key)
    a, b, c, d, x0, y0, r = (rng.random() for _ in range(7))
    rows = bytearray()
    for y in range(SIZE):
        rows.append(0)
        for x in range(SIZE):
            u, v = x / SIZE, y / SIZE
            light = 128 + 50 * math.sin(6 * a * u + 9 * b * v + 6 * c) + 40 * math.sin(11 * d * u - 7 * a * v)
            if (u - x0) ** 2 + (v - y0) ** 2 < (0.15 + 0.2 * r) ** 2:
                light = 255 - light
            rows.append(max(0, min(255, int(light))))
    head = struct.pack(">IIBBBBB", SIZE, SIZE, 8, 0, 0, 0, 0)
    note = [_chunk(b"tEXt", b"Comment\0encoding %d" % encoding)] if encoding else []
    data = zlib.compress(bytes(rows), 9 - encoding % 9)
    return b"".join([b"\x89PNG\r\n\x1a\n", _chunk(b"IHDR", head), *note, _chunk(b"IDAT", data), _chunk(b"IEND", b"")])


def _chunk(name: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))
