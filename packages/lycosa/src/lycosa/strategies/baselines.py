"""Baselines, which know nothing of the topic: by discovery, by chance, by the links to and from, by the address."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from lycosa.core.columns import column, fit, learned
from lycosa.core.state import State
from lycosa.core.strategies import GOLDEN, splitmix
from lycosa.core.table import Table
from lycosa.core.types import Rows, Scores, Step
from lycosa.strategies.parents import Parents, SaidByParents, linked


class Unlearned:
    """Base of estimators that learn nothing themselves: the table knows what they go by."""

    def learn(self, step: Step, table: Table) -> Rows:
        return step.children


class Forgetful(Unlearned):
    """One of which nothing is lost when a row is put aside (core/cold.py): all that it goes by is in the table."""

    def leave(self, rows: Rows, table: Table) -> dict[str, NDArray[Any]]:
        return {}

    def join(self, rows: Rows, known: Mapping[str, NDArray[Any]], table: Table) -> None:
        """There is nothing to remember."""


@dataclass
class BreadthFirst(Forgetful):
    """The score is minus the depth; ties go to the row discovered first, so each level is first in, first out.

    The depth is the number of links from the nearest seed, as far as was known when the parent came in: a shorter way
    to a page that has been fetched does not reach its links. A crawl by this strategy, one page at a time, meets every
    page on its shortest way; one that another strategy steers may not, and the depth is then an upper bound.

    Paper: Batsakis 2007, section 3.2 (a queue, first in, first out: the same order); Gouriten et al. 2014, estimator 1,
    whose score 1 / (depth + 1) ranks alike. With `zeta` it would not draw alike: a share of the best is another depth.
    """

    def state(self) -> State:
        return {}

    def restore(self, state: State) -> None:
        """Nothing to remember."""

    def explain(self, row: int, table: Table) -> dict[str, float]:
        return {"links from a seed": -float(table.depth[row])}

    def score(self, rows: Rows, table: Table) -> Scores:
        return -table.depth[rows].astype(float)


@dataclass
class Random(Unlearned):
    """Each row gets a number drawn from (seed, row): the same seed gives the same crawl, resumed or not.

    >>> Random(seed=1).score(np.array([0, 1]), Table()).round(3).tolist()
    [0.823, 0.687]
    """

    seed: int = 0

    def explain(self, row: int, table: Table) -> dict[str, float]:
        return {"chance": float(self.score(np.array([row], np.int32), table)[0])}

    def score(self, rows: Rows, table: Table) -> Scores:
        """A hash of seed and row (splitmix64), between 0 and 1."""
        x = rows.astype(np.uint64) + np.uint64((self.seed * int(GOLDEN) + 1) % 2**64)
        return splitmix(x * GOLDEN).astype(np.float64) / 2.0**64


@dataclass
class Backlink(Forgetful):
    """The score is the number of crawled pages that link to the node. It knows nothing of the topic: a measure of
    importance, and a baseline. Its ranking is that of fl_deg.

    Paper: Cho, Garcia-Molina, Page 1998; Batsakis 2007, section 2.2.

    >>> from lycosa.core.types import Links, Visit
    >>> table, backlink = Table(), Backlink()
    >>> for node in ("a", "b"):
    ...     _ = table.add_seed(node)
    ...     rows = backlink.learn(table.absorb(Visit(node, "page", "ok", pick=1, links=Links.to("c"))), table)
    >>> backlink.score(rows, table).tolist()
    [2.0]
    """

    def score(self, rows: Rows, table: Table) -> Scores:
        return table.in_degree[rows].astype(float)


@dataclass
class OutLinks(SaidByParents):
    """The score is the number of links on the page where the node was found; the largest, if it was found on several.

    The thesis names "the number of outgoing links of that page" as a measure of importance. A page's own links are not
    known before it is fetched, so we read "that page" as the one that links to it. Links are counted once for each
    node within the scope of the crawl.

    Paper: Batsakis 2007, section 2.2; Cho, Garcia-Molina, Page 1998.

    >>> from lycosa.core.types import Links, Visit
    >>> table, out_links = Table(), OutLinks()
    >>> _ = table.add_seed("a")
    >>> visit = Visit("a", "page", "ok", pick=1, links=Links.to("b", "c", "c"))
    >>> out_links.score(out_links.learn(table.absorb(visit), table), table).tolist()
    [2.0, 2.0]
    """

    proportional: ClassVar[bool] = False

    priority_: Parents = learned(Parents)

    def learn(self, step: Step, table: Table) -> Rows:
        """Each link may have been found on a page with more links than those before."""
        return self.priority_.tell(step, table, float(len(linked(step, table))))


_UNKNOWN = -1


@dataclass
class UrlDepth:
    """The score is minus the number of slashes in the path of the address: `http://a/` before `http://a/b/c`.

    Query and fragment are no part of the path. A node that isn't a URL is all path. The target of a redirect takes the
    place of its source, with its number of slashes; one that was known already keeps the fewer of the two.

    Paper: Batsakis 2007, section 2.2; Cho, Garcia-Molina, Page 1998 (location metric).

    >>> slashes("https://example.org/reefs/red-sea/?page=a/b"), slashes("https://example.org"), slashes("reefs/red")
    (3, 0, 1)
    """

    slashes_: NDArray[np.int32] = column(np.int32)

    def learn(self, step: Step, table: Table) -> Rows:
        """Count the slashes of new rows once, so that scoring is an array access."""
        self.slashes_ = fit(self.slashes_, len(table), _UNKNOWN)
        slashes_before = self.slashes_[step.children]
        if step.visit.outcome == "redirect":
            source = self._counted(np.array([step.row], np.int32), table)
            self.slashes_[step.children] = np.where(
                slashes_before == _UNKNOWN, source, np.minimum(slashes_before, source)
            )
        else:
            self.slashes_[step.children] = self._counted(step.children, table)
        return step.children

    def explain(self, row: int, table: Table) -> dict[str, float]:
        return {"slashes in its address": float(self.score(np.array([row], np.int32), table)[0])}

    def score(self, rows: Rows, table: Table) -> Scores:
        return -self._counted(rows, table).astype(float)

    def _counted(self, rows: Rows, table: Table) -> NDArray[np.int32]:
        counts = fit(self.slashes_, len(table), _UNKNOWN)[rows]
        new = np.flatnonzero(counts == _UNKNOWN)
        counts[new] = [slashes(table.nodes[row]) for row in rows[new].tolist()]
        return counts


def slashes(node: str) -> int:
    """The number of slashes in the path of an address."""
    path = node.partition("#")[0].partition("?")[0]
    scheme, separator, rest = path.partition("://")
    if separator and "/" not in scheme:
        path = rest  # what comes before its first slash is the host
    return path.count("/")
