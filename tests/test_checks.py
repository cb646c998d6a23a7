"""The shipped checks: all that is in the package passes, and what is broken fails by the right name."""

import asyncio
import random
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from lycosa.checks import CHECKS, CheckFailed, check_estimator, check_space, check_topic
from lycosa.core.protocols import Estimator, Space, Topic
from lycosa.core.table import Table
from lycosa.core.types import Judgement, Links, Page, Rows, Scores, Step, Task, Visit
from lycosa.crawling import wall_clock
from lycosa.estimators import STRATEGIES, estimator
from lycosa.estimators.best_first import BestFirst
from lycosa.spaces.graph import Given, GraphSpace
from lycosa.spaces.web import WebSpace
from lycosa.testing import Web, serve
from lycosa.topics.pattern import Pattern
from lycosa.topics.query import Query
from lycosa.web.dns import Names
from lycosa.web.fetch import HttpTransport
from lycosa.web.guard import Guard
from lycosa.web.politeness import Politeness

TOPICS: dict[str, Callable[[], Topic]] = {
    "words": lambda: Query("coral reef bleaching"),
    "weighted": lambda: Query({"coral reef": 2.0, "weather": 0.5, "the sea": 0.0}),
    "stems": lambda: Query({"coral": 0.7, "サンゴ礁の白化現象は": 0.1}, stemmed=True),
    "pattern": lambda: Pattern(r"\bcoral\w*"),
    "given": Given,
}


def test_checks_are_listed_with_a_sentence() -> None:
    """CHECKS names each check once, with one sentence that ends in a full stop."""
    assert {"topic", "estimator", "space"} == set(CHECKS)
    for checks in CHECKS.values():
        assert all(sentence.endswith(".") and "\n" not in sentence for sentence in checks.values())


@pytest.mark.parametrize("name", STRATEGIES)
def test_every_strategy_passes(name: str) -> None:
    """Each estimator that --strategy accepts passes every check."""
    assert list(CHECKS["estimator"]) == check_estimator(lambda: estimator(name))


@pytest.mark.parametrize("merge", ["max", "sum", "mean", "last"])
def test_every_merge_passes(merge: Any) -> None:
    """Best-first passes under each way to merge what several parents say."""
    assert list(CHECKS["estimator"]) == check_estimator(lambda: BestFirst(merge=merge))


@pytest.mark.parametrize("seed", [2, 12345, -1])
def test_random_passes_with_any_seed(seed: int) -> None:
    """The random order passes whatever number it is seeded with."""
    check_estimator(lambda: estimator("random", seed=seed))


@pytest.mark.parametrize("name", TOPICS)
def test_every_topic_passes(name: str) -> None:
    """Each topic of the package passes every check."""
    assert list(CHECKS["topic"]) == check_topic(TOPICS[name])


def test_the_graph_space_passes() -> None:
    """A graph in memory passes every check for spaces."""
    assert list(CHECKS["space"]) == check_space(GraphSpace({"a": ["b", "c"], "b": ["a"]}, {"a": 1.0}), "a")


def test_the_web_space_passes() -> None:
    """The web, served on loopback, passes every check for spaces."""
    web, clock = Web(seed=7, pages=200, hosts=4, traps=()), wall_clock()
    with serve(web):
        politeness = Politeness(clock, delay=0.0)
        transport = HttpTransport(clock, Guard(["127.0.0.0/8"]), Names(clock), politeness)
        space = WebSpace(transport, politeness, clock)
        assert list(CHECKS["space"]) == check_space(space, next(web.urls()))


# -- what is broken ----------------------------------------------------------------------------------------


class Broken(BestFirst):
    """The base of estimators that do one thing wrong."""


class Impure(Broken):
    """Counts how often it was asked."""

    asked = 0

    def score(self, rows: Rows, table: Table) -> Scores:
        self.asked += 1
        return super().score(rows, table)


class Unsteady(Broken):
    """Scores differently each time."""

    asked = 0

    def score(self, rows: Rows, table: Table) -> Scores:
        type(self).asked += 1
        return super().score(rows, table) + type(self).asked


class NotANumber(Broken):
    """Divides by zero for pages that say nothing."""

    def score(self, rows: Rows, table: Table) -> Scores:
        with np.errstate(all="ignore"):
            return table.product_sum[rows] / table.beta_sum[rows]


class WrongLength(Broken):
    """Scores the whole table whatever is asked for."""

    def score(self, rows: Rows, table: Table) -> Scores:
        return np.zeros(len(table))


class Unseeded(Broken):
    """Draws its weights from a global generator."""

    def __init__(self) -> None:
        super().__init__()
        self.page = random.random()


class Raising(Broken):
    """Expects every page to have links."""

    def learn(self, step: Step, table: Table) -> Rows:
        rows = super().learn(step, table)
        assert step.children.max() >= 0
        return rows


class OutOfTable(Broken):
    """Returns a row that is not there yet."""

    def learn(self, step: Step, table: Table) -> Rows:
        return np.append(super().learn(step, table), len(table)).astype(np.int32)


class Forgetful(Broken):
    """Does not return the last link of a page."""

    def learn(self, step: Step, table: Table) -> Rows:
        return super().learn(step, table)[:-1]


class Silent(Broken):
    """Changes the scores of rows that it does not return."""

    def learn(self, step: Step, table: Table) -> Rows:
        rows = super().learn(step, table)
        self.priority_[: len(table)] *= 0.9
        return rows


class NoHeir(Broken):
    """Knows nothing of redirects."""

    def learn(self, step: Step, table: Table) -> Rows:
        if step.visit.kind == "redirect":
            return step.children
        return super().learn(step, table)


class Hoarder(Broken):
    """Keeps everything it ever saw."""

    def __init__(self) -> None:
        super().__init__()
        self.seen: list[tuple[int, float]] = []

    def learn(self, step: Step, table: Table) -> Rows:
        self.seen.append((step.row, step.visit.beta))
        return super().learn(step, table)


class Peeking(Broken):
    """Remembers what was asked for, and lets that change what is learned."""

    def __init__(self) -> None:
        super().__init__()
        self.turn = 0

    def learn(self, step: Step, table: Table) -> Rows:
        rows = super().learn(step, table)
        self.priority_[rows] += LIVE[0]
        LIVE[0] += 1e-6
        return rows


LIVE = [0.0]


@pytest.mark.parametrize(
    ("make", "check"),
    [
        (Impure, "scoring_is_pure"),
        (Unsteady, "scoring_is_pure"),
        (NotANumber, "scores_are_finite"),
        (WrongLength, "scores_have_one_number_per_row"),
        (Unseeded, "fresh_ones_score_alike"),
        (Raising, "scores_have_one_number_per_row"),
        (OutOfTable, "learned_rows_are_in_the_table"),
        (Forgetful, "new_links_are_returned"),
        (Silent, "other_scores_stay"),
        (NoHeir, "a_redirect_hands_on_its_score"),
        (Hoarder, "memory_is_bounded"),
    ],
)
def test_broken_estimators_fail(make: Callable[[], Estimator], check: str) -> None:
    """An estimator that does one thing wrong fails by the name of the check that looks for it."""
    with pytest.raises(CheckFailed) as failure:
        check_estimator(make)
    assert check == failure.value.check
    assert str(failure.value).startswith(f"{check}: ")


def test_a_crawl_that_can_not_be_resumed_fails() -> None:
    """An estimator whose learning depends on what happened outside of the log can't be resumed."""
    from lycosa.checks import a_crawl_can_be_resumed

    with pytest.raises(CheckFailed, match="first difference"):
        a_crawl_can_be_resumed(Peeking)


class Topical:
    """The base of topics that do one thing wrong."""

    threshold = 0.5

    def judge(self, page: Page, reading: Any) -> Judgement:
        return Judgement(0.5, np.zeros(len(page.links), np.float32))

    def learn(self, visit: Visit) -> None:
        """Nothing."""


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
        self.beta = random.random()

    def judge(self, page: Page, reading: Any) -> Judgement:
        return Judgement(self.beta, np.zeros(len(page.links), np.float32))


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
    ],
)
def test_broken_topics_fail(make: Callable[[], Topic], check: str) -> None:
    """A topic that does one thing wrong fails by the name of the check that looks for it."""
    with pytest.raises(CheckFailed) as failure:
        check_topic(make)
    assert check == failure.value.check


class Odd(GraphSpace):
    """The base of spaces that do one thing wrong."""

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
    def lane(self, node: str) -> str:
        self.visits += 1
        return f"lane {self.visits}"


class Unready(Odd):
    def ready(self, lane: str) -> Any:
        return True


class Careless(Odd):
    node = ""

    async def visit(self, task: Task) -> Page:
        self.node = task.node
        await asyncio.sleep(0)
        return Page("ok", links=Links.to(*self.links.get(self.node, ())))


class Errant(Odd):
    def errand(self, node: str) -> Any:
        return "not now"


@pytest.mark.parametrize(
    ("make", "check"),
    [
        (Laneless, "lanes_are_stable"),
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
    """A space that does one thing wrong fails by the name of the check that looks for it."""
    with pytest.raises(CheckFailed) as failure:
        check_space(make(), "a")
    assert check == failure.value.check


def test_a_space_may_say_that_it_changes() -> None:
    """Links may differ from visit to visit where the space says so."""
    assert list(CHECKS["space"]) == check_space(Honest(), "a")
