"""Bookmarks as browsers export and keep them: the Netscape file (all of them), Firefox's JSON, Chrome's JSON."""

from __future__ import annotations

import re
from collections.abc import Mapping
from itertools import takewhile
from typing import Any

from lycosa.web.sources.markup import attributes, pieces
from lycosa.web.sources.source import Source, brief, folders

NETSCAPE = re.compile(r"<!doctype\s+netscape-bookmark-file", re.IGNORECASE)

MOST_FOLDERS = 100  # deeper ones count as this deep


def read_bookmarks(text: str, source: Source) -> None:
    """The Netscape file: folders are headings before a list."""
    path: list[str] = []
    heading = ""
    label: list[str] = []
    address: str | None = None
    for what, name, more in takewhile(lambda piece: not source.full, pieces(text)):
        match what, name:
            case "text", _:
                label.append(more)
            case "open", "a":
                address, label = attributes(more).get("href", ""), []
            case "close", "a" if address is not None:
                source.add(address, "".join(label), folders(path))
                address = None
            case "open", "h3":
                label = []
            case "close", "h3":
                heading = brief("".join(label))
            case "open", "dl" if len(path) < MOST_FOLDERS:
                path.append(heading)
                heading = ""
            case "close", "dl" if path:
                path.pop()


def read_json_bookmarks(told: Mapping[str, Any], source: Source) -> bool:
    """Firefox's backup or Chrome's `Bookmarks`; False if it is neither."""
    roots = told.get("roots")
    if isinstance(roots, dict):
        waiting: list[tuple[Any, tuple[str, ...]]] = [(root, ()) for root in reversed(roots.values())]
    elif told.get("type") == "text/x-moz-place-container":
        waiting = [(told, ())]
    else:
        return False
    while waiting and not source.full:
        node, path = waiting.pop()
        if not isinstance(node, dict):
            continue
        label = next((value for key in ("title", "name") if isinstance(value := node.get(key), str)), "")
        children = node.get("children")
        if isinstance(children, list):
            deeper = (*path, brief(label))[-MOST_FOLDERS:]
            waiting += [(child, deeper) for child in reversed(children)]
        elif isinstance(address := node.get("uri") or node.get("url"), str):
            source.add(address, label, folders(list(path)))
    return True
