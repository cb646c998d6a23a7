"""JSON that comes from outside: of a bounded size and depth, and with numbers that are numbers."""

from __future__ import annotations

import json
import math
from typing import Any, NoReturn

DEEPEST = 32
"""Lists and objects within each other."""


def read_json(text: bytes | str, most: int, deepest: int = DEEPEST) -> Any:
    """What a text of at most so many bytes says; a `ValueError` in words for everything that is not plain JSON.

    >>> read_json('{"a": [1, 2]}', 100)
    {'a': [1, 2]}
    >>> read_json("[" * 100_000, 200_000)
    Traceback (most recent call last):
    ValueError: it is nested more than 32 deep
    >>> read_json("[1e999, NaN]", 100)
    Traceback (most recent call last):
    ValueError: NaN is not a number
    """
    if len(text) > most:
        raise ValueError(f"it has more than {most:,} bytes")
    try:
        found = json.loads(text, parse_constant=_refuse)
    except RecursionError as error:
        raise ValueError(f"it is nested more than {deepest} deep") from error
    except json.JSONDecodeError as error:
        raise ValueError(f"it is not JSON: {error.msg} at character {error.pos}") from error
    except UnicodeDecodeError as error:
        raise ValueError(f"it is not text: byte {error.start}") from error
    _check(found, deepest)
    return found


def _check(found: Any, deepest: int) -> None:
    """Level by level, so that depth costs no stack."""
    level = [found]
    for _ in range(deepest + 1):
        below: list[Any] = []
        for part in level:
            if isinstance(part, dict):
                below += part.values()
            elif isinstance(part, list):
                below += part
            elif isinstance(part, float) and not math.isfinite(part):
                raise ValueError("a number is too large")
        if not below:
            return
        level = below
    raise ValueError(f"it is nested more than {deepest} deep")


def _refuse(name: str) -> NoReturn:
    raise ValueError(f"{name} is not a number")
