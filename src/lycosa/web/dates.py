"""Times in HTTP's header fields: Last-Modified, Retry-After."""

from __future__ import annotations

from datetime import UTC
from email.utils import parsedate_to_datetime

LONGEST_REST = 24 * 3600.0
"""Seconds that a host can ask to be left alone for."""


def http_time(date: str) -> float:
    """A date as seconds since the epoch; 0 if it is none. Without a time zone it is UTC.

    >>> http_time("Thu, 01 Jan 1970 00:01:00 GMT"), http_time("yesterday")
    (60.0, 0.0)
    """
    try:
        moment = parsedate_to_datetime(date)
        return (moment if moment.tzinfo is not None else moment.replace(tzinfo=UTC)).timestamp()
    except (ValueError, TypeError, OverflowError):
        return 0.0


def retry_after(value: str, now: float) -> float:
    """Seconds that a Retry-After asks for, LONGEST_REST at most; 0 if it says nothing sensible.

    >>> retry_after("120", 0.0), retry_after("Thu, 01 Jan 1970 00:01:00 GMT", 10.0), retry_after("soon", 0.0)
    (120.0, 50.0, 0.0)
    """
    value = value.strip()
    wait = float(value) if value.isascii() and value.isdigit() else http_time(value) - now
    return min(max(0.0, wait), LONGEST_REST)
