"""Checks of strategies: every shipped kind passes, broken ones fail the right check."""

import random
from collections.abc import Callable
from typing import Any

import pytest

from check_samples import Pruning, arguments, named
from lycosa.checks import CHECKS, CheckFailed, check_strategy
from lycosa.checks.failing import run_check
from lycosa.checks.strategy_checks import (
    STRATEGY_CHECKS,
    failures_and_redirects,
    page_with_ten_thousand_links,
    reachable_pages_are_picked,
    strategy_does_not_grow,
)
from lycosa.core.composite import Greedy
from lycosa.core.frontier import Frontier
from lycosa.core.protocols import Strategy
from lycosa.core.table import Table
from lycosa.core.types import Pick, Step
from lycosa.strategies import STRATEGIES, strategy
from lycosa.strategies.best_first import BestFirst


@pytest.mark.parametrize(
    "name",
    [
        *(name for name in STRATEGIES if STRATEGIES[name].module == "bandit"),
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
def test_strategy_checks_pass_for_shipped_strategies(name: str) -> None:
    once = (strategy_does_not_grow, reachable_pages_are_picked, failures_and_redirects)
    for check in STRATEGY_CHECKS:
        if name == "mab_window" or check not in once[: 3 if name.startswith("mab_") else 1]:
            assert check.__name__ == run_check(check, lambda: strategy(name, seed=1, budget=300, **arguments(name)))


def test_check_strategy_passes_for_default() -> None:
    assert list(CHECKS["strategy"]) == check_strategy(lambda: strategy("best-first", seed=1, budget=300))


class WrongStrategy(Greedy):
    """Base of strategies with one error each."""

    def __init__(self) -> None:
        super().__init__(BestFirst(), "wrong")


class ListOfFacets(WrongStrategy):
    """Strategy that does not declare its facets."""

    def __init__(self) -> None:
        super().__init__()
        self.wants = ["context"]  # type: ignore[assignment]


class UnrankedSeeds(WrongStrategy):
    """Strategy that does not rank seeds."""

    def admit(self, row: int, table: Table, frontier: Frontier) -> None:
        pass


class UnrankedRows(WrongStrategy):
    """Strategy that never ranks rows with low priority."""

    def learn(self, step: Step, table: Table, frontier: Frontier) -> None:
        rows = self.estimator.learn(step, table)
        priorities = self.estimator.priority(rows, table)
        frontier.rank(rows[priorities > 0.3], priorities[priorities > 0.3])


class Repeating(WrongStrategy):
    """Strategy that gives back every fifth pick at once."""

    def pick(self, number: int, frontier: Frontier, now: float) -> Pick:
        pick = super().pick(number, frontier, now)
        if pick.row >= 0 and number % 5 == 0:
            frontier.untake(pick.row)
            frontier.queue(0).in_flight += 1
        return pick


class Unseeded(WrongStrategy):
    """Strategy that uses unseeded randomness."""

    def pick(self, number: int, frontier: Frontier, now: float) -> Pick:
        first = frontier.take(now)
        if first < 0 or random.random() < 0.8:
            return Pick(first, "", 0.0)
        second = frontier.take(now)
        if second < 0:
            return Pick(first, "", 0.0)
        frontier.untake(first)
        return Pick(second, "", 0.0)


class Alternating(WrongStrategy):
    """Strategy that picks the second best at every other call, counted by itself."""

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


class CountsInFlight(WrongStrategy):
    """Strategy that learns from the number of rows in flight."""

    def learn(self, step: Step, table: Table, frontier: Frontier) -> None:
        rows = self.estimator.learn(step, table)
        if len(rows):
            frontier.rank(rows, self.estimator.priority(rows, table) + len(frontier.taken))


class IgnoresBudgets(WrongStrategy):
    """Strategy that ignores host budgets."""

    def frontier(self, table: Table, ready: Any, *rest: Any, **more: Any) -> Frontier:
        return Frontier(table, ready)


class IgnoresLevels(WrongStrategy):
    """Strategy that ignores levels."""

    def frontier(self, table: Table, ready: Any, host_budget: int = 0, *rest: Any, **more: Any) -> Frontier:
        frontier = Frontier(table, ready, host_budget)
        frontier.hold = lambda rows, levels: None  # type: ignore[method-assign]
        return frontier


class Growing(WrongStrategy):
    """Strategy whose state grows with every visit."""

    def __init__(self) -> None:
        super().__init__()
        self.seen: list[tuple[int, float]] = []

    def learn(self, step: Step, table: Table, frontier: Frontier) -> None:
        self.seen.append((step.row, step.visit.relevance + 1.0))
        super().learn(step, table, frontier)


@pytest.mark.parametrize(
    ("make", "check"),
    [
        (ListOfFacets, "attributes_are_valid"),
        (UnrankedSeeds, "empty_frontier"),
        (UnrankedRows, "reachable_pages_are_picked"),
        (Repeating, "reachable_pages_are_picked"),
        (Unseeded, "fresh_strategies_agree"),
        (Alternating, "pick_is_pure"),
        (CountsInFlight, "strategy_can_be_resumed"),
        (IgnoresBudgets, "host_budgets_hold"),
        (IgnoresLevels, "held_rows_come_last"),
        (Growing, "strategy_does_not_grow"),
    ],
)
def test_strategy_checks_fail_for_broken_strategy(make: Callable[[], Strategy], check: str) -> None:
    with pytest.raises(CheckFailed) as failure:
        run_check(named(check, STRATEGY_CHECKS), make)
    assert check == failure.value.check


def test_strategy_checks_allow_pruned_rows() -> None:
    for check in STRATEGY_CHECKS:
        assert check is strategy_does_not_grow or run_check(check, lambda: Greedy(Pruning()))


def test_page_with_ten_thousand_links_limits_time(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("lycosa.checks.strategy_checks.SECONDS", 0.0)
    with pytest.raises(CheckFailed, match="took"):
        run_check(page_with_ten_thousand_links, lambda: Greedy(BestFirst()))
