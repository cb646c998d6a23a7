"""What a crawl found: in several orders, page by page, and to be read."""

from __future__ import annotations

import json
from typing import Annotated, Literal

from fastapi import APIRouter, HTTPException, Query, Request, Response
from fastapi.responses import HTMLResponse
from pydantic import BaseModel, ConfigDict, Field

from lycosa.collection.asking import questions
from lycosa.collection.estimate import Estimate
from lycosa.collection.filters import Filters
from lycosa.collection.reading import INFLATED, Collection
from lycosa.collection.rows import PageRow
from lycosa.collection.tracing import spellings
from lycosa.collection.view import CrawlView
from lycosa.core.errors import InputError, StoreError
from lycosa.core.types import Exchange, Visit
from lycosa.people import feedback
from lycosa.people.typed import line
from lycosa.refresh.change import change_of
from lycosa.server import reader
from lycosa.server.pages import theme_of
from lycosa.server.shelves import Held, explained
from lycosa.server.shown import Asking, Labelled, Page, Teller, choose, collection_of, opened_by
from lycosa.server.site import Site, site_of
from lycosa.server.who import AskedCrawl, crawl_to
from lycosa.store.log import VERSIONS
from lycosa.web.decoding import charset_of, decode
from lycosa.web.html import HTML
from lycosa.web.inflate import BadEncoding, inflate

router = APIRouter(tags=["pages"])

Text = Annotated[str, Query(max_length=300)]
Threshold = Annotated[float | None, Query(ge=0, le=1_000, allow_inf_nan=False)]
Address = Annotated[str, Query(max_length=4_000, min_length=1)]
FARTHEST = 1_000_000
LINKS, TERMS, HISTORY = 200, 20, 200


class Estimated(BaseModel):
    """How many pages of a crawl are relevant, as far as the judge can tell; copies of others are not counted."""

    pages: int = Field(description="All that were fetched.")
    relevant: int = Field(description="Those that reach the threshold.")
    low: int = Field(description="The truth lies between this and `high` in nine of ten cases.")
    high: int
    text: str = Field(description="The same in words.")


class Pages(BaseModel):
    """Some pages of a crawl. `threshold` is what was asked for, `kept` the crawl's own."""

    total: int
    threshold: float
    kept: float
    probability: bool = Field(description="Whether scores are probabilities, and the threshold is one from 0 to 1.")
    estimate: Estimated
    taught: bool
    pages: list[Page]


class Version(BaseModel):
    """One version of a page."""

    seq: int
    started: float
    size: int
    status: int
    what: str
    kind: str


class PageLink(BaseModel):
    """A link of a page, and how its target fared."""

    url: str
    anchor: str
    alpha: float
    state: str


class Term(BaseModel):
    """A word of a page, and how often it is there."""

    term: str
    count: int


class WholePage(Page):
    """A page with its history, its links and its words."""

    versions: list[Version]
    links: list[PageLink]
    terms: list[Term]


class Opened(BaseModel):
    """A result that was opened."""

    model_config = ConfigDict(extra="forbid")
    url: str = Field(min_length=1, max_length=4_000)


@router.get("/crawls/{crawl}/pages")
def list_pages(
    request: Request,
    order: Literal["relevance", "frequency", "date", "novelty"] = "relevance",
    host: Text = "",
    language: Text = "",
    since: Text = "",
    until: Text = "",
    changed: bool = False,
    labelled: Labelled | None = None,
    found: bool | None = None,
    threshold: Threshold = None,
    limit: Annotated[int, Query(ge=1, le=200)] = 50,
    offset: Annotated[int, Query(ge=0, le=FARTHEST)] = 0,
    asked: AskedCrawl = crawl_to("read", "read"),
) -> Pages:
    """The pages of a crawl. Days are UTC's, as in 2026-03-01, and included; a host stands for its subdomains, too.

    `found` is true unless labels are asked for. With a `threshold` of your own you see what would count as found by it,
    and how many that would be; nothing is changed. An excerpt may be null while it has not been read yet.
    """
    site = site_of(request)
    asking = Asking(filters_of(host, language, since, until, changed), labelled, found, threshold)
    labels = feedback.labels_of(site.database, asked.interest["id"])
    known = opened_by(site.database, asked.interest["id"], asked.person.id) if order == "novelty" else []
    held = site.shelves.get(asked.directory)
    chosen = choose(held, labels, asking, order, known)
    shown = chosen.pages[offset : offset + limit]
    pages: list[Page] = []
    collection = collection_of(held.shelf) if shown else None
    if collection is not None:
        with explained(), collection:
            teller = Teller(held, collection, labels, threshold)
            for at, page in enumerate(shown, offset):
                fresh = float(chosen.fresh[at]) if chosen.fresh is not None else None
                pages.append(teller.page(page, float(chosen.scores[at]), fresh))
    kept = held.shelf.threshold
    return Pages(
        total=len(chosen.pages),
        threshold=kept if threshold is None else threshold,
        kept=kept,
        probability=held.shelf.probability,
        estimate=_estimated(held.worths.estimate(labels, threshold)),
        taught=bool(labels),
        pages=pages,
    )


@router.get("/crawls/{crawl}/unsure")
def list_unsure(
    request: Request,
    limit: Annotated[int, Query(ge=1, le=50)] = 10,
    asked: AskedCrawl = crawl_to("read", "read"),
) -> list[Page]:
    """Pages that the judge is least sure of, and that nobody has labelled: where a yes or no helps most."""
    site = site_of(request)
    labels = feedback.labels_of(site.database, asked.interest["id"])
    held = site.shelves.get(asked.directory)
    collection = collection_of(held.shelf)
    if collection is None:
        return []
    with explained(), collection:
        _, scores = held.worths.scores(labels)
        teller = Teller(held, collection, labels)
        nodes = [question.url for question in questions(collection, limit, labels)]
        pages = [page for node in nodes if (page := held.shelf.page(node)) is not None and page.place < len(scores)]
        return [teller.page(page, float(scores[page.place]), None) for page in pages]


@router.get("/crawls/{crawl}/page")
def show_page(request: Request, url: Address, asked: AskedCrawl = crawl_to("read", "read")) -> WholePage:
    """One page: why it was fetched, what became of it, where it leads."""
    site = site_of(request)
    labels = feedback.labels_of(site.database, asked.interest["id"])
    held = site.shelves.get(asked.directory)
    page = _page(held, url)
    with held.shelf.lock:
        _, scores = held.worths.scores(labels)
        score = float(scores[page.place])
    with explained(), _collection(held.shelf) as collection:
        told = Teller(held, collection, labels).page(page, score, None)
        where = f"node = ? AND {VERSIONS}"
        found = list(collection.log.numbered(where, f"seq DESC LIMIT {HISTORY}", (page.node,)))
        versions = [_version(seq, visit) for seq, visit in found[::-1] if isinstance(visit, Visit)]
        last = next((visit for _, visit in found if isinstance(visit, Visit)), None)
        links: list[PageLink] = []
        if last is not None:
            last.links.keep(LINKS)
            links = [
                PageLink(url=link.url, anchor=link.anchor, alpha=link.alpha, state=link.state)
                for link in held.shelf.links(last)
            ]
    return WholePage(**told.model_dump(), versions=versions, links=links, terms=_terms(held.shelf, page))


@router.get(
    "/crawls/{crawl}/reader",
    response_class=HTMLResponse,
    responses={200: {"content": {"text/html": {}}, "description": "The archived copy, as a safe document"}},
)
def read_page(
    request: Request,
    url: Address,
    version: Annotated[int | None, Query(ge=1, le=2**62)] = None,
    asked: AskedCrawl = crawl_to("read", "read"),
) -> HTMLResponse:
    """The archived copy of a page, to be read: no scripts, nothing that is loaded from elsewhere.

    `version` is the `seq` of one of its versions; without it, the one that stands.
    """
    held = site_of(request).shelves.get(asked.directory)
    page = _page(held, url)
    with explained(), _collection(held.shelf) as collection:
        seq = version or page.seq
        visit = next(collection.log.events(f"seq = ? AND node = ? AND {VERSIONS}", given=(seq, page.node)), None)
        if not isinstance(visit, Visit):
            raise HTTPException(404, "the page has no such version")
        try:
            shown = _shown(collection, visit)
        except (StoreError, OSError):
            shown = reader.Shown("")
        theme = theme_of(request, asked.person)
        document = reader.document(shown, page.title or visit.title, page.node, visit.started, theme)
    return HTMLResponse(document.encode("utf-8", "replace"), headers=reader.HEADERS)


@router.post("/crawls/{crawl}/opened", status_code=204, response_class=Response)
def note_opened(request: Request, body: Opened, asked: AskedCrawl = crawl_to("read", "read")) -> Response:
    """Note that a result was opened: for novelty and suggestions, and only if the person's preferences allow it."""
    site = site_of(request)
    url = line(body.url, "the address", 4_000, 1)
    page = _page(site.shelves.get(asked.directory), url)
    if _keeps_history(site, asked.person.id):
        site.database.run(
            "INSERT INTO opened (interest, person, url, times, at) VALUES (?, ?, ?, 1, ?) "
            "ON CONFLICT (interest, person, url) DO UPDATE SET times = opened.times + 1, at = excluded.at",
            asked.interest["id"],
            asked.person.id,
            page.node,
            site.clock(),
        )
    return Response(status_code=204)


def filters_of(host: str, language: str, since: str, until: str, changed: bool) -> Filters:
    """What was asked for, checked."""
    given = [line(text, what, 300) for text, what in ((host, "the host"), (language, "the language"))]
    days = [line(text, what, 300) for text, what in ((since, "since"), (until, "until"))]
    hosts, languages = ([text] if text else [] for text in given)
    try:
        return Filters.of(hosts, languages, days[0], days[1], changed=0.0 if changed else None)
    except InputError as error:  # which names the options of a command
        raise InputError(str(error).replace("--", "")) from None


def _estimated(made: Estimate) -> Estimated:
    return Estimated(pages=made.pages, relevant=made.relevant, low=made.low, high=made.high, text=made.told)


def _keeps_history(site: Site, person: str) -> bool:
    row = site.database.row("SELECT preferences FROM person WHERE id = ?", person)
    try:
        preferences = json.loads(row["preferences"]) if row else {}
    except ValueError:
        preferences = {}
    return not (isinstance(preferences, dict) and preferences.get("history") is False)


def _page(held: Held, url: str) -> PageRow:
    for node in spellings(url.encode("utf-8", "replace").decode()):
        page = held.shelf.page(node)
        if page is not None:
            return page
    raise HTTPException(404, "this crawl has no such page")


def _collection(shelf: CrawlView) -> Collection:
    found = collection_of(shelf)
    if found is None:
        raise HTTPException(404, "this crawl has no such page")
    return found


def _version(seq: int, visit: Visit) -> Version:
    change = change_of(visit)
    what, kind = (change.what, change.kind if change.what == "changed" else "") if change else ("new", "")
    return Version(seq=seq, started=visit.started, size=visit.size, status=visit.status, what=what, kind=kind)


def _terms(shelf: CrawlView, page: PageRow) -> list[Term]:
    with shelf.lock:
        ids, counts = page.terms
        best = sorted(zip(counts.tolist(), ids.tolist(), strict=True), key=lambda pair: (-pair[0], pair[1]))[:TERMS]
        return [Term(term=shelf.words[number], count=count) for count, number in best]


def _shown(collection: Collection, visit: Visit) -> reader.Shown:
    """A version as it can be read, by what kind of thing it is."""
    exchange = collection.exchange(visit)
    if exchange is None:
        return reader.Shown("")
    kind, _, parameters = exchange.header("content-type").partition(";")
    kind = kind.strip().lower()
    if kind in HTML or (not kind and exchange.body.lstrip()[:1] == b"<"):
        body = _inflated(exchange)
        return reader.of_html(decode(body, charset_of(parameters)), visit.node) if body else reader.Shown("")
    text = collection.document(visit, exchange).text
    return reader.of_text(text) if text.strip() else reader.Shown("")


def _inflated(exchange: Exchange) -> bytes:
    try:
        return inflate(exchange.body, exchange.header("content-encoding"), INFLATED)[0]
    except BadEncoding:
        return b""
