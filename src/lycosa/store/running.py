"""Whether a crawl is being written."""

from __future__ import annotations

from pathlib import Path

from lycosa.core.errors import LockedError
from lycosa.store.log import Lock


def is_running(directory: Path) -> bool:
    """Whether someone is crawling in the directory."""
    if not (directory / "lock").exists():
        return False
    try:
        Lock(directory, peek=True).release()
    except LockedError:
        return True
    return False
