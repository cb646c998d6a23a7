"""Tests of naive Bayes on links: probabilities, updates, stored words, and whole crawls."""

import math
from typing import Any

import numpy as np
import pytest

from lycosa.core.frontier import PRUNED
from lycosa.core.table import Table
from lycosa.core.types import Links, Visit
from lycosa.crawling import crawl
from lycosa.judges.space_judge import SpaceJudge
from lycosa.spaces.graph import GraphSpace
from lycosa.strategies import nb_links
from lycosa.strategies.nb_links import MAX_WORDS, NaiveBayesLinks


class Trial:
    """Estimator and table, with helpers that feed pages."""

    def __init__(self, **parameters: Any) -> None:
        self.bayes, self.table = NaiveBayesLinks(**{"threshold": 0.5, **parameters}), Table()

    def page(self, node: str, relevance: float, **links: str) -> list[str]:
        """Feed a page with links and their anchors; return the nodes whose priority may have changed."""
        self.table.add_seed(node)
        found = Links.to(*links, anchors=list(links.values()))
        return self.visit(Visit(node, "page", "ok", 1, relevance=relevance, links=found))

    def visit(self, visit: Visit) -> list[str]:
        """Feed a visit; return the nodes whose priority may have changed."""
        step = self.table.absorb(visit)
        assert step is not None
        return [self.table.nodes[row] for row in self.bayes.learn(step, self.table).tolist()]

    def priority(self, *nodes: str) -> list[float]:
        """Return the priorities of some nodes."""
        rows = np.array([self.table.row_of[node] for node in nodes], np.int32)
        return list(self.bayes.priority(rows, self.table).tolist())

    def words(self, node: str) -> int:
        """Return the number of words stored for a node."""
        return int(np.count_nonzero(self.bayes.words_[self.table.row_of[node]]))


def taught(**parameters: Any) -> Trial:
    """Return a trial with relevant pages, linked by (x1, coral), (x2, coral, reef), an irrelevant one, (x3, trains).

    The seed is relevant too, with the word `start`. So there are V = 7 words: start, x1, x2, x3, coral, reef, train;
    n(relevant) = 1 + 2 + 3 = 6 words on 3 pages, n(irrelevant) = 2 words on 1 page.
    """
    update = Trial(period=1, **parameters)
    update.page("start", 1.0, x1="coral", x2="coral reef", x3="trains", n="corals", m="the train", q="unheard")
    update.page("x1", 1.0)
    update.page("x2", 0.5)
    update.page("x3", 0.49)
    return update


def probability(odds: float) -> Any:
    """Return the probability of these odds."""
    return pytest.approx(odds / (1 + odds))


@pytest.mark.paper("personalized-nb-links")
def test_probabilities_by_hand() -> None:
    """P(w | c) = (n(w, c) + 1) / (n(c) + 7), P(c) = (N(c) + 1) / 6; the single letters n, m and q are not words.

    coral: 3/13 and 1/9; train: 1/13 and 2/9; unknown words are ignored; prior odds are 4/6 : 2/6 = 2.
    """
    assert [
        probability(2 * (3 / 13) / (1 / 9)),
        probability(2 * (1 / 13) / (2 / 9)),
        probability(2),
    ] == taught().priority("n", "m", "q")


def test_smoothing_by_hand() -> None:
    """With smoothing 1/2, coral has 2.5 / (6 + 3.5) against .5 / (2 + 3.5); the prior is unchanged."""
    assert [probability(2 * (2.5 / 9.5) / (0.5 / 5.5))] == taught(smoothing=0.5).priority("n")


def test_words_count_once_per_link() -> None:
    update = taught()
    update.page("y", 0.0, coral="coral corals")
    update.page("z", 0.0, coral="Coral!")
    assert 1 == update.words("coral")


def test_words_of_several_anchors_are_merged() -> None:
    update = Trial()
    update.page("a", 0.0, x1="coral")
    update.page("b", 0.0, x1="reef")
    assert 3 == update.words("x1")


def test_priority_before_second_class_is_mean_of_page_and_anchor() -> None:
    update = Trial()
    links = Links.to("n", anchors=["coral"])
    links.link_relevances = np.array([0.25], np.float32)
    update.table.add_seed("a")
    update.visit(Visit("a", "page", "ok", 1, relevance=0.75, links=links))
    assert [(0.75 + 0.25) / 2, 0.0] == update.priority("n", "a")


def test_second_class_updates_all_priorities() -> None:
    update = Trial(period=1000)
    update.page("a", 1.0, n="coral", m="trains", o="")
    update.page("b", 1.0)
    assert {"n", "m", "o"} <= set(update.page("c", 0.0))


def test_priorities_are_updated_in_periods() -> None:
    """All open links are updated after 1, 2, 4, 8 ... pages, then every 20; in between only the links of the page."""
    update = Trial(period=20)
    update.page("p1", 1.0, n="coral")
    is_updated = [number for number in range(2, 82) if "n" in update.page(f"p{number}", number % 2)]
    assert [2, 4, 8, 16, 20, 40, 60, 80] == is_updated


def test_large_frontiers_are_updated_less_often(monkeypatch: pytest.MonkeyPatch) -> None:
    """With a limit of one row per page, 80 rows are updated after 80 pages, not after 20."""
    monkeypatch.setattr(nb_links, "ROWS_PER_PAGE", 1)
    update = Trial(period=20)
    update.page("p1", 1.0, **{f"n{number}": "coral" for number in range(60)})
    is_updated = [number for number in range(2, 78) if "n1" in update.page(f"p{number}", number % 2)]
    assert [2, 4, 8, 16] == is_updated


def test_least_prunes_links_below() -> None:
    """The odds of m are 2 * (9/26) = .69, a probability of .41: pruned at .5, as are n and q."""
    n, m, q = taught(least=0.5).priority("n", "m", "q")
    assert (True, PRUNED, True) == (n > 0.5, m, q > 0.5)


def test_failures_are_not_counted() -> None:
    update = taught()
    update.visit(Visit("n", "page", "unreachable", 9, retry_at=1.0))
    assert 1 == update.words("n")
    update.visit(Visit("n", "page", "gone", 9))
    assert ([1, 3], 0) == (update.bayes.pages_.tolist(), update.words("n"))


def test_words_are_dropped_after_visit() -> None:
    update = taught()
    update.page("y", 0.0, x1="coral")
    assert 0 == update.words("x1")


def test_words_per_link_are_limited() -> None:
    """At most 24 words are kept per link, 12 of them from the URL."""
    update = Trial()
    url = "http://example.org/" + "/".join(f"word{letter}" for letter in "abcdefghijklmnopqrst")
    update.table.add_seed("s")
    update.visit(Visit("s", "page", "ok", 1, links=Links.to(url, anchors=[""])))
    assert MAX_WORDS // 2 == update.words(url)
    anchor = " ".join(f"name{letter}" for letter in "abcdefghijklmnopqrst")
    update.table.add_seed("t")
    update.visit(Visit("t", "page", "ok", 1, links=Links.to(url, anchors=[anchor])))
    assert MAX_WORDS == update.words(url)


def test_redirect_inherits_words() -> None:
    update = taught()
    before = update.priority("n")
    update.visit(Visit("n", "redirect", "redirect", 9, links=Links.to("target")))
    assert before == update.priority("target")
    update.page("target", 0.0)
    # coral: 3/13 against 2/10, as n(irrelevant) is now 3; 3 pages against 2
    update.page("late", 0.6, o="coral")
    # n(relevant) is now 7 and V is 8, with the word `late`; 4 pages against 2
    assert [probability((5 / 3) * (3 / 15) / (2 / 11))] == update.priority("o")


def test_probability_does_not_overflow() -> None:
    update = Trial(period=1, smoothing=1e-300)
    anchor = " ".join(f"name{letter}" for letter in "abcdefghijklmnop")
    update.page("good", 1.0, g=anchor, h=anchor)
    update.page("g", 1.0)
    update.page("bad", 0.0, x="trains", y="trains")
    update.page("x", 0.0)
    assert all(math.isfinite(score) and 0 <= score <= 1 for score in update.priority("h", "y"))


def test_crawl_learns_from_urls() -> None:
    names = [f"{kind}{number}" for number in "123456" for kind in ("train-x", "coral-x")]
    space = GraphSpace({"hub": names}, relevance={name: 1.0 for name in names if name.startswith("coral")})
    visits = crawl(SpaceJudge(), ["hub"], space=space, strategy="nb-links,threshold=.5,period=1", concurrency=1)
    order = [visit.node[:5] for visit in visits]
    # The hub and the first train page are irrelevant; the first coral page is relevant.
    assert ["hub", "train"] + ["coral"] * 6 + ["train"] * 5 == order
