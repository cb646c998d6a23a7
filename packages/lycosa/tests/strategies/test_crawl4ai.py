"""crawl4ai's best-first: words in the address, depth among equals, ten at a time."""

import pytest

from lycosa.core.composite import Batched
from lycosa.core.frontier import PRUNED
from lycosa.core.table import Table
from lycosa.core.types import Links, Visit
from lycosa.strategies import strategy
from lycosa.strategies.crawl4ai import NEARER, Crawl4Ai, keywords
from teaching import redirect, score, see, teach


def test_the_share_of_words_in_the_address() -> None:
    """Of coral, reef and sea: 2 of 3 in /coral_Reefs (as parts, in any case), 1 of 3 in /searching, decoded 3 of 3."""
    guide, table = Crawl4Ai(words="coral reef sea"), Table()
    addresses = ("http://x.test/coral_Reefs", "http://x.test/searching", "http://x.test/%53ea%20Coral/reef")
    teach(guide, table, "p", 0.9, *addresses)
    assert [2 / 3, 1 / 3, 3 / 3] == pytest.approx(score(guide, table, *addresses))


def test_neither_page_nor_anchor_counts() -> None:
    """Whatever the page and the links' alphas say, addresses without a word are worth nothing but their depth, 1."""
    guide, table = Crawl4Ai(words="coral"), Table()
    teach(guide, table, "p", 1.0, x=1.0)
    assert [-NEARER] == score(guide, table, "x")


def test_upper_and_lower_case() -> None:
    """case_sensitive=yes: coral is not in /Coral."""
    guide, table = Crawl4Ai(words="coral", case_sensitive=True), Table()
    teach(guide, table, "p", 0.0, "/Coral", "/coral")
    assert [-NEARER, 1 - NEARER] == score(guide, table, "/Coral", "/coral")


def test_nearest_to_a_seed_first_among_equals() -> None:
    """c is two links from the seed and d one: both have the word, and d comes first; of fewer words depth says nothing.

    c: 1 - 2e-9, d: 1 - 1e-9, e (no word, one link): 0 - 1e-9.
    """
    guide, table = Crawl4Ai(words="reef"), Table()
    teach(guide, table, "p", 0.0, "b", "d/reef", "e")
    see(guide, table, Visit("b", "page", "ok", 2, links=Links.to("c/reef")))
    c, d, e = score(guide, table, "c/reef", "d/reef", "e")
    assert [1 - 2e-9, 1 - 1e-9, -1e-9] == pytest.approx([c, d, e], abs=1e-12)
    assert d > c > e


def test_the_greatest_depth() -> None:
    """max_depth=0 leaves the links of seeds alone, max_depth=1 follows them."""
    for depth, expected in ((0, PRUNED), (1, -NEARER)):
        guide, table = Crawl4Ai(max_depth=depth), Table()
        teach(guide, table, "p", 0.0, "x")
        assert [expected] == score(guide, table, "x")


def test_what_has_moved() -> None:
    """The target of a redirect has the words of its own address and of the one that led there, whichever are more."""
    guide, table = Crawl4Ai(words="reef coral"), Table()
    teach(guide, table, "p", 0.0, "/reef")
    redirect(guide, table, "/reef", "/17")
    assert score(guide, table, "/reef") == score(guide, table, "/17") == [0.5 - NEARER]


def test_ten_at_a_time() -> None:
    """Its batch is 10 unless another is asked for."""
    ten = strategy("crawl4ai", words="coral")
    assert isinstance(ten, Batched)
    assert 10 == ten.batch
    assert not isinstance(strategy("crawl4ai,batch=1", words="coral"), Batched)


def test_keywords() -> None:
    """Words to avoid are no keywords, weights below 0 neither; without words all addresses are alike."""
    assert ["coral", "reef"] == keywords({"coral": 2.0, "reef": 0.5, "fish": -1.0})
    assert [] == keywords("-fish")
    guide, table = Crawl4Ai(), Table()
    teach(guide, table, "p", 0.0, "/coral", "/fish")
    assert [-NEARER, -NEARER] == score(guide, table, "/coral", "/fish")
