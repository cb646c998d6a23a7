"""Pages of a crawl as the API tells of them: which are asked for, in which order, and what is said of each."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray
from pydantic import BaseModel

from lycosa.collection.filters import Filters
from lycosa.collection.orders import Order, arrange
from lycosa.collection.reading import Collection
from lycosa.collection.report.cards import topic_marks
from lycosa.collection.rows import PageRow
from lycosa.collection.snippets import snippet
from lycosa.collection.view import CrawlView, Origin
from lycosa.collection.words import said
from lycosa.core.errors import InputError, StoreError
from lycosa.server.views import CachedView
from lycosa.store.directory import CONFIG
from lycosa.store.log import NAME

Labelled = Literal["yes", "no", "any", "none"]
Label = Literal["yes", "no"]

EXCERPT, EXCERPTS = 240, 2_000
"""Letters of an excerpt, and how many of them are kept of a crawl."""

PATIENCE = 0.15
"""Seconds that an answer spends on reading excerpts out of the archive: those left out come with the next one."""


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
    found: bool | None = None
    """None: those that were found, unless labels are asked for."""
    threshold: float | None = None
    """What counts as found; None: as the crawl has it."""


@dataclass(slots=True)
class Chosen:
    """The pages that were asked for, in order."""

    pages: list[PageRow]
    scores: NDArray[np.float64]
    novelty: Sequence[float | None]
    """Of each, where that is what they are ordered by."""


def label_of(labels: Mapping[str, bool], node: str) -> Label | None:
    given = labels.get(node)
    return None if given is None else "yes" if given else "no"


def fits(labelled: Labelled, given: bool | None) -> bool:
    """Whether what people said of a page is what is asked for."""
    return {"yes": given is True, "no": given is False, "any": given is not None, "none": given is None}[labelled]


def is_found(page: PageRow, score: float, threshold: float, labels: Mapping[str, bool]) -> bool:
    """Whether a page is a find: people's word counts more than the judge's."""
    given = labels.get(page.node)
    return score >= threshold and not page.copy if given is None else given


def choose(
    cached: CachedView, labels: Mapping[str, bool], wanted: PageFilter, order: Order, known: Sequence[str]
) -> Chosen:
    """The pages that pass, arranged."""
    with cached.view.lock:
        threshold = cached.view.threshold if wanted.threshold is None else wanted.threshold
        everything, all_scores = cached.scores(labels, threshold)
        passing = [
            page
            for page in everything
            if (not page.copy or page.node in labels)
            and _takes(wanted, page, float(all_scores[page.place]), threshold, labels)
        ]
        scores = np.array([all_scores[page.place] for page in passing], float)
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


def _takes(wanted: PageFilter, page: PageRow, score: float, threshold: float, labels: Mapping[str, bool]) -> bool:
    given, labelled, filters = labels.get(page.node), wanted.labelled, wanted.filters
    if labelled is not None and not fits(labelled, given):
        return False
    found = wanted.found
    if found is None and labelled in (None, "none"):
        found = True
    if found is not None and found != is_found(page, score, threshold, labels):
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
        self.threshold = cached.view.threshold if threshold is None else threshold
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
            found=is_found(page, float(score), self.threshold, self.labels),
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
                while len(kept) > EXCERPTS:
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
        return snippet(said(document), self._marks, EXCERPT).text


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
