"""Durations as users write them: `90m`, `1d`, `2 weeks`, or plain seconds."""

from __future__ import annotations

import math
import re

from lycosa.core.errors import InputError

_UNITS = {
    **dict.fromkeys(("", "s", "sec", "secs", "second", "seconds"), 1.0),
    **dict.fromkeys(("m", "min", "mins", "minute", "minutes"), 60.0),
    **dict.fromkeys(("h", "hour", "hours"), 3600.0),
    **dict.fromkeys(("d", "day", "days"), 86_400.0),
    **dict.fromkeys(("w", "week", "weeks"), 604_800.0),
}
_PART = re.compile(r"\s*([0-9]+\.?[0-9]*|\.[0-9]+)\s*([A-Za-z]*)\s*")


def parse_duration(value: float | str, name: str = "the duration") -> float:
    """Parse a duration into seconds, greater than 0; `name` is the subject of the error message.

    >>> parse_duration("90m"), parse_duration("2 weeks"), parse_duration("1d 12h"), parse_duration(60)
    (5400.0, 1209600.0, 129600.0, 60.0)
    """
    total = float(value) if isinstance(value, int | float) else _parse(value)
    if not 0 < total <= 100 * 366 * 86_400.0:  # false for NaN
        raise InputError("invalid-duration", f"'{name}' is {value!r}: write a time such as 90m or 1d, up to 100 years")
    return total


def _parse(text: str) -> float:
    total, at = 0.0, 0
    while at < len(text):
        part = _PART.match(text, at)
        unit = _UNITS.get(part[2].lower()) if part else None
        if part is None or unit is None:
            return math.nan
        total += float(part[1]) * unit
        at = part.end()
    return total


def format_duration(duration: float) -> str:
    """Format seconds in the largest fitting unit; `parse_duration` parses the result.

    >>> format_duration(5400), format_duration(86_400), format_duration(1_209_600), format_duration(12)
    ('1.5h', '1d', '2w', '12s')
    """
    sizes = (("w", 604_800), ("d", 86_400), ("h", 3600), ("m", 60))
    unit, size = next(((unit, size) for unit, size in sizes if duration >= size), ("s", 1))
    return f"{duration / size:.3g}{unit}"
