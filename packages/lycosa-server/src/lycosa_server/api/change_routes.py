"""Changes of pages: list, comparison of two versions, Atom feed."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing, contextmanager
from itertools import islice
from typing import Annotated, Any, Literal

from fastapi import APIRouter, HTTPException, Query, Request, Response
from pydantic import BaseModel, Field

from lycosa.collection.crawl_directory import CrawlDirectory
from lycosa.collection.tracing import compared, spellings
from lycosa.core.errors import InputError
from lycosa.core.types import Visit
from lycosa.revisit import ledger
from lycosa.revisit.feeds import MAX_ENTRIES as FEED
from lycosa.revisit.feeds import atom
from lycosa.revisit.ledger import LoggedChange, describe_change, plain_line, reasons
from lycosa.store.log import NAME, VERSIONS, SqliteLog
from lycosa.web.urls import host_key
from lycosa_server.guards import CrawlAccess, InterestAccess, ServerContext, crawl_to, interest_to, open_to_all, site_of
from lycosa_server.people import interests, permissions
from lycosa_server.people import last_seen as visits
from lycosa_server.people.database import Row
from lycosa_server.people.permissions import NotFound

router = APIRouter(tags=["changes"])

LAST_SEQ = 2**53
ATOM = "application/atom+xml"

MAX_ROWS = 2_000
MAX_LINKS = 500
MAX_COMPARED_CHARACTERS = 300_000  # characters compared per version; more would take over a second


class ChangeOut(BaseModel):
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


class ChangeList(BaseModel):
    crawl: str | None
    since: float
    last_visit: float | None
    changes: list[ChangeOut]


class DiffSide(BaseModel):
    number: int
    seq: int
    at: float
    size: int
    title: str


class VersionDiff(BaseModel):
    """The differences between two versions of a page."""

    url: str
    from_: DiffSide = Field(alias="from")
    to: DiffSide
    versions: int
    says: str
    words: dict[str, float] = Field(description="How many: from, to, removed, added, moved; and the share of these.")
    links: dict[str, list[str]] = Field(description="Those removed and those added.")
    rows: list[dict[str, Any]] = Field(description="Blocks of the page: row, state, and runs of text with their state.")
    cut: str = Field(description="What was left out, where there is too much of it.")


@router.get("/interests/{interest}/changes")
def list_changes(
    since: Annotated[float | None, Query(ge=0, le=1e11, allow_inf_nan=False)] = None,
    limit: Annotated[int, Query(ge=1, le=500)] = 100,
    access: InterestAccess = interest_to("read", "read"),
) -> ChangeList:
    """Return changes of the latest crawl's pages since a time, by default since your last visit."""
    site, interest = access.site, access.interest["id"]
    visited = visits.last_seen_at(site.database, interest, access.person.id)
    after = visited if since is None else since
    crawl = interests.newest_crawl(site.database, interest)
    changes: list[ChangeOut] = []
    with _open_log(site, crawl) as log:
        if log is not None:
            changes = [_change(log, item) for item in islice(_newest_first(log, after), limit)]
    return ChangeList(crawl=crawl["id"] if crawl else None, since=after, last_visit=visited or None, changes=changes)


@router.post("/interests/{interest}/seen", status_code=204)
def mark_seen(access: InterestAccess = interest_to("read", "read")) -> None:
    """Mark the changes so far as seen."""
    visits.mark_seen(access.site.database, access.site.clock(), access.interest["id"], access.person.id)


@router.post("/interests/{interest}/feed")
def open_feed(access: InterestAccess = interest_to("read", "account")) -> dict[str, str]:
    """Create a secret URL for the feed, which is shown once; an earlier one is revoked."""
    site, interest = access.site, access.interest["id"]
    key = visits.open_feed(site.database, interest, access.person.id)
    access.person.record("feed opened", interest)
    return {"atom": _feed_address(site, key)}


@router.delete("/interests/{interest}/feed", status_code=204)
def close_feed(access: InterestAccess = interest_to("read", "account")) -> None:
    """Revoke the URL of the feed."""
    visits.close_feed(access.site.database, access.interest["id"], access.person.id)


@router.get(
    "/feeds/{key}/changes.atom",
    response_class=Response,
    responses={200: {"content": {ATOM: {"schema": {"type": "string"}}}}},
)
def read_feed(request: Request, key: str, _: None = open_to_all()) -> Response:
    """Return the latest changes as Atom, for a feed reader; the key identifies the interest and the person."""
    site = site_of(request)
    database = site.database
    owner = visits.by_key(database, key)
    if owner is None:
        raise NotFound("no such feed")
    interest = permissions.interest_for(database, owner["person"], owner["interest"])
    changes: list[LoggedChange] = []
    identity = f"urn:lycosa:{interest['id']}"
    with _open_log(site, interests.newest_crawl(database, interest["id"])) as log:
        if log is not None:
            changes = list(islice(_newest_first(log), FEED))
            identity = ledger.identity(log).urn  # permanent id of the feed
    page = f"{site.settings.base}/interests/{interest['id']}/changes"
    body = atom(
        changes,
        crawl=identity,
        title=interest["name"],
        at=interest["created"],
        address=_feed_address(site, key),
        where=lambda change: f"{page}#{change.seq}",
    )
    return Response(body, media_type=ATOM)


@contextmanager
def _open_log(site: ServerContext, crawl: Row | None) -> Iterator[SqliteLog | None]:
    path = site.settings.crawl_directory(crawl["id"]) / NAME if crawl else None
    if path is None or not path.exists():
        yield None
        return
    with closing(SqliteLog(path, readonly=True)) as log:
        yield log


def _newest_first(log: SqliteLog, since: float = -1.0) -> Iterator[LoggedChange]:
    return (item for item in ledger.changes(log, since=since, newest_first=True) if item.at > since)


def _change(log: SqliteLog, item: LoggedChange) -> ChangeOut:
    change = item.change
    here = next(log.rows("1", f"seq = ? AND {VERSIONS}", given=(item.seq,)), None)
    earlier = log.rows("seq", f"url = ? AND seq < ? AND {VERSIONS}", "seq DESC LIMIT 1", (item.url, item.seq))
    changed = change.what == "changed"
    return ChangeOut(
        seq=item.seq,
        url=plain_line(item.url, 10_000),
        title=plain_line(item.title),
        host=host_key(item.url),
        at=item.at,
        what=change.what,
        kind=change.kind if changed else None,
        magnitude=round(change.magnitude, 4) if changed else None,
        summary="; ".join(
            [describe_change(change), *(line.removeprefix("main-text: ") for line in reasons(change)[:1])]
        ),
        old=next((int(seq) for (seq,) in earlier), None),
        new=item.seq if here else None,
    )


def _feed_address(site: ServerContext, key: str) -> str:
    return f"{site.settings.base}/api/v1/feeds/{key}/changes.atom"


@router.get("/crawls/{crawl}/diff")
def compare_versions(
    url: Annotated[str, Query(min_length=1, max_length=4_000)],
    old: Annotated[int | None, Query(ge=1, le=LAST_SEQ)] = None,
    new: Annotated[int | None, Query(ge=1, le=LAST_SEQ)] = None,
    whole: bool = False,
    access: CrawlAccess = crawl_to("read", "read"),
) -> VersionDiff:
    """Compare two versions of a page by their numbers (`seq`), or the last two; `whole` includes unchanged parts."""
    if not (access.directory / NAME).exists():
        raise HTTPException(404, "this crawl has not fetched anything yet")
    with CrawlDirectory(access.directory) as collection:
        versions = _versions_of(collection, plain_line(url, 4_000))
        if len(versions) < 2:
            raise HTTPException(404, "this page has only one version" if versions else "no such page in this crawl")
        return _version_diff(collection, versions, *_places(versions, old, new), whole=whole)


def _versions_of(collection: CrawlDirectory, url: str) -> list[tuple[int, Visit]]:
    for node in spellings(url):
        if found := list(collection.log.numbered(f"url = ? AND {VERSIONS}", given=(node,))):
            return found
    return []


def _places(versions: list[tuple[int, Visit]], old: int | None, new: int | None) -> tuple[int, int]:
    numbers = [seq for seq, _ in versions]
    try:
        later = len(numbers) - 1 if new is None else numbers.index(new)
        earlier = max(0, later - 1) if old is None else numbers.index(old)
    except ValueError:
        raise InputError("unknown-version", "this page has no such version: see its versions") from None
    if earlier == later:
        raise InputError("nothing-to-do", "both versions are the same: give two different versions")
    return earlier, later


def _version_diff(
    collection: CrawlDirectory, versions: list[tuple[int, Visit]], earlier: int, later: int, *, whole: bool
) -> VersionDiff:
    comparison = compared(collection, [visit for _, visit in versions], earlier, later, MAX_COMPARED_CHARACTERS)
    found = comparison.as_data(whole=whole)
    long = max(len(comparison.old.text), len(comparison.new.text)) == MAX_COMPARED_CHARACTERS
    cut = ["the page is long: only its beginning is compared"] if long else []
    rows: list[Any] = []
    size = 0
    for row in found["rows"]:
        size += sum(len(text) for _, text in row["runs"])
        if len(rows) >= MAX_ROWS or size > 1_000_000:
            cut.append(f"{len(found['rows']) - len(rows):,} rows are left out")
            break
        rows.append(row)
    for name, links in found["links"].items():
        if len(links) > MAX_LINKS:
            cut.append(f"{len(links) - MAX_LINKS:,} links that were {name} are left out")
            found["links"][name] = links[:MAX_LINKS]
    found["from"]["seq"], found["to"]["seq"] = versions[earlier][0], versions[later][0]
    return VersionDiff.model_validate({**found, "rows": rows, "cut": "; ".join(cut)})
