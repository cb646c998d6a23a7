"""Baselines that ignore the topic: breadth-first, random, backlink count, out-link count, URL depth."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from lycosa.core.columns import column, fit, learned
from lycosa.core.composite import GOLDEN, splitmix
from lycosa.core.state import State
from lycosa.core.table import Table
from lycosa.core.types import Priorities, Rows, Step
from lycosa.strategies.parents import MergedPriorities, PriorityFromParents, linked


class TableEstimator:
    """Base of estimators that rank rows by the table alone. They learn nothing."""

    def learn(self, step: Step, table: Table) -> Rows:
        return step.children


class SpillableEstimator(TableEstimator):
    """Base of table estimators whose rows can be spilled to disk (core/spilled_rows.py)."""

    def leave(self, rows: Rows, table: Table) -> dict[str, NDArray[Any]]:
        return {}

    def join(self, rows: Rows, known: Mapping[str, NDArray[Any]], table: Table) -> None:
        pass


@dataclass
class BreadthFirst(SpillableEstimator):
    """Breadth-first: priority = -depth, ties in order of discovery (first in, first out).

    The depth is the number of links from the nearest seed, as known when the parent was fetched; a shorter path found
    later does not update links already queued. A breadth-first crawl with one request at a time reaches every page by
    its shortest path; under another strategy the depth is an upper bound.

    Paper: Batsakis 2007, section 3.2 (a FIFO queue, which gives the same order); Gouriten et al. 2014, estimator 1,
    whose score 1 / (depth + 1) ranks alike. With `zeta` the two differ, since a share of the best score is another
    depth.
    """

    def state(self) -> State:
        return {}

    def restore(self, state: State) -> None:
        pass

    def explain(self, row: int, table: Table) -> dict[str, float]:
        return {"links from a seed": -float(table.depth[row])}

    def priority(self, rows: Rows, table: Table) -> Priorities:
        return -table.depth[rows].astype(float)


@dataclass
class Random(TableEstimator):
    """Random priorities: each is a hash of (seed, row), so that the same seed gives the same crawl after a resume.

    >>> Random(seed=1).priority(np.array([0, 1]), Table()).round(3).tolist()
    [0.823, 0.687]
    """

    seed: int = 0

    def explain(self, row: int, table: Table) -> dict[str, float]:
        return {"chance": float(self.priority(np.array([row], np.int32), table)[0])}

    def priority(self, rows: Rows, table: Table) -> Priorities:
        x = rows.astype(np.uint64) + np.uint64((self.seed * int(GOLDEN) + 1) % 2**64)
        return splitmix(x * GOLDEN).astype(np.float64) / 2.0**64


@dataclass
class Backlink(SpillableEstimator):
    """Backlink count: the priority is the number of crawled pages that link to the node, whatever the topic.

    Ranks like fl_deg.

    Paper: Cho, Garcia-Molina, Page 1998; Batsakis 2007, section 2.2.
    """

    def priority(self, rows: Rows, table: Table) -> Priorities:
        return table.in_degree[rows].astype(float)


@dataclass
class OutLinks(PriorityFromParents):
    """Out-link count: the priority is the number of links on the page that links to the node, the largest of several.

    The thesis lists "the number of outgoing links of that page" as a measure of importance. A page's own links are
    unknown before it is fetched, so "that page" is read as the one that links to it. Links are counted once per node
    within the scope of the crawl.

    Paper: Batsakis 2007, section 2.2; Cho, Garcia-Molina, Page 1998.
    """

    proportional: ClassVar[bool] = False

    priority_: MergedPriorities = learned(MergedPriorities)

    def learn(self, step: Step, table: Table) -> Rows:
        return self.priority_.update(step, table, float(len(linked(step, table))))


_UNKNOWN = -1


@dataclass
class UrlDepth:
    """URL depth: priority = -(number of slashes in the path of the URL), so `http://a/` comes before `http://a/b/c`.

    Query and fragment are ignored; a node that is not a URL counts as a path. The target of a redirect inherits the
    count of its source, or keeps its own if that is smaller.

    Paper: Batsakis 2007, section 2.2; Cho, Garcia-Molina, Page 1998 (location metric).

    >>> slashes("https://example.org/reefs/red-sea/?page=a/b"), slashes("https://example.org"), slashes("reefs/red")
    (3, 0, 1)
    """

    slashes_: NDArray[np.int32] = column(np.int32)

    def learn(self, step: Step, table: Table) -> Rows:
        self.slashes_ = fit(self.slashes_, len(table), _UNKNOWN)
        slashes_before = self.slashes_[step.children]
        if step.visit.outcome == "redirect":
            source = self._counted(np.array([step.row], np.int32), table)
            fewest = np.minimum(slashes_before, source)
            self.slashes_[step.children] = np.where(slashes_before == _UNKNOWN, source, fewest)
        else:
            self.slashes_[step.children] = self._counted(step.children, table)
        return step.children

    def explain(self, row: int, table: Table) -> dict[str, float]:
        return {"slashes in its URL": float(self.priority(np.array([row], np.int32), table)[0])}

    def priority(self, rows: Rows, table: Table) -> Priorities:
        return -self._counted(rows, table).astype(float)

    def _counted(self, rows: Rows, table: Table) -> NDArray[np.int32]:
        counts = fit(self.slashes_, len(table), _UNKNOWN)[rows]
        new = np.flatnonzero(counts == _UNKNOWN)
        counts[new] = [slashes(table.nodes[row]) for row in rows[new].tolist()]
        return counts


def slashes(node: str) -> int:
    path = node.partition("#")[0].partition("?")[0]
    scheme, separator, rest = path.partition("://")
    if separator and "/" not in scheme:
        path = rest  # rest starts with the host
    return path.count("/")
