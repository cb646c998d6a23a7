"""Full-text search over a crawl's pages: words, phrases, prefixes and filters, ranked by BM25, with snippets.

The index is updated from the log before each search, under a lock: one process builds, others wait. Snippets are read
from the archive for the pages shown, so no text is stored twice.
"""

from __future__ import annotations

import fcntl
import math
import os
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Any, NamedTuple, Self

import numpy as np
import xxhash
from numpy.typing import NDArray

from lycosa.collection.crawl_directory import CrawlDirectory, check_threshold
from lycosa.collection.querying import Clause, Filters, Query, parse, sql_in, stem_prefix, word_forms
from lycosa.collection.search_text import clean, fold, main_text, separate_words
from lycosa.collection.snippets import Highlight, Snippet, snippet
from lycosa.core.errors import InputError, StoreError
from lycosa.core.progress import ProgressCallback, no_progress
from lycosa.core.types import Visit
from lycosa.store.directory import is_running
from lycosa.store.log import RELEVANCE_NOW, VERSIONS, host_of
from lycosa.store.search import NAME, IndexDamaged, IndexedPage, SearchIndex, index_lock
from lycosa.web.html import ParsedPage

# maximum pages and characters per index transaction, to limit memory and the work that is lost by a kill
BATCH_PAGES, BATCH_CHARACTERS = 2_000, 50_000_000
EVENTS_PER_QUERY = 5_000  # events scanned per query for new pages
SMALL_CRAWL_EVENTS = 10_000  # number of events up to which every search waits for a complete index
LOCK_TIMEOUT_SECONDS = 0.5  # waiting time for the lock if an incomplete index is acceptable


@dataclass(frozen=True, slots=True)
class SearchHit:
    """Page that matches a query."""

    rank: int
    url: str
    title: str
    snippet: Snippet
    relevance: float  # relevance by the current judge
    match_score: float  # BM25
    host: str
    language: str
    fetched: datetime
    same_as: str = ""
    changed: datetime | None = None  # time of the last change of its main text; None if it never changed
    standing: str = "stands"  # state of the page: "stands", "vanished" or "moved"; the last version is shown
    since: datetime | None = None

    def as_dict(self) -> dict[str, Any]:
        return {
            "rank": self.rank,
            "url": self.url,
            "title": self.title,
            "snippet": self.snippet.text,
            "spans": [list(span) for span in self.snippet.spans],
            "relevance": round(self.relevance, 4),
            "match_score": round(self.match_score, 4),
            "host": self.host,
            "language": self.language,
            "fetched": self.fetched.isoformat(timespec="seconds"),
            "same_as": self.same_as,
            "changed": self.changed.isoformat(timespec="seconds") if self.changed else None,
            "standing": self.standing,
            "since": self.since.isoformat(timespec="seconds") if self.since else None,
        }


@dataclass(slots=True)
class Results:
    """Search results, best first."""

    hits: list[SearchHit] = field(default_factory=list)
    total: int = 0
    loosened: bool = False  # True if no page matches all terms; the hits match some
    pages: int = 0  # number of pages that passed the filters
    unread: int = 0  # pages with a title only, because no readable content is archived
    behind: int = 0  # approximate number of pages that are not indexed yet

    def __iter__(self) -> Iterator[SearchHit]:
        return iter(self.hits)

    def __len__(self) -> int:
        return len(self.hits)

    def as_dict(self) -> dict[str, Any]:
        return {
            "total": self.total,
            "counted": True,
            "loosened": self.loosened,
            "pages": self.pages,
            "unread": self.unread,
            "behind": self.behind,
            "hits": [hit.as_dict() for hit in self.hits],
        }


class Progress:
    """Callbacks for the progress of indexing; by default they do nothing."""

    def waiting(self) -> None:
        """Called when another process is building the index."""

    def indexed(self, pages: int, share: float) -> None:
        """Called with the pages indexed so far and the share of the log processed."""


class Search:
    """Full-text search over a crawl.

    ```python
    with CrawlDirectory(Path("reefs")) as collection, Search(collection) as search:
        for hit in search.find("coral bleaching", languages=["en"], since="2026-03-01"):
            print(hit.url, hit.title, hit.snippet)
    ```
    """

    def __init__(
        self, collection: CrawlDirectory, progress: Progress | None = None, patience: float | None = None
    ) -> None:
        self.collection = collection
        self.progress = progress or Progress()
        self.patience = patience  # approximate time limit in seconds for updating the index; None for no limit
        self.behind = 0  # events of the log that are not indexed yet
        self._index: SearchIndex | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def close(self) -> None:
        if self._index is not None:
            self._index.close()
            self._index = None

    def find(
        self,
        words: str,
        *,
        limit: int = 10,
        hosts: Sequence[str] = (),
        languages: Sequence[str] = (),
        since: str | date = "",
        until: str | date = "",
        threshold: float = 0.0,
        copies: bool = False,
        changed: float | None = None,
        width: int = 240,
        offset: int = 0,
        accepts: Callable[[int], bool] | None = None,
        filters: Filters | None = None,
    ) -> Results:
        """Return the best `limit` pages for the query, with snippets of about `width` characters.

        A host includes its subdomains, a language its regions; days are UTC, inclusive. `changed` keeps pages that
        changed since then (seconds since the epoch; 0: ever), beyond cosmetic changes; `filters` replaces all of these.
        `offset` skips the first results. `accepts` is an additional filter by sequence number; with it, `total` counts
        among the best 1,000 results only.
        """
        if limit < 1:
            raise InputError("out-of-range", f"the limit is {limit}: it must be 1 or more")
        check_threshold(threshold, probability=False)
        query = parse(words)
        depth = offset + limit if accepts is None else 1_000
        filters = filters or Filters.of(hosts, languages, since, until, changed)
        try:
            answer = self._query(self.update(), query, filters, threshold, copies, depth)
        except IndexDamaged:  # rebuild once; if that fails as well, raise
            answer = self._query(self.update(rebuild=True), query, filters, threshold, copies, depth)
        best, total = answer.best, answer.total
        if accepts is not None:
            best = [page for page in best if accepts(page.seq)]
            total = len(best)
        shown = best[offset : offset + limit]
        hits = [self._search_hit(rank, page, answer.marks, width) for rank, page in enumerate(shown, offset + 1)]
        return Results(hits, total, answer.loosened, answer.searched, answer.unread, self.behind)

    def _query(
        self, index: SearchIndex, query: Query, filters: Filters, threshold: float, copies: bool, limit: int
    ) -> SearchResult:
        with index.reading():
            where, values = filters.where(index)
            if not copies:
                where += " AND NOT copy"
            if threshold > 0:  # the index has only the relevance at the time of indexing
                relevant = self.collection.log.rows("seq", f"{VERSIONS} AND {RELEVANCE_NOW} >= ?", given=(threshold,))
                where += f" AND seq {sql_in([seq for (seq,) in relevant], values)}"
            return IndexRanking(index, where, values).search(query, limit)

    def _search_hit(self, rank: int, page: RankedPage, marks: Sequence[Highlight], width: int) -> SearchHit:
        visit = self.collection.log.visit(page.seq)
        document, _ = self._read(visit)
        state = self.collection.state(visit.node)
        return SearchHit(
            rank,
            visit.node,
            clean(document.title or visit.title),
            snippet(main_text(document), marks, width),
            visit.relevance_now,
            page.weight,
            host_of(visit.node),
            clean(visit.language),
            datetime.fromtimestamp(visit.started, UTC),
            visit.same_as,
            _moment(state.changed) if state is not None else None,
            state.state if state is not None else "stands",
            _moment(state.since) if state is not None and state.state != "stands" else None,
        )

    def _read(self, visit: Visit) -> tuple[ParsedPage, bool]:
        """Return an archived page, and whether anything readable is archived."""
        try:
            exchange = self.collection.exchange(visit)
        except StoreError:
            exchange = None
        if exchange is None or (visit.size and not exchange.body):
            return ParsedPage(title=visit.title), False
        return self.collection.document(visit, exchange), True

    def update(self, *, rebuild: bool = False) -> SearchIndex:
        """Update the index to the end of the log, or as far as `patience` allows; `rebuild` rebuilds it."""
        path = self.collection.path / NAME
        deadline = None if self.patience is None else time.monotonic() + self.patience
        # Without an index nothing can be searched, so wait for it to be built; a small crawl is indexed quickly.
        allows_partial = self.patience is not None and path.exists() and self.collection.log.end() > SMALL_CRAWL_EVENTS
        patience = LOCK_TIMEOUT_SECONDS if allows_partial else None
        with index_lock(self.collection.path, self.progress.waiting, patience) as is_locked:
            if self._index is not None and self._index.is_replaced:
                self.close()
            index = self._index = self._index or SearchIndex(path, is_locked=is_locked)
            if not is_locked or not self._update_index(index, rebuild, deadline):
                self.behind = max(0, self.collection.log.end() - index.last()[0])
            else:
                self.behind = 0
        return index

    def _update_index(self, index: SearchIndex, rebuild: bool, deadline: float | None) -> bool:
        """Extend the index; return True if it reached the end of the log."""
        if rebuild or not self._is_valid(index):
            index.clear()
        before, _ = index.last()
        try:
            done = self._extend(index, deadline)
        except IndexDamaged:
            index.clear()
            done = self._extend(index, deadline)
        if index.last()[0] > before and index.is_mostly_outdated():
            index.clear()
            done = self._extend(index, deadline)
        return done

    def _is_valid(self, index: SearchIndex) -> bool:
        """Return True if the index belongs to this log: its last event still exists unchanged."""
        try:
            last, mark = index.last()
        except IndexDamaged:
            return False
        return not last or mark == self._event_digest(last)

    def _event_digest(self, seq: int) -> str:
        found = next(self.collection.log.rows("url, digest, started", "seq = ?", given=(seq,)), None)
        return "" if found is None else xxhash.xxh3_64_hexdigest(repr(found).encode("utf-8", "surrogatepass"))

    def _extend(self, index: SearchIndex, deadline: float | None) -> bool:
        """Index the new events until the deadline; return True if all were indexed."""
        start, _ = index.last()
        # Fixed, because a running crawl may be faster than indexing.
        end = next(self.collection.log.rows("MAX(seq)"))[0] or 0
        batch: list[IndexedPage] = []
        characters, is_complete = 0, True
        for done, entry in enumerate(self._new_pages(start, end), 1):
            batch.append(entry)
            characters += len(entry.text)
            if len(batch) >= BATCH_PAGES or characters >= BATCH_CHARACTERS:
                index.add(batch, self._event_digest(entry.seq))
                batch, characters = [], 0
            self.progress.indexed(done, (entry.seq - start) / (end - start))
            if deadline is not None and time.monotonic() >= deadline:
                is_complete = False
                break
        if batch:
            index.add(batch, self._event_digest(batch[-1].seq))
        return is_complete

    def _new_pages(self, after: int, end: int) -> Iterator[IndexedPage]:
        """Yield the pages of a range of events in log order, each in its newest version of that range."""
        # In slices of the log, as scanning all of a long one would take too long. A page with versions in two slices is
        # indexed twice; the later version replaces the earlier one.
        for start in range(after, end, EVENTS_PER_QUERY):
            last = min(end, start + EVENTS_PER_QUERY)
            newest = f"{VERSIONS} AND seq > ? AND seq <= ? GROUP BY url"
            versions = self.collection.log.rows("MAX(seq)", newest, "1", (start, last))
            for seq, visit in self.collection.visits([seq for (seq,) in versions]):
                if visit.status != 304:  # unchanged since the last visit
                    yield self._indexed_page(seq, visit)

    def _indexed_page(self, seq: int, visit: Visit) -> IndexedPage:
        document, readable = self._read(visit)
        return IndexedPage(
            seq,
            visit.node,
            separate_words(fold(clean(document.title or visit.title))),
            separate_words(fold(main_text(document))),
            host=host_of(visit.node),
            language=visit.language,
            fetched=visit.started,
            changed=self._changed(visit),
            relevance=visit.relevance_now,
            copy=bool(visit.same_as),
            unread=not readable,
        )

    def _changed(self, visit: Visit) -> float:
        state = self.collection.state(visit.node) if visit.kind == "revisit" else None
        return state.changed if state is not None else 0.0


def _moment(at: float) -> datetime | None:
    return datetime.fromtimestamp(at, UTC) if at else None


K1 = 1.2  # k1 of BM25, as in FTS5, which also uses b = 0.75 for length normalisation
OTHER_FORMS = 0.5  # weight of `reefs` in a query for `reef`
Mask = NDArray[np.bool_]
Weights = NDArray[np.float64]


class RankedPage(NamedTuple):
    seq: int
    weight: float


@dataclass(slots=True)
class SearchResult:
    """Ranked pages of a query."""

    best: list[RankedPage] = field(default_factory=list)
    total: int = 0
    loosened: bool = False
    searched: int = 0
    unread: int = 0
    marks: list[Highlight] = field(default_factory=list)  # words to highlight in snippets


@dataclass(slots=True)
class QueryTerm:
    """A word of the query with its weight on each page."""

    words: list[str]
    prefix: bool
    weights: Weights
    idf: float

    @property
    def present(self) -> Mask:
        return self.weights > 0

    def marks(self, group: int) -> Iterator[Highlight]:
        return (Highlight((word,), self.idf, self.prefix, group) for word in self.words)


class IndexRanking:
    """Ranking of the pages that pass a filter. Arrays are indexed by page number.

    BM25 with the term weights of FTS5, added up for all pages at once with numpy. Robertson & Zaragoza 2009, "The
    Probabilistic Relevance Framework: BM25 and Beyond", section 3. Departures: a title word counts as several words of
    the text, as in BM25F but with one length for both; and a word on more than half of the pages still counts a little
    (Lucene's idf), because in a focused crawl these are the topic's own words, which FTS5 ignores. The weight of FTS5
    is idf * t (K1 + 1) / (t + n) for a word that occurs t times on a page with length norm n. Solving for t / n allows
    to add up the forms of a word and to apply another idf.
    """

    def __init__(self, index: SearchIndex, where: str = "TRUE", values: Sequence[object] = ()) -> None:
        self.index, self.size = index, index.size()
        self.pages = index.pages(where, values)
        self.allowed = self._mask_of(self.pages)

    def search(self, query: Query, limit: int) -> SearchResult:
        """Return the pages that match all terms, or some terms if no page matches all."""
        answer = SearchResult(searched=len(self.pages), unread=int(np.count_nonzero(self.pages["unread"])))
        for clause in query.unwanted:
            matching = self._phrase(clause) if clause.is_phrase else self._term(clause).present
            self.allowed &= ~matching
        terms = [term for clause in query.wanted for term in self._terms(clause)]
        phrases = [clause for clause in query.wanted if clause.is_phrase]
        weights = np.sum([term.weights for term in terms], axis=0)
        present = [term.present for term in terms]
        mask = np.logical_and.reduce([self.allowed, *present, *map(self._phrase, phrases)])
        if not mask.any() and len(terms) > 1:
            mask = self.allowed & np.logical_or.reduce(present)
            answer.loosened = bool(mask.any())
        answer.total, answer.best = int(np.count_nonzero(mask)), self._best(mask, weights, limit)
        answer.marks = [mark for group, term in enumerate(terms) for mark in term.marks(group)]
        if not answer.loosened:
            weight = sum(term.idf for term in terms)
            answer.marks += [Highlight(clause.words, weight, group=-number) for number, clause in enumerate(phrases, 1)]
        return answer

    def _terms(self, clause: Clause) -> list[QueryTerm]:
        if not clause.is_phrase:
            return [self._term(clause)]
        return [self._term(Clause((word,), exact=True)) for word in dict.fromkeys(clause.words)]

    def _term(self, clause: Clause) -> QueryTerm:
        word = clause.words[0]
        words, times = [word], self._times(clause.words, prefix=clause.prefix)
        start = "" if clause.exact or clause.prefix else stem_prefix(word)
        for form in word_forms(word, self.index.words(start)) if start else ():
            if form != word:
                times += OTHER_FORMS * self._times((form,))
                words.append(form)
        idf = math.log(1 + self._odds(int(np.count_nonzero(times))))
        return QueryTerm(words, clause.prefix, idf * (K1 + 1) * times / (times + 1), idf)

    def _times(self, words: Sequence[str], *, prefix: bool = False) -> Weights:
        """Return the number of occurrences of a word on each page, divided by the page's length norm."""
        matches, times = self.index.matches(words, prefix=prefix), np.zeros(self.size + 1)
        # the idf that FTS5 assigns to words on half of the pages or more
        share = matches["weight"] / max(1e-6, math.log(self._odds(len(matches))))
        times[matches["id"]] = share / (K1 + 1 - share)
        return times

    def _odds(self, pages: int) -> float:
        """Return the odds against a word that is on that many pages; FTS5's idf is their logarithm."""
        return (self.size - pages + 0.5) / (pages + 0.5)

    def _phrase(self, clause: Clause) -> Mask:
        return self._mask_of(self.index.matches(clause.words))

    def _mask_of(self, pages: NDArray[np.void]) -> Mask:
        mask = np.zeros(self.size + 1, np.bool_)
        mask[pages["id"]] = True
        return mask

    def _best(self, mask: Mask, weights: Weights, limit: int) -> list[RankedPage]:
        """Return the pages with the largest weights; ties are broken by relevance, then by page number."""
        pages = self.pages[mask[self.pages["id"]]]
        page_weights = weights[pages["id"]]
        order = np.lexsort((pages["id"], -pages["relevance"], -page_weights))[:limit]
        return [RankedPage(pages["seq"].item(at), page_weights.item(at)) for at in order]


# Searches update the index on demand, which takes minutes for a large crawl. A follower of the running crawl
# (crawling/crawl_files.py) and `lycosa check` therefore update it in advance, a few seconds at a time.

MAX_STEP_SECONDS = 4.0  # maximum time of indexing before the lock is released
FOLLOWER_LOCK = "follower.lock"  # lock of the process that keeps the index up to date
POLL_SECONDS = 5.0  # interval of checking whether a crawl is running


def index(directory: Path, progress: ProgressCallback = no_progress) -> None:
    """Update the search index."""
    with CrawlDirectory(directory) as collection:
        index_words(collection, progress)


def index_words(collection: CrawlDirectory, progress: ProgressCallback = no_progress) -> None:
    end = collection.log.end()
    with Search(collection, patience=MAX_STEP_SECONDS) as search:
        while True:
            search.update()
            progress("indexing", end - search.behind, end)
            if not search.behind:
                return
            time.sleep(0.05)


def follow(directory: Path, sleep: Callable[[float], None] = time.sleep) -> bool:
    """Keep the index up to date until the crawl ends; return False if another process does so already."""
    with open(directory / FOLLOWER_LOCK, "a") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        running = True
        while running:
            running = is_running(directory)  # checked first, so that the index is updated once more at the end
            index(directory)
            if running:
                sleep(POLL_SECONDS)
        return True


if __name__ == "__main__":  # crawling/crawl_files.py starts this module as a process
    if "--follow" in sys.argv:
        os.nice(19)
        follow(Path(sys.argv[1]))
    else:
        index(Path(sys.argv[1]))
