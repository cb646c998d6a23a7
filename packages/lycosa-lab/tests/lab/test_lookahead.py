import numpy as np
import pytest
from numpy.typing import NDArray

from lycosa.core.composite import steer
from lycosa.strategies.oracle import Oracle
from lycosa_lab.corpus_index import CorpusIndex
from lycosa_lab.judgements import Judgements
from lycosa_lab.lookahead import look_ahead
from lycosa_lab.reachability import upper_bound
from lycosa_lab.simulation import simulate

POOR_GATE = CorpusIndex.of(
    {"seed": ["rich", "poor"], "rich": ["dull"], "poor": ["gold"], "dull": []},
    score={"rich": 0.5, "poor": 0.25, "gold": 1.0},
    alpha={("seed", "poor"): 1.0, ("poor", "gold"): 1.0},
)
"""Graph with a very rich node behind the poorer of two nodes."""


def looked_ahead(index: CorpusIndex, links: int, budget: int, seen: NDArray[np.bool_] | None = None) -> list[str]:
    found = look_ahead(index, index.score, [0], budget, links=links, seen=seen).found
    return [index.names[node] for node in found.tolist()]


@pytest.mark.paper("gouriten-approximation")
def test_look_ahead_maximises_mean_of_subtree() -> None:
    """The mean of the subtree counts: poor with gold has (.25 + 1) / 2 = .625, more than rich's .5; with tin .375."""
    assert ["poor", "gold"] == looked_ahead(POOR_GATE, 1, 2)
    tin = CorpusIndex.of({"s": ["rich", "poor"], "poor": ["tin"]}, score={"rich": 0.5, "poor": 0.25, "tin": 0.5})
    assert ["rich", "poor", "tin"] == looked_ahead(tin, 1, 3)


def test_look_ahead_depth_includes_distant_nodes() -> None:
    """With depth 3, a page of 4 three links behind p gives the mean (0 + 0 + 0 + 4) / 4 = 1, above q's .5."""
    row = CorpusIndex.of({"s": ["q", "p"], "p": ["p2"], "p2": ["p3"], "p3": ["far"]}, score={"q": 0.5, "far": 4.0})
    assert ["q", "p", "p2", "p3"] == looked_ahead(row, 2, 4)
    assert ["p", "p2", "p3", "far"] == looked_ahead(row, 3, 4)


def test_look_ahead_prefers_list_of_good_pages() -> None:
    """hub has (0 + 1 + 1 + 1) / 4 = .75, above one's .6; with one page behind it, it would have (0 + 1) / 2 = .5."""
    index = CorpusIndex.of({"s": ["one", "hub"], "hub": ["a", "b", "c"]}, score={"one": 0.6, "a": 1, "b": 1, "c": 1})
    assert ["hub", "a", "b", "c", "one"] == looked_ahead(index, 1, 5)


def test_look_ahead_ignores_known_nodes() -> None:
    index = CorpusIndex.of(
        {"s": ["gold", "rich", "poor"], "poor": ["gold"]}, score={"gold": 1, "rich": 0.5, "poor": 0.25}
    )
    assert ["gold", "rich", "poor"] == looked_ahead(index, 3, 3)


def test_look_ahead_seen_nodes_cost_nothing() -> None:
    """b and c have been seen, so d is one page away, and its 1 is above e's .5."""
    index = CorpusIndex.of({"a": ["e", "b"], "b": ["c"], "c": ["d"]}, score={"b": 1, "c": 1, "d": 1, "e": 0.5})
    seen = np.array([name in "bc" for name in index.names])
    assert ["b", "c", "d"] == looked_ahead(index, 3, 1, seen)


@pytest.mark.paper("gouriten-approximation")
def test_look_ahead_is_between_greedy_and_upper_bound() -> None:
    chance = np.random.default_rng(4)
    names = [str(number) for number in range(2000)]
    rich = {names[node]: 1.0 for node in chance.choice(2000, 40, replace=False).tolist()}
    index = CorpusIndex.of({name: [names[to] for to in chance.integers(0, 2000, 4)] for name in names}, score=rich)
    greedy = simulate(Judgements.given(index), steer(Oracle(rich)), [0], 200)
    ahead = look_ahead(index, index.score, [0], 200)
    ours, theirs = (float(index.score[trace.found].sum()) for trace in (ahead, greedy))
    assert 2 * theirs < ours <= upper_bound(index, index.score, [0], [200])[0]
