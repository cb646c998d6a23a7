"""A crawl as a graph that a person can take in: its best pages, and the ways from the seeds that led to them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import pairwise

from lycosa.collection.view import CrawlView, PageRow

MOST = 400
"""Nodes of a drawing: more can't be told apart."""

LONGEST = 60
"""Nodes of one way."""


@dataclass(frozen=True, slots=True)
class Edge:
    """A link that was followed: between places in `Drawing.nodes`."""

    source: int
    target: int
    anchor: str


@dataclass(slots=True)
class Drawing:
    """Nodes with their distance from where their way begins, and the links between them."""

    nodes: list[PageRow] = field(default_factory=list)
    depths: list[int] = field(default_factory=list)
    edges: list[Edge] = field(default_factory=list)
    truncated: bool = False
    """Whether there were more good pages than were asked for, or than fit."""


def draw(view: CrawlView, best: Sequence[PageRow], more: bool = False) -> Drawing:
    """The ways to some pages, the best of which come first; `more`: whether others were left out before."""
    drawing = Drawing(truncated=more)
    place: dict[int, int] = {}
    pairs: dict[tuple[int, int], None] = {}
    for page in best:
        trail = view.trail(page.number, LONGEST)
        if len(place) + sum(vertex not in place for vertex in trail) > MOST:
            drawing.truncated = True
            break
        for depth, vertex in enumerate(trail):
            if vertex not in place:
                place[vertex] = len(drawing.nodes)
                drawing.nodes.append(PageRow(view, vertex))
                drawing.depths.append(depth)
        pairs.update(dict.fromkeys(pairwise(place[vertex] for vertex in trail)))
    if pairs:
        with view.reading() as log:
            for source, target in pairs:
                anchor = view.origin(log, drawing.nodes[target].node).anchor
                drawing.edges.append(Edge(source, target, anchor))
    return drawing
