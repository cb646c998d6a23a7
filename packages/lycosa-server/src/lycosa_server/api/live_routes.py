"""A running crawl: progress, server-sent events, and a graph of its best pages."""

from __future__ import annotations

import asyncio
import heapq
import json
import time
from collections.abc import AsyncGenerator, AsyncIterator, Iterator, Mapping
from contextlib import aclosing
from dataclasses import asdict, dataclass, field
from typing import Annotated, Literal

import numpy as np
from fastapi import APIRouter, Depends, Header, Query
from fastapi.responses import Response
from fastapi.sse import EventSourceResponse, ServerSentEvent
from numpy.typing import NDArray
from pydantic import BaseModel
from starlette.concurrency import run_in_threadpool

from lycosa.collection.page_rows import PageRow
from lycosa.collection.search_text import clean
from lycosa.collection.view import CrawlView, Harvest
from lycosa.core.errors import StoreError
from lycosa.core.types import Visit
from lycosa.drawing.figure import Curve, Figure
from lycosa.drawing.svg import svg
from lycosa_server import messages
from lycosa_server.api.crawl_routes import CrawlOut, crawl_out
from lycosa_server.crawler.live import InFlightRequest, LiveHost, LiveState
from lycosa_server.guards import CrawlAccess, ServerContext, crawl_to, is_still_authorized
from lycosa_server.people import crawls, feedback
from lycosa_server.people.crawls import OVER
from lycosa_server.people.database import DatabaseUnavailable
from lycosa_server.people.interests import newest_crawl
from lycosa_server.people.permissions import NotFound, interest_for
from lycosa_server.results import CachedView, CurrentPages, Label, fetch_reason, label_of

router = APIRouter(tags=["live"])

HOSTS = 100
Found = NDArray[np.bool_]


class HostStatus(BaseModel):
    host: str
    pages: int
    relevant: int
    state: str
    ready_in: float | None
    why: str
    in_flight: int
    waiting: int


class FailureCount(BaseModel):
    cause: str
    count: int
    meaning: str
    example: str
    outcome: str


class CrawlProgressOut(BaseModel):
    crawl: CrawlOut
    seq: int
    rate: float
    frontier: int | None
    in_flight: list[InFlightRequest]
    errors: list[FailureCount]
    hosts: list[HostStatus]
    curve: Harvest


def progress_of(view: CrawlView, relevant: Found, crawl: CrawlOut, now: float) -> CrawlProgressOut:
    live = LiveState.read(view.path, now)
    curve = view.harvest(relevant)
    with view.lock:
        return CrawlProgressOut(
            crawl=crawl,
            seq=view.seq,
            rate=view.rate(now),
            frontier=live.frontier,
            in_flight=live.in_flight,
            errors=_failures(view),
            hosts=_hosts(view, relevant, live, now),
            curve=curve,
        )


def _failures(view: CrawlView) -> list[FailureCount]:
    found: dict[str, FailureCount] = {}
    for cause in view.tally.causes.values():
        name = messages.cause_name(cause.kind, cause.outcome, cause.name)
        if name in found:
            found[name].count += cause.count
            continue
        found[name] = FailureCount(
            cause=name,
            count=cause.count,
            meaning=messages.ADVICE.get(cause.outcome, cause.advice),
            example=cause.examples[0][0] if cause.examples else "",
            outcome=cause.outcome,
        )
    return sorted(found.values(), key=lambda failure: -failure.count)


def _hosts(view: CrawlView, relevant: Found, live: LiveState, now: float) -> list[HostStatus]:
    ranked = [((-host.relevant, -host.pages), host.name) for host in view.hosts(relevant=relevant) if host.pages]
    busy = {host.host: host for host in live.hosts}
    names = dict.fromkeys([*busy, *(name for _, name in heapq.nsmallest(HOSTS, ranked))])  # there may be thousands
    hosts = [_host(view, busy.get(name) or LiveHost(host=name), now) for name in names]
    hosts.sort(key=lambda host: (-host.in_flight, -min(host.waiting, 1), -host.relevant, -host.pages, host.host))
    return hosts[:HOSTS]


def _host(view: CrawlView, live: LiveHost, now: float) -> HostStatus:
    known = view.tally.hosts.get(live.host)
    ready = None if live.ready_at is None else round(max(0.0, live.ready_at - now), 2)
    state = "requesting" if live.in_flight else "delayed" if ready else "waiting" if live.waiting else "idle"
    pages, relevant = (known.pages, known.relevant) if known else (0, 0)
    return HostStatus(**live.model_dump(), pages=pages, relevant=relevant, state=state, ready_in=ready)


POLL, PROGRESS, CHECK = 1.0, 2.0, 10.0  # seconds between checks of the log, progress events, and checks of permissions
BATCH = 100  # visits per round, so that other streams are served in between


@dataclass(slots=True)
class EventFeed:
    access: CrawlAccess
    after: int
    visits: bool = True  # send visits and progress, not only states and labels
    stay: bool = False  # keep the stream open after the end of the crawl
    tick: float = POLL
    generation: int = -1
    state: object = None  # last sent state of the crawl
    drawn: object = None  # counts of the curve sent last
    number: int = -1  # number of the last label sent
    labels: Mapping[str, bool] = field(default_factory=dict)
    newest: str = ""
    progressed: float = -1e9
    checked: float = field(default_factory=time.monotonic)

    @property
    def site(self) -> ServerContext:
        return self.access.site

    def poll(self) -> tuple[list[ServerSentEvent], bool, bool]:
        """Return new events, whether more are available at once, and whether the stream has ended."""
        database, clock = self.site.database, time.monotonic()
        try:
            if clock - self.checked >= CHECK:
                self.checked = clock
                if reason := self._refused():
                    return [_end_event(reason)], False, True
            row = crawls.get(database, self.access.crawl["id"])
            cached = self.access.cached
            if self.generation not in (-1, cached.view.generation):
                return [_end_event("restarted")], False, True
            newest = (newest_crawl(database, row["interest"]) or row)["id"] if self.stay else ""
            crawl, events = crawl_out(self.site, row), self._labels(row["interest"])  # last call that may fail
        except DatabaseUnavailable:
            return [], False, False  # retry later
        except NotFound:
            return [_end_event("deleted")], False, True
        except (StoreError, OSError):
            return [_end_event("the crawl cannot be read")], False, True
        self.generation, upto, now = cached.view.generation, cached.view.seq, cached.now(self.labels)
        crawl.pages, crawl.relevant = now.pages, int(now.relevant.sum())
        visits, more = self._visits(cached, upto) if self.visits else ([], False)
        over = crawl.state in OVER and not more
        events += visits + self._progress_and_state(cached, now, crawl, upto, over=over)
        if self.newest not in ("", newest):
            events.append(_event("crawl", {"id": newest}))
        self.newest = newest
        if over and not self.stay:
            events.append(_end_event(crawl.state))
        return events, more, over and not self.stay

    def _progress_and_state(
        self, cached: CachedView, now: CurrentPages, crawl: CrawlOut, upto: int, *, over: bool
    ) -> list[ServerSentEvent]:
        events, clock, counts = list[ServerSentEvent](), time.monotonic(), (crawl.pages, crawl.relevant, upto)
        if self.visits and (counts != self.drawn if over else clock - self.progressed >= PROGRESS):
            progress = progress_of(cached.view, now.relevant, crawl, self.site.clock())
            ends = progress.curve.pages[-1:] + progress.curve.relevant[-1:]  # the curve may be cached from before
            self.drawn = counts if ends in ([], [crawl.pages, crawl.relevant]) else None
            self.progressed = clock
            events.append(_event("progress", progress.model_dump()))
        state = crawl.model_dump(exclude={"pages", "relevant", "harvest"}), None if self.visits else counts
        if state != self.state:
            self.state = state
            events.append(_event("state", crawl.model_dump()))
        return events

    def _labels(self, interest: str) -> list[ServerSentEvent]:
        database = self.site.database
        number = feedback.last(database, interest)
        if number == self.number:
            return []
        words = feedback.after(database, interest, self.number)[-BATCH:] if self.number >= 0 else []
        labels = feedback.labels_of(database, interest)
        first, self.labels, self.number = self.number < 0, labels, number
        self.progressed = -1e9  # send the new counts at once
        changed = [{"url": word.node, "label": label_of(labels, word.node)} for word in words]
        yes = sum(labels.values())
        data = {"yes": yes, "no": len(labels) - yes, "changed": changed}
        return [] if first and not self.stay else [_event("labels", data)]

    def _refused(self) -> str:
        if not is_still_authorized(self.access.person):
            return "signed out"
        try:
            interest_for(self.site.database, self.access.person.id, self.access.interest["id"])
        except NotFound:
            return "no longer shared"
        return ""

    def _visits(self, cached: CachedView, upto: int) -> tuple[list[ServerSentEvent], bool]:
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
                    "relevance": visit.relevance_now,
                    "relevant": visit.is_version and visit.relevance_now >= view.threshold and not visit.same_as,
                    "label": label_of(self.labels, visit.node),
                    "at": visit.started,
                    "kind": visit.kind,
                    "outcome": visit.outcome,
                    "why": asdict(fetch_reason(view.origin(log, visit.node), visit.priority)),
                }
                events.append(_event("visit", event, str(seq)))
        more = len(events) == BATCH
        if not more:
            self.after = max(self.after, upto)
        return events, more


async def stream(feed: EventFeed) -> AsyncGenerator[ServerSentEvent, None]:
    yield ServerSentEvent(retry=2000)
    over = False
    while not over:
        if feed.site.views.stopping.is_set():
            yield _end_event("the server stops")
            return
        events, more, over = await run_in_threadpool(feed.poll)
        for event in events:
            yield event
        if not (more or over):
            await asyncio.sleep(feed.tick)


def _event(name: str, data: object, number: str | None = None) -> ServerSentEvent:
    text = json.dumps(data, allow_nan=False, separators=(",", ":"))
    return ServerSentEvent(event=name, raw_data=text, id=number)


def _end_event(reason: str) -> ServerSentEvent:
    return _event("end", {"reason": reason})


class GraphNode(BaseModel):
    """A page of the graph, or a redirect on a path to one. `depth` counts steps from the seed."""

    id: str
    url: str
    title: str
    relevance: float
    relevant: bool
    seed: bool
    host: str
    depth: int
    label: Label | None


class GraphEdge(BaseModel):
    source: str
    target: str
    anchor: str


class CrawlGraphOut(BaseModel):
    nodes: list[GraphNode]
    edges: list[GraphEdge]
    truncated: bool


@router.get("/crawls/{crawl}/progress")
def show_progress(access: CrawlAccess = crawl_to("read", "read")) -> CrawlProgressOut:
    """Return the progress of a crawl. Requests in flight and the size of the frontier are only known while it runs."""
    site, cached = access.site, access.cached
    now = cached.now(access.labels)
    crawl = crawl_out(site, access.crawl, now)
    return progress_of(cached.view, now.relevant, crawl, site.clock())


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
    """Return a chart of the harvest and that of breadth-first order; without a theme it follows the system's."""
    cached = access.cached
    harvest = cached.view.harvest(cached.now(access.labels).relevant)
    curves = [
        Curve("this crawl", harvest.pages, harvest.relevant),
        Curve("the same pages, breadth-first", harvest.pages, harvest.breadth),
    ]
    figure = Figure("harvest", "", "pages fetched", "relevant pages", curves)
    return Response(svg(figure, width, standalone=True, theme=theme), media_type="image/svg+xml")


READER = crawl_to("read", "read")


def count_stream(access: CrawlAccess = READER) -> Iterator[None]:
    with access.site.streams.one(access.person.id):
        yield


@router.get("/crawls/{crawl}/events", response_class=EventSourceResponse, dependencies=[Depends(count_stream)])
async def follow_events(
    after: Annotated[int, Query(ge=0, le=2**62)] = 0,
    visits: Annotated[bool, Query(description="False: only `state`, `labels` and `end`.")] = True,
    stay: Annotated[bool, Query(description="Continue when the crawl is over.")] = False,
    last_event_id: Annotated[str, Header(max_length=100)] = "",
    access: CrawlAccess = READER,
) -> AsyncIterator[ServerSentEvent]:
    """Send events: numbered `visit` events, `progress`, `state`, `labels` set or removed, and `end`.

    With `stay`, the stream continues after the crawl, and `crawl` announces a newer one. Events begin after the visit
    `after`, or the header Last-Event-ID. Close the stream at `end`, or browsers reconnect.
    """
    last = last_event_id.strip()
    if last.isascii() and last.isdigit() and len(last) < 19:
        after = max(after, int(last))
    async with aclosing(stream(EventFeed(access, after, visits, stay))) as events:
        async for event in events:
            yield event


@router.get("/crawls/{crawl}/graph")
def show_graph(
    best: Annotated[int, Query(ge=1, le=200)] = 50, access: CrawlAccess = crawl_to("read", "read")
) -> CrawlGraphOut:
    """Return the best pages of a crawl, and the paths from its seeds that led to them."""
    labels, cached = access.labels, access.cached
    view = cached.view
    with view.lock:
        now = cached.now(labels)
        good = [PageRow(view, number) for number in np.flatnonzero(now.relevant).tolist()]
        good.sort(key=lambda page: (-now.relevances_now.item(page.number), page.first))
    ways = view.path_graph(good[:best], 400)  # larger graphs are unreadable
    pages = ((PageRow(view, vertex), depth) for vertex, depth in ways.depths.items())
    nodes = [
        GraphNode(
            id=str(page.number),
            url=page.node,
            title=page.title,
            relevance=round(now.relevances_now.item(page.number), 6) if page.place >= 0 else 0.0,
            relevant=now.relevant.item(page.number),
            seed=view.graph.is_seed(page.node),
            host=page.host,
            depth=depth,
            label=label_of(labels, page.node),
        )
        for page, depth in pages
    ]
    edges = []
    if ways.steps:
        with view.reading() as log:
            for source, target in ways.steps:
                anchor = view.origin(log, view.nodes[target]).anchor
                edges.append(GraphEdge(source=str(source), target=str(target), anchor=anchor))
    return CrawlGraphOut(nodes=nodes, edges=edges, truncated=ways.truncated or len(good) > best)
