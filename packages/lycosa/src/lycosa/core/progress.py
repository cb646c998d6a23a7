"""Progress callbacks."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

# Called with a label, the amount done, and the total (0: unknown)
ProgressCallback: TypeAlias = Callable[[str, int, int], None]


def no_progress(label: str, done: int, total: int) -> None:
    """Ignore progress."""
