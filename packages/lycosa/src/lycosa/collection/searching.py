"""Search the text of a crawl's pages: words, phrases, prefixes, filters; the best first, each with a passage.

The index is brought up to date with the log before each search, under a lock: one process builds, others wait for it.
Passages are read out of the archive, for the pages that are shown, so that no text is kept twice.
"""

from __future__ import annotations

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

from lycosa.collection import shelf
from lycosa.collection.crawl_directory import CrawlDirectory, check_threshold
from lycosa.collection.page_rows import PageFate
from lycosa.collection.querying import Clause, Filters, Query, among, beginning, forms, parse
from lycosa.collection.search_text import clean, fold, said, spaced
from lycosa.collection.snippets import Highlight, Snippet, snippet
from lycosa.collection.tally import host_of
from lycosa.collection.view import CrawlView
from lycosa.core.errors import InputError, StoreError
from lycosa.core.progress import ProgressCallback, no_progress
from lycosa.core.types import Visit
from lycosa.store.directory import is_running
from lycosa.store.log import RELEVANCE_NOW, VERSIONS
from lycosa.store.search import NAME, IndexDamaged, IndexedPage, SearchIndex, index_lock
from lycosa.web.html import ParsedPage

# what goes into the index at once: what a kill can cost, and what has to fit into memory
BATCH, BATCH_LETTERS = 2_000, 50_000_000
STRETCH = 5_000  # events that are looked through at once for what is new
SMALL = 10_000  # events of a crawl for whose index every search waits
LOCK_PATIENCE = 0.5  # seconds that a search waits for another process to extend the index, if it need not have all


@dataclass(frozen=True, slots=True)
class SearchHit:
    """A page that was found."""

    rank: int
    url: str
    title: str
    snippet: Snippet
    relevance: float  # by the judge as it is now
    match_score: float  # how well it matches the query: BM25
    host: str
    language: str
    fetched: datetime
    same_as: str = ""
    changed: datetime | None = None  # when it last changed in what matters; None: never
    standing: str = "stands"  # or "vanished" or "moved": the last version is shown
    since: datetime | None = None

    def as_dict(self) -> dict[str, Any]:
        """For JSON."""
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
    """What a search found, the best first."""

    hits: list[SearchHit] = field(default_factory=list)
    total: int = 0
    loosened: bool = False  # no page has all that was asked for: these have some of it
    pages: int = 0  # pages that passed the filters and were searched
    unread: int = 0  # of these, those known by their titles only: nothing readable is archived
    behind: int = 0  # about how many pages are not in the index yet

    def __iter__(self) -> Iterator[SearchHit]:
        return iter(self.hits)

    def __len__(self) -> int:
        return len(self.hits)

    def as_dict(self) -> dict[str, Any]:
        """For JSON."""
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
    """Told how the index grows; this one keeps it to itself."""

    def waiting(self) -> None:
        """Another process is building."""

    def indexed(self, pages: int, share: float) -> None:
        """So many pages so far, and how far that is in the log."""


class Search:
    """Search a collection.

    ```python
    with Collection(Path("reefs")) as collection, Search(collection) as search:
        for hit in search.find("coral bleaching", languages=["en"], since="2026-03-01"):
            print(hit.url, hit.title, hit.snippet)
    ```
    """

    def __init__(
        self, collection: CrawlDirectory, progress: Progress | None = None, patience: float | None = None
    ) -> None:
        self.collection = collection
        self.progress = progress or Progress()
        self.patience = patience  # seconds for bringing the index up to date, about; None: no limit
        self.behind = 0  # events of the log that the index does not have yet
        self._index: SearchIndex | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def close(self) -> None:
        """Let go of the index."""
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
        score: float = 0.0,
        copies: bool = False,
        changed: float | None = None,
        width: int = 240,
        offset: int = 0,
        takes: Callable[[int], bool] | None = None,
        filters: Filters | None = None,
    ) -> Results:
        """The best pages for the words, at most `limit`, with passages of about `width` characters.

        A host stands for its subdomains, a language for its regions; the days are UTC's, and included. `changed` asks
        for pages that have changed since then (seconds since the epoch; 0: ever), more than in their looks; whoever
        has `filters` already gives these instead. `offset` leaves out the first so many, unread. `takes` is one more
        filter, by the number of a page's event: with it, the total is of the best 1,000 results.
        """
        if limit < 1:
            raise InputError(f"a limit of {limit} leaves nothing to show: 1 or more")
        check_threshold(score, probability=False)
        query = parse(words)
        deep = offset + limit if takes is None else 1_000
        filters = filters or Filters.of(hosts, languages, since, until, changed)
        try:
            answer = self._ask(self.keep_up(), query, filters, score, copies, deep)
        except IndexDamaged:  # once is an accident, and soon mended
            answer = self._ask(self.keep_up(anew=True), query, filters, score, copies, deep)
        best, total = answer.best, answer.total
        if takes is not None:
            best = [page for page in best if takes(page.seq)]
            total = len(best)
        shown = best[offset : offset + limit]
        hits = [self._hit(rank, page, answer.marks, width) for rank, page in enumerate(shown, offset + 1)]
        return Results(hits, total, answer.loosened, answer.searched, answer.unread, self.behind)

    def _ask(
        self, index: SearchIndex, query: Query, filters: Filters, score: float, copies: bool, limit: int
    ) -> SearchResult:
        with index.reading():
            where, values = filters.where(index)
            if not copies:
                where += " AND NOT copy"
            if score > 0:  # the index knows what pages were worth when it was made
                worthy = self.collection.log.rows("seq", f"{VERSIONS} AND {RELEVANCE_NOW} >= ?", given=(score,))
                where += f" AND seq {among([seq for (seq,) in worthy], values)}"
            return IndexRanking(index, where, values).answer(query, limit)

    def _hit(self, rank: int, page: Ranked, marks: Sequence[Highlight], width: int) -> SearchHit:
        visit = self.collection.log.visit(page.seq)
        document, _ = self._read(visit)
        fate = self.collection.fate(visit.node)
        return SearchHit(
            rank,
            visit.node,
            clean(document.title or visit.title),
            snippet(said(document), marks, width),
            visit.relevance_now,
            page.weight,
            host_of(visit.node),
            clean(visit.language),
            datetime.fromtimestamp(visit.started, UTC),
            visit.same_as,
            _moment(fate.changed) if fate is not None else None,
            fate.state if fate is not None else "stands",
            _moment(fate.since) if fate is not None and fate.state != "stands" else None,
        )

    def _read(self, visit: Visit) -> tuple[ParsedPage, bool]:
        """What the archive has of a page, and whether it has anything."""
        try:
            exchange = self.collection.exchange(visit)
        except StoreError:
            exchange = None
        if exchange is None or (visit.size and not exchange.body):
            return ParsedPage(title=visit.title), False
        return self.collection.document(visit, exchange), True

    # -- keeping up --------------------------------------------------------------------------------------------

    def keep_up(self, *, anew: bool = False) -> SearchIndex:
        """Bring the index to where the log ends, or as far as patience goes; `anew` makes it from nothing."""
        path = self.collection.path / NAME
        until = None if self.patience is None else time.monotonic() + self.patience
        # Without an index there is nothing to go on with: somebody is making it, and has a part of it soon. Of a small
        # crawl all of it is there in a moment.
        hasty = self.patience is not None and path.exists() and self.collection.log.end() > SMALL
        patience = LOCK_PATIENCE if hasty else None
        with index_lock(self.collection.path, self.progress.waiting, patience) as mine:
            if self._index is not None and self._index.replaced:
                self.close()
            index = self._index = self._index or SearchIndex(path, mine=mine)
            if not mine or not self._bring_up(index, anew, until):
                self.behind = max(0, self.collection.log.end() - index.last()[0])
            else:
                self.behind = 0
        return index

    def _bring_up(self, index: SearchIndex, anew: bool, until: float | None) -> bool:
        """Extend the index; whether it got to the log's end."""
        if anew or not self._fits(index):
            index.clear()
        before, _ = index.last()
        try:
            done = self._extend(index, until)
        except IndexDamaged:
            index.clear()
            done = self._extend(index, until)
        if index.last()[0] > before and index.mostly_dead():
            index.clear()
            done = self._extend(index, until)
        return done

    def _fits(self, index: SearchIndex) -> bool:
        """Whether the index was made from this log: its last event is there, and still the same."""
        try:
            last, mark = index.last()
        except IndexDamaged:
            return False
        return not last or mark == self._mark(last)

    def _mark(self, seq: int) -> str:
        bodies = self.collection.log.rows("body", "seq = ?", given=(seq,))
        return "".join(xxhash.xxh3_64_hexdigest(body) for (body,) in bodies)

    def _extend(self, index: SearchIndex, until: float | None) -> bool:
        """Take in what is new in the log, as far as time allows; whether that was all."""
        start, _ = index.last()
        # Up to here and no further: a crawl that runs beside us may be the faster one.
        end = next(self.collection.log.rows("MAX(seq)"))[0] or 0
        batch: list[IndexedPage] = []
        letters, all_of_it = 0, True
        for done, entry in enumerate(self._entries(start, end), 1):
            batch.append(entry)
            letters += len(entry.text)
            if len(batch) >= BATCH or letters >= BATCH_LETTERS:
                index.add(batch, self._mark(entry.seq))
                batch, letters = [], 0
            self.progress.indexed(done, (entry.seq - start) / (end - start))
            if until is not None and time.monotonic() >= until:
                all_of_it = False
                break
        if batch:
            index.add(batch, self._mark(batch[-1].seq))
        return all_of_it

    def _entries(self, after: int, end: int) -> Iterator[IndexedPage]:
        """Pages behind an event, up to another, in the log's order; of each the version that stood by then."""
        # A stretch of the log at a time: to look through all of a long one would take longer than somebody waits. Of a
        # page that has two versions in different stretches the first goes in, too, and is replaced.
        for start in range(after, end, STRETCH):
            upto = min(end, start + STRETCH)
            versions = self.collection.log.rows(
                "MAX(seq)", f"{VERSIONS} AND seq > ? AND seq <= ? GROUP BY node", "1", (start, upto)
            )
            for seq, visit in self.collection.visits([seq for (seq,) in versions]):
                if visit.status != 304:  # visited again, and nothing new
                    yield self._entry(seq, visit)

    def _entry(self, seq: int, visit: Visit) -> IndexedPage:
        document, readable = self._read(visit)
        return IndexedPage(
            seq,
            visit.node,
            spaced(fold(clean(document.title or visit.title))),
            spaced(fold(said(document))),
            host=host_of(visit.node),
            language=visit.language,
            fetched=visit.started,
            changed=self._changed(seq, visit),
            score=visit.relevance_now,
            copy=bool(visit.same_as),
            unread=not readable,
        )

    def _changed(self, seq: int, visit: Visit) -> float:
        """When a page last changed, by the time of that event."""
        if visit.kind != "revisit":
            return 0.0
        fate = PageFate.of(self.collection.log.visits("node = ? AND seq <= ?", given=(visit.node, seq)))
        return fate.changed if fate is not None else 0.0


def _moment(at: float) -> datetime | None:
    return datetime.fromtimestamp(at, UTC) if at else None


K1 = 1.2  # as in FTS5, like B = .75 for the length of pages
OTHER_FORMS = 0.5  # weight of `reefs` where `reef` was asked for
Mask = NDArray[np.bool_]
Weights = NDArray[np.float64]


class Ranked(NamedTuple):
    """A page that answers: its number, the number of its event in the log, and its weight."""

    page: int
    seq: int
    weight: float


@dataclass(slots=True)
class SearchResult:
    """The best pages, the best first."""

    best: list[Ranked] = field(default_factory=list)
    total: int = 0
    loosened: bool = False
    searched: int = 0
    unread: int = 0
    marks: list[Highlight] = field(default_factory=list)  # marks to point out in these pages


@dataclass(slots=True)
class QueryTerm:
    """A word of the query and where it is."""

    words: list[str]
    prefix: bool
    weights: Weights
    idf: float

    @property
    def present(self) -> Mask:
        return self.weights > 0

    def marks(self, group: int) -> Iterator[Highlight]:
        """How it looks in a text."""
        return (Highlight((word,), self.idf, self.prefix, group) for word in self.words)


class IndexRanking:
    """The pages of an index that pass a filter, ready to be ranked. Columns have a place for each number.

    BM25, as FTS5 has it for each word, added up over all pages at once with numpy. Robertson & Zaragoza 2009, "The
    Probabilistic Relevance Framework: BM25 and Beyond", section 3. Departures: a word of the title counts as several
    words of the text, as in BM25F but with one length for both; and a word that is on more than half of the pages still
    counts a little (Lucene's idf), because in a focused crawl the topic's own words are. FTS5 takes those for
    worthless. Its weight is an idf times t (K1 + 1) / (t + n), for a word that is t times on a page with the length
    norm n; so t / n can be had from it, with which forms of a word are added up, and another idf given.
    """

    def __init__(self, index: SearchIndex, where: str = "TRUE", values: Sequence[object] = ()) -> None:
        self.index, self.size = index, index.size()
        self.pages = index.pages(where, values)
        self.allowed = self._holding(self.pages)

    def answer(self, query: Query, limit: int) -> SearchResult:
        """The pages with all that is asked for; if there are none, those with some of it."""
        answer = SearchResult(searched=len(self.pages), unread=int(np.count_nonzero(self.pages["unread"])))
        for clause in query.unwanted:
            having = self._phrase(clause) if clause.is_phrase else self._term(clause).present
            self.allowed &= ~having
        terms = [term for clause in query.wanted for term in self._terms(clause)]
        phrases = [clause for clause in query.wanted if clause.is_phrase]
        weights = np.sum([term.weights for term in terms], axis=0)
        present = [term.present for term in terms]
        mask = np.logical_and.reduce([self.allowed, *present, *map(self._phrase, phrases)])
        if not mask.any() and len(terms) > 1:
            mask = self.allowed & np.logical_or.reduce(present)
            answer.loosened = bool(mask.any())
        answer.total, answer.best = int(np.count_nonzero(mask)), self._top(mask, weights, limit)
        answer.marks = [mark for group, term in enumerate(terms) for mark in term.marks(group)]
        if not answer.loosened:
            worth = sum(term.idf for term in terms)
            answer.marks += [Highlight(clause.words, worth, group=-number) for number, clause in enumerate(phrases, 1)]
        return answer

    def _terms(self, clause: Clause) -> list[QueryTerm]:
        if not clause.is_phrase:
            return [self._term(clause)]
        return [self._term(Clause((word,), exact=True)) for word in dict.fromkeys(clause.words)]

    def _term(self, clause: Clause) -> QueryTerm:
        word = clause.words[0]
        words, times = [word], self._times(clause.words, prefix=clause.prefix)
        start = "" if clause.exact or clause.prefix else beginning(word)
        for form in forms(word, self.index.words(start)) if start else ():
            if form != word:
                times += OTHER_FORMS * self._times((form,))
                words.append(form)
        idf = math.log(1 + self._odds(int(np.count_nonzero(times))))
        return QueryTerm(words, clause.prefix, idf * (K1 + 1) * times / (times + 1), idf)

    def _times(self, words: Sequence[str], *, prefix: bool = False) -> Weights:
        """How often a word is on each page, in parts of the page's length norm."""
        matches, times = self.index.matches(words, prefix=prefix), np.zeros(self.size + 1)
        # FTS5's idf of a word that is on half of the pages or more
        share = matches["weight"] / max(1e-6, math.log(self._odds(len(matches))))
        times[matches["id"]] = share / (K1 + 1 - share)
        return times

    def _odds(self, pages: int) -> float:
        """Against a word that is on so many pages. Its logarithm is the idf, as FTS5 has it."""
        return (self.size - pages + 0.5) / (pages + 0.5)

    def _phrase(self, clause: Clause) -> Mask:
        return self._holding(self.index.matches(clause.words))

    def _holding(self, pages: NDArray[np.void]) -> Mask:
        mask = np.zeros(self.size + 1, np.bool_)
        mask[pages["id"]] = True
        return mask

    def _top(self, mask: Mask, weights: Weights, limit: int) -> list[Ranked]:
        """The pages of highest weight; of equal ones those that the topic likes, then those that came first."""
        pages = self.pages[mask[self.pages["id"]]]
        those = weights[pages["id"]]
        order = np.lexsort((pages["id"], -pages["score"], -those))[:limit]
        return [Ranked(pages["id"].item(at), pages["seq"].item(at), those.item(at)) for at in order]


# -- bringing it up to date --------------------------------------------------------------------------------

# What shows and searches a crawl, brought up to where its log ends: the view (shelf.py) and the search index.
#
# Whoever asks brings them up by themselves. For a large crawl that takes minutes, so it is done beforehand: by a
# process that follows the crawl while it runs (crawling/crawl_files.py), or by `lycosa check`. Both work a few seconds at
# a time, and let go of what they hold in between.

AT_A_TIME = 4.0  # seconds of work before others get their turn
FOLLOWER = "follower"  # lock of the process that keeps indexes up to date
LOOK_AGAIN = 5.0  # seconds between two looks at a crawl that runs


def index(directory: Path, progress: ProgressCallback = no_progress) -> int:
    """Bring the view and the search index up to date; up to which event they are."""
    view = CrawlView(directory)
    with CrawlDirectory(directory, view=view) as collection:
        end = collection.log.end()
        while view._step():
            progress("reading the log", view.seq, end)
        if view.seq - view.kept >= shelf.WORTH_IT:
            view.write_down()
        index_words(collection, progress)
    return view.seq


def index_words(collection: CrawlDirectory, progress: ProgressCallback = no_progress) -> None:
    """Bring the search index up to date."""
    end = collection.log.end()
    with Search(collection, patience=AT_A_TIME) as search:
        while True:
            search.keep_up()
            progress("indexing", end - search.behind, end)
            if not search.behind:
                return
            time.sleep(0.05)


def follow(directory: Path, sleep: Callable[[float], None] = time.sleep) -> bool:
    """Keep them up to date until the crawl is over; whether nobody else is doing so already."""
    with shelf.alone(directory, FOLLOWER) as mine:
        if not mine:
            return False
        running = True
        while running:
            running = is_running(directory)  # asked before: what it has done by then is looked at once more
            index(directory)
            if running:
                sleep(LOOK_AGAIN)
        return True


if __name__ == "__main__":  # crawling/crawl_files.py starts it so
    if "--follow" in sys.argv:
        os.nice(19)
        follow(Path(sys.argv[1]))
    else:
        index(Path(sys.argv[1]))
