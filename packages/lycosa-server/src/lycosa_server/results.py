"""Pages of a crawl for the API: filtering, sorting and formatting, and the cache of crawl views."""

from __future__ import annotations

import threading
import time
from collections import OrderedDict
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray
from pydantic import BaseModel

from lycosa.collection.crawl_directory import CrawlDirectory
from lycosa.collection.estimate import Estimate, estimate
from lycosa.collection.page_rows import PageRow
from lycosa.collection.querying import Filters
from lycosa.collection.report.cards import topic_highlights
from lycosa.collection.search_text import main_text
from lycosa.collection.snippets import snippet
from lycosa.collection.view import CrawlView, Origin
from lycosa.core.errors import InputError, StoreError
from lycosa.core.types import apply_label
from lycosa.store.directory import CONFIG
from lycosa.store.log import NAME

LabelFilter = Literal["yes", "no", "any", "none"]
Label = Literal["yes", "no"]
Order: TypeAlias = Literal["relevance", "frequency", "date"]

MAX_EXCERPT_SECONDS = 0.15  # maximum time that a response spends on reading excerpts; later ones add the others


@dataclass(frozen=True, slots=True)
class FetchReason(Origin):
    priority: float = 0.0


class PageOut(BaseModel):
    seq: int
    url: str
    title: str
    host: str
    language: str
    relevance: float
    relevance_when_fetched: float
    fetched: float
    changed: float | None
    standing: Literal["stands", "vanished", "moved"]
    label: Label | None
    relevant: bool
    frequency: int
    excerpt: str | None
    why: FetchReason


@dataclass(frozen=True, slots=True)
class PageFilter:
    filters: Filters
    labelled: LabelFilter | None = None
    relevant: bool | None = None  # None: only relevant pages, unless `labelled` is set
    threshold: float | None = None  # threshold to use instead of the crawl's


def label_of(labels: Mapping[str, bool], node: str) -> Label | None:
    given = labels.get(node)
    return None if given is None else "yes" if given else "no"


def label_matches(labelled: LabelFilter, given: bool | None) -> bool:
    return {"yes": given is True, "no": given is False, "any": given is not None, "none": given is None}[labelled]


def select_pages(cached: CachedView, labels: Mapping[str, bool], wanted: PageFilter, order: Order) -> list[PageRow]:
    with cached.view.lock:
        now = cached.now(labels, wanted.threshold)
        everything = (PageRow(cached.view, number) for number in np.flatnonzero(now.counted).tolist())
        passing = [page for page in everything if _matches(wanted, page, now, labels)]
        scores = now.relevances_now[[page.number for page in passing]]
        return [passing[at] for at in page_order(passing, scores, order)]


def page_order(pages: Sequence[PageRow], scores: NDArray[np.float64], order: Order) -> list[int]:
    """Return the order of pages; ties are broken by relevance, then by fetch order.

    frequency: the ranking of Trivedi et al. 2014 (III, Relevance Calculation; `judges/counting.py`), by stems.
    date: newest first, by the last significant change or, without one, by the first fetch.
    """
    first = np.zeros(len(pages))
    if order == "frequency":
        first = np.array([page.frequency for page in pages], float)
    elif order == "date":
        first = np.array([page.changed or page.started for page in pages], float)
    places: list[int] = np.lexsort((-scores, -first)).tolist()
    return places


def _matches(wanted: PageFilter, page: PageRow, now: CurrentPages, labels: Mapping[str, bool]) -> bool:
    given, labelled, filters = labels.get(page.node), wanted.labelled, wanted.filters
    if labelled is not None and not label_matches(labelled, given):
        return False
    relevant = wanted.relevant
    if relevant is None and labelled in (None, "none"):
        relevant = True
    if relevant is not None and relevant != now.relevant[page.number]:
        return False
    if not filters.start <= page.started < filters.end:
        return False
    if filters.changed is not None and page.changed < max(1.0, filters.changed):
        return False
    if filters.hosts and not any(test(page.host) for test in filters.hosts):
        return False
    return not filters.languages or any(test(page.language) for test in filters.languages)


class PageFormatter:
    def __init__(
        self, cached: CachedView, collection: CrawlDirectory, labels: Mapping[str, bool], threshold: float | None = None
    ) -> None:
        self.cached, self.collection, self.labels = cached, collection, labels
        self.now = cached.now(labels, threshold)
        self._until = time.monotonic() + MAX_EXCERPT_SECONDS
        learned = [term for term in cached.view.topic if term]
        self._marks = topic_highlights(collection.options, learned)

    def page(self, page: PageRow) -> PageOut:
        view = self.cached.view
        return PageOut(
            seq=page.seq,
            url=page.node,
            title=page.title,
            host=page.host,
            language=page.language,
            relevance=round(self.now.relevances_now.item(page.number), 6),
            relevance_when_fetched=page.relevance,
            fetched=page.started,
            changed=page.changed or None,
            standing=page.state,
            label=label_of(self.labels, page.node),
            relevant=self.now.relevant.item(page.number),
            frequency=page.frequency,
            excerpt=self._excerpt(page),
            why=fetch_reason(view.origin(self.collection.log, page.node), page.pick),
        )

    def _excerpt(self, page: PageRow) -> str | None:
        kept, key = self.cached.excerpts, (page.seq, hash(self.cached.view.topic))
        if key not in kept:
            if time.monotonic() > self._until:
                return None
            text = self._read(page.seq)
            with self.cached.view.lock:
                kept[key] = text
                while len(kept) > 2_000:
                    del kept[next(iter(kept))]
            return text
        return kept[key]

    def _read(self, seq: int) -> str:
        visit = next(self.collection.log.visits("seq = ?", given=(seq,)), None)
        if visit is None:
            return ""
        try:
            document = self.collection.document(visit)
        except (StoreError, OSError):
            return ""
        return snippet(main_text(document), self._marks, 240).text


def fetch_reason(origin: Origin, priority: float) -> FetchReason:
    return FetchReason(**asdict(origin), priority=priority if np.isfinite(priority) else 0.0)


def open_crawl_directory(view: CrawlView) -> CrawlDirectory | None:
    try:
        return CrawlDirectory(view.path, view=view)
    except InputError as error:
        # the configuration was edited by hand, for example
        if (view.path / CONFIG).exists() and (view.path / NAME).exists():
            raise StoreError(str(error)) from error
        return None


@dataclass(frozen=True, slots=True)
class CurrentPages:
    """Arrays with a value per page of a crawl, by vertex; every count on a screen is computed from them."""

    relevances_now: NDArray[np.float64]
    counted: NDArray[np.bool_]  # pages that are no duplicates, and labelled ones
    relevant: NDArray[np.bool_]  # relevant pages among `counted`
    pages: int  # number of crawled pages


class CachedView:
    """View of a crawl with data derived from it. Labels apply at once; a `threshold` previews another one."""

    def __init__(self, path: Path) -> None:
        self.view = CrawlView(path)
        self.suggested: dict[str, tuple[object, object]] = {}  # by person: cache key and suggestions
        # by sequence number and hash of the topic's words
        self.excerpts: dict[tuple[int, int], str] = {}
        self.indexing = False  # True while a thread updates the search index

    def now(self, labels: Mapping[str, bool], threshold: float | None = None) -> CurrentPages:
        with self.view.lock:
            line = self.view.threshold if threshold is None else threshold
            relevances_now, counted = self.view.column("relevance_now").astype(float), self.view.current()
            for node, relevant in labels.items():
                if (page := self.view.page(node)) is not None:
                    relevance_now = relevances_now[page.number]
                    relevances_now[page.number] = (
                        relevant if self.view.probability else apply_label(relevance_now, relevant, line)
                    )
                    counted[page.number] = True
            return CurrentPages(
                relevances_now, counted, counted & (relevances_now >= line), int(self.view.column("crawled").sum())
            )

    def scores(self, labels: Mapping[str, bool]) -> tuple[list[PageRow], NDArray[np.float64]]:
        with self.view.lock:
            pages = self.view.pages(copies=True)
            return pages, self.now(labels).relevances_now[[page.number for page in pages]]

    def estimate(self, labels: Mapping[str, bool], threshold: float | None = None) -> Estimate:
        with self.view.lock:
            now = self.now(labels, threshold)
            line = self.view.threshold if threshold is None else threshold
            return estimate(
                now.relevances_now[now.counted], line, now.pages, self.view.probability, self.view.count_widths
            )


class ViewCache:
    def __init__(self, max_bytes: int = 256_000_000, max_views: int = 200) -> None:
        self.max_bytes, self.max_views = max_bytes, max_views
        self.stopping = threading.Event()  # set when the server shuts down, to end streams
        self._views: OrderedDict[Path, CachedView] = OrderedDict()
        self._lock = threading.Lock()

    def __contains__(self, path: Path) -> bool:
        return path in self._views

    def get(self, path: Path) -> CachedView:
        with self._lock:
            cached = self._views.get(path)
            if cached is None:
                cached = self._views[path] = CachedView(path)
            self._views.move_to_end(path)
        cached.view.catch_up()
        self._evict()
        return cached

    def _evict(self) -> None:
        with self._lock:
            size = sum(cached.view.size for cached in self._views.values())
            while len(self._views) > 1 and (size > self.max_bytes or len(self._views) > self.max_views):
                _, oldest = self._views.popitem(last=False)
                size -= oldest.view.size
