"""Changes as an Atom feed (RFC 4287), and its file.

Ids are URNs, so the feed can be moved; an entry is a change, not a page, so it is never updated. Page content is
escaped plain text without characters that XML forbids.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence
from itertools import islice
from pathlib import Path
from xml.etree import ElementTree as Tree

from lycosa.core.errors import StoreError
from lycosa.core.files import atomic_write, read_whole
from lycosa.revisit import ledger
from lycosa.revisit.ledger import ChangeFilter, Excerpt, LoggedChange, Where
from lycosa.store.log import SqliteLog
from lycosa.version import __version__
from lycosa.web.urls import is_http

NAMESPACE = "http://www.w3.org/2005/Atom"

ATOM = "changes.atom"

MAX_ENTRIES = 200  # entries of a feed


def atom(
    changes: Sequence[LoggedChange],
    *,
    crawl: str,
    title: str,
    at: float = 0.0,
    address: str = "",
    says: Callable[[LoggedChange], str] = ledger.story,
    where: Where = ledger.nothing,
) -> bytes:
    """Return the feed of some changes, newest first.

    `address` is the feed's URL, `at` its time if it is empty; `where` returns the URL that shows a change, if not the
    page itself.
    """
    feed = Tree.Element("feed", xmlns=NAMESPACE)
    _add(feed, "id", crawl)
    _add(feed, "title", f"Changes: {ledger.plain_line(title)}" if title else "Changes")
    _add(feed, "updated", ledger.rfc3339(max((item.at for item in changes), default=at)))
    _add(_add(feed, "author"), "name", "Lycosa")
    _add(feed, "generator", "Lycosa", version=__version__)
    if address:
        _add(feed, "link", rel="self", type="application/atom+xml", href=address)
    for item in changes:
        _entry(feed, item, says(item), where(item))
    text: str = Tree.tostring(feed, "unicode")
    return f'<?xml version="1.0" encoding="utf-8"?>\n{text}\n'.encode()


def _entry(feed: Tree.Element, item: LoggedChange, says: str, shown: str) -> None:
    entry = _add(feed, "entry")
    _add(entry, "id", item.id)
    _add(entry, "title", f"{ledger.name(item)} ({ledger.describe_change(item.change)})")
    _add(entry, "updated", ledger.rfc3339(item.at))
    _add(entry, "published", ledger.rfc3339(item.at))
    if shown:
        _add(entry, "link", rel="alternate", href=shown)
    if is_http(item.url):
        _add(entry, "link", rel="via" if shown else "alternate", href=ledger.plain_line(item.url, 10_000))
    if item.change.what == "moved" and is_http(item.change.target):
        _add(entry, "link", rel="related", href=ledger.plain_line(item.change.target, 10_000))
    _add(entry, "category", term=item.change.what)
    if item.change.what == "changed":
        _add(entry, "category", term=item.change.kind)
    # an entry without a link must have content (RFC 4287)
    _add(entry, "summary" if is_http(item.url) or shown else "content", says, type="text")


def _add(parent: Tree.Element, tag: str, text: str = "", **attributes: str) -> Tree.Element:
    child = Tree.SubElement(parent, tag, attributes)
    if text:
        child.text = text
    return child


class Feeds:
    """Writer of the feed with the newest changes of a crawl; reads the log incrementally."""

    def __init__(
        self,
        directory: Path,
        log: SqliteLog,
        *,
        title: str = "",
        wanted: ChangeFilter = ledger.IMPORTANT_CHANGES,
        address: str = "",
        excerpt: Excerpt = ledger.nothing,
    ) -> None:
        self.directory, self.log, self.title, self.wanted = directory, log, title, wanted
        self.address = address if not address or address.endswith("/") else f"{address}/"
        self.excerpt = excerpt
        self._excerpts: dict[str, str] = {}  # excerpts by entry id
        self._newest: deque[LoggedChange] = deque(maxlen=MAX_ENTRIES)  # oldest first
        self._read = 0
        self._unwritten = True

    def write(self) -> bool:
        """Write the file if its content changed; return whether it did."""
        last = ledger.end(self.log)
        if not self._read:
            self._newest.extendleft(newest(self.log, self.wanted, upto=last))
            self._excerpts = self._of_last_run()
        else:
            for item in ledger.changes(self.log, after=self._read, upto=last, wanted=self.wanted):
                self._newest.append(item)
                self._unwritten = True
        self._read = last
        if not self._unwritten:
            return False
        shown = list(reversed(self._newest))
        known = self._excerpts
        self._excerpts = {it.id: known.get(it.id) or ledger.story(it, self.excerpt(it)) for it in shown}
        address, crawl = self.address and self.address + ATOM, ledger.identity(self.log).urn
        body = atom(shown, crawl=crawl, title=self.title, address=address, says=lambda it: self._excerpts[it.id])
        written = save(self.directory / ATOM, body)
        self._unwritten = False
        return written

    def _of_last_run(self) -> dict[str, str]:
        """Return the excerpts in the existing file, because computing an excerpt requires reading two versions."""
        try:
            entries = Tree.fromstring(read_whole(self.directory / ATOM, 10_000_000)).iterfind("{*}entry")
            return {
                str(e.findtext("{*}id")): e.findtext("{*}summary") or e.findtext("{*}content") or "" for e in entries
            }
        except (OSError, Tree.ParseError):
            return {}


def newest(
    log: SqliteLog, wanted: ChangeFilter = ledger.IMPORTANT_CHANGES, *, upto: int | None = None, since: float = 0.0
) -> list[LoggedChange]:
    return list(islice(ledger.changes(log, wanted=wanted, upto=upto, since=since, newest_first=True), MAX_ENTRIES))


def save(path: Path, content: bytes) -> bool:
    """Write a file atomically, but only if its content changed, because feed readers check the modification time."""
    try:
        if path.is_file() and path.read_bytes() == content:
            return False
        with atomic_write(path) as file:
            file.write(content)
    except OSError as error:
        raise StoreError(f"cannot write {path}: {error.strerror}; free some space, or choose another file") from error
    return True
