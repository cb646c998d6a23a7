"""Tests of the link graph: breadth-first order, distances and paths, compared with values found by hand."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lycosa.collection.link_graph import Addresses
from lycosa.collection.view import CrawlView
from lycosa.core.types import Event, Links, Seed, Visit
from synthetic_report import page, redirect, write

Maker = Callable[[Iterable[Event]], tuple[CrawlView, list[str]]]


@pytest.fixture
def graph_of(tmp_path: Path) -> Maker:
    """Return a function that builds a view from events and lists its vertices."""

    def make(events: Iterable[Event]) -> tuple[CrawlView, list[str]]:
        view = CrawlView(write(tmp_path / "crawl", events), content=False)
        view.catch_up()
        return view, view.nodes

    return make


# a links to b and, through a redirect c, to d; b to e and d; d to f. x has no incoming links. Fetched in another order.
SMALL = [
    Seed("a"),
    page("a", to=["b", "c", "nowhere"]),
    redirect("c", "d"),
    page("d", 0.9, to=["f", "a"]),
    page("f", 0.9),
    page("b", to=["e", "d"]),
    page("x", 0.9),
    page("e", to=["f", "e"]),
]


def test_breadth_first_order_and_depth(graph_of: Maker) -> None:
    graph, names = graph_of(SMALL)
    order, depth = graph.breadth_first()
    assert ["a", "b", "d", "e", "f", "x"] == [names[vertex] for vertex in order]
    distance = {name: int(depth[vertex]) for vertex, name in enumerate(names)}
    assert {"a": 0, "b": 1, "d": 1, "e": 2, "f": 2, "x": -1, "c": -1} == distance


def test_trail_follows_first_links(graph_of: Maker) -> None:
    graph, names = graph_of(SMALL)
    ways = {names[v]: [names[stop] for stop in graph.path_to(v)] for v in range(len(names))}
    assert ["a", "c", "d", "f"] == ways["f"]
    assert ["a", "b", "e"] == ways["e"]
    assert ["x"] == ways["x"]
    assert ["a"] == ways["a"]


def test_parent_ignores_later_links(graph_of: Maker) -> None:
    graph, _ = graph_of([Seed("a"), page("a"), page("b"), page("c", to=["b", "a"])])
    assert [-1, -1, -1] == graph.column("parent").tolist()


def test_trail_of_seed_is_seed(graph_of: Maker) -> None:
    graph, _ = graph_of([Seed("a"), Seed("b"), page("a", to=["b"]), page("b")])
    assert [1] == graph.path_to(1)


@pytest.mark.parametrize(
    ("redirects", "order"),
    [
        ({"c": "d", "d": "e", "e": "z"}, ["a", "z"]),  # a chain
        ({"c": "d", "d": "c"}, ["a", "z"]),  # a loop: z cannot be reached and comes last
        ({"c": "gone"}, ["a", "z"]),
        ({"c": "c"}, ["a", "z"]),
    ],
)
def test_breadth_first_follows_redirects(graph_of: Maker, redirects: dict[str, str], order: list[str]) -> None:
    graph, names = graph_of(
        [Seed("a"), page("a", to=["c"]), *(redirect(node, target) for node, target in redirects.items()), page("z")]
    )
    found, depth = graph.breadth_first()
    assert order == [names[vertex] for vertex in found]
    assert (1 if "z" in redirects.values() else -1) == depth[names.index("z")]


def test_breadth_first_starts_at_target_of_redirecting_seed(graph_of: Maker) -> None:
    graph, names = graph_of([Seed("s"), redirect("s", "a"), page("b"), page("a", to=["b"])])
    assert ["a", "b"] == [names[vertex] for vertex in graph.breadth_first()[0]]


def test_breadth_first_starts_at_sitemaps(graph_of: Maker) -> None:
    sitemap = Visit("map", "sitemap", "ok", 0, links=Links.to("m", "b"))
    graph, names = graph_of([Seed("a"), sitemap, page("m"), page("a", to=["b"]), page("b")])
    order, depth = graph.breadth_first()
    assert ["a", "b", "m"] == [names[vertex] for vertex in order]
    assert 1 == depth[names.index("m")]
    assert ["map", "m"] == [names[stop] for stop in graph.path_to(names.index("m"))]


def test_page_recorded_twice_is_one_vertex(graph_of: Maker) -> None:
    graph, names = graph_of([Seed("a"), page("a", to=["b"]), page("b", 0.1), page("b", 0.9, to=["c"]), page("c")])
    assert ["a", "b", "c"] == names
    assert [0.0, 0.9, 0.0] == graph.column("relevance_now").tolist()
    assert [0, 1, 2] == graph.path_to(2)


def test_failures_are_not_vertices(graph_of: Maker) -> None:
    graph, names = graph_of([Seed("a"), Visit("a", "page", "gone", 0), page("b")])
    assert ["b"] == names
    assert [] == graph.graph.seed_vertices()
    assert 1 == len(graph)


def test_relevant_excludes_copies(graph_of: Maker) -> None:
    graph, names = graph_of([page("a", 0.5), page("b", 0.49), page("copy", 0.9, same_as="a")])
    assert ["a"] == [names[vertex] for vertex in graph.relevant(0.5).nonzero()[0]]


def test_breadth_first_of_empty_log_is_empty(graph_of: Maker) -> None:
    graph, _ = graph_of([Seed("a")])
    order, depth = graph.breadth_first()
    assert ([], []) == (order.tolist(), depth.tolist())


def test_breadth_first_equals_simple_queue(graph_of: Maker) -> None:
    links = {f"n{i}": [f"n{(i * k + k) % 60}" for k in range(1, 8)] for i in range(60)}
    graph, names = graph_of([Seed("n3"), *(page(node, to=to) for node, to in links.items())])
    queue, at = ["n3"], 0
    while at < len(queue):
        queue += [node for node in dict.fromkeys(links[queue[at]]) if node not in queue]
        at += 1
    rest = [node for node in links if node not in queue]
    assert queue + rest == [names[vertex] for vertex in graph.breadth_first()[0]]


@settings(max_examples=40)
@given(st.lists(st.lists(st.integers(0, 3_000).map(str), max_size=60), max_size=40))
def test_names_keep_their_numbers(batches: list[list[str]]) -> None:
    addresses, known = Addresses(), dict[str, int]()
    for batch in batches:
        for name, number in zip(batch, addresses.numbers(batch).tolist(), strict=True):
            assert known.setdefault(name, number) == number
    assert set(range(len(known))) == set(known.values())
    assert all(number == addresses.number(name) for name, number in known.items())
    assert -1 == addresses.number("never seen")
