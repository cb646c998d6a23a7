"""What breadth-first order would have made of the same pages, over a graph of vertices and links in plain arrays."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from lycosa.core.table import MAX_HOPS

PAGE, REDIRECT, SITEMAP = 0, 1, 2
"""What a vertex is. Only pages count; the others are ways to them."""

AT_ONCE = 20_000
"""Vertices whose links are looked at together: more would only take memory."""


@dataclass(slots=True)
class Breadth:
    """Vertices in the order of the log; the links of vertex v are `edges[starts[v]:starts[v + 1]]`, in page order."""

    kind: NDArray[np.uint8]
    seeds: list[int]
    edges: NDArray[np.int32]
    starts: NDArray[np.int64]

    def __len__(self) -> int:
        return len(self.kind)

    def landing(self) -> NDArray[np.int64]:
        """For each vertex where one ends up who follows its redirects: itself for a page, -1 if that leads nowhere."""
        target = np.arange(len(self))
        redirect, starts = self.kind == REDIRECT, self.starts[:-1]
        leads = redirect & (self.starts[1:] > starts)
        target[redirect] = -1
        target[leads] = self.edges[starts[leads]]
        for _ in range(MAX_HOPS.bit_length()):  # each round doubles the way
            target = np.where(target >= 0, target[target], -1)
        target[(target >= 0) & redirect[target]] = -1  # a loop
        return target

    def first(self) -> tuple[NDArray[np.int64], NDArray[np.int32]]:
        """The pages in breadth-first order from the seeds, and every vertex's distance from them (-1: unreachable).

        Links are taken in page order, redirects stand for their targets, sitemaps are where one can also begin. What
        can't be reached over recorded links comes last, in the order of the log.
        """
        landing, is_page = self.landing(), self.kind == PAGE
        depth = np.full(len(self), -1, np.int32)
        sitemaps = np.flatnonzero(self.kind == SITEMAP)
        level = _distinct(landing[np.concatenate([np.array(self.seeds, np.int64), sitemaps])])
        order, distance = [np.zeros(0, np.int64)], 0
        while len(level):
            depth[level] = distance
            order.append(level)
            distance += 1
            parts = []
            for start in range(0, len(level), AT_ONCE):
                children = landing[self._children(level[start : start + AT_ONCE])]
                children = _distinct(children)
                children = children[depth[children] < 0]
                depth[children] = distance
                parts.append(children)
            level = np.concatenate(parts)
        reached = np.concatenate(order)
        unreached = np.flatnonzero(is_page & (depth < 0))
        return np.concatenate([reached[is_page[reached]], unreached]), depth

    def _children(self, level: NDArray[np.int64]) -> NDArray[np.int32]:
        starts, counts = self.starts[level], self.starts[level + 1] - self.starts[level]
        before = np.cumsum(counts) - counts
        children: NDArray[np.int32] = self.edges[np.repeat(starts - before, counts) + np.arange(counts.sum())]
        return children


def _distinct(vertices: NDArray[np.int64]) -> NDArray[np.int64]:
    """Each vertex once, where it came first; without those that are none."""
    vertices = vertices[vertices >= 0]
    return vertices[np.sort(np.unique(vertices, return_index=True)[1])]
