"""Which pages are exported: the relevant ones or all of them, each content once or with its copies.

What a page is now decides; with `versions`, its earlier ones come along.

The log may grow while it is read. What it held at the beginning is exported, in slices, so that a running crawl's log
is never held open for long. In memory are one page at a time, the crawl's view, and eight bytes for each page.
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

# SQL: events that found a page's content, another than before or the same
LOOKS = f"(({VERSIONS}) OR (kind = 'revisit' AND outcome = 'unchanged'))"


@dataclass(slots=True)
class Written:
    pages: int = 0
    remarks: list[str] = field(default_factory=list)  # pages left out and why


class Selection:
    """The pages of a collection that are asked for, in the log's order; with `only`, that one page."""

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
        self._tell = progress
        self.parent = lru_cache(maxsize=16)(self.log.visit)  # those that led to pages come one after the other
        self.view = collection.view()
        least = -math.inf if everything else collection.threshold
        self._chosen = self.view.current(copies=copies) & (self.view.column("relevance_now") >= least)
        if only:
            row = self.view.graph.vertex(only)
            self._chosen &= np.arange(len(self._chosen)) == row
        self.looked_again = self.view.tally.looks.count > 0
        self.versions = versions and self.looked_again
        self._all_of_it = not only and not respect
        self.left_out = self._leave_out(respect) if respect else 0  # pages whose owners have opted out
        self.archived = 0  # pages, or versions, that the archive has
        self._numbers = array("q")
        if self.versions:
            for seq, file in self._select(VERSIONS):
                self._numbers.append(seq)
                self.archived += bool(file)
        else:  # known without reading the log
            self._numbers.extend(np.sort(self.view.column("seq")[self._chosen]).tolist())
            self.archived = int(self.view.column("archived")[self._chosen].sum())
        self.total = len(self._numbers)

    def divide(self, part: int, parts: int) -> None:
        """Keep one of so many parts, the first of which is 0."""
        if not 0 <= part < parts:
            raise InputError(f"there is no part {part} of {parts}: the first is 0")
        self._numbers = self._numbers[part * self.total // parts : (part + 1) * self.total // parts]
        self.total = len(self._numbers)

    def _leave_out(self, respect: str) -> int:
        if respect not in CHOICES:
            raise InputError(f"--respect-opt-outs is {respect!r}: choose training or all")
        left_out = 0
        standing = array("q", (seq for seq, _ in self._select(VERSIONS)))
        for _, visit in self.collection.visits(standing):
            vertex = self.view.graph.vertex(visit.node)
            if respected(visit.data.get("opt_outs", ()), respect) and self._chosen[vertex]:
                self._chosen[vertex] = False
                left_out += 1
        return left_out

    def _select(self, where: str) -> Iterator[tuple[int, str]]:
        """Events of all versions that are exported, in order: their numbers, and where their bytes are."""
        for seq, node, file in self.log.rows("seq, node, file", f"{where} AND seq <= ?", given=(self.view.seq,)):
            vertex = self.view.graph.vertex(node)
            if vertex >= 0 and self._chosen[vertex]:
                yield seq, file

    @cached_property
    def _looks(self) -> array[int]:
        """The numbers of the events, with all versions also of the looks that found nothing new."""
        return array("q", (seq for seq, _ in self._select(LOOKS))) if self.versions else self._numbers

    def pages(self, doing: str = "writing") -> Iterator[tuple[int, Visit]]:
        """The pages, or all versions of them, with their numbers in the log."""
        return self._visits(self._numbers, doing)

    def looks(self, doing: str = "writing") -> Iterator[tuple[int, Visit]]:
        """The same, and with all versions also the looks that found nothing new."""
        return self._visits(self._looks, doing)

    def _visits(self, numbers: array[int], doing: str) -> Iterator[tuple[int, Visit]]:
        for done, (seq, visit) in enumerate(self.collection.visits(numbers)):
            self._tell(doing, min(done, self.total), self.total)
            yield seq, visit
        self._tell(doing, self.total, self.total)

    def page_assets(self) -> Iterator[tuple[int, Visit]]:
        """What was fetched so that these pages can be shown: by which page it was first needed decides."""
        for seq, visit in self.log.numbered("kind = 'asset' AND file != '' AND seq <= ?", given=(self.view.seq,)):
            vertex = self.view.graph.vertex(visit.origin) if isinstance(visit, Visit) else -1
            if isinstance(visit, Visit) and (self._all_of_it or (vertex >= 0 and self._chosen[vertex])):
                yield seq, visit

    def names(self) -> list[str]:
        return [self.view.nodes[vertex] for vertex in np.flatnonzero(self._chosen)]

    def holds(self, seq: int) -> bool:
        """Whether an event of the log is among the pages, or the looks at them."""
        at = bisect_left(self._looks, seq)
        return at < len(self._looks) and self._looks[at] == seq

    def read(self, visit: Visit) -> tuple[ParsedPage, str]:
        """A page as its archived bytes tell it, and their content type; empty where nothing is archived."""
        exchange = self.collection.exchange(visit)
        kind = "" if exchange is None else exchange.header("content-type")
        return self.collection.document(visit, exchange), kind


class ExportedPage:
    """A page, or a version of one, that is written: what its columns are made of, each read when it is asked for."""

    def __init__(self, pages: Selection, seq: int, visit: Visit) -> None:
        self.pages, self.seq, self.visit, self.place = pages, seq, visit, visit.place

    @cached_property
    def document(self) -> tuple[ParsedPage, str]:
        return self.pages.read(self.visit)

    @cached_property
    def source(self) -> tuple[str, str]:
        """The page whose link led to it, and the words of that link; empty where the log does not tell."""
        source = self.pages.view.source(self.pages.parent, self.visit.node)
        return (source[0].node, source[0].links.anchors[source[1]]) if source is not None else ("", "")

    @cached_property
    def fate(self) -> PageFate:
        """What has become of it by now."""
        page = self.pages.view.page(self.visit.node) if self.pages.looked_again else None
        return (page.fate if page is not None else None) or PageFate("stands", self.visit.started)

    @property
    def version(self) -> int:
        """Which version of its page it is, from 1."""
        if not self.pages.looked_again:
            return 1
        earlier = f"node = ? AND seq <= ? AND {VERSIONS}"
        return int(next(self.pages.log.rows("COUNT(*)", earlier, given=(self.visit.node, self.seq)))[0])
