"""Tests of the baselines: breadth-first, random, backlink count, out-link count, URL depth."""

import numpy as np
import pytest

from lycosa.core.table import Table
from lycosa.core.types import Links, Visit
from lycosa.strategies import baselines
from lycosa.strategies.baselines import Backlink, BreadthFirst, OutLinks, Random, UrlDepth, slashes
from teaching import order, redirect, score, see, seeded, teach


@pytest.mark.paper("batsakis-breadth-first")
def test_breadth_first_orders_by_depth_then_discovery() -> None:
    assert "acbfedhg" == order("breadth-first", {"a": "cb", "c": "fe", "b": "de", "e": "g", "f": "h"})


@pytest.mark.paper("gouriten-bfs")
def test_breadth_first_ranks_like_estimator_bfs() -> None:
    """The paper's 1 / (l + 1) gives 1/3, 1, 1/2, 1/2 for distances 2, 0, 1, 1: the same order with the same ties."""
    table = Table()
    distances = (2, 0, 1, 1)
    rows = np.array([table.add(f"node {number}", depth) for number, depth in enumerate(distances)], np.int32)
    bfs = np.array([1 / (distance + 1) for distance in distances])
    mine = BreadthFirst().priority(rows, table)
    assert [-2.0, 0.0, -1.0, -1.0] == mine.tolist()
    assert [1, 2, 3, 0] == np.argsort(-bfs, kind="stable").tolist() == np.argsort(-mine, kind="stable").tolist()


def test_breadth_first_keeps_depth_after_fetched_page() -> None:
    """Later links do not reduce the depth: with s -> a -> b -> c fetched before t -> b, c stays at 3 and d is at 1."""
    table, breadth = seeded("s", "t"), BreadthFirst()
    for node, links in (("s", "a"), ("a", "b"), ("b", "c"), ("t", "bd")):
        see(breadth, table, Visit(node, "page", "ok", 1, links=Links.to(*links)))
    assert [-3.0, -1.0] == score(breadth, table, "c", "d")


ROWS = np.arange(20_000, dtype=np.int32)


def test_random_is_uniform() -> None:
    """Each tenth of [0, 1) gets about a tenth of the rows, and neighbouring rows are uncorrelated."""
    for seed in (0, 1, 2, 12345, -1, 2**40, 2**64):
        scores = Random(seed).priority(ROWS, Table())
        assert ((scores >= 0) & (scores < 1)).all()
        counts = np.histogram(scores, bins=10, range=(0, 1))[0]
        assert (abs(counts - 2000) < 250).all()
        assert abs(np.corrcoef(scores[1:], scores[:-1])[0, 1]) < 0.05


def test_random_depends_on_seed() -> None:
    one, same, other = (Random(seed).priority(ROWS, Table()) for seed in (1, 1, 2))
    assert (one == same).all()
    assert abs(np.corrcoef(one, other)[0, 1]) < 0.05


def test_random_priority_is_independent_of_other_rows() -> None:
    assert Random(3).priority(ROWS, Table())[7] == Random(3).priority(np.array([7], np.int32), Table())[0]


@pytest.mark.paper("batsakis-backlink")
def test_backlink_counts_linking_pages() -> None:
    table, backlink = Table(), Backlink()
    for node, links in (("a", "xy"), ("b", "xx"), ("c", "x")):
        assert list(dict.fromkeys(links)) == teach(backlink, table, node, 0.0, *links)
    assert [3.0, 1.0, 0.0] == score(backlink, table, *"xya")


@pytest.mark.paper("batsakis-out-links")
def test_out_links_takes_largest_count() -> None:
    """Priority is the largest number of links on a parent: 3 for x, on pages with 3, 1 and 2; 0 without parents."""
    table, out_links = Table(), OutLinks()
    assert ["x", "y", "z"] == teach(out_links, table, "a", 0.0, *"xyzya")
    teach(out_links, table, "b", 0.0, "x")
    teach(out_links, table, "c", 0.0, "w", "x")
    assert [3.0, 3.0, 3.0, 2.0, 0.0] == score(out_links, table, *"xyzwa")


def test_out_links_redirect_inherits() -> None:
    table, out_links = Table(), OutLinks()
    teach(out_links, table, "a", 0.0, "x", "y")
    redirect(out_links, table, "x", "t")
    assert [2.0] == score(out_links, table, "t")
    teach(out_links, table, "b", 0.0, "s")
    redirect(out_links, table, "s", "t")
    assert [2.0] == score(out_links, table, "t")


@pytest.mark.parametrize(
    ("node", "expected"),
    [
        ("http://example.org", 0),
        ("http://example.org/", 1),
        ("http://example.org/a", 1),
        ("http://example.org/a/b.html", 2),
        ("http://example.org/a/b/", 3),
        ("http://example.org/a?next=/b/c", 1),
        ("http://example.org?next=/b/c", 0),
        ("http://example.org/a#/b/c", 1),
        ("http://example.org/a?from=http://x.org/y", 1),
        ("http://example.org/mirror/http://x.org/y", 5),
        ("n12", 0),
        ("a/b/c", 2),
        ("a/http://b/c", 4),
        ("", 0),
    ],
)
def test_slashes_of_url_are_counted(node: str, expected: int) -> None:
    assert expected == slashes(node)


def taught() -> tuple[UrlDepth, Table]:
    """Return an estimator that has seen a page with three links."""
    table, estimator = Table(), UrlDepth()
    table.add_seed("http://a.org/")
    step = table.absorb(
        Visit("http://a.org/", "page", "ok", 1, links=Links.to("http://a.org/b/c", "http://a.org/b", "http://a.org/b/"))
    )
    assert step is not None
    assert [1, 2, 3] == estimator.learn(step, table).tolist()
    return estimator, table


@pytest.mark.paper("batsakis-url-depth")
def test_url_depth_prefers_fewer_slashes() -> None:
    estimator, table = taught()
    assert [-1.0, -2.0, -1.0, -2.0] == estimator.priority(np.arange(4, dtype=np.int32), table).tolist()


def test_url_depth_reads_learned_rows_once(monkeypatch: pytest.MonkeyPatch) -> None:
    estimator, table = taught()
    read: list[str] = []
    monkeypatch.setattr(baselines, "slashes", lambda node: read.append(node) or 0)
    estimator.priority(np.arange(4, dtype=np.int32), table)
    assert ["http://a.org/"] == read


@pytest.mark.parametrize(
    ("source", "target", "expected"),
    [
        ("http://a.org/b/c", "http://a.org/x/y/z/", -2.0),  # new node
        ("http://a.org/b/c", "http://a.org/x", -2.0),  # new node
        ("http://a.org/b/c", "http://a.org/b", -1.0),  # known node with fewer slashes
        ("http://a.org/b", "http://a.org/b/c", -1.0),  # known node with more slashes
    ],
)
def test_url_depth_redirect_inherits(source: str, target: str, expected: float) -> None:
    estimator, table = taught()
    step = table.absorb(Visit(source, "redirect", "redirect", 2, links=Links.to(target)))
    assert step is not None
    assert [expected] == estimator.priority(estimator.learn(step, table), table).tolist()
