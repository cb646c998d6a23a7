"""Selection of the pages to export: relevant or all, with or without copies and earlier versions.

The current version decides whether a page is selected; with `versions`, its earlier versions follow.

The log may grow while it is read. The export covers the events present at the start; they are read in slices, so that a
running crawl is never blocked for long. Memory: one page at a time, and some dozens of bytes per page.
"""

from __future__ import annotations

import json
import math
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from lycosa.collection.crawl_directory import CrawlDirectory
from lycosa.collection.pages import PageRow, page_at
from lycosa.core.errors import InputError
from lycosa.core.progress import ProgressCallback, no_progress
from lycosa.core.types import Visit
from lycosa.store.log import VERSIONS
from lycosa.web.html import ParsedPage
from lycosa.web.optouts import CHOICES, respected

# SQL condition for events that confirmed or changed the content of a page
CONTENT_EVENTS = f"(({VERSIONS}) OR (kind = 'revisit' AND outcome = 'unchanged'))"
_HAS_OPT_OUTS = "data LIKE '%\"opt_outs\":%'"
# Events of pages with the number of the page's first visit; {1} is the column with the page's URL, {2} another one
_EVENTS = """
    SELECT event.seq, page.first, {2} FROM (SELECT * FROM visit WHERE {0} AND seq <= ?) AS event
    JOIN visit AS known ON known.url = event.{1} JOIN page ON page.first = known.seq ORDER BY event.seq
"""


@dataclass(slots=True)
class WriteResult:
    pages: int = 0
    remarks: list[str] = field(default_factory=list)  # numbers of dropped pages, with reasons


class Selection:
    """Selected pages of a crawl in log order; `only` selects a single page."""

    def __init__(
        self,
        collection: CrawlDirectory,
        *,
        everything: bool = False,
        copies: bool = False,
        versions: bool = False,
        only: str = "",
        respect: str = "",
        progress: ProgressCallback = no_progress,
    ) -> None:
        self.collection = collection
        self.log = collection.log
        self._progress = progress
        array = collection.pages_array("archived")
        min_relevance = -math.inf if everything else collection.threshold
        chosen = (array.counted | copies) & (array["relevance_now"] >= min_relevance)
        if only:
            row = page_at(self.log, only)
            chosen &= array["first"] == (row.first if row is not None else 0)
        self.opted_out = 0  # number of pages whose owners have opted out
        self._end = array.end
        if respect:
            opted_out = np.isin(array["first"], self._opted_out(respect))
            self.opted_out = int((chosen & opted_out).sum())
            chosen &= ~opted_out
        self._firsts = array["first"][chosen]
        self._includes_all = not only and not respect
        self.versions = versions and next(self.log.query("SELECT COALESCE(MAX(revisits), 0) FROM page"))[0] > 0
        if self.versions:
            self._seqs, archived = self._select(VERSIONS, "url", "event.warc_file != ''")
        else:
            current = array.rows[chosen][np.argsort(array["seq"][chosen])]
            self._seqs, archived = current["seq"].tolist(), current["archived"]
        self.archived = int(np.count_nonzero(archived))  # number of selected pages, or versions, that are archived
        self.total = len(self._seqs)

    def divide(self, part: int, parts: int) -> None:
        """Keep only one of several equal parts, counted from 0."""
        if not 0 <= part < parts:
            raise InputError("out-of-range", f"part {part} of {parts} does not exist: parts are numbered from 0")
        self._seqs = self._seqs[part * self.total // parts : (part + 1) * self.total // parts]
        self.total = len(self._seqs)

    def _opted_out(self, respect: str) -> list[int]:
        """Return the numbers of pages of which any version opted out."""
        if respect not in CHOICES:
            raise InputError("bad-value", f"--respect-opt-outs is {respect!r}: choose training or all")
        query = _EVENTS.format(f"{VERSIONS} AND {_HAS_OPT_OUTS}", "url", "event.data")
        return [
            first
            for _, first, data in self.log.query(query, (self._end,))
            if respected(json.loads(data).get("opt_outs", ()), respect)
        ]

    def _select(self, where: str, url: str, column: str) -> tuple[list[int], NDArray[np.int64]]:
        """Return the numbers of the selected pages' events that match a condition, and a column of these events."""
        query = _EVENTS.format(where, url, column)
        events = np.fromiter(self.log.query(query, (self._end,)), np.dtype("i8, i8, i8"))
        seqs, firsts, values = (events[name] for name in events.dtype.names or ())
        chosen = np.isin(firsts, self._firsts)
        return seqs[chosen].tolist(), values[chosen]

    @cached_property
    def _checked(self) -> list[int]:
        """Sequence numbers of the selected events; with versions, revisits without changes as well."""
        return self._select(CONTENT_EVENTS, "url", "event.size")[0] if self.versions else self._seqs

    def pages(self, activity: str = "writing") -> Iterator[tuple[int, Visit]]:
        """Yield the pages, or all their versions, with sequence numbers."""
        return self._visits(self._seqs, activity)

    def checked(self, activity: str = "writing") -> Iterator[tuple[int, Visit]]:
        """Yield the pages and, with versions, revisits without changes."""
        return self._visits(self._checked, activity)

    def _visits(self, numbers: Sequence[int], activity: str) -> Iterator[tuple[int, Visit]]:
        for done, (seq, visit) in enumerate(self.collection.visits(numbers)):
            self._progress(activity, min(done, self.total), self.total)
            yield seq, visit
        self._progress(activity, self.total, self.total)

    def page_assets(self) -> Iterator[tuple[int, Visit]]:
        """Yield archived page assets that were first requested for a selected page."""
        where = "kind = 'asset' AND warc_file != ''"
        if self._includes_all:
            return self.log.numbered(f"{where} AND seq <= ?", given=(self._end,))
        return self.collection.visits(self._select(where, "origin", "event.size")[0])

    def holds(self, seq: int) -> bool:
        """Return True if an event is among the selected pages or their revisits."""
        at = bisect_left(self._checked, seq)
        return at < len(self._checked) and self._checked[at] == seq

    def read(self, visit: Visit) -> tuple[ParsedPage, str]:
        """Return an archived page and its content type; empty if nothing is archived."""
        exchange = self.collection.exchange(visit)
        kind = "" if exchange is None else exchange.header("content-type")
        return self.collection.document(visit, exchange), kind


class ExportedPage:
    """Page or version to export; columns that need the archive or other events are computed on demand."""

    def __init__(self, pages: Selection, seq: int, visit: Visit) -> None:
        self.pages, self.seq, self.visit, self.place = pages, seq, visit, visit.place

    @cached_property
    def document(self) -> tuple[ParsedPage, str]:
        return self.pages.read(self.visit)

    @cached_property
    def row(self) -> PageRow:
        row = page_at(self.pages.log, self.visit.node)
        assert row is not None
        return row

    @property
    def is_relevant(self) -> bool:
        return not self.visit.same_as and self.visit.relevance_now >= self.pages.collection.threshold

    @property
    def version(self) -> int:
        if self.row.versions == 1:
            return 1
        earlier = f"url = ? AND seq <= ? AND {VERSIONS}"
        return int(next(self.pages.log.rows("COUNT(*)", earlier, given=(self.visit.node, self.seq)))[0])
