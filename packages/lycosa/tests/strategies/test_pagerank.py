"""PageRank of the graph seen so far: by hand on three nodes, and against networkx."""

import random

import numpy as np
import pytest

from lycosa.core.table import Table
from lycosa.strategies.ranks import PageRank
from teaching import redirect, score, teach


@pytest.mark.paper("rules-importance")
def test_pagerank_three_nodes_by_hand() -> None:
    """a links to b and c, b to a, c is not crawled; damping .5.

    With B = (1 - .5) / 3 + .5 * c / 3 for every node: a = B + b/2, b = B + a/4, c = B + a/4. So b = c, and a = b + b/2
    - a/4, that is a = 6/5 b; a + b + c = 1 gives b = c = 5/16 and a = 6/16.
    """
    pagerank, table = PageRank(damping=0.5, period=1, iterations=60), Table()
    teach(pagerank, table, "a", 0.0, "b", "c")
    teach(pagerank, table, "b", 0.0, "a")
    assert pytest.approx([6 / 16, 5 / 16, 5 / 16]) == score(pagerank, table, "a", "b", "c")


def test_pagerank_one_iteration_by_hand() -> None:
    """From 1/3 each, one step: B = (.5 + .5 * 1/3) / 3 = 2/9; a = 2/9 + 1/6 = 7/18, b = c = 2/9 + 1/12 = 11/36."""
    pagerank, table = PageRank(damping=0.5, period=1, iterations=1), Table()
    teach(pagerank, table, "a", 0.0, "b", "c")
    teach(pagerank, table, "b", 0.0, "a")
    assert pytest.approx([7 / 18, 11 / 36, 11 / 36]) == score(pagerank, table, "a", "b", "c")


def test_pagerank_sums_to_1() -> None:
    pagerank, table = PageRank(period=1, iterations=2), Table()
    teach(pagerank, table, "a", 0.0, "b", "c", "d")
    teach(pagerank, table, "b", 0.0, "d", "e")
    assert pytest.approx(1.0) == sum(score(pagerank, table, *table.nodes))


def test_pagerank_new_page_shares_rank_between_computations() -> None:
    """The first visit computes: a = 20/77, b = c = 57/154. Then b passes .85 * b / 2 each to c and to a new d."""
    pagerank, table = PageRank(period=100, iterations=60), Table()
    assert {"a", "b", "c"} == set(teach(pagerank, table, "a", 0.0, "b", "c"))
    assert pytest.approx([20 / 77, 57 / 154, 57 / 154]) == score(pagerank, table, "a", "b", "c")
    assert {"c", "d"} == set(teach(pagerank, table, "b", 0.0, "c", "d"))
    share = 0.85 * 57 / 154 / 2
    assert pytest.approx([57 / 154 + share, 20 / 77 + share]) == score(pagerank, table, "c", "d")


def test_pagerank_is_computed_first_and_every_period() -> None:
    """With period 2: at visits 1, 3 and 5."""
    pagerank, table = PageRank(period=2), Table()
    for node in "abcde":
        table.add_seed(node)
    swept = [len(teach(pagerank, table, node, 0.0, "f")) == len(table) for node in "abcde"]
    assert [True, False, True, False, True] == swept


@pytest.mark.parametrize("period", [1, 100])
def test_pagerank_redirect_replaces_source(period: int) -> None:
    pagerank, table = PageRank(period=period), Table()
    teach(pagerank, table, "a", 0.0, "old", "c")
    before = score(pagerank, table, "old", "a", "c")
    redirect(pagerank, table, "old", "new")
    assert pytest.approx(before) == score(pagerank, table, "new", "a", "c")


@pytest.mark.paper("batsakis-pagerank")
def test_pagerank_equals_networkx() -> None:
    """On a random graph of 60 nodes of which 25 are crawled, every rank is that of networkx's Google matrix."""
    networkx = pytest.importorskip("networkx")
    chance = random.Random(3)
    names = [f"n{number}" for number in range(60)]
    pagerank, table, graph = PageRank(period=1, iterations=200), Table(), networkx.DiGraph()
    for node in names[:25]:
        links = chance.sample(names, chance.randrange(1, 9))
        teach(pagerank, table, node, 0.0, *links)
        graph.add_edges_from((node, link) for link in links if link != node)
    matrix = networkx.google_matrix(graph, alpha=0.85, nodelist=table.nodes)
    expected = np.full(len(table), 1 / len(table))
    for _ in range(200):
        expected = expected @ matrix
    assert pytest.approx(np.asarray(expected).tolist()) == score(pagerank, table, *table.nodes)
