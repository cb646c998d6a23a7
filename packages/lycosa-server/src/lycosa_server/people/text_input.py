"""Validation of short texts that people enter."""

from __future__ import annotations

from lycosa.core.errors import InputError
from lycosa.drawing.formats import many


def clean_line(text: str, noun: str, max_length: int, min_length: int = 0) -> str:
    """Strip and validate one line of text; `noun` names it in error messages."""
    stripped = text.strip()
    if not all(letter.isprintable() for letter in stripped):  # lone surrogates and NUL are not printable
        raise InputError("bad-text", f"{noun} contains an unprintable character: remove it")
    if len(stripped) > max_length:
        raise InputError("too-long", f"{noun} has {len(stripped):,} characters: the maximum is {max_length:,}")
    if len(stripped) < min_length:
        raise InputError("too-short", f"{noun} is too short: enter at least {many(min_length, 'character')}")
    return stripped
