"""Pages of a crawl for the API: selection, sorting and formatting."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray
from pydantic import BaseModel

from lycosa.collection.crawl_directory import CrawlDirectory
from lycosa.collection.pages import Origin, PageArray, origin_of, pages_at
from lycosa.collection.querying import Filters, sql_in
from lycosa.collection.report.cards import topic_highlights
from lycosa.collection.search_text import main_text
from lycosa.collection.snippets import snippet
from lycosa.core.errors import InputError, StoreError
from lycosa.store.directory import CONFIG
from lycosa.store.log import NAME, SqliteLog
from lycosa_server.crawl_cache import CachedCrawl, places

LabelFilter = Literal["yes", "no", "any", "none"]
Label = Literal["yes", "no"]
Order: TypeAlias = Literal["relevance", "frequency", "date"]

MAX_EXCERPT_SECONDS = 0.15  # maximum time that a response spends on reading excerpts; later ones add the others
MAX_EXCERPTS = 2_000


@dataclass(frozen=True, slots=True)
class FetchReason(Origin):
    priority: float = 0.0


class PageOut(BaseModel):
    """A page. `frequency` counts the words of the topic, and is given only with `order=frequency`."""

    seq: int
    url: str
    title: str
    host: str
    language: str
    relevance: float
    relevance_when_fetched: float
    fetched: float
    changed: float | None
    standing: str
    label: Label | None
    relevant: bool
    frequency: int | None
    excerpt: str | None
    why: FetchReason


def label_of(labels: Mapping[str, bool], url: str) -> Label | None:
    given = labels.get(url)
    return None if given is None else "yes" if given else "no"


def label_mask(
    log: SqliteLog, pages: PageArray, labels: Mapping[str, bool], labelled: LabelFilter
) -> NDArray[np.bool_]:
    """Return a mask of the pages with this label, with any, or with none."""
    wanted = [url for url in labels if labelled in ("any", "none", label_of(labels, url))]
    mask = np.zeros(len(pages), np.bool_)
    mask[list(places(log, pages, wanted).values())] = True
    return ~mask if labelled == "none" else mask


def select_pages(
    log: SqliteLog,
    pages: PageArray,
    labels: Mapping[str, bool],
    filters: Filters,
    labelled: LabelFilter | None,
    relevant: bool | None,
) -> NDArray[np.intp]:
    """Return the pages that pass the filters; only relevant ones, unless `labelled` or `relevant` says otherwise."""
    chosen = pages.counted
    if labelled is not None:
        chosen = chosen & label_mask(log, pages, labels, labelled)
    if relevant is not None or labelled in (None, "none"):
        chosen = chosen & (pages.relevant != (relevant is False))
    if filters != Filters.of():
        chosen = chosen & _filter_mask(log, pages, filters)
    return np.flatnonzero(chosen)


def _filter_mask(log: SqliteLog, pages: PageArray, filters: Filters) -> NDArray[np.bool_]:
    joined = "FROM page JOIN visit ON visit.seq = page.current"
    where, values = "started >= ? AND started < ?", list[object]((filters.start, filters.end))
    if filters.changed is not None:
        where += " AND changed >= ?"
        values.append(max(1.0, filters.changed))
    for column, tests in (("host", filters.hosts), ("language", filters.languages)):
        if tests:
            names = [name for (name,) in log.query(f"SELECT DISTINCT {column} {joined}")]
            where += f" AND {column} {sql_in([name for name in names if any(test(name) for test in tests)], values)}"
    found = [first for (first,) in log.query(f"SELECT first {joined} WHERE {where}", values)]
    return np.isin(pages["first"], found)


def sort_key(collection: CrawlDirectory, cached: CachedCrawl, pages: PageArray, order: Order) -> NDArray[np.float64]:
    """Return the values by which pages are sorted, the highest first.

    frequency: the ranking of Trivedi et al. 2014 (III, Relevance Calculation; `judges/counting.py`), by stems.
    date: the time of the last significant change or, without one, of the fetch.
    """
    if order == "frequency":
        frequency = cached.words(collection).frequency
        return np.array([frequency.get(seq, 0) for seq in pages["seq"].tolist()], float)
    if order == "date":
        dates: NDArray[np.float64] = pages["started"].copy()
        for first, changed in collection.log.query(
            "SELECT first, changed FROM page WHERE changed AND first <= ?", (pages.end,)
        ):
            dates[np.searchsorted(pages["first"], first)] = changed
        return dates
    return np.zeros(len(pages))


class PageFormatter:
    """Formats pages, given by their indices in an array with labels applied."""

    def __init__(
        self, collection: CrawlDirectory, cached: CachedCrawl, pages: PageArray, labels: Mapping[str, bool]
    ) -> None:
        self.collection, self.cached, self.pages, self.labels = collection, cached, pages, labels
        self._until = time.monotonic() + MAX_EXCERPT_SECONDS
        learned = collection.log.setting("learned", {})  # terms learned from examples
        terms = sorted(learned, key=lambda term: (-learned[term], term))[:12] if isinstance(learned, dict) else []
        self._marks = tuple(topic_highlights(collection.options, terms))

    def format(self, chosen: Sequence[int], frequency: NDArray[np.float64] | None = None) -> list[PageOut]:
        rows = pages_at(self.collection.log, self.pages["first"][list(chosen)].tolist())
        return [
            PageOut(
                seq=row.seq,
                url=row.url,
                title=row.title,
                host=row.host,
                language=row.language,
                relevance=round(self.pages["relevance_now"].item(at), 6),
                relevance_when_fetched=row.relevance,
                fetched=row.started,
                changed=row.changed or None,
                standing=row.state,
                label=label_of(self.labels, row.url),
                relevant=self.pages.relevant.item(at),
                frequency=None if frequency is None else int(frequency[at]),
                excerpt=self._excerpt(row.seq),
                why=fetch_reason(self.collection.log, row.url, row.priority),
            )
            for at, row in zip(chosen, rows, strict=True)
        ]

    def _excerpt(self, seq: int) -> str | None:
        kept, key = self.cached.excerpts, (seq, self._marks)
        text = kept.get(key)
        if text is None and time.monotonic() <= self._until:
            if len(kept) >= MAX_EXCERPTS:
                kept.clear()
            text = kept[key] = self._read(seq)
        return text

    def _read(self, seq: int) -> str:
        try:
            document = self.collection.document(self.collection.log.visit(seq))
        except (StoreError, OSError):
            return ""
        return snippet(main_text(document), self._marks, 240).text


def fetch_reason(log: SqliteLog, url: str, priority: float) -> FetchReason:
    return FetchReason(**asdict(origin_of(log, url)), priority=priority if np.isfinite(priority) else 0.0)


def open_crawl_directory(path: Path) -> CrawlDirectory | None:
    """Open a crawl; None if it has not fetched anything yet."""
    try:
        return CrawlDirectory(path)
    except InputError as error:
        if (path / CONFIG).exists() and (path / NAME).exists():  # the configuration was edited by hand, for example
            raise StoreError(str(error)) from error
        return None
