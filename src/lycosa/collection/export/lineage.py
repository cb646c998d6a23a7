"""How each page was found: by a link of which page, with which words, how many links from a seed.

A fold over the log, as the crawl's own table makes it, but only for nodes that were fetched. A page's parent is the
first page that linked to it, or to a redirect that led to it; depth is the smallest that the crawl knew. Memory:
24 bytes a fetched node. Anchors are not kept: they are read again from the parent.
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from lycosa.collection.export.nodes import Nodes
from lycosa.collection.export.selection import WAYS, Selection
from lycosa.core.types import Seed, Visit

_UNKNOWN = np.iinfo(np.int32).max


class Lineage:
    """Depth, parent and anchor of pages."""

    def __init__(self, pages: Selection) -> None:
        fetched = pages.log.rows("node", f"{WAYS} AND kind != 'seed' AND seq <= ?", given=(pages.last,))
        self._nodes = Nodes(node for (node,) in fetched)
        self._depth = np.full(len(self._nodes), _UNKNOWN, np.int32)
        self._parent = np.zeros(len(self._nodes), np.int64)
        """The number of an event of the log; 0 where no page led to the node."""
        self._link = np.zeros(len(self._nodes), np.int32)
        """Which of that page's links it was."""
        for seq, event in pages.ways("tracing links"):
            node = int(self._nodes.find([event.node])[0])
            if isinstance(event, Seed):
                if node >= 0:
                    self._depth[node] = 0
            elif event.outcome == "redirect":  # also of a page that has moved since
                self._inherit(event, node)
            else:
                if event.kind == "sitemap" and self._depth[node] == _UNKNOWN:
                    self._depth[node] = 0  # a list of addresses to start from
                self._join(seq, event, node)
        self._parsed = lru_cache(maxsize=16)(pages.visit)

    def _join(self, seq: int, visit: Visit, node: int) -> None:
        """A page's links lead to others; one that nobody led to before has found its parent."""
        found = self._nodes.find(visit.links.urls)
        links = np.flatnonzero((found >= 0) & (found != node))
        children, first = np.unique(found[links], return_index=True)
        orphans = (self._parent[children] == 0) & (self._depth[children] == _UNKNOWN)
        self._parent[children[orphans]] = seq
        self._link[children[orphans]] = links[first[orphans]]
        if self._depth[node] != _UNKNOWN:
            self._depth[children] = np.minimum(self._depth[children], self._depth[node] + 1)

    def _inherit(self, visit: Visit, node: int) -> None:
        """What a redirect leads to stands in for it."""
        target: NDArray[np.int64] = self._nodes.find(visit.links.urls[:1])
        if not len(target) or target[0] < 0 or target[0] == node:
            return
        if not self._parent[target[0]] and self._depth[target[0]] == _UNKNOWN:
            self._parent[target[0]], self._link[target[0]] = self._parent[node], self._link[node]
        self._depth[target[0]] = min(self._depth[target[0]], self._depth[node])

    def of(self, name: str) -> tuple[int | None, str, str]:
        """Depth, parent and anchor of a page; None and empty where the log does not tell."""
        node = int(self._nodes.find([name])[0])
        depth = int(self._depth[node])
        parent = int(self._parent[node])
        if not parent:
            return (None if depth == _UNKNOWN else depth), "", ""
        visit = self._parsed(parent)
        return (None if depth == _UNKNOWN else depth), visit.node, visit.links.anchors[int(self._link[node])]
