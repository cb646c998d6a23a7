"""How the links that wait stand: which may be fetched, in which order, and what the estimator says of each."""

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
from lycosa.core.frontier import FREE, LAST, PRUNED, SHUT, Frontier
from lycosa.core.scan import ScanFrontier
from lycosa.core.table import OPEN, Table
from lycosa.core.types import Priorities, Rows, Step


@dataclass(frozen=True, slots=True)
class View:
    """What one estimator thinks of a link."""

    arm: str
    """Its name."""
    priority: float
    """What it is ranked by: infinite for a seed, not a number where it has none (yet)."""
    rank: int = 0
    """Its place among the links that wait; 0 if it does not wait."""
    waiting: int = 0
    """How many those are."""
    terms: dict[str, float] = field(default_factory=dict)
    """What contributes how much, the largest first; empty if the estimator gives no reasons."""
    explains: bool = False
    """Whether it gives reasons."""
    reward: float = math.nan
    """For an arm of a bandit: what its pages were worth on the average."""


@dataclass(eq=False)
class FrontierRanking:
    """The order of what waits, by one estimator. A bandit has several."""

    name: str
    estimator: object
    frontier: Frontier
    table: Table
    reward: float
    witness: Witness | None

    @cached_property
    def priority(self) -> Priorities:
        """The score that each row is ranked by; minus infinity for one that has none."""
        n = len(self.table)
        priority = fit(self.frontier.priority, n, -math.inf)[:n].copy()
        if isinstance(self.frontier, ScanFrontier) and self.frontier.linear:  # it multiplies them out when it takes one
            rows = np.flatnonzero((priority > PRUNED) & (priority < math.inf))
            priority[rows] = getattr(self.estimator, "priority")(rows, self.table)  # noqa: B009 - anything may be a guide
        return priority

    @cached_property
    def level(self) -> NDArray[np.uint8]:
        return fit(self.frontier.level, len(self.table), FREE)[: len(self.table)]

    @cached_property
    def spent(self) -> NDArray[np.bool_]:
        """Of each row, whether its host has given as many pages as it may."""
        budget, table = self.frontier.host_budget, self.table
        pages = np.array([self.frontier.queue(number).pages for number in range(len(table.hosts) if budget else 0)])
        return pages[table.host[: len(table)]] >= budget if len(pages) else np.zeros(len(table), np.bool_)

    @cached_property
    def waiting(self) -> Rows:
        """The rows that may be fetched, the next one first. When their hosts are ready is not asked."""
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
        told = priority if priority > LAST else math.nan
        terms, explains = explained(self.estimator, row, self.table, self.witness)
        return View(self.name, told, rank, len(self.waiting), terms, explains, self.reward)


def explained(
    estimator: object, row: int, table: Table, witness: Witness | None = None
) -> tuple[dict[str, float], bool]:
    """The terms of a row's score, without those that say nothing; and whether there are any.

    The estimator gives them, or who has heard it learn.
    """
    explain = getattr(estimator, "explain", None)
    heard = witness.terms(estimator, table.nodes[row]) if witness is not None else None
    if heard is not None:
        return heard, True
    if explain is None:
        return {}, False
    try:
        terms = {str(name): float(value) for name, value in explain(row, table).items()}
    except Exception as error:  # of the user's own code
        told = f"{type(estimator).__name__}.explain(row, table) failed: {type(error).__name__}: {error}"
        raise InputError(f"{told}; it has to return a dictionary of names and numbers") from error
    return {name: value for name, value in terms.items() if value != 0 and math.isfinite(value)}, True


def rankings(engine: Engine, witness: Witness | None = None) -> list[FrontierRanking]:
    """How an engine's frontier is ordered: one ranking, or one for each arm of a bandit, the best arm first."""
    strategy, frontier, table = engine.strategy, engine.frontier, engine.table
    arms = getattr(strategy, "greedy_", ())
    if isinstance(frontier, Frontiers) and len(arms) == len(frontier.arms):
        mean_of = getattr(strategy, "mean", lambda number: math.nan)
        means = [float(mean_of(number)) for number in range(len(arms))]
        found = [
            FrontierRanking(arm.name, arm.estimator, own, table, mean, witness)
            for arm, own, mean in zip(arms, frontier.arms, means, strict=True)
        ]
        return sorted(found, key=lambda ranking: -ranking.reward)
    inner = getattr(strategy, "greedy", strategy)
    name = str(getattr(strategy, "name", "")) or type(strategy).__name__
    return [FrontierRanking(name, getattr(inner, "estimator", None), frontier, table, math.nan, witness)]


def foresight(
    engine: Engine, arm: str, node: str, witness: Witness | None = None
) -> tuple[float, dict[str, float]] | None:
    """What an engine thinks of a node at this moment: its score and terms; None if there is nothing to say yet.

    `arm` says who picked it; where there is only one, it is that one.
    """
    row, ranked = engine.table.row_of.get(node, -1), rankings(engine)
    chosen = next((ranking for ranking in ranked if ranking.name == arm), ranked[0])
    priority = getattr(chosen.estimator, "priority", None)
    if row < 0 or priority is None:
        return None
    terms, explains = explained(chosen.estimator, row, engine.table, witness)
    return (float(priority(np.array([row], np.int32), engine.table)[0]), terms) if explains else None


# -- what each page added ----------------------------------------------------------------------------------

ELSEWHERE = "by other pages, since"  # changes of a priority by pages without a link to it


class Witness:
    """Hears what estimators learn while a log is folded, and keeps of some nodes what their scores are made of.

    A page that links to the node and settles its score alone is told by the parts of what it said, if the estimator has
    words for them: `explain_links(step)` gives each part for the links of a page, in the order of `step.children`, as one number
    or one for each. What does not add up so (a sum over pages, cash, a rank) is told page by page: how much the score
    was higher, or lower, after each. In any case the terms add up to the score.

    An estimator that has `explain` is left alone.
    """

    def __init__(self, nodes: Iterable[str]) -> None:
        self.nodes = frozenset(nodes)
        self._terms: dict[tuple[int, str], dict[str, float]] = {}

    def attend(self, estimator: Any) -> bool:
        """Hear from now on what it learns; whether there is anything to hear."""
        if not hasattr(estimator, "learn") or hasattr(estimator, "explain"):
            return False
        learn: Callable[[Step, Table], Rows] = estimator.learn

        def heard(step: Step, table: Table) -> Rows:
            rows = learn(step, table)
            for node in self.nodes:
                if (row := table.row_of.get(node, -1)) >= 0:
                    self._hear(estimator, step, table, row)
            return rows

        estimator.learn = heard
        return True

    def terms(self, estimator: object, node: str) -> dict[str, float] | None:
        """What the score of a node is made of, the largest first; None if nobody listened."""
        if node not in self.nodes or hasattr(estimator, "explain"):
            return None
        terms = self._terms.get((id(estimator), node), {})
        return dict(sorted(terms.items(), key=lambda term: -abs(term[1])))

    def _hear(self, estimator: Any, step: Step, table: Table, row: int) -> None:
        priority = float(estimator.priority(np.array([row], np.int32), table)[0])
        priority = priority if PRUNED < priority < math.inf else 0.0
        terms = self._terms.setdefault((id(estimator), table.nodes[row]), {})
        change = priority - math.fsum(terms.values())
        if abs(change) <= 1e-12 * abs(priority):
            return
        at = np.flatnonzero(step.children == row)
        speaks = len(at) > 0 and step.visit.outcome != "redirect" and hasattr(estimator, "said")
        parts = _parts(estimator.explain_links(step), int(at[0]), len(step.children)) if speaks else {}
        if parts and math.isclose(math.fsum(parts.values()), priority, rel_tol=1e-6):
            terms.clear()
            terms.update(parts)
            return
        source = f"by {clean(step.visit.title) or step.visit.node}" if len(at) else ELSEWHERE
        terms[source] = terms.get(source, 0.0) + change


def _parts(said: Mapping[str, Any], at: int, links: int) -> dict[str, float]:
    return {name: float(np.broadcast_to(np.asarray(part, np.float64), links)[at]) for name, part in said.items()}
