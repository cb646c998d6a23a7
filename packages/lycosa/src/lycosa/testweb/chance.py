"""Random values keyed by their purpose, without shared state.

Page 1234 has the same text whether or not page 1233 was generated before. Only `Random.random` is used, because its
sequence for a seed is guaranteed across Python versions.
"""

from __future__ import annotations

from hashlib import blake2b
from random import Random
from typing import TypeVar

T = TypeVar("T")


def stir(*parts: object) -> int:
    """Hash the parts to a 64-bit number."""
    return int.from_bytes(blake2b(repr(parts).encode(), digest_size=8).digest(), "big")


def roll(*parts: object) -> float:
    return stir(*parts) / 18446744073709551616.0


def pick(items: tuple[T, ...], *parts: object) -> T:
    return items[stir(*parts) % len(items)]


def dice(*parts: object) -> Random:
    return Random(stir(*parts))
