"""Interests: making, changing, sharing and deleting them, and what there is at a glance."""

from __future__ import annotations

import time
from typing import Literal

from fastapi import APIRouter, HTTPException, UploadFile
from pydantic import BaseModel, Field

from lycosa.web.sources.files import read_seeds
from lycosa.web.urls import check_seed
from lycosa_server.api import Body, Named
from lycosa_server.api.crawls import Crawl, crawl_as_told, crawl_seen
from lycosa_server.guards import InterestAccess, Person, interest_to, needs, sharer
from lycosa_server.news import changes_since
from lycosa_server.people import crawls, erasing, interests, sharing
from lycosa_server.people.permissions import Mode, NotFound
from lycosa_server.people.wishes import MOST_URLS, Wishes
from lycosa_server.validation import checked

router = APIRouter(tags=["interests"])


class NewInterest(Body):
    name: str = Field(min_length=1, max_length=200)
    wishes: Wishes
    look_again: str = Field(
        "", max_length=100, description="How often to look for changes, as in 6h or 1d; empty: never."
    )


class ChangedInterest(Body):
    """What is to be changed of it; what is left out or null stays."""

    name: str | None = Field(None, min_length=1, max_length=200)
    wishes: Wishes | None = None
    look_again: str | None = Field(None, max_length=100)
    threshold: float | None = Field(
        None, ge=0, le=1_000, allow_inf_nan=False, description="Of the wishes this one alone; crawls go by it at once."
    )


class Labels(BaseModel):
    yes: int
    no: int


class Interest(Named):
    owner: Named
    mode: Mode
    wishes: Wishes
    look_again: str
    created: float
    changed: float
    crawl: Crawl | None = Field(description="The newest one.")
    labels: Labels
    shares: int = Field(description="With how many people it is shared.")
    unseen: int | None = Field(description="Changes since the last visit; null where nothing was looked at again yet.")


class NewShare(Body):
    name: str = Field(min_length=1, max_length=100)
    mode: Literal["read", "edit"]


class Share(BaseModel):
    person: Named
    mode: Literal["read", "edit"]
    created: float


@router.get("/interests")
def list_interests(person: Person = needs("read")) -> list[Interest]:
    """Your interests and those shared with you, most recently changed first."""
    return _interests(person)


@router.post("/interests", status_code=201)
def make_interest(body: NewInterest, person: Person = needs("write")) -> Interest:
    """Create an interest; its crawl is started separately."""
    site = person.site
    wishes = checked(body.wishes, site.database, site.settings.max_budget, person.id, site.settings.model_file)
    row = interests.create(
        site.database, site.clock(), person.id, body.name, wishes, body.look_again, site.settings.max_interests
    )
    return _interest(person, row["id"])


@router.get("/interests/{interest}")
def get_interest(access: InterestAccess = interest_to("read", "read")) -> Interest:
    """One interest."""
    return _interest(access.person, access.interest["id"])


@router.patch("/interests/{interest}")
def change_interest(body: ChangedInterest, access: InterestAccess = interest_to("edit", "write")) -> Interest:
    """Change its name, its wishes, how often pages are revisited. The next crawl uses the new wishes.

    A `threshold` of its own also holds for the pages that its crawls have: a moment later they are counted by it.
    """
    site, database, interest = access.site, access.site.database, access.interest["id"]
    wishes = None
    if body.wishes is not None:
        before = None if access.interest["mode"] == "own" else Wishes.of_json(access.interest["wishes"])
        wishes = checked(
            body.wishes, database, site.settings.max_budget, access.interest["owner"],
            site.settings.model_file, before,
        )  # fmt: skip
    with database.transaction():
        if body.threshold is not None:
            row = database.get("interest", interest, locked=True)
            wishes = wishes or Wishes.of_json((row or access.interest)["wishes"])
            wishes.threshold = body.threshold
            crawls.judge_again(database, interest, "threshold")
        interests.change(database, site.clock(), interest, name=body.name, wishes=wishes, look_again=body.look_again)
    return _interest(access.person, interest)


@router.post("/interests/{interest}/judge", status_code=202)
def judge_again(access: InterestAccess = interest_to("edit", "run")) -> Interest:
    """Judge the pages of its crawls again, by its current words, examples, judge and threshold.

    Nothing is fetched. `judging` of a crawl says how long it takes; one that runs goes on with the new topic.
    """
    interest = access.interest["id"]
    crawls.judge_again(access.site.database, interest, "topic")
    access.person.record("pages judged again", interest)
    return _interest(access.person, interest)


@router.delete("/interests/{interest}", status_code=204)
def delete_interest(access: InterestAccess = interest_to("own", "write")) -> None:
    """Delete it with all its crawls, including for the people it is shared with."""
    site = access.site
    erased = erasing.erase_interest(site.database, access.interest["id"])
    site.database.scour()
    # Remove what nobody writes in right away; the crawl process sees to the rest, and looks after this.
    erasing.sweep([site.settings.crawl_directory(crawl) for crawl in erased])
    access.person.record("interest deleted", access.interest["id"], f"with {len(erased)} crawls")


def _interest(person: Person, interest: str) -> Interest:
    found = _interests(person, interest)
    if not found:
        raise NotFound("no such interest")  # deleted, or no longer shared, in this very moment
    return found[0]


def _interests(person: Person, interest: str = "") -> list[Interest]:
    site, database = person.site, person.site.database
    crawls = interests.newest_crawls(database, person.id)
    until = time.monotonic() + 0.1  # what is not counted then is, the next time
    return [
        Interest(
            **row
            | {
                "owner": Named(id=row["owner"], name=row["owner_name"]),
                "mode": "read" if person.role == "reader" else row["mode"],  # whatever it was shared for
                "wishes": Wishes.of_json(row["wishes"]),
                "crawl": (crawl_seen if interest else crawl_as_told)(site, crawl) if crawl else None,
                "labels": Labels(**row),
                "unseen": changes_since(site.settings.crawl_directory(crawl["id"]), row["seen"])
                if crawl and time.monotonic() < until
                else None,
            }
        )
        for row in interests.of_person(database, person.id, interest)
        for crawl in [crawls.get(row["id"])]
    ]


# -- sharing ---------------------------------------------------------------------------------------------------


@router.get("/interests/{interest}/shares")
def list_shares(access: InterestAccess = interest_to("own", "read")) -> list[Share]:
    """The people it is shared with."""
    rows = sharing.people(access.site.database, access.interest["id"])
    return [Share(**row | {"person": Named(id=row["person"], name=row["name"])}) for row in rows]


@router.put("/interests/{interest}/shares")
def share(body: NewShare, access: InterestAccess = interest_to("own", "write")) -> list[Share]:
    """Share it with someone, or change their permission. They are notified. A reader still can't edit."""
    site, person = access.site, access.person
    other = sharing.share(site.database, site.clock(), access.interest, person.name, body.name, body.mode)
    person.record("interest shared", access.interest["id"], f"with {other['name']}, to {body.mode}")
    return list_shares(access)


@router.delete("/interests/{interest}/shares/{person}", status_code=204)
def stop_sharing(person: str, access: InterestAccess = sharer()) -> None:
    """Stop sharing it with this person; or leave it yourself."""
    if not sharing.stop(access.site.database, access.interest["id"], person):
        raise NotFound("it is not shared with this person")
    leaves = person == access.person.id
    detail = "" if leaves else f"with {person}"
    access.person.record("interest left" if leaves else "interest unshared", access.interest["id"], detail)


# -- addresses out of a file: bookmarks, OPML, a list. Nothing of it is kept, nothing is fetched ---------------------

MOST_BYTES = 5_000_000


class Found(BaseModel):
    """An address, and what the file calls it."""

    url: str
    title: str


class Imported(BaseModel):
    form: str = Field(description="bookmarks, opml, list, sitemap, feed, or page")
    urls: list[Found]
    skipped: int = Field(description="Entries that are no web addresses, or too many.")
    note: str


@router.post("/imports")
def read_file(file: UploadFile, person: Person = needs("write")) -> Imported:
    """Read the addresses of a file: bookmarks of any browser, OPML, a list, a saved sitemap, feed or page."""
    body = file.file.read(MOST_BYTES + 1)
    if len(body) > MOST_BYTES:
        raise HTTPException(413, f"the file has more than {MOST_BYTES // 1_000_000} MB: split it")
    name = (file.filename or "").replace("\\", "/").rpartition("/")[2].strip()[:100]
    source = read_seeds(body, name if name and name.isprintable() else "the file")
    listed = [check_seed(text) for text in source.lines]
    skipped = source.skipped + listed.count(None)
    found = {url: "" for url in listed if url is not None}
    for url, title in zip(source.links.urls, source.links.anchors, strict=True):
        found.setdefault(url, title)
    notes = [source.note] if source.note else []
    if source.nested:
        notes.append(f"{len(source.nested)} further files that it names (feeds, sitemaps) are not read")
    if len(found) > MOST_URLS:
        notes.append(f"the first {MOST_URLS:,} of {len(found):,} addresses are taken")
        skipped += len(found) - MOST_URLS
    urls = [Found(url=url, title=title[:300]) for url, title in list(found.items())[:MOST_URLS]]
    form = {"sitemap index": "sitemap", "html page": "page"}.get(source.form, source.form)
    return Imported(form=form, urls=urls, skipped=skipped, note="; ".join(notes))
