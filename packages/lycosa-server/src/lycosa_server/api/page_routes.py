"""Pages of a crawl: lists, details, and archived copies."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Annotated

from fastapi import APIRouter, Depends, HTTPException, Query
from fastapi.responses import HTMLResponse
from pydantic import BaseModel, Field

from lycosa.collection.best import questions
from lycosa.collection.crawl_directory import MAX_BODY_BYTES, CrawlDirectory
from lycosa.collection.estimate import Estimate
from lycosa.collection.page_rows import PageRow
from lycosa.collection.querying import Filters
from lycosa.collection.tracing import spellings
from lycosa.collection.view import CrawlView, PageLink
from lycosa.core.errors import InputError, StoreError
from lycosa.core.types import Visit
from lycosa.revisit.change import change_of
from lycosa.store.log import VERSIONS
from lycosa.web.html import HTML
from lycosa.web.inflate import source_of
from lycosa_server import reader
from lycosa_server.api import Body
from lycosa_server.guards import CrawlAccess, crawl_to
from lycosa_server.pages import theme_of
from lycosa_server.people.accounts import preferences
from lycosa_server.people.suggestions import record_opened
from lycosa_server.people.text_input import clean_line
from lycosa_server.results import (
    CachedView,
    LabelFilter,
    Order,
    PageFilter,
    PageFormatter,
    PageOut,
    open_crawl_directory,
    select_pages,
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
    chosen = select_pages(cached, labels, PageFilter(filters, labelled, relevant, threshold), order)
    shown = chosen[offset : offset + limit]
    pages: list[PageOut] = []
    collection = open_crawl_directory(cached.view) if shown else None
    if collection is not None:
        with collection:
            pages = list(map(PageFormatter(cached, collection, labels, threshold).page, shown))
    estimate = cached.estimate(labels, threshold)
    return PageList(
        total=len(chosen),
        threshold=cached.view.threshold if threshold is None else threshold,
        crawl_threshold=cached.view.threshold,
        probability=cached.view.probability,
        estimate=EstimateOut(**asdict(estimate), text=estimate.description),
        has_labels=bool(labels),
        pages=pages,
    )


@router.get("/crawls/{crawl}/unsure")
def list_unsure(
    limit: Annotated[int, Query(ge=1, le=50)] = 10, access: CrawlAccess = crawl_to("read", "read")
) -> list[PageOut]:
    """Return unlabelled pages that the judge is least certain about, whose labels help most."""
    labels, cached = access.labels, access.cached
    collection = open_crawl_directory(cached.view)
    if collection is None:
        return []
    with collection:
        nodes = [question.url for question in questions(collection, limit, labels)]
        pages = [page for node in nodes if (page := cached.view.page(node)) is not None]
        return list(map(PageFormatter(cached, collection, labels).page, pages))


@router.get("/crawls/{crawl}/page")
def show_page(url: Address, access: CrawlAccess = crawl_to("read", "read")) -> PageDetails:
    """Return one page: why it was fetched, its versions, links and terms."""
    labels, cached = access.labels, access.cached
    page = _page(cached, url)
    with _collection(cached.view) as collection:
        formatted = PageFormatter(cached, collection, labels).page(page)
        where = f"node = ? AND {VERSIONS}"
        found = list(collection.log.numbered(where, "seq DESC LIMIT 200", (page.node,)))
        versions = [_version(seq, visit) for seq, visit in found[::-1] if isinstance(visit, Visit)]
        last = next((visit for _, visit in found if isinstance(visit, Visit)), None)
        links: list[PageLink] = []
        if last is not None:
            last.links.truncate(200)
            links = cached.view.links(last)
    return PageDetails(**dict(formatted), versions=versions, links=links, terms=_terms(cached.view, page))


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
    cached = access.cached
    page = _page(cached, url)
    with _collection(cached.view) as collection:
        seq = version or page.seq
        visit = next(collection.log.events(f"seq = ? AND node = ? AND {VERSIONS}", given=(seq, page.node)), None)
        if not isinstance(visit, Visit):
            raise HTTPException(404, "this page has no such version")
        try:
            readable = _readable(collection, visit)
        except (StoreError, OSError):
            readable = reader.Readable("")
        theme = theme_of(access.person)
        document = reader.document(readable, page.title or visit.title, page.node, visit.started, theme)
    return HTMLResponse(document.encode("utf-8", "replace"), headers={"Content-Security-Policy": reader.CSP})


@router.post("/crawls/{crawl}/opened", status_code=204)
def note_opened(body: OpenedPage, access: CrawlAccess = crawl_to("read", "read")) -> None:
    """Record that a result was opened, for suggestions; only if the person's preferences allow it."""
    site, person = access.site, access.person.id
    page = _page(access.cached, clean_line(body.url, "the address", 4_000, 1))
    if preferences(site.database, person).get("history") is not False:
        record_opened(site.database, site.clock(), access.interest["id"], person, page.node)


def _page(cached: CachedView, url: str) -> PageRow:
    for node in spellings(url.encode("utf-8", "replace").decode()):
        page = cached.view.page(node)
        if page is not None:
            return page
    raise HTTPException(404, "this crawl has no such page")


def _collection(view: CrawlView) -> CrawlDirectory:
    found = open_crawl_directory(view)
    if found is None:
        raise HTTPException(404, "this crawl has no such page")
    return found


def _version(seq: int, visit: Visit) -> VersionOut:
    change = change_of(visit)
    what, kind = (change.what, change.kind if change.what == "changed" else "") if change else ("new", "")
    return VersionOut(seq=seq, started=visit.started, size=visit.size, status=visit.status, what=what, kind=kind)


def _terms(view: CrawlView, page: PageRow) -> list[TermCount]:
    with view.lock:
        ids, counts = page.terms
        best = sorted(zip(counts.tolist(), ids.tolist(), strict=True), key=lambda pair: (-pair[0], pair[1]))[:20]
        return [TermCount(term=view.words[number], count=count) for count, number in best]


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
