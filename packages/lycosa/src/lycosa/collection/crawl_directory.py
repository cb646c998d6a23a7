"""Read access to a crawl's directory: pages in log order, and their archived content.

Works while the crawl is running. Pages are streamed; only a few numbers of each are held in memory.
"""

from __future__ import annotations

import math
from array import array
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Self

import numpy as np

from lycosa.collection.pages import PageArray
from lycosa.core.errors import InputError
from lycosa.core.types import Exchange, Visit
from lycosa.spaces.mastodon import parse_node, read_document
from lycosa.store.directory import Directory
from lycosa.store.log import NAME, SqliteLog
from lycosa.store.page_state import PageState
from lycosa.store.versions import Versions
from lycosa.web.html import ParsedPage
from lycosa.web.inflate import BadEncoding, inflate
from lycosa.web.parse_process import reparse_page
from lycosa.web.urls import canonical

MAX_BODY_BYTES = 10_000_000  # maximum size of a decompressed body, as during a crawl
_STATE = "state, since, versions, revisits, last_seen, changed, moved_to"  # columns of `PageState`


def check_threshold(threshold: float, probability: bool) -> None:
    """Raise InputError unless the threshold is finite and in the judge's range."""
    if not math.isfinite(threshold) or threshold < 0.0 or (probability and threshold > 1.0):
        allowed = "from 0 to 1" if probability else "0 or more"
        raise InputError("out-of-range", f"the threshold is {threshold:g}: it must be {allowed}")


class CrawlDirectory:
    """Read access to the pages of a crawl and their text.

    A page is represented by its current version: the last visit that brought new content. Copies of other pages
    (`visit.same_as`) are skipped unless `copies` is set. Thresholds apply to `visit.relevance_now`.
    """

    def __init__(self, path: Path, threshold: float | None = None, *, whole_text: bool = False) -> None:
        self.path = path
        self._pages_array: PageArray | None = None
        self.options = Directory.read_options(path)
        self.whole_text = whole_text or self.options.whole_text  # extract all text instead of the main part
        if not (path / NAME).exists():
            raise InputError("nothing-crawled", f"nothing has been crawled in {path} yet: run 'lycosa resume {path}'")
        self.log = SqliteLog(path / NAME, readonly=True)
        self.versions = Versions(self.log, path / "archive")
        self.threshold = float(self.log.setting("threshold", 0.0)) if threshold is None else threshold
        self.probability = bool(self.log.setting("probability", False))
        if threshold is not None:
            try:
                check_threshold(threshold, self.probability)
            except InputError:
                self.log.close()
                raise

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def close(self) -> None:
        self.log.close()

    def pages(self, *, at_least: float = 0.0, copies: bool = False) -> Iterator[tuple[int, Visit]]:
        """Yield number and visit of the current version of each page with at least this relevance, in log order."""
        array = self.pages_array()
        chosen = (array.counted | copies) & (array["relevance_now"] >= at_least)
        return self.visits(np.sort(array["seq"][chosen]).tolist())

    def visits(self, numbers: Sequence[int] | array[int]) -> Iterator[tuple[int, Visit]]:
        return self.log.visits_at(numbers, slice_size=500)

    def relevant(self) -> Iterator[Visit]:
        return (visit for _, visit in self.pages(at_least=self.threshold))

    def history(self, url: str) -> list[Visit]:
        return list(self.log.visits("url = ?", given=(canonical(url) or url,)))

    def state(self, url: str) -> PageState | None:
        """Return the current state of a page; None if the URL was never fetched as a page."""
        query = f"SELECT {_STATE} FROM page JOIN visit ON visit.seq = page.first WHERE url = ?"
        found = next(self.log.query(query, (canonical(url) or url,)), None)
        return PageState(*found) if found else None

    def pages_array(self, *further: str) -> PageArray:
        """Return numbers of all pages, with further columns; they are read once."""
        if self._pages_array is None or not self._pages_array.has(*further):
            self._pages_array = PageArray.read(self.log, self.threshold, further)
        return self._pages_array

    def exchange(self, visit: Visit) -> Exchange | None:
        """Return the archived response or None; the body of a revisit record is that of the original."""
        return self.versions.exchange(visit)

    def document(self, visit: Visit, exchange: Exchange | None = None) -> ParsedPage:
        """Parse an archived page, or `exchange` if it was already read. Empty if no readable content is archived."""
        exchange = exchange or self.exchange(visit)
        if exchange is None:
            return ParsedPage(title=visit.title)
        try:
            body, _ = inflate(exchange.body, exchange.header("content-encoding"), MAX_BODY_BYTES)
        except BadEncoding:
            return ParsedPage(title=visit.title)
        kind = exchange.header("content-type")
        if "json" in kind and parse_node(visit.node)[0]:
            return read_document(body, visit.node)
        document = reparse_page(body, visit.node, kind, in_worker="apart" in visit.data)
        return document.without_main_part() if self.whole_text else document
