"""Tests of crawl4ai's best-first: words in the URL, depth as tie-break, batches of ten."""

import pytest

from lycosa.core.composite import Batched
from lycosa.core.frontier import PRUNED
from lycosa.core.table import Table
from lycosa.core.types import Links, Visit
from lycosa.strategies import strategy
from lycosa.strategies.crawl4ai import NEARER, Crawl4Ai, keywords
from teaching import redirect, score, see, teach


def test_priority_is_share_of_words_in_url() -> None:
    """Priority is the share of coral, reef, sea in the decoded URL: 2/3 in /coral_Reefs, 1/3 in /searching."""
    strategy, table = Crawl4Ai(words="coral reef sea"), Table()
    addresses = ("http://x.test/coral_Reefs", "http://x.test/searching", "http://x.test/%53ea%20Coral/reef")
    teach(strategy, table, "p", 0.9, *addresses)
    assert [2 / 3, 1 / 3, 3 / 3] == pytest.approx(score(strategy, table, *addresses))


def test_priority_ignores_page_and_anchor() -> None:
    strategy, table = Crawl4Ai(words="coral"), Table()
    teach(strategy, table, "p", 1.0, x=1.0)
    assert [-NEARER] == score(strategy, table, "x")


def test_case_sensitive_matches_exact_case() -> None:
    strategy, table = Crawl4Ai(words="coral", case_sensitive=True), Table()
    teach(strategy, table, "p", 0.0, "/Coral", "/coral")
    assert [-NEARER, 1 - NEARER] == score(strategy, table, "/Coral", "/coral")


def test_ties_prefer_links_near_seed() -> None:
    """Depth breaks ties but does not outweigh a word: d (one link from the seed) comes before c (two), both before e.

    Priorities: c 1 - 2e-9, d 1 - 1e-9, e (no word, one link) 0 - 1e-9.
    """
    strategy, table = Crawl4Ai(words="reef"), Table()
    teach(strategy, table, "p", 0.0, "b", "d/reef", "e")
    see(strategy, table, Visit("b", "page", "ok", 2, links=Links.to("c/reef")))
    c, d, e = score(strategy, table, "c/reef", "d/reef", "e")
    assert [1 - 2e-9, 1 - 1e-9, -1e-9] == pytest.approx([c, d, e], abs=1e-12)
    assert d > c > e


def test_max_depth_prunes_deeper_links() -> None:
    """With max_depth=0 the links of seeds are pruned; with max_depth=1 they are followed."""
    for depth, expected in ((0, PRUNED), (1, -NEARER)):
        strategy, table = Crawl4Ai(max_depth=depth), Table()
        teach(strategy, table, "p", 0.0, "x")
        assert [expected] == score(strategy, table, "x")


def test_redirect_keeps_larger_share() -> None:
    strategy, table = Crawl4Ai(words="reef coral"), Table()
    teach(strategy, table, "p", 0.0, "/reef")
    redirect(strategy, table, "/reef", "/17")
    assert score(strategy, table, "/reef") == score(strategy, table, "/17") == [0.5 - NEARER]


def test_batch_default_is_10() -> None:
    ten = strategy("crawl4ai", words="coral")
    assert isinstance(ten, Batched)
    assert 10 == ten.batch
    assert not isinstance(strategy("crawl4ai,batch=1", words="coral"), Batched)


def test_keywords_exclude_words_to_avoid() -> None:
    """Words with negative weights are excluded, too; without words all URLs tie."""
    assert ["coral", "reef"] == keywords({"coral": 2.0, "reef": 0.5, "fish": -1.0})
    assert [] == keywords("-fish")
    strategy, table = Crawl4Ai(), Table()
    teach(strategy, table, "p", 0.0, "/coral", "/fish")
    assert [-NEARER, -NEARER] == score(strategy, table, "/coral", "/fish")
