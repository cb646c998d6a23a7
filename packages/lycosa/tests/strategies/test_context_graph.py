"""Tests of the context graph: order of layers, low confidence, and layers with few pages."""

from __future__ import annotations

import numpy as np
import pytest

from browsed_pages import Walk
from lycosa.strategies.context_graph import OTHER, ContextGraph
from lycosa.text.bags import Bags
from lycosa.text.browsing import Browsing

WORDS = ["reef", "island", "travel", "weather", "ocean"]


def layered(*counts: int) -> Browsing:
    """Return as many pages per state as given; each has the word of its state twice, and a common word."""
    state = np.repeat(np.arange(len(counts)), counts)
    return Browsing(
        WORDS,
        Bags.of([([number, 4], [2, 1]) for number in state.tolist()]),
        [f"http://browsed.example/{page}" for page in range(len(state))],
        state == 0,
        state,
        np.zeros((0, 2), np.intp),
        {},
        len(counts),
    )


def walked(graph: ContextGraph) -> Walk:
    """Crawl one page of each kind, with links named after its word."""
    walk = Walk(graph)
    for word in ("weather", "travel", "island", "reef"):
        walk.page(word, f"{word} {word} ocean", [f"of {word}"])
    walk.page("doubtful", "ocean", ["of doubt"])
    walk.page("empty", "", ["of nothing"])
    return walk


@pytest.mark.paper("batsakis-context-graph")
def test_crawl_order_is_layer_by_layer() -> None:
    graph = ContextGraph(layered(6, 6, 6, 6))
    walk = walked(graph)
    nodes = ["of reef", "of island", "of travel", "of weather", "of nothing"]
    priority = walk.priorities(*nodes)
    assert sorted(priority, reverse=True) == priority
    # the integer part is 2 + 1 - layer, or 0 for other pages
    assert [3, 2, 1, 0, 0] == [int(score) for score in priority]
    assert 0.0 == priority[-1]


def test_priority_is_layer_and_confidence() -> None:
    graph = ContextGraph(layered(6, 6, 6, 6))
    walk = Walk(graph)
    step = walk.step("p", "island ocean", ["a"])
    graph.learn(step, walk.table)
    layer, confidence = graph.layer(step.visit)
    probabilities = graph.model_.probabilities(Bags.of([([1, 4], [1, 1])]))[0]
    assert (1, pytest.approx(probabilities[1])) == (layer, confidence)
    assert [pytest.approx(2 + 1 - 1 + probabilities[1])] == walk.priorities("a")


def test_confidence_orders_within_layer() -> None:
    walk = Walk(ContextGraph(layered(6, 6, 6, 6), least=0.3))
    walk.page("p", "island ocean", ["a"])
    walk.page("q", "island island island", ["b"])
    walk.page("r", "reef ocean", ["c"])
    less, more, before = walk.priorities("a", "b", "c")
    assert less < more < before


@pytest.mark.paper("rules-context-graph")
def test_low_confidence_is_other() -> None:
    graph = ContextGraph(layered(6, 6, 6, 6))
    walk = walked(graph)
    doubt = walk.priorities("of doubt")[0]
    assert 0.0 < doubt < walk.priorities("of travel")[0]
    assert doubt == pytest.approx(0.25, abs=0.01)
    sure = walked(ContextGraph(layered(6, 6, 6, 6), least=0.0))
    assert 1.0 < sure.priorities("of doubt")[0]


@pytest.mark.parametrize(
    ("layers", "expected", "last"),
    [(0, [0, 1, 2, OTHER], 2), (1, [0, 1, OTHER], 1), (2, [0, 1, 2, OTHER], 2)],
)
def test_layers_defaults_to_all_states(layers: int, expected: list[int], last: int) -> None:
    graph = ContextGraph(layered(6, 6, 6, 6), layers)
    assert (expected, last, []) == (graph.layer_, graph.last_, graph.notes)


def test_too_many_layers_add_note() -> None:
    graph = ContextGraph(layered(6, 6, 6, 6), 7)
    assert [0, 1, 2, OTHER] == graph.layer_
    assert ["the browsing model has 3 layers, not 8: train one with more states"] == graph.notes


def test_small_layer_joins_next_one_out() -> None:
    graph = ContextGraph(layered(6, 6, 2, 6))
    assert [0, 1, OTHER] == graph.layer_
    walk = walked(graph)
    assert [0, 0] == [int(score) for score in walk.priorities("of travel", "of weather")]
    assert [0, 1, 2, OTHER] == ContextGraph(layered(6, 6, 2, 6), fewest=2).layer_
    assert [0, 2, OTHER] == ContextGraph(layered(6, 2, 6, 6)).layer_
    assert [0, 2, OTHER] == ContextGraph(layered(1, 2, 2, 6)).layer_  # the layer of relevant pages is never merged


def test_two_states_are_one_layer() -> None:
    graph = ContextGraph(layered(6, 6))
    walk = walked(graph)
    assert [0, OTHER] == graph.layer_
    assert [1, 0] == [int(score) for score in walk.priorities("of reef", "of island")]


def test_only_relevant_pages_add_note() -> None:
    graph = ContextGraph(layered(6, 0, 0, 0))
    assert ["all pages of the browsing model are in one layer, so all links get the same priority"] == graph.notes
    walk = walked(graph)
    assert walk.priorities("of reef") == walk.priorities("of doubt")


def test_training_ignores_pages_without_words() -> None:
    pages = [([number // 6, 4], [2, 1]) for number in range(24)]
    some = layered(6, 6, 6, 6)
    bare = Bags.of([*pages[:12], *([([], [])] * 6), *pages[18:]])
    graph = ContextGraph(Browsing(WORDS, bare, some.urls, some.relevant, some.state, some.steps, {}, 4))
    assert [0, 1, OTHER] == graph.layer_


def test_merge_takes_maximum_or_last_parent() -> None:
    for merge, expected in (("max", "of reef"), ("last", "of island")):
        walk = Walk(ContextGraph(layered(6, 6, 6, 6), merge=merge))  # type: ignore[arg-type]
        walk.page("p", "reef reef ocean", ["a", "of reef"])
        walk.page("q", "island island ocean", ["a", "of island"])
        assert walk.priorities(expected) == walk.priorities("a")
