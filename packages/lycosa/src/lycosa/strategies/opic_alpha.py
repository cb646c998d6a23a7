"""OPIC as Gouriten et al. have it: cash and its history; with the links' promise, or in equal shares."""

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
    """Cash C and its history H for every node, G for all of them. A node has C = 1 and H = 0 when it is discovered.

    Visiting v, with links to u:

        H(v) += C(v)
        C(u) += C(v) * alpha(v, u) C(u) / sum over links (v, w) of alpha(v, w) C(w)     equally where that sum is 0
        G    += C(v)
        C(v)  = 0

    So cash goes to links that promise much and to nodes that are rich already. It grows with what is discovered: unlike
    that of Opic and Otie it is not conserved, and seeds are nodes like others.

    `priority` is H + C. The paper's estimate, (H + C) / (G + 1), divides all nodes by the same number: `importance` gives
    it, the ranking is the same at any time, and the scores in the frontier stay valid while G grows.

    A visit that fails for good is one of a node without links; one that has to be tried again changes nothing. A
    redirect's source and target are one node: it has the cash of both, less one of the two 1s they began with, and it
    gets what is given to either of them. A page that is visited again and has new links gives what it was given since
    to all of its links.

    Paper: Gouriten, Maniu, Senellart 2014, estimator 3. Of the nodes already crawled, none is selected again: it would
    have to be visited again.

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
        """Move the cash of the node that was visited."""
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
        """Which part of what a node gives each of its links gets: they have these alphas, and lead to this cash."""
        weights = np.maximum(link_relevances, 0.0) * cash
        total = weights.sum()
        return weights / total if total > 0 else np.full(len(weights), 1 / len(weights))

    def priority(self, rows: Rows, table: Table) -> Priorities:
        """H + C; 1 for a row nobody has linked to."""
        return fit(self.H_, len(table))[rows] + fit(self.C_, len(table), 1.0)[rows]

    def explain(self, row: int, table: Table) -> dict[str, float]:
        cash = float(fit(self.C_, len(table), 1.0)[row])
        return {"cash": cash, "history of its cash": float(fit(self.H_, len(table))[row])}

    def importance(self, rows: Rows, table: Table) -> Priorities:
        """The estimate as published: (H + C) / (G + 1)."""
        return self.priority(rows, table) / (self.G_ + 1.0)


@dataclass
class OpicOriginal(OpicAlpha):
    """Cash C and its history H for every node, G for all of them. A node has C = 1 and H = 0 when it is discovered.

    Visiting v, with d links to u:

        H(v) += C(v)
        C(u) += C(v) / d
        G    += C(v)
        C(v)  = 0

    All else, the estimate (H + C) / (G + 1) among it, is as in OpicAlpha, which shares by alpha and by riches in place
    of equally. Nothing is asked of the topic. Opic, as Guan et al. have it, is another: there all cash comes from the
    seeds and is only moved, here every node brings 1.

    Paper: Gouriten, Maniu, Senellart 2014, 7.1, steps 1 to 3 before they are changed, and 8.2 ("the original OPIC, that
    does not use edge or node scores"); Abiteboul, Preda, Cobena 2003. Step 1 selects among all nodes encountered; here,
    as in OpicAlpha, only among those not crawled yet, as the others would have to be visited again.

    >>> from lycosa.core.table import Table
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
        """The same for each."""
        return np.full(len(link_relevances), 1 / len(link_relevances))
