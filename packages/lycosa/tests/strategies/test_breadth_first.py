"""Breadth-first."""

import numpy as np
import pytest

from lycosa.core.table import Table
from lycosa.core.types import Links, Visit
from lycosa.strategies.baselines import BreadthFirst
from teaching import order, score, see, seeded


@pytest.mark.paper("batsakis-breadth-first")
def test_breadth_first_orders_by_depth_then_discovery() -> None:
    assert "acbfedhg" == order("breadth-first", {"a": "cb", "c": "fe", "b": "de", "e": "g", "f": "h"})


@pytest.mark.paper("gouriten-bfs")
def test_breadth_first_ranks_like_estimator_bfs() -> None:
    """1 / (l + 1) for distances 2, 0, 1, 1 is 1/3, 1, 1/2, 1/2: the same order, the same ties."""
    table = Table()
    distances = (2, 0, 1, 1)
    rows = np.array([table.add(f"node {number}", depth) for number, depth in enumerate(distances)], np.int32)
    bfs = np.array([1 / (distance + 1) for distance in distances])
    mine = BreadthFirst().priority(rows, table)
    assert [-2.0, 0.0, -1.0, -1.0] == mine.tolist()
    assert [1, 2, 3, 0] == np.argsort(-bfs, kind="stable").tolist() == np.argsort(-mine, kind="stable").tolist()


def test_breadth_first_keeps_depth_after_fetched_page() -> None:
    """s -> a -> b -> c, each fetched before t (a seed) is found to link to b: c stays at 3, not at 2, and d is at 1."""
    table, breadth = seeded("s", "t"), BreadthFirst()
    for node, links in (("s", "a"), ("a", "b"), ("b", "c"), ("t", "bd")):
        see(breadth, table, Visit(node, "page", "ok", 1, links=Links.to(*links)))
    assert [-3.0, -1.0] == score(breadth, table, "c", "d")
