"""A crawl as it goes: figures, events, and a graph of its best pages."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Header, Query
from fastapi.responses import Response
from pydantic import BaseModel

from lycosa.collection.rows import PageRow
from lycosa.server.api.crawls import crawl_as_told
from lycosa.server.events import EventStream, Feed
from lycosa.server.guards import CrawlAccess, crawl_to
from lycosa.server.progress import Progress, progress_of
from lycosa.server.results import Label, is_found, label_of
from lycosa.server.views import explained

router = APIRouter(tags=["live"])

LAST = 2**62

MOST = 400
"""Nodes of a drawing: more can't be told apart."""


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
    "/crawls/{crawl}/events",
    response_class=Response,
    responses={
        200: {"content": {"text/event-stream": {}}, "description": "Server-sent events"},
        429: {"description": "Too many streams of one person"},
    },
)
async def follow_events(
    after: Annotated[int, Query(ge=0, le=LAST)] = 0,
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
    site.views.begin(access.person.id)
    return EventStream(Feed(access, after))


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
    ways = view.ways(good[:best], MOST)
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
