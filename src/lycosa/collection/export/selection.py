"""Which pages are exported: the relevant ones or all of them, each content once or with its copies.

The log may grow while it is read. What it held at the beginning is exported, in slices, so that a running crawl's log
is never held open for long; one page is in memory at a time.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import TypeAlias

from lycosa.collection.reading import Collection
from lycosa.core.types import Seed, Visit
from lycosa.store.log import FIRSTS, PAGES
from lycosa.web.html import Document

SLICE = 500
"""Events that are read before the log is let go of for a moment."""

WAYS = f"(kind IN ('seed', 'redirect', 'sitemap') OR ({PAGES}))"
"""Events that lead to a page."""

Told: TypeAlias = Callable[[str, int, int], None]
"""Progress: what is being done, how much of it, out of how much."""


@dataclass(slots=True)
class Written:
    """What came of an export."""

    pages: int = 0
    remarks: list[str] = field(default_factory=list)
    """What the user should know of it: pages left out and why."""


class Selection:
    """The pages of a collection that are asked for, in the log's order."""

    def __init__(
        self,
        collection: Collection,
        *,
        everything: bool = False,
        copies: bool = False,
        tell: Told = lambda what, done, total: None,
    ) -> None:
        self.collection = collection
        self.log = collection.log
        self.copies = copies
        self.least = -math.inf if everything else collection.threshold
        self._tell = tell
        self._where = f"{PAGES if copies else FIRSTS} AND beta >= ?"
        self.last = sys.maxsize
        self.last = self._figure("MAX(seq)")
        self.total = self._figure("COUNT(*)", self._where, self.least)
        self.archived = self._figure("SUM(file != '')", self._where, self.least)

    def _figure(self, what: str, where: str = "TRUE", *given: object) -> int:
        """A count or the like over events that are exported."""
        return int(next(self.log.rows(what, f"{where} AND seq <= ?", given=(*given, self.last)))[0] or 0)

    def pages(self, doing: str = "writing") -> Iterator[tuple[int, Visit]]:
        """The pages with their numbers in the log."""
        for done, (seq, event) in enumerate(self._events(self._where, self.least)):
            assert isinstance(event, Visit)
            self._tell(doing, done, self.total)
            yield seq, event
        self._tell(doing, self.total, self.total)

    def names(self) -> Iterator[str]:
        """The pages' nodes alone, which is quick."""
        for (node,) in self.log.rows("node", f"{self._where} AND seq <= ?", given=(self.least, self.last)):
            yield node

    def holds(self, seq: int, visit: Visit) -> bool:
        """Whether a visit of the log is among the pages."""
        chosen = visit.is_page and visit.beta >= self.least and (self.copies or not visit.same_as)
        return chosen and seq <= self.last

    def visit(self, seq: int) -> Visit:
        """A visit by its number in the log."""
        event = next(self.log.events("seq = ?", given=(seq,)))
        assert isinstance(event, Visit)
        return event

    def ways(self, doing: str) -> Iterator[tuple[int, Visit | Seed]]:
        """All that leads to a page: seeds, redirects, sitemaps, and pages with their links, exported or not."""
        total = self._figure("COUNT(*)", WAYS)
        for done, (seq, event) in enumerate(self._events(WAYS)):
            assert isinstance(event, Visit | Seed)
            self._tell(doing, done, total)
            yield seq, event

    def _events(self, where: str, *given: object) -> Iterator[tuple[int, object]]:
        after, found = 0, SLICE
        while found == SLICE:
            found = 0
            limits = (*given, after, self.last)
            for seq, event in self.log.numbered(f"{where} AND seq > ? AND seq <= ?", f"seq LIMIT {SLICE}", limits):
                after, found = seq, found + 1
                yield seq, event

    def read(self, visit: Visit) -> tuple[Document, str]:
        """A page as its archived bytes tell it, and their content type; empty where nothing is archived."""
        exchange = self.collection.exchange(visit)
        kind = "" if exchange is None else exchange.header("content-type")
        return self.collection.document(visit, exchange), kind
