from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from input_errors import raises_input_error
from lycosa.core.composite import Greedy
from lycosa.core.table import Table
from lycosa.core.types import Priorities, Rows, Step
from lycosa.strategies import strategy
from lycosa_lab.corpus_index import CorpusIndex
from lycosa_lab.judgements import Judgements
from lycosa_lab.lookahead import look_ahead
from lycosa_lab.reachability import FAR, distances_from, distances_to, leads_to_relevant, upper_bound
from lycosa_lab.simulation import IndexedTable, simulate

RUNNING = ("breadth-first", "fl_ne", "lr_fl", "nr", "mab_var", "fl_n,batch=2")
"""One strategy of each kind: by order, by score, learning, rescoring all rows, bandit, in batches."""


class Knowing:
    """Greedy oracle, which always picks the richest node of the frontier."""

    def __init__(self, truth: NDArray[np.float32]) -> None:
        self.truth = truth

    def learn(self, step: Step, table: Table) -> Rows:
        return step.children

    def priority(self, rows: Rows, table: Table) -> Priorities:
        assert isinstance(table, IndexedTable)
        return self.truth[table.node_at[rows]].astype(np.float64)


def optimum(index: CorpusIndex, truth: NDArray[np.floating], seeds: list[int], budget: int) -> tuple[float, list[int]]:
    """Return the best crawl of a tiny graph: its sum of truth, and the nodes in order without the seeds.

    Enumerates all sets of nodes that a crawl can fetch, up to 2^n. Deciding whether a crawl reaches a given sum is
    NP-complete (Gouriten et al. 2014, proposition 1), so this is for up to 12 nodes.

    >>> links, score = {"a": ["b", "c"], "b": ["d"], "c": ["e"]}, {"b": 0.5, "c": 0.25, "e": 1}
    >>> graph = CorpusIndex.of(links, score=score)
    >>> optimum(graph, graph.score, [0], 2)  # greedy would take b
    (1.25, [2, 4])
    """
    n = len(index)
    begun = sum(1 << seed for seed in set(seeds))
    leads = [sum(1 << child for child in index.children(node).tolist()) for node in range(n)]
    came: dict[int, list[int]] = {begun: []}
    """Sets of fetched nodes, as bits, with an order in which they can be fetched."""
    for _ in range(budget):
        further: dict[int, list[int]] = {}
        for fetched, order in came.items():
            frontier = 0
            for node in range(n):
                if fetched >> node & 1:
                    frontier |= leads[node]
            for node in range(n):
                if frontier >> node & 1 and not fetched >> node & 1:
                    further.setdefault(fetched | 1 << node, [*order, node])
        if not further:  # all reachable nodes are fetched
            break
        came = further
    scores = [math.fsum(float(truth[node]) for node in order) for order in came.values()]
    best = scores.index(max(scores))
    return scores[best], list(came.values())[best]


@st.composite
def graphs(draw: st.DrawFn) -> tuple[CorpusIndex, list[int], int]:
    """Return a graph of up to 12 nodes, with scores in quarters, so that sums are exact, seeds, and a budget."""
    n = draw(st.integers(2, 12))
    names = [f"n{number}" for number in range(n)]
    numbers = st.lists(st.integers(0, n - 1), max_size=4)
    links = {name: [names[to] for to in draw(numbers)] for name in names}
    quarters = st.sampled_from([0, 0, 0.25, 0.5, 1.0])
    score = {name: draw(quarters) for name in names}
    alpha = {(name, to): draw(quarters) for name, found in links.items() for to in found}
    index = CorpusIndex.of({name: [] for name in names} | links, score, alpha)
    return index, draw(st.lists(st.integers(0, n - 1), min_size=1, max_size=2)), draw(st.integers(0, n))


@pytest.mark.paper("gouriten-optimum")
@settings(max_examples=20)
@given(graphs())
def test_no_crawl_exceeds_optimum_or_upper_bound(graph: tuple[CorpusIndex, list[int], int]) -> None:
    index, seeds, budget = graph
    best, order = optimum(index, index.score, seeds, budget)
    assert best == math.fsum(index.score[order].tolist())
    assert is_crawl(index, seeds, order)
    assert best <= upper_bound(index, index.score, seeds, [budget])[0]
    crawlers = {name: strategy(name, seed=1, budget=max(1, budget), threshold=0.25, words="n") for name in RUNNING}
    for name, crawler in {**crawlers, "oracle-greedy": Greedy(Knowing(index.score))}.items():
        found = simulate(Judgements.given(index), crawler, seeds, budget).found
        assert is_crawl(index, seeds, found.tolist()), name
        assert math.fsum(index.score[found].tolist()) <= best, name

    ahead = look_ahead(index, index.score, seeds, budget, links=4)
    assert is_crawl(index, seeds, ahead.found.tolist())
    assert len(ahead.found) == len(order)  # all reachable pages
    assert math.fsum(index.score[ahead.found].tolist()) <= best


def is_crawl(index: CorpusIndex, seeds: list[int], order: list[int]) -> bool:
    fetched = set(seeds)
    for node in order:
        if node in fetched or not any(node in index.children(parent) for parent in fetched):
            return False
        fetched.add(node)
    return True


@pytest.mark.paper("gouriten-proposition-1")
@settings(max_examples=25)
@given(graphs())
def test_upper_bound_equals_exhaustive_search(graph: tuple[CorpusIndex, list[int], int]) -> None:
    index, seeds, _ = graph
    distance, budget = distances_from(index, seeds).tolist(), 3
    relevances_now = [(float(index.score[node]), distance[node]) for node in range(len(index)) if distance[node] > 0]

    def best(position: int, left: list[tuple[float, int]]) -> float:
        if position > budget:
            return 0.0
        within = {one for one in left if one[1] <= position}
        rests = [one[0] + best(position + 1, without(left, one)) for one in within]
        return max([best(position + 1, left), *rests])

    assert best(1, relevances_now) == upper_bound(index, index.score, seeds, [budget])[0]


def without(left: list[tuple[float, int]], one: tuple[float, int]) -> list[tuple[float, int]]:
    at = left.index(one)
    return left[:at] + left[at + 1 :]


POOR_GATE = CorpusIndex.of(
    {"seed": ["rich", "poor"], "rich": ["dull"], "poor": ["gold"], "dull": []},
    score={"rich": 0.5, "poor": 0.25, "gold": 1.0},
    alpha={("seed", "poor"): 1.0, ("poor", "gold"): 1.0},
)
"""Graph with a very rich node behind the poorer of two nodes."""


def test_optimum_beats_oracle_greedy() -> None:
    """Following promising links finds poor and gold, .25 + 1; the oracle picks rich first and has .5 + .25."""
    oracle = simulate(Judgements.given(POOR_GATE), Greedy(Knowing(POOR_GATE.score)), [0], 2)
    assert ["rich", "poor"] == [POOR_GATE.names[node] for node in oracle.found]
    other = simulate(Judgements.given(POOR_GATE), strategy("fl_e"), [0], 2)
    assert ["poor", "gold"] == [POOR_GATE.names[node] for node in other.found]
    best, order = optimum(POOR_GATE, POOR_GATE.score, [0], 2)
    assert (1.25, ["poor", "gold"]) == (best, [POOR_GATE.names[node] for node in order])


def test_breadth_first_can_beat_oracle() -> None:
    index = CorpusIndex.of(
        {"seed": ["poor", "rich"], "poor": ["gold"], "rich": ["tin"], "tin": ["tin2"]},
        score={"poor": 0.25, "rich": 0.5, "gold": 1.0, "tin": 0.375, "tin2": 0.375},
    )
    oracle = simulate(Judgements.given(index), Greedy(Knowing(index.score)), [0], 3)
    breadth = simulate(Judgements.given(index), strategy("breadth-first"), [0], 3)
    assert 0.5 + 0.375 + 0.375 == index.score[oracle.found].sum()  # rich, tin, tin2
    assert 0.25 + 0.5 + 1.0 == index.score[breadth.found].sum()  # poor, rich, gold
    assert 1.75 == optimum(index, index.score, [0], 3)[0]


def test_distances_from_equal_breadth_first_search() -> None:
    chance = np.random.default_rng(3)
    names = [str(number) for number in range(300)]
    index = CorpusIndex.of({name: [names[to] for to in chance.integers(0, 300, 2)] for name in names})
    expected, front, steps = {5: 0, 9: 0}, [5, 9], 0
    while front:
        steps += 1
        front = [child for node in front for child in index.children(node).tolist()]
        front = [child for child in dict.fromkeys(front) if child not in expected]
        expected |= dict.fromkeys(front, steps)
    assert [expected.get(node, -1) for node in range(300)] == distances_from(index, [5, 9, 5]).tolist()


def test_distances_from_seen_nodes_cost_nothing() -> None:
    line = CorpusIndex.of({"a": ["b"], "b": ["c"], "c": ["d"]}, score={"b": 1, "c": 1, "d": 0.5})
    seen = np.array([False, True, True, False])
    assert [0, 0, 0, 1] == distances_from(line, [0], seen).tolist()
    assert [0.0, 0.5] == upper_bound(line, line.score, [0], [0, 1], seen).tolist()
    trace = simulate(Judgements.given(line), strategy("fl_n"), [0], 1, seen=seen)
    assert [1, 2, 3] == trace.found.tolist()


def test_upper_bound_respects_distances() -> None:
    index = CorpusIndex.of({"a": ["b", "c"], "b": ["d"], "d": ["e"]}, score={"b": 0.25, "c": 0.5, "e": 4})
    assert [0.0, 0.5, 0.75, 4.75, 4.75] == upper_bound(index, index.score, [0], [0, 1, 2, 3, 100]).tolist()


def test_upper_bound_ignores_negative_truth() -> None:
    index = CorpusIndex.of({"a": ["b"], "b": ["c"]})
    truth = np.array([0, -1, 2.0])
    assert (1.0, [1, 2]) == optimum(index, truth, [0], 2)
    assert [0.0, 2.0] == upper_bound(index, truth, [0], [1, 2]).tolist()


def test_upper_bound_rejects_bad_budgets_and_seeds() -> None:
    with raises_input_error("out-of-range"):
        upper_bound(POOR_GATE, POOR_GATE.score, [0], [2, -1])
    with raises_input_error("out-of-range", "seeds are nodes from 0 to 4"):
        distances_from(POOR_GATE, [5])


CHAIN = {"a": ["b"], "b": ["c"], "c": ["d"], "d": ["e"], "e": ["d"], "f": []}
"""a -> b -> c -> d <-> e, and f without links; nodes 0 to 5."""


def searched(links: dict[str, list[str]], relevant: NDArray[np.bool_]) -> list[int]:
    """Return distances by a plain search from every node."""
    index = CorpusIndex.of(links)
    found = []
    for start in range(len(index)):
        level, seen, distance = {start}, {start}, 0
        while level and not any(relevant[node] for node in level):
            level = {int(child) for node in level for child in index.children(node)} - seen
            seen |= level
            distance += 1
        found.append(distance if level else int(FAR))
    return found


def test_distances_to_equal_plain_search() -> None:
    chance = np.random.default_rng(5)
    for _ in range(20):
        names = [str(number) for number in range(30)]
        links = {name: chance.choice(names, int(chance.integers(0, 3))).tolist() for name in names}
        relevant = np.zeros(len(CorpusIndex.of(links)), np.bool_)
        relevant[:2] = True
        assert searched(links, relevant) == distances_to(CorpusIndex.of(links), relevant).tolist()


def test_leads_to_relevant_excludes_seed() -> None:
    index = CorpusIndex.of(CHAIN)
    relevant = np.array([False, False, False, True, False, False])
    assert not leads_to_relevant(index, [3], relevant)
    assert leads_to_relevant(index, [4], relevant)
