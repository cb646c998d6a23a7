"""Tests of fish-search: potentials, depths and whole crawls."""

import pytest

from lycosa.core.frontier import PRUNED
from lycosa.core.table import Table
from lycosa.core.types import Links, Rows, Visit
from lycosa.strategies.fish_search import FishSearch
from teaching import order, seeded


def teach(
    fish: FishSearch, table: Table, node: str, links: str, relevance: float = 0.0, kind: str = "page"
) -> list[float]:
    """Feed a visit and return the priorities of its links."""
    outcome = "redirect" if kind == "redirect" else "ok"
    step = table.absorb(Visit(node, kind, outcome, 1, relevance=relevance, links=Links.to(*links)))  # type: ignore[arg-type]
    assert step is not None
    rows: Rows = fish.learn(step, table)
    return list(fish.priority(rows, table).tolist())


@pytest.mark.paper("batsakis-fish-search")
@pytest.mark.parametrize(
    ("width", "factor", "relevance", "expected"),
    [
        (2, 1.5, 0.5, [1.0, 1.0, 1.0, 0.0, 0.0]),  # relevant: 1.5 * 2 = 3 preferred links
        (2, 1.5, 0.4, [0.5, 0.5, 0.0, 0.0, 0.0]),  # not relevant: 2 preferred links
        (1, 1.5, 0.5, [1.0, 0.0, 0.0, 0.0, 0.0]),  # relevant: 1.5 is rounded down
        (3, 1.0, 0.9, [1.0, 1.0, 1.0, 0.0, 0.0]),
        (0, 1.5, 0.9, [0.0, 0.0, 0.0, 0.0, 0.0]),
        (9, 1.5, 0.0, [0.5, 0.5, 0.5, 0.5, 0.5]),
    ],
)
def test_fish_search_potentials_follow_width_and_factor(
    width: int, factor: float, relevance: float, expected: list[float]
) -> None:
    """The first factor * width links of a relevant page get 1, the first `width` of another page 1/2, all others 0."""
    fish = FishSearch(width=width, factor=factor, threshold=0.5)
    assert expected == teach(fish, seeded("a"), "a", "bcdef", relevance)


def test_fish_search_larger_potential_is_kept() -> None:
    """The largest potential counts: x has 0 as second link of an irrelevant page, then 1 from a relevant page."""
    fish, table = FishSearch(width=1, threshold=0.5), seeded("a", "b", "c")
    assert [0.5, 0.0] == teach(fish, table, "a", "wx")
    assert [1.0] == teach(fish, table, "b", "x", relevance=1.0)
    assert [1.0] == teach(fish, table, "c", "x")


def test_fish_search_depth_is_used_up() -> None:
    """With depth 1 and no relevant page, the seed has depth 1, b has 0 and is fetched, and c would have -1."""
    fish, table = FishSearch(depth=1, threshold=0.5), seeded("a")
    assert [0.5] == teach(fish, table, "a", "b")
    assert [PRUNED] == teach(fish, table, "b", "c")


def test_fish_search_relevant_page_resets_depth() -> None:
    """A relevant page resets the depth: b has 0 but is relevant, so c has 1, d has 0, and e would have -1."""
    fish, table = FishSearch(depth=1, threshold=0.5), seeded("a")
    steps = [
        teach(fish, table, node, child, relevance)
        for node, child, relevance in zip("abcd", "bcde", (0, 1, 0, 0), strict=True)
    ]
    assert [[0.5], [1.0], [0.5], [PRUNED]] == steps


def test_fish_search_pruned_link_is_restored() -> None:
    fish, table = FishSearch(depth=0, threshold=0.5), seeded("a", "r")
    assert [PRUNED] == teach(fish, table, "a", "x")
    assert [1.0] == teach(fish, table, "r", "x", relevance=1.0)


def test_fish_search_follows_sitemaps_and_redirects() -> None:
    fish, table = FishSearch(width=1, depth=0, threshold=0.0), seeded("m", "a")
    assert [0.5, 0.0] == teach(fish, table, "m", "xy", kind="sitemap")
    assert [1.0] == teach(fish, table, "a", "b")
    assert [1.0] == teach(fish, table, "b", "c", kind="redirect")


def test_fish_search_crawl_order() -> None:
    """Links are fetched by potential, then in order of discovery: c, d and f have 0.

    With width 1 a page has one preferred link. Seed a is irrelevant: b has 1/2, c and d 0. Page b is relevant: e has 1,
    f
    0. Page e is irrelevant: g has 1/2.
    """
    links = {"a": "bcd", "b": "ef", "e": "g"}
    assert "abegcdf" == order("fish-search,width=1,threshold=.5", links, relevant="b")


def test_fish_search_crawl_stops_at_depth() -> None:
    links = dict(zip("abcdefgh", "bcdefghi", strict=True))
    assert ["abcd", "abcdefg", "a"] == [
        order("fish-search,depth=3,threshold=.5", links),
        order("fish-search,depth=3,threshold=.5", links, relevant="c"),
        order("fish-search,depth=0,threshold=.5", links),
    ]


def test_fish_search_ties_are_breadth_first() -> None:
    links = {"a": "bc", "b": "de", "c": "f", "d": "g"}
    assert "abcdefg" == order("fish-search", links, relevant="abcdefg")
