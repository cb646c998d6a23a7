"""Interests: making, changing and deleting them, and what there is at a glance."""

from __future__ import annotations

import time
from dataclasses import asdict
from typing import Annotated, Any

from fastapi import APIRouter, HTTPException, Request, Response
from pydantic import BaseModel, ConfigDict, Field

from lycosa.people import audit, crawls, erasing, interests, visits
from lycosa.people.database import Row
from lycosa.people.wishes import AUTOMATIC, Wishes
from lycosa.server.address import address_of
from lycosa.server.api.crawls import Crawl
from lycosa.server.api.crawls import told as told_crawl
from lycosa.server.site import Site, site_of
from lycosa.server.who import Asked, Mode, Person, interest_to, needs
from lycosa.server.wishing import checked

router = APIRouter(tags=["interests"])

COUNTING = 0.1
"""Seconds that one request may spend on counting changes; what is not counted then is, the next time."""

Url = Annotated[str, Field(max_length=4_000)]
Piece = Annotated[str, Field(max_length=400)]


class Wished(BaseModel):
    """What to hunt, from where, how far. At least words or an example, and at least a seed or a preference."""

    model_config = ConfigDict(extra="forbid")
    words: str = Field("", max_length=1_000)
    examples: list[Url] = Field([], max_length=200, description="Addresses of pages like those that are wanted.")
    seeds: list[Url] = Field([], max_length=2_000, description="Addresses to start from.")
    preferences: list[Piece] = Field(
        [], max_length=200, description="Parts of the catalogue whose seeds are used, too."
    )
    strategy: str = Field(AUTOMATIC, max_length=300, description="automatic, or one of GET /strategies.")
    judge: str = Field(AUTOMATIC, max_length=300, description="automatic, or one of GET /judges.")
    budget: int = Field(500, ge=1, le=1_000_000, description="Pages to fetch.")
    threshold: float = Field(
        0.0, ge=0, le=1_000, allow_inf_nan=False, description="What counts as found; 0: the judge's."
    )
    hosts: list[Piece] = Field([], max_length=200)
    domains: list[Piece] = Field([], max_length=200)
    exclude: list[Piece] = Field([], max_length=200, description="Pieces of addresses that are left alone.")
    languages: list[Piece] = Field([], max_length=200)
    max_depth: int = Field(0, ge=0, le=1_000)
    host_budget: int = Field(0, ge=0, le=1_000_000)


class NewInterest(BaseModel):
    """An interest to be made."""

    model_config = ConfigDict(extra="forbid")
    name: str = Field(min_length=1, max_length=200)
    wishes: Wished
    look_again: str = Field(
        "", max_length=100, description="How often to look for changes, as in 6h or 1d; empty: never."
    )


class ChangedInterest(BaseModel):
    """What is to be changed of it; what is left out or null stays."""

    model_config = ConfigDict(extra="forbid")
    name: str | None = Field(None, min_length=1, max_length=200)
    wishes: Wished | None = None
    look_again: str | None = Field(None, max_length=100)
    threshold: float | None = Field(
        None, ge=0, le=1_000, allow_inf_nan=False, description="Of the wishes this one alone; crawls go by it at once."
    )


class Named(BaseModel):
    """A person, as others see them."""

    id: str
    name: str


class Labels(BaseModel):
    """How many pages were said yes and no to."""

    yes: int
    no: int


class Interest(BaseModel):
    """An interest, as somebody sees it who may."""

    id: str
    name: str
    owner: Named
    mode: Mode
    wishes: Wished
    look_again: str
    created: float
    changed: float
    crawl: Crawl | None = Field(description="The newest one.")
    labels: Labels
    shares: int = Field(description="With how many people it is shared.")
    unseen: int | None = Field(description="Changes since the last visit; null where nothing was looked at again yet.")


@router.get("/interests")
def list_interests(request: Request, person: Person = needs("read")) -> list[Interest]:
    """One's own interests, and those that are shared with one; the last changed first."""
    site = site_of(request)
    return _shown(site, person, interests.of_person(site.database, person.id))


@router.post("/interests", status_code=201)
def make_interest(request: Request, body: NewInterest, person: Person = needs("write")) -> Interest:
    """Make an interest; a crawl of it is started apart from that."""
    site = site_of(request)
    wishes = checked(body.wishes.model_dump(), site.database, site.settings.max_budget)
    row = interests.create(
        site.database, site.clock(), person.id, body.name, wishes, body.look_again, site.settings.max_interests
    )
    return _one(site, person, row["id"])


@router.get("/interests/{interest}")
def get_interest(request: Request, asked: Asked = interest_to("read", "read")) -> Interest:
    """One interest."""
    return _one(site_of(request), asked.person, asked.interest["id"])


@router.patch("/interests/{interest}")
def change_interest(request: Request, body: ChangedInterest, asked: Asked = interest_to("edit", "write")) -> Interest:
    """Change its name, its wishes, how often pages are looked at again. The next crawl goes by the new wishes.

    A `threshold` of its own also holds for the pages that its crawls have: a moment later they are counted by it.
    """
    site, database, interest = site_of(request), site_of(request).database, asked.interest["id"]
    wishes = None
    if body.wishes is not None:
        wishes = checked(body.wishes.model_dump(), database, site.settings.max_budget)
    with database.transaction():
        if body.threshold is not None:
            row = database.row(f"SELECT * FROM interest WHERE id = ?{database.lock}", interest)
            wishes = wishes or interests.wishes_of(row or asked.interest)
            wishes.threshold = body.threshold
            crawls.judge_again(database, interest, "threshold")
        interests.change(database, site.clock(), interest, name=body.name, wishes=wishes, look_again=body.look_again)
    return _one(site, asked.person, interest)


@router.post("/interests/{interest}/judge", status_code=202)
def judge_again(request: Request, asked: Asked = interest_to("edit", "run")) -> Interest:
    """Judge the pages that its crawls have again, by its words, examples, judge and threshold as they are now.

    Nothing is fetched. `judging` of a crawl says how long it takes; one that runs goes on with the new topic.
    """
    site, person, interest = site_of(request), asked.person, asked.interest["id"]
    crawls.judge_again(site.database, interest, "topic")
    audit.record(
        site.database, site.clock(), person.id, person.name, "pages judged again", interest,
        address=address_of(request),
    )  # fmt: skip
    return _one(site, person, interest)


@router.delete("/interests/{interest}", status_code=204, response_class=Response)
def delete_interest(request: Request, asked: Asked = interest_to("own", "write")) -> None:
    """Delete it with everything that was found for it, also for those it is shared with."""
    site, person = site_of(request), asked.person
    erased = erasing.erase_interest(site.database, asked.interest["id"])
    site.database.scour()
    sweep(site, erased)
    audit.record(
        site.database, site.clock(), person.id, person.name, "interest deleted", asked.interest["id"],
        f"with {len(erased)} crawls", address_of(request),
    )  # fmt: skip


def sweep(site: Site, erased: list[str]) -> None:
    """Remove what nobody writes in right away; the crawl process sees to the rest, and looks after this."""
    erasing.sweep([site.settings.crawl_directory(crawl) for crawl in erased])


def _one(site: Site, person: Person, interest: str) -> Interest:
    found = [row for row in interests.of_person(site.database, person.id) if row["id"] == interest]
    if not found:
        raise HTTPException(404, "no such interest")  # deleted, or no longer shared, in this very moment
    return _shown(site, person, found)[0]


def _shown(site: Site, person: Person, rows: list[Row]) -> list[Interest]:
    beside = interests.beside(site.database, person.id)
    seen = visits.all_of(site.database, person.id)
    until = time.monotonic() + COUNTING
    return [
        Interest(
            id=row["id"],
            name=row["name"],
            owner=Named(id=row["owner"], name=row["owner_name"]),
            mode="read" if person.role == "reader" else row["mode"],  # whatever it was shared for
            wishes=_wished(row),
            look_again=row["look_again"],
            created=row["created"],
            changed=row["changed"],
            crawl=told_crawl(site, crawl) if (crawl := beside["crawls"].get(row["id"])) else None,
            labels=_labels(beside["labels"].get(row["id"])),
            shares=int(beside["shares"][row["id"]]["n"]) if row["id"] in beside["shares"] else 0,
            unseen=_unseen(site, crawl, seen.get(row["id"], 0.0), until),
        )
        for row in rows
    ]


def _wished(row: Row) -> Wished:
    kept: Wishes = interests.wishes_of(row)
    return Wished.model_construct(**asdict(kept))  # was checked when it was kept


def _labels(row: dict[str, Any] | None) -> Labels:
    return Labels(yes=int(row["yes"]), no=int(row["no"])) if row else Labels(yes=0, no=0)


def _unseen(site: Site, crawl: Row | None, since: float, until: float) -> int | None:
    return None if crawl is None else site.news.count(site.settings.crawl_directory(crawl["id"]), since, until)
