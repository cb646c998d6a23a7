"""Versions of a page: its content when it was first fetched, and whenever a revisit brought other content.

Content that was fetched before, under any address, is archived once: later records refer to it.
"""

from __future__ import annotations

from pathlib import Path

from lycosa.core.errors import DamagedError
from lycosa.core.types import Exchange, Visit
from lycosa.store.log import VERSIONS, SqliteLog
from lycosa.store.warc import read_exchange


class Versions:
    """What the log and the archive know of pages over time; reads only, also beside a running crawl."""

    def __init__(self, log: SqliteLog, archive: Path) -> None:
        self.log = log
        self.archive = archive

    def of(self, node: str) -> list[Visit]:
        """Every version of a page, the oldest first."""
        return list(self.log.visits(f"node = ? AND {VERSIONS}", given=(node,)))

    def last(self, node: str) -> Visit | None:
        """The version that stands now."""
        return next(self.log.visits(f"node = ? AND {VERSIONS}", "seq DESC LIMIT 1", (node,)), None)

    def exchange(self, visit: Visit) -> Exchange | None:
        """The answer as it was received, None where nothing is archived; the body of a revisit is its original's.

        Of a page that was rendered it is the final DOM: what it says.
        A visit that found nothing new has the body of the version that still stood.
        """
        if not visit.place.file:
            return None
        exchange, refers_to = self._record(visit)
        if refers_to and visit.digest:
            exchange.body = self._original(visit, refers_to)
        elif refers_to:  # not modified
            stood = [event for event in self.of(visit.node) if event.started <= visit.started]
            before = self.exchange(stood[-1]) if stood else None
            return before or exchange
        return exchange

    def _original(self, visit: Visit, refers_to: str) -> bytes:
        """Return the body to which a revisit refers."""
        for original in self.log.visits("node = ? AND file != ''", given=(refers_to,)):
            if original.digest == visit.digest and (body := self._record(original)[0].body):
                return body
        return b""

    def _record(self, visit: Visit) -> tuple[Exchange, str]:
        """The visit's record, and the URL whose body it shares if it is a revisit."""
        path = self.archive / visit.place.file
        try:
            exchange, refers_to = read_exchange(path, visit.place)
        except (KeyError, ValueError) as error:  # inflated well, but into something else
            raise DamagedError(
                f"{path}: no record of {visit.node} at byte {visit.place.offset}; restore it from a backup"
            ) from error
        if not refers_to and len(exchange.body) < visit.size and "render" not in visit.data:
            raise DamagedError(f"{path}: the record of {visit.node} is cut short; restore it from a backup")
        return exchange, refers_to
