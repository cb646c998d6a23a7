"""Ids: the keys of rows, and the names of directories."""

from __future__ import annotations

import re
import secrets


def new_id() -> str:
    """A key that nobody can guess: 96 bits."""
    return secrets.token_hex(12)


_ID = re.compile("[0-9A-Za-z_-]{1,64}", re.ASCII)


def is_id(text: object) -> bool:
    """Whether something can be a key of ours: whoever makes a path of one asks first.

    >>> is_id(new_id()), is_id("../../etc"), is_id(""), is_id(3)
    (True, False, False, False)
    """
    return isinstance(text, str) and _ID.fullmatch(text) is not None
