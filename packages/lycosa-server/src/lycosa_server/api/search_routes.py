"""Full-text search in the pages of a crawl."""

from __future__ import annotations

import threading
from contextlib import suppress
from typing import Annotated

from fastapi import APIRouter, Query
from pydantic import BaseModel

from lycosa.collection.crawl_directory import CrawlDirectory
from lycosa.collection.searching import Search, index_words
from lycosa.core.errors import LycosaError
from lycosa_server.api.page_routes import FilterQuery
from lycosa_server.crawl_cache import CachedCrawl, places
from lycosa_server.guards import CrawlAccess, crawl_to
from lycosa_server.people.text_input import clean_line
from lycosa_server.results import Label, LabelFilter, label_mask, label_of, open_crawl_directory

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
    collection = open_crawl_directory(cached.path)
    if collection is None:
        return SearchResultsOut(total=0, loosened=False, pages=0, results=[])
    now = cached.now(labels)
    with collection, Search(collection, patience=MAX_INDEXING_SECONDS) as searching:
        takes = None
        if labelled is not None:
            takes = set(now["seq"][label_mask(collection.log, now, labels, labelled)].tolist()).__contains__
        found = searching.find(words, limit=limit, offset=offset, accepts=takes, filters=filters)
        at = places(collection.log, now, [hit.url for hit in found])
    if found.behind and not cached.indexing:
        cached.indexing = True
        threading.Thread(target=_index, args=(cached,), name="indexing", daemon=True).start()
    results = []
    for hit in found:
        relevance = now["relevance_now"].item(at[hit.url]) if hit.url in at else hit.relevance
        times = {"fetched": hit.fetched.timestamp(), "changed": hit.changed.timestamp() if hit.changed else None}
        current = {"relevance": round(relevance, 6), "label": label_of(labels, hit.url)}
        results.append(SearchResultOut(**hit.as_dict() | times | current))
    counts = {"total": found.total, "pages": found.pages, "behind": found.behind}
    return SearchResultsOut(loosened=found.loosened, results=results, **counts)


def _index(cached: CachedCrawl) -> None:
    # the next search reports the error
    with suppress(LycosaError, OSError), CrawlDirectory(cached.path) as collection:
        index_words(collection)
    cached.indexing = False
