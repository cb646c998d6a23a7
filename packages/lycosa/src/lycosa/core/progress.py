"""How far something is that takes long: who does it tells, who asked for it shows it, or does not."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

# Told what is being done, how far it is, and of how many (0: unknown)
ProgressCallback: TypeAlias = Callable[[str, int, int], None]


def no_progress(what: str, done: int, total: int) -> None:
    """For those who do not want to know."""
