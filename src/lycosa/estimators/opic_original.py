"""The original OPIC as Gouriten et al. print it: cash, its history, and equal shares.

Paper items:
    gouriten-opic-original: `--strategy opic-original`. Test:
        estimators/test_opic_original.py::test_three_visits_by_hand. Departs: crawled nodes are not selected again.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from lycosa.estimators.opic_alpha import OpicAlpha


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
    >>> visit.links.alphas[:] = .75, .25
    >>> rows = opic.learn(table.absorb(visit), table)
    >>> opic.score(rows, table).tolist(), opic.importance(rows, table).tolist()         # G = 1
    ([1.5, 1.5], [0.75, 0.75])
    """

    def shares(self, alphas: NDArray[np.float32], cash: NDArray[np.float64]) -> NDArray[np.float64]:
        """The same for each."""
        return np.full(len(alphas), 1 / len(alphas))
