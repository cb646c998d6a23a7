"""Formatting of values for pages and terminals, and sanitising of untrusted text."""

from __future__ import annotations

import math
import re
import unicodedata
from datetime import UTC, datetime

_JOINERS = "\u200c\u200d"  # invisible, but needed by words of some languages


def clean(text: str, instead: str = "\ufffd") -> str:
    """Replace invisible characters: controls, lone surrogates, changes of text direction.

    >>> clean("a\\u202eb\\x00c\\ud800d\\u200ce") == "a\\ufffdb\\ufffdc\\ufffdd\\u200ce"
    True
    """
    if text.isprintable():
        return text
    unseen = (c for c in set(text) if unicodedata.category(c) in ("Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"))
    table = {ord(c): " " if c == "\t" else instead for c in unseen if c not in "\n" + _JOINERS}
    return text.translate(table) if table else text


def printable(text: str, instead: str = "\ufffd") -> str:
    """Replace every unprintable character of a line."""
    return text if text.isprintable() else "".join(c if c.isprintable() else instead for c in text)


def visible(text: str) -> str:
    """Make text safe for a terminal: drop link markers and soft hyphens, replace unprintable characters by spaces.

    >>> visible("a\\x1b[31mb\\u202ec \\x01d\\x02")
    'a [31mb c d'
    """
    text = re.sub("[\x01\x02\xad]", "", text)
    return text.translate({ord(c): " " for c in set(text) if not c.isprintable() and c not in "\n" + _JOINERS})


def clip(text: str, max_length: int = 300) -> str:
    """Shorten text to `max_length` characters."""
    text = " ".join(text.split())
    return text if len(text) <= max_length else text[: max_length - 1].rstrip() + "…"


def href(node: str) -> str:
    """Return a node if it is a web URL that is safe to link to, otherwise an empty string.

    >>> href("https://example.org/"), href("javascript:alert(1)")
    ('https://example.org/', '')
    """
    return node if node.startswith(("http://", "https://")) and clean(node) == node else ""


def many(number: int, noun: str) -> str:
    """Format a number with a noun.

    >>> many(1, "page"), many(1200, "page"), many(2, "copy"), many(3, "index")
    ('1 page', '1,200 pages', '2 copies', '3 indexes')
    """
    plural = noun[:-1] + "ies" if noun[-1] == "y" else noun + "es" if noun[-1] in "sx" else noun + "s"
    return f"{number:,} {noun if number == 1 else plural}"


def percent(share: float) -> str:
    """Format a share; only exactly 0 and 1 are shown as 0% and 100%."""
    if share in (0, 1):
        return f"{share:.0%}"
    rounded = f"{share:.1%}"
    return {"0.0%": "under 0.1%", "100.0%": "99.9%"}.get(rounded, rounded)


def score(value: float) -> str:
    if not math.isfinite(value):
        return "first"
    return f"{value:.2f}" if 0.01 <= abs(value) < 1000 or value == 0 else f"{value:.1g}"


def seconds(value: float) -> str:
    """Format a duration.

    >>> [seconds(value) for value in (0.0042, 0.42, 4.2, 75, 3700, 90_000)]
    ['4 ms', '0.42 s', '4.2 s', '1 min 15 s', '1 h 2 min', '1 d 1 h']
    """
    if value < 60:
        return f"{1000 * value:.0f} ms" if value < 0.1 else f"{value:.2g} s" if value < 9.95 else f"{value:.0f} s"
    units = ((86400, 3600, "d", "h"), (3600, 60, "h", "min"), (60, 1, "min", "s"))
    big, small, unit, below = next(row for row in units if value >= row[0])
    whole, rest = divmod(round(value / small), big // small)
    return f"{whole} {unit} {rest} {below}" if rest else f"{whole} {unit}"


def pause(value: float) -> str:
    return seconds(value) if 0 < value < math.inf else "–"


def size(number: int) -> str:
    """Format a number of bytes.

    >>> size(999), size(12_345), size(3_400_000)
    ('999 B', '12 kB', '3.4 MB')
    """
    for unit, min_size in (("TB", 1e12), ("GB", 1e9), ("MB", 1e6)):
        if number >= min_size:
            return f"{number / min_size:.1f} {unit}"
    return f"{number / 1000:.0f} kB" if number >= 1000 else f"{number} B"


def when(at: float) -> str:
    try:
        return datetime.fromtimestamp(at, UTC).strftime("%-d %B %Y, %H:%M UTC")
    except (ValueError, OverflowError, OSError):
        return "at an unknown time"


def day(at: float) -> str:
    """Format a day in UTC.

    >>> day(0.0)
    '1 January 1970'
    """
    return when(at).partition(",")[0]


FILTERS = {shown.__name__: shown for shown in (clip, href, many, percent, score, seconds, pause, size, when, day)}
