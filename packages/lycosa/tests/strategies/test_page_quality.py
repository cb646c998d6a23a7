"""Tests of quality-prioritised crawling."""

import pytest

from lycosa.core.table import Table
from lycosa.core.types import Links, Visit
from lycosa.strategies import estimator
from lycosa.strategies.page_quality import PageQuality
from teaching import order, redirect, score, see, seeded, teach


@pytest.mark.parametrize(("name", "expected"), [("qfirst", [0.5, 0.2]), ("qmin", [0.2, 0.2])])
def test_priority_is_first_or_minimum(name: str, expected: list[float]) -> None:
    """Link c is on pages of quality .5, .2 and .9, link d on pages of .2 and .9: first .5 and .2, minimum .2 and .2."""
    strategy, table = estimator(name), Table()
    teach(strategy, table, "p", 0.5, "c")
    teach(strategy, table, "q", 0.2, "c", "d")
    assert ["c", "d"] == teach(strategy, table, "r", 0.9, "c", "d")
    assert expected == score(strategy, table, "c", "d")


def test_priority_keeps_quality_0() -> None:
    for name in ("qfirst", "qmin"):
        strategy, table = estimator(name), Table()
        teach(strategy, table, "p", 0.0, "c")
        teach(strategy, table, "q", 0.7, "c")
        assert [0.0] == score(strategy, table, "c")


def test_redirect_passes_on_quality() -> None:
    """A redirect target inherits .5, but keeps .3 if a page of .3 links to it, as first and as minimum."""
    for kind, moved in (("qfirst", 0.5), ("qmin", 0.5)):
        strategy, table = estimator(kind), Table()
        teach(strategy, table, "p", 0.5, "c", "d")
        teach(strategy, table, "r", 0.3, "t")
        redirect(strategy, table, "c", "new")
        redirect(strategy, table, "d", "t")
        assert [moved, 0.3] == score(strategy, table, "new", "t")


def test_text_quality_defaults_to_1() -> None:
    strategy, table = PageQuality("first", "text"), seeded("p", "q")
    see(strategy, table, Visit("p", "page", "ok", 1, relevance=0.9, data={"quality": 0.25}, links=Links.to("c")))
    see(strategy, table, Visit("q", "page", "ok", 2, relevance=0.1, links=Links.to("d")))
    assert [0.25, 1.0] == score(strategy, table, "c", "d")


def test_crawl_order_of_qfirst_and_qmin() -> None:
    """Both fetch b first and then e: b, c and d have .5 (from a), e has 1 (from b), as c is not fetched yet.

    With c as the second seed, the minimum of e is min(0, 1) = 0.
    """
    links, scores = {"a": "bd", "b": "e", "c": "e"}, {"relevance": {"a": 0.5, "b": 1.0, "c": 0.0}}
    assert "acbde" == order("qmin", links, seeds="ac", **scores)
    assert "acbde" == order("qfirst", links, seeds="ac", **scores)  # c is the first page with a link to e
    assert "abed" == order("qfirst", links, **scores)
