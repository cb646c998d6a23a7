"""The distiller: hubs and authorities of the topic.

Paper items:
    batsakis-hits: `--strategy soft-focus,distiller=yes`. Test:
        estimators/test_distiller.py::test_two_hubs_and_two_authorities_by_hand. Departs: ranks links while crawling,
        not seeds beforehand.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from lycosa.core.columns import column, fit, learned
from lycosa.core.table import Table
from lycosa.core.types import Step
from lycosa.estimators.redirects import Redirects, check_rounds


@dataclass
class Distiller:
    """Which of the crawled pages are good lists of good pages. No strategy of its own: links of good hubs are worth
    more, and soft focus with a distiller says how much.

    An authority is a relevant page that good hubs link to, a hub a page that links to good authorities (HITS). Each
    link carries weights, so that the topic does not drift to whatever is linked to most:

        a(v) = sum over links (u, v) of beta(u) * h(u)     for pages with beta(v) >= least; 0 for all others
        h(u) = sum over links (u, v) of beta(v) * a(v)

    so a page's word counts as much as it is about the topic. Both are scaled to a maximum of 1 in each of the
    `iterations`, which start from h = 1. Only crawled pages take part, since of others no relevance is known. Links
    within one host praise their own house: with `same_host="drop"` they don't count, with `keep` they do, and `auto`
    drops them once the crawl has seen a second host. A link to a redirect is a link to its target.

    All is computed anew at every `period` visits; between them `hub` stays as it is (0 for new pages).

    Paper: Chakrabarti, van den Berg, Dom 1999 (distillation); Altingovde and Ulusoy 2004 name it and leave it out. The
    number of iterations and the limit `least` are our choice.

    >>> from lycosa.core.types import Links, Visit
    >>> table, distiller = Table(), Distiller(period=1)
    >>> for node, beta, links in (("list", .5, ("page",)), ("page", 1., ())):
    ...     _ = table.add_seed(node)
    ...     visit = Visit(node, "page", "ok", 1, beta=beta, links=Links.to(*links))
    ...     recomputed = distiller.learn(table.absorb(visit), table)
    >>> recomputed, distiller.hub[:2].tolist()
    (True, [1.0, 0.0])
    """

    period: int = 100
    iterations: int = 10
    least: float = 0.1
    same_host: Literal["auto", "keep", "drop"] = "auto"
    hub: NDArray[np.float64] = column()
    """Of each row how good a hub it is, from 0 to 1; at least as long as the table was when `learn` last saw it."""
    authority: NDArray[np.float64] = column()
    """Of each row how good an authority it is, from 0 to 1."""
    steps_: int = learned(int)
    beta_: NDArray[np.float64] = column()
    redirects_: Redirects = learned(Redirects)

    def __post_init__(self) -> None:
        check_rounds(self.iterations, self.period)
        if self.same_host not in ("auto", "keep", "drop"):
            raise ValueError(f"same_host is {self.same_host!r}: it has to be auto, keep or drop")

    def learn(self, step: Step, table: Table) -> bool:
        """See a visit; whether the hub scores were computed anew."""
        size = len(table)
        self.hub, self.authority = fit(self.hub, size), fit(self.authority, size)
        self.beta_ = fit(self.beta_, size)
        self.redirects_.learn(step, table)
        if step.visit.outcome == "ok":
            self.beta_[step.row] = step.visit.beta
        self.steps_ += 1
        if self.steps_ % self.period:
            return False
        self._distil(table)
        return True

    def _distil(self, table: Table) -> None:
        size, beta = len(table), self.beta_
        parent, child = self.redirects_.edges(table)
        counts = (beta[child] >= self.least) & (beta[child] > 0) & (beta[parent] > 0)
        if self.same_host == "drop" or (self.same_host == "auto" and len(table.lanes) > 1):
            counts &= table.lane[parent] != table.lane[child]
        parent, child = parent[counts], child[counts]
        forward, backward = beta[child], beta[parent]
        hub = np.ones(size)
        authority = np.zeros(size)
        for _ in range(self.iterations):
            authority = _scaled(np.bincount(child, hub[parent] * backward, size))
            hub = _scaled(np.bincount(parent, authority[child] * forward, size))
        self.hub[:size], self.authority[:size] = hub, authority


def _scaled(column: NDArray[Any]) -> NDArray[np.float64]:
    return column / (column.max(initial=0.0) or 1.0)
