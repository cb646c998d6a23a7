"""Helpers that feed visits to an estimator and a table."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from lycosa.core.table import Table
from lycosa.core.types import Links, Visit
from lycosa.crawling import crawl
from lycosa.judges.space_judge import SpaceJudge
from lycosa.spaces.graph import GraphSpace


def seeded(*nodes: str) -> Table:
    """Return a table with seeds."""
    table = Table()
    for node in nodes:
        table.add_seed(node)
    return table


def see(estimator: Any, table: Table, visit: Visit) -> list[str]:
    """Feed a visit; return the nodes whose priority may have changed."""
    step = table.absorb(visit)
    assert step is not None
    return [table.nodes[row] for row in estimator.learn(step, table).tolist()]


def teach(
    estimator: Any, table: Table, node: str, relevance: float = 0.0, *links: str, **link_relevances: float
) -> list[str]:
    """Feed a page, added as a seed, with links and their link relevances."""
    table.add_seed(node)
    column = Links.to(*links, *link_relevances)
    column.link_relevances[len(links) :] = list(link_relevances.values())
    return see(estimator, table, Visit(node, "page", "ok", 1, relevance=relevance, links=column))


def redirect(estimator: Any, table: Table, node: str, *target: str) -> list[str]:
    """Feed a redirect."""
    return see(estimator, table, Visit(node, "redirect", "redirect", 1, links=Links.to(*target)))


def score(estimator: Any, table: Table, *nodes: str) -> list[float]:
    """Return the priorities of some nodes."""
    return list(estimator.priority(np.array([table.row_of[node] for node in nodes], np.int32), table).tolist())


def order(strategy: str, links: Mapping[str, str], relevant: str = "", seeds: str = "a", **scores: Any) -> str:
    """Return the order in which a graph is crawled, one page at a time."""
    space = GraphSpace(links, **{"relevance": dict.fromkeys(relevant, 1.0), **scores})
    return "".join(
        visit.node for visit in crawl(SpaceJudge(), list(seeds), space=space, strategy=strategy, concurrency=1)
    )
