"""Crawls of an interest: started, paused, stopped. What is asked for here, the crawl process does a moment later."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal

from fastapi import APIRouter, HTTPException, Request
from pydantic import BaseModel, ConfigDict, Field

from lycosa.people import audit, crawls, erasing, interests
from lycosa.people.crawls import Gone
from lycosa.people.database import Row
from lycosa.server.address import address_of
from lycosa.server.site import Site, site_of
from lycosa.server.who import Asked, AskedCrawl, Person, crawl_to, interest_to

router = APIRouter(tags=["crawls"])

CONFLICT: dict[int | str, dict[str, Any]] = {409: {"description": "not in the state that it is in now"}}


class Crawl(BaseModel):
    """One crawl, as it is now."""

    id: str
    interest: str
    number: int
    task: Literal["crawl", "refresh"]
    state: Literal["queued", "running", "paused", "stopped", "finished", "failed"]
    wanted: Literal["run", "pause", "stop"]
    reason: str
    budget: int
    pages: int
    found: int
    harvest: float
    lessons: int
    judging: Literal["", "labels", "threshold", "topic"] = Field(
        description="What its pages are being judged again for; empty: nothing."
    )
    judging_failed: str = Field(description="Why the last time came to nothing.")
    created: float
    started: float | None
    ended: float | None
    due: float | None
    place_in_queue: int | None


class NewCrawl(BaseModel):
    """Nothing to say: a crawl is started as its interest wishes."""

    model_config = ConfigDict(extra="forbid")


class More(BaseModel):
    """How many pages more."""

    model_config = ConfigDict(extra="forbid")
    pages: int = Field(ge=1, le=1_000_000)


def told(site: Site, row: Row) -> Crawl:
    """A row as the API tells of it."""
    place = crawls.queue(site.database).get(row["id"]) if row["state"] == "queued" else None
    return Crawl(**crawls.as_data(row, place))


@router.get("/interests/{interest}/crawls")
def list_crawls(request: Request, asked: Asked = interest_to("read", "read")) -> list[Crawl]:
    """The crawls of an interest, the newest first."""
    site = site_of(request)
    rows = crawls.of_interest(site.database, asked.interest["id"])
    places = crawls.queue(site.database) if any(row["state"] == "queued" for row in rows) else {}
    return [Crawl(**crawls.as_data(row, places.get(row["id"]))) for row in rows]


@router.post("/interests/{interest}/crawls", status_code=201, responses=CONFLICT)
def start_crawl(request: Request, body: NewCrawl | None = None, asked: Asked = interest_to("edit", "run")) -> Crawl:
    """A new crawl from scratch; 409 while another one of the interest is queued, running or paused."""
    site = site_of(request)
    wishes = interests.wishes_of(asked.interest)
    budget = min(wishes.budget, site.settings.max_budget)
    row = _do(lambda: crawls.create(site.database, site.clock(), asked.interest["id"], budget))
    _note(request, asked.person, "crawl started", row)
    return told(site, row)


@router.get("/crawls/{crawl}")
def show_crawl(request: Request, asked: AskedCrawl = crawl_to("read", "read")) -> Crawl:
    """One crawl."""
    return told(site_of(request), asked.crawl)


@router.post("/crawls/{crawl}/pause", responses=CONFLICT)
def pause_crawl(request: Request, asked: AskedCrawl = crawl_to("edit", "run")) -> Crawl:
    """Leave it for now."""
    site = site_of(request)
    return _change(request, asked, "crawl paused", lambda: crawls.pause(site.database, asked.crawl["id"]))


@router.post("/crawls/{crawl}/resume", responses=CONFLICT)
def resume_crawl(request: Request, asked: AskedCrawl = crawl_to("edit", "run")) -> Crawl:
    """Go on with one that was paused, stopped, or failed."""
    site = site_of(request)
    return _change(
        request, asked, "crawl resumed", lambda: crawls.resume(site.database, site.clock(), asked.crawl["id"])
    )


@router.post("/crawls/{crawl}/stop", responses=CONFLICT)
def stop_crawl(request: Request, asked: AskedCrawl = crawl_to("edit", "run")) -> Crawl:
    """Enough of it; it may be resumed later."""
    site = site_of(request)
    return _change(request, asked, "crawl stopped", lambda: crawls.stop(site.database, site.clock(), asked.crawl["id"]))


@router.post("/crawls/{crawl}/more", responses=CONFLICT)
def more_pages(request: Request, body: More, asked: AskedCrawl = crawl_to("edit", "run")) -> Crawl:
    """So many pages more; one that is over goes on."""
    site = site_of(request)
    most = site.settings.max_budget

    def change() -> Row:
        return crawls.more(site.database, site.clock(), asked.crawl["id"], body.pages, most)

    return _change(request, asked, "crawl given more pages", change)


@router.post("/crawls/{crawl}/refresh", responses=CONFLICT)
def look_again(request: Request, asked: AskedCrawl = crawl_to("edit", "run")) -> Crawl:
    """Look again, now, at the pages that it has: what is new, changed, gone."""
    site = site_of(request)
    return _change(
        request, asked, "crawl refreshed", lambda: crawls.refresh(site.database, site.clock(), asked.crawl["id"])
    )


@router.delete("/crawls/{crawl}", status_code=204)
def delete_crawl(request: Request, asked: AskedCrawl = crawl_to("edit", "run")) -> None:
    """Delete it and everything it fetched; one that runs is ended first."""
    site = site_of(request)
    erasing.erase_crawl(site.database, asked.crawl["id"])
    _note(request, asked.person, "crawl deleted", asked.crawl)


def _change(request: Request, asked: AskedCrawl, action: str, change: Callable[[], Row]) -> Crawl:
    row = _do(change)
    _note(request, asked.person, action, row)
    return told(site_of(request), row)


def _do(change: Callable[[], Row]) -> Row:
    try:
        return change()
    except Gone as error:  # deleted since the guard looked
        raise HTTPException(404, str(error)) from error


def _note(request: Request, person: Person, action: str, row: Row) -> None:
    site = site_of(request)
    audit.record(site.database, site.clock(), person.id, person.name, action, row["id"], address=address_of(request))
