"""A crawl's directory, opened for reading: its pages in order, and what the archive holds of each.

Works beside a running crawl, and streams: the view of the crawl (view.py) is in memory, and one page at a time.
"""

from __future__ import annotations

import json
import math
from array import array
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Self

import numpy as np

from lycosa.collection.page_rows import PageFate
from lycosa.collection.view import CrawlView
from lycosa.core.errors import InputError
from lycosa.core.types import Exchange, Visit
from lycosa.spaces.mastodon import place, read_document
from lycosa.store.directory import Directory
from lycosa.store.log import NAME, SqliteLog
from lycosa.store.versions import Versions
from lycosa.web.html import ParsedPage
from lycosa.web.inflate import BadEncoding, inflate
from lycosa.web.parse_process import read_again
from lycosa.web.urls import canonical

INFLATED = 10_000_000  # bytes of a body that are read, as while crawling
SLICE = 500  # visits that are read before the log is let go of for a moment


def check_threshold(threshold: float, probability: bool) -> None:
    """Whether a page can be worth so much."""
    if not math.isfinite(threshold) or threshold < 0.0 or (probability and threshold > 1.0):
        upto = "from 0 to 1" if probability else "0 or more"
        raise InputError(f"the threshold is {threshold:g}: it must be {upto}")


class CrawlDirectory:
    """Pages of a crawl, with their text.

    A page is a visit that brought content; of a page that was looked at again, the last that brought other content.
    One that repeats another's (`visit.same_as`) is left out unless `copies` are asked for. What counts is what a page
    is worth now (`visit.relevance_now`), not what was said of it when it was fetched. `view`: one that somebody keeps.
    """

    def __init__(
        self, path: Path, threshold: float | None = None, *, whole_text: bool = False, view: CrawlView | None = None
    ) -> None:
        self.path = path
        self._view = view
        self.options = Directory.read_options(path)
        self.whole_text = whole_text or self.options.whole_text  # read pages as a whole, rather than their main part
        if not (path / NAME).exists():
            raise InputError(f"nothing has been crawled in {path} yet: start with 'lycosa resume {path}'")
        self.log = SqliteLog(path / NAME, readonly=True)
        self.versions = Versions(self.log, path / "archive")
        # the crawl's own, unless another one was given
        self.threshold = float(self.log.setting("threshold", 0.0)) if threshold is None else threshold
        self.probability = bool(self.log.setting("probability", False))  # relevance is a probability
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
        """Let go of the log."""
        self.log.close()

    def pages(self, *, at_least: float = 0.0, copies: bool = False) -> Iterator[tuple[int, Visit]]:
        """Pages that are worth so much and their numbers in the log, in its order.

        Both are of the version that stands now, so a page that changes moves towards the end.
        """
        view = self.view()
        chosen = view.current(copies=copies) & (view.column("relevance_now") >= at_least)
        return self.visits(np.sort(view.column("seq")[chosen]).tolist())

    def visits(self, numbers: Sequence[int] | array[int]) -> Iterator[tuple[int, Visit]]:
        """Visits by their numbers in the log, in its order, a slice at a time: a crawl may write it meanwhile."""
        for start in range(0, len(numbers), SLICE):
            wanted = json.dumps(list(numbers[start : start + SLICE]))
            for seq, visit in self.log.numbered("seq IN (SELECT value FROM json_each(?))", given=(wanted,)):
                assert isinstance(visit, Visit)
                yield seq, visit

    def relevant(self) -> Iterator[Visit]:
        """The relevant pages, each content once: what the harvest counts."""
        return (visit for _, visit in self.pages(at_least=self.threshold))

    def history(self, url: str) -> list[Visit]:
        """Every visit of a URL, in order."""
        return list(self.log.visits("node = ?", given=(canonical(url) or url,)))

    def fate(self, url: str) -> PageFate | None:
        """What has become of a page: whether it stands, has vanished or moved, and since when; None for no page."""
        return PageFate.of(self.history(url))

    def view(self) -> CrawlView:
        """The crawl as a whole, as it is now: read when it is first asked for, which takes a while."""
        if self._view is None:
            self._view = CrawlView(self.path, content=False)
        self._view.catch_up()
        return self._view

    def exchange(self, visit: Visit) -> Exchange | None:
        """The answer as it was received, None where nothing is archived; the body of a revisit is its original's."""
        return self.versions.exchange(visit)

    def document(self, visit: Visit, exchange: Exchange | None = None) -> ParsedPage:
        """Title, text and links of an archived page; an empty document where nothing readable is archived.

        `exchange`, if it was read already, spares reading it again.
        """
        exchange = exchange or self.exchange(visit)
        if exchange is None:
            return ParsedPage(title=visit.title)
        try:
            body, _ = inflate(exchange.body, exchange.header("content-encoding"), INFLATED)
        except BadEncoding:
            return ParsedPage(title=visit.title)
        kind = exchange.header("content-type")
        if "json" in kind and place(visit.node)[0]:
            return read_document(body, visit.node)
        document = read_again(body, visit.node, kind, apart="apart" in visit.data)
        return document.whole() if self.whole_text else document
