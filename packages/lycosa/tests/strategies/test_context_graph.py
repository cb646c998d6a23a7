"""The context graph: layers in their order, doubt, and what becomes of layers with few pages."""

from __future__ import annotations

import numpy as np
import pytest

from browsed_pages import Walk
from lycosa.strategies.context_graph import OTHER, ContextGraph
from lycosa.text.bags import Bags
from lycosa.text.browsing import Browsing

WORDS = ["reef", "island", "travel", "weather", "ocean"]


def layered(*counts: int) -> Browsing:
    """So many pages in each state, each with the word of its state twice and a word that all have."""
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
    """A crawl of one page of each kind, whose links are named after its word."""
    walk = Walk(graph)
    for word in ("weather", "travel", "island", "reef"):
        walk.page(word, f"{word} {word} ocean", [f"of {word}"])
    walk.page("doubtful", "ocean", ["of doubt"])
    walk.page("empty", "", ["of nothing"])
    return walk


@pytest.mark.paper("batsakis-context-graph")
def test_layer_by_layer() -> None:
    """Links of a relevant page, then those of pages one step away, two; then the others, and those of no words last."""
    graph = ContextGraph(layered(6, 6, 6, 6))
    walk = walked(graph)
    nodes = ["of reef", "of island", "of travel", "of weather", "of nothing"]
    priority = walk.priority(*nodes)
    assert sorted(priority, reverse=True) == priority
    assert [3, 2, 1, 0, 0] == [int(score) for score in priority]  # 2 + 1 - layer, and the rest
    assert 0.0 == priority[-1]


def test_the_score_is_layer_and_confidence() -> None:
    """What the classifier is sure of is what stands behind the point."""
    graph = ContextGraph(layered(6, 6, 6, 6))
    walk = Walk(graph)
    step = walk.step("p", "island ocean", ["a"])
    graph.learn(step, walk.table)
    layer, confidence = graph.layer(step.visit)
    told = graph.model_.probabilities(Bags.of([([1, 4], [1, 1])]))[0]
    assert (1, pytest.approx(told[1])) == (layer, confidence)
    assert [pytest.approx(2 + 1 - 1 + told[1])] == walk.priority("a")


def test_within_a_layer_the_surer_first() -> None:
    """A page with more words of its layer is ahead of one with fewer, and behind any of the layer before."""
    walk = Walk(ContextGraph(layered(6, 6, 6, 6), least=0.3))
    walk.page("p", "island ocean", ["a"])
    walk.page("q", "island island island", ["b"])
    walk.page("r", "reef ocean", ["c"])
    less, more, before = walk.priority("a", "b", "c")
    assert less < more < before


@pytest.mark.paper("rules-context-graph")
def test_doubt_goes_to_other() -> None:
    """With four classes alike, no layer is likely enough: its links come after those of all layers, but not last."""
    graph = ContextGraph(layered(6, 6, 6, 6))
    walk = walked(graph)
    doubt = walk.priority("of doubt")[0]
    assert 0.0 < doubt < walk.priority("of travel")[0]
    assert doubt == pytest.approx(0.25, abs=0.01)
    confidence = walked(ContextGraph(layered(6, 6, 6, 6), least=0.0))
    assert 1.0 < confidence.priority("of doubt")[0]


@pytest.mark.parametrize(
    ("layers", "expected", "last"),
    [(0, [0, 1, 2, OTHER], 2), (1, [0, 1, OTHER], 1), (2, [0, 1, 2, OTHER], 2)],
)
def test_how_many_layers(layers: int, expected: list[int], last: int) -> None:
    """All that the states tell apart, or fewer; what is beyond is one class."""
    graph = ContextGraph(layered(6, 6, 6, 6), layers)
    assert (expected, last, []) == (graph.layer_, graph.last_, graph.notes)


def test_more_layers_than_there_are() -> None:
    """A note says how many there are."""
    graph = ContextGraph(layered(6, 6, 6, 6), 7)
    assert [0, 1, 2, OTHER] == graph.layer_
    assert ["the browsing model tells 3 layers apart, not 8: train one with more states"] == graph.notes


def test_a_layer_with_few_pages_joins_the_next_one_out() -> None:
    """Two pages are too few for a layer of their own: a page of travel is then one of weather, which is beyond."""
    graph = ContextGraph(layered(6, 6, 2, 6))
    assert [0, 1, OTHER] == graph.layer_
    walk = walked(graph)
    assert [0, 0] == [int(score) for score in walk.priority("of travel", "of weather")]
    assert [0, 1, 2, OTHER] == ContextGraph(layered(6, 6, 2, 6), fewest=2).layer_
    assert [0, 2, OTHER] == ContextGraph(layered(6, 2, 6, 6)).layer_
    assert [0, 2, OTHER] == ContextGraph(layered(1, 2, 2, 6)).layer_  # relevant pages stay what they are


def test_two_states_are_one_layer() -> None:
    """Where the file says no more than relevant or not, there is layer 0, and the rest."""
    graph = ContextGraph(layered(6, 6))
    walk = walked(graph)
    assert [0, OTHER] == graph.layer_
    assert [1, 0] == [int(score) for score in walk.priority("of reef", "of island")]


def test_relevant_pages_alone() -> None:
    """Nothing can be told apart: a note says so, and all links are worth the same."""
    graph = ContextGraph(layered(6, 0, 0, 0))
    assert [
        "all pages of the browsing model are of one layer: the links of all pages are worth the same"
    ] == graph.notes
    walk = walked(graph)
    assert walk.priority("of reef") == walk.priority("of doubt")


def test_pages_without_words_teach_nothing() -> None:
    """They are on paths only: layers are learned from the others."""
    pages = [([number // 6, 4], [2, 1]) for number in range(24)]
    some = layered(6, 6, 6, 6)
    bare = Bags.of([*pages[:12], *([([], [])] * 6), *pages[18:]])
    graph = ContextGraph(Browsing(WORDS, bare, some.urls, some.relevant, some.state, some.steps, {}, 4))
    assert [0, 1, OTHER] == graph.layer_


def test_a_link_of_two_pages() -> None:
    """The nearer layer counts, or the last one that was seen."""
    for merge, expected in (("max", "of reef"), ("last", "of island")):
        walk = Walk(ContextGraph(layered(6, 6, 6, 6), merge=merge))  # type: ignore[arg-type]
        walk.page("p", "reef reef ocean", ["a", "of reef"])
        walk.page("q", "island island ocean", ["a", "of island"])
        assert walk.priority(expected) == walk.priority("a")
