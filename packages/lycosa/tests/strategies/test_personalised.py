"""The personalised crawler's queue: whole crawls, in the order of its algorithm."""

from collections.abc import Mapping

import numpy as np
import pytest

import teaching
from lycosa.core.frontier import PRUNED
from lycosa.core.table import Table
from lycosa.core.types import Links, Visit
from lycosa.strategies.personalised import Personalised


def order(links: Mapping[str, str], relevant: str, seeds: str = "a", levels: int = 0) -> str:
    """The order in which a graph is crawled, one page at a time."""
    return teaching.order(f"personalised,levels={levels}", links, relevant, seeds)


def literally(links: Mapping[str, str], relevant: str, seeds: str = "a") -> str:
    """The paper's algorithm, line by line."""
    queue, visited, inserted = list(seeds), "", set(seeds)
    while queue:
        url = queue.pop(0)
        visited += url
        if url in relevant:
            for link in links.get(url, ""):
                if link not in inserted:
                    inserted.add(link)
                    queue.append(link)
    return visited


@pytest.mark.paper("personalized-queue")
def test_first_in_first_out() -> None:
    """When all is relevant it is breadth-first."""
    assert "abcdef" == order({"a": "bc", "b": "de", "c": "fd"}, "abcdef")


def test_irrelevant_pages_are_not_expanded() -> None:
    """b is fetched and found irrelevant; d is known from it only, and never fetched."""
    assert "abce" == order({"a": "bc", "b": "d", "c": "e"}, "ac")


def test_a_link_joins_where_a_relevant_page_has_it() -> None:
    """x is found on the irrelevant b first, but joins the queue behind d and e, when the relevant d links to it."""
    assert "abcdex" == order({"a": "bc", "b": "x", "c": "de", "d": "x"}, "acd")


def test_seeds_are_fetched_but_lead_nowhere() -> None:
    """Seeds that are irrelevant are fetched, and not expanded."""
    assert "abcd" == order({"a": "x", "b": "d", "c": "y"}, "b", seeds="abc")


def test_levels() -> None:
    """A chain after a relevant seed: so many irrelevant pages in a row are followed."""
    links = dict(zip("abcde", "bcdef", strict=True))
    assert ["ab", "abc", "abcd"] == [order(links, "a", levels=levels) for levels in (0, 1, 2)]


def test_the_first_place_is_kept() -> None:
    """With one level x joins by way of the irrelevant b, before y; that a relevant page has it too changes nothing."""
    assert "abcxy" == order({"a": "bc", "b": "x", "c": "yx"}, "ac", levels=1)


@pytest.mark.paper("personalized-algorithm")
def test_the_algorithm_line_by_line() -> None:
    """On random graphs the crawl is what the paper's algorithm gives."""
    nodes = "abcdefghijklmnopqrst"
    for number in range(10):
        chance = np.random.default_rng(number)
        links = {node: "".join(chance.choice(list(nodes), 3)) for node in nodes}
        relevant = "".join(node for node in nodes if chance.random() < 0.6)
        assert literally(links, relevant, "ab") == order(links, relevant, "ab")


def test_scores_are_places() -> None:
    """Minus the place in the queue; PRUNED for what has not joined; a redirect's target has the place of its source."""
    queue, table = Personalised(threshold=0.5), Table()
    scores = []
    for visit in (
        Visit("a", "page", "ok", 1, relevance=0.5, links=Links.to("b", "c")),
        Visit("s", "page", "ok", 2, relevance=0.4, links=Links.to("d")),
        Visit("b", "redirect", "redirect", 3, links=Links.to("e")),
        Visit("t", "page", "ok", 4, relevance=0.6, links=Links.to("c", "d", "e")),
    ):
        if visit.node in "ast":
            table.add_seed(visit.node)
        step = table.absorb(visit)
        assert step is not None
        scores.append(queue.priority(queue.learn(step, table), table).tolist())
    assert [[-1, -2], [PRUNED], [-1], [-2, -3, -1]] == scores
