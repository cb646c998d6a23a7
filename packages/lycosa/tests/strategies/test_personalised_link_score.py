"""Tests of LinkScore: the sum, URL optimisation, and levels of irrelevant pages."""

import numpy as np
import pytest

from lycosa.core.frontier import PRUNED
from lycosa.core.table import Table
from lycosa.core.types import Links, Visit
from lycosa.strategies import estimator
from lycosa.strategies.personalised import LinkScore
from teaching import order


def teach(
    guide: LinkScore, table: Table, node: str, beta: float, anchor: float = 0.0, url: float | None = None, to: str = "u"
) -> float:
    """Feed a page with one link and return the link's priority."""
    table.add_seed(node)
    links = Links.to(to)
    links.link_relevances = np.array([anchor], np.float32)
    if url is not None:
        links.facets = {"url": np.array([url], np.float32)}
    step = table.absorb(Visit(node, "page", "ok", 1, relevance=beta, links=links))
    assert step is not None
    return float(guide.priority(guide.learn(step, table), table)[0])


@pytest.mark.paper("personalized-link-score")
def test_priority_is_sum_of_four_terms() -> None:
    """Priority is URL .125 + anchor .25 + 1 parent + relevance .5 = 1.875."""
    assert 0.125 + 0.25 + 1 + 0.5 == teach(LinkScore(), Table(), "p", 0.5, 0.25, 0.125)


@pytest.mark.paper("personalized-url-relevant")
def test_priority_adds_each_parent() -> None:
    guide, table = LinkScore(), Table()
    assert 0.125 + 0.25 + 1 + 0.5 == teach(guide, table, "p", 0.5, 0.25, 0.125)
    assert 0.125 + 0.75 + 2 + (0.5 + 0.25) == teach(guide, table, "q", 0.25, 0.75, 0.125)
    assert 0.125 + 0.75 + 3 + (0.5 + 0.25 + 0.0) == teach(guide, table, "r", 0.0, 0.0, 0.125)


def test_priority_without_url_scores_omits_their_term() -> None:
    assert 0.0 + 0.25 + 1 + 0.5 == teach(LinkScore(), Table(), "p", 0.5, 0.25)
    assert ("url",) == LinkScore().wants


def test_redirect_adds_terms_of_source() -> None:
    """The terms of source and target are added: .125 + .5 + (1 + 1) + (.5 + .25)."""
    guide, table = LinkScore(), Table()
    teach(guide, table, "p", 0.5, 0.25, 0.125, to="u")
    teach(guide, table, "q", 0.25, 0.5, 0.0, to="v")
    step = table.absorb(Visit("u", "redirect", "redirect", 1, links=Links.to("v")))
    assert step is not None
    assert [0.125 + 0.5 + 2 + 0.75] == guide.priority(guide.learn(step, table), table).tolist()


@pytest.mark.paper("personalized-url-optimisation")
def test_least_prunes_until_second_parent() -> None:
    """One parent gives 1 + .25, below the limit of 1.5, so the link is pruned; a second raises it to 2 + .25."""
    guide, table = LinkScore(least=1.5), Table()
    assert PRUNED == teach(guide, table, "p", 0.25)
    assert 2.25 == teach(guide, table, "q", 0.0)


def test_least_is_inclusive() -> None:
    assert 1.5 == teach(LinkScore(least=1.5), Table(), "p", 0.5)


def test_url_optimisation_default_keeps_links_of_relevant_pages() -> None:
    """A link of a page at the threshold of .1 is kept; a single link of a less relevant page is pruned."""
    assert 1.1 == getattr(estimator("url-optimisation"), "least", None)
    links = {"a": "bc", "b": "d", "c": "e"}
    beta = {"a": 0.2, "b": 0.09, "c": 0.11}
    assert "abce" == order("url-optimisation", links, relevance=beta)
    assert "abced" == order("link-score", links, relevance=beta)


@pytest.mark.paper("personalized-irrelevant-links")
def test_levels_limit_irrelevant_pages_in_a_row() -> None:
    links = {"a": "b", "b": "c", "c": "d"}
    assert ["ab", "abc", "abcd"] == [
        order(f"link-score{levels},threshold=.5", links, relevance={"a": 1.0})
        for levels in (",levels=0", ",levels=1", "")
    ]


def test_levels_restart_at_relevant_page() -> None:
    links = dict(zip("abcdef", "bcdefg", strict=True))
    assert "abcde" == order("link-score,levels=1,threshold=.5", links, relevance={"a": 1.0, "c": 1.0})


def test_crawl_prefers_more_parents() -> None:
    assert "abdc" == order("link-score", {"a": "bcd", "b": "d"}, alpha={("a", "b"): 0.5})
