"""OPIC as in Gouriten et al.: cash and its history, shared by link relevance or equally."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from lycosa.core.columns import column, fit, learned
from lycosa.core.table import Table
from lycosa.core.types import Priorities, Rows, Step
from lycosa.strategies.redirects import Redirects


@dataclass
class OpicAlpha:
    """OPIC with alpha: each node has cash C and a history H, initially 1 and 0; G is the history of all nodes.

    Visiting v, with links to u:

        H(v) += C(v)
        C(u) += C(v) * alpha(v, u) C(u) / sum over links (v, w) of alpha(v, w) C(w)     equally where that sum is 0
        G    += C(v)
        C(v)  = 0

    Cash grows with each discovered node: unlike in Opic and Otie it is not conserved, and seeds are nodes like others.
    `priority` is H + C, which ranks like the paper's estimate, (H + C) / (G + 1), and stays valid while G grows.

    A permanently failed visit counts as a node without links. The source and target of a redirect are one node: it has
    the cash of both, less one of the two initial 1s, and receives the income of both. A revisited page with new links
    distributes its income since the last visit to all of its links.

    Paper: Gouriten, Maniu, Senellart 2014, estimator 3. Crawled nodes are not selected again, as that would mean
    fetching them again.

    >>> from lycosa.core.types import Links, Visit
    >>> table, opic = Table(), OpicAlpha()
    >>> _ = table.add_seed("a")
    >>> visit = Visit("a", "page", "ok", 1, links=Links.to("b", "c"))
    >>> visit.links.link_relevances[:] = .75, .25
    >>> rows = opic.learn(table.absorb(visit), table)
    >>> opic.priority(rows, table).tolist(), opic.importance(rows, table).tolist()         # G = 1
    ([1.75, 1.25], [0.875, 0.625])
    """

    C_: NDArray[np.float64] = column()
    H_: NDArray[np.float64] = column()
    G_: float = learned(float)
    redirects_: Redirects = learned(Redirects)

    def learn(self, step: Step, table: Table) -> Rows:
        size = len(table)
        self.C_, self.H_ = fit(self.C_, size, 1.0), fit(self.H_, size)
        C, H, v, rows = self.C_, self.H_, step.row, step.children
        if step.visit.retry_at:
            return rows
        first = self.redirects_.ends(np.array([v]))[0] == v
        self.redirects_.learn(step, table)
        u = self.redirects_.ends(rows)
        if step.visit.outcome == "redirect" and len(rows):
            cash, C[v] = float(C[v]) - float(first), 0.0
            C[u] = np.maximum(C[u] + cash, 0.0)
            H[u], H[v] = H[u] + H[v], 0.0
            return np.append(rows, u)
        cash, C[v] = float(C[v]), 0.0
        H[v] += cash
        self.G_ += cash
        if len(u):
            link_relevances = step.link_relevances
            if step.visit.follows:
                u, link_relevances = self.redirects_.ends(table.edges.children(v)), table.edges.link_relevances(v)
            np.add.at(C, u, cash * self.shares(link_relevances, C[u]))
        return rows if u is rows else np.append(rows, u)

    def shares(self, link_relevances: NDArray[np.float32], cash: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the share of each link in a node's cash, given the links' alpha and the cash of their targets."""
        weights = np.maximum(link_relevances, 0.0) * cash
        total = weights.sum()
        return weights / total if total > 0 else np.full(len(weights), 1 / len(weights))

    def priority(self, rows: Rows, table: Table) -> Priorities:
        """Return H + C; 1 for rows without linking pages."""
        return fit(self.H_, len(table))[rows] + fit(self.C_, len(table), 1.0)[rows]

    def explain(self, row: int, table: Table) -> dict[str, float]:
        cash = float(fit(self.C_, len(table), 1.0)[row])
        return {"cash": cash, "history of its cash": float(fit(self.H_, len(table))[row])}

    def importance(self, rows: Rows, table: Table) -> Priorities:
        """Return the estimate as published: (H + C) / (G + 1)."""
        return self.priority(rows, table) / (self.G_ + 1.0)


@dataclass
class OpicOriginal(OpicAlpha):
    """OPIC with equal shares: visiting v, with d links to u, C(u) += C(v) / d. Ignores the topic.

    This differs from Opic (Guan et al.), where all cash comes from the seeds and is only moved; here every node adds 1.

    Paper: Gouriten, Maniu, Senellart 2014, 7.1, steps 1 to 3 before they are changed, and 8.2 ("the original OPIC, that
    does not use edge or node scores"); Abiteboul, Preda, Cobena 2003.

    >>> from lycosa.core.types import Links, Visit
    >>> table, opic = Table(), OpicOriginal()
    >>> _ = table.add_seed("a")
    >>> visit = Visit("a", "page", "ok", 1, links=Links.to("b", "c"))
    >>> visit.links.link_relevances[:] = .75, .25
    >>> rows = opic.learn(table.absorb(visit), table)
    >>> opic.priority(rows, table).tolist(), opic.importance(rows, table).tolist()         # G = 1
    ([1.5, 1.5], [0.75, 0.75])
    """

    def shares(self, link_relevances: NDArray[np.float32], cash: NDArray[np.float64]) -> NDArray[np.float64]:
        return np.full(len(link_relevances), 1 / len(link_relevances))
