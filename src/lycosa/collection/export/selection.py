"""Which pages are exported: the relevant ones or all of them, each content once or with its copies.

What a page is now decides; with `versions`, its earlier ones come along.

The log may grow while it is read. What it held at the beginning is exported, in slices, so that a running crawl's log
is never held open for long; one page is in memory at a time.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from typing import TypeAlias

from lycosa.collection.fate import Fate
from lycosa.collection.reading import Collection
from lycosa.collection.view import CrawlView
from lycosa.core.types import Visit
from lycosa.store.log import VERSIONS, WORTH
from lycosa.store.versions import current, current_in
from lycosa.web.html import Document

SLICE = 500
"""Events that are read before the log is let go of for a moment."""

LOOKS = f"(({VERSIONS}) OR (kind = 'revisit' AND outcome = 'unchanged'))"
"""Events that found a page's content: another than before, or the same."""

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
        versions: bool = False,
        tell: Told = lambda what, done, total: None,
    ) -> None:
        self.collection = collection
        self.log = collection.log
        self.copies = copies
        self.least = -math.inf if everything else collection.threshold
        self._tell = tell
        self._parent = lru_cache(maxsize=16)(self.visit)
        self.last = sys.maxsize
        self.last = self._figure("MAX(seq)")
        self._current = f"{current_in(self.log, self.last, copies=copies)} AND {WORTH} >= ?"
        self._held = (
            "EXISTS (SELECT 1 FROM event AS now LEFT JOIN worth AS worth_now ON worth_now.seq = now.seq "
            f"WHERE now.node = event.node AND now.seq <= {self.last} "
            f"AND {current(self.last, copies=copies, of='now')} AND COALESCE(worth_now.worth, now.beta) >= ?)"
        )
        self.looked_again = self._figure("MAX(kind = 'revisit')") > 0
        """Whether any page was looked at again."""
        self.versions = versions and self.looked_again
        self._where = f"{VERSIONS} AND {self._held}" if self.versions else self._current
        self.total = self._figure("COUNT(*)", self._where, self.least)
        self.archived = self._figure("SUM(file != '')", self._where, self.least)

    def _figure(self, what: str, where: str = "TRUE", *values: object) -> int:
        """A count or the like over events that are exported."""
        return int(next(self.log.rows(what, f"{where} AND seq <= ?", given=(*values, self.last)))[0] or 0)

    def pages(self, doing: str = "writing") -> Iterator[tuple[int, Visit]]:
        """The pages, or all versions of them, with their numbers in the log."""
        for done, (seq, event) in enumerate(self._events(self._where, self.least)):
            assert isinstance(event, Visit)
            self._tell(doing, done, self.total)
            yield seq, event
        self._tell(doing, self.total, self.total)

    def looks(self, doing: str = "writing") -> Iterator[tuple[int, Visit]]:
        """The same, and with all versions also the looks that found nothing new."""
        if not self.versions:
            yield from self.pages(doing)
            return
        for done, (seq, event) in enumerate(self._events(f"{LOOKS} AND {self._held}", self.least)):
            assert isinstance(event, Visit)
            self._tell(doing, min(done, self.total), self.total)
            yield seq, event

    @cached_property
    def view(self) -> CrawlView:
        """The crawl as a whole: what led to pages, and what has become of them."""
        self._tell("tracing links", 0, self.total)
        return self.collection.view()

    def fate(self, visit: Visit) -> Fate:
        """What has become of a page by now."""
        page = self.view.page(visit.node) if self.looked_again else None
        return (page.fate if page is not None else None) or Fate("stands", visit.started)

    def source(self, visit: Visit) -> tuple[str, str]:
        """The page whose link led to this one, and the words of that link; empty where the log does not tell."""
        source = self.view.source(self._parent, visit.node)
        return (source[0].node, source[0].links.anchors[source[1]]) if source is not None else ("", "")

    def number(self, seq: int, visit: Visit) -> int:
        """Which version of its page it is, from 1."""
        if not self.looked_again:
            return 1
        return int(next(self.log.rows("COUNT(*)", f"node = ? AND seq <= ? AND {VERSIONS}", given=(visit.node, seq)))[0])

    def names(self) -> Iterator[str]:
        """The pages' nodes alone, which is quick."""
        for (node,) in self.log.rows("node", f"{self._where} AND seq <= ?", given=(self.least, self.last)):
            yield node

    def holds(self, seq: int, visit: Visit) -> bool:
        """Whether a visit of the log is among the pages, or the looks at them."""
        where = f"{LOOKS} AND {self._held}" if self.versions else self._current
        return (
            seq <= self.last
            and next(self.log.rows("1", f"seq = ? AND {where}", given=(seq, self.least)), None) is not None
        )

    def visit(self, seq: int) -> Visit:
        """A visit by its number in the log."""
        event = next(self.log.events("seq = ?", given=(seq,)))
        assert isinstance(event, Visit)
        return event

    def _events(self, where: str, *values: object) -> Iterator[tuple[int, object]]:
        after, count = 0, SLICE
        while count == SLICE:
            count = 0
            limits = (*values, after, self.last)
            for seq, event in self.log.numbered(f"{where} AND seq > ? AND seq <= ?", f"seq LIMIT {SLICE}", limits):
                after, count = seq, count + 1
                yield seq, event

    def read(self, visit: Visit) -> tuple[Document, str]:
        """A page as its archived bytes tell it, and their content type; empty where nothing is archived."""
        exchange = self.collection.exchange(visit)
        kind = "" if exchange is None else exchange.header("content-type")
        return self.collection.document(visit, exchange), kind
