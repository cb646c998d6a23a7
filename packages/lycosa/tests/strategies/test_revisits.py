"""What strategies make of a page that is visited again: its new links join, and nothing is learned twice."""

from __future__ import annotations

import random
from typing import Any

import numpy as np
import pytest

from lycosa.checks.estimators import a_crawl_with_revisits_can_be_resumed, a_page_visited_again
from lycosa.checks.failing import CheckFailed, passed
from lycosa.checks.strategy_checks import pages_visited_again
from lycosa.core.composite import Batched, Greedy
from lycosa.core.frontier import PRUNED
from lycosa.core.table import Table
from lycosa.core.types import Links, Rows, Step, Terms, Visit
from lycosa.strategies.anchors import SsrmStrategy
from lycosa.strategies.bandit import Bandit
from lycosa.strategies.baselines import BreadthFirst, OutLinks
from lycosa.strategies.best_first import BestFirst
from lycosa.strategies.cash import CashFlow, Opic
from lycosa.strategies.first_level import FirstLevel, SecondLevel
from lycosa.strategies.fish_search import FishSearch
from lycosa.strategies.focus import Apprentice
from lycosa.strategies.interclass_rules import InterclassRules
from lycosa.strategies.nb_links import NaiveBayesLinks
from lycosa.strategies.opic_alpha import OpicAlpha
from lycosa.strategies.oracle import Oracle
from lycosa.strategies.otie import Otie
from lycosa.strategies.personalised import Personalised
from lycosa.strategies.ranks import NavigationalRank, PageRank
from lycosa.strategies.redirects import Redirects
from lycosa.strategies.regression import Regression
from lycosa.strategies.rulebook import RuleBook
from lycosa.strategies.scent import Scent
from lycosa.text.ontology import Ontology

REEFS = Ontology.build({"reef": ["reef"], "coral": ["coral"]}, broader=[("coral", "reef")])


class Deaf(BestFirst):
    """Looks at pages only."""

    def learn(self, step: Step, table: Table) -> Rows:
        rows = super().learn(step, table)
        return rows if step.visit.kind != "revisit" else rows[:0]


class Once(BestFirst):
    """Takes for granted that a page comes once."""

    def learn(self, step: Step, table: Table) -> Rows:
        met = self.__dict__.setdefault("met_", set())
        if step.visit.is_version and step.row in met:
            raise KeyError(step.row)
        met.add(step.row)
        return super().learn(step, table)


CHANCE = random.Random(3)


class Whimsical(BestFirst):
    """Ranks the links of a page that comes again by something that no log knows."""

    def learn(self, step: Step, table: Table) -> Rows:
        if step.visit.follows:
            step.visit.relevance = CHANCE.random()
        return super().learn(step, table)


@pytest.mark.parametrize("make", [Deaf, Once])
def test_an_estimator_that_does_not_expect_revisits_fails(make: Any) -> None:
    """One that misses the new links, or trips over a second visit, is told so by the checks."""
    with pytest.raises(CheckFailed, match="a_page_visited_again"):
        passed(a_page_visited_again, make)


def test_one_that_can_not_be_resumed_fails() -> None:
    """What is learned from a revisit has to be in it."""
    with pytest.raises(CheckFailed, match="a_crawl_with_revisits_can_be_resumed"):
        passed(a_crawl_with_revisits_can_be_resumed, Whimsical)
    with pytest.raises(CheckFailed, match="pages_visited_again"):
        passed(pages_visited_again, lambda: Greedy(Whimsical()))


class Crawl:
    """A table and an estimator over it, played by hand."""

    def __init__(self, estimator: Any, *seeds: str) -> None:
        self.estimator, self.table = estimator, Table()
        self.stems: dict[str, int] = {}
        for seed in seeds or "a":
            self.table.add_seed(seed)

    def page(self, node: str, beta: float, links: dict[str, float], again: bool = False, **more: Any) -> list[str]:
        """See a page, or a version of it; the nodes whose score may have changed."""
        visit = Visit(node, "revisit" if again else "page", "ok", 1, relevance=beta, links=Links.to(*links), **more)
        visit.links.link_relevances[:] = list(links.values())
        visit.data = {**visit.data, "follows": 1.0} if again else visit.data
        return self.learn(visit)

    def move(self, node: str, target: str) -> list[str]:
        """See that a page has moved."""
        return self.learn(Visit(node, "revisit", "redirect", 1, links=Links.to(target), data={"follows": 1.0}))

    def learn(self, visit: Visit) -> list[str]:
        """Fold a visit, as the engine does."""
        step = self.table.absorb(visit)
        rows = [] if step is None else self.estimator.learn(step, self.table).tolist()
        return [self.table.nodes[row] for row in rows]

    def score(self, *nodes: str) -> list[Any]:
        """What nodes are worth."""
        rows = np.array([self.table.row_of[node] for node in nodes], np.int32)
        return [pytest.approx(score) for score in self.estimator.priority(rows, self.table).tolist()]

    def words(self, *words: str) -> Terms:
        """The words of a page, each once."""
        known = len(self.stems)
        ids = sorted(self.stems.setdefault(word, len(self.stems)) for word in words)
        return Terms(np.array(ids, np.uint32), np.ones(len(ids), np.uint16), list(self.stems)[known:])


def test_best_first_goes_by_what_the_page_is_now() -> None:
    """(.8 + .4) / 2 for what was there, (.2 + 1) / 2 for what is new; what was there is not said again."""
    crawl = Crawl(BestFirst(merge="sum"))
    crawl.page("a", 0.8, {"b": 0.4})
    assert ["c"] == crawl.page("a", 0.2, {"b": 0.9, "c": 1.0}, again=True)
    assert [0.6, 0.6] == crawl.priority("b", "c")


def test_sums_over_parents_have_each_parent_once() -> None:
    """fl_n of b stays at .8 when its page comes again with .5, and c, which is new, has .5."""
    crawl = Crawl(FirstLevel("n", smooth=False))
    crawl.page("a", 0.8, {"b": 0.0})
    crawl.page("a", 0.5, {"b": 0.0, "c": 0.0}, again=True)
    assert [0.8, 0.5] == crawl.priority("b", "c")


def test_siblings_hear_of_new_links() -> None:
    """c is new beside b (fetched, .5) and d is new and fetched (.25): c has .5 + .25, and the old link e .25 more."""
    crawl = Crawl(SecondLevel("n", smooth=False), "a", "d")
    crawl.page("d", 0.25, {})
    crawl.page("a", 0.8, {"b": 0.0, "e": 0.0})
    crawl.page("b", 0.5, {})
    assert [0.5] == crawl.priority("e")
    assert ["c", "d", "e"] == sorted(crawl.page("a", 0.1, {"b": 0.0, "c": 0.0, "d": 0.0}, again=True))
    assert [0.5 + 0.25, 0.5 + 0.25] == crawl.priority("c", "e")


def test_a_regression_is_not_trained_twice() -> None:
    """The weights after a revisit are those before it, whatever the page is worth now."""
    crawl = Crawl(Regression())
    crawl.page("a", 0.8, {"b": 0.4})
    crawl.page("b", 0.5, {"c": 0.1})
    before = crawl.estimator.weights_.tolist()
    crawl.page("b", 0.9, {"c": 0.1, "d": 0.3}, again=True)
    assert before == crawl.estimator.weights_.tolist()


def test_links_are_counted_as_the_page_has_them_now() -> None:
    """out-links: a page of two links that has three now, one of them new, was found among three."""
    crawl = Crawl(OutLinks())
    crawl.page("a", 0.0, {"b": 0.0, "c": 0.0})
    crawl.page("a", 0.0, {"b": 0.0, "d": 0.0, "c": 0.0}, again=True)
    assert [2.0, 2.0, 3.0] == crawl.priority("b", "c", "d")


def test_fish_look_at_the_place_on_the_page() -> None:
    """With a width of 1 the first link of an irrelevant page is likely, new or not; a new one behind it is not."""
    crawl = Crawl(FishSearch(width=1, threshold=0.5))
    crawl.page("a", 0.0, {"b": 0.0})
    crawl.page("a", 0.0, {"b": 0.0, "c": 0.0}, again=True)
    crawl.page("a", 0.0, {"d": 0.0, "b": 0.0}, again=True)
    assert [0.5, 0.0, 0.5] == crawl.priority("b", "c", "d")


def test_a_page_that_left_the_topic_leads_nowhere() -> None:
    """New links of a page that was relevant and is no more are pruned, those of one that became so join."""
    crawl = Crawl(Personalised(threshold=0.5), "a", "x")
    crawl.page("a", 0.8, {"b": 0.0})
    crawl.page("x", 0.0, {"y": 0.0})
    crawl.page("a", 0.1, {"b": 0.0, "c": 0.0}, again=True)
    crawl.page("x", 0.9, {"z": 0.0}, again=True)
    assert [-1.0, PRUNED, PRUNED, -2.0] == crawl.priority("b", "y", "c", "z")


def test_a_share_of_pagerank_for_each_link() -> None:
    """A page with two links that gets a third hands it a third of its rank, times the damping."""
    crawl = Crawl(PageRank())
    crawl.page("a", 0.0, {"b": 0.0, "c": 0.0})
    rank = float(crawl.estimator.base_ + crawl.estimator.gain_[0])
    crawl.page("a", 0.0, {"b": 0.0, "c": 0.0, "d": 0.0}, again=True)
    assert [crawl.estimator.base_ + 0.85 * rank / 3] == crawl.priority("d")


def test_ranks_add_up_when_a_page_has_moved() -> None:
    """A page that had links and moved is a node still: the surfer is somewhere."""
    crawl = Crawl(PageRank(period=1))
    crawl.page("a", 0.0, {"b": 0.0, "c": 0.0})
    crawl.page("b", 0.0, {"c": 0.0, "d": 0.0})
    crawl.move("b", "e")
    assert pytest.approx(1.0, abs=1e-9) == sum(
        float(score.expected) for score in crawl.priority("a", "b", "c", "d", "e")
    )


def test_navigational_rank_at_a_revisit_is_that_of_the_graph() -> None:
    """Period 1 is the definition; between two periods a new link gets NR1 / d_o with all links counted.

    NR1(a) = .5 * .8 = .4, and NR2(b) = .5 * .4 / 1. Then a has .2 and two links: NR1 = .1, and NR2(c) = .5 * .1 / 2.
    """
    crawl = Crawl(NavigationalRank(period=100))
    crawl.page("a", 0.8, {"b": 0.0})
    assert [0.2] == crawl.priority("b")
    crawl.page("a", 0.2, {"b": 0.0, "c": 0.0}, again=True)
    assert [0.2, 0.025] == crawl.priority("b", "c")
    whole = Crawl(NavigationalRank(period=1))
    whole.page("a", 0.8, {"b": 0.0})
    whole.page("a", 0.2, {"b": 0.0, "c": 0.0}, again=True)
    assert [0.025, 0.025] == whole.priority("b", "c")


def balanced(flow: CashFlow) -> bool:
    """Whether rows and pool hold what seeds brought and revisions made of it."""
    return bool(np.isclose(float(flow.cash_.sum()) + flow.pool_, flow.brought_ + flow.revised_, rtol=1e-12))


def test_opic_gives_again_to_all_links() -> None:
    """a gives 1 to b; b gives half of it back. Visited again, a gives that 1/2 to b (fetched) and c, a half each."""
    crawl = Crawl(Opic(period=0))
    crawl.page("a", 0.0, {"b": 0.0})
    crawl.page("b", 0.0, {"a": 0.0, "x": 0.0})
    assert [0.5, 0.5] == crawl.priority("a", "x")
    assert ["b", "c"] == crawl.page("a", 0.0, {"b": 0.0, "c": 0.0}, again=True)
    assert [0.0, 0.25, 0.25, 0.5] == crawl.priority("a", "b", "c", "x")
    assert pytest.approx(1.0) == crawl.estimator.total(crawl.table)
    assert balanced(crawl.estimator)


def test_cash_of_a_seed_that_moves_is_not_made_again() -> None:
    """A seed's share is spent: the target, which is a seed to the table, has what its source was given since."""
    crawl = Crawl(Opic(period=0))
    crawl.page("a", 0.0, {"b": 0.0})
    crawl.page("b", 0.0, {"a": 0.0})
    assert ["z"] == crawl.move("a", "z")
    assert [] == crawl.move("a", "z")  # once
    assert [0.0, 1.0] == crawl.priority("a", "z")
    assert crawl.table.is_seed[crawl.table.row_of["z"]]
    assert pytest.approx(1.0) == crawl.estimator.total(crawl.table)
    crawl.page("z", 0.0, {"b": 0.0, "c": 0.0})
    assert 1 == len(crawl.estimator.seeds_)
    assert pytest.approx(1.0) == crawl.estimator.total(crawl.table)
    assert balanced(crawl.estimator)


def test_a_dead_end_that_has_links_at_last() -> None:
    """A page that was gone paid into the pool; back again it has nothing to give, but keeps what it gets."""
    crawl = Crawl(Opic(period=0), "a", "b")
    crawl.learn(Visit("a", "page", "gone", 1))
    assert 1.0 == crawl.estimator.pool_
    crawl.page("a", 0.0, {"c": 0.0}, again=True)
    crawl.page("b", 0.0, {"a": 0.0})
    assert [1.0, 0.0] == crawl.priority("a", "c")
    assert balanced(crawl.estimator)


def test_otie_revises_by_what_the_page_is_now() -> None:
    """a = .85, d = 3, scale none: 1.85 goes to b, which is worth 1: 1.85^2 come back. Now a is worth 0: .15 of that.

    Eq. 2 shares it by beta of b, which is 1, and by .25 * 0 + .75 * 1 of the new link: 4 parts to 3.
    """
    crawl = Crawl(Otie(period=0, scale="none"))
    crawl.page("a", 1.0, {"b": 1.0})
    crawl.page("b", 1.0, {"a": 1.0})
    assert [1.85**2] == crawl.priority("a")
    crawl.page("a", 0.0, {"b": 1.0, "c": 1.0}, again=True)
    left = 0.15 * 1.85**2
    assert [0.0, left * 4 / 7, left * 3 / 7] == crawl.priority("a", "b", "c")
    assert balanced(crawl.estimator)


@pytest.mark.parametrize("flow", [Opic(period=3), Otie(period=3)])
def test_no_cash_is_lost_or_made_however_pages_come_and_go(flow: CashFlow) -> None:
    """300 visits in any order: pages, failures and redirects, of old pages new versions, moves and returns."""
    chance, names = random.Random(5), [f"n{number}" for number in range(60)]
    crawl = Crawl(flow, *names[:3])
    seen: set[str] = set()
    for number in range(300):
        node = chance.choice(crawl.table.nodes)
        again, turn = node in seen, chance.random()
        seen.add(node)
        if turn < 0.2:
            target = chance.choice([*names, f"m{number}"])
            data, kind = ({"follows": 1.0}, "revisit") if again else ({}, "redirect")
            crawl.learn(Visit(node, kind, "redirect", 1, links=Links.to(target), data=data))  # type: ignore[arg-type]
        elif turn < 0.3 and not again:
            crawl.learn(Visit(node, "page", "gone", 1))
        else:
            links = {name: chance.random() for name in chance.sample(names, chance.randrange(5))}
            crawl.page(node, chance.random(), links, again)
        assert balanced(flow)
        assert (flow.cash_ >= 0).all()


def test_cash_with_history_is_one_node_when_a_page_moves() -> None:
    """H + C of a page goes to where it moved: a has given its 1 (H = 1), was given 1 since, and the target has 2."""
    crawl = Crawl(OpicAlpha())
    crawl.page("a", 0.0, {"b": 0.0})  # b: 1 + 1
    crawl.page("b", 0.0, {"a": 0.0})  # a: 0 + 2
    before = crawl.priority("a")
    crawl.move("a", "z")
    assert [3.0] == before == crawl.priority("z")
    assert [0.0] == crawl.priority("a")


def test_cash_with_history_is_given_to_all_links() -> None:
    """a was given 2 by b; visited again it gives C(u) parts of it: b has 0 left, c is new and has 1."""
    crawl = Crawl(OpicAlpha())
    crawl.page("a", 0.0, {"b": 0.5})
    crawl.page("b", 0.0, {"a": 0.5})
    assert ["c", "b", "c"] == crawl.page("a", 0.0, {"b": 0.5, "c": 0.5}, again=True)
    assert [1.0 + 2.0, 2.0, 1.0 + 2.0] == crawl.priority("a", "b", "c")


def test_a_bandit_is_not_paid_for_a_revisit() -> None:
    """Whatever its arm, a revisit is no pull and no reward."""
    bandit, table = Bandit(arms=("fl_n", "fl_deg"), policy="epsilon"), Table()
    frontier = bandit.frontier(table, lambda host_key: (0.0, ""))
    bandit.admit(table.add_seed("a"), table, frontier)
    for visit in (
        Visit("a", "page", "ok", 1, links=Links.to("b")),
        Visit("b", "page", "ok", 2, relevance=0.5, arm="fl_n"),
        Visit("b", "revisit", "ok", 3, relevance=1.0, arm="fl_n", links=Links.to("c"), data={"follows": 1.0}),
    ):
        step = table.absorb(visit)
        assert step is not None
        bandit.learn(step, table, frontier)
    assert [1, 0] == bandit.pulls_
    assert [0.5, 0.0] == [float(mean) for mean in bandit.means_]
    assert "c" == table.nodes[bandit.pick(4, frontier, 0.0).row]


def test_a_revisit_is_no_page_of_a_batch() -> None:
    """Of a batch of two, one page is left after a page and a revisit, of a seed at that; then both links join."""
    batched, table = Batched(Greedy(BreadthFirst()), 2), Table()
    frontier = batched.frontier(table, lambda host_key: (0.0, ""))
    batched.admit(table.add_seed("a"), table, frontier)
    ranked = []
    for visit in (
        Visit("a", "page", "ok", 1, links=Links.to("b", "c", "d")),
        Visit("b", "page", "ok", 2, links=Links.to("e")),
        Visit("a", "revisit", "ok", 3, links=Links.to("f"), data={"follows": 1.0}),
        Visit("c", "page", "ok", 4),
    ):
        step = table.absorb(visit)
        assert step is not None
        batched.learn(step, table, frontier)
        ranked.append(
            [node for node in "ef" if node in table.row_of and frontier.priority[table.row_of[node]] > -np.inf]
        )
    assert [[], [], [], ["e", "f"]] == ranked


def scent() -> Crawl:
    """A page that led to a good one, with words."""
    crawl = Crawl(Scent(words="coral", vectors=False), "http://a.test/")
    crawl.page("http://a.test/", 0.5, {"http://a.test/b": 0.5, "http://a.test/c": 0.0}, terms=crawl.words("coral"))
    crawl.page("http://a.test/b", 0.9, {"http://a.test/d": 0.1}, terms=crawl.words("coral", "reef"))
    return crawl


def test_scent_has_one_outcome_for_each_page() -> None:
    """A revisit changes no sum over pages, words and places: only its new link is read."""
    crawl = scent()
    known = crawl.estimator
    before = known.pages_, known.outcome_sum_, known.relevant_pages_, known.weights_.pages, known.outcomes_.pages
    groups = known.groups_.totals.copy()
    links = {"http://a.test/d": 0.1, "http://a.test/e": 0.7}
    assert "http://a.test/e" in crawl.page("http://a.test/b", 0.1, links, again=True, terms=crawl.words("coral", "sea"))
    assert before == (known.pages_, known.outcome_sum_, known.relevant_pages_, known.weights_.pages, known.outcomes_.pages)
    assert np.array_equal(groups, known.groups_.totals)


def test_scent_scores_a_new_link_as_one_of_its_page() -> None:
    """Beside a fetched link of outcome b, a new one knows its neighbour as an old one does."""
    crawl = scent()
    links = {"http://a.test/e": 0.0, "http://a.test/b": 0.5, "http://a.test/c": 0.0}
    crawl.page("http://a.test/", 0.5, links, again=True, terms=crawl.words("coral"))
    rows = np.array([crawl.table.row_of["http://a.test/c"], crawl.table.row_of["http://a.test/e"]])
    terms = crawl.estimator.terms(rows, crawl.table)
    assert terms["neighbours"][0] == terms["neighbours"][1] > 0


def test_scent_of_a_page_that_moved_after_it_was_fetched() -> None:
    """It has turned out already: where it is now, it teaches nothing again."""
    crawl = scent()
    crawl.move("http://a.test/b", "http://a.test/now")
    pages = crawl.estimator.pages_
    crawl.page("http://a.test/now", 0.9, {"http://a.test/x": 0.0}, terms=crawl.words("coral", "reef"))
    assert pages == crawl.estimator.pages_


def test_words_are_counted_once() -> None:
    """A strategy that learns idf counts a page once, and knows the new words of its later versions."""
    crawl = Crawl(SsrmStrategy(words="reef", ontology=REEFS))
    crawl.page("a", 0.5, {"b": 0.0}, terms=crawl.words("coral", "reef"))
    crawl.page("a", 0.5, {"b": 0.0, "c": 0.0}, again=True, terms=crawl.words("coral", "sea"))
    words = crawl.estimator.vocabulary_
    assert (1, ["coral", "reef", "sea"], [1, 1, 0]) == (words.pages, words.terms, words.frequency[:3].tolist())


def test_naive_bayes_is_taught_once() -> None:
    """Counts stay; a page that moved after it was fetched has the words of its new address."""
    crawl = Crawl(NaiveBayesLinks(threshold=0.5))
    crawl.page("a", 1.0, {"coral": 0.0, "trains": 0.0})
    crawl.page("coral", 1.0, {})
    crawl.page("trains", 0.0, {})
    counts, pages = crawl.estimator.counts_.copy(), crawl.estimator.pages_.tolist()
    crawl.page("coral", 0.0, {"reef": 0.0}, again=True)
    crawl.move("coral", "coral 2")
    assert pages == crawl.estimator.pages_.tolist()
    assert np.array_equal(counts, crawl.estimator.counts_)
    assert crawl.priority("coral 2")[0].expected > crawl.priority("reef")[0].expected


def test_the_apprentice_is_taught_once() -> None:
    """A second visit of a page is no second example."""
    crawl = Crawl(Apprentice(least=1))
    table, apprentice = crawl.table, crawl.estimator
    for visit in (
        Visit("a", "page", "ok", 1, links=Links.to("b", anchors=["coral"])),
        Visit("b", "page", "ok", 2, relevance=1.0),
        Visit("b", "revisit", "ok", 3, relevance=1.0, links=Links.to("c", anchors=["reef"]), data={"follows": 1.0}),
    ):
        step = table.absorb(visit)
        assert step is not None
        apprentice.learn(step, table)
    assert 1 == apprentice.pages_


def test_rules_are_refined_by_first_visits_only() -> None:
    """A revisit is no case more; the links of the page are those of the class that it has now."""
    book = RuleBook()
    book.add("CH", "PH", 4)
    book.add("DH", "CH", 4)
    crawl = Crawl(InterclassRules(book, ("PH",), refine=True))
    crawl.page("a", 0.1, {"b": 0.0}, data={"classes": [["CH", 0.9]]})
    crawl.page("b", 0.1, {}, data={"classes": [["DH", 0.9]]})
    counted = list(crawl.estimator.book_)
    crawl.page("b", 0.1, {"c": 0.0}, again=True, data={"classes": [["CH", 0.9]]})
    assert counted == list(crawl.estimator.book_)
    assert [1.0] == crawl.priority("c")  # CH -> PH
    crawl.page("c", 0.1, {}, data={"classes": [["PH", 0.9]]})
    assert 5 == next(rule.cases for rule in crawl.estimator.book_ if (rule.source, rule.to) == ("CH", "PH"))


def test_the_oracle_hands_on_what_moved() -> None:
    """A target that the truth does not name is worth what its source was."""
    crawl = Crawl(Oracle({"a": 0.5, "b": 0.25}))
    crawl.page("a", 0.5, {"b": 0.0})
    crawl.page("b", 0.25, {})
    crawl.move("b", "z")
    assert [0.25] == crawl.priority("z")


def test_a_page_that_is_back_ends_where_it_is() -> None:
    """Links to a page that moved lead to its target, until the page is there again."""
    crawl = Crawl(Opic())
    redirects: Redirects = crawl.estimator.redirects_
    crawl.page("a", 0.0, {"b": 0.0})
    crawl.page("b", 0.0, {})
    crawl.move("b", "z")
    assert [2] == redirects.ends(np.array([1])).tolist()
    crawl.page("b", 0.0, {"c": 0.0}, again=True)
    assert [1] == redirects.ends(np.array([1])).tolist()
