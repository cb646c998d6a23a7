"""Naive Bayes on links: probabilities by hand, when scores are renewed, what is kept, and whole crawls."""

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
    """An estimator, its table, and pages that it has seen."""

    def __init__(self, **parameters: Any) -> None:
        self.bayes, self.table = NaiveBayesLinks(**{"threshold": 0.5, **parameters}), Table()

    def page(self, node: str, relevance: float, **links: str) -> list[str]:
        """See a page with links, each with its anchor; the nodes whose score may have changed."""
        self.table.add_seed(node)
        found = Links.to(*links, anchors=list(links.values()))
        return self.visit(Visit(node, "page", "ok", 1, relevance=relevance, links=found))

    def visit(self, visit: Visit) -> list[str]:
        """See a visit; the nodes whose score may have changed."""
        step = self.table.absorb(visit)
        assert step is not None
        return [self.table.nodes[row] for row in self.bayes.learn(step, self.table).tolist()]

    def priority(self, *nodes: str) -> list[float]:
        """The scores of some nodes."""
        rows = np.array([self.table.row_of[node] for node in nodes], np.int32)
        return list(self.bayes.priority(rows, self.table).tolist())

    def words(self, node: str) -> int:
        """How many words are kept of a node."""
        return int(np.count_nonzero(self.bayes.words_[self.table.row_of[node]]))


def taught(**parameters: Any) -> Trial:
    """Seen: two relevant pages, by links with (x1, coral) and (x2, coral, reef); an irrelevant one, by (x3, trains).

    The seed is relevant too, and has the word `start`. So V = 7 words: start, x1, x2, x3, coral, reef, train;
    n(relevant) = 1 + 2 + 3 = 6, n(irrelevant) = 2; 3 pages and 1.
    """
    update = Trial(period=1, **parameters)
    update.page("start", 1.0, x1="coral", x2="coral reef", x3="trains", n="corals", m="the train", q="unheard")
    update.page("x1", 1.0)
    update.page("x2", 0.5)
    update.page("x3", 0.49)
    return update


def probability(odds: float) -> Any:
    """What odds are as a probability."""
    return pytest.approx(odds / (1 + odds))


@pytest.mark.paper("personalized-nb-links")
def test_probabilities() -> None:
    """P(w | c) = (n(w, c) + 1) / (n(c) + 7), P(c) = (N(c) + 1) / 6; the single letters n, m and q are no words.

    coral: P = 3/13 and 1/9, train: 1/13 and 2/9, unheard of: left out; prior odds 4/6 : 2/6 = 2.
    """
    assert [
        probability(2 * (3 / 13) / (1 / 9)),
        probability(2 * (1 / 13) / (2 / 9)),
        probability(2),
    ] == taught().priority("n", "m", "q")


def test_smoothing() -> None:
    """With 1/2 in place of 1: coral 2.5 / (6 + 3.5) against .5 / (2 + 3.5); the prior stays as it is."""
    assert [probability(2 * (2.5 / 9.5) / (0.5 / 5.5))] == taught(smoothing=0.5).priority("n")


def test_each_word_counts_once() -> None:
    """A word that stands in address and anchor, or in two anchors, is one word."""
    update = taught()
    update.page("y", 0.0, coral="coral corals")
    update.page("z", 0.0, coral="Coral!")
    assert 1 == update.words("coral")


def test_words_of_several_anchors_join() -> None:
    """Each parent adds the words of its anchor to those of the address."""
    update = Trial()
    update.page("a", 0.0, x1="coral")
    update.page("b", 0.0, x1="reef")
    assert 3 == update.words("x1")


def test_before_there_are_two_classes() -> None:
    """As long as all pages are of one class, the mean of the best beta and the best alpha is the score."""
    update = Trial()
    links = Links.to("n", anchors=["coral"])
    links.link_relevances = np.array([0.25], np.float32)
    update.table.add_seed("a")
    update.visit(Visit("a", "page", "ok", 1, relevance=0.75, links=links))
    assert [(0.75 + 0.25) / 2, 0.0] == update.priority("n", "a")


def test_the_second_class_renews_all_scores() -> None:
    """When the first page of the other class is in, all open rows have a new score, whatever the period."""
    update = Trial(period=1000)
    update.page("a", 1.0, n="coral", m="trains", o="")
    update.page("b", 1.0)
    assert {"n", "m", "o"} <= set(update.page("c", 0.0))


def test_scores_are_renewed_in_periods() -> None:
    """After 1, 2, 4, 8 pages and so on, later after every 20; in between only the links of the page are returned."""
    update = Trial(period=20)
    update.page("p1", 1.0, n="coral")
    is_updated = [number for number in range(2, 82) if "n" in update.page(f"p{number}", number % 2)]
    assert [2, 4, 8, 16, 20, 40, 60, 80] == is_updated


def test_large_frontiers_are_renewed_less_often(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where one row may be scored anew for each page, 80 rows and more wait for 80 pages, not for 20."""
    monkeypatch.setattr(nb_links, "ROWS_A_PAGE", 1)
    update = Trial(period=20)
    update.page("p1", 1.0, **{f"n{number}": "coral" for number in range(60)})
    is_updated = [number for number in range(2, 78) if "n1" in update.page(f"p{number}", number % 2)]
    assert [2, 4, 8, 16] == is_updated


def test_links_below_the_least() -> None:
    """P(relevant) of m is 2 * (9/26) = .69 to 1, that is .41: pruned at .5, as n and q are not."""
    n, m, q = taught(least=0.5).priority("n", "m", "q")
    assert (True, PRUNED, True) == (n > 0.5, m, q > 0.5)


def test_failures_teach_nothing() -> None:
    """A page that could not be fetched counts for no class, and its words go; one to be tried again keeps them."""
    update = taught()
    update.visit(Visit("n", "page", "unreachable", 9, retry_at=1.0))
    assert 1 == update.words("n")
    update.visit(Visit("n", "page", "gone", 9))
    assert ([1, 3], 0) == (update.bayes.pages_.tolist(), update.words("n"))


def test_words_go_when_the_page_is_in() -> None:
    """Nothing is kept of a link that has been followed, nor of links back to it."""
    update = taught()
    update.page("y", 0.0, x1="coral")
    assert 0 == update.words("x1")


def test_words_are_few() -> None:
    """Of a link with long address and anchor 24 words are kept, of the address 12."""
    update = Trial()
    url = "http://example.org/" + "/".join(f"word{letter}" for letter in "abcdefghijklmnopqrst")
    update.table.add_seed("s")
    update.visit(Visit("s", "page", "ok", 1, links=Links.to(url, anchors=[""])))
    assert MAX_WORDS // 2 == update.words(url)
    anchor = " ".join(f"name{letter}" for letter in "abcdefghijklmnopqrst")
    update.table.add_seed("t")
    update.visit(Visit("t", "page", "ok", 1, links=Links.to(url, anchors=[anchor])))
    assert MAX_WORDS == update.words(url)


def test_a_redirect_takes_the_words_along() -> None:
    """The target scores what its source did, and what it turns out to be is counted for those words."""
    update = taught()
    before = update.priority("n")
    update.visit(Visit("n", "redirect", "redirect", 9, links=Links.to("target")))
    assert before == update.priority("target")
    update.page("target", 0.0)
    # coral: 3 / 13 against 2 / 10, as n(irrelevant) is 3 now; 3 pages against 2
    update.page("late", 0.6, o="coral")
    # and now n(relevant) is 7 and V is 8, with the word `late`; 4 pages against 2
    assert [probability((5 / 3) * (3 / 15) / (2 / 11))] == update.priority("o")


def test_certainty_does_not_overflow() -> None:
    """However much speaks for or against a link, the score is a number from 0 to 1."""
    update = Trial(period=1, smoothing=1e-300)
    anchor = " ".join(f"name{letter}" for letter in "abcdefghijklmnop")
    update.page("good", 1.0, g=anchor, h=anchor)
    update.page("g", 1.0)
    update.page("bad", 0.0, x="trains", y="trains")
    update.page("x", 0.0)
    assert all(math.isfinite(score) and 0 <= score <= 1 for score in update.priority("h", "y"))


def test_a_crawl_learns_what_to_follow() -> None:
    """Links are worth nothing to page and anchor; by their addresses, coral pages come before the trains."""
    names = [f"{kind}{number}" for number in "123456" for kind in ("train-x", "coral-x")]
    space = GraphSpace({"hub": names}, relevance={name: 1.0 for name in names if name.startswith("coral")})
    visits = crawl(SpaceJudge(), ["hub"], space=space, strategy="nb-links,threshold=.5,period=1", concurrency=1)
    order = [visit.node[:5] for visit in visits]
    # hub and the first train are irrelevant, the first coral is relevant: from then on it is known
    assert ["hub", "train"] + ["coral"] * 6 + ["train"] * 5 == order
