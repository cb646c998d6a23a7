"""The versions of a page that a crawl's directory holds, and the bytes of each.

A page has one version when it is first fetched, and another whenever a revisit brings other content. What was
fetched before under any address is archived once: later records only refer to it.
"""

from __future__ import annotations

from pathlib import Path

from lycosa.core.errors import DamagedError
from lycosa.core.types import Exchange, Visit
from lycosa.store.log import VERSIONS, SqliteLog
from lycosa.store.warc import read_exchange

CURRENT = f"""{VERSIONS} AND NOT EXISTS (
    SELECT 1 FROM event AS later WHERE later.node = event.node AND later.seq > event.seq
    AND later.kind = 'revisit' AND later.outcome = 'ok')"""
"""Which of them are the last of their page."""


class Versions:
    """What the log and the archive know of pages over time; reads only, also beside a running crawl."""

    def __init__(self, log: SqliteLog, archive: Path) -> None:
        self.log = log
        self.archive = archive

    def of(self, node: str) -> list[Visit]:
        """Every version of a page, the oldest first."""
        return [
            event for event in self.log.events(f"node = ? AND {VERSIONS}", given=(node,)) if isinstance(event, Visit)
        ]

    def last(self, node: str) -> Visit | None:
        """The version that stands now."""
        found = self.log.events(f"node = ? AND {VERSIONS}", "seq DESC LIMIT 1", (node,))
        return next((event for event in found if isinstance(event, Visit)), None)

    def looks(self, node: str) -> list[Visit]:
        """Every visit of a node, whatever came of it, the oldest first."""
        return [event for event in self.log.events("node = ?", given=(node,)) if isinstance(event, Visit)]

    def exchange(self, visit: Visit) -> Exchange | None:
        """The answer as it was received, None where nothing is archived; the body of a revisit is its original's.

        A visit that found nothing new has the body of the version that still stood.
        """
        if not visit.place.file:
            return None
        found, refers_to = self._record(visit)
        if refers_to and visit.digest:
            for original in self.log.events("node = ? AND file != ''", given=(refers_to,)):
                assert isinstance(original, Visit)
                if original.digest == visit.digest:
                    body = self._record(original)[0].body
                    if body:
                        found.body = body
                        break
        elif refers_to:  # not modified
            stood = [event for event in self.of(visit.node) if event.started <= visit.started]
            before = self.exchange(stood[-1]) if stood else None
            return before or found
        return found

    def _record(self, visit: Visit) -> tuple[Exchange, str]:
        """The visit's record, and the URL whose body it shares if it is a revisit."""
        path = self.archive / visit.place.file
        try:
            found, refers_to = read_exchange(path, visit.place)
        except (KeyError, ValueError) as error:  # inflated well, but into something else
            raise DamagedError(
                f"{path}: no record of {visit.node} at byte {visit.place.offset}; restore it from a backup"
            ) from error
        if not refers_to and len(found.body) < visit.size:
            raise DamagedError(f"{path}: the record of {visit.node} is cut short; restore it from a backup")
        return found, refers_to
