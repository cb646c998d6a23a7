"""Seeded mutation of bytes, as caused by broken programs, broken disks and attackers."""

from __future__ import annotations

import re
from collections.abc import Sequence
from random import Random

LARGEST = 12_000
"""Maximum bytes of an input, unless the seeds are larger."""

_BORDERS = re.compile(rb"[<\n {\[&,;/]")
"""Possible starts of a tag, a line, a word, a value, an entity."""

_NUMBERS = (b"0", b"-1", b"1", b"255", b"256", b"65536", b"2147483648", b"99999999999999999999", b"1e309", b"NaN")


def mutated(data: bytes, others: Sequence[bytes], tokens: Sequence[bytes], chance: Random) -> bytes:
    """Return the bytes after a few changes, not much longer than the longest of the others."""
    most = max(LARGEST, *map(len, others)) if others else LARGEST
    for _ in range(1 + int(chance.expovariate(0.7))):
        data = _CHANGES[chance.randrange(len(_CHANGES))](data, others, tokens, chance)[:most]
    return data


def _span(data: bytes, chance: Random) -> tuple[int, int]:
    """Return a range of the data, usually short; every other time between possible token borders."""
    if chance.random() < 0.5 and len(borders := [found.start() for found in _BORDERS.finditer(data[:8_000])]) > 1:
        first = chance.randrange(len(borders) - 1)
        return borders[first], borders[min(len(borders) - 1, first + int(chance.paretovariate(1.0)))]
    start = chance.randrange(len(data) + 1)
    return start, min(len(data), start + int(chance.paretovariate(0.6)))


def _flip(data: bytes, others: Sequence[bytes], tokens: Sequence[bytes], chance: Random) -> bytes:
    if not data:
        return b"\0"
    at = chance.randrange(len(data))
    byte = chance.choice((data[at] ^ (1 << chance.randrange(8)), chance.randrange(256), 0, 255))
    return data[:at] + bytes([byte]) + data[at + 1 :]


def _remove(data: bytes, others: Sequence[bytes], tokens: Sequence[bytes], chance: Random) -> bytes:
    start, end = _span(data, chance)
    return data[:start] + data[end:]


def _cut(data: bytes, others: Sequence[bytes], tokens: Sequence[bytes], chance: Random) -> bytes:
    return data[: chance.randrange(len(data) + 1)]


def _repeat(data: bytes, others: Sequence[bytes], tokens: Sequence[bytes], chance: Random) -> bytes:
    """Repeat a range many times, as decompression bombs do."""
    start, end = _span(data, chance)
    times = min(2 + int(chance.paretovariate(0.4)), 1 + LARGEST // max(1, end - start))
    return data[:start] + data[start:end] * times + data[end:]


def _bomb(data: bytes, others: Sequence[bytes], tokens: Sequence[bytes], chance: Random) -> bytes:
    """Lengthen one range and repeat another, to detect quadratic cost."""
    start, end = _span(data, chance)
    often = data[slice(*_span(data, chance))] or b"x"
    word = chance.choice((b"w ", b"w", data[start:end][:8] or b" ", chance.choice(tokens) if tokens else b"\0"))
    long = word * (int(chance.paretovariate(0.4)) % 3_000)
    return data[:end] + long + often * min(LARGEST // len(often), 2 + int(chance.paretovariate(0.4))) + data[end:]


def _move(data: bytes, others: Sequence[bytes], tokens: Sequence[bytes], chance: Random) -> bytes:
    start, end = _span(data, chance)
    rest = data[:start] + data[end:]
    at = chance.randrange(len(rest) + 1)
    return rest[:at] + data[start:end] + rest[at:]


def _insert(data: bytes, others: Sequence[bytes], tokens: Sequence[bytes], chance: Random) -> bytes:
    at = chance.randrange(len(data) + 1)
    word = chance.choice(tokens) if tokens else bytes([chance.randrange(256)])
    return data[:at] + word + data[at:]


def _splice(data: bytes, others: Sequence[bytes], tokens: Sequence[bytes], chance: Random) -> bytes:
    other = chance.choice(others) if others else data
    start, end = _span(other, chance)
    at, until = _span(data, chance)
    return data[:at] + other[start:end] + data[until:]


def _number(data: bytes, others: Sequence[bytes], tokens: Sequence[bytes], chance: Random) -> bytes:
    """Replace a number by a special one."""
    digits = [at for at, byte in enumerate(data[:5_000]) if 48 <= byte <= 57]
    if not digits:
        return _insert(data, others, _NUMBERS, chance)
    start = end = chance.choice(digits)
    while end < len(data) and 48 <= data[end] <= 57:
        end += 1
    return data[:start] + chance.choice(_NUMBERS) + data[end:]


_CHANGES = (_flip, _remove, _cut, _repeat, _repeat, _bomb, _move, _insert, _insert, _splice, _splice, _number)
