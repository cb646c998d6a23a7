"""The crawls that are looked at: a cache of their views."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

import numpy as np
from fastapi import HTTPException
from numpy.typing import NDArray

from lycosa.collection.estimate import Estimate, estimate
from lycosa.collection.rows import PageRow
from lycosa.collection.view import CrawlView
from lycosa.core.errors import LockedError, StoreError
from lycosa.core.types import settled
from lycosa.server.logs import log

ROOM = 256_000_000
"""Bytes that all views may take; the one in use may be larger."""

MOST = 200
"""Views at once, however small."""


class CachedView:
    """The view of a crawl, and what was worked out about it.

    What pages are worth is as the log says, but people's word comes first, before it is logged. A `threshold` is
    another one than the crawl's: to see what would be relevant by it.
    """

    def __init__(self, path: Path) -> None:
        self.view = CrawlView(path)
        self.arranged: OrderedDict[object, object] = OrderedDict()
        """Orders that took long, with what they depend on."""
        self.excerpts: dict[tuple[int, int], str] = {}
        """By the number of the version, and the words that are looked for."""
        self.indexed = 0
        """Up to which event the search index is known to be made."""
        self.indexing: threading.Thread | None = None

    def remember(self, key: object, value: object, most: int = 8) -> None:
        """Keep something that was worked out, and forget what is oldest."""
        with self.view.lock:
            self.arranged[key] = value
            while len(self.arranged) > most:
                self.arranged.popitem(last=False)

    def scores(
        self, labels: Mapping[str, bool], threshold: float | None = None
    ) -> tuple[list[PageRow], NDArray[np.float64]]:
        """All pages, copies among them, and the score of each."""
        with self.view.lock:
            pages = self.view.pages(copies=True)
            scores = np.array([page.worth for page in pages], float)
            for page, relevant in self._labelled(labels):
                scores[page.place] = self._settled(page.worth, relevant, threshold)
            return pages, scores

    def estimate(self, labels: Mapping[str, bool], threshold: float | None = None) -> Estimate:
        """How many pages are relevant, as `lycosa show` tells it."""
        with self.view.lock:
            worths, counted, pages = self.view.firsts()
            for page, relevant in self._labelled(labels):
                worths[page.number] = self._settled(worths[page.number], relevant, threshold)
            line = self.view.threshold if threshold is None else threshold
            return estimate(worths[counted], line, pages, self.view.probability)

    def _labelled(self, labels: Mapping[str, bool]) -> Iterator[tuple[PageRow, bool]]:
        for node, relevant in labels.items():
            page = self.view.page(node)
            if page is not None and not page.foreign:
                yield page, relevant

    def _settled(self, worth: float, relevant: bool, threshold: float | None) -> float:
        if self.view.probability:
            return float(relevant)
        return settled(worth, relevant, self.view.threshold if threshold is None else threshold)


class ViewCache:
    """One for each crawl directory, made when it is first asked for."""

    def __init__(self, room: int = ROOM, most: int = MOST) -> None:
        self.room, self.most = room, most
        self.stopping = threading.Event()
        """Set when the server stops: streams end."""
        self._views: OrderedDict[Path, CachedView] = OrderedDict()
        self._lock = threading.Lock()

    def __len__(self) -> int:
        return len(self._views)

    def __contains__(self, path: Path) -> bool:
        return path in self._views

    def get(self, path: Path) -> CachedView:
        """The view of a directory, brought up to date."""
        with self._lock:
            cached = self._views.get(path)
            if cached is None:
                cached = self._views[path] = CachedView(path)
            self._views.move_to_end(path)
        with explained():
            cached.view.catch_up()
        self._make_room()
        return cached

    def stop(self) -> None:
        self.stopping.set()

    def _make_room(self) -> None:
        """Let go of those that nobody has asked for longest. Who still reads one keeps it until they are done."""
        with self._lock:
            size = sum(cached.view.size for cached in self._views.values())
            while len(self._views) > 1 and (size > self.room or len(self._views) > self.most):
                _, oldest = self._views.popitem(last=False)
                size -= oldest.view.size


@contextmanager
def explained() -> Iterator[None]:
    """What a crawl's directory refuses, as an answer: it is nobody's mistake who asked."""
    try:
        yield
    except LockedError as error:
        raise HTTPException(503, "the crawl's log is in use: try again in a moment", _SOON) from error
    except StoreError as error:
        log("crawl unreadable", "error", why=str(error))  # where it lies is for the log alone
        raise HTTPException(503, "the crawl's directory can't be read: contact the administrator") from error
    except OSError as error:
        raise HTTPException(503, f"the crawl's directory can't be read: {error.strerror}", _SOON) from error


_SOON = {"Retry-After": "2"}
