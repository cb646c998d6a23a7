"""Breadth-first: level by level, and each level first in, first out."""

import numpy as np

from lycosa.core.table import Table
from lycosa.core.types import Links, Visit
from lycosa.crawling import crawl
from lycosa.estimators.breadth_first import BreadthFirst
from lycosa.spaces.graph import GraphSpace
from lycosa.topics.given import Given


def test_each_level_is_first_in_first_out() -> None:
    """Nodes are visited by depth, and within a depth in the order in which they were found."""
    graph = {"a": ["c", "b"], "c": ["f", "e"], "b": ["d", "e"], "e": ["g"], "f": ["h"]}
    order = [
        visit.node for visit in crawl(Given(), ["a"], space=GraphSpace(graph), strategy="breadth-first", concurrency=1)
    ]
    assert ["a", "c", "b", "f", "e", "d", "h", "g"] == order


def test_scores_are_minus_the_depth() -> None:
    """The deeper, the lower."""
    table = Table()
    rows = np.array([table.add(node, depth) for depth, node in enumerate("abc")], np.int32)
    assert [0.0, -1.0, -2.0] == BreadthFirst().score(rows, table).tolist()


def test_it_ranks_as_the_estimator_bfs() -> None:
    """1 / (l + 1) for distances 2, 0, 1, 1 is 1/3, 1, 1/2, 1/2: the same order, the same ties."""
    table = Table()
    distances = (2, 0, 1, 1)
    rows = np.array([table.add(f"node {number}", depth) for number, depth in enumerate(distances)], np.int32)
    bfs = np.array([1 / (distance + 1) for distance in distances])
    mine = BreadthFirst().score(rows, table)
    assert [1, 2, 3, 0] == np.argsort(-bfs, kind="stable").tolist() == np.argsort(-mine, kind="stable").tolist()
    assert (bfs[2] == bfs[3], bfs[0] == bfs[2]) == (mine[2] == mine[3], mine[0] == mine[2])


def test_a_shorter_way_does_not_reach_beyond_a_fetched_page() -> None:
    """s -> a -> b -> c, each fetched before t (a seed) is found to link to b: c stays at 3, not at 2, and d is at 1."""
    table, breadth = Table(), BreadthFirst()
    for seed in "st":
        table.add_seed(seed)
    for node, links in (("s", "a"), ("a", "b"), ("b", "c"), ("t", "bd")):
        step = table.absorb(Visit(node, "page", "ok", 1, links=Links.to(*links)))
        assert step is not None
        breadth.learn(step, table)
    rows = np.array([table.row_of[node] for node in "cd"], np.int32)
    assert [-3.0, -1.0] == breadth.score(rows, table).tolist()
