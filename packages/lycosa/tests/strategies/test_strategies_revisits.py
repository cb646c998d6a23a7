"""Tests of revisited pages in strategies: new links are ranked, and nothing is learned twice."""

from __future__ import annotations

import random
from typing import Any

import numpy as np
import pytest

from lycosa.checks.estimators import crawl_with_revisits_can_be_resumed, revisited_page
from lycosa.checks.failing import CheckFailed, run_check
from lycosa.checks.strategy_checks import revisited_pages
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
    """Estimator that ignores revisits."""

    def learn(self, step: Step, table: Table) -> Rows:
        rows = super().learn(step, table)
        return rows if step.visit.kind != "revisit" else rows[:0]


class Once(BestFirst):
    """Estimator that raises KeyError if a page is visited twice."""

    def learn(self, step: Step, table: Table) -> Rows:
        met = self.__dict__.setdefault("met_", set())
        if step.visit.is_version and step.row in met:
            raise KeyError(step.row)
        met.add(step.row)
        return super().learn(step, table)


CHANCE = random.Random(3)


class Whimsical(BestFirst):
    """Estimator that cannot be replayed: it ranks new links of revisited pages by an unlogged random number."""

    def learn(self, step: Step, table: Table) -> Rows:
        if step.visit.follows:
            step.visit.relevance = CHANCE.random()
        return super().learn(step, table)


@pytest.mark.parametrize("make", [Deaf, Once])
def test_checks_reject_estimators_without_revisits(make: Any) -> None:
    with pytest.raises(CheckFailed, match="revisited_page"):
        run_check(revisited_page, make)


def test_checks_reject_estimators_that_cannot_be_resumed() -> None:
    with pytest.raises(CheckFailed, match="crawl_with_revisits_can_be_resumed"):
        run_check(crawl_with_revisits_can_be_resumed, Whimsical)
    with pytest.raises(CheckFailed, match="revisited_pages"):
        run_check(revisited_pages, lambda: Greedy(Whimsical()))


class Crawl:
    """Estimator and table, with helpers that feed visits."""

    def __init__(self, estimator: Any, *seeds: str) -> None:
        self.estimator, self.table = estimator, Table()
        self.stems: dict[str, int] = {}
        for seed in seeds or "a":
            self.table.add_seed(seed)

    def page(self, node: str, relevance: float, links: dict[str, float], again: bool = False, **more: Any) -> list[str]:
        """Feed a page, or a new version of it if `again`; return the nodes whose priority may have changed."""
        visit = Visit(
            node, "revisit" if again else "page", "ok", 1, relevance=relevance, links=Links.to(*links), **more
        )
        visit.links.link_relevances[:] = list(links.values())
        visit.data = {**visit.data, "follows": 1.0} if again else visit.data
        return self.learn(visit)

    def move(self, node: str, target: str) -> list[str]:
        """Feed a redirect of a page that has moved."""
        return self.learn(Visit(node, "revisit", "redirect", 1, links=Links.to(target), data={"follows": 1.0}))

    def learn(self, visit: Visit) -> list[str]:
        """Feed a visit, as the engine does."""
        step = self.table.absorb(visit)
        rows = [] if step is None else self.estimator.learn(step, self.table).tolist()
        return [self.table.nodes[row] for row in rows]

    def priority(self, *nodes: str) -> list[Any]:
        """Return the priorities of some nodes."""
        rows = np.array([self.table.row_of[node] for node in nodes], np.int32)
        return [pytest.approx(score) for score in self.estimator.priority(rows, self.table).tolist()]

    def words(self, *words: str) -> Terms:
        """Return the terms of a page, each word once."""
        known = len(self.stems)
        ids = sorted(self.stems.setdefault(word, len(self.stems)) for word in words)
        return Terms(np.array(ids, np.uint32), np.ones(len(ids), np.uint16), list(self.stems)[known:])


def test_best_first_revisit_uses_current_relevance() -> None:
    """The known link keeps (.8 + .4) / 2; the new one has (.2 + 1) / 2, by the current relevance."""
    crawl = Crawl(BestFirst(merge="sum"))
    crawl.page("a", 0.8, {"b": 0.4})
    assert ["c"] == crawl.page("a", 0.2, {"b": 0.9, "c": 1.0}, again=True)
    assert [0.6, 0.6] == crawl.priority("b", "c")


def test_first_level_revisit_counts_parent_once() -> None:
    """Link b keeps fl_n .8 when its page is revisited with .5; the new link c has .5."""
    crawl = Crawl(FirstLevel("n", smooth=False))
    crawl.page("a", 0.8, {"b": 0.0})
    crawl.page("a", 0.5, {"b": 0.0, "c": 0.0}, again=True)
    assert [0.8, 0.5] == crawl.priority("b", "c")


def test_second_level_revisit_adds_siblings() -> None:
    """Link c is new, with siblings b (.5) and d (new, fetched, .25): .5 + .25; the known link e gains .25."""
    crawl = Crawl(SecondLevel("n", smooth=False), "a", "d")
    crawl.page("d", 0.25, {})
    crawl.page("a", 0.8, {"b": 0.0, "e": 0.0})
    crawl.page("b", 0.5, {})
    assert [0.5] == crawl.priority("e")
    assert ["c", "d", "e"] == sorted(crawl.page("a", 0.1, {"b": 0.0, "c": 0.0, "d": 0.0}, again=True))
    assert [0.5 + 0.25, 0.5 + 0.25] == crawl.priority("c", "e")


def test_regression_revisit_is_not_trained() -> None:
    crawl = Crawl(Regression())
    crawl.page("a", 0.8, {"b": 0.4})
    crawl.page("b", 0.5, {"c": 0.1})
    before = crawl.estimator.weights_.tolist()
    crawl.page("b", 0.9, {"c": 0.1, "d": 0.3}, again=True)
    assert before == crawl.estimator.weights_.tolist()


def test_out_links_revisit_counts_current_links() -> None:
    """The new link on a page that had two links and now has three has priority 3."""
    crawl = Crawl(OutLinks())
    crawl.page("a", 0.0, {"b": 0.0, "c": 0.0})
    crawl.page("a", 0.0, {"b": 0.0, "d": 0.0, "c": 0.0}, again=True)
    assert [2.0, 2.0, 3.0] == crawl.priority("b", "c", "d")


def test_fish_search_revisit_uses_position_on_page() -> None:
    """With width 1 only the first link of an irrelevant page is preferred, whether it is new or not."""
    crawl = Crawl(FishSearch(width=1, threshold=0.5))
    crawl.page("a", 0.0, {"b": 0.0})
    crawl.page("a", 0.0, {"b": 0.0, "c": 0.0}, again=True)
    crawl.page("a", 0.0, {"d": 0.0, "b": 0.0}, again=True)
    assert [0.5, 0.0, 0.5] == crawl.priority("b", "c", "d")


def test_personalised_revisit_uses_current_relevance() -> None:
    crawl = Crawl(Personalised(threshold=0.5), "a", "x")
    crawl.page("a", 0.8, {"b": 0.0})
    crawl.page("x", 0.0, {"y": 0.0})
    crawl.page("a", 0.1, {"b": 0.0, "c": 0.0}, again=True)
    crawl.page("x", 0.9, {"z": 0.0}, again=True)
    assert [-1.0, PRUNED, PRUNED, -2.0] == crawl.priority("b", "y", "c", "z")


def test_pagerank_revisit_shares_by_all_links() -> None:
    crawl = Crawl(PageRank())
    crawl.page("a", 0.0, {"b": 0.0, "c": 0.0})
    rank = float(crawl.estimator.base_ + crawl.estimator.gain_[0])
    crawl.page("a", 0.0, {"b": 0.0, "c": 0.0, "d": 0.0}, again=True)
    assert [crawl.estimator.base_ + 0.85 * rank / 3] == crawl.priority("d")


def test_pagerank_sums_to_1_after_page_moved() -> None:
    crawl = Crawl(PageRank(period=1))
    crawl.page("a", 0.0, {"b": 0.0, "c": 0.0})
    crawl.page("b", 0.0, {"c": 0.0, "d": 0.0})
    crawl.move("b", "e")
    assert pytest.approx(1.0, abs=1e-9) == sum(
        float(score.expected) for score in crawl.priority("a", "b", "c", "d", "e")
    )


def test_nr_revisit_equals_definition() -> None:
    """With period 1 values equal the definition; between sweeps a new link gets NR1 / d_o, counting all links.

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
    """Return whether rows and pool together hold the cash of the seeds plus the revisions."""
    return bool(np.isclose(float(flow.cash_.sum()) + flow.pool_, flow.created_ + flow.revised_, rtol=1e-12))


def test_opic_revisit_gives_to_all_links() -> None:
    """Page a gives 1 to b, which returns half; revisited, a divides that 1/2 equally between b and the new link c."""
    crawl = Crawl(Opic(period=0))
    crawl.page("a", 0.0, {"b": 0.0})
    crawl.page("b", 0.0, {"a": 0.0, "x": 0.0})
    assert [0.5, 0.5] == crawl.priority("a", "x")
    assert ["b", "c"] == crawl.page("a", 0.0, {"b": 0.0, "c": 0.0}, again=True)
    assert [0.0, 0.25, 0.25, 0.5] == crawl.priority("a", "b", "c", "x")
    assert pytest.approx(1.0) == crawl.estimator.total(crawl.table)
    assert balanced(crawl.estimator)


def test_opic_moved_seed_pays_once() -> None:
    crawl = Crawl(Opic(period=0))
    crawl.page("a", 0.0, {"b": 0.0})
    crawl.page("b", 0.0, {"a": 0.0})
    assert ["z"] == crawl.move("a", "z")
    assert [] == crawl.move("a", "z")  # no effect the second time
    assert [0.0, 1.0] == crawl.priority("a", "z")
    assert crawl.table.is_seed[crawl.table.row_of["z"]]
    assert pytest.approx(1.0) == crawl.estimator.total(crawl.table)
    crawl.page("z", 0.0, {"b": 0.0, "c": 0.0})
    assert 1 == len(crawl.estimator.seeds_)
    assert pytest.approx(1.0) == crawl.estimator.total(crawl.table)
    assert balanced(crawl.estimator)


def test_opic_dead_end_gets_links() -> None:
    crawl = Crawl(Opic(period=0), "a", "b")
    crawl.learn(Visit("a", "page", "gone", 1))
    assert 1.0 == crawl.estimator.pool_
    crawl.page("a", 0.0, {"c": 0.0}, again=True)
    crawl.page("b", 0.0, {"a": 0.0})
    assert [1.0, 0.0] == crawl.priority("a", "c")
    assert balanced(crawl.estimator)


def test_otie_revisit_uses_current_relevance() -> None:
    """The cash of a revisited page is revised by its current beta, 0, so .15 of it is left, and divided by eq. 2.

    With a = .85 and d = 3, a gives 1.85 to b (beta 1), and gets 1.85^2 back. Eq. 2 divides in proportion to beta of b,
    1, and .25 * 0 + .75 * 1 for the new link, that is 4 : 3.
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
def test_cash_is_conserved_with_revisits(flow: CashFlow) -> None:
    """Visit 300 pages in random order, with failures, redirects, new versions, moves and returns."""
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


def test_opic_alpha_moved_page_is_one_node() -> None:
    """A redirect target gets H + C of its source: a gave its 1 (H = 1) and received 2 since, so it has 3."""
    crawl = Crawl(OpicAlpha())
    crawl.page("a", 0.0, {"b": 0.0})  # b: 1 + 1
    crawl.page("b", 0.0, {"a": 0.0})  # a: 0 + 2
    before = crawl.priority("a")
    crawl.move("a", "z")
    assert [3.0] == before == crawl.priority("z")
    assert [0.0] == crawl.priority("a")


def test_opic_alpha_revisit_gives_to_all_links() -> None:
    """A revisited page gives its cash (2, from b) in proportion to C(u): 0 for b and 1 for c, which is new."""
    crawl = Crawl(OpicAlpha())
    crawl.page("a", 0.0, {"b": 0.5})
    crawl.page("b", 0.0, {"a": 0.5})
    assert ["c", "b", "c"] == crawl.page("a", 0.0, {"b": 0.5, "c": 0.5}, again=True)
    assert [1.0 + 2.0, 2.0, 1.0 + 2.0] == crawl.priority("a", "b", "c")


def test_bandit_revisit_is_not_a_pull() -> None:
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


def test_batch_revisit_is_not_counted() -> None:
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
    """Return a crawl of scent after a page that led to a relevant one."""
    crawl = Crawl(Scent(words="coral", vectors=False), "http://a.test/")
    crawl.page("http://a.test/", 0.5, {"http://a.test/b": 0.5, "http://a.test/c": 0.0}, terms=crawl.words("coral"))
    crawl.page("http://a.test/b", 0.9, {"http://a.test/d": 0.1}, terms=crawl.words("coral", "reef"))
    return crawl


def test_scent_revisit_adds_no_outcome() -> None:
    crawl = scent()
    known = crawl.estimator
    before = known.pages_, known.outcome_sum_, known.relevant_pages_, known.weights_.pages, known.outcomes_.pages
    groups = known.groups_.totals.copy()
    links = {"http://a.test/d": 0.1, "http://a.test/e": 0.7}
    assert "http://a.test/e" in crawl.page("http://a.test/b", 0.1, links, again=True, terms=crawl.words("coral", "sea"))
    assert before == (
        known.pages_,
        known.outcome_sum_,
        known.relevant_pages_,
        known.weights_.pages,
        known.outcomes_.pages,
    )
    assert np.array_equal(groups, known.groups_.totals)


def test_scent_new_link_uses_neighbours() -> None:
    crawl = scent()
    links = {"http://a.test/e": 0.0, "http://a.test/b": 0.5, "http://a.test/c": 0.0}
    crawl.page("http://a.test/", 0.5, links, again=True, terms=crawl.words("coral"))
    rows = [crawl.table.row_of["http://a.test/c"], crawl.table.row_of["http://a.test/e"]]
    old, new = (crawl.estimator.explain(row, crawl.table)["neighbours"] for row in rows)
    assert old == new > 0


def test_scent_counts_page_moved_after_fetch_once() -> None:
    crawl = scent()
    crawl.move("http://a.test/b", "http://a.test/now")
    pages = crawl.estimator.pages_
    crawl.page("http://a.test/now", 0.9, {"http://a.test/x": 0.0}, terms=crawl.words("coral", "reef"))
    assert pages == crawl.estimator.pages_


def test_idf_counts_revisited_page_once() -> None:
    crawl = Crawl(SsrmStrategy(words="reef", ontology=REEFS))
    crawl.page("a", 0.5, {"b": 0.0}, terms=crawl.words("coral", "reef"))
    crawl.page("a", 0.5, {"b": 0.0, "c": 0.0}, again=True, terms=crawl.words("coral", "sea"))
    words = crawl.estimator.vocabulary_
    assert (1, ["coral", "reef", "sea"], [1, 1, 0]) == (words.pages, words.terms, words.frequency[:3].tolist())


def test_nb_links_revisit_is_not_counted() -> None:
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


def test_apprentice_revisit_is_not_trained() -> None:
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


def test_rules_revisit_is_not_a_case() -> None:
    book = RuleBook()
    book.add("CH", "PH", 4)
    book.add("DH", "CH", 4)
    crawl = Crawl(InterclassRules(book, ("PH",), refine=True))
    crawl.page("a", 0.1, {"b": 0.0}, data={"classes": [["CH", 0.9]]})
    crawl.page("b", 0.1, {}, data={"classes": [["DH", 0.9]]})
    counted = list(crawl.estimator.book_)
    crawl.page("b", 0.1, {"c": 0.0}, again=True, data={"classes": [["CH", 0.9]]})
    assert counted == list(crawl.estimator.book_)
    assert [1.0] == crawl.priority("c")  # by the rule CH -> PH
    crawl.page("c", 0.1, {}, data={"classes": [["PH", 0.9]]})
    assert 5 == next(rule.cases for rule in crawl.estimator.book_ if (rule.source, rule.to) == ("CH", "PH"))


def test_oracle_moved_page_inherits_score() -> None:
    crawl = Crawl(Oracle({"a": 0.5, "b": 0.25}))
    crawl.page("a", 0.5, {"b": 0.0})
    crawl.page("b", 0.25, {})
    crawl.move("b", "z")
    assert [0.25] == crawl.priority("z")


def test_redirects_page_returns_to_old_url() -> None:
    crawl = Crawl(Opic())
    redirects: Redirects = crawl.estimator.redirects_
    crawl.page("a", 0.0, {"b": 0.0})
    crawl.page("b", 0.0, {})
    crawl.move("b", "z")
    assert [2] == redirects.ends(np.array([1])).tolist()
    crawl.page("b", 0.0, {"c": 0.0}, again=True)
    assert [1] == redirects.ends(np.array([1])).tolist()
