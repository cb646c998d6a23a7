"""Random ids, used as database keys and directory names."""

from __future__ import annotations

import re
import secrets


def new_id() -> str:
    return secrets.token_hex(12)


_ID = re.compile("[0-9A-Za-z_-]{1,64}", re.ASCII)


def is_id(text: object) -> bool:
    """Return whether a value is a valid key, and thus safe as a path component."""
    return isinstance(text, str) and _ID.fullmatch(text) is not None
