"""Ranking of the frontier: which links may be fetched, in which order, and how their priorities are composed."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from lycosa.core.columns import fit
from lycosa.core.composite import Frontiers
from lycosa.core.engine import Engine
from lycosa.core.errors import InputError
from lycosa.core.frontier import FREE, LOWEST, PRUNED, SHUT, Frontier
from lycosa.core.scan import ScanFrontier
from lycosa.core.table import OPEN, Table
from lycosa.core.types import Priorities, Rows


@dataclass(frozen=True, slots=True)
class View:
    """Estimate of a link by one estimator, such as an arm of a bandit.

    `priority` is infinite for a seed and NaN if unknown; `rank` is the 1-based position among the `waiting` links, 0 if
    it is not waiting. `terms` are the parts of the priority, largest first, if the estimator `explains` them. `reward`
    is the mean reward of a bandit's arm.
    """

    arm: str
    priority: float
    rank: int = 0
    waiting: int = 0
    terms: dict[str, float] = field(default_factory=dict)
    explains: bool = False
    reward: float = math.nan


@dataclass(eq=False)
class FrontierRanking:
    """Order of the frontier according to one estimator; a bandit has several."""

    name: str
    estimator: object
    frontier: Frontier
    table: Table
    reward: float

    @cached_property
    def priority(self) -> Priorities:
        """Priority of each row; -inf for rows without a priority."""
        n = len(self.table)
        priority = fit(self.frontier.priority, n, -math.inf)[:n].copy()
        # computes priorities only when it picks a row
        if isinstance(self.frontier, ScanFrontier) and self.frontier.linear:
            rows = np.flatnonzero((priority > PRUNED) & (priority < math.inf))
            priority[rows] = getattr(self.estimator, "priority")(rows, self.table)  # noqa: B009 - untyped user object
        return priority

    @cached_property
    def level(self) -> NDArray[np.uint8]:
        return fit(self.frontier.level, len(self.table), FREE)[: len(self.table)]

    @cached_property
    def spent(self) -> NDArray[np.bool_]:
        """Rows on hosts that have used up their budget."""
        budget, table = self.frontier.host_budget, self.table
        pages = np.array([self.frontier.queue(number).pages for number in range(len(table.hosts) if budget else 0)])
        return pages[table.host[: len(table)]] >= budget if len(pages) else np.zeros(len(table), np.bool_)

    @cached_property
    def waiting(self) -> Rows:
        """Rows that may be fetched, in the order in which they would be, if all hosts were ready."""
        state = self.table.state[: len(self.table)]
        rows = np.flatnonzero((state == OPEN) & (self.level != SHUT) & (self.priority > PRUNED) & ~self.spent)
        places = rows if self.frontier.order is None else self.frontier.order(rows)
        found: Rows = rows[np.lexsort((places, -self.priority[rows], self.level[rows]))]
        return found

    @cached_property
    def _place(self) -> NDArray[np.int64]:
        places = np.zeros(len(self.table), np.int64)
        places[self.waiting] = np.arange(1, len(self.waiting) + 1)
        return places

    def view(self, row: int) -> View:
        priority, rank = float(self.priority[row]), int(self._place[row])
        shown = priority if priority > LOWEST else math.nan
        terms, explains = explained(self.estimator, row, self.table)
        return View(self.name, shown, rank, len(self.waiting), terms, explains, self.reward)


def explained(estimator: object, row: int, table: Table) -> tuple[dict[str, float], bool]:
    """Return the non-zero terms of a row's priority, and whether the estimator explains it."""
    explain = getattr(estimator, "explain", None)
    if explain is None:
        return {}, False
    try:
        terms = {str(name): float(value) for name, value in explain(row, table).items()}
    except Exception as error:  # may be the user's own code
        failure = f"{type(estimator).__name__}.explain(row, table) failed: {type(error).__name__}: {error}"
        raise InputError("bad-plugin", f"{failure}; return a dictionary of names and numbers") from error
    return {name: value for name, value in terms.items() if value != 0 and math.isfinite(value)}, True


def rankings(engine: Engine) -> list[FrontierRanking]:
    """Return the rankings of an engine's frontier: one, or one per arm of a bandit, the best arm first."""
    strategy, frontier, table = engine.strategy, engine.frontier, engine.table
    arms = getattr(strategy, "greedy_", ())
    if isinstance(frontier, Frontiers) and len(arms) == len(frontier.arms):
        mean_of = getattr(strategy, "mean", lambda number: math.nan)
        means = [float(mean_of(number)) for number in range(len(arms))]
        found = [
            FrontierRanking(arm.name, arm.estimator, own, table, mean)
            for arm, own, mean in zip(arms, frontier.arms, means, strict=True)
        ]
        return sorted(found, key=lambda ranking: -ranking.reward)
    inner = getattr(strategy, "greedy", strategy)
    name = str(getattr(strategy, "name", "")) or type(strategy).__name__
    return [FrontierRanking(name, getattr(inner, "estimator", None), frontier, table, math.nan)]
