"""When: moments as people name them on a command line."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta

from lycosa.core.durations import seconds
from lycosa.core.errors import InputError

DAY = 86_400.0

_DAY = re.compile(r"\d{4}-?\d\d-?\d\d|today|yesterday", re.IGNORECASE)


def by_the_end(told: str, now: float, option: str) -> float:
    """A moment up to which something counts: a day means its last one, after all that happened on it.

    >>> by_the_end("1970-01-01", 0.0, "--at"), by_the_end("1970-01-01 01:00", 0.0, "--at")
    (86399.999999, 3600.0)
    """
    return moment(told, now, option) + (DAY - 1e-6 if _DAY.fullmatch(told.strip()) else 0.0)


def moment(told: str, now: float, option: str = "--since") -> float:
    """A day, a day and a time (UTC unless it says another zone), how long ago, `today` or `yesterday`; as an epoch.

    >>> now = 1_700_000_000.0  # 2023-11-14 22:13:20
    >>> moment("2023-11-14", now), moment("2023-11-14 22:13", now), moment("3 hours ago", now), moment("2d", now)
    (1699920000.0, 1699999980.0, 1699989200.0, 1699827200.0)
    """
    text = told.strip()
    day = datetime.fromtimestamp(now, UTC).replace(hour=0, minute=0, second=0, microsecond=0)
    if text.lower() in ("today", "yesterday"):
        return (day - timedelta(days=text.lower() == "yesterday")).timestamp()
    if text.lower() == "now":
        return now
    try:
        if re.match(r"\d{4}-?\d\d", text):
            found = datetime.fromisoformat(text)
            return (found if found.tzinfo else found.replace(tzinfo=UTC)).timestamp()
        if re.search("[A-Za-z]", text):  # a mere number could be anything
            return now - seconds(re.sub(r"\s+ago$", "", text, flags=re.IGNORECASE))
    except (ValueError, OverflowError, InputError):
        pass
    raise InputError(
        f"{option} {told!r} is not a date or time: write it like 2026-03-01, '2026-03-01 14:30', 2d or '3 hours ago'"
    )
