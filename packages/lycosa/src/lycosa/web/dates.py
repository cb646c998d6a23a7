"""Dates in HTTP header fields (Last-Modified, Retry-After), sitemaps and feeds."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta
from email.utils import parsedate_to_datetime

_W3C = re.compile(
    r"(?i)(\d{4})(?:-(\d\d)(?:-(\d\d)(?:[T ](\d\d):(\d\d)(?::(\d\d)(?:[.,]\d+)?)?\s*(Z|[+-]\d\d:?\d\d)?)?)?)?\s*$"
)

MAX_RETRY_AFTER = 24 * 3600.0  # seconds: longer Retry-After values are capped


def parse_http_date(date: str) -> float:
    """Parse an HTTP date to seconds since the epoch; 0 if it is invalid. The default time zone is UTC."""
    try:
        moment = parsedate_to_datetime(date)
        return (moment if moment.tzinfo is not None else moment.replace(tzinfo=UTC)).timestamp()
    except (ValueError, TypeError, OverflowError):
        return 0.0


def parse_retry_after(value: str, now: float) -> float:
    """Return the delay of a Retry-After header in seconds, at most MAX_RETRY_AFTER; 0 if it is invalid."""
    value = value.strip()
    wait = float(value) if value.isascii() and value.isdigit() else parse_http_date(value) - now
    return min(max(0.0, wait), MAX_RETRY_AFTER)


def parse_w3c_date(text: str) -> tuple[float, float] | None:
    """Return the first and last second that a W3C date covers; None if it is invalid. The default time zone is UTC."""
    match = _W3C.match(text.strip())
    if not match:
        return None
    year, month, day, hour, minute, second = (int(part) if part else None for part in match.groups()[:6])
    if year is None or not 1970 <= year <= 9998 or (hour or 0) > 24 or (minute or 0) > 59 or (second or 0) > 60:
        return None
    try:
        start = datetime(year, 1 if month is None else month, 1 if day is None else day, tzinfo=UTC)
    except ValueError:
        return None
    first = start.timestamp() + 3600 * (hour or 0) + 60 * (minute or 0) + (second or 0) - _utc_offset(match[7] or "Z")
    if hour is not None:
        return first, first + (59 if second is None else 0)
    after = start + timedelta(366 if month is None else 31 if day is None else 1)  # in the next year, month or day
    end = after.replace(day=1 if day is None else after.day, month=1 if month is None else after.month)
    return first, first + (end - start).total_seconds() - 1


def _utc_offset(zone: str) -> int:
    if zone in "Zz":
        return 0
    seconds = int(zone[1:3]) * 3600 + int(zone[-2:]) * 60
    return -seconds if zone[0] == "-" else seconds
