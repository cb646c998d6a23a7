"""Tests of PageRank and Navigational Rank: by hand, and against networkx and the definition."""

import random
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lycosa.core.table import OPEN, Table
from lycosa.core.types import Visit
from lycosa.strategies.ranks import NavigationalRank, PageRank
from teaching import redirect, score, see, teach


@pytest.mark.paper("rules-importance")
def test_pagerank_three_nodes_by_hand() -> None:
    """With B = (1 - .5) / 3 + .5 * c / 3 for every node, a = B + b/2, b = B + a/4, c = B + a/4.

    Page a links to b and c, b to a, c is not crawled; damping is .5. So b = c, and a = b + b/2 - a/4, that is a = 6/5
    b; a + b + c = 1 gives b = c = 5/16 and a = 6/16.
    """
    pagerank, table = PageRank(damping=0.5, period=1, iterations=60), Table()
    teach(pagerank, table, "a", 0.0, "b", "c")
    teach(pagerank, table, "b", 0.0, "a")
    assert pytest.approx([6 / 16, 5 / 16, 5 / 16]) == score(pagerank, table, "a", "b", "c")


def test_pagerank_one_iteration_by_hand() -> None:
    """One step from 1/3 each: B = (.5 + .5 * 1/3) / 3 = 2/9; a = 2/9 + 1/6 = 7/18, b = c = 2/9 + 1/12 = 11/36."""
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
    """After the first computation (a = 20/77, b = c = 57/154) b gives .85 * b / 2 each to c and to the new page d."""
    pagerank, table = PageRank(period=100, iterations=60), Table()
    assert {"a", "b", "c"} == set(teach(pagerank, table, "a", 0.0, "b", "c"))
    assert pytest.approx([20 / 77, 57 / 154, 57 / 154]) == score(pagerank, table, "a", "b", "c")
    assert {"c", "d"} == set(teach(pagerank, table, "b", 0.0, "c", "d"))
    share = 0.85 * 57 / 154 / 2
    assert pytest.approx([57 / 154 + share, 20 / 77 + share]) == score(pagerank, table, "c", "d")


def test_pagerank_is_computed_first_and_every_period() -> None:
    """With period 2 ranks are computed at visits 1, 3 and 5."""
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
    """On a random graph of 60 nodes, 25 of them crawled, ranks equal those of networkx's Google matrix."""
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


@pytest.mark.paper("gouriten-nr1", "gouriten-nr2")
@pytest.mark.parametrize(
    ("iterations", "a", "c"),
    [
        (1, 0.5 * 0.8 + 0.5 * (0.4 / 1 + 0 / 2) / 2, 0.5 * 0 + 0.5 * (0.5 / 2 + 0.2 / 2) / 2),  # .5, .0875
        (2, 0.5 * 0.8 + 0.5 * (0.2 / 1 + 0 / 2) / 2, 0.5 * 0 + 0.5 * (0.45 / 2 + 0.2 / 2) / 2),  # .45, .08125
    ],
)
def test_nr_four_nodes_by_hand(iterations: int, a: float, c: float) -> None:
    """NR1 is .5 * beta + .5 * average(NR1(child) / in-degree), NR2 is .5 * average(NR1(parent) / out-degree).

    Page a (beta .8) links to b and c, b (beta .4) to c and d. NR1 starts from beta. NR1(b) is .5 * .4 = .2 after any
    round, as c and d have 0. NR1(a) is .5 * .8 + .5 * average(NR1(b) / 1, NR1(c) / 2), where NR1(b) is .4 in the first
    round and .2 in the second. NR2(c) = .5 * average(NR1(a) / 2, NR1(b) / 2), and NR2(d) = .5 * NR1(b) / 2 = .05.
    """
    nr, table = NavigationalRank(eta=0.5, iterations=iterations, period=1), Table()
    teach(nr, table, "a", 0.8, "b", "c")
    assert {"a", "b", "c", "d"} == set(teach(nr, table, "b", 0.4, "c", "d"))
    assert pytest.approx([a, 0.2, c, 0.05]) == score(nr, table, "a", "b", "c", "d")


def test_nr_new_page_is_scored_between_sweeps() -> None:
    """Between sweeps only the page and its links get values; NR1(a) is updated by the next sweep.

    NR1(a) = .5 * .8 = .4, so b and c get .5 * .4 / 2 = .1. Then NR1(b) = .2 (c and d have 0), so d gets .5 * .2 / 2 =
    .05 and c .5 * average(.4 / 2, .2 / 2) = .075.
    """
    nr, table = NavigationalRank(period=100), Table()
    assert {"b", "c"} == set(teach(nr, table, "a", 0.8, "b", "c"))
    assert pytest.approx([0.1, 0.1]) == score(nr, table, "b", "c")
    assert {"c", "d"} == set(teach(nr, table, "b", 0.4, "c", "d"))
    assert pytest.approx([0.4, 0.2, 0.075, 0.05]) == score(nr, table, "a", "b", "c", "d")


def test_nr_of_page_linking_to_known_pages_by_hand() -> None:
    """If a links to the fetched page b (beta .4), NR1(a) = .5 * 0 + .5 * .2 / 1 before any sweep."""
    nr, table = NavigationalRank(period=100), Table()
    teach(nr, table, "b", 0.4)
    teach(nr, table, "a", 0.0, "b")
    assert pytest.approx([0.1]) == score(nr, table, "a")


def test_nr_sweep_returns_all_rows() -> None:
    """With period 2 the second visit returns every row, the third only its links."""
    nr, table = NavigationalRank(period=2), Table()
    assert {"b", "c"} == set(teach(nr, table, "a", 0.8, "b", "c"))
    assert {"a", "b", "c", "d"} == set(teach(nr, table, "b", 0.4, "c", "d"))
    assert {"e"} == set(teach(nr, table, "c", 0.4, "e"))


@pytest.mark.parametrize("period", [1, 100])
def test_nr_redirect_passes_on_links(period: int) -> None:
    """The target takes the place of the source among the two links of a (NR1 .4): .5 * .4 / 2."""
    nr, table = NavigationalRank(period=period), Table()
    teach(nr, table, "a", 0.8, "old", "b")
    redirect(nr, table, "old", "new")
    assert pytest.approx([0.1]) == score(nr, table, "new")


def test_nr_later_links_to_redirect_count_for_target() -> None:
    nr, table = NavigationalRank(period=100), Table()
    teach(nr, table, "a", 0.8, "old", "b")
    redirect(nr, table, "old", "new")
    assert {"old", "new"} == set(teach(nr, table, "b", 1.0, "old"))
    # average of NR1(a) / 2 = .2 and NR1(b) / 1 = .5
    assert pytest.approx([0.5 * (0.2 + 0.5) / 2]) == score(nr, table, "new")


NODES = [f"n{number}" for number in range(8)]
VISITS = st.lists(
    st.tuples(
        st.sampled_from(NODES),
        st.sampled_from(["ok", "ok", "ok", "gone", "redirect"]),
        st.integers(0, 8),
        st.lists(st.sampled_from(NODES), max_size=5, unique=True),
    ),
    max_size=12,
)


def literally(
    edges: list[tuple[str, str]], beta: dict[str, float], eta: float, iterations: int
) -> tuple[dict[str, float], dict[str, float]]:
    """Return NR1 and NR2 as defined in the paper, node by node; NR2 is iterated as often as NR1."""

    def average(values: list[float]) -> float:
        return sum(values) / len(values) if values else 0.0

    d_i = {v: sum(child == v for _, child in edges) for v in NODES}
    d_o = {v: sum(parent == v for parent, _ in edges) for v in NODES}
    nr1 = {v: beta.get(v, 0.0) for v in NODES}
    for _ in range(iterations):
        nr1 = {
            v: eta * beta.get(v, 0.0)
            + (1 - eta) * average([nr1[child] / d_i[child] for parent, child in edges if parent == v])
            for v in NODES
        }
    nr2 = dict(nr1)
    for _ in range(iterations):
        nr2 = {
            v: nr1[v]
            if v in beta
            else eta * nr1[v]
            + (1 - eta) * average([nr2[parent] / d_o[parent] for parent, child in edges if child == v])
            for v in NODES
        }
    return nr1, nr2


@pytest.mark.paper("gouriten-nr")
@settings(max_examples=60)
@given(VISITS, st.sampled_from([0.0, 0.2, 0.5, 1.0]), st.integers(1, 3))
def test_nr_period_1_equals_definition(
    visits: list[tuple[str, Any, int, list[str]]], eta: float, iterations: int
) -> None:
    nr, table = NavigationalRank(eta, iterations, period=1), Table()
    for node in NODES:
        table.add_seed(node)
    beta: dict[str, float] = {}
    links: list[tuple[str, str]] = []
    moved: dict[str, str] = {}
    for node, how, eighths, targets in visits:
        if table.state[table.row_of[node]] != OPEN:
            continue
        if how == "ok":
            beta[node] = eighths / 8
            links += [(node, target) for target in targets if target != node]
            teach(nr, table, node, eighths / 8, *targets)
        elif how == "redirect" and targets and table.state[table.row_of[targets[0]]] == OPEN and targets[0] != node:
            moved[node] = targets[0]
            redirect(nr, table, node, targets[0])
        else:
            see(nr, table, Visit(node, "page", "gone", 1))

        def end(node: str) -> str:
            return end(moved[node]) if node in moved else node

        edges = [(parent, end(child)) for parent, child in links if parent != end(child)]
        _, expected = literally(edges, beta, eta, iterations)
        assert pytest.approx([expected[v] for v in NODES]) == score(nr, table, *NODES)
