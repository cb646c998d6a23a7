"""Memory that was freed goes back to the system: glibc keeps most of it, in case it is wanted again."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache


@cache
def _trim() -> Callable[[int], int]:
    import ctypes  # loaded by large crawls only

    try:
        trim: Callable[[int], int] = ctypes.CDLL(None).malloc_trim
    except (OSError, AttributeError, TypeError):  # another C library, or another system
        return int
    return trim


def give_back() -> None:
    """After work on arrays of a whole large crawl, which is done now and then."""
    _trim()(0)
