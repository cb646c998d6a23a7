"""Ranks over the graph seen so far: PageRank and Navigational Rank."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from lycosa.core.columns import column, fit, learned
from lycosa.core.table import Table
from lycosa.core.types import Priorities, Rows, Step
from lycosa.strategies.redirects import Redirects, check_iterations


@dataclass
class PageRank:
    """PageRank of the graph seen so far: the probability that a random surfer is at a node.

    The surfer follows a link of the current page with probability `damping`, and jumps to a random node otherwise or
    where no link is known. With N nodes seen, crawled or not:

        PR(v) = (1 - damping) / N
              + damping * (sum over links (u, v) of PR(u) / d_o(u) + sum over linkless u of PR(u) / N)

    Ranks are computed at the first visit and every `period` visits after it, with `iterations` rounds. In between, a
    new page adds its share to the ranks of its links. A redirect is not a node: links to it count as links to its
    target. Most nodes are on the frontier and have no known links, so the surfer jumps often and few iterations
    suffice. The topic is ignored.

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
    base_: float = learned(float)  # rank that all nodes have
    gain_: NDArray[np.float64] = column()  # additional rank of each row by the links to it
    redirects_: Redirects = learned(Redirects)

    def __post_init__(self) -> None:
        if not 0 <= self.damping < 1:
            raise ValueError(f"'damping' is {self.damping}: it must be at least 0 and below 1")
        check_iterations(self.iterations, self.period)

    def learn(self, step: Step, table: Table) -> Rows:
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
        # old links of a revisited page have already received their share
        count = len(table.edges.children(step.row)) if step.visit.follows else len(links)
        np.add.at(self.gain_, links, self.damping * (self.base_ + self.gain_[step.row]) / max(1, count))
        return np.union1d(step.children, links) if self.redirects_.has_redirects_ else step.children

    def priority(self, rows: Rows, table: Table) -> Priorities:
        return self.base_ + fit(self.gain_, len(table))[rows]

    def _iterate(self, table: Table) -> None:
        size = len(table)
        parent, child = self.redirects_.edges(table)
        out = np.bincount(parent, minlength=size)
        rows = np.arange(size, dtype=np.int32)
        linked = out > 0  # includes pages that have moved but whose links are known
        nodes = int(((self.redirects_.ends(rows) == rows) | linked).sum())
        inner = linked[child]  # only the sum of the ranks of nodes without links is needed, which is 1 minus all others
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
    """Navigational Rank: relevance spreads back to linking pages (NR1), then forward to the frontier (NR2):

        NR1(v) = eta * beta(v) + (1 - eta) * average over links (v, u) of NR1(u) / d_i(u)     `iterations` times
        NR2(v) = eta * NR1(v)  + (1 - eta) * average over links (u, v) of NR2(u) / d_o(u)     for v on the frontier

    d_i and d_o are the numbers of known links to and from a node; links to a redirect count as links to its target. The
    paper's text lacks the equals sign of the second equation. Left open in the paper: NR1 starts from beta; beta of
    uncrawled nodes is 0, and the average over no links is 0; NR2 of a crawled page is its NR1. So NR1 of the frontier
    stays 0, and one round of NR2 is its fixed point. The error of NR1 shrinks by 1 - eta in each round.

    The paper recomputes both after each page, which is quadratic. Here they are recomputed every `period` visits
    (`period=1` is the paper's definition); in between, a new page gets its NR1 from the current values of its children,
    and its links their NR2 from that. With 30 links on each page among 100,000 nodes, and the default period 10: .1 ms
    a page over the first 1,000 pages, .5 to 1 ms over 10,000 and 8 ms over 50,000, where a longer period is
    recommended.

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
            raise ValueError(f"'eta' is {self.eta}: it must be from 0 to 1")
        check_iterations(self.iterations, self.period)

    def learn(self, step: Step, table: Table) -> Rows:
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
        size = len(table)
        nr1, into = fit(self.nr1_, size)[rows], np.maximum(fit(self.into_, size)[rows], 1)
        nr2 = self.eta * nr1 + (1 - self.eta) * fit(self.share_, size)[rows] / into
        return np.where(fit(self.crawled_, size)[rows], nr1, nr2)

    def _propagate(self, table: Table) -> None:
        size = len(table)
        parent, child = self.redirects_.edges(table)
        into, out = np.bincount(child, minlength=size), np.maximum(np.bincount(parent, minlength=size), 1)
        crawled = self.crawled_[child]  # NR1 of all other pages is 0
        source, target = parent[crawled], child[crawled]
        fraction = 1.0 / (out[source] * into[target])
        own = self.eta * self.beta_[:size]
        nr1 = self.beta_[:size]
        for _ in range(self.iterations):
            nr1 = own + (1 - self.eta) * np.bincount(source, nr1[target] * fraction, size)
        self.nr1_[:size], self.into_[:size] = nr1, into
        self.share_[:size] = np.bincount(child, (nr1 / out)[parent], size)

    def _extend(self, step: Step, table: Table) -> Rows:
        """Compute NR1 of the page and add its share to its links, or to the new ones of a revisited page."""
        links = self.redirects_.ends(step.children)
        links = links[links != step.row]
        every = self.redirects_.ends(table.edges.children(step.row)) if step.visit.follows else links
        every = every[every != step.row]
        out = max(1, len(every))
        np.add.at(self.into_, links, 1)
        child_average = (self.nr1_[every] / np.maximum(self.into_[every], 1)).sum() / out
        self.nr1_[step.row] = self.eta * step.visit.relevance + (1 - self.eta) * child_average
        np.add.at(self.share_, links, self.nr1_[step.row] / out)
        return np.union1d(step.children, links) if self.redirects_.has_redirects_ else step.children
