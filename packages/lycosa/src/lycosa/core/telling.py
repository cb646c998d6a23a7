"""How far something is that takes long: who does it tells, who asked for it shows it, or does not."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

# Told what is being done, how far it is, and of how many (0: unknown)
Tell: TypeAlias = Callable[[str, int, int], None]


def silent(what: str, done: int, total: int) -> None:
    """For those who do not want to know."""
