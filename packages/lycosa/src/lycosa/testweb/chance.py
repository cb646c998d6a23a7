"""Randomness keyed by what it is for, so that everything drawn is a function of the key alone.

Nothing is ever drawn from a shared stream: the text of page 1234 is the same whether or not page 1233 was
asked for first.  Only `Random.random` is used for drawing, the one method whose sequence for a given seed
is promised not to change between versions of Python.
"""

from __future__ import annotations

from hashlib import blake2b
from random import Random
from typing import TypeVar

T = TypeVar("T")


def stir(*parts: object) -> int:
    """Hash the parts to a 64-bit number.

    >>> stir(7, "title", 3) == stir(7, "title", 3) != stir(7, "title", 4)
    True
    """
    return int.from_bytes(blake2b(repr(parts).encode(), digest_size=8).digest(), "big")


def roll(*parts: object) -> float:
    return stir(*parts) / 18446744073709551616.0


def pick(items: tuple[T, ...], *parts: object) -> T:
    return items[stir(*parts) % len(items)]


def dice(*parts: object) -> Random:
    return Random(stir(*parts))
