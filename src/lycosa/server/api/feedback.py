"""Yes and no to pages, and what the judge makes of it."""

from __future__ import annotations

from typing import Literal

import numpy as np
from fastapi import APIRouter, Request
from pydantic import BaseModel, ConfigDict, Field

from lycosa.core.errors import InputError
from lycosa.people import crawls, feedback
from lycosa.people.typed import line
from lycosa.server import agreeing
from lycosa.server.shelves import Held
from lycosa.server.site import Site, site_of
from lycosa.server.who import Asked, interest_to
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
    before: Quality | None = Field(description="By what the judge said when the pages were fetched.")
    after: Quality | None = Field(description="By what it said of each page just before that was labelled.")
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

    The page itself counts by it at once. The judge learns from it within seconds, of a crawl that runs within half a
    minute; then all other pages are worth what it says by then.
    """
    site, interest = site_of(request), asked.interest["id"]
    url = line(body.url, "the address", 4_000)
    url = canonical(url) or url
    if body.label is None:
        feedback.set_label(site.database, site.clock(), interest, asked.person.id, url, None)
    else:
        held = _held(site, interest, url)
        page = held.shelf.page(url) if held is not None else None
        if held is None or page is None:
            raise InputError(f"no crawl of this interest has fetched {url}: only pages that it has can get a yes or no")
        feedback.set_label(
            site.database, site.clock(), interest, asked.person.id, url, body.label == "yes", page.title,
            worth=page.worth, threshold=held.shelf.threshold,
        )  # fmt: skip
    crawls.judge_again(site.database, interest, "labels")
    return Heard(label=body.label, effect=_effect(site, interest))


def shelves_of(site: Site, interest: str) -> list[Held]:
    """The shelves of an interest's crawls, the newest first."""
    rows = site.database.rows("SELECT id FROM crawl WHERE interest = ? ORDER BY number DESC", interest)
    directories = [site.settings.crawl_directory(row["id"]) for row in rows]
    return [site.shelves.get(path) for path in directories if path.is_dir()]


def _held(site: Site, interest: str, url: str) -> Held | None:
    """The newest crawl that has the page."""
    return next((held for held in shelves_of(site, interest) if held.shelf.page(url) is not None), None)


def _effect(site: Site, interest: str) -> Effect:
    """On the pages of the newest crawl."""
    given = feedback.given(site.database, interest)[::-1]
    yes = sum(one.relevant for one in given)
    before = after = None
    moved: list[Move] = []
    if given and (held := next(iter(shelves_of(site, interest)), None)) is not None:
        shelf = held.shelf
        with shelf.lock:
            known = [(one, page) for one in given if (page := shelf.page(one.url)) is not None]
            first = np.array([page.beta >= shelf.threshold for _, page in known], np.bool_)
            wanted = np.array([one.relevant for one, _ in known], np.bool_)
            noted = np.array([one.worth is not None for one, _ in known], np.bool_)
            then = np.array([(one.worth or 0.0) >= (one.threshold or 0.0) for one, _ in known], np.bool_)
            if noted.any():
                before, after = (_told(agreeing.quality(said[noted], wanted[noted])) for said in (first, then))
            elif known:
                before = _told(agreeing.quality(first, wanted))
            pages, scores = held.worths.scores({one.url: one.relevant for one in given})
            kept = np.array([not page.copy for page in pages], np.bool_)
            shown = [page for page in pages if not page.copy]
            ranks = agreeing.moves(np.array([page.beta for page in shown]), scores[kept])
            moved = [Move(url=shown[at].node, title=shown[at].title, before=a, after=b) for at, a, b in ranks]
    return Effect(yes=yes, no=len(given) - yes, before=before, after=after, moved=moved)


def _told(quality: agreeing.Quality) -> Quality:
    return Quality(
        precision=quality.precision,
        recall=quality.recall,
        accuracy=quality.accuracy,
        labels=quality.labels,
        yes=quality.yes,
        said=quality.said,
        hits=quality.hits,
    )
