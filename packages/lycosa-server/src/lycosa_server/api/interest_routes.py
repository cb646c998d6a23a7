"""Create, change, share and delete interests; import seeds from files."""

from __future__ import annotations

import time
from typing import Literal

from fastapi import APIRouter, HTTPException, UploadFile
from pydantic import BaseModel, Field

from lycosa.web.sources.seed_files import read_seeds
from lycosa.web.urls import check_seed
from lycosa_server.api import Body, Named
from lycosa_server.api.crawl_routes import CrawlOut, crawl_out, crawl_with_page_counts
from lycosa_server.guards import Caller, InterestAccess, interest_to, needs, sharer
from lycosa_server.people import crawls, erasing, interests, sharing
from lycosa_server.people.interest_settings import MAX_URLS, InterestSettings
from lycosa_server.people.permissions import Mode, NotFound
from lycosa_server.unseen_changes import changes_since
from lycosa_server.validation import validate_settings

router = APIRouter(tags=["interests"])


class NewInterest(Body):
    name: str = Field(min_length=1, max_length=200)
    settings: InterestSettings
    revisit_every: str = Field(
        "", max_length=100, description="How often to look for changes, as in 6h or 1d; empty: never."
    )


class ChangedInterest(Body):
    """Fields to change; omitted and null fields keep their values."""

    name: str | None = Field(None, min_length=1, max_length=200)
    settings: InterestSettings | None = None
    revisit_every: str | None = Field(None, max_length=100)
    threshold: float | None = Field(
        None,
        ge=0,
        le=1_000,
        allow_inf_nan=False,
        description="Of the settings this one alone; crawls go by it at once.",
    )


class LabelCounts(BaseModel):
    yes: int
    no: int


class InterestOut(Named):
    owner: Named
    mode: Mode
    settings: InterestSettings
    revisit_every: str
    created: float
    changed: float
    crawl: CrawlOut | None = Field(description="The newest one.")
    labels: LabelCounts
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
def list_interests(person: Caller = needs("read")) -> list[InterestOut]:
    """Return your interests and those shared with you, most recently changed first."""
    return _interests(person)


@router.post("/interests", status_code=201)
def make_interest(body: NewInterest, person: Caller = needs("write")) -> InterestOut:
    """Create an interest; its crawl is started separately."""
    site = person.site
    settings = validate_settings(
        body.settings, site.database, site.settings.max_budget, person.id, site.settings.model_file
    )
    row = interests.create(
        site.database, site.clock(), person.id, body.name, settings, body.revisit_every, site.settings.max_interests
    )
    return _interest(person, row["id"])


@router.get("/interests/{interest}")
def get_interest(access: InterestAccess = interest_to("read", "read")) -> InterestOut:
    """Return one interest."""
    return _interest(access.person, access.interest["id"])


@router.patch("/interests/{interest}")
def change_interest(body: ChangedInterest, access: InterestAccess = interest_to("edit", "write")) -> InterestOut:
    """Change fields for the next crawl. A separate `threshold` also applies to existing crawls, within moments."""
    site, database, interest = access.site, access.site.database, access.interest["id"]
    settings = None
    if body.settings is not None:
        before = None if access.interest["mode"] == "own" else InterestSettings.from_json(access.interest["settings"])
        settings = validate_settings(
            body.settings, database, site.settings.max_budget, access.interest["owner"],
            site.settings.model_file, before,
        )  # fmt: skip
    with database.transaction():
        if body.threshold is not None:
            row = database.get("interest", interest, locked=True)
            settings = settings or InterestSettings.from_json((row or access.interest)["settings"])
            settings.threshold = body.threshold
            crawls.request_judging(database, interest, "threshold")
        changes = {"name": body.name, "revisit_every": body.revisit_every}
        interests.change(database, site.clock(), interest, settings=settings, **changes)
    return _interest(access.person, interest)


@router.post("/interests/{interest}/judge", status_code=202)
def judge_again(access: InterestAccess = interest_to("edit", "run")) -> InterestOut:
    """Judge the pages of all crawls by the current settings, without fetching; `judging` is set until it is done."""
    interest = access.interest["id"]
    crawls.request_judging(access.site.database, interest, "topic")
    access.person.record("pages judged again", interest)
    return _interest(access.person, interest)


@router.delete("/interests/{interest}", status_code=204)
def delete_interest(access: InterestAccess = interest_to("own", "write")) -> None:
    """Delete an interest with all its crawls, also for the people it is shared with."""
    site = access.site
    erased = erasing.erase_interest(site.database, access.interest["id"])
    site.database.truncate_wal()
    # Idle directories are removed right away; the crawl process removes the rest.
    erasing.remove_directories([site.settings.crawl_directory(crawl) for crawl in erased])
    access.person.record("interest deleted", access.interest["id"], f"with {len(erased)} crawls")


def _interest(person: Caller, interest: str) -> InterestOut:
    found = _interests(person, interest)
    if not found:
        raise NotFound("no such interest")  # deleted or unshared during the request
    return found[0]


def _interests(person: Caller, interest: str = "") -> list[InterestOut]:
    site, database = person.site, person.site.database
    crawls = interests.newest_crawls(database, person.id)
    until = time.monotonic() + 0.1  # time for counting changes; the rest is counted by later requests
    return [
        InterestOut(
            **row
            | {
                "owner": Named(id=row["owner"], name=row["owner_name"]),
                "mode": "read" if person.role == "reader" else row["mode"],  # readers cannot edit shared interests
                "settings": InterestSettings.from_json(row["settings"]),
                "crawl": (crawl_with_page_counts if interest else crawl_out)(site, crawl) if crawl else None,
                "labels": LabelCounts(**row),
                "unseen": changes_since(site.settings.crawl_directory(crawl["id"]), row["seen"])
                if crawl and time.monotonic() < until
                else None,
            }
        )
        for row in interests.of_person(database, person.id, interest)
        for crawl in [crawls.get(row["id"])]
    ]


@router.get("/interests/{interest}/shares")
def list_shares(access: InterestAccess = interest_to("own", "read")) -> list[Share]:
    """Return the people that an interest is shared with."""
    rows = sharing.people(access.site.database, access.interest["id"])
    return [Share(**row | {"person": Named(id=row["person"], name=row["name"])}) for row in rows]


@router.put("/interests/{interest}/shares")
def share(body: NewShare, access: InterestAccess = interest_to("own", "write")) -> list[Share]:
    """Share an interest with someone, or change their permission, and notify them. A reader still can't edit."""
    site, person = access.site, access.person
    other = sharing.share(site.database, site.clock(), access.interest, person.name, body.name, body.mode)
    person.record("interest shared", access.interest["id"], f"with {other['name']}, to {body.mode}")
    return list_shares(access)


@router.delete("/interests/{interest}/shares/{person}", status_code=204)
def stop_sharing(person: str, access: InterestAccess = sharer()) -> None:
    """Stop sharing an interest with this person; or leave it yourself."""
    if not sharing.unshare(access.site.database, access.interest["id"], person):
        raise NotFound("it is not shared with this person")
    leaves = person == access.person.id
    detail = "" if leaves else f"with {person}"
    access.person.record("interest left" if leaves else "interest unshared", access.interest["id"], detail)


MAX_BYTES = 5_000_000


class ImportedSeed(BaseModel):
    """URL and title of a seed in the file."""

    url: str
    title: str


class ImportOut(BaseModel):
    form: str = Field(description="bookmarks, opml, list, sitemap, feed, or page")
    urls: list[ImportedSeed]
    skipped: int = Field(description="Entries that are not URLs, or too many.")
    note: str


@router.post("/imports")
def read_file(file: UploadFile, person: Caller = needs("write")) -> ImportOut:
    """Read the URLs in a file, without storing it: bookmarks, OPML, a list, a saved sitemap, feed or page."""
    body = file.file.read(MAX_BYTES + 1)
    if len(body) > MAX_BYTES:
        raise HTTPException(413, f"the file has more than {MAX_BYTES // 1_000_000} MB: split it")
    name = (file.filename or "").replace("\\", "/").rpartition("/")[2].strip()[:100]
    source = read_seeds(body, name if name and name.isprintable() else "the file")
    listed = [check_seed(text) for text in source.lines]
    skipped = source.skipped + listed.count(None)
    found = {url: "" for url in listed if url is not None}
    for url, title in zip(source.links.urls, source.links.anchors, strict=True):
        found.setdefault(url, title)
    notes = [source.note] if source.note else []
    if source.nested:
        notes.append(f"{len(source.nested)} files that it links to (feeds, sitemaps) are not read")
    if len(found) > MAX_URLS:
        notes.append(f"the first {MAX_URLS:,} of {len(found):,} URLs are used")
        skipped += len(found) - MAX_URLS
    urls = [ImportedSeed(url=url, title=title[:300]) for url, title in list(found.items())[:MAX_URLS]]
    form = {"sitemap index": "sitemap", "html page": "page"}.get(source.form, source.form)
    return ImportOut(form=form, urls=urls, skipped=skipped, note="; ".join(notes))
