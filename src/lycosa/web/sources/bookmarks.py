"""Bookmarks as browsers export and keep them: the Netscape file (all of them), Firefox's JSON, Chrome's JSON."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from lycosa.web.sources.markup import attributes, pieces
from lycosa.web.sources.source import Source, brief, folders

NETSCAPE = re.compile(r"<!doctype\s+netscape-bookmark-file", re.IGNORECASE)

MOST_FOLDERS = 100
"""Folders within folders: deeper ones count as this deep."""


def read_bookmarks(text: str, source: Source) -> None:
    """The Netscape file: folders are headings before a list."""
    path: list[str] = []
    heading = ""
    taking: list[str] | None = None
    address: str | None = None
    for what, name, more in pieces(text):
        if source.full:
            break
        if what == "text":
            if taking is not None:
                taking.append(more)
        elif (what, name) == ("open", "a"):
            address, taking = attributes(more).get("href", ""), []
        elif (what, name) == ("open", "h3"):
            taking = []
        elif (what, name) == ("close", "h3"):
            heading, taking = brief("".join(taking or [])), None
        elif (what, name) == ("close", "a") and address is not None:
            source.add(address, "".join(taking or []), folders(path))
            address = taking = None
        elif (what, name) == ("open", "dl") and len(path) < MOST_FOLDERS:
            path.append(heading)
            heading = ""
        elif (what, name) == ("close", "dl") and path:
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
