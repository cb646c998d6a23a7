"""Tests of shark-search: equations, decay of inherited relevance, and a whole crawl, compared with values computed by
hand.
"""

import numpy as np
import pytest

from lycosa.core.frontier import PRUNED
from lycosa.core.table import Table
from lycosa.core.types import Links, Visit
from lycosa.strategies.fish_search import SharkSearch
from teaching import order, seeded


def teach(
    shark: SharkSearch,
    table: Table,
    node: str,
    links: str,
    relevance: float = 0.0,
    anchors: tuple[float, ...] = (),
    contexts: tuple[float, ...] = (),
) -> list[float]:
    """Feed a page and return the priorities of its links."""
    found = Links.to(*links)
    found.link_relevances = np.array(anchors or [0.0] * len(links), np.float32)
    found.facets = {"context": np.array(contexts or [0.0] * len(links), np.float32)}
    step = table.absorb(Visit(node, "page", "ok", 1, relevance=relevance, links=found))
    assert step is not None
    return list(shark.priority(shark.learn(step, table), table).round(6).tolist())


@pytest.mark.paper("batsakis-shark-search")
@pytest.mark.parametrize(
    ("anchor", "context", "neighbourhood"),
    [
        (0.5, 0.25, 0.8 * 0.5 + 0.2 * 1.0),  # the anchor has positive relevance, so its context counts as 1
        (0.0, 0.25, 0.8 * 0.0 + 0.2 * 0.25),
        (0.0, 0.0, 0.0),
        (1.0, 0.0, 1.0),
    ],
)
def test_shark_search_potential_by_hand(anchor: float, context: float, neighbourhood: float) -> None:
    """Potential is gamma * (delta * sim) + (1 - gamma) * neighbourhood = .5 * (.5 * .6) + .5 * neighbourhood."""
    shark = SharkSearch(delta=0.5, beta=0.8, gamma=0.5)
    expected = 0.5 * (0.5 * 0.6) + 0.5 * neighbourhood
    assert [pytest.approx(expected)] == teach(shark, seeded("a"), "a", "b", 0.6, (anchor,), (context,))


def test_shark_search_potential_has_double_precision() -> None:
    """Only contexts have single precision: the result is half of (1 - .8) * float32(.1), to 16 digits."""
    shark, table = SharkSearch(), seeded("a")
    teach(shark, table, "a", "b", 0.0, (0.0,), (0.1,))
    expected = 0.5 * ((1 - 0.8) * float(np.float32(0.1)))
    assert [pytest.approx(expected, rel=1e-15)] == shark.priority(
        np.array([table.row_of["b"]], np.int32), table
    ).tolist()


def test_shark_search_other_weights_by_hand() -> None:
    """With delta .25, beta .4, gamma .1 the potential is .1 * (.25 * .8) + .9 * (.4 * .5 + .6 * 1) = .02 + .72."""
    shark = SharkSearch(delta=0.25, beta=0.4, gamma=0.1)
    assert [pytest.approx(0.74)] == teach(shark, seeded("a"), "a", "b", 0.8, (0.5,))


def test_shark_search_inherited_relevance_decays() -> None:
    """Inherited relevance is halved per page, .4, .2, .1, .05 after sim .8, and counts half (gamma), to depth 3."""
    shark, table = SharkSearch(depth=3), seeded("a")
    scores = [
        teach(shark, table, node, link, 0.8 if node == "a" else 0.0)
        for node, link in zip("abcde", "bcdef", strict=True)
    ]
    assert [[0.2], [0.1], [0.05], [0.025], [PRUNED]] == scores


def test_shark_search_any_similarity_resets_depth() -> None:
    """A page with sim .1 passes on .5 * .1, although it inherited more, and resets the depth."""
    shark, table = SharkSearch(depth=1), seeded("a")
    assert [0.2] == teach(shark, table, "a", "b", 0.8)
    assert [0.025] == teach(shark, table, "b", "c", 0.1)  # .5 * (.5 * .1)
    assert [0.0125] == teach(shark, table, "c", "d")
    assert [PRUNED] == teach(shark, table, "d", "e")


def test_shark_search_larger_potential_is_kept() -> None:
    """The larger value is kept: x has .5 * (.5 * .4) = .1 from a, .2 from b; its link has .5 * (.5 * .4)."""
    shark, table = SharkSearch(), seeded("a", "b", "c")
    assert [0.1] == teach(shark, table, "a", "x", 0.4)
    assert [0.2] == teach(shark, table, "b", "x", 0.8)
    assert [0.2] == teach(shark, table, "c", "x", 0.2)
    assert [0.1] == teach(shark, table, "x", "y")


def test_shark_search_seed_inherits_0() -> None:
    """A seed with sim 0 passes on nothing: its links have the relevance of their context, .5 * .2 * .5."""
    assert [0.0, 0.05] == teach(SharkSearch(), seeded("a"), "a", "bc", contexts=(0.0, 0.5))


def test_shark_search_redirect_passes_on() -> None:
    """A redirect target inherits: b has .2 and redirects to c, so c has .2, and its links have .5 * (.5 * .4)."""
    shark, table = SharkSearch(), seeded("a")
    assert [0.2] == teach(shark, table, "a", "b", 0.8)
    step = table.absorb(Visit("b", "redirect", "redirect", 1, links=Links.to("c")))
    assert step is not None
    assert [pytest.approx(0.2)] == shark.priority(shark.learn(step, table), table).tolist()
    assert [0.1] == teach(shark, table, "c", "d")


@pytest.mark.paper("rules-fish-search")
def test_shark_search_crawl_order() -> None:
    """Irrelevant pages near a very relevant one come before links of a less relevant one; f is beyond the depth of 1.

    Seeds are b (sim .2) and c (.8). d has .5 * (.5 * .8) = .2, e .5 * (.25 * .8) = .1, g .5 * (.5 * .2) = .05.
    """
    links = {"b": "g", "c": "d", "d": "e", "e": "f"}
    assert "bcdeg" == order("shark-search,depth=1", links, seeds="bc", relevance={"b": 0.2, "c": 0.8})
