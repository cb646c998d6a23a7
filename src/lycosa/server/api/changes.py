"""What has become of the pages: a list since the last visit, the difference of two versions, feeds for readers."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any, Literal

from fastapi import APIRouter, HTTPException, Query, Request, Response
from pydantic import BaseModel, Field

from lycosa.collection.reading import Collection
from lycosa.people import audit, interests, sharing, visits
from lycosa.refresh import ledger
from lycosa.refresh.ledger import Told
from lycosa.refresh.telling.feeds import MOST as FEED
from lycosa.refresh.telling.feeds import atom, json_feed
from lycosa.refresh.telling.words import label, plain, reasons
from lycosa.server.address import address_of
from lycosa.server.differing import chosen, difference, versions_of
from lycosa.server.site import Site, site_of
from lycosa.server.who import Asked, AskedCrawl, crawl_to, interest_to, open_to_all
from lycosa.store.log import NAME, VERSIONS, SqliteLog
from lycosa.web.urls import lane

router = APIRouter(tags=["changes"])

LAST_SEQ = 2**53
FEED_TYPES = {"atom": "application/atom+xml", "json": "application/feed+json"}


def _answers(form: str) -> dict[int | str, dict[str, Any]]:
    return {200: {"content": {FEED_TYPES[form]: {"schema": {"type": "string"}}}}}


class ChangeTold(BaseModel):
    """What became of a page."""

    seq: int
    url: str
    title: str
    host: str
    at: float
    what: Literal["changed", "vanished", "moved", "returned", "new"]
    kind: str | None = Field(description="Of a page that changed: topic, text, structure or link.")
    magnitude: float | None = Field(description="From 0, the same, to 1, nothing in common.")
    summary: str
    old: int | None = Field(description="The version before, for GET /crawls/{crawl}/diff.")
    new: int | None = Field(description="The version that it brought.")


class Changes(BaseModel):
    """The newest changes first."""

    crawl: str | None
    since: float
    last_visit: float | None
    changes: list[ChangeTold]


class Feed(BaseModel):
    """Addresses for a feed reader. Whoever knows one can read the changes: they are shown once."""

    atom: str
    json_: str = Field(alias="json")


class DiffSide(BaseModel):
    """A version that is compared."""

    number: int
    seq: int
    at: float
    size: int
    title: str


class DiffWords(BaseModel):
    """How many words there are, and how many came and went."""

    from_: int = Field(alias="from")
    to: int
    removed: int
    added: int
    moved: int
    share: float


class DiffLinks(BaseModel):
    """Links that went and came."""

    removed: list[str]
    added: list[str]


class DiffRow(BaseModel):
    """A block of the page; runs are pieces of text, each with its state."""

    row: int
    state: str
    runs: list[tuple[str, str]]


class Difference(BaseModel):
    """What differs between two versions."""

    url: str
    from_: DiffSide = Field(alias="from")
    to: DiffSide
    versions: int
    says: str
    words: DiffWords
    links: DiffLinks
    rows: list[DiffRow]
    cut: str = Field(description="What was left out, where there is too much of it.")


@router.get("/interests/{interest}/changes")
def list_changes(
    request: Request,
    since: Annotated[float | None, Query(ge=0, le=1e11, allow_inf_nan=False)] = None,
    limit: Annotated[int, Query(ge=1, le=500)] = 100,
    asked: Asked = interest_to("read", "read"),
) -> Changes:
    """Changes since a time, or since the last visit, of the newest crawl's pages."""
    site = site_of(request)
    visited = visits.last(site.database, asked.interest["id"], asked.person.id)
    after = visited if since is None else since
    crawl = interests.newest_crawl(site.database, asked.interest["id"])
    found: list[ChangeTold] = []
    if crawl is not None:
        found = _changes(site, site.settings.crawl_directory(crawl["id"]), after, limit)
    return Changes(crawl=crawl["id"] if crawl else None, since=after, last_visit=visited or None, changes=found)


@router.post("/interests/{interest}/seen", status_code=204, response_class=Response)
def mark_seen(request: Request, asked: Asked = interest_to("read", "read")) -> None:
    """The changes so far were seen: the next visit begins here."""
    site = site_of(request)
    visits.mark(site.database, site.clock(), asked.interest["id"], asked.person.id)


@router.post("/interests/{interest}/feed")
def open_feed(request: Request, asked: Asked = interest_to("read", "account")) -> Feed:
    """New addresses of the feeds; those that were given before lead nowhere from now on."""
    site, person = site_of(request), asked.person
    key = visits.open_feed(site.database, asked.interest["id"], person.id)
    audit.record(
        site.database, site.clock(), person.id, person.name, "feed opened", asked.interest["id"],
        address=address_of(request),
    )  # fmt: skip
    return Feed.model_validate({form: _feed_address(site, key, form) for form in FEED_TYPES})


@router.delete("/interests/{interest}/feed", status_code=204, response_class=Response)
def close_feed(request: Request, asked: Asked = interest_to("read", "account")) -> None:
    """The feeds lead nowhere from now on."""
    visits.close_feed(site_of(request).database, asked.interest["id"], asked.person.id)


@router.get("/feeds/{key}/changes.atom", response_class=Response, responses=_answers("atom"))
def read_atom_feed(request: Request, key: str, _: None = open_to_all()) -> Response:
    """The newest changes as Atom, for a feed reader: the key says of what, and for whom."""
    return _feed(request, key, "atom")


@router.get("/feeds/{key}/changes.json", response_class=Response, responses=_answers("json"))
def read_json_feed(request: Request, key: str, _: None = open_to_all()) -> Response:
    """The same as a JSON Feed."""
    return _feed(request, key, "json")


def _feed(request: Request, key: str, form: str) -> Response:
    site = site_of(request)
    whose = visits.by_key(site.database, key)
    if whose is None or sharing.mode_of(site.database, whose["interest"], whose["person"]) is None:
        raise HTTPException(404, "no such feed")
    interest, crawl = (
        interests.get(site.database, whose["interest"]),
        interests.newest_crawl(site.database, whose["interest"]),
    )
    if interest is None:
        raise HTTPException(404, "no such feed")
    told: list[Told] = []
    identity, at = f"urn:lycosa:{interest['id']}", interest["created"]
    if crawl is not None:
        told, identity, at = _newest(site, site.settings.crawl_directory(crawl["id"]), identity, at)
    page = f"{site.settings.base}/interests/{interest['id']}/changes"
    facts: dict[str, Any] = {
        "crawl": identity,
        "title": interest["name"],
        "address": _feed_address(site, key, form),
        "where": lambda change: f"{page}#{change.seq}",
    }
    body = atom(told, at=at, **facts) if form == "atom" else json_feed(told, **facts)
    return Response(body, media_type=FEED_TYPES[form])


@router.get("/crawls/{crawl}/diff")
def compare_versions(
    url: Annotated[str, Query(min_length=1, max_length=4_000)],
    old: Annotated[int | None, Query(ge=1, le=LAST_SEQ)] = None,
    new: Annotated[int | None, Query(ge=1, le=LAST_SEQ)] = None,
    whole: bool = False,
    asked: AskedCrawl = crawl_to("read", "read"),
) -> Difference:
    """Two versions of a page, by their numbers (`seq`), or its last two; with `whole` also what is the same."""
    if not (asked.directory / NAME).exists():
        raise HTTPException(404, "this crawl has not fetched anything yet")
    with Collection(asked.directory) as collection:
        versions = versions_of(collection, plain(url, 4_000))
        if len(versions) < 2:
            raise HTTPException(404, "there is one version of this page" if versions else "no such page in this crawl")
        found = difference(collection, versions, *chosen(versions, old, new), whole=whole)
    return Difference.model_validate(found)


def _changes(site: Site, directory: Path, since: float, limit: int) -> list[ChangeTold]:
    begins = site.news.begins(directory)
    if begins < 0:
        return []
    log = SqliteLog(directory / NAME, readonly=True)
    try:
        found: list[ChangeTold] = []
        for told in ledger.changes(log, after=begins, since=since, newest_first=True):
            if told.at > since:
                found.append(_told(log, told))
            if len(found) == limit:
                break
        return found
    finally:
        log.close()


def _told(log: SqliteLog, told: Told) -> ChangeTold:
    change = told.change
    here = next(log.rows("1", f"seq = ? AND {VERSIONS}", given=(told.seq,)), None)
    before = next(
        log.rows("seq", f"node = ? AND seq < ? AND {VERSIONS}", "seq DESC LIMIT 1", (told.url, told.seq)), None
    )
    changed = change.what == "changed"
    return ChangeTold(
        seq=told.seq,
        url=plain(told.url, 10_000),
        title=plain(told.title),
        host=lane(told.url),
        at=told.at,
        what=change.what,
        kind=change.kind if changed else None,
        magnitude=round(change.magnitude, 4) if changed else None,
        summary="; ".join([label(change), *(line.removeprefix("main-text: ") for line in reasons(change)[:1])]),
        old=int(before[0]) if before else None,
        new=told.seq if here else None,
    )


def _newest(site: Site, directory: Path, identity: str, at: float) -> tuple[list[Told], str, float]:
    """What a feed holds, what it is called for ever, and its time if it is empty."""
    if not (directory / NAME).exists():
        return [], identity, at
    begins = site.news.begins(directory)
    log = SqliteLog(directory / NAME, readonly=True)
    try:
        told: list[Told] = []
        for change in ledger.changes(log, after=begins, newest_first=True) if begins >= 0 else ():
            told.append(change)
            if len(told) == FEED:
                break
        return told, ledger.identity(log).urn, at
    finally:
        log.close()


def _feed_address(site: Site, key: str, form: str) -> str:
    return f"{site.settings.base}/api/v1/feeds/{key}/changes.{form}"
