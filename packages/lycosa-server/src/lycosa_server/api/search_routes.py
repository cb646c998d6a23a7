"""Full-text search in the pages of a crawl."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import Annotated

import numpy as np
from fastapi import APIRouter, Query
from numpy.typing import NDArray
from pydantic import BaseModel

from lycosa.collection.crawl_directory import CrawlDirectory
from lycosa.collection.searching import Search, SearchHit, index_words
from lycosa.core.errors import LycosaError
from lycosa_server.api.page_routes import FilterQuery
from lycosa_server.guards import CrawlAccess, crawl_to
from lycosa_server.people.text_input import clean_line
from lycosa_server.results import CachedView, Label, LabelFilter, label_matches, label_of, open_crawl_directory

router = APIRouter(tags=["search"])

MAX_INDEXING_SECONDS = 5.0  # maximum duration of an index update within a request; a thread finishes longer ones


class SearchResultOut(BaseModel):
    """A search result. `spans` are the positions of the matched words in the snippet."""

    rank: int
    url: str
    title: str
    snippet: str
    spans: list[tuple[int, int]]
    relevance: float
    match_score: float
    host: str
    language: str
    fetched: float
    label: Label | None
    changed: float | None
    standing: str


class SearchResultsOut(BaseModel):
    """The best pages; `loosened` if they have only some of the words; `behind` counts pages not yet indexed."""

    total: int
    loosened: bool
    pages: int
    behind: int = 0
    results: list[SearchResultOut]


@router.get("/crawls/{crawl}/search")
def search(
    *,
    q: Annotated[str, Query(max_length=1_000)],
    labelled: LabelFilter | None = None,
    limit: Annotated[int, Query(ge=1, le=100)] = 20,
    offset: Annotated[int, Query(ge=0, le=1_000)] = 0,
    access: CrawlAccess = crawl_to("read", "read"),
    filters: FilterQuery,
) -> SearchResultsOut:
    """Search for words, "phrases", prefix*, -without. Filters are the same as for the list of pages.

    With `labelled`, the total covers the first thousand results. While a large crawl is indexed for the first time, the
    part indexed so far is searched, and `behind` counts the rest.
    """
    words = clean_line(q, "what to search for", 1_000, 1)
    labels, cached = access.labels, access.cached
    collection = open_crawl_directory(cached.view)
    if collection is None:
        return SearchResultsOut(total=0, loosened=False, pages=0, results=[])
    takes = _label_filter(cached, labels, labelled) if labelled else None
    with collection, Search(collection, patience=MAX_INDEXING_SECONDS) as searching:
        found = searching.find(words, limit=limit, offset=offset, accepts=takes, filters=filters)
    if found.behind and not cached.indexing:
        cached.indexing = True
        threading.Thread(target=_index, args=(cached,), name="indexing", daemon=True).start()
    relevances_now = cached.now(labels).relevances_now
    results = [_search_result(cached, hit, labels, relevances_now) for hit in found]
    counts = {"total": found.total, "pages": found.pages, "behind": found.behind}
    return SearchResultsOut(loosened=found.loosened, results=results, **counts)


def _label_filter(cached: CachedView, labels: Mapping[str, bool], labelled: LabelFilter) -> Callable[[int], bool]:
    with cached.view.lock:
        known = {page.seq: given for node, given in labels.items() if (page := cached.view.page(node)) is not None}
    return lambda seq: label_matches(labelled, known.get(seq))


def _search_result(
    cached: CachedView, hit: SearchHit, labels: Mapping[str, bool], relevances_now: NDArray[np.float64]
) -> SearchResultOut:
    page = cached.view.page(hit.url)
    relevance = hit.relevance
    if page is not None and page.number < len(relevances_now):
        relevance = relevances_now.item(page.number)
    times = {"fetched": hit.fetched.timestamp(), "changed": hit.changed.timestamp() if hit.changed else None}
    current = {"relevance": round(relevance, 6), "label": label_of(labels, hit.url)}
    return SearchResultOut(**hit.as_dict() | times | current)


def _index(cached: CachedView) -> None:
    # the next search reports the error
    with suppress(LycosaError, OSError), CrawlDirectory(cached.view.path) as collection:
        index_words(collection)
    cached.indexing = False
