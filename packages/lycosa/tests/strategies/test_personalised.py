"""Tests of the personalised crawler's queue: whole crawls, compared with the paper's algorithm."""

from collections.abc import Mapping

import numpy as np
import pytest

import teaching
from lycosa.core.frontier import PRUNED
from lycosa.core.table import Table
from lycosa.core.types import Links, Visit
from lycosa.strategies.personalised import Personalised


def order(links: Mapping[str, str], relevant: str, seeds: str = "a", levels: int = 0) -> str:
    """Return the order in which a graph is crawled, one page at a time."""
    return teaching.order(f"personalised,levels={levels}", links, relevant, seeds)


def literally(links: Mapping[str, str], relevant: str, seeds: str = "a") -> str:
    """Run the paper's algorithm line by line."""
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
def test_crawl_of_relevant_pages_is_breadth_first() -> None:
    assert "abcdef" == order({"a": "bc", "b": "de", "c": "fd"}, "abcdef")


def test_crawl_prunes_links_of_irrelevant_pages() -> None:
    assert "abce" == order({"a": "bc", "b": "d", "c": "e"}, "ac")


def test_link_joins_queue_at_first_relevant_parent() -> None:
    assert "abcdex" == order({"a": "bc", "b": "x", "c": "de", "d": "x"}, "acd")


def test_irrelevant_seeds_are_fetched_but_not_expanded() -> None:
    assert "abcd" == order({"a": "x", "b": "d", "c": "y"}, "b", seeds="abc")


def test_levels_follow_irrelevant_pages_in_a_row() -> None:
    links = dict(zip("abcde", "bcdef", strict=True))
    assert ["ab", "abc", "abcd"] == [order(links, "a", levels=levels) for levels in (0, 1, 2)]


def test_position_in_queue_is_kept() -> None:
    assert "abcxy" == order({"a": "bc", "b": "x", "c": "yx"}, "ac", levels=1)


@pytest.mark.paper("personalized-algorithm")
def test_crawl_equals_papers_algorithm() -> None:
    nodes = "abcdefghijklmnopqrst"
    for number in range(10):
        chance = np.random.default_rng(number)
        links = {node: "".join(chance.choice(list(nodes), 3)) for node in nodes}
        relevant = "".join(node for node in nodes if chance.random() < 0.6)
        assert literally(links, relevant, "ab") == order(links, relevant, "ab")


def test_priority_is_negative_position() -> None:
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
