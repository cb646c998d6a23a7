"""A crawl as a graph that a person can take in: its best pages, and the ways from the seeds that led to them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import pairwise

from lycosa.collection.shelf import Shelf
from lycosa.collection.shelved import Shelved

MOST = 400
"""Nodes of a drawing: more can't be told apart."""


@dataclass(frozen=True, slots=True)
class Edge:
    """A link that was followed: between places in `Drawing.nodes`."""

    source: int
    target: int
    anchor: str


@dataclass(slots=True)
class Drawing:
    """Nodes with their distance from where their way begins, and the links between them."""

    nodes: list[Shelved] = field(default_factory=list)
    depths: list[int] = field(default_factory=list)
    edges: list[Edge] = field(default_factory=list)
    truncated: bool = False
    """Whether there were more good pages than were asked for, or than fit."""


def draw(shelf: Shelf, best: Sequence[Shelved], more: bool = False) -> Drawing:
    """The ways to some pages, the best of which come first; `more`: whether others were left out before."""
    drawing = Drawing(truncated=more)
    place: dict[int, int] = {}
    pairs: dict[tuple[int, int], None] = {}
    for page in best:
        trail = shelf.trail(page)
        if len(place) + sum(vertex.number not in place for vertex in trail) > MOST:
            drawing.truncated = True
            break
        for depth, vertex in enumerate(trail):
            if vertex.number not in place:
                place[vertex.number] = len(drawing.nodes)
                drawing.nodes.append(vertex)
                drawing.depths.append(depth)
        numbers = [place[vertex.number] for vertex in trail]
        pairs.update(dict.fromkeys(pairwise(numbers)))
    if pairs:
        with shelf.reading() as log:
            for source, target in pairs:
                anchor = shelf.origin(log, drawing.nodes[target].node).anchor
                drawing.edges.append(Edge(source, target, anchor))
    return drawing
