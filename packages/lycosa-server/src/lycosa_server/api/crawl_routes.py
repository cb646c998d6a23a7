"""Start, pause, resume, stop and delete crawls. The crawl process carries out these requests a moment later."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from functools import partial
from typing import Annotated, Any, Literal

from fastapi import APIRouter
from pydantic import BaseModel, Field, computed_field

from lycosa.collection.pages import PageArray
from lycosa.core.errors import InputError, StoreError
from lycosa_server.api import Body
from lycosa_server.guards import CrawlAccess, InterestAccess, ServerContext, crawl_to, interest_to
from lycosa_server.people import crawls, erasing, feedback
from lycosa_server.people.database import Row
from lycosa_server.people.interest_settings import MAX_PIECES, InterestSettings
from lycosa_server.people.text_input import clean_line

router = APIRouter(tags=["crawls"])


class CrawlOut(BaseModel):
    id: str
    interest: str
    number: int
    task: Literal["crawl", "refresh"]
    state: Literal["queued", "running", "paused", "stopped", "finished", "failed"]
    wanted: Literal["run", "pause", "stop"]
    reason: str
    budget: int
    pages: int
    relevant: int
    labels_learned: int
    last_label: int = Field(description="The number of the last label that its judge has learned from.")
    judging: Literal["", "labels", "threshold", "topic"] = Field(
        description="Change for which its pages are being judged again; empty if they are not."
    )
    judging_failed: str = Field(description="Why judging again failed the last time.")
    created: float
    started: float | None
    ended: float | None
    due: float | None
    place_in_queue: int | None

    @computed_field  # type: ignore[prop-decorator]
    @property
    def harvest(self) -> float:
        """Share of the fetched pages that are relevant."""
        return self.relevant / self.pages if self.pages else 0.0


class RefreshRequest(Body):
    now: list[Annotated[str, Field(max_length=400)]] = Field(
        [], max_length=200, description="Pieces of addresses; empty: all pages."
    )


class MorePages(Body):
    pages: int = Field(ge=1, le=1_000_000)


def crawl_out(site: ServerContext, row: Row, now: PageArray | None = None) -> CrawlOut:
    place = crawls.queue_positions(site.database).get(row["id"]) if row["state"] == "queued" else None
    counts = {} if now is None else {"pages": len(now), "relevant": int(now.relevant.sum())}
    return CrawlOut(**row | counts, place_in_queue=place)


def crawl_with_page_counts(site: ServerContext, row: Row) -> CrawlOut:
    now, directory = None, site.settings.crawl_directory(row["id"])
    if directory in site.cache:
        with suppress(StoreError, OSError):  # the routes of its pages report the error
            now = site.cache.get(directory).now(feedback.labels_of(site.database, row["interest"]))
    return crawl_out(site, row, now)


@router.get("/interests/{interest}/crawls")
def list_crawls(access: InterestAccess = interest_to("read", "read")) -> list[CrawlOut]:
    """Return the crawls of an interest, newest first."""
    database = access.site.database
    return [crawl_with_page_counts(access.site, row) for row in crawls.of_interest(database, access.interest["id"])]


@router.post("/interests/{interest}/crawls", status_code=201)
def start_crawl(access: InterestAccess = interest_to("edit", "run")) -> CrawlOut:
    """Start a new crawl from scratch; 409 while another one of the interest is queued, running or paused."""
    site = access.site
    budget = min(InterestSettings.from_json(access.interest["settings"]).budget, site.settings.max_budget)
    return _change_crawl(access, "crawl started", crawls.create, site.clock(), access.interest["id"], budget)


@router.get("/crawls/{crawl}")
def show_crawl(access: CrawlAccess = crawl_to("read", "read")) -> CrawlOut:
    """Return one crawl."""
    return crawl_with_page_counts(access.site, access.crawl)


@router.post("/crawls/{crawl}/pause")
def pause_crawl(access: CrawlAccess = crawl_to("edit", "run")) -> CrawlOut:
    """Pause a crawl."""
    return _change_crawl(access, "crawl paused", crawls.pause, access.crawl["id"])


@router.post("/crawls/{crawl}/resume")
def resume_crawl(access: CrawlAccess = crawl_to("edit", "run")) -> CrawlOut:
    """Continue a crawl that was paused, stopped, or failed."""
    return _change_crawl(access, "crawl resumed", crawls.resume, access.site.clock(), access.crawl["id"])


@router.post("/crawls/{crawl}/stop")
def stop_crawl(access: CrawlAccess = crawl_to("edit", "run")) -> CrawlOut:
    """Stop a crawl; it can be resumed later."""
    return _change_crawl(access, "crawl stopped", crawls.stop, access.site.clock(), access.crawl["id"])


@router.post("/crawls/{crawl}/more")
def more_pages(body: MorePages, access: CrawlAccess = crawl_to("edit", "run")) -> CrawlOut:
    """Fetch more pages; a finished crawl continues."""
    site = access.site
    given = (site.clock(), access.crawl["id"], body.pages, site.settings.max_budget)
    return _change_crawl(access, "crawl given more pages", crawls.add_pages, *given)


@router.post("/crawls/{crawl}/refresh")
def refresh_crawl(body: RefreshRequest | None = None, access: CrawlAccess = crawl_to("edit", "run")) -> CrawlOut:
    """Revisit all pages, or with `now` the due ones and those whose URLs contain one of these texts."""
    given = [clean_line(text, "the piece of an address", 300) for text in body.now] if body else []
    pieces = list(dict.fromkeys(filter(None, given)))
    if len(pieces) > MAX_PIECES:
        raise InputError("out-of-range", f"{len(pieces):,} URL filters given: the maximum is {MAX_PIECES:,}")
    change = partial(crawls.refresh, everything=not pieces, revisit_first=pieces)
    return _change_crawl(access, "crawl refreshed", change, access.site.clock(), access.crawl["id"])


@router.delete("/crawls/{crawl}", status_code=204)
def delete_crawl(access: CrawlAccess = crawl_to("edit", "run")) -> None:
    """Delete a crawl and everything it fetched; a running crawl is stopped first."""
    erasing.erase_crawl(access.site.database, access.crawl["id"])
    access.person.record("crawl deleted", access.crawl["id"])


def _change_crawl(access: InterestAccess, action: str, change: Callable[..., Row], *given: Any) -> CrawlOut:
    row = change(access.site.database, *given)
    access.person.record(action, row["id"])
    return crawl_with_page_counts(access.site, row)
