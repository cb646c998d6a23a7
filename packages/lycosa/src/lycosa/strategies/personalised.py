"""The personalised crawler of Trivedi et al.: a queue in which only relevant pages are expanded; LinkScore, everything
that speaks for a link added up; and how far each row is off the track.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from lycosa.core.columns import column, fit, learned
from lycosa.core.frontier import PRUNED
from lycosa.core.table import Table
from lycosa.core.types import Priorities, Rows, Step

_UNTOLD = np.iinfo(np.int32).max


@dataclass
class OffTopicDepth:
    """For each row the number of irrelevant pages that lie one after the other on the way to it.

    A link of a relevant page is 0 pages astray, a link of an irrelevant one a page more than that page is. A row that
    several pages link to takes the best of them. Seeds are where they should be, so a link of an irrelevant seed is 1
    page astray. A sitemap is no page that could be irrelevant. A redirect leads no further astray. The new links of a
    page that is visited again go by what it is now.

    Only what is not fetched yet is corrected: when a page that has been fetched is found again on a better way, its
    links stay as they are.
    """

    pages: NDArray[np.int32] = field(default_factory=lambda: np.zeros(0, np.int32), repr=False)

    def learn(self, step: Step, table: Table, *, relevant: bool) -> None:
        """See a page, and whether it is relevant."""
        self.pages = fit(self.pages, len(table), _UNTOLD)
        at = int(self.of(np.array([step.row], np.int32), table)[0])
        if step.visit.kind == "page" or step.visit.is_version:
            at = 0 if relevant else at + 1
        self.pages[step.children] = np.minimum(self.pages[step.children], at)

    def of(self, rows: Rows, table: Table) -> NDArray[np.int32]:
        """How many pages astray each row is; 0 for seeds."""
        pages: NDArray[np.int32] = fit(self.pages, len(table), _UNTOLD)[rows]
        return np.where(table.is_seed[rows] | (pages == _UNTOLD), 0, pages).astype(np.int32)

    def prune(self, priorities: Priorities, rows: Rows, table: Table, most: int) -> Priorities:
        """The scores of rows, PRUNED for those that are more pages astray than that."""
        return np.where(self.of(rows, table) > most, PRUNED, priorities)


@dataclass
class LinkScore:
    """LinkScore(u) = URLTextScore(u) + AnchorTextScore(u) + NumberOfParentPages(u) + sum of its parents' relevance.

    The sum as it stands in the paper, computed again for each new parent. The first two are cosines with the topic:
    of the words of the address, and of the anchor (the best anchor, if u has several parents). A topic that does not
    judge addresses gives them 0. Mind the units: a parent counts 1 and more, words at most 1 each, so that after a
    while the number of parents has the say.

    Parameters:
        least    URL optimisation: links whose score is below it are pruned, until a new parent lifts them. As each
                 parent counts 1, a useful number is a little above 1, for instance 1 + the topic's threshold: then a
                 link of a relevant page passes, any other one needs a word in its address or anchor, or a second parent
        levels   links of irrelevant pages (beta < threshold) are followed too, but no further than through so many
                 irrelevant pages in a row; left out: without limit

    Paper: Trivedi et al. 2014, section II, Relevance Calculation, 2); after Pal, Tomar, Shrivastava 2009. The anchor of
    which parent counts is left open there. A redirect's target takes over the address score of its source.

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
    astray_: OffTopicDepth = learned(OffTopicDepth)

    def __post_init__(self) -> None:
        if self.levels is not None and self.levels < 0:
            raise ValueError(f"levels={self.levels} irrelevant pages are followed: take 0 or more, or leave it out")

    def learn(self, step: Step, table: Table) -> Rows:
        """Note the addresses' scores, and how far off we are; the table keeps the other sums."""
        self.url_ = fit(self.url_, len(table))
        rows = step.children
        if step.visit.outcome == "redirect":
            self.url_[rows] = np.maximum(self.url_[rows], self.url_[step.row])
        elif "url" in step.visit.links.facets:
            self.url_[rows] = step.facet("url")
        self.astray_.learn(step, table, relevant=step.visit.relevance >= self.threshold)
        return rows

    def explain(self, row: int, table: Table) -> dict[str, float]:
        """The four addends."""
        return {
            "address": float(fit(self.url_, len(table))[row]),
            "best anchor": float(table.link_relevance_max[row]),
            "pages that link to it": float(table.in_degree[row]),
            "their relevance": float(table.relevance_sum[row]),
        }

    def priority(self, rows: Rows, table: Table) -> Priorities:
        """The sum, or PRUNED."""
        priority: Priorities = (
            fit(self.url_, len(table))[rows]
            + table.link_relevance_max[rows]
            + table.in_degree[rows]
            + table.relevance_sum[rows]
        )
        if self.least is not None:
            priority[(priority < self.least) & (table.in_degree[rows] > 0)] = PRUNED
        return priority if self.levels is None else self.astray_.prune(priority, rows, table, self.levels)


@dataclass
class Personalised:
    """A queue. The links of a relevant page join its end, links that have joined before are discarded.

    A page is relevant if beta >= threshold; with the judge that counts words this says that the search string occurs.
    The links of irrelevant pages do not join: they are pruned, until a relevant page has them too; then they join, at
    the end. With `levels` above 0 irrelevant pages are followed as well, up to so many in a row. Seeds are always
    fetched, but those that are not relevant lead nowhere. The score is minus the place in the queue.

    Paper: Trivedi et al. 2014, section III, Algorithm, lines 1 to 27; `levels` is the threshold of its section II, 2).
    The paper stores relevant pages only: those are the finds of a crawl; its archive keeps what else was fetched, too.
    As in the paper, one seed without the search string ends the crawl before it has begun: give several, or levels=1.

    >>> from lycosa.core.types import Links, Visit
    >>> table = Table(); _ = table.add_seed("a")
    >>> step = table.absorb(Visit("a", "page", "ok", pick=1, relevance=.5, links=Links.to("b", "c")))
    >>> queue = Personalised(threshold=.5)
    >>> queue.priority(queue.learn(step, table), table).tolist()
    [-1.0, -2.0]
    """

    levels: int = 0
    threshold: float = 0.1
    joined_: int = learned(int)
    place_: NDArray[np.int64] = column(np.int64)
    astray_: OffTopicDepth = learned(OffTopicDepth)

    def __post_init__(self) -> None:
        if self.levels < 0:
            raise ValueError(f"levels={self.levels} irrelevant pages are followed: take 0 or more")

    @property
    def remedy(self) -> str:
        """What to do if it prunes too much."""
        return f"--strategy personalised,levels={self.levels + 1} goes further through pages without the search string."

    def learn(self, step: Step, table: Table) -> Rows:
        """Let the links join that have not."""
        self.place_ = fit(self.place_, len(table))
        rows = step.children
        self.astray_.learn(step, table, relevant=step.visit.relevance >= self.threshold)
        outside = rows[(self.place_[rows] == 0) & (self.astray_.of(rows, table) <= self.levels)]
        if step.visit.outcome == "redirect":  # the target stands where its source stood
            self.place_[outside] = self.place_[step.row]
        else:
            self.place_[outside] = np.arange(self.joined_ + 1, self.joined_ + 1 + len(outside))
            self.joined_ += len(outside)
        return rows

    def explain(self, row: int, table: Table) -> dict[str, float]:
        return {"place in the queue": -float(fit(self.place_, len(table))[row])}

    def priority(self, rows: Rows, table: Table) -> Priorities:
        """First in, first out; PRUNED for what has not joined."""
        places = fit(self.place_, len(table))[rows].astype(np.float64)
        return self.astray_.prune(-places, rows, table, self.levels)
