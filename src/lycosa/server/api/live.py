"""A crawl as it goes: figures, events, and a graph of its best pages."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Header, Query, Request
from fastapi.responses import Response
from pydantic import BaseModel

from lycosa.collection.rows import PageRow
from lycosa.people import feedback
from lycosa.server.api.crawls import told
from lycosa.server.events import EventStream, Feed
from lycosa.server.progress import Progress, progress_of
from lycosa.server.shelves import explained
from lycosa.server.shown import Label, is_found, label_of
from lycosa.server.site import site_of
from lycosa.server.who import AskedCrawl, crawl_to

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
def show_progress(request: Request, asked: AskedCrawl = crawl_to("read", "read")) -> Progress:
    """How a crawl is going. What is in flight, and the frontier, are only known while it runs."""
    site = site_of(request)
    shelf = site.shelves.get(asked.directory).shelf
    with explained():
        return progress_of(shelf, told(site, asked.crawl), site.clock(), curve=True)


@router.get(
    "/crawls/{crawl}/events",
    response_class=Response,
    responses={
        200: {"content": {"text/event-stream": {}}, "description": "Server-sent events"},
        429: {"description": "Too many streams of one person"},
    },
)
async def follow_events(
    request: Request,
    after: Annotated[int, Query(ge=0, le=LAST)] = 0,
    last_event_id: Annotated[str, Header(max_length=100)] = "",
    asked: AskedCrawl = crawl_to("read", "read"),
) -> Response:
    """Server-sent events: `visit` with the number of each, `progress`, `state`, and `end`, after which nothing comes.

    Begins behind the visit `after`, or the one that the header Last-Event-ID names. Close it at `end`: browsers would
    connect again.
    """
    site = site_of(request)
    last = last_event_id.strip()
    if last.isascii() and last.isdigit() and len(last) < 19:
        after = max(after, int(last))
    site.shelves.begin(asked.person.id)
    return EventStream(Feed(site, asked, after))


@router.get("/crawls/{crawl}/graph")
def show_graph(
    request: Request,
    best: Annotated[int, Query(ge=1, le=200)] = 50,
    asked: AskedCrawl = crawl_to("read", "read"),
) -> Graph:
    """The best pages of a crawl, and the paths from its seeds that led to them."""
    site = site_of(request)
    labels = feedback.labels_of(site.database, asked.interest["id"])
    held = site.shelves.get(asked.directory)
    shelf = held.shelf
    with shelf.lock:
        pages, scores = held.worths.scores(labels)
        threshold = shelf.threshold
        good = [page for page in pages if is_found(page, float(scores[page.place]), threshold, labels)]
        good.sort(key=lambda page: (-float(scores[page.place]), page.first))
    ways = shelf.ways(good[:best], MOST)
    nodes = []
    for page, depth in ((PageRow(shelf, vertex), depth) for vertex, depth in ways.depths.items()):
        score = float(scores[page.place]) if page.place >= 0 else 0.0
        nodes.append(
            GraphNode(
                id=str(page.number),
                url=page.node,
                title=page.title,
                score=round(score, 6),
                found=page.place >= 0 and is_found(page, score, threshold, labels),
                seed=shelf.graph.is_seed(page.node),
                host=page.host,
                depth=depth,
                label=label_of(labels, page.node),
            )
        )
    edges = []
    if ways.steps:
        with explained(), shelf.reading() as log:
            for source, target in ways.steps:
                anchor = shelf.origin(log, shelf.nodes[target]).anchor
                edges.append(GraphEdge(source=str(source), target=str(target), anchor=anchor))
    return Graph(nodes=nodes, edges=edges, truncated=ways.truncated or len(good) > best)
