"""Ranking of the frontier: which links may be fetched, in which order, and how their priorities are composed."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lycosa.collection.search_text import clean
from lycosa.core.columns import fit
from lycosa.core.composite import Frontiers
from lycosa.core.engine import Engine
from lycosa.core.errors import InputError
from lycosa.core.frontier import FREE, LOWEST, PRUNED, SHUT, Frontier
from lycosa.core.scan import ScanFrontier
from lycosa.core.table import OPEN, Table
from lycosa.core.types import Priorities, Rows, Step


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
    recorder: TermRecorder | None

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
        terms, explains = explained(self.estimator, row, self.table, self.recorder)
        return View(self.name, shown, rank, len(self.waiting), terms, explains, self.reward)


def explained(
    estimator: object, row: int, table: Table, recorder: TermRecorder | None = None
) -> tuple[dict[str, float], bool]:
    """Return the non-zero terms of a row's priority, and whether a recorder or `explain` provides terms."""
    explain = getattr(estimator, "explain", None)
    recorded = recorder.terms(estimator, table.nodes[row]) if recorder is not None else None
    if recorded is not None:
        return recorded, True
    if explain is None:
        return {}, False
    try:
        terms = {str(name): float(value) for name, value in explain(row, table).items()}
    except Exception as error:  # may be the user's own code
        failure = f"{type(estimator).__name__}.explain(row, table) failed: {type(error).__name__}: {error}"
        raise InputError("bad-plugin", f"{failure}; return a dictionary of names and numbers") from error
    return {name: value for name, value in terms.items() if value != 0 and math.isfinite(value)}, True


def rankings(engine: Engine, recorder: TermRecorder | None = None) -> list[FrontierRanking]:
    """Return the rankings of an engine's frontier: one, or one per arm of a bandit, the best arm first."""
    strategy, frontier, table = engine.strategy, engine.frontier, engine.table
    arms = getattr(strategy, "greedy_", ())
    if isinstance(frontier, Frontiers) and len(arms) == len(frontier.arms):
        mean_of = getattr(strategy, "mean", lambda number: math.nan)
        means = [float(mean_of(number)) for number in range(len(arms))]
        found = [
            FrontierRanking(arm.name, arm.estimator, own, table, mean, recorder)
            for arm, own, mean in zip(arms, frontier.arms, means, strict=True)
        ]
        return sorted(found, key=lambda ranking: -ranking.reward)
    inner = getattr(strategy, "greedy", strategy)
    name = str(getattr(strategy, "name", "")) or type(strategy).__name__
    return [FrontierRanking(name, getattr(inner, "estimator", None), frontier, table, math.nan, recorder)]


def priority_and_terms(
    engine: Engine, arm: str, node: str, recorder: TermRecorder | None = None
) -> tuple[float, dict[str, float]] | None:
    """Return the current priority and terms of a node for an arm, or None if it is unknown or unexplained."""
    row, ranked = engine.table.row_of.get(node, -1), rankings(engine)
    chosen = next((ranking for ranking in ranked if ranking.name == arm), ranked[0])
    priority = getattr(chosen.estimator, "priority", None)
    if row < 0 or priority is None:
        return None
    terms, explains = explained(chosen.estimator, row, engine.table, recorder)
    return (float(priority(np.array([row], np.int32), engine.table)[0]), terms) if explains else None


OTHER_PAGES = "by other pages, since"  # changes of a priority by pages without a link to it


class TermRecorder:
    """Recorder of how the priorities of some nodes are composed, used while a log is replayed.

    If the last page that links to the node determines its priority, the terms are the parts returned by the estimator's
    `explain_links(step)`: for each part one number for all links of the page, or one for each in the order of
    `step.children`. Otherwise (a sum over pages, cash, a rank) the terms are the changes of the priority by page.
    Either way they add up to the priority.

    Estimators with `explain` are ignored.
    """

    def __init__(self, nodes: Iterable[str]) -> None:
        self.nodes = frozenset(nodes)
        self._terms: dict[tuple[int, str], dict[str, float]] = {}

    def attach(self, estimator: Any) -> bool:
        """Wrap the estimator's `learn` to record terms; return False if it needs no recorder."""
        if not hasattr(estimator, "learn") or hasattr(estimator, "explain"):
            return False
        learn: Callable[[Step, Table], Rows] = estimator.learn

        def recorded_learn(step: Step, table: Table) -> Rows:
            rows = learn(step, table)
            for node in self.nodes:
                if (row := table.row_of.get(node, -1)) >= 0:
                    self._record(estimator, step, table, row)
            return rows

        estimator.learn = recorded_learn
        return True

    def terms(self, estimator: object, node: str) -> dict[str, float] | None:
        """Return the terms of a node, largest first; None if it was not recorded."""
        if node not in self.nodes or hasattr(estimator, "explain"):
            return None
        terms = self._terms.get((id(estimator), node), {})
        return dict(sorted(terms.items(), key=lambda term: -abs(term[1])))

    def _record(self, estimator: Any, step: Step, table: Table, row: int) -> None:
        priority = float(estimator.priority(np.array([row], np.int32), table)[0])
        priority = priority if PRUNED < priority < math.inf else 0.0
        terms = self._terms.setdefault((id(estimator), table.nodes[row]), {})
        change = priority - math.fsum(terms.values())
        if abs(change) <= 1e-12 * abs(priority):
            return
        at = np.flatnonzero(step.children == row)
        has_parts = len(at) > 0 and step.visit.outcome != "redirect" and hasattr(estimator, "explain_links")
        parts = _parts(estimator.explain_links(step), int(at[0]), len(step.children)) if has_parts else {}
        if parts and math.isclose(math.fsum(parts.values()), priority, rel_tol=1e-6):
            terms.clear()
            terms.update(parts)
            return
        source = f"by {clean(step.visit.title) or step.visit.node}" if len(at) else OTHER_PAGES
        terms[source] = terms.get(source, 0.0) + change


def _parts(parts: Mapping[str, Any], at: int, links: int) -> dict[str, float]:
    return {name: float(np.broadcast_to(np.asarray(part, np.float64), links)[at]) for name, part in parts.items()}
