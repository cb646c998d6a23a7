"""Breadth-first: level by level, and each level first in, first out."""

import numpy as np

from lycosa.crawling import crawl
from lycosa.estimators.breadth_first import BreadthFirst
from lycosa.spaces.graph import Given, GraphSpace


def test_each_level_is_first_in_first_out() -> None:
    """Nodes are visited by depth, and within a depth in the order in which they were found."""
    graph = {"a": ["c", "b"], "c": ["f", "e"], "b": ["d", "e"], "e": ["g"], "f": ["h"]}
    order = [
        visit.node for visit in crawl(Given(), ["a"], space=GraphSpace(graph), strategy="breadth-first", concurrency=1)
    ]
    assert ["a", "c", "b", "f", "e", "d", "h", "g"] == order


def test_scores_are_minus_the_depth() -> None:
    """The deeper, the lower."""
    from lycosa.core.table import Table

    table = Table()
    rows = np.array([table.add(node, depth) for depth, node in enumerate("abc")], np.int32)
    assert [0.0, -1.0, -2.0] == BreadthFirst().score(rows, table).tolist()
