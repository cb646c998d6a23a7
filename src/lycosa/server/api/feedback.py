"""Yes and no to pages, and what the judge makes of it."""

from __future__ import annotations

from typing import Literal

import numpy as np
from fastapi import APIRouter, Request
from pydantic import BaseModel, ConfigDict, Field

from lycosa.core.errors import InputError
from lycosa.people import feedback
from lycosa.people.typed import line
from lycosa.server.shelves import Held
from lycosa.server.site import Site, site_of
from lycosa.server.who import Asked, interest_to
from lycosa.topics import effect
from lycosa.topics.lessons import Lesson
from lycosa.web.urls import canonical

router = APIRouter(tags=["feedback"])

Word = Literal["yes", "no"]


class Quality(BaseModel):
    """How the judge agrees with the labels; null where there is nothing to divide by."""

    precision: float | None = Field(description="Of the pages that it counts as found, how many got a yes.")
    recall: float | None = Field(description="Of the pages that got a yes, how many it counts as found.")
    accuracy: float | None = Field(description="How often they agree.")
    labels: int = Field(description="Labelled pages that this was measured on.")
    yes: int = Field(description="Of these, how many got a yes.")
    said: int = Field(description="Of these, how many the judge counts as found.")
    hits: int = Field(description="Both.")


class Move(BaseModel):
    """A page whose place among the results is another now."""

    url: str
    title: str
    before: int
    after: int


class Effect(BaseModel):
    """What feedback has brought."""

    yes: int
    no: int
    before: Quality | None
    after: Quality | None = Field(description="Each page is foretold from the labels of others only.")
    method: Literal["leave-one-out", "10-fold"]
    moved: list[Move]


class Labelled(BaseModel):
    """One label."""

    url: str
    title: str
    label: Word
    at: float
    by: str = Field(description="Who said it; empty once the account is gone.")


class Feedback(BaseModel):
    """All labels, the newest first."""

    labels: list[Labelled]
    effect: Effect


class Said(BaseModel):
    """A word on a page; null takes it back."""

    model_config = ConfigDict(extra="forbid")
    url: str = Field(min_length=1, max_length=4_000)
    label: Word | None


class Heard(BaseModel):
    """The label that the page has now."""

    label: Word | None
    effect: Effect


@router.get("/interests/{interest}/feedback")
def get_feedback(request: Request, asked: Asked = interest_to("read", "read")) -> Feedback:
    """What was said of which pages, and what that has brought."""
    site, interest = site_of(request), asked.interest["id"]
    labels = [
        Labelled(url=one.url, title=one.title, label="yes" if one.relevant else "no", at=one.at, by=one.by)
        for one in feedback.given(site.database, interest)
    ]
    return Feedback(labels=labels, effect=_effect(site, interest))


@router.put("/interests/{interest}/feedback")
def put_feedback(request: Request, body: Said, asked: Asked = interest_to("edit", "feedback")) -> Heard:
    """Say yes or no to a page that a crawl of this interest has fetched, or take it back.

    The results are ranked by it at once; a crawl that runs learns from it within half a minute.
    """
    site, interest = site_of(request), asked.interest["id"]
    url = line(body.url, "the address", 4_000)
    url = canonical(url) or url
    if body.label is None:
        feedback.set_label(site.database, site.clock(), interest, asked.person.id, url, None)
    else:
        title = _title(site, interest, url)
        if title is None:
            raise InputError(f"no crawl of this interest has fetched {url}: only pages that it has can get a yes or no")
        feedback.set_label(site.database, site.clock(), interest, asked.person.id, url, body.label == "yes", title)
    return Heard(label=body.label, effect=_effect(site, interest))


def shelves_of(site: Site, interest: str) -> list[Held]:
    """The shelves of an interest's crawls, the newest first."""
    rows = site.database.rows("SELECT id FROM crawl WHERE interest = ? ORDER BY number DESC", interest)
    directories = [site.settings.crawl_directory(row["id"]) for row in rows]
    return [site.shelves.get(path) for path in directories if path.is_dir()]


def _title(site: Site, interest: str, url: str) -> str | None:
    """Of the page, in the newest crawl that has it; None if none has."""
    for held in shelves_of(site, interest):
        page = held.shelf.page(url)
        if page is not None:
            return page.title
    return None


def _effect(site: Site, interest: str) -> Effect:
    """On the pages of the newest crawl."""
    labels = feedback.labels_of(site.database, interest)
    yes = sum(labels.values())
    told = effect.effect([], 0.0)
    moved: list[Move] = []
    if labels and (held := next(iter(shelves_of(site, interest)), None)) is not None:
        shelf = held.shelf
        with shelf.lock:
            labelled = [(page, relevant) for node, relevant in labels.items() if (page := shelf.page(node)) is not None]
            lessons = [Lesson(*page.terms, page.beta, relevant) for page, relevant in labelled]
            told = effect.effect(lessons, shelf.threshold, shelf.usual.mean())
            pages, scores = held.rescoring.scores(labels)
            kept = np.array([not page.copy for page in pages], np.bool_)
            shown = [page for page in pages if not page.copy]
            base = np.array([page.beta for page in shown])
            ranks = effect.moves(base, scores[kept])
            moved = [Move(url=shown[at].node, title=shown[at].title, before=a, after=b) for at, a, b in ranks]
    return Effect(
        yes=yes,
        no=len(labels) - yes,
        before=_told(told.before),
        after=_told(told.after),
        method="leave-one-out" if told.method == "leave-one-out" else "10-fold",
        moved=moved,
    )


def _told(quality: effect.Quality | None) -> Quality | None:
    if quality is None:
        return None
    return Quality(
        precision=quality.precision,
        recall=quality.recall,
        accuracy=quality.accuracy,
        labels=quality.labels,
        yes=quality.yes,
        said=quality.said,
        hits=quality.hits,
    )
