"""A running crawl: progress, server-sent events, and a graph of its best pages."""

from __future__ import annotations

import asyncio
import heapq
import json
import time
from collections import Counter
from collections.abc import AsyncGenerator, AsyncIterator, Iterator, Mapping
from contextlib import aclosing
from dataclasses import asdict, dataclass, field
from itertools import compress
from typing import Annotated, Literal

import numpy as np
from fastapi import APIRouter, Depends, Header, Query
from fastapi.responses import Response
from fastapi.sse import EventSourceResponse, ServerSentEvent
from pydantic import BaseModel
from starlette.concurrency import run_in_threadpool

from lycosa.collection.counts import causes
from lycosa.collection.pages import Harvest, PageArray, is_seed, pages_at, path_graph, recent_pages
from lycosa.collection.search_text import clean
from lycosa.core.errors import StoreError
from lycosa.drawing.figure import Curve, Figure
from lycosa.drawing.svg import svg
from lycosa.store.log import SqliteLog
from lycosa_server import messages
from lycosa_server.api.crawl_routes import CrawlOut, crawl_out
from lycosa_server.crawl_cache import CachedCrawl, places
from lycosa_server.crawler.live import InFlightRequest, LiveHost, LiveState
from lycosa_server.guards import CrawlAccess, ServerContext, crawl_to, is_still_authorized
from lycosa_server.people import crawls, feedback
from lycosa_server.people.crawls import OVER
from lycosa_server.people.database import DatabaseUnavailable
from lycosa_server.people.interests import newest_crawl
from lycosa_server.people.permissions import NotFound, interest_for
from lycosa_server.results import Label, fetch_reason, label_of

router = APIRouter(tags=["live"])

HOSTS = 100


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
    recent: str


def progress_of(cached: CachedCrawl, pages: PageArray, crawl: CrawlOut, now: float) -> CrawlProgressOut:
    live = LiveState.read(cached.path, now)
    out = CrawlProgressOut(
        crawl=crawl,
        seq=pages.end,
        rate=0.0,
        frontier=live.frontier,
        in_flight=live.in_flight,
        errors=[],
        hosts=[],
        curve=pages.harvest(),
        recent=pages.recent.description,
    )
    if pages.end:
        with cached.reading() as log:
            out.rate = recent_pages(log, now)
            out.errors, out.hosts = _failures(log), _hosts(log, pages, live, now)
    return out


def _failures(log: SqliteLog) -> list[FailureCount]:
    found: dict[str, FailureCount] = {}
    for cause in causes(log):
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


def _hosts(log: SqliteLog, pages: PageArray, live: LiveState, now: float) -> list[HostStatus]:
    query = "SELECT host FROM page JOIN visit ON visit.seq = page.first ORDER BY page.first LIMIT ?"
    of_page = [host for (host,) in log.query(query, (len(pages),))]
    fetched, relevant = Counter(of_page), Counter(compress(of_page, pages.relevant.tolist()))
    busy = {host.host: host for host in live.hosts}
    best = heapq.nsmallest(HOSTS, fetched, key=lambda name: (-relevant[name], -fetched[name]))  # there may be thousands
    hosts = []
    for name in dict.fromkeys([*busy, *best]):
        host = busy.get(name) or LiveHost(host=name)
        ready = None if host.ready_at is None else round(max(0.0, host.ready_at - now), 2)
        state = "requesting" if host.in_flight else "delayed" if ready else "waiting" if host.waiting else "idle"
        known = host.model_dump() | {"pages": fetched[name], "relevant": relevant[name]}
        hosts.append(HostStatus(**known, state=state, ready_in=ready))
    hosts.sort(key=lambda host: (-host.in_flight, -min(host.waiting, 1), -host.relevant, -host.pages, host.host))
    return hosts[:HOSTS]


POLL, PROGRESS, CHECK = 1.0, 2.0, 10.0  # seconds between checks of the log, progress events, and checks of permissions
BATCH = 100  # visits per round, so that other streams are served in between


@dataclass(slots=True)
class EventFeed:
    access: CrawlAccess
    after: int
    visits: bool = True  # send visits and progress, not only states and labels
    stay: bool = False  # keep the stream open after the end of the crawl
    tick: float = POLL
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
            newest = (newest_crawl(database, row["interest"]) or row)["id"] if self.stay else ""
            crawl, events = crawl_out(self.site, row), self._labels(row["interest"])
            now = cached.now(self.labels)
        except DatabaseUnavailable:
            return [], False, False  # retry later
        except NotFound:
            return [_end_event("deleted")], False, True
        except (StoreError, OSError):
            return [_end_event("the crawl cannot be read")], False, True
        crawl.pages, crawl.relevant = len(now), int(now.relevant.sum())
        visits, more = self._visits(cached, now) if self.visits else ([], False)
        over = crawl.state in OVER and not more
        events += visits + self._progress_and_state(cached, now, crawl, over=over)
        if self.newest not in ("", newest):
            events.append(_event("crawl", {"id": newest}))
        self.newest = newest
        if over and not self.stay:
            events.append(_end_event(crawl.state))
        return events, more, over and not self.stay

    def _progress_and_state(
        self, cached: CachedCrawl, now: PageArray, crawl: CrawlOut, *, over: bool
    ) -> list[ServerSentEvent]:
        events, clock, counts = list[ServerSentEvent](), time.monotonic(), (crawl.pages, crawl.relevant, now.end)
        if self.visits and (counts != self.drawn if over else clock - self.progressed >= PROGRESS):
            self.drawn, self.progressed = counts, clock
            events.append(_event("progress", progress_of(cached, now, crawl, self.site.clock()).model_dump()))
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

    def _visits(self, cached: CachedCrawl, now: PageArray) -> tuple[list[ServerSentEvent], bool]:
        if now.end <= self.after:
            return [], False
        events = []
        with cached.reading() as log:
            where = "seq > ? AND seq <= ? AND kind IN ('page', 'redirect', 'revisit', 'sitemap')"
            for seq, visit in log.numbered(where, f"seq LIMIT {BATCH}", (self.after, now.end)):
                self.after = seq
                event = {
                    "seq": seq,
                    "url": visit.node,
                    "title": clean(visit.title)[:500],
                    "relevance": visit.relevance_now,
                    "relevant": visit.is_version and visit.relevance_now >= now.threshold and not visit.same_as,
                    "label": label_of(self.labels, visit.node),
                    "at": visit.started,
                    "kind": visit.kind,
                    "outcome": visit.outcome,
                    "why": asdict(fetch_reason(log, visit.node, visit.priority)),
                }
                events.append(_event("visit", event, str(seq)))
        more = len(events) == BATCH
        if not more:
            self.after = now.end
        return events, more


async def stream(feed: EventFeed) -> AsyncGenerator[ServerSentEvent, None]:
    yield ServerSentEvent(retry=2000)
    over = False
    while not over:
        if feed.site.cache.stopping.is_set():
            yield _end_event("the server stops")
            return
        began = time.monotonic()
        events, more, over = await run_in_threadpool(feed.poll)
        for event in events:
            yield event
        if not (more or over):
            await asyncio.sleep(max(feed.tick, 4 * (time.monotonic() - began)))  # large crawls take long to read


def _event(name: str, data: object, number: str | None = None) -> ServerSentEvent:
    text = json.dumps(data, allow_nan=False, separators=(",", ":"))
    return ServerSentEvent(event=name, raw_data=text, id=number)


def _end_event(reason: str) -> ServerSentEvent:
    return _event("end", {"reason": reason})


class GraphNode(BaseModel):
    """A page of the graph. `depth` counts steps from the seed."""

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
    return progress_of(cached, now, crawl, site.clock())


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
    """Return a chart of the harvest, and of the same pages by depth; without a theme it follows the system's."""
    harvest = access.cached.now(access.labels).harvest()
    curves = [
        Curve("this crawl", harvest.pages, harvest.relevant),
        Curve("the same pages by depth", harvest.pages, harvest.breadth),
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
    now = cached.now(labels)
    good = np.flatnonzero(now.relevant)
    ranked = good[np.argsort(-now["relevance_now"][good], kind="stable")][:best]
    if not len(ranked):
        return CrawlGraphOut(nodes=[], edges=[], truncated=False)
    with cached.reading() as log:
        found = path_graph(log, [page.url for page in pages_at(log, now["first"][ranked].tolist())], 400)
        at = places(log, now, found.depths)
        pages = {page.url: page for page in pages_at(log, now["first"][list(at.values())].tolist())}
        nodes = [
            GraphNode(
                id=url,
                url=url,
                title=pages[url].title,
                relevance=round(now["relevance_now"].item(place), 6),
                relevant=now.relevant.item(place),
                seed=is_seed(log, url),
                host=pages[url].host,
                depth=found.depths[url],
                label=label_of(labels, url),
            )
            for url, place in ((url, at[url]) for url in found.depths if url in at)
        ]
    edges = [
        GraphEdge(source=source, target=target, anchor=pages[target].anchor)
        for source, target in found.steps
        if source in pages and target in pages
    ]
    return CrawlGraphOut(nodes=nodes, edges=edges, truncated=found.truncated or len(good) > best)
