"""What people type: stripped, of a bounded length, and without characters that no database and no page can show."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from lycosa.core.errors import InputError


def line(text: Any, what: str, most: int, least: int = 0) -> str:
    """One line of text; `what` it is, for the message if it is none.

    >>> line("  coral reefs ", "the name", 80)
    'coral reefs'
    """
    if not isinstance(text, str):
        raise InputError(f"{what} is {type(text).__name__}: it must be text")
    typed = str(text).strip()
    if not all(letter.isprintable() for letter in typed):  # lone surrogates are not printable, nor is NUL
        raise InputError(
            f"{what} has a character that cannot be shown: write it in letters, digits and signs, one line"
        )
    if len(typed) > most:
        raise InputError(f"{what} has {len(typed):,} characters: {most:,} are the most")
    if len(typed) < least:
        raise InputError(f"{what} is empty: it takes at least {least} character{'s' if least != 1 else ''}")
    return typed


def lines(texts: Any, what: str, most: int, many: int) -> list[str]:
    """A list of such lines, each once, empty ones left out; `most` characters each, not more than `many`."""
    if not isinstance(texts, Iterable) or isinstance(texts, str | bytes | dict):
        raise InputError(f"{what}: it must be a list of texts")
    given = dict.fromkeys(filter(None, (line(text, what, most) for text in texts)))
    if len(given) > many:
        raise InputError(f"{what}: {len(given):,} are given, {many:,} are the most")
    return list(given)
