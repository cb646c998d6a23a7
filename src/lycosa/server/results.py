"""Pages of a crawl as the API tells of them: which are asked for, in which order, and what is said of each."""

from __future__ import annotations

import threading
import time
from collections import OrderedDict
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, TypeAlias

import numpy as np
from fastapi import HTTPException
from numpy.typing import NDArray
from pydantic import BaseModel

from lycosa.collection.estimate import Estimate, estimate
from lycosa.collection.querying import Filters
from lycosa.collection.reading import Collection
from lycosa.collection.report.cards import topic_marks
from lycosa.collection.rows import PageRow
from lycosa.collection.snippets import snippet
from lycosa.collection.view import CrawlView, Origin
from lycosa.collection.words import said
from lycosa.core.errors import InputError, LockedError, StoreError
from lycosa.core.types import settled
from lycosa.server.logs import log
from lycosa.store.directory import CONFIG
from lycosa.store.log import NAME

Labelled = Literal["yes", "no", "any", "none"]
Label = Literal["yes", "no"]

PATIENCE = 0.15  # seconds that an answer spends on reading excerpts: those left out come with the next one


class Why(BaseModel):
    """Why a page was fetched: what first led to it, and the score for which it was chosen."""

    kind: str
    parent: str
    parent_title: str
    anchor: str
    alpha: float
    score: float


class Page(BaseModel):
    """One page, as its current version is."""

    seq: int
    url: str
    title: str
    host: str
    language: str
    score: float
    judged: float
    fetched: float
    changed: float | None
    standing: Literal["stands", "vanished", "moved"]
    label: Label | None
    found: bool
    frequency: int
    novelty: float | None
    excerpt: str | None
    why: Why


@dataclass(frozen=True, slots=True)
class PageFilter:
    """What somebody wants to see."""

    filters: Filters
    labelled: Labelled | None = None
    found: bool | None = None  # None: those that were found, unless labels are asked for
    threshold: float | None = None  # what counts as found; None: as the crawl has it


@dataclass(slots=True)
class Chosen:
    """The pages that were asked for, in order."""

    pages: list[PageRow]
    scores: NDArray[np.float64]
    novelty: Sequence[float | None]  # of each page, where that is what they are ordered by


def label_of(labels: Mapping[str, bool], node: str) -> Label | None:
    given = labels.get(node)
    return None if given is None else "yes" if given else "no"


def fits(labelled: Labelled, given: bool | None) -> bool:
    """Whether what people said of a page is what is asked for."""
    return {"yes": given is True, "no": given is False, "any": given is not None, "none": given is None}[labelled]


def choose(
    cached: CachedView, labels: Mapping[str, bool], wanted: PageFilter, order: Order, known: Sequence[str]
) -> Chosen:
    """The pages that pass, arranged."""
    with cached.view.lock:
        now = cached.now(labels, wanted.threshold)
        everything = (PageRow(cached.view, number) for number in np.flatnonzero(now.counted).tolist())
        passing = [page for page in everything if _takes(wanted, page, now, labels)]
        scores = now.worths[[page.number for page in passing]]
        if order != "novelty":
            places, _ = arrange(passing, scores, order, frozenset())
            return Chosen([passing[at] for at in places], scores[places], [None] * len(places))
        key = (cached.view.generation, hash(tuple(page.seq for page in passing)), hash(scores.tobytes()), tuple(known))
        done = cached.arranged.get(key)
    if done is None:
        done = arrange(passing, scores, order, frozenset(known) | frozenset(labels))
        cached.remember(key, done)
    assert isinstance(done, tuple)
    places, fresh = done
    return Chosen([passing[at] for at in places], scores[places], fresh[places].tolist())


def _takes(wanted: PageFilter, page: PageRow, now: Now, labels: Mapping[str, bool]) -> bool:
    given, labelled, filters = labels.get(page.node), wanted.labelled, wanted.filters
    if labelled is not None and not fits(labelled, given):
        return False
    found = wanted.found
    if found is None and labelled in (None, "none"):
        found = True
    if found is not None and found != now.found[page.number]:
        return False
    if not filters.start <= page.started < filters.end:
        return False
    if filters.changed is not None and page.changed < max(1.0, filters.changed):
        return False
    if filters.hosts and not any(test(page.host) for test in filters.hosts):
        return False
    return not filters.languages or any(test(page.language) for test in filters.languages)


class Teller:
    """Says what there is to say of pages; reads the log and the archive for those that are shown."""

    def __init__(
        self, cached: CachedView, collection: Collection, labels: Mapping[str, bool], threshold: float | None = None
    ) -> None:
        self.cached, self.collection, self.labels = cached, collection, labels
        self.found = cached.now(labels, threshold).found
        self._until = time.monotonic() + PATIENCE
        learned = [term for term in cached.view.topic if term]
        self._marks = topic_marks(collection.options, learned)

    def page(self, page: PageRow, score: float, novelty: float | None) -> Page:
        view = self.cached.view
        return Page(
            seq=page.seq,
            url=page.node,
            title=page.title,
            host=page.host,
            language=page.language,
            score=round(float(score), 6),
            judged=page.beta,
            fetched=page.started,
            changed=page.changed or None,
            standing=page.state,  # type: ignore[arg-type]
            label=label_of(self.labels, page.node),
            found=bool(self.found[page.number]),
            frequency=page.frequency,
            novelty=round(float(novelty), 4) if novelty is not None else None,
            excerpt=self._excerpt(page),
            why=why_of(view.origin(self.collection.log, page.node), page.pick),
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
        return snippet(said(document), self._marks, 240).text


def why_of(origin: Origin, score: float) -> Why:
    return Why(
        kind=origin.kind,
        parent=origin.parent,
        parent_title=origin.title,
        anchor=origin.anchor,
        alpha=round(origin.alpha, 6),
        score=score if np.isfinite(score) else 0.0,
    )


def collection_of(view: CrawlView) -> Collection | None:
    """The crawl's directory, for reading; None while nothing is there."""
    try:
        return Collection(view.path, view=view)
    except InputError as error:
        if (view.path / CONFIG).exists() and (view.path / NAME).exists():  # somebody has edited it, say
            raise StoreError(str(error)) from error
        return None


# -- views -------------------------------------------------------------------------------------------------

# The crawls that are looked at: a cache of their views.


@dataclass(frozen=True, slots=True)
class Now:
    """A crawl's pages as they are now, by vertex. Whatever is counted on a screen is counted from this."""

    worths: NDArray[np.float64]
    counted: NDArray[np.bool_]  # pages that repeat no other, and those that have a label
    found: NDArray[np.bool_]  # those of them that are relevant
    pages: int  # how many were crawled


class CachedView:
    """The view of a crawl, and what was worked out about it.

    What pages are worth is as the log says, but people's word comes first, before it is logged. A `threshold` is
    another one than the crawl's: to see what would be relevant by it.
    """

    def __init__(self, path: Path) -> None:
        self.view = CrawlView(path)
        self.arranged: OrderedDict[object, object] = OrderedDict()  # orders that took long, with what they depend on
        # by the number of the version, and the words that are looked for
        self.excerpts: dict[tuple[int, int], str] = {}
        self.indexed = 0  # the last event known to be in the search index
        self.indexing: threading.Thread | None = None

    def remember(self, key: object, value: object, most: int = 8) -> None:
        """Keep something that was worked out, and forget what is oldest."""
        with self.view.lock:
            self.arranged[key] = value
            while len(self.arranged) > most:
                self.arranged.popitem(last=False)

    def now(self, labels: Mapping[str, bool], threshold: float | None = None) -> Now:
        """Return what the pages are worth as they are now, by people's word first."""
        with self.view.lock:
            line = self.view.threshold if threshold is None else threshold
            worths, counted = self.view.column("worth").astype(float), self.view.current()
            for node, relevant in labels.items():
                if (page := self.view.page(node)) is not None:
                    worth = worths[page.number]
                    worths[page.number] = relevant if self.view.probability else settled(worth, relevant, line)
                    counted[page.number] = True
            return Now(worths, counted, counted & (worths >= line), int(self.view.column("crawled").sum()))

    def scores(
        self, labels: Mapping[str, bool], threshold: float | None = None
    ) -> tuple[list[PageRow], NDArray[np.float64]]:
        """All pages, copies among them, and the score of each."""
        with self.view.lock:
            pages = self.view.pages(copies=True)
            return pages, self.now(labels, threshold).worths[[page.number for page in pages]]

    def estimate(self, labels: Mapping[str, bool], threshold: float | None = None) -> Estimate:
        """How many pages are relevant, and how sure that is."""
        with self.view.lock:
            now = self.now(labels, threshold)
            line = self.view.threshold if threshold is None else threshold
            return estimate(now.worths[now.counted], line, now.pages, self.view.probability)


class ViewCache:
    """One for each crawl directory, made when it is first asked for; `room` is in bytes."""

    def __init__(self, room: int = 256_000_000, most: int = 200) -> None:
        self.room, self.most = room, most
        self.stopping = threading.Event()  # set when the server stops: streams end
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


# -- orders ------------------------------------------------------------------------------------------------

# The orders in which a crawl's pages can be read: by relevance, word frequency, date, or novelty.

Order: TypeAlias = Literal["relevance", "frequency", "date", "novelty"]

CANDIDATES = 3_000  # pages among which novelty is weighed, the most relevant ones; the others follow by relevance
CHOSEN = 300  # pages that are chosen one after the other, each with regard to those before
SIDES = 128  # numbers by which a page is compared with another
RELEVANT = 0.5  # how much of a page's worth is its relevance; the rest is what is new on it
_SPREAD = np.uint32(2_654_435_761)

Column: TypeAlias = NDArray[np.float64]


def arrange(pages: Sequence[PageRow], scores: Column, order: Order, opened: frozenset[str]) -> tuple[list[int], Column]:
    """The places of the pages in an order, and for each page how new it is (1 where nobody has asked).

    relevance: by score, the best first; equal ones in the order in which they were fetched.
    frequency: by how often the words of the topic are on the page, all counted alike. That is the ranking of Trivedi et
    al. 2014 (III, Relevance Calculation; `topics/counting.py`), with each word of the topic as a search string,
    and by stems, as the log keeps those: corals and coral are the same.
    date: by when it last changed in what matters or, if it never has, was first fetched, the newest first.
    novelty: see `novelty`.
    """
    fresh = np.ones(len(pages))
    if order == "novelty":
        return novelty(pages, scores, opened)
    if order == "frequency":
        return np.lexsort((-scores, -np.array([page.frequency for page in pages], float))).tolist(), fresh
    if order == "date":
        return np.argsort(
            -np.array([page.changed or page.started for page in pages], float), kind="stable"
        ).tolist(), fresh
    return np.argsort(-scores, kind="stable").tolist(), fresh


def novelty(pages: Sequence[PageRow], scores: Column, opened: frozenset[str]) -> tuple[list[int], Column]:
    """Relevant pages that say what those above them do not, nor those that the reader has opened or labelled.

    Greedy, as maximal marginal relevance is (Carbonell and Goldstein 1998): the next page is the one with the largest

        RELEVANT score / best score - (1 - RELEVANT) max similarity to the pages above it and to the known ones

    and its novelty is 1 - that similarity. Similarity is the cosine of the pages' words, 1 + log f weighed by how few
    pages have a word, folded into SIDES numbers with signs by the words' numbers. Known pages come after all others,
    by relevance. The work is bounded: CHOSEN choices among CANDIDATES.
    """
    by_score = np.argsort(-scores, kind="stable")
    is_known = np.array([page.node in opened for page in pages], np.bool_)
    new, old = by_score[~is_known[by_score]], by_score[is_known[by_score]]
    candidates = new[:CANDIDATES]
    fresh = np.ones(len(pages))
    fresh[old] = 0.0
    if not len(candidates):
        return old.tolist(), fresh
    seen = old[:CANDIDATES]
    vectors = _vectors([pages[at] for at in [*candidates.tolist(), *seen.tolist()]])
    mine, others = vectors[: len(candidates)], vectors[len(candidates) :]
    nearest = (mine @ others.T).max(axis=1) if len(others) else np.zeros(len(candidates), np.float32)
    worth = RELEVANT * scores[candidates] / max(float(scores.max()), 1e-9)
    left = np.ones(len(candidates), np.bool_)
    chosen: list[int] = []
    for _ in range(min(CHOSEN, len(candidates))):
        value = np.where(left, worth - (1 - RELEVANT) * nearest, -np.inf)
        at = int(value.argmax())
        fresh[candidates[at]] = 1.0 - min(1.0, max(0.0, float(nearest[at])))
        left[at] = False
        chosen.append(int(candidates[at]))
        nearest = np.maximum(nearest, mine @ mine[at])
    rest = candidates[left]
    fresh[rest] = 1.0 - np.clip(nearest[left], 0.0, 1.0)
    last = rest[np.argsort(-(worth - (1 - RELEVANT) * nearest)[left], kind="stable")]
    return [*chosen, *last.tolist(), *new[CANDIDATES:].tolist(), *old.tolist()], fresh


def _vectors(pages: Sequence[PageRow]) -> NDArray[np.float32]:
    """A line of numbers for each page, of length 1."""
    terms = pages[0].view.words_on([page.number for page in pages])
    ids = np.concatenate([words for words, _ in terms])
    counts = np.concatenate([counts for _, counts in terms])
    lines = np.repeat(np.arange(len(pages)), [len(words) for words, _ in terms])
    vectors = np.zeros((len(pages), SIDES), np.float32)
    if len(ids):
        words, which, holders = np.unique(ids, return_inverse=True, return_counts=True)
        rare = np.log((len(pages) + 1) / holders)
        mixed = words.astype(np.uint32) * _SPREAD
        side, sign = (mixed >> np.uint32(8)) % np.uint32(SIDES), np.where(mixed >> np.uint32(31), 1.0, -1.0)
        weights = (1.0 + np.log(np.maximum(counts, 1))) * (rare * sign)[which]
        places = lines * SIDES + side[which].astype(np.int64)
        vectors[:] = np.bincount(places, weights, len(pages) * SIDES).reshape(len(pages), SIDES)
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    return (vectors / np.where(lengths > 0, lengths, 1.0)).astype(np.float32)
