"""LinkScore and the personalised crawler of Trivedi et al., and the off-topic depth that they and fish-search limit."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from lycosa.core.columns import column, fit, learned
from lycosa.core.frontier import PRUNED
from lycosa.core.table import Table
from lycosa.core.types import Priorities, Rows, Step

_UNKNOWN = np.iinfo(np.int32).max


@dataclass
class OffTopicDepth:
    """Number of consecutive irrelevant pages on the path to each row; 0 for seeds.

    A link of a relevant page has depth 0, a link of an irrelevant one the depth of that page plus 1, the minimum if
    there are several. Links of sitemaps and redirects get the depth of their source. Only open rows are corrected: when
    a fetched page is found again on a shorter path, its links keep their depth.
    """

    pages: NDArray[np.int32] = field(default_factory=lambda: np.zeros(0, np.int32), repr=False)

    def learn(self, step: Step, table: Table, *, relevant: bool) -> None:
        self.pages = fit(self.pages, len(table), _UNKNOWN)
        at = int(self.of(np.array([step.row], np.int32), table)[0])
        if step.visit.kind == "page" or step.visit.is_version:
            at = 0 if relevant else at + 1
        self.pages[step.children] = np.minimum(self.pages[step.children], at)

    def of(self, rows: Rows, table: Table) -> NDArray[np.int32]:
        pages: NDArray[np.int32] = fit(self.pages, len(table), _UNKNOWN)[rows]
        return np.where(table.is_seed[rows] | (pages == _UNKNOWN), 0, pages).astype(np.int32)

    def prune(self, priorities: Priorities, rows: Rows, table: Table, max_irrelevant: int) -> Priorities:
        return np.where(self.of(rows, table) > max_irrelevant, PRUNED, priorities)


@dataclass
class LinkScore:
    """LinkScore(u) = URLTextScore(u) + AnchorTextScore(u) + NumberOfParentPages(u) + sum of its parents' relevance.

    The first two are cosines with the topic, of the words of the URL (0 if the judge does not rate URLs) and of the
    best anchor. A parent counts 1 or more, words at most 1 each, so eventually the number of parents dominates.

    Parameters:
        least    URL optimisation: prune links with a smaller score, until a new parent raises it. As each parent counts
                 1, a useful value is slightly above 1, such as 1 + the judge's threshold: links of relevant pages
                 pass, others need a topic word in URL or anchor, or a second parent
        levels   follow links of irrelevant pages (beta < threshold) through at most this many irrelevant pages in a
                 row; default: no limit

    Paper: Trivedi et al. 2014, section II, Relevance Calculation, 2); after Pal, Tomar, Shrivastava 2009. It leaves
    open which parent's anchor counts. A redirect's target inherits the URL score of its source.

    >>> from lycosa.core.types import Links, Visit
    >>> table = Table(); _ = table.add_seed("a")
    >>> visit = Visit("a", "page", "ok", pick=1, relevance=.5, links=Links.to("b"))
    >>> visit.links.link_relevances[:] = .25
    >>> visit.links.facets["url"] = np.array([.125], np.float32)
    >>> links = LinkScore()
    >>> links.priority(links.learn(table.absorb(visit), table), table).tolist()            # .125 + .25 + 1 + .5
    [1.875]
    """

    wants: ClassVar[tuple[str, ...]] = ("url",)

    least: float | None = None
    levels: int | None = None
    threshold: float = 0.1
    url_: NDArray[np.float64] = column()
    off_topic_: OffTopicDepth = learned(OffTopicDepth)

    def __post_init__(self) -> None:
        if self.levels is not None and self.levels < 0:
            raise ValueError(
                f"'levels' is {self.levels}: it must be at least 0 irrelevant pages in a row; leave it out for no limit"
            )

    def learn(self, step: Step, table: Table) -> Rows:
        self.url_ = fit(self.url_, len(table))
        rows = step.children
        if step.visit.outcome == "redirect":
            self.url_[rows] = np.maximum(self.url_[rows], self.url_[step.row])
        elif "url" in step.visit.links.facets:
            self.url_[rows] = step.facet("url")
        self.off_topic_.learn(step, table, relevant=step.visit.relevance >= self.threshold)
        return rows

    def explain(self, row: int, table: Table) -> dict[str, float]:
        return {
            "address": float(fit(self.url_, len(table))[row]),
            "best anchor": float(table.link_relevance_max[row]),
            "pages that link to it": float(table.in_degree[row]),
            "their relevance": float(table.relevance_sum[row]),
        }

    def priority(self, rows: Rows, table: Table) -> Priorities:
        priority: Priorities = fit(self.url_, len(table))[rows] + table.link_relevance_max[rows]
        priority = priority + table.in_degree[rows] + table.relevance_sum[rows]
        if self.least is not None:
            priority[(priority < self.least) & (table.in_degree[rows] > 0)] = PRUNED
        return priority if self.levels is None else self.off_topic_.prune(priority, rows, table, self.levels)


@dataclass
class Personalised:
    """Personalised crawler: a queue of the links of relevant pages; links that were appended before are ignored.

    A page is relevant if beta >= threshold; with the judge `count` this means that the search string occurs. Links of
    irrelevant pages are pruned until a relevant page has them too; then they are appended. With `levels` above 0
    irrelevant pages are followed as well, up to that many in a row. Seeds are always fetched, but the links of
    irrelevant seeds are pruned. The priority is minus the position in the queue.

    Paper: Trivedi et al. 2014, section III, Algorithm, lines 1 to 27; `levels` is the threshold of its section II, 2).
    The paper stores relevant pages only; the crawl's archive has all fetched pages. As in the paper, the crawl ends at
    once if its only seed does not contain the search string: use several seeds, or levels=1.
    """

    levels: int = 0
    threshold: float = 0.1
    length_: int = learned(int)
    position_: NDArray[np.int64] = column(np.int64)
    off_topic_: OffTopicDepth = learned(OffTopicDepth)

    def __post_init__(self) -> None:
        if self.levels < 0:
            raise ValueError(f"'levels' is {self.levels}: it must be at least 0 irrelevant pages in a row")

    @property
    def remedy(self) -> str:
        """Advice for a crawl that ends because too much was pruned."""
        return f"--strategy personalised,levels={self.levels + 1} goes further through pages without the search string."

    def learn(self, step: Step, table: Table) -> Rows:
        self.position_ = fit(self.position_, len(table))
        rows = step.children
        self.off_topic_.learn(step, table, relevant=step.visit.relevance >= self.threshold)
        new = rows[(self.position_[rows] == 0) & (self.off_topic_.of(rows, table) <= self.levels)]
        if step.visit.outcome == "redirect":  # the target takes the position of its source
            self.position_[new] = self.position_[step.row]
        else:
            self.position_[new] = np.arange(self.length_ + 1, self.length_ + 1 + len(new))
            self.length_ += len(new)
        return rows

    def explain(self, row: int, table: Table) -> dict[str, float]:
        return {"place in the queue": -float(fit(self.position_, len(table))[row])}

    def priority(self, rows: Rows, table: Table) -> Priorities:
        positions = fit(self.position_, len(table))[rows].astype(np.float64)
        return self.off_topic_.prune(-positions, rows, table, self.levels)
