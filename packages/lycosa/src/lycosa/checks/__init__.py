"""Conformance checks for judges, estimators, strategies and spaces; Lycosa's own pass them.

    from lycosa.checks import check_estimator, check_judge, check_space, check_strategy

    check_judge(lambda: MyJudge("coral"))           # a callable that makes a fresh one
    check_estimator(MyEstimator)
    check_strategy(lambda: MyBandit(seed=1))
    check_space(MySpace(), "a node it knows")       # two dozen visits, some concurrent: use a host of yours

Each returns the names of the checks that passed, or raises CheckFailed with the check, its input, the failure and a
remedy. `CHECKS` describes them all.

>>> from lycosa.strategies.baselines import BreadthFirst
>>> check_estimator(BreadthFirst)[0]
'priorities_have_one_number_per_row'
"""

from __future__ import annotations

import asyncio

from lycosa.checks.estimators import ESTIMATOR_CHECKS, MakeEstimator
from lycosa.checks.failing import GROWTH, SECONDS, CheckFailed, run_async_check, run_check
from lycosa.checks.judges import JUDGE_CHECKS, MakeJudge
from lycosa.checks.spaces import SPACE_CHECKS
from lycosa.checks.strategy_checks import STRATEGY_CHECKS, MakeStrategy
from lycosa.core.protocols import Space

__all__ = [
    "CHECKS", "GROWTH", "SECONDS", "CheckFailed", "check_estimator", "check_judge", "check_space", "check_strategy",
]  # fmt: skip


def check_judge(make: MakeJudge) -> list[str]:
    """Run all checks for judges; `make` returns a fresh judge at each call."""
    return [run_check(check, make) for check in JUDGE_CHECKS]


def check_estimator(make: MakeEstimator) -> list[str]:
    """Run all checks for estimators; `make` returns a fresh estimator at each call."""
    return [run_check(check, make) for check in ESTIMATOR_CHECKS]


def check_strategy(make: MakeStrategy) -> list[str]:
    """Run all checks for whole strategies (bandits, variants of greedy); `make` returns a fresh one at each call."""
    return [run_check(check, make) for check in STRATEGY_CHECKS]


def check_space(space: Space, node: str) -> list[str]:
    """Run all checks for spaces on a node that the space knows; closes the space.

    Links must be the same at every visit, unless the space has a true attribute `changes`.
    """

    async def run() -> list[str]:
        try:
            return [await run_async_check(check, space, node) for check in SPACE_CHECKS]
        finally:
            await space.close()

    return asyncio.run(run())


# Names and descriptions of the checks by kind.
CHECKS: dict[str, dict[str, str]] = {
    kind: {check.__name__: (check.__doc__ or "").strip() for check in checks}
    for kind, checks in (
        ("judge", JUDGE_CHECKS),
        ("estimator", ESTIMATOR_CHECKS),
        ("strategy", STRATEGY_CHECKS),
        ("space", SPACE_CHECKS),
    )
}
