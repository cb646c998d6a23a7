"""A crawl as it goes: figures, events, and a graph of its best pages.

Events are server-sent: visits with their numbers, progress, and what becomes of its state.

    retry: 2000
    id: 17                                 the number of a visit: what a browser sends back after a lost connection
    event: visit
    data: {"seq": 17, "url": ...}

    : still here                           every 15 s without anything else

A stream looks at the log once a second, which costs two `stat` calls when nothing is new. It ends with the event `end`
when the crawl is over and everything was sent, when who asked may no longer see it, or when the server stops; and
without a word when the client is gone.
"""

from __future__ import annotations

import asyncio
import heapq
import json
import time
from collections.abc import AsyncGenerator, Mapping
from contextlib import ExitStack
from dataclasses import dataclass, field
from typing import Annotated, Literal

from fastapi import APIRouter, Header, HTTPException, Query
from fastapi.responses import Response
from pydantic import BaseModel
from starlette.concurrency import run_in_threadpool
from starlette.responses import StreamingResponse
from starlette.types import Receive, Scope, Send

from lycosa.collection.rows import PageRow
from lycosa.collection.view import CrawlView, Harvest
from lycosa.collection.words import clean
from lycosa.core.types import Visit
from lycosa.drawing.figure import Curve, Figure
from lycosa.drawing.svg import svg
from lycosa.people import crawls
from lycosa.people.crawls import OVER
from lycosa.people.database import DatabaseAway
from lycosa.people.permissions import NotFound, interest_for
from lycosa.server import messages
from lycosa.server.api.crawls import Crawl, crawl_as_told
from lycosa.server.crawler.live import Flight, Live, LiveHost
from lycosa.server.guards import STREAMS, CrawlAccess, Site, crawl_to, still_there
from lycosa.server.results import CachedView, Label, explained, is_found, label_of, why_of
from lycosa.server.streaming import Busy

router = APIRouter(tags=["live"])

HOSTS = 100


# -- figures: what the crawl process says each second, and what the pages add up to -------------------------------


class HostNow(BaseModel):
    """One host: what it gave, and when it may be asked again."""

    host: str
    pages: int
    found: int
    state: str
    ready_in: float | None
    why: str
    in_flight: int
    waiting: int


class Failure(BaseModel):
    """One cause of failures, in words."""

    cause: str
    count: int
    meaning: str
    example: str
    outcome: str


class Progress(BaseModel):
    """How a crawl is going."""

    crawl: Crawl
    seq: int
    rate: float
    frontier: int | None
    in_flight: list[Flight]
    errors: list[Failure]
    hosts: list[HostNow]
    curve: Harvest | None = None


def progress_of(view: CrawlView, crawl: Crawl, now: float, *, curve: bool) -> Progress:
    """All of it, of a view that is up to date; the curve only if it is asked for."""
    live = Live.read(view.path, now)
    harvest = view.harvest() if curve else None
    with view.lock:
        failures = _failures(view)
        hosts = _hosts(view, live, now)
        seq = view.seq
    return Progress(
        crawl=crawl,
        seq=seq,
        rate=view.rate(now),
        frontier=live.frontier,
        in_flight=live.in_flight,
        errors=failures,
        hosts=hosts,
        curve=harvest,
    )


def _failures(view: CrawlView) -> list[Failure]:
    """What went wrong, the most frequent first; causes that a reader can't tell apart are one."""
    found: dict[str, Failure] = {}
    for cause in view.tally.causes.values():
        name = messages.cause(cause.kind, cause.outcome, cause.name)
        if name in found:
            found[name].count += cause.count
            continue
        found[name] = Failure(
            cause=name,
            count=cause.count,
            meaning=messages.ADVICE.get(cause.outcome, cause.advice),
            example=cause.examples[0][0] if cause.examples else "",
            outcome=cause.outcome,
        )
    return sorted(found.values(), key=lambda failure: -failure.count)


def _hosts(view: CrawlView, live: Live, now: float) -> list[HostNow]:
    """Hosts that are asked now come first, then those that wait, then the most fruitful."""
    ranked = [((-host.relevant, -host.pages), host.name) for host in view.hosts() if host.pages]
    busy = {host.host: host for host in live.hosts}
    names = dict.fromkeys([*busy, *(name for _, name in heapq.nsmallest(HOSTS, ranked))])  # there may be thousands
    hosts = [_host(view, busy.get(name) or LiveHost(host=name), now) for name in names]
    hosts.sort(key=lambda host: (-host.in_flight, -min(host.waiting, 1), -host.found, -host.pages, host.host))
    return hosts[:HOSTS]


def _host(view: CrawlView, live: LiveHost, now: float) -> HostNow:
    known = view.tally.hosts.get(live.host)
    ready = None if live.ready_at is None else round(max(0.0, live.ready_at - now), 2)
    state = "asked" if live.in_flight else "rests" if ready else "waits" if live.waiting else "quiet"
    pages, relevant = (known.pages, known.relevant) if known else (0, 0)
    return HostNow(**live.model_dump(), pages=pages, found=relevant, state=state, ready_in=ready)


# -- events ----------------------------------------------------------------------------------------------------

# seconds between two looks at the log, two events of progress, two curves, two signs of life, two looks at rights
POLL, PROGRESS, CURVE, HEARTBEAT, CHECK = 1.0, 2.0, 5.0, 15.0, 10.0
BATCH = 100  # visits sent at once; after that, others get their turn


@dataclass(slots=True)
class Feed:
    """What one stream has sent so far, and what it has to send next. Its methods run in threads."""

    access: CrawlAccess
    after: int
    tick: float = POLL
    generation: int = -1
    state: str = ""
    progressed: float = -1e9
    drew: float = -1e9
    drawn: int = -1
    checked: float = field(default_factory=time.monotonic)

    @property
    def site(self) -> Site:
        return self.access.site

    def look(self) -> tuple[list[str], bool, bool]:
        """What is new as events, whether there is more to be had at once, and whether that was the end."""
        now = time.monotonic()
        if now - self.checked >= CHECK:
            self.checked = now
            if reason := self._refused():
                return [_event("end", {"reason": reason})], False, True
        try:
            row = crawls.get(self.site.database, self.access.crawl["id"])
        except DatabaseAway:
            return [], False, False  # it comes back
        except crawls.Gone:
            return [_event("end", {"reason": "deleted"})], False, True
        cached = self.access.cached
        if self.generation not in (-1, cached.view.generation):
            return [_event("end", {"reason": "begun anew"})], False, True
        self.generation = cached.view.generation
        upto = cached.view.seq
        try:  # all that is asked of the database, before anything counts as sent
            crawl = crawl_as_told(self.site.database, row)
            labels = self.access.labels if upto > self.after else {}
        except DatabaseAway:
            return [], False, False
        events, more = self._visits(cached, upto, labels)
        events += self._progress(cached, crawl, now, full=crawl.state in OVER and not more)
        if crawl.state != self.state:
            self.state = crawl.state
            events.append(_event("state", crawl.model_dump()))
        over = crawl.state in OVER and not more
        if over:
            events.append(_event("end", {"reason": crawl.state}))
        return events, more, over

    def _refused(self) -> str:
        """Why the stream may not go on; empty if it may."""
        try:
            if not still_there(self.access.person):
                return "signed out"
            interest_for(self.access.site.database, self.access.person.id, self.access.interest["id"])
        except DatabaseAway:
            return ""  # it was allowed a moment ago; asked again in ten seconds
        except NotFound:
            return "not shared any more"
        return ""

    def _visits(self, cached: CachedView, upto: int, labels: Mapping[str, bool]) -> tuple[list[str], bool]:
        view = cached.view
        if upto <= self.after:
            return [], False
        events = []
        with view.reading() as log:
            where = "seq > ? AND seq <= ? AND kind IN ('page', 'redirect', 'revisit', 'sitemap')"
            for seq, visit in log.numbered(where, f"seq LIMIT {BATCH}", (self.after, upto)):
                assert isinstance(visit, Visit)
                self.after = seq
                event = {
                    "seq": seq,
                    "url": visit.node,
                    "title": clean(visit.title)[:500],
                    "score": visit.worth,  # what it is worth now
                    "found": visit.is_version and visit.worth >= view.threshold and not visit.same_as,
                    "label": label_of(labels, visit.node),
                    "at": visit.started,
                    "kind": visit.kind,
                    "outcome": visit.outcome,
                    "why": why_of(view.origin(log, visit.node), visit.score).model_dump(),
                }
                events.append(_event("visit", event, seq))
        more = len(events) == BATCH
        if not more:
            self.after = max(self.after, upto)
        return events, more

    def _progress(self, cached: CachedView, crawl: Crawl, now: float, *, full: bool) -> list[str]:
        if not full and now - self.progressed < PROGRESS:
            return []
        self.progressed = now
        curve = cached.view.seq != self.drawn and (full or now - self.drew >= CURVE)
        if curve:
            self.drew, self.drawn = now, cached.view.seq
        data = progress_of(cached.view, crawl, self.site.clock(), curve=curve).model_dump()
        if not curve:
            del data["curve"]
        return [_event("progress", data)]


async def stream(feed: Feed) -> AsyncGenerator[str, None]:
    """The events of a feed, until it ends. Who consumes it closes it."""
    views = feed.site.views
    yield "retry: 2000\n\n"
    spoke = time.monotonic()
    while True:
        if views.stopping.is_set():
            yield _event("end", {"reason": "the server stops"})
            return
        try:
            events, more, over = await run_in_threadpool(feed.look)
        except HTTPException as error:  # the directory can't be read now
            yield _event("end", {"reason": str(error.detail)})
            return
        if events:
            yield "".join(events)
            spoke = time.monotonic()
        elif time.monotonic() - spoke >= HEARTBEAT:
            yield ": still here\n\n"
            spoke = time.monotonic()
        if over:
            return
        if not more:
            await asyncio.sleep(feed.tick)


class EventStream(StreamingResponse):
    """The response; whatever happens to the connection, the stream is closed and no longer counted."""

    media_type = "text/event-stream"

    def __init__(self, feed: Feed, counted: ExitStack) -> None:
        self.counted = counted
        self.events = stream(feed)
        headers = {"Cache-Control": "no-store", "X-Accel-Buffering": "no"}
        super().__init__(self.events, headers=headers)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Send, and watch for the client to leave."""
        sending = asyncio.ensure_future(self.stream_response(send))
        leaving = asyncio.ensure_future(_gone(receive))
        try:
            await asyncio.wait({sending, leaving}, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for task in (sending, leaving):
                task.cancel()
            await asyncio.gather(sending, leaving, return_exceptions=True)
            await self.events.aclose()
            self.counted.close()


async def _gone(receive: Receive) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass


def _event(name: str, data: object, number: int | None = None) -> str:
    text = json.dumps(data, ensure_ascii=True, allow_nan=False, separators=(",", ":"))
    head = f"id: {number}\n" if number is not None else ""
    return f"{head}event: {name}\ndata: {text}\n\n"


# -- routes ----------------------------------------------------------------------------------------------------


class GraphNode(BaseModel):
    """A page of the drawing, or a redirect on the way. `depth`: steps from where its way begins."""

    id: str
    url: str
    title: str
    score: float
    found: bool
    seed: bool
    host: str
    depth: int
    label: Label | None


class GraphEdge(BaseModel):
    """A link that was followed first."""

    source: str
    target: str
    anchor: str


class Graph(BaseModel):
    """The best pages, and the ways that led to them."""

    nodes: list[GraphNode]
    edges: list[GraphEdge]
    truncated: bool


@router.get("/crawls/{crawl}/progress")
def show_progress(access: CrawlAccess = crawl_to("read", "read")) -> Progress:
    """How a crawl is going. What is in flight, and the frontier, are only known while it runs."""
    site, view = access.site, access.cached.view
    with explained():
        return progress_of(view, crawl_as_told(site.database, access.crawl), site.clock(), curve=True)


@router.get(
    "/crawls/{crawl}/curve.svg",
    response_class=Response,
    responses={200: {"content": {"image/svg+xml": {}}, "description": "The curve as SVG"}},
)
def draw_curve(
    width: Annotated[int, Query(ge=300, le=2000)] = 720,
    theme: Literal["", "light", "dark"] = "",
    access: CrawlAccess = crawl_to("read", "read"),
) -> Response:
    """The harvest curve as a picture, beside that of breadth-first order. Without a theme it follows the system's."""
    with explained():
        harvest = access.cached.view.harvest()
    curves = [Curve("this crawl", harvest.pages, harvest.found)]
    curves.append(Curve("the same pages, breadth-first", harvest.pages, harvest.breadth))
    figure = Figure("harvest", "", "pages fetched", "relevant pages", curves)
    return Response(svg(figure, width, alone=True, theme=theme), media_type="image/svg+xml")


@router.get(
    "/crawls/{crawl}/events",
    response_class=Response,
    responses={
        200: {"content": {"text/event-stream": {}}, "description": "Server-sent events"},
        429: {"description": "Too many streams of one person"},
    },
)
async def follow_events(
    after: Annotated[int, Query(ge=0, le=2**62)] = 0,
    last_event_id: Annotated[str, Header(max_length=100)] = "",
    access: CrawlAccess = crawl_to("read", "read"),
) -> Response:
    """Server-sent events: `visit` with the number of each, `progress`, `state`, and `end`, after which nothing comes.

    Begins behind the visit `after`, or the one that the header Last-Event-ID names. Close it at `end`: browsers would
    connect again.
    """
    site = access.site
    last = last_event_id.strip()
    if last.isascii() and last.isdigit() and len(last) < 19:
        after = max(after, int(last))
    counted = ExitStack()
    try:
        counted.enter_context(site.streams.one(access.person.id))
    except Busy:
        told = f"you have {STREAMS} live views open already: close one of them first"
        raise HTTPException(429, told, {"Retry-After": "5"}) from None
    return EventStream(Feed(access, after), counted)


@router.get("/crawls/{crawl}/graph")
def show_graph(
    best: Annotated[int, Query(ge=1, le=200)] = 50,
    access: CrawlAccess = crawl_to("read", "read"),
) -> Graph:
    """The best pages of a crawl, and the paths from its seeds that led to them."""
    labels, cached = access.labels, access.cached
    view = cached.view
    with view.lock:
        pages, scores = cached.scores(labels)
        threshold = view.threshold
        good = [page for page in pages if is_found(page, float(scores[page.place]), threshold, labels)]
        good.sort(key=lambda page: (-float(scores[page.place]), page.first))
    ways = view.ways(good[:best], 400)  # more nodes can't be told apart
    nodes = []
    for page, depth in ((PageRow(view, vertex), depth) for vertex, depth in ways.depths.items()):
        score = float(scores[page.place]) if page.place >= 0 else 0.0
        nodes.append(
            GraphNode(
                id=str(page.number),
                url=page.node,
                title=page.title,
                score=round(score, 6),
                found=page.place >= 0 and is_found(page, score, threshold, labels),
                seed=view.graph.is_seed(page.node),
                host=page.host,
                depth=depth,
                label=label_of(labels, page.node),
            )
        )
    edges = []
    if ways.steps:
        with explained(), view.reading() as log:
            for source, target in ways.steps:
                anchor = view.origin(log, view.nodes[target]).anchor
                edges.append(GraphEdge(source=str(source), target=str(target), anchor=anchor))
    return Graph(nodes=nodes, edges=edges, truncated=ways.truncated or len(good) > best)
