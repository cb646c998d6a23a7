"""OPIC: the richest first.

Paper items:
    otie-opic: `--strategy opic`. Test: estimators/test_opic.py::test_the_first_four_steps.
"""

from __future__ import annotations

from dataclasses import dataclass

from lycosa.estimators.cash import CashFlow


@dataclass
class Opic(CashFlow):
    """A page that is crawled gives its cash to its links in equal shares; the uncrawled page with the most is next.

        gain(j) = cash(i) / number of links of i

    What a page gathers estimates its PageRank while the crawl goes on: it is rich if many, or rich, pages link to it.
    Nothing is asked of the topic. The total is shared equally by the seeds, and only moved: see CashFlow for dead ends,
    failures, redirects and late seeds, and for how scores are counted.

    Parameters:
        period   every so many steps the fetched page with the most cash and with links gives again (0: never)

    Paper: Guan et al. 2008, section 2 (OPIC, greedy strategy); Abiteboul, Preda, Cobena 2003. There the richest page is
    fetched again when it gives again. We use the links that are known: a request for nothing new is a request that
    finds no page, and when a page is visited again is for refresh and watch to say. A page that has new links then
    gives again. The papers leave open how often, and what becomes of dead ends.

    >>> from lycosa.core.table import Table
    >>> from lycosa.core.types import Links, Visit
    >>> table, opic = Table(), Opic()
    >>> _ = table.add_seed("a")
    >>> rows = opic.learn(table.absorb(Visit("a", "page", "ok", 1, links=Links.to("b", "c"))), table)
    >>> opic.score(rows, table).tolist()
    [0.5, 0.5]
    """
