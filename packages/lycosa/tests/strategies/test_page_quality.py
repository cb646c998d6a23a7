"""Quality-prioritised crawling: a link is worth what the first or the worst page with it is worth, by hand."""

import pytest

from lycosa.core.table import Table
from lycosa.core.types import Links, Visit
from lycosa.strategies import estimator
from lycosa.strategies.page_quality import PageQuality
from teaching import order, redirect, score, see, seeded, teach


@pytest.mark.parametrize(("name", "expected"), [("qfirst", [0.5, 0.2]), ("qmin", [0.2, 0.2])])
def test_three_pages(name: str, expected: list[float]) -> None:
    """c is on pages of .5, .2 and .9, d on those of .2 and .9: the first said .5 and .2, the least is .2 and .2."""
    guide, table = estimator(name), Table()
    teach(guide, table, "p", 0.5, "c")
    teach(guide, table, "q", 0.2, "c", "d")
    assert ["c", "d"] == teach(guide, table, "r", 0.9, "c", "d")
    assert expected == score(guide, table, "c", "d")


def test_a_page_of_no_quality_has_spoken() -> None:
    """0 is a quality like others: nobody who comes later is the first, and nothing is less."""
    for name in ("qfirst", "qmin"):
        guide, table = estimator(name), Table()
        teach(guide, table, "p", 0.0, "c")
        teach(guide, table, "q", 0.7, "c")
        assert [0.0] == score(guide, table, "c")


def test_what_has_moved() -> None:
    """The target of a redirect takes over .5; one that page r has with .3 keeps .3 as its first, and as its least."""
    for kind, moved in (("qfirst", 0.5), ("qmin", 0.5)):
        guide, table = estimator(kind), Table()
        teach(guide, table, "p", 0.5, "c", "d")
        teach(guide, table, "r", 0.3, "t")
        redirect(guide, table, "c", "new")
        redirect(guide, table, "d", "t")
        assert [moved, 0.3] == score(guide, table, "new", "t")


def test_how_a_page_reads() -> None:
    """quality=text: .25 where that was noted, 1 where nothing was, whatever the judge says."""
    guide, table = PageQuality("first", "text"), seeded("p", "q")
    see(guide, table, Visit("p", "page", "ok", 1, relevance=0.9, data={"quality": 0.25}, links=Links.to("c")))
    see(guide, table, Visit("q", "page", "ok", 2, relevance=0.1, links=Links.to("d")))
    assert [0.25, 1.0] == score(guide, table, "c", "d")


def test_what_the_two_fetch() -> None:
    """a (.5) links to b, c and d; b (1) to e, c (0) to e as well: qfirst fetches e before d, qmin after it.

    Priorities: b, c, d .5 (from a), e 1 (from b). Both fetch b. qfirst: e. qmin: e, too, as c is still to come. With c
    as the second seed, 0 is known of e at once: min(0, 1).
    """
    links, scores = {"a": "bd", "b": "e", "c": "e"}, {"relevance": {"a": 0.5, "b": 1.0, "c": 0.0}}
    assert "acbde" == order("qmin", links, seeds="ac", **scores)
    assert "acbde" == order("qfirst", links, seeds="ac", **scores)  # c was the first with e
    assert "abed" == order("qfirst", links, **scores)
