"""Cache of crawls: numbers of all pages as columns, and data derived from their logs."""

from __future__ import annotations

import json
import os
import threading
import time
from collections import OrderedDict
from collections.abc import Iterable, Mapping
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import TypeAlias

import numpy as np

from lycosa.collection.crawl_directory import CrawlDirectory
from lycosa.collection.pages import LoggedWords, PageArray
from lycosa.core.types import apply_label
from lycosa.store.log import NAME, SqliteLog
from lycosa.text.languages import ENGLISH
from lycosa.text.tokens import stems

Signature: TypeAlias = tuple[int, ...]


class CachedCrawl:
    def __init__(self, path: Path) -> None:
        self.path = path
        self.pages = PageArray()
        self.suggested: dict[str, tuple[object, object]] = {}  # by person: cache key and suggestions
        self.excerpts: dict[tuple[object, ...], str] = {}  # by version and highlights
        self.indexing = False  # True while a thread updates the search index
        self._signature: Signature | None = None
        self._words: tuple[tuple[str, ...], int, LoggedWords] | None = None
        self._lock = threading.Lock()

    @property
    def size(self) -> int:
        """Approximate memory in bytes."""
        words = len(self._words[2].words) + len(self._words[2].frequency) if self._words else 0
        return 1_000_000 + 2 * self.pages.rows.nbytes + 100 * words

    def reading(self) -> closing[SqliteLog]:
        """Open the log for a `with` block in this thread."""
        return closing(SqliteLog(self.path / NAME, readonly=True, busy_seconds=2.0))

    def refresh(self) -> None:
        """Read the pages again if the log has changed."""
        with self._lock:
            signature = log_signature(self.path / NAME)
            if signature is None:
                self.pages = PageArray()
            elif signature != self._signature:
                with self.reading() as log:
                    self.pages = PageArray.read(log, further=("started", "depth"))
                # Later writes within the clock's resolution would not change the signature, so read again.
                is_recent = time.time_ns() - max(signature[2::3]) < 100_000_000
                self._signature = None if is_recent else signature

    def now(self, labels: Mapping[str, bool], threshold: float | None = None) -> PageArray:
        """Return the pages with labels applied; labelled pages count even if they are copies.

        A `threshold` previews another one. Every count on a screen is computed from this.
        """
        pages = self.pages
        line = pages.threshold if threshold is None else threshold
        found = replace(pages, rows=pages.rows.copy(), threshold=line, answers=dict(pages.answers))
        if labels and len(pages):
            with self.reading() as log:
                labelled = places(log, pages, labels)
            for url, at in labelled.items():
                given, relevance_now = labels[url], found["relevance_now"].item(at)
                found["relevance_now"][at] = given if pages.probability else apply_label(relevance_now, given, line)
                found["copy"][at] = False
                found.answers[int(found["first"][at])] = given
        return found

    def words(self, collection: CrawlDirectory) -> LoggedWords:
        """Return the words of the crawl; they are read again once the log has grown by 1 %."""
        languages = [ENGLISH, *filter(None, collection.options.languages)]
        topic = collection.options.topic
        wanted = tuple(dict.fromkeys(stem for language in languages for stem in stems(topic, language)))
        kept, end = self._words, self.pages.end
        if kept is None or kept[0] != wanted or not kept[1] <= end <= kept[1] + kept[1] // 100:
            kept = self._words = wanted, end, LoggedWords(collection.log, wanted)
        return kept[2]


def places(log: SqliteLog, pages: PageArray, urls: Iterable[str]) -> dict[str, int]:
    """Return the indices in an array of those URLs that are pages."""
    query = """
        SELECT url, first FROM visit JOIN page ON page.first = visit.seq
        WHERE url IN (SELECT value FROM json_each(?)) ORDER BY first
    """
    found = dict(log.query(query, (json.dumps(list(urls)),)))
    at = np.searchsorted(pages["first"], list(found.values())).tolist()
    return {url: place for url, place in zip(found, at, strict=True) if place < len(pages)}  # others were fetched since


def log_signature(path: Path) -> Signature | None:
    """Return a value that changes whenever the log changes, or None without a log."""
    signature: Signature = ()
    for file in (path, f"{path}-wal"):
        try:
            stat = os.stat(file)
        except OSError:
            break
        signature += (stat.st_ino, stat.st_size, stat.st_mtime_ns)
    return signature or None


class CrawlCache:
    def __init__(self, max_bytes: int = 256_000_000) -> None:
        self.max_bytes = max_bytes
        self.stopping = threading.Event()  # set when the server shuts down, to end streams
        self._crawls: OrderedDict[Path, CachedCrawl] = OrderedDict()
        self._lock = threading.Lock()

    def __contains__(self, path: Path) -> bool:
        return path in self._crawls

    def get(self, path: Path) -> CachedCrawl:
        """Return a crawl, brought up to date."""
        with self._lock:
            cached = self._crawls.setdefault(path, CachedCrawl(path))
            self._crawls.move_to_end(path)
        cached.refresh()
        with self._lock:
            size = sum(one.size for one in self._crawls.values())
            while size > self.max_bytes and len(self._crawls) > 1:
                size -= self._crawls.popitem(last=False)[1].size
        return cached
