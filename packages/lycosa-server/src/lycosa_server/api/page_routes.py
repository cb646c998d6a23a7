"""Pages of a crawl: lists, details, and archived copies."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Annotated

import numpy as np
from fastapi import APIRouter, Depends, HTTPException, Query
from fastapi.responses import HTMLResponse
from pydantic import BaseModel, Field

from lycosa.collection.best import questions
from lycosa.collection.crawl_directory import MAX_BODY_BYTES, CrawlDirectory
from lycosa.collection.estimate import Estimate
from lycosa.collection.pages import PageLink, PageRow, page_at, page_links, terms_of
from lycosa.collection.querying import Filters
from lycosa.collection.tracing import spellings
from lycosa.core.errors import InputError, StoreError
from lycosa.core.types import Visit
from lycosa.revisit.change import change_of
from lycosa.store.log import VERSIONS, SqliteLog
from lycosa.web.html import HTML
from lycosa.web.inflate import source_of
from lycosa_server import reader
from lycosa_server.api import Body
from lycosa_server.crawl_cache import places
from lycosa_server.guards import CrawlAccess, crawl_to
from lycosa_server.pages import theme_of
from lycosa_server.people.accounts import preferences
from lycosa_server.people.suggestions import record_opened
from lycosa_server.people.text_input import clean_line
from lycosa_server.results import (
    LabelFilter,
    Order,
    PageFormatter,
    PageOut,
    open_crawl_directory,
    select_pages,
    sort_key,
)

router = APIRouter(tags=["pages"])

Text = Annotated[str, Query(max_length=300)]
Threshold = Annotated[float | None, Query(ge=0, le=1_000, allow_inf_nan=False)]
Address = Annotated[str, Query(max_length=4_000, min_length=1)]


def filters_of(
    host: Text = "", language: Text = "", since: Text = "", until: Text = "", changed: bool = False
) -> Filters:
    """Return filters; days are in UTC, such as 2026-03-01, and inclusive; a host includes its subdomains."""
    given = [clean_line(text, what, 300) for text, what in ((host, "the host"), (language, "the language"))]
    days = [clean_line(text, what, 300) for text, what in ((since, "since"), (until, "until"))]
    hosts, languages = ([text] if text else [] for text in given)
    try:
        return Filters.of(hosts, languages, days[0], days[1], changed=0.0 if changed else None)
    except InputError as error:  # the message names command-line options
        raise InputError(error.code, str(error).replace("--", "")) from None


FilterQuery = Annotated[Filters, Depends(filters_of)]


@dataclass(frozen=True, slots=True)
class EstimateOut(Estimate):
    """Estimated number of relevant pages among those fetched, without copies; `low` to `high` is a 90 % interval."""

    text: str = ""


class PageList(BaseModel):
    """Some pages of a crawl. `threshold` is the requested one, `crawl_threshold` the crawl's own."""

    total: int
    threshold: float
    crawl_threshold: float
    probability: bool = Field(description="True if relevances are probabilities, with a threshold from 0 to 1.")
    estimate: EstimateOut
    has_labels: bool
    pages: list[PageOut]


class VersionOut(BaseModel):
    seq: int
    started: float
    size: int
    status: int
    what: str
    kind: str


class TermCount(BaseModel):
    term: str
    count: int


class PageDetails(PageOut):
    versions: list[VersionOut]
    links: list[PageLink]
    terms: list[TermCount]


class OpenedPage(Body):
    url: str = Field(min_length=1, max_length=4_000)


@router.get("/crawls/{crawl}/pages")
def list_pages(
    *,
    order: Order = "relevance",
    labelled: LabelFilter | None = None,
    relevant: bool | None = None,
    threshold: Threshold = None,
    limit: Annotated[int, Query(ge=1, le=200)] = 50,
    offset: Annotated[int, Query(ge=0, le=1_000_000)] = 0,
    access: CrawlAccess = crawl_to("read", "read"),
    filters: FilterQuery,
) -> PageList:
    """Return the pages of a crawl. Days are in UTC, such as 2026-03-01, and inclusive; a host includes its subdomains.

    `relevant` defaults to true unless `labelled` is given. A `threshold` previews which pages would be relevant and
    changes nothing. An excerpt is null until it has been read.
    """
    labels, cached = access.labels, access.cached
    now = cached.now(labels, threshold)
    pages: list[PageOut] = []
    total = 0
    collection = open_crawl_directory(cached.path)
    if collection is not None:
        with collection:
            chosen = select_pages(collection.log, now, labels, filters, labelled, relevant)
            key = sort_key(collection, cached, now, order)
            ranked = chosen[np.lexsort((-now["relevance_now"][chosen], -key[chosen]))]
            shown, total = ranked[offset : offset + limit].tolist(), len(ranked)
            frequency = key if order == "frequency" else None
            pages = PageFormatter(collection, cached, now, labels).format(shown, frequency)
    return PageList(
        total=total,
        threshold=now.threshold,
        crawl_threshold=cached.pages.threshold,
        probability=now.probability,
        estimate=EstimateOut(**asdict(now.estimate), text=now.estimate.description),
        has_labels=bool(labels),
        pages=pages,
    )


@router.get("/crawls/{crawl}/unsure")
def list_unsure(
    limit: Annotated[int, Query(ge=1, le=50)] = 10, access: CrawlAccess = crawl_to("read", "read")
) -> list[PageOut]:
    """Return unlabelled pages that the judge is least certain about, whose labels help most."""
    labels, cached = access.labels, access.cached
    now = cached.now(labels)
    collection = open_crawl_directory(cached.path)
    if collection is None:
        return []
    with collection:
        urls = [question.url for question in questions(collection, limit, labels)]
        at = places(collection.log, now, urls)
        return PageFormatter(collection, cached, now, labels).format([at[url] for url in urls if url in at])


@router.get("/crawls/{crawl}/page")
def show_page(url: Address, access: CrawlAccess = crawl_to("read", "read")) -> PageDetails:
    """Return one page: why it was fetched, its versions, links and terms."""
    labels, cached = access.labels, access.cached
    now = cached.now(labels)
    with _collection(cached.path) as collection:
        log = collection.log
        at = places(log, now, [_page(log, url).url])
        page = next(iter(PageFormatter(collection, cached, now, labels).format(list(at.values()))), None)
        if page is None:
            raise HTTPException(404, "this page was fetched a moment ago: reload it")
        found = list(log.numbered(f"url = ? AND {VERSIONS}", "seq DESC LIMIT 200", (page.url,)))
        versions = [_version(seq, visit) for seq, visit in found[::-1]]
        _, last = found[0]
        last.links.truncate(200)
        ids, counts = terms_of(log, page.seq)
        words = cached.words(collection).words
        best = sorted(zip(counts.tolist(), ids.tolist(), strict=True), key=lambda pair: (-pair[0], pair[1]))[:20]
        terms = [TermCount(term=words[number], count=count) for count, number in best if number < len(words)]
        return PageDetails(**dict(page), versions=versions, links=page_links(log, last), terms=terms)


@router.get(
    "/crawls/{crawl}/reader",
    response_class=HTMLResponse,
    responses={200: {"content": {"text/html": {}}, "description": "The archived copy, as a safe document"}},
)
def read_page(
    url: Address,
    version: Annotated[int | None, Query(ge=1, le=2**62)] = None,
    access: CrawlAccess = crawl_to("read", "read"),
) -> HTMLResponse:
    """Return the archived copy of a page, without scripts or external files; default: its current `version`."""
    with _collection(access.directory) as collection:
        page = _page(collection.log, url)
        where = f"seq = ? AND url = ? AND {VERSIONS}"
        visit = next(collection.log.visits(where, given=(version or page.seq, page.url)), None)
        if visit is None:
            raise HTTPException(404, "this page has no such version")
        try:
            readable = _readable(collection, visit)
        except (StoreError, OSError):
            readable = reader.Readable("")
        theme = theme_of(access.person)
        document = reader.document(readable, page.title or visit.title, page.url, visit.started, theme)
    return HTMLResponse(document.encode("utf-8", "replace"), headers={"Content-Security-Policy": reader.CSP})


@router.post("/crawls/{crawl}/opened", status_code=204)
def note_opened(body: OpenedPage, access: CrawlAccess = crawl_to("read", "read")) -> None:
    """Record that a result was opened, for suggestions; only if the person's preferences allow it."""
    site, person = access.site, access.person.id
    with _collection(access.directory) as collection:
        page = _page(collection.log, clean_line(body.url, "the address", 4_000, 1))
    if preferences(site.database, person).get("history") is not False:
        record_opened(site.database, site.clock(), access.interest["id"], person, page.url)


def _page(log: SqliteLog, url: str) -> PageRow:
    found = (page_at(log, each) for each in spellings(url.encode("utf-8", "replace").decode()))
    page = next(filter(None, found), None)
    if page is None:
        raise HTTPException(404, "this crawl has no such page")
    return page


def _collection(path: Path) -> CrawlDirectory:
    found = open_crawl_directory(path)
    if found is None:
        raise HTTPException(404, "this crawl has no such page")
    return found


def _version(seq: int, visit: Visit) -> VersionOut:
    change = change_of(visit)
    what, kind = (change.what, change.kind if change.what == "changed" else "") if change else ("new", "")
    return VersionOut(seq=seq, started=visit.started, size=visit.size, status=visit.status, what=what, kind=kind)


def _readable(collection: CrawlDirectory, visit: Visit) -> reader.Readable:
    exchange = collection.exchange(visit)
    if exchange is None:
        return reader.Readable("")
    kind = exchange.header("content-type").partition(";")[0].strip().lower()
    if kind in HTML or (not kind and exchange.body.lstrip()[:1] == b"<"):
        source = source_of(exchange, MAX_BODY_BYTES)
        return reader.render_html(source, visit.node) if source else reader.Readable("")
    document = collection.document(visit, exchange)
    if not document.text.strip():
        return reader.Readable("")
    return reader.render_document(document) if document.main else reader.render_text(document.text)
