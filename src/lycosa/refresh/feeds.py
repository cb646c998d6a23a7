"""Changes as feeds: Atom (RFC 4287) and JSON Feed 1.1 (https://jsonfeed.org/version/1.1), and their two files.

Ids are URNs, so that a feed may be moved; an entry is a change, not a page, so it is never updated. Text is plain text:
what pages say is escaped, and characters that XML has no place for are left out.
"""

from __future__ import annotations

import json
from collections import deque
from collections.abc import Sequence
from itertools import islice
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as Tree

from lycosa.core.errors import StoreError
from lycosa.core.files import read_whole, replacing
from lycosa.refresh.ledger import (
    WHAT_MATTERS,
    Excerpt,
    Told,
    Wanted,
    Where,
    changes,
    end,
    facts,
    identity,
    label,
    name,
    nothing,
    plain,
    stamp,
    story,
)
from lycosa.store.log import SqliteLog
from lycosa.version import __version__
from lycosa.web.urls import is_http

NAMESPACE = "http://www.w3.org/2005/Atom"

ATOM, JSON = "changes.atom", "changes.json"

MOST = 200  # entries of a feed


def atom(
    changes: Sequence[Told],
    *,
    crawl: str,
    title: str,
    at: float = 0.0,
    address: str = "",
    excerpt: Excerpt = nothing,
    where: Where = nothing,
) -> bytes:
    """The feed of some changes, the newest first; `address` is where it will be found, `at` its time if it is empty,
    `where` a change is shown, if not by the page itself.

    >>> feed = atom([], crawl="urn:uuid:00000000-0000-5000-8000-000000000000", title="coral <reefs>")
    >>> print(feed.decode().splitlines()[1][:71])
    <feed xmlns="http://www.w3.org/2005/Atom"><id>urn:uuid:00000000-0000-50
    """
    feed = Tree.Element("feed", xmlns=NAMESPACE)
    _add(feed, "id", crawl)
    _add(feed, "title", _title(title))
    _add(feed, "updated", stamp(max((item.at for item in changes), default=at)))
    _add(_add(feed, "author"), "name", "Lycosa")
    _add(feed, "generator", "Lycosa", version=__version__)
    if address:
        _add(feed, "link", rel="self", type="application/atom+xml", href=address)
    for item in changes:
        _entry(feed, item, excerpt(item), where(item))
    text: str = Tree.tostring(feed, "unicode")
    return f'<?xml version="1.0" encoding="utf-8"?>\n{text}\n'.encode()


def _entry(feed: Tree.Element, item: Told, excerpt: str, shown: str) -> None:
    entry = _add(feed, "entry")
    _add(entry, "id", item.id)
    _add(entry, "title", f"{name(item)} ({label(item.change)})")
    _add(entry, "updated", stamp(item.at))
    _add(entry, "published", stamp(item.at))
    if shown:
        _add(entry, "link", rel="alternate", href=shown)
    if is_http(item.url):
        _add(entry, "link", rel="via" if shown else "alternate", href=plain(item.url, 10_000))
    if item.change.what == "moved" and is_http(item.change.target):
        _add(entry, "link", rel="related", href=plain(item.change.target, 10_000))
    for term in _terms(item):
        _add(entry, "category", term=term)
    # An entry without a link to a page has to have content.
    _add(entry, "summary" if is_http(item.url) or shown else "content", story(item, excerpt), type="text")


def _add(parent: Tree.Element, tag: str, text: str = "", **attributes: str) -> Tree.Element:
    child = Tree.SubElement(parent, tag, attributes)
    if text:
        child.text = text
    return child


def json_feed(
    changes: Sequence[Told],
    *,
    crawl: str,
    title: str,
    address: str = "",
    excerpt: Excerpt = nothing,
    where: Where = nothing,
) -> bytes:
    """The same as a JSON Feed. What the format has no name for is in `_lycosa`, as it asks.

    >>> json.loads(json_feed([], crawl="urn:uuid:1", title="coral reefs"))["title"]
    'Changes: coral reefs'
    """
    feed: dict[str, Any] = {
        "version": "https://jsonfeed.org/version/1.1",
        "title": _title(title),
        "description": "What changed, vanished, moved and is new",
        **({"feed_url": address} if address else {}),
        "authors": [{"name": "Lycosa"}],
        "_lycosa": {"about": "What Lycosa knows of each change", "crawl": crawl},
        "items": [_item(item, excerpt(item), where(item)) for item in changes],
    }
    return (json.dumps(feed, indent=1) + "\n").encode()


def _item(item: Told, excerpt: str, shown: str) -> dict[str, Any]:
    return {
        "id": item.id,
        **({"url": shown} if shown else {}),
        **({"external_url" if shown else "url": plain(item.url, 10_000)} if is_http(item.url) else {}),
        "title": f"{name(item)} ({label(item.change)})",
        "content_text": story(item, excerpt),
        "date_published": stamp(item.at),
        "tags": _terms(item),
        "_lycosa": {**facts(item), "excerpt": excerpt},
    }


def _title(title: str) -> str:
    return f"Changes: {plain(title)}" if title else "Changes"


def _terms(item: Told) -> list[str]:
    """What a change is filed under: what happened, and of what kind it is."""
    return [item.change.what, item.change.kind] if item.change.what == "changed" else [item.change.what]


class Feeds:
    """Remembers the newest changes; the log is read from where it was read last."""

    def __init__(
        self,
        directory: Path,
        log: SqliteLog,
        *,
        title: str = "",
        wanted: Wanted = WHAT_MATTERS,
        address: str = "",
        excerpt: Excerpt = nothing,
    ) -> None:
        self.directory, self.log, self.title, self.wanted = directory, log, title, wanted
        self.address = address if not address or address.endswith("/") else f"{address}/"
        self.excerpt = excerpt
        self._excerpts: dict[str, str] = {}
        self._newest: deque[Told] = deque(maxlen=MOST)  # oldest first
        self._read = 0
        self._unwritten = True

    def write(self) -> bool:
        """Write both files if they would be others than those that are there; whether that was so."""
        last = end(self.log)
        if not self._read:
            self._newest.extendleft(newest(self.log, self.wanted, upto=last))
            self._excerpts = self._of_last_run()
        else:
            for item in changes(self.log, after=self._read, upto=last, wanted=self.wanted):
                self._newest.append(item)
                self._unwritten = True
        self._read = last
        if not self._unwritten:
            return False
        shown = list(reversed(self._newest))
        known = self._excerpts
        self._excerpts = {item.id: known[item.id] if item.id in known else self.excerpt(item) for item in shown}
        crawl = identity(self.log).urn
        written = False
        for file, form in ((ATOM, atom), (JSON, json_feed)):
            address = self.address and self.address + file
            body = form(shown, crawl=crawl, title=self.title, address=address, excerpt=lambda it: self._excerpts[it.id])
            written |= save(self.directory / file, body)
        self._unwritten = False
        return written

    def _of_last_run(self) -> dict[str, str]:
        """The excerpts that are in the file: to make them anew, two versions of each page would have to be read."""
        try:
            items = json.loads(read_whole(self.directory / JSON, 10_000_000))["items"]
            return {str(item["id"]): str(item["_lycosa"]["excerpt"]) for item in items}
        except (OSError, ValueError, KeyError, TypeError, RecursionError):
            return {}


def newest(log: SqliteLog, wanted: Wanted = WHAT_MATTERS, *, upto: int | None = None, since: float = 0.0) -> list[Told]:
    """As many changes as a feed holds, the newest first."""
    return list(islice(changes(log, wanted=wanted, upto=upto, since=since, newest_first=True), MOST))


def save(path: Path, content: bytes) -> bool:
    """Write a file, whole or not at all, if that changes it: readers of feeds ask when it was modified."""
    try:
        if path.is_file() and path.read_bytes() == content:
            return False
        with replacing(path) as file:
            file.write(content)
    except OSError as error:
        raise StoreError(f"cannot write {path}: {error.strerror}; free some space, or choose another file") from error
    return True
