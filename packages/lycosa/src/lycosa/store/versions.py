"""Versions of a page: the content of its first fetch, and of each revisit that found other content.

Content that was already fetched under any URL is archived once, and later records refer to it.
"""

from __future__ import annotations

from pathlib import Path

from lycosa.core.errors import DamagedError
from lycosa.core.types import Exchange, Visit
from lycosa.store.log import VERSIONS, SqliteLog
from lycosa.store.warc import read_exchange


class Versions:
    """Read access to the versions of pages in a log and its archive, even while the crawl is running."""

    def __init__(self, log: SqliteLog, archive: Path) -> None:
        self.log = log
        self.archive = archive

    def of(self, node: str) -> list[Visit]:
        return list(self.log.visits(f"url = ? AND {VERSIONS}", given=(node,)))

    def last(self, node: str) -> Visit | None:
        return next(self.log.visits(f"url = ? AND {VERSIONS}", "seq DESC LIMIT 1", (node,)), None)

    def exchange(self, visit: Visit) -> Exchange | None:
        """Return the archived response of a visit, None if nothing was archived.

        The body of a revisit record is that of the record it refers to; for a 304 response, that of the version current
        at the time. For a rendered page it is the final DOM.
        """
        if not visit.place.file:
            return None
        exchange, refers_to = self._record(visit)
        if refers_to and visit.digest:
            exchange.body = self._referred_body(visit, refers_to)
        elif refers_to:  # a 304 response, which has no digest
            earlier = [event for event in self.of(visit.node) if event.started <= visit.started]
            before = self.exchange(earlier[-1]) if earlier else None
            return before or exchange
        return exchange

    def _referred_body(self, visit: Visit, refers_to: str) -> bytes:
        for original in self.log.visits("url = ? AND warc_file != ''", given=(refers_to,)):
            if original.digest == visit.digest and (body := self._record(original)[0].body):
                return body
        return b""

    def _record(self, visit: Visit) -> tuple[Exchange, str]:
        """Return the visit's record and, for a revisit record, the URL it refers to."""
        path = self.archive / visit.place.file
        try:
            exchange, refers_to = read_exchange(path, visit.place)
        except (KeyError, ValueError) as error:  # the content can be decompressed, but is not a WARC record
            message = f"{path}: no record of {visit.node} at byte {visit.place.offset}; restore it from a backup"
            raise DamagedError(message) from error
        if not refers_to and len(exchange.body) < visit.size and "render" not in visit.data:
            raise DamagedError(f"{path}: the record of {visit.node} is cut short; restore it from a backup")
        return exchange, refers_to
