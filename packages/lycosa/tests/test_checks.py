"""Tests of the shipped checks: everything in the package passes, broken parts fail the right check."""

import asyncio
import random
from collections.abc import Callable, Iterable
from functools import cache
from typing import Any

import numpy as np
import pytest

from learning_judge import Learning
from lycosa.checks import CHECKS, CheckFailed, check_estimator, check_judge, check_space, check_strategy
from lycosa.checks.estimators import (
    ESTIMATOR_CHECKS,
    a_crawl_can_be_resumed,
    a_crawl_with_revisits_can_be_resumed,
    a_page_with_ten_thousand_links,
    memory_is_bounded,
    other_priorities_stay,
)
from lycosa.checks.failing import passed
from lycosa.checks.judges import JUDGE_CHECKS, ten_thousand_links
from lycosa.checks.strategy_checks import (
    STRATEGY_CHECKS,
    a_strategy_does_not_grow,
    all_that_can_be_reached_is_picked,
    failures_and_redirects,
)
from lycosa.core.columns import fit
from lycosa.core.composite import Greedy
from lycosa.core.frontier import PRUNED, Frontier
from lycosa.core.protocols import Estimator, Judge, Space, Strategy
from lycosa.core.table import Table
from lycosa.core.types import Judgement, Links, ModelUpdate, Page, Pick, Priorities, Rows, Step, Task, Visit
from lycosa.judges.base import FACETS, LanguageJudge, StatelessJudge, with_labels
from lycosa.judges.browsing_judge import BrowsingJudge
from lycosa.judges.counting import KeywordJudge, WordFrequencyJudge
from lycosa.judges.meaning import CorleyMihalceaJudge, EhrigJudge, SsrmJudge, SynsetExpansionJudge
from lycosa.judges.model import TrainedModel, fit_model
from lycosa.judges.model_judge import ModelJudge
from lycosa.judges.pattern import RegexJudge
from lycosa.judges.space_judge import SpaceJudge
from lycosa.judges.vector_judge import VectorJudge, WeightedContentJudge
from lycosa.spaces.graph import GraphSpace
from lycosa.spaces.making import wall_clock
from lycosa.spaces.web_space import WebSpace
from lycosa.strategies import BROWSING, STRATEGIES, WORDS, estimator, strategy
from lycosa.strategies.best_first import BestFirst
from lycosa.strategies.regression import Regression
from lycosa.testweb import Web, serve
from lycosa.text.bags import Bags
from lycosa.text.browsing import Browsing
from lycosa.text.ontology import Ontology
from lycosa.text.vocabulary import Vocabulary
from lycosa.web.fetch import HttpTransport
from lycosa.web.guard import DnsCache, Guard
from lycosa.web.politeness import Politeness

REEFS = Ontology.build(
    {"reef": ["reef"], "coral reef": ["coral reef"], "coral": ["coral"], "bleaching": ["bleaching", "whitening"]},
    broader=[("coral reef", "reef")],
    related=[("coral", "coral reef")],
)
"""Arguments of strategies that use word meanings."""


@cache
def two_classes() -> TrainedModel:
    return fit_model("nb", Bags.of([([0], [2]), ([1], [2])]), np.array([0, 1]), ["Sea", "Trains"], ["coral", "rail"])


def wanting(topic: StatelessJudge) -> StatelessJudge:
    """Judge that provides all link facets."""
    topic.facets = FACETS
    return topic


TOPICS: dict[str, Callable[[], Judge]] = {
    "words": lambda: VectorJudge("coral reef bleaching"),
    "weighted": lambda: VectorJudge({"coral reef": 2.0, "weather": 0.5, "the sea": 0.0}),
    "stems": lambda: VectorJudge({"coral": 0.7, "サンゴ礁の白化現象は": 0.1}, stemmed=True),
    "pattern": lambda: RegexJudge(r"\bcoral\w*"),
    "given": SpaceJudge,
    "browsing": lambda: wanting(BrowsingJudge(BROWSED)),
    "ehrig": lambda: EhrigJudge("coral reef bleaching", ontology=REEFS),
    "ssrm": lambda: SsrmJudge("coral reef bleaching", ontology=REEFS),
    "synset-expansion": lambda: SynsetExpansionJudge("coral reef bleaching", ontology=REEFS),
    "corley-mihalcea": lambda: CorleyMihalceaJudge("coral reef bleaching", ontology=REEFS),
    "contexts": lambda: wanting(VectorJudge("coral reef bleaching", tf="max", idf="none", link="context")),
    "keyword": lambda: wanting(KeywordJudge("coral reef", match="anywhere")),
    "word-frequency": lambda: wanting(WordFrequencyJudge("coral", count="lines", match="anywhere")),
    "weighted-content": lambda: wanting(WeightedContentJudge("coral reef", title=7.5, body=0.5)),
    "model": lambda: wanting(ModelJudge(two_classes(), ["Sea"])),
    "in-language": lambda: LanguageJudge(with_labels(VectorJudge("coral reef"))),
}

BROWSED = Browsing(
    ["coral", "reef", "bleach"],
    Bags.of([([0, 1], [2, 1]), ([1], [1]), ([2], [3])]),
    ["http://a.example/", "http://b.example/", "http://c.example/"],
    np.array([True, False, False]),
    np.array([0, 1, 2]),
    np.array([(2, 1), (1, 0), (0, 2)]),
    {"kmeans": np.array([0, 1, 1]), "xmeans": np.array([0, 0, 1])},
    states=3,
)
"""Arguments of strategies that learn from browsing."""

NEED_FILES = ("oracle", "craw4llm", "rules")
"""Strategies that need files; their own tests run the checks."""

WHOLE = [name for name in STRATEGIES if name not in NEED_FILES]
ESTIMATORS = [name for name in WHOLE if STRATEGIES[name].module != "bandit"]
"""Strategies checked as a whole, one of each kind."""


def taught(name: str) -> dict[str, Any]:
    needs = STRATEGIES[name.partition(",")[0]].needs
    return {"file": BROWSED} if needs == BROWSING else {"words": "coral", "ontology": REEFS} if needs == WORDS else {}


def test_checks_have_a_description() -> None:
    assert {"topic", "estimator", "strategy", "space"} == set(CHECKS)
    for checks in CHECKS.values():
        assert all(sentence.endswith(".") and "\n" not in sentence for sentence in checks.values())


SOONER = {"deep-deep": "deep-deep,sample=2,switch=20", "tres": "tres,start=40,switch=30"}
"""Parameters that make strategies learn within the few pages of the checks."""


DEAR = (a_crawl_with_revisits_can_be_resumed, a_page_with_ten_thousand_links, memory_is_bounded)
"""Slow checks that depend on an estimator's code only, so one of each module is enough."""


@pytest.mark.paper("gouriten-score-frontier")
@pytest.mark.parametrize("name", ESTIMATORS)
def test_every_estimator_passes(name: str) -> None:
    first = next(other for other in ESTIMATORS if STRATEGIES[other].module == STRATEGIES[name].module)
    for check in ESTIMATOR_CHECKS:
        if name == first or check not in DEAR:
            assert check.__name__ == passed(check, lambda: estimator(SOONER.get(name, name), **taught(name)))


@pytest.mark.parametrize(
    "name",
    [
        *(name for name in WHOLE if STRATEGIES[name].module == "bandit"),
        "scent",
        "fish-search",
        "pagerank",
        "fl_n,batch=8",
        "fl_n,batch=8,dry=random",
        "fl_n,q=.7,zeta=.5",
        "fl_n,ties=random",
        "lr_fl,batch=8",
        "sb-classifier",
    ],
)
def test_every_kind_of_strategy_passes(name: str) -> None:
    once = (a_strategy_does_not_grow, all_that_can_be_reached_is_picked, failures_and_redirects)
    for check in STRATEGY_CHECKS:
        if name == "mab_window" or check not in once[: 3 if name.startswith("mab_") else 1]:
            assert check.__name__ == passed(check, lambda: strategy(name, seed=1, budget=300, **taught(name)))


def test_default_strategy_passes() -> None:
    assert list(CHECKS["strategy"]) == check_strategy(lambda: strategy("best-first", seed=1, budget=300))


@pytest.mark.parametrize("merge", ["sum", "mean", "last"])
def test_every_merge_passes(merge: Any) -> None:
    for check in ESTIMATOR_CHECKS:
        assert check in DEAR or check.__name__ == passed(check, lambda: BestFirst(merge=merge))


def test_random_passes_with_any_seed() -> None:
    for check in ESTIMATOR_CHECKS:
        assert check in DEAR or check.__name__ == passed(check, lambda: estimator("random", seed=-1))


@pytest.mark.paper("gouriten-alpha-beta")
@pytest.mark.parametrize("name", TOPICS)
def test_every_judge_passes(name: str) -> None:
    assert list(CHECKS["topic"]) == check_judge(TOPICS[name])


def test_graph_space_passes() -> None:
    assert list(CHECKS["space"]) == check_space(GraphSpace({"a": ["b", "c"], "b": ["a"]}, {"a": 1.0}), "a")


def test_web_space_passes() -> None:
    web, clock = Web(seed=7, pages=200, hosts=4, traps=()), wall_clock()
    with serve(web):
        politeness = Politeness(clock, delay=0.0)
        transport = HttpTransport(clock, Guard(["127.0.0.0/8"]), DnsCache(clock), politeness)
        space = WebSpace(transport, politeness, clock)
        assert list(CHECKS["space"]) == check_space(space, next(web.urls()))


class Broken:
    """Base of estimators with one mistake each."""

    def __init__(self) -> None:
        self.page = 0.5
        self.priority_ = np.zeros(0)

    def learn(self, step: Step, table: Table) -> Rows:
        self.priority_ = fit(self.priority_, len(table))
        value = self.page * step.visit.relevance + step.link_relevances.astype(np.float64)
        if step.visit.kind == "redirect":
            value = np.full(len(step.children), self.priority_[step.row])
        self.priority_[step.children] = np.maximum(self.priority_[step.children], value)
        return step.children

    def priority(self, rows: Rows, table: Table) -> Priorities:
        return fit(self.priority_, len(table))[rows]


class Impure(Broken):
    """Counts its calls."""

    asked = 0

    def priority(self, rows: Rows, table: Table) -> Priorities:
        self.asked += 1
        return super().priority(rows, table)


class Unsteady(Broken):
    """Different priorities each time."""

    asked = 0

    def priority(self, rows: Rows, table: Table) -> Priorities:
        type(self).asked += 1
        return super().priority(rows, table) + type(self).asked


class NotANumber(Broken):
    """Divides by zero for pages without relevance."""

    def priority(self, rows: Rows, table: Table) -> Priorities:
        with np.errstate(all="ignore"):
            return table.product_sum[rows] / table.relevance_sum[rows]


class WrongLength(Broken):
    """Priorities of the whole table instead of the rows."""

    def priority(self, rows: Rows, table: Table) -> Priorities:
        return np.zeros(len(table))


class Unseeded(Broken):
    """Uses a global random generator."""

    def __init__(self) -> None:
        super().__init__()
        self.page = random.random()


class Raising(Broken):
    """Fails for pages without links."""

    def learn(self, step: Step, table: Table) -> Rows:
        rows = super().learn(step, table)
        assert step.children.max() >= 0
        return rows


class OutOfTable(Broken):
    """Returns a row beyond the table."""

    def learn(self, step: Step, table: Table) -> Rows:
        return np.append(super().learn(step, table), len(table)).astype(np.int32)


class Forgetful(Broken):
    """Omits the last link of a page."""

    def learn(self, step: Step, table: Table) -> Rows:
        return super().learn(step, table)[:-1]


class Silent(Broken):
    """Changes priorities of rows that it does not return."""

    def learn(self, step: Step, table: Table) -> Rows:
        rows = super().learn(step, table)
        self.priority_[: len(table)] *= 0.9
        return rows


class NoHeir(Broken):
    """Ignores redirects."""

    def learn(self, step: Step, table: Table) -> Rows:
        if step.visit.kind == "redirect":
            return step.children
        return super().learn(step, table)


class Hoarder(Broken):
    """Keeps everything."""

    def __init__(self) -> None:
        super().__init__()
        self.seen: list[tuple[int, float]] = []

    def learn(self, step: Step, table: Table) -> Rows:
        self.seen.append((step.row, step.visit.relevance))
        return super().learn(step, table)


class Peeking(Broken):
    """Learns from the calls of priority()."""

    def __init__(self) -> None:
        super().__init__()
        self.turn = 0

    def learn(self, step: Step, table: Table) -> Rows:
        rows = super().learn(step, table)
        self.priority_[rows] += LIVE[0]
        LIVE[0] += 1e-6
        return rows


LIVE = [0.0]


def named(name: str, checks: Iterable[Callable[[Any], None]]) -> Callable[[Any], None]:
    return next(check for check in checks if check.__name__ == name)


@pytest.mark.parametrize(
    ("make", "check"),
    [
        (Impure, "scoring_is_pure"),
        (Unsteady, "scoring_is_pure"),
        (NotANumber, "priorities_are_finite"),
        (WrongLength, "priorities_have_one_number_per_row"),
        (Unseeded, "new_rows_rank_alike"),
        (Raising, "priorities_have_one_number_per_row"),
        (OutOfTable, "learned_rows_are_in_the_table"),
        (Forgetful, "new_links_are_returned"),
        (Silent, "other_priorities_stay"),
        (NoHeir, "redirects_pass_on_priority"),
        (Hoarder, "memory_is_bounded"),
    ],
)
def test_broken_estimators_fail(make: Callable[[], Estimator], check: str) -> None:
    with pytest.raises(CheckFailed) as failure:
        passed(named(check, ESTIMATOR_CHECKS), make)
    assert check == failure.value.check
    assert str(failure.value).startswith(f"{check}: ")


@pytest.mark.parametrize("kind", ["judges", "estimators", "strategy_checks"])
def test_slow_estimator_fails(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(f"lycosa.checks.{kind}.SECONDS", 0.0)
    made = {"judges": lambda: VectorJudge("coral"), "estimators": BestFirst, "strategy_checks": lambda: Greedy(BestFirst())}
    checks = {"judges": (ten_thousand_links,), "estimators": ESTIMATOR_CHECKS, "strategy_checks": STRATEGY_CHECKS}[kind]
    check = next(check for check in checks if "ten_thousand_links" in check.__name__)
    with pytest.raises(CheckFailed, match="took"):
        passed(check, made[kind])


def test_estimator_that_can_not_be_resumed_fails() -> None:
    with pytest.raises(CheckFailed, match="first difference"):
        a_crawl_can_be_resumed(Peeking)


class Sweeping(Silent):
    """Changes many priorities without returning the rows."""

    sweeping = True


class Pruning(Broken):
    """Prunes every second row."""

    def priority(self, rows: Rows, table: Table) -> Priorities:
        return np.where(rows % 2 == 1, super().priority(rows, table), PRUNED)


def test_only_linear_estimators_may_omit_changed_rows() -> None:
    passed(other_priorities_stay, Regression)
    with pytest.raises(CheckFailed, match="learn\\(\\) did not return it"):
        passed(other_priorities_stay, Sweeping)


def test_rows_may_be_pruned() -> None:
    passed(named("priorities_are_finite", ESTIMATOR_CHECKS), Pruning)
    for check in STRATEGY_CHECKS:
        assert check is a_strategy_does_not_grow or passed(check, lambda: Greedy(Pruning()))


class Wrong(Greedy):
    """Base of strategies with one mistake each."""

    def __init__(self) -> None:
        super().__init__(BestFirst(), "wrong")


class Wanting(Wrong):
    """Does not declare its facets."""

    def __init__(self) -> None:
        super().__init__()
        self.wants = ["context"]  # type: ignore[assignment]


class Seedless(Wrong):
    """Does not rank seeds."""

    def admit(self, row: int, table: Table, frontier: Frontier) -> None:
        pass


class Picky(Wrong):
    """Never ranks poor rows."""

    def learn(self, step: Step, table: Table, frontier: Frontier) -> None:
        rows = self.estimator.learn(step, table)
        priorities = self.estimator.priority(rows, table)
        frontier.rank(rows[priorities > 0.3], priorities[priorities > 0.3])


class Repeating(Wrong):
    """Returns every fifth pick at once."""

    def pick(self, number: int, frontier: Frontier, now: float) -> Pick:
        pick = super().pick(number, frontier, now)
        if pick.row >= 0 and number % 5 == 0:
            frontier.untake(pick.row)
            frontier.queue(0).in_flight += 1
        return pick


class Diced(Wrong):
    """Uses unseeded randomness."""

    def pick(self, number: int, frontier: Frontier, now: float) -> Pick:
        first = frontier.take(now)
        if first < 0 or random.random() < 0.8:
            return Pick(first, "", 0.0)
        second = frontier.take(now)
        if second < 0:
            return Pick(first, "", 0.0)
        frontier.untake(first)
        return Pick(second, "", 0.0)


class Alternating(Wrong):
    """Takes the second best at every other pick, counting by itself."""

    def __init__(self) -> None:
        super().__init__()
        self.turn = 0

    def pick(self, number: int, frontier: Frontier, now: float) -> Pick:
        self.turn += 1
        first = frontier.take(now)
        second = frontier.take(now) if first >= 0 and self.turn % 2 else -1
        if second < 0:
            return Pick(first, "", 0.0)
        frontier.untake(first)
        return Pick(second, "", 0.0)


class Timely(Wrong):
    """Learns from the number of rows in flight."""

    def learn(self, step: Step, table: Table, frontier: Frontier) -> None:
        rows = self.estimator.learn(step, table)
        if len(rows):
            frontier.rank(rows, self.estimator.priority(rows, table) + len(frontier.taken))


class Spending(Wrong):
    """Ignores host budgets."""

    def frontier(self, table: Table, ready: Any, *rest: Any, **more: Any) -> Frontier:
        return Frontier(table, ready)


class Unheld(Wrong):
    """Ignores levels."""

    def frontier(self, table: Table, ready: Any, host_budget: int = 0, *rest: Any, **more: Any) -> Frontier:
        frontier = Frontier(table, ready, host_budget)
        frontier.hold = lambda rows, levels: None  # type: ignore[method-assign]
        return frontier


class Growing(Wrong):
    """Keeps everything."""

    def __init__(self) -> None:
        super().__init__()
        self.seen: list[tuple[int, float]] = []

    def learn(self, step: Step, table: Table, frontier: Frontier) -> None:
        self.seen.append((step.row, step.visit.relevance + 1.0))
        super().learn(step, table, frontier)


@pytest.mark.parametrize(
    ("make", "check"),
    [
        (Wanting, "it_says_what_it_wants"),
        (Seedless, "an_empty_frontier"),
        (Picky, "all_that_can_be_reached_is_picked"),
        (Repeating, "all_that_can_be_reached_is_picked"),
        (Diced, "fresh_ones_pick_alike"),
        (Alternating, "picking_is_pure"),
        (Timely, "a_strategy_can_be_resumed"),
        (Spending, "host_budgets_hold"),
        (Unheld, "what_is_held_back_comes_last"),
        (Growing, "a_strategy_does_not_grow"),
    ],
)
def test_broken_strategies_fail(make: Callable[[], Strategy], check: str) -> None:
    with pytest.raises(CheckFailed) as failure:
        passed(named(check, STRATEGY_CHECKS), make)
    assert check == failure.value.check


class Topical:
    """Base of judges with one mistake each."""

    threshold = 0.5

    def judge(self, page: Page, reading: Any) -> Judgement:
        return Judgement(0.5, np.zeros(len(page.links), np.float32))

    def learn(self, visit: Visit) -> None:
        pass


class NoThreshold(Topical):
    threshold: Any = None


class NanBeta(Topical):
    def judge(self, page: Page, reading: Any) -> Judgement:
        with np.errstate(all="ignore"):
            return Judgement(float(np.float64(0) / len(page.text)), np.zeros(len(page.links), np.float32))


class NumpyBeta(Topical):
    def judge(self, page: Page, reading: Any) -> Judgement:
        return Judgement(np.float32(0.5), np.zeros(len(page.links), np.float32))  # type: ignore[arg-type]


class TooFew(Topical):
    def judge(self, page: Page, reading: Any) -> Judgement:
        return Judgement(0.5, np.array([0.5 for anchor in page.links.anchors if anchor.strip()], np.float32))


class Whole(Topical):
    def judge(self, page: Page, reading: Any) -> Judgement:
        return Judgement(0.5, np.zeros(len(page.links), np.int64))


class English(Topical):
    def judge(self, page: Page, reading: Any) -> Judgement:
        page.text.encode("ascii")
        return super().judge(page, reading)


class Counting(Topical):
    def __init__(self) -> None:
        self.judged = 0

    def judge(self, page: Page, reading: Any) -> Judgement:
        self.judged += 1
        return Judgement(self.judged / 100, np.zeros(len(page.links), np.float32))


class Unlike(Topical):
    def __init__(self) -> None:
        self.relevance = random.random()

    def judge(self, page: Page, reading: Any) -> Judgement:
        return Judgement(self.relevance, np.zeros(len(page.links), np.float32))


class Scribbler(Topical):
    def judge(self, page: Page, reading: Any) -> Judgement:
        page.data["seen"] = True
        return super().judge(page, reading)


class Unkeepable(Topical):
    def judge(self, page: Page, reading: Any) -> Judgement:
        return Judgement(0.5, np.zeros(len(page.links), np.float32), {"vector": np.zeros(3)})


class Tupled(Topical):
    def judge(self, page: Page, reading: Any) -> Judgement:
        return Judgement(0.5, np.zeros(len(page.links), np.float32), {"pair": (1, 2)})


class OkOnly(Topical):
    def learn(self, visit: Visit) -> None:
        if visit.outcome != "ok":
            raise KeyError(visit.outcome)


class Facetted(Topical):
    """Adds facets where wanted."""

    facets: tuple[str, ...] = ()

    def judge(self, page: Page, reading: Any) -> Judgement:
        judgement = super().judge(page, reading)
        judgement.facets = {name: self.column(page) for name in self.facets}
        return judgement

    def column(self, page: Page) -> Any:
        return np.ones(len(page.links), np.float32)


class OneFacet(Facetted):
    def judge(self, page: Page, reading: Any) -> Judgement:
        judgement = super().judge(page, reading)
        judgement.facets.pop("url", None)
        return judgement


class NanFacet(Facetted):
    def column(self, page: Page) -> Any:
        return np.array([np.nan if not anchor.strip() else 1.0 for anchor in page.links.anchors], np.float32)


class MovingBeta(Facetted):
    def judge(self, page: Page, reading: Any) -> Judgement:
        judgement = super().judge(page, reading)
        judgement.relevance += len(self.facets)
        return judgement


def test_facets_are_checked_if_present() -> None:
    assert list(CHECKS["topic"]) == check_judge(Facetted)


class OfReefs(Learning):
    """Judge that learns."""

    def __init__(self) -> None:
        super().__init__("coral reef")


class Short(OfReefs):
    def relevances_now(self) -> Any:
        return super().relevances_now()[1:]


class Hasty(OfReefs):
    def next_update(self, now: float, force: bool = False) -> ModelUpdate | None:
        update = super().next_update(now, force)
        self.asked = set()
        return update


class Secretive(OfReefs):
    def next_update(self, now: float, force: bool = False) -> ModelUpdate | None:
        self.next = -1
        return super().next_update(now, force)

    def adopt(self, update: ModelUpdate) -> None:
        super().adopt(ModelUpdate(update.judge, {**update.data, "common": [] if self.next < 0 else ["coral", "reef"]}))


def test_learning_judge_passes() -> None:
    assert list(CHECKS["topic"]) == check_judge(OfReefs)


class Trusting(Topical):
    def judge(self, page: Page, reading: Any) -> Judgement:
        return Judgement(0.5, np.zeros(page.marked.count("\x01"), np.float32))


@pytest.mark.parametrize(
    ("make", "check"),
    [
        (NoThreshold, "threshold_is_a_number"),
        (NanBeta, "an_empty_page"),
        (NumpyBeta, "a_page_with_links"),
        (TooFew, "links_without_anchors"),
        (Whole, "a_page_with_links"),
        (English, "other_scripts"),
        (Trusting, "markers_that_do_not_pair"),
        (Counting, "judging_is_pure"),
        (Scribbler, "judging_is_pure"),
        (Unlike, "fresh_ones_agree"),
        (OkOnly, "fresh_ones_agree"),
        (Unkeepable, "data_can_be_stored"),
        (Tupled, "data_can_be_stored"),
        (OneFacet, "a_page_with_links"),
        (NanFacet, "links_without_anchors"),
        (MovingBeta, "a_page_with_links"),
        (Short, "model_updates_are_exact"),
        (Hasty, "model_updates_are_exact"),
        (Secretive, "model_updates_are_exact"),
    ],
)
def test_broken_judges_fail(make: Callable[[], Judge], check: str) -> None:
    with pytest.raises(CheckFailed) as failure:
        passed(named(check, JUDGE_CHECKS), make)
    assert check == failure.value.check


class Odd(GraphSpace):
    """Base of spaces with one mistake each."""

    def __init__(self) -> None:
        super().__init__({"a": ["b", "c"]})
        self.visits = 0


class Exceptional(Odd):
    async def visit(self, task: Task) -> Page:
        return Page("ok", links=Links.to(*self.links[task.node]))


class Ragged(Odd):
    async def visit(self, task: Task) -> Page:
        return Page("ok", links=Links(["b", "c"]))


class Bare(Odd):
    async def visit(self, task: Task) -> Page:
        return None  # type: ignore[return-value]


class Inventive(Odd):
    async def visit(self, task: Task) -> Page:
        return Page("fine")  # type: ignore[arg-type]


class Changing(Odd):
    async def visit(self, task: Task) -> Page:
        self.visits += 1
        return Page("ok", links=Links.to(f"link {self.visits}"))


class Honest(Changing):
    changes = True


class Laneless(Odd):
    def host_key(self, node: str) -> str:
        self.visits += 1
        return f"lane {self.visits}"


class Unready(Odd):
    def ready(self, host_key: str) -> Any:
        return True


class Careless(Odd):
    node = ""

    async def visit(self, task: Task) -> Page:
        self.node = task.node
        await asyncio.sleep(0)
        return Page("ok", links=Links.to(*self.links.get(self.node, ())))


class Errant(Odd):
    def prerequisite(self, node: str) -> Any:
        return "not now"


@pytest.mark.parametrize(
    ("make", "check"),
    [
        (Laneless, "host_keys_are_stable"),
        (Unready, "ready_says_when_and_why"),
        (Errant, "errands_are_of_three_kinds"),
        (Bare, "a_visit_gives_a_page"),
        (Inventive, "a_visit_gives_a_page"),
        (Ragged, "links_are_columns"),
        (Exceptional, "failures_are_outcomes"),
        (Changing, "visits_repeat"),
        (Careless, "eight_at_once"),
    ],
)
def test_broken_spaces_fail(make: Callable[[], Space], check: str) -> None:
    with pytest.raises(CheckFailed) as failure:
        check_space(make(), "a")
    assert check == failure.value.check


def test_space_may_declare_changing_links() -> None:
    assert list(CHECKS["space"]) == check_space(Honest(), "a")


class Deaf(BestFirst):
    """Numbers words itself and forgets those of probes."""

    def learn(self, step: Step, table: Table) -> Rows:
        self.__dict__.setdefault("words_", Vocabulary()).learn(step.visit)
        return super().learn(step, table)


def test_words_of_probes_are_part_of_the_trials() -> None:
    with pytest.raises(CheckFailed, match=r"it raised DamagedError: .* has words that no visit brought"):
        check_estimator(Deaf)
