"""Tests of the distiller: hub and authority scores."""

from typing import Any

import numpy as np
import pytest

from lycosa.core.table import Table
from lycosa.core.types import Links, Visit
from lycosa.strategies.focus import Distiller


def teach(distiller: Distiller, table: Table, node: str, beta: float, *links: str) -> bool:
    """Feed a page; return whether the scores were recomputed."""
    table.add_seed(node)
    return see(distiller, table, Visit(node, "page", "ok", 1, relevance=beta, links=Links.to(*links)))


def see(distiller: Distiller, table: Table, visit: Visit) -> bool:
    """Feed a visit; return whether the scores were recomputed."""
    step = table.absorb(visit)
    assert step is not None
    return distiller.learn(step, table)


def hubs(distiller: Distiller, table: Table, *nodes: str) -> list[float]:
    """Return the hub scores of some nodes."""
    return [float(distiller.hub[table.row_of[node]]) for node in nodes]


def authorities(distiller: Distiller, table: Table, *nodes: str) -> list[float]:
    """Return the authority scores of some nodes."""
    return [float(distiller.authority[table.row_of[node]]) for node in nodes]


@pytest.mark.paper("batsakis-hits")
@pytest.mark.parametrize(
    ("iterations", "y", "q"),
    [
        # a(x) = .8 * 1 + .4 * 1 = 1.2, a(y) = .8: scaled 1 and 2/3
        # h(p) = .5 * 1 + 1 * 2/3 = 7/6, h(q) = .5 * 1: scaled 1 and 3/7
        (1, 2 / 3, 3 / 7),
        # a(x) = .8 * 1 + .4 * 3/7 = 34/35, a(y) = .8: scaled 1 and 14/17
        # h(p) = .5 * 1 + 1 * 14/17 = 45/34, h(q) = .5: scaled 1 and 17/45
        (2, 14 / 17, 17 / 45),
    ],
)
def test_distil_two_hubs_and_two_authorities_by_hand(iterations: int, y: float, q: float) -> None:
    """Page p (beta .8) links to x (beta .5) and y (beta 1), page q (beta .4) to x only."""
    distiller, table = Distiller(period=4, iterations=iterations), Table()
    answers = [
        teach(distiller, table, "p", 0.8, "x", "y"),
        teach(distiller, table, "q", 0.4, "x"),
        teach(distiller, table, "x", 0.5),
        teach(distiller, table, "y", 1.0),
    ]
    assert [False, False, False, True] == answers
    assert pytest.approx([1.0, q, 0.0, 0.0]) == hubs(distiller, table, "p", "q", "x", "y")
    assert pytest.approx([0.0, 0.0, 1.0, y]) == authorities(distiller, table, "p", "q", "x", "y")


def test_distil_ignores_authorities_below_least() -> None:
    """Pages below `least` are no authorities, so q, which links to one, has hub score 0; the limit is inclusive."""
    distiller, table = Distiller(period=4, least=0.3), Table()
    teach(distiller, table, "q", 1.0, "below")
    teach(distiller, table, "p", 1.0, "limit")
    teach(distiller, table, "below", 0.29)
    teach(distiller, table, "limit", 0.3)
    assert [0.0, 1.0] == hubs(distiller, table, "q", "p")


def test_distil_ignores_uncrawled_pages() -> None:
    distiller, table = Distiller(period=1, least=0.0), Table()
    teach(distiller, table, "p", 1.0, "frontier", "gone")
    see(distiller, table, Visit("gone", "page", "gone", 1))
    assert [0.0, 0.0, 0.0] == hubs(distiller, table, "p", "frontier", "gone")


@pytest.mark.parametrize(
    ("same_host", "expected"),
    [("auto", [0.0, 1.0]), ("drop", [0.0, 1.0]), ("keep", [1.0, 1.0])],
)
def test_distil_keeps_or_drops_links_within_host(same_host: Any, expected: list[float]) -> None:
    """Only with `keep` do links within a host count: a/1 links to its own host, b/1 to another."""
    distiller, table = Distiller(period=3, same_host=same_host), Table(host_key=lambda node: node[0])
    teach(distiller, table, "a/1", 1.0, "a/2")
    teach(distiller, table, "b/1", 1.0, "a/2")
    teach(distiller, table, "a/2", 1.0)
    assert expected == hubs(distiller, table, "a/1", "b/1")


@pytest.mark.parametrize(("same_host", "expected"), [("auto", 1.0), ("drop", 0.0), ("keep", 1.0)])
def test_distil_auto_keeps_links_of_single_host(same_host: Any, expected: float) -> None:
    distiller, table = Distiller(period=2, same_host=same_host), Table()
    teach(distiller, table, "a", 1.0, "b")
    teach(distiller, table, "b", 1.0)
    assert [expected] == hubs(distiller, table, "a")


def test_distil_resolves_redirects() -> None:
    distiller, table = Distiller(period=3), Table()
    teach(distiller, table, "p", 1.0, "old")
    see(distiller, table, Visit("old", "redirect", "redirect", 2, links=Links.to("new")))
    assert teach(distiller, table, "new", 1.0)
    assert [1.0, 0.0] == hubs(distiller, table, "p", "old")


def test_hub_scores_stay_between_computations() -> None:
    distiller, table = Distiller(period=2), Table()
    teach(distiller, table, "p", 1.0, "x")
    teach(distiller, table, "x", 1.0)
    assert not teach(distiller, table, "q", 1.0, "x", *(f"n{number}" for number in range(2_000)))
    assert [1.0, 0.0, 0.0] == hubs(distiller, table, "p", "q", "n1999")
    assert np.all((distiller.hub >= 0) & (distiller.hub <= 1))
