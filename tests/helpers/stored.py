"""Events as a log returns them, and comparison of events to the last bit."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import closing
from dataclasses import fields
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, TypeVar

import numpy as np

from lycosa.core.types import Event
from lycosa.store.log import NAME, SqliteLog

T = TypeVar("T", bound=Event)


def stored(events: Sequence[T]) -> list[T]:
    """Return events as read back from a log."""
    with TemporaryDirectory() as place, closing(SqliteLog(Path(place) / NAME)) as log:
        with log.batch():
            for event in events:
                log.append(event)
        found: list[Any] = list(log)
    return found


def exact(value: Any) -> Any:
    """Return a value that is equal only if all bits are: floats as hex, arrays as type and bytes."""
    if isinstance(value, np.ndarray):
        return (value.dtype.str, value.shape, value.tobytes())
    if isinstance(value, float):
        return ("float", value.hex())
    if isinstance(value, list | tuple):
        return [type(value).__name__, *map(exact, value)]
    if isinstance(value, dict):
        return {key: exact(item) for key, item in value.items()}
    if hasattr(value, "__dataclass_fields__"):
        return {part.name: exact(getattr(value, part.name)) for part in fields(value) if part.compare}
    return (type(value).__name__, value)


def shorten(path: Path, until: int) -> None:
    """Cut a log off after an event."""
    with closing(SqliteLog(path)) as log:
        kept = list(log.events(0, until))
    path.unlink()
    with closing(SqliteLog(path)) as log, log.batch():
        for seq, event in kept:
            log.put(seq, event)
