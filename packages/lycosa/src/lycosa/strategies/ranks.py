"""Ranks over the graph seen so far: PageRank, what important pages link to is important; and Navigational Rank, where
relevance spreads back to what leads to it, then forward to what is linked from there.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from lycosa.core.columns import column, fit, learned
from lycosa.core.table import Table
from lycosa.core.types import Priorities, Rows, Step
from lycosa.strategies.redirects import Redirects, check_rounds


@dataclass
class PageRank:
    """How often a surfer is at a node who follows a link of the page at hand with probability `damping`, and goes
    anywhere otherwise, or where no link is known. N nodes have been seen, crawled or not:

        PR(v) = (1 - damping) / N
              + damping * (sum over links (u, v) of PR(u) / d_o(u) + sum over linkless u of PR(u) / N)

    That is computed at the first visit and at every `period` after it, with so many `iterations`. In between, the links
    of a new page get its share on top of what they have. A redirect hands the links that lead to it on to its target,
    and is no node of its own. Most nodes seen are on the frontier and have no known links, so the surfer often starts
    anew and a few iterations do. Like all measures of importance, it knows nothing of the topic.

    With 30 links on each page among 100,000 nodes: .1 ms a page over the first 10,000 pages, .9 ms over 50,000.

    Paper: Cho, Garcia-Molina, Page 1998; Batsakis 2007, section 2.2.

    >>> from lycosa.core.types import Links, Visit
    >>> table = Table(); _ = table.add_seed("a")
    >>> pagerank = PageRank()
    >>> rows = pagerank.learn(table.absorb(Visit("a", "page", "ok", pick=1, links=Links.to("b", "c"))), table)
    >>> pagerank.priority(rows, table).round(3).tolist()       # a: 20 / 77, its links: 28.5 / 77 each
    [0.26, 0.37, 0.37]
    """

    sweeping: ClassVar[bool] = True

    damping: float = 0.85
    period: int = 100
    iterations: int = 20
    steps_: int = learned(int)
    base_: float = learned(float)  # of every node
    gain_: NDArray[np.float64] = column()  # of each row, by the links to it
    redirects_: Redirects = learned(Redirects)

    def __post_init__(self) -> None:
        if not 0 <= self.damping < 1:
            raise ValueError(f"damping is {self.damping}: it must be at least 0 and below 1")
        check_rounds(self.iterations, self.period)

    def learn(self, step: Step, table: Table) -> Rows:
        """Compute all ranks anew at each `period` visits, and hand on the share of this page at the others."""
        self.gain_ = fit(self.gain_, len(table))
        self.redirects_.learn(step, table)
        self.steps_ += 1
        if (self.steps_ - 1) % self.period == 0:
            self._iterate(table)
            return np.arange(len(table), dtype=np.int32)
        if step.visit.outcome == "redirect":
            self.gain_[step.children] += self.gain_[step.row]
            return step.children
        links = self.redirects_.ends(step.children)
        links = links[links != step.row]
        count = len(table.edges.children(step.row)) if step.visit.follows else len(links)  # the others have theirs
        np.add.at(self.gain_, links, self.damping * (self.base_ + self.gain_[step.row]) / max(1, count))
        return np.union1d(step.children, links) if self.redirects_.any_ else step.children

    def priority(self, rows: Rows, table: Table) -> Priorities:
        """The rank of each row; what every node has for one nobody has linked to."""
        return self.base_ + fit(self.gain_, len(table))[rows]

    def _iterate(self, table: Table) -> None:
        size = len(table)
        parent, child = self.redirects_.edges(table)
        out = np.bincount(parent, minlength=size)
        everywhere = np.arange(size, dtype=np.int32)
        linked = out > 0  # also a page that has moved since: its links are known
        nodes = int(((self.redirects_.ends(everywhere) == everywhere) | linked).sum())
        inner = linked[child]  # the others only collect: their ranks are needed as a sum, which is what is left of 1
        source, target = parent[inner], child[inner]
        share = self.damping / np.maximum(out, 1)
        rank = linked / nodes
        for _ in range(self.iterations - 1):
            base = (1 - self.damping * rank.sum()) / nodes
            rank = np.where(linked, base + np.bincount(target, (rank * share)[source], size), 0.0)
        self.base_ = float(1 - self.damping * rank.sum()) / nodes
        self.gain_[:size] = np.bincount(child, (rank * share)[parent], size)


@dataclass
class NavigationalRank:
    """A crawled page is worth its own relevance and, by halves, what it leads to; a node of the frontier is worth a
    share of the pages that link to it:

        NR1(v) = eta * beta(v) + (1 - eta) * average over links (v, u) of NR1(u) / d_i(u)     `iterations` times
        NR2(v) = eta * NR1(v)  + (1 - eta) * average over links (u, v) of NR2(u) / d_o(u)     for v on the frontier

    d_i and d_o are the numbers of known links to and from a node. The paper's text lacks the equals sign of the second
    equation. What it leaves open: NR1 starts from beta; beta of what is not crawled is 0, and the average over no links
    is 0; NR2 of a crawled page is its NR1. So NR1 of the frontier stays 0, and as all parents are crawled, one round of
    NR2 is its fixed point: `iterations` is the number of rounds of NR1. The error shrinks by 1 - eta in each: with the
    defaults (eta .5, 10 rounds) to a thousandth. A redirect hands the links that lead to it on to its target.

    The paper computes both anew after each page, which is quadratic: hours for some thousand pages. With `period` it is
    done at every so many visits; in between, a new page gets its NR1 from what is known of its children, and its links
    their NR2 from that, at once. `period=1` is the paper's definition to the letter. Rounds of NR1 need the links
    between crawled pages only, which are few. Measured with 30 links on each page among 100,000 nodes, and the default
    period 10: .1 ms a page over the first 1,000 pages, .5 to 1 ms over 10,000 and 8 ms over 50,000, where a longer
    period is due (with period 1: .7 ms over 1,000 and 9 ms over 10,000).

    Paper: Gouriten, Maniu, Senellart 2014, section 7.1, estimator 2; after Feng, Zhang, Xiong, Yao 2010.

    >>> from lycosa.core.types import Links, Visit
    >>> table = Table(); _ = table.add_seed("u")
    >>> visit = Visit("u", "page", "ok", pick=1, relevance=.8, links=Links.to("v", "w"))
    >>> nr = NavigationalRank()
    >>> nr.priority(nr.learn(table.absorb(visit), table)[-2:], table).tolist()     # NR1(u) = .4; of v: .5 * .4 / 2
    [0.1, 0.1]
    """

    proportional: ClassVar[bool] = True
    sweeping: ClassVar[bool] = True

    eta: float = 0.5
    iterations: int = 10
    period: int = 10
    steps_: int = learned(int)
    beta_: NDArray[np.float64] = column()
    crawled_: NDArray[np.bool_] = column(np.bool_)
    nr1_: NDArray[np.float64] = column()
    into_: NDArray[np.int64] = column(np.int64)  # d_i
    share_: NDArray[np.float64] = column()  # sum of NR1(u) / d_o(u) over the links (u, v) to row v
    redirects_: Redirects = learned(Redirects)

    def __post_init__(self) -> None:
        if not 0 <= self.eta <= 1:
            raise ValueError(f"eta is {self.eta}: it has to lie between 0 and 1")
        check_rounds(self.iterations, self.period)

    def learn(self, step: Step, table: Table) -> Rows:
        """Propagate from scratch at each `period` visits, and from this page to its links at the others."""
        size = len(table)
        self.beta_, self.crawled_ = fit(self.beta_, size), fit(self.crawled_, size)
        self.nr1_, self.into_, self.share_ = fit(self.nr1_, size), fit(self.into_, size), fit(self.share_, size)
        self.redirects_.learn(step, table)
        if step.visit.outcome == "ok":
            self.beta_[step.row], self.crawled_[step.row] = step.visit.relevance, True
        self.steps_ += 1
        if self.steps_ % self.period == 0:
            self._propagate(table)
            return np.arange(size, dtype=np.int32)
        if step.visit.outcome == "redirect":
            for column in (self.into_, self.share_):
                column[step.children] += column[step.row]
            return step.children
        return self._extend(step, table) if step.visit.outcome == "ok" else step.children

    def priority(self, rows: Rows, table: Table) -> Priorities:
        """NR2, which of a crawled page is its NR1."""
        size = len(table)
        nr1, into = fit(self.nr1_, size)[rows], np.maximum(fit(self.into_, size)[rows], 1)
        nr2 = self.eta * nr1 + (1 - self.eta) * fit(self.share_, size)[rows] / into
        return np.where(fit(self.crawled_, size)[rows], nr1, nr2)

    def _propagate(self, table: Table) -> None:
        size = len(table)
        parent, child = self.redirects_.edges(table)
        into, out = np.bincount(child, minlength=size), np.maximum(np.bincount(parent, minlength=size), 1)
        crawled = self.crawled_[child]  # NR1 of all others is 0
        source, target = parent[crawled], child[crawled]
        fraction = 1.0 / (out[source] * into[target])
        own = self.eta * self.beta_[:size]
        nr1 = self.beta_[:size]
        for _ in range(self.iterations):
            nr1 = own + (1 - self.eta) * np.bincount(source, nr1[target] * fraction, size)
        self.nr1_[:size], self.into_[:size] = nr1, into
        self.share_[:size] = np.bincount(child, (nr1 / out)[parent], size)

    def _extend(self, step: Step, table: Table) -> Rows:
        """One round for the page alone, and one for its links: of a page that is visited again, for the new ones."""
        links = self.redirects_.ends(step.children)
        links = links[links != step.row]
        every = self.redirects_.ends(table.edges.children(step.row)) if step.visit.follows else links
        every = every[every != step.row]
        out = max(1, len(every))
        np.add.at(self.into_, links, 1)
        worth = (self.nr1_[every] / np.maximum(self.into_[every], 1)).sum() / out
        self.nr1_[step.row] = self.eta * step.visit.relevance + (1 - self.eta) * worth
        np.add.at(self.share_, links, self.nr1_[step.row] / out)
        return np.union1d(step.children, links) if self.redirects_.any_ else step.children
