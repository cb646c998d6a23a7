"""The two feed files of a crawl's directory, brought up to date when something is new."""

from __future__ import annotations

import json
from collections import deque
from pathlib import Path

from lycosa.core.errors import StoreError
from lycosa.core.files import read_whole, replacing
from lycosa.refresh.ledger import WHAT_MATTERS, Told, Wanted, changes, end, identity
from lycosa.refresh.telling.atom import atom
from lycosa.refresh.telling.json_feed import json_feed
from lycosa.refresh.telling.words import Excerpt, nothing
from lycosa.store.log import SqliteLog

ATOM, JSON = "changes.atom", "changes.json"

MOST = 200
"""Entries of a feed."""


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
        self._newest: deque[Told] = deque(maxlen=MOST)
        """The oldest of them first."""
        self._read = 0
        self._unwritten = True

    def write(self) -> bool:
        """Write both files if they would be others than those that are there; whether that was so."""
        last = end(self.log)
        if not self._read:
            self._newest.extendleft(newest(self.log, self.wanted, upto=last))
            self._excerpts = self._of_last_run()
        else:
            for told in changes(self.log, after=self._read, upto=last, wanted=self.wanted):
                self._newest.append(told)
                self._unwritten = True
        self._read = last
        if not self._unwritten:
            return False
        shown = list(reversed(self._newest))
        known = self._excerpts
        self._excerpts = {told.id: known[told.id] if told.id in known else self.excerpt(told) for told in shown}
        crawl = identity(self.log).urn
        where = {name: self.address and self.address + name for name in (ATOM, JSON)}
        written = save(
            self.directory / ATOM,
            atom(shown, crawl=crawl, title=self.title, address=where[ATOM], excerpt=self._known),
        ) | save(
            self.directory / JSON,
            json_feed(shown, crawl=crawl, title=self.title, address=where[JSON], excerpt=self._known),
        )
        self._unwritten = False
        return written

    def _known(self, told: Told) -> str:
        return self._excerpts[told.id]

    def _of_last_run(self) -> dict[str, str]:
        """The excerpts that are in the file: to make them anew, two versions of each page would have to be read."""
        try:
            items = json.loads(read_whole(self.directory / JSON, 10_000_000))["items"]
            return {str(item["id"]): str(item["_lycosa"]["excerpt"]) for item in items}
        except (OSError, ValueError, KeyError, TypeError, RecursionError):
            return {}


def newest(log: SqliteLog, wanted: Wanted = WHAT_MATTERS, *, upto: int | None = None, since: float = 0.0) -> list[Told]:
    """As many changes as a feed holds, the newest first."""
    found: list[Told] = []
    for told in changes(log, wanted=wanted, upto=upto, since=since, newest_first=True):
        found.append(told)
        if len(found) == MOST:
            break
    return found


def save(path: Path, content: bytes) -> bool:
    """Write a file, whole or not at all, if that changes it: readers of feeds ask when it was modified."""
    try:
        if path.is_file() and path.read_bytes() == content:
            return False
        with replacing(path) as file:
            file.write(content)
    except OSError as error:
        raise StoreError(f"cannot write {path}: {error.strerror}; make room, or name another file") from error
    return True
