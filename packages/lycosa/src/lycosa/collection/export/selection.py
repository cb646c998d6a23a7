"""Selection of the pages to export: relevant or all, with or without copies and earlier versions.

The current version decides whether a page is selected; with `versions`, its earlier versions follow.

The log may grow while it is read. The export covers the events present at the start; they are read in slices, so that a
running crawl is never blocked for long. Memory: the crawl's view, one page at a time, and eight bytes per page.
"""

from __future__ import annotations

import math
from array import array
from bisect import bisect_left
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property, lru_cache

import numpy as np

from lycosa.collection.crawl_directory import CrawlDirectory
from lycosa.collection.page_rows import PageFate
from lycosa.core.errors import InputError
from lycosa.core.progress import ProgressCallback, no_progress
from lycosa.core.types import Visit
from lycosa.store.log import VERSIONS
from lycosa.web.html import ParsedPage
from lycosa.web.optouts import CHOICES, respected

# SQL condition for events that confirmed or changed the content of a page
CONTENT_EVENTS = f"(({VERSIONS}) OR (kind = 'revisit' AND outcome = 'unchanged'))"


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
        self.everything = everything
        self.log = collection.log
        self._progress = progress
        self.parent = lru_cache(maxsize=16)(self.log.visit)  # cached, since pages with the same parent are consecutive
        self.view = collection.view()
        min_relevance = -math.inf if everything else collection.threshold
        self._selected = self.view.current(copies=copies) & (self.view.column("relevance_now") >= min_relevance)
        if only:
            row = self.view.graph.vertex(only)
            self._selected &= np.arange(len(self._selected)) == row
        self.has_revisits = self.view.tally.revisits.count > 0
        self.versions = versions and self.has_revisits
        self._includes_all = not only and not respect
        self.opted_out = self._drop_opted_out(respect) if respect else 0  # number of pages whose owners have opted out
        self.archived = 0  # number of selected pages, or versions, that are archived
        self._seqs = array("q")
        if self.versions:
            for seq, file in self._select(VERSIONS):
                self._seqs.append(seq)
                self.archived += bool(file)
        else:
            self._seqs.extend(np.sort(self.view.column("seq")[self._selected]).tolist())
            self.archived = int(self.view.column("archived")[self._selected].sum())
        self.total = len(self._seqs)

    def divide(self, part: int, parts: int) -> None:
        """Keep only one of several equal parts, counted from 0."""
        if not 0 <= part < parts:
            raise InputError("out-of-range", f"part {part} of {parts} does not exist: parts are numbered from 0")
        self._seqs = self._seqs[part * self.total // parts : (part + 1) * self.total // parts]
        self.total = len(self._seqs)

    def _drop_opted_out(self, respect: str) -> int:
        if respect not in CHOICES:
            raise InputError("bad-value", f"--respect-opt-outs is {respect!r}: choose training or all")
        opted_out = 0
        version_seqs = array("q", (seq for seq, _ in self._select(VERSIONS)))
        for _, visit in self.collection.visits(version_seqs):
            vertex = self.view.graph.vertex(visit.node)
            if respected(visit.data.get("opt_outs", ()), respect) and self._selected[vertex]:
                self._selected[vertex] = False
                opted_out += 1
        return opted_out

    def _select(self, where: str) -> Iterator[tuple[int, str]]:
        """Yield sequence number and WARC file of the selected pages' events that match a condition."""
        for seq, node, file in self.log.rows("seq, node, file", f"{where} AND seq <= ?", given=(self.view.seq,)):
            vertex = self.view.graph.vertex(node)
            if vertex >= 0 and self._selected[vertex]:
                yield seq, file

    @cached_property
    def _checked(self) -> array[int]:
        """Sequence numbers of the selected events; with versions, revisits without changes as well."""
        return array("q", (seq for seq, _ in self._select(CONTENT_EVENTS))) if self.versions else self._seqs

    def pages(self, activity: str = "writing") -> Iterator[tuple[int, Visit]]:
        """Yield the pages, or all their versions, with sequence numbers."""
        return self._visits(self._seqs, activity)

    def checked(self, activity: str = "writing") -> Iterator[tuple[int, Visit]]:
        """Yield the pages and, with versions, revisits without changes."""
        return self._visits(self._checked, activity)

    def _visits(self, numbers: array[int], activity: str) -> Iterator[tuple[int, Visit]]:
        for done, (seq, visit) in enumerate(self.collection.visits(numbers)):
            self._progress(activity, min(done, self.total), self.total)
            yield seq, visit
        self._progress(activity, self.total, self.total)

    def page_assets(self) -> Iterator[tuple[int, Visit]]:
        """Yield archived page assets that were first requested for a selected page."""
        for seq, visit in self.log.numbered("kind = 'asset' AND file != '' AND seq <= ?", given=(self.view.seq,)):
            vertex = self.view.graph.vertex(visit.origin) if isinstance(visit, Visit) else -1
            if isinstance(visit, Visit) and (self._includes_all or (vertex >= 0 and self._selected[vertex])):
                yield seq, visit

    def names(self) -> list[str]:
        return [self.view.nodes[vertex] for vertex in np.flatnonzero(self._selected)]

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
    def source(self) -> tuple[str, str]:
        """URL of the page whose link led here, and the anchor text; empty if unknown."""
        source = self.pages.view.source(self.pages.parent, self.visit.node)
        return (source[0].node, source[0].links.anchors[source[1]]) if source is not None else ("", "")

    @cached_property
    def fate(self) -> PageFate:
        page = self.pages.view.page(self.visit.node) if self.pages.has_revisits else None
        return (page.fate if page is not None else None) or PageFate("stands", self.visit.started)

    @property
    def version(self) -> int:
        if not self.pages.has_revisits:
            return 1
        earlier = f"node = ? AND seq <= ? AND {VERSIONS}"
        return int(next(self.pages.log.rows("COUNT(*)", earlier, given=(self.visit.node, self.seq)))[0])
