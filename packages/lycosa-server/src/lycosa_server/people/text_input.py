"""Validation of short texts that people enter."""

from __future__ import annotations

from lycosa.core.errors import InputError


def line(text: str, what: str, most: int, least: int = 0) -> str:
    """Strip and validate one line of text; `what` names it in error messages.

    >>> line("  coral reefs ", "the name", 80)
    'coral reefs'
    """
    typed = text.strip()
    if not all(letter.isprintable() for letter in typed):  # lone surrogates and NUL are not printable
        raise InputError(
            f"{what} has a character that cannot be shown: write it in letters, digits and signs, one line"
        )
    if len(typed) > most:
        raise InputError(f"{what} has {len(typed):,} characters: {most:,} are the most")
    if len(typed) < least:
        raise InputError(f"{what} is empty: it takes at least {least} character{'s' if least != 1 else ''}")
    return typed
