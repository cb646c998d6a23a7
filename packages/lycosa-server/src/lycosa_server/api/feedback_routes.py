"""Labels (yes and no to pages), and their effect on the judge."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from fastapi import APIRouter
from numpy.typing import NDArray
from pydantic import BaseModel, Field

from lycosa.collection.pages import PageArray, PageRow, page_at, pages_at
from lycosa.core.errors import InputError
from lycosa.store.log import SqliteLog
from lycosa.web.urls import canonical
from lycosa_server.api import Body
from lycosa_server.crawl_cache import CachedCrawl, places
from lycosa_server.guards import InterestAccess, ServerContext, interest_to
from lycosa_server.people import feedback
from lycosa_server.people.database import Row
from lycosa_server.people.text_input import clean_line
from lycosa_server.results import Label

router = APIRouter(tags=["feedback"])

Column = NDArray[np.float64]


class LabelAgreement(BaseModel):
    """Agreement of the judge with the labels; null where a denominator is 0."""

    labels: int = Field(description="Labelled pages that this was measured on.")
    yes: int = Field(description="Of these, how many got a yes.")
    judged_relevant: int = Field(description="Of these, how many the judge counts as relevant.")
    agreed: int = Field(description="Pages with a yes that the judge counts as relevant.")
    precision: float | None = Field(description="Of the pages it counts as relevant, how many got a yes.")
    recall: float | None = Field(description="Of the pages that got a yes, how many it counts as relevant.")
    accuracy: float | None = Field(description="How often they agree.")


class RankChange(BaseModel):
    url: str
    title: str
    before: int
    after: int


class LabelEffect(BaseModel):
    yes: int
    no: int
    before: LabelAgreement | None = Field(description="With the relevance when the pages were fetched.")
    after: LabelAgreement | None = Field(description="With the relevance just before each page was labelled.")
    moved: list[RankChange]


class LabelledPage(BaseModel):
    url: str
    title: str
    label: Label
    at: float
    by: str = Field(description="Name of the person; empty once the account is gone.")


class Feedback(BaseModel):
    labels: list[LabelledPage]
    effect: LabelEffect


class LabelIn(Body):
    url: str = Field(min_length=1, max_length=4_000)
    label: Label | None


class LabelOut(BaseModel):
    label: Label | None
    number: int = Field(
        description="Number of this label. A crawl has learned from it when its `last_label` is as large."
    )
    effect: LabelEffect


@router.get("/interests/{interest}/feedback")
def get_feedback(access: InterestAccess = interest_to("read", "read")) -> Feedback:
    """Return labelled pages, and the effect of the labels on the judge."""
    given = feedback.given(access.site.database, access.interest["id"])
    labels = [LabelledPage(**one, label="yes" if one["relevant"] else "no") for one in given]
    return Feedback(labels=labels, effect=_effect(access.site, access.interest["id"], given))


@router.put("/interests/{interest}/feedback")
def put_feedback(body: LabelIn, access: InterestAccess = interest_to("edit", "feedback")) -> LabelOut:
    """Label a page that a crawl of this interest has fetched, or remove its label.

    The label counts for the page itself at once. The judge learns from it within seconds, in a running crawl within
    half a minute; then the relevance of all other pages is updated.
    """
    site, interest = access.site, access.interest["id"]
    url = clean_line(body.url, "the address", 4_000)
    url = canonical(url) or url
    relevance_now = threshold = None
    title = ""
    if body.label is not None:
        fetched = ((cached.pages, _row(cached, url)) for cached in site.cached_crawls(interest))
        pages, page = next(((pages, page) for pages, page in fetched if page is not None), (None, None))
        if pages is None or page is None:
            raise InputError("unknown-page", f"no crawl of this interest has fetched {url}: label fetched pages")
        title, relevance_now, threshold = page.title, page.relevance_now, pages.threshold
    relevant = None if body.label is None else body.label == "yes"
    label = (access.person.id, url, relevant, title, relevance_now, threshold)
    number = feedback.set_label(site.database, site.clock(), interest, *label)
    effect = _effect(site, interest, feedback.given(site.database, interest))
    return LabelOut(label=body.label, number=number, effect=effect)


def _effect(site: ServerContext, interest: str, given: Sequence[Row]) -> LabelEffect:
    yes = sum(one["relevant"] for one in given)
    effect = LabelEffect(yes=yes, no=len(given) - yes, before=None, after=None, moved=[])
    cached = next(site.cached_crawls(interest), None) if given else None
    if cached is None or not len(cached.pages):
        return effect
    pages = cached.now({one["url"]: bool(one["relevant"]) for one in given})
    with cached.reading() as log:
        fetched = relevances_when_fetched(log, pages)
        at = places(log, pages, [one["url"] for one in given])
        known = [one for one in given if one["url"] in at]
        wanted = np.array([one["relevant"] for one in known], np.bool_)
        first = fetched[[at[one["url"]] for one in known]] >= pages.threshold
        noted = np.array([one["relevance_now"] is not None for one in known], np.bool_)
        then = np.array([(one["relevance_now"] or 0.0) >= (one["threshold"] or 0.0) for one in known], np.bool_)
        if noted.any():
            effect.before = label_agreement(first[noted], wanted[noted])
            effect.after = label_agreement(then[noted], wanted[noted])
        elif known:
            effect.before = label_agreement(first, wanted)
        counted = np.flatnonzero(pages.counted)
        ranks = rank_changes(fetched[counted], pages["relevance_now"][counted])
        rows = pages_at(log, [pages["first"].item(counted[at]) for at, _, _ in ranks])
    for page, (_, before, after) in zip(rows, ranks, strict=True):
        effect.moved.append(RankChange(url=page.url, title=page.title, before=before, after=after))
    return effect


def _row(cached: CachedCrawl, url: str) -> PageRow | None:
    if not len(cached.pages):
        return None
    with cached.reading() as log:
        return page_at(log, url)


def relevances_when_fetched(log: SqliteLog, pages: PageArray) -> Column:
    query = "SELECT relevance FROM page JOIN visit ON visit.seq = page.current ORDER BY first LIMIT ?"
    return np.fromiter((relevance for (relevance,) in log.query(query, (len(pages),))), float, len(pages))


def label_agreement(judged: NDArray[np.bool_], wanted: NDArray[np.bool_]) -> LabelAgreement:
    """Measure how a judge's decisions agree with labels.

    >>> agreement = label_agreement(np.array([True, True, False, False]), np.array([True, False, True, False]))
    >>> agreement.agreed, agreement.precision, agreement.recall, agreement.accuracy
    (1, 0.5, 0.5, 0.5)
    >>> label_agreement(np.array([False]), np.array([False])).precision is None
    True
    """
    labels, yes, positive, agreed = len(wanted), int(wanted.sum()), int(judged.sum()), int((judged & wanted).sum())
    return LabelAgreement(
        labels=labels, yes=yes, judged_relevant=positive, agreed=agreed,
        precision=agreed / positive if positive else None,
        recall=agreed / yes if yes else None,
        accuracy=1.0 - (positive + yes - 2 * agreed) / labels if labels else None,
    )  # fmt: skip


def rank_changes(before: Column, after: Column, first: int = 100, limit: int = 10) -> list[tuple[int, int, int]]:
    """Return the pages whose ranks changed most, with both ranks, among the `first` pages of either ranking.

    >>> rank_changes(np.array([.5, .4, .3]), np.array([.5, .1, .3]))
    [(2, 3, 2), (1, 2, 3)]
    """
    old, new = _ranks(before), _ranks(after)
    seen = np.flatnonzero((np.minimum(old, new) <= first) & (old != new))
    order = sorted(seen.tolist(), key=lambda at: (-abs(int(old[at] - new[at])), int(new[at])))
    return [(at, int(old[at]), int(new[at])) for at in order[:limit]]


def _ranks(scores: Column) -> NDArray[np.intp]:
    ranks = np.empty(len(scores), np.intp)
    ranks[np.argsort(-scores, kind="stable")] = np.arange(1, len(scores) + 1)
    return ranks
