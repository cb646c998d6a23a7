"""Checks of estimators: every shipped one passes, broken ones fail the right check."""

import random
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from check_samples import BrokenEstimator, Pruning, arguments, named
from lycosa.checks import CheckFailed
from lycosa.checks.estimators import (
    ESTIMATOR_CHECKS,
    crawl_can_be_resumed,
    crawl_with_revisits_can_be_resumed,
    memory_is_bounded,
    other_priorities_stay,
    page_with_ten_thousand_links,
)
from lycosa.checks.failing import run_check
from lycosa.core.protocols import Estimator
from lycosa.core.table import Table
from lycosa.core.types import Priorities, Rows, Step
from lycosa.strategies import STRATEGIES, estimator
from lycosa.strategies.best_first import BestFirst
from lycosa.strategies.regression import Regression

# The tests of these estimators run the checks.
NEED_FILES = ("oracle", "craw4llm", "rules")


COMPLETE = [name for name in STRATEGIES if name not in NEED_FILES]


ESTIMATORS = [name for name in COMPLETE if STRATEGIES[name].module != "bandit"]


# Parameters with which these strategies learn within the few pages of the checks.
FAST_PARAMETERS = {"deep-deep": "deep-deep,sample=2,switch=20", "tres": "tres,start=40,switch=30"}


# These checks depend only on an estimator's code, so they run on one estimator of each module.
SLOW = (crawl_with_revisits_can_be_resumed, page_with_ten_thousand_links, memory_is_bounded)


@pytest.mark.paper("gouriten-score-frontier")
@pytest.mark.parametrize("name", ESTIMATORS)
def test_estimator_checks_pass_for_shipped_estimators(name: str) -> None:
    first = next(other for other in ESTIMATORS if STRATEGIES[other].module == STRATEGIES[name].module)
    for check in ESTIMATOR_CHECKS:
        if name == first or check not in SLOW:
            assert check.__name__ == run_check(
                check, lambda: estimator(FAST_PARAMETERS.get(name, name), **arguments(name))
            )


@pytest.mark.parametrize("merge", ["sum", "mean", "last"])
def test_estimator_checks_pass_for_merge(merge: Any) -> None:
    for check in ESTIMATOR_CHECKS:
        assert check in SLOW or check.__name__ == run_check(check, lambda: BestFirst(merge=merge))


def test_estimator_checks_pass_for_random_with_negative_seed() -> None:
    for check in ESTIMATOR_CHECKS:
        assert check in SLOW or check.__name__ == run_check(check, lambda: estimator("random", seed=-1))


class Impure(BrokenEstimator):
    """Estimator whose `priority` modifies its state."""

    calls = 0

    def priority(self, rows: Rows, table: Table) -> Priorities:
        self.calls += 1
        return super().priority(rows, table)


class Unsteady(BrokenEstimator):
    """Estimator whose priorities differ at each call."""

    calls = 0

    def priority(self, rows: Rows, table: Table) -> Priorities:
        type(self).calls += 1
        return super().priority(rows, table) + type(self).calls


class NotANumber(BrokenEstimator):
    """Estimator that divides by zero for pages without relevance."""

    def priority(self, rows: Rows, table: Table) -> Priorities:
        with np.errstate(all="ignore"):
            return table.product_sum[rows] / table.relevance_sum[rows]


class WrongLength(BrokenEstimator):
    """Estimator that returns priorities of the whole table instead of the given rows."""

    def priority(self, rows: Rows, table: Table) -> Priorities:
        return np.zeros(len(table))


class Unseeded(BrokenEstimator):
    """Estimator that uses a global random generator."""

    def __init__(self) -> None:
        super().__init__()
        self.page = random.random()


class Raising(BrokenEstimator):
    """Estimator that fails for pages without links."""

    def learn(self, step: Step, table: Table) -> Rows:
        rows = super().learn(step, table)
        assert step.children.max() >= 0
        return rows


class OutOfTable(BrokenEstimator):
    """Estimator that returns a row beyond the table."""

    def learn(self, step: Step, table: Table) -> Rows:
        return np.append(super().learn(step, table), len(table)).astype(np.int32)


class Forgetful(BrokenEstimator):
    """Estimator that omits the last link of a page."""

    def learn(self, step: Step, table: Table) -> Rows:
        return super().learn(step, table)[:-1]


class Silent(BrokenEstimator):
    """Estimator that changes priorities of rows that it does not return."""

    def learn(self, step: Step, table: Table) -> Rows:
        rows = super().learn(step, table)
        self.priority_[: len(table)] *= 0.9
        return rows


class IgnoresRedirects(BrokenEstimator):
    """Estimator that ignores redirects."""

    def learn(self, step: Step, table: Table) -> Rows:
        if step.visit.kind == "redirect":
            return step.children
        return super().learn(step, table)


class Growing(BrokenEstimator):
    """Estimator whose state grows with every visit."""

    def __init__(self) -> None:
        super().__init__()
        self.seen: list[tuple[int, float]] = []

    def learn(self, step: Step, table: Table) -> Rows:
        self.seen.append((step.row, step.visit.relevance))
        return super().learn(step, table)


class GlobalState(BrokenEstimator):
    """Estimator that learns from calls of `priority`."""

    def __init__(self) -> None:
        super().__init__()
        self.turn = 0

    def learn(self, step: Step, table: Table) -> Rows:
        rows = super().learn(step, table)
        self.priority_[rows] += GLOBAL[0]
        GLOBAL[0] += 1e-6
        return rows


GLOBAL = [0.0]


@pytest.mark.parametrize(
    ("make", "check"),
    [
        (Impure, "priority_is_pure"),
        (Unsteady, "priority_is_pure"),
        (NotANumber, "priorities_are_finite"),
        (WrongLength, "priorities_have_one_number_per_row"),
        (Unseeded, "fresh_estimators_agree"),
        (Raising, "priorities_have_one_number_per_row"),
        (OutOfTable, "learned_rows_are_in_the_table"),
        (Forgetful, "new_links_are_returned"),
        (Silent, "other_priorities_stay"),
        (IgnoresRedirects, "redirects_pass_on_priority"),
        (Growing, "memory_is_bounded"),
    ],
)
def test_estimator_checks_fail_for_broken_estimator(make: Callable[[], Estimator], check: str) -> None:
    with pytest.raises(CheckFailed) as failure:
        run_check(named(check, ESTIMATOR_CHECKS), make)
    assert check == failure.value.check
    assert str(failure.value).startswith(f"{check}: ")


def test_crawl_can_be_resumed_detects_global_state() -> None:
    with pytest.raises(CheckFailed, match="first difference"):
        crawl_can_be_resumed(GlobalState)


class Sweeping(Silent):
    """Estimator that changes many priorities without returning the rows."""

    sweeping = True


def test_other_priorities_stay_exempts_linear_estimators() -> None:
    run_check(other_priorities_stay, Regression)
    with pytest.raises(CheckFailed, match="learn\\(\\) did not return it"):
        run_check(other_priorities_stay, Sweeping)


def test_priorities_are_finite_allows_pruned_rows() -> None:
    run_check(named("priorities_are_finite", ESTIMATOR_CHECKS), Pruning)


def test_page_with_ten_thousand_links_limits_time(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("lycosa.checks.estimators.SECONDS", 0.0)
    with pytest.raises(CheckFailed, match="took"):
        run_check(page_with_ten_thousand_links, BestFirst)
