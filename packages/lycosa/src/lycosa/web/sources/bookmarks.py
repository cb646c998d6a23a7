"""Bookmarks exported by browsers, in the Netscape format."""

from __future__ import annotations

import re
from itertools import takewhile

from lycosa.web.sources.markup import attributes, pieces
from lycosa.web.sources.source import Source, brief, join_folders

NETSCAPE = re.compile(r"<!doctype\s+netscape-bookmark-file", re.IGNORECASE)


def read_bookmarks(text: str, source: Source) -> None:
    """Read a Netscape bookmark file; folders are headings before a list."""
    path: list[str] = []
    heading = ""
    label: list[str] = []
    address: str | None = None
    for kind, name, rest in takewhile(lambda piece: not source.is_full, pieces(text)):
        match kind, name:
            case "text", _:
                label.append(rest)
            case "open", "a":
                address, label = attributes(rest).get("href", ""), []
            case "close", "a" if address is not None:
                source.add(address, "".join(label), join_folders(path))
                address = None
            case "open", "h3":
                label = []
            case "close", "h3":
                heading = brief("".join(label))
            case "open", "dl" if len(path) < 100:  # deeper folders count as this deep
                path.append(heading)
                heading = ""
            case "close", "dl" if path:
                path.pop()
