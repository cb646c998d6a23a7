"""Web addresses that are written out in a text."""

from __future__ import annotations

import re

_ADDRESS = re.compile(r"\b(?:https?://|www\.)[^\s<>\"'`{}|\\^\u00ab\u00bb\u201c\u201d\u2018\u2019]{3,2000}", re.I)
_AFTER = ".,;:!?*_~"
_PAIRS = {")": "(", "]": "["}


def mentions(text: str) -> list[tuple[int, int]]:
    """Where web addresses stand in a text, without the punctuation after them.

    >>> text = "See https://a.test/b_(c). Or (www.d.test)!"
    >>> [text[start:end] for start, end in mentions(text)]
    ['https://a.test/b_(c)', 'www.d.test']
    """
    found: list[tuple[int, int]] = []
    if "://" not in text and "www." not in text.lower():
        return found
    for match in _ADDRESS.finditer(text):
        address = match[0]
        while address[-1] in _AFTER or (
            address[-1] in _PAIRS and address.count(address[-1]) > address.count(_PAIRS[address[-1]])
        ):
            address = address[:-1]
            if not address:
                break
        if len(address) > 8:
            found.append((match.start(), match.start() + len(address)))
    return found


def href_of(address: str) -> str:
    """An address as a link has it."""
    return f"http://{address}" if address[:4].lower() == "www." else address
