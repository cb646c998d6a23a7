"""Text cleaning for exports, and times as text."""

from __future__ import annotations

import re
from datetime import UTC, datetime

from lycosa.web.html import CLOSE, OPEN

_LINE_END = re.compile("\r\n?|[\x85\u2028\u2029]")
_CONTROL = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f]")
_NO_CHARACTER = re.compile("[\ud800-\udfff\ufffe\uffff]")


def clean(text: str) -> str:
    """Return text that is valid in XML, JSON and CSV; line ends become newlines, tabs stay.

    >>> clean("reef\\x00s\\r\\n\\ud800")
    'reef s\\n\\ufffd'
    """
    return _NO_CHARACTER.sub("\ufffd", _CONTROL.sub(" ", _LINE_END.sub("\n", text)))


def one_line(text: str) -> str:
    """Clean text and join it to one line.

    >>> one_line(" coral\\n\\treef ")
    'coral reef'
    """
    return " ".join(clean(text).split())


def without_markers(marked: str) -> str:
    return clean(marked.replace(OPEN, "").replace(CLOSE, "")).strip()


def utc_time(at: float) -> datetime | None:
    """Return a time in UTC, truncated to milliseconds; None for 0.

    >>> utc_time(1_700_000_000.2501).isoformat()
    '2023-11-14T22:13:20.250000+00:00'
    """
    if not at:
        return None
    time = datetime.fromtimestamp(at, UTC)
    return time.replace(microsecond=time.microsecond // 1000 * 1000)


def format_iso(at: datetime | None, digits: str = "milliseconds") -> str | None:
    return None if at is None else at.isoformat(timespec=digits).replace("+00:00", "Z")
