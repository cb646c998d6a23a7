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
    href: str | None = None
    for kind, name, rest in takewhile(lambda piece: not source.is_full, pieces(text)):
        match kind, name:
            case "text", _:
                label.append(rest)
            case "open", "a":
                href, label = attributes(rest).get("href", ""), []
            case "close", "a" if href is not None:
                source.add(href, "".join(label), join_folders(path))
                href = None
            case "open", "h3":
                label = []
            case "close", "h3":
                heading = brief("".join(label))
            case "open", "dl" if len(path) < 100:  # deeper folders count as this deep
                path.append(heading)
                heading = ""
            case "close", "dl" if path:
                path.pop()
