"""The versions of a page that a crawl's directory holds, and the bytes of each.

A page has one version when it is first fetched, and another whenever a revisit brings other content. What was
fetched before under any address is archived once: later records only refer to it.

Paper items:
    personalized-repository: `lycosa diff`. Test:
        cli/test_diff_command.py::test_the_last_two_versions_are_compared_unless_others_are_named.
"""

from __future__ import annotations

from functools import cached_property
from pathlib import Path

from lycosa.core.errors import DamagedError, StoreError
from lycosa.core.options import Options
from lycosa.core.types import Exchange, Visit
from lycosa.store.directory import CONFIG
from lycosa.store.earlier import Source, body_of, sources_of
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
            original = self._original(visit, refers_to)
            if original is None:
                return exchange
            if not exchange.status_line:  # all of it is as it was
                exchange.status_line, exchange.headers = original.status_line, original.headers
            exchange.body = original.body
        elif refers_to:  # not modified
            stood = [event for event in self.of(visit.node) if event.started <= visit.started]
            before = self.exchange(stood[-1]) if stood else None
            return before or exchange
        return exchange

    def _original(self, visit: Visit, refers_to: str) -> Exchange | None:
        """What a revisit refers to, of this crawl or of an earlier one."""
        for original in self.log.visits("node = ? AND file != ''", given=(refers_to,)):
            if original.digest == visit.digest and (exchange := self._record(original)[0]).body:
                return exchange
        sources = self.earlier
        if not sources:
            return None
        found = body_of(sources, refers_to, visit.digest)
        if found is None:
            named = ", ".join(str(source.path) for source in sources)
            raise StoreError(
                f"the body of {visit.node} lies in the archive of an earlier crawl ({named}), and is not there any "
                "more: bring that archive back"
            )
        return found

    @cached_property
    def earlier(self) -> list[Source]:
        """The crawls whose archives have bodies of this one."""
        directory = self.archive.parent
        config = directory / CONFIG
        return sources_of(Options.load(config).dedupe, directory) if config.is_file() else []

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
