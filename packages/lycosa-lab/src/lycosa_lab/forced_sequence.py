"""Forced sequence: several estimators follow one crawl and pick at each step without affecting it.

They see the same pages in the same order, so that precision and time can be compared step by step (Gouriten et al.
2014, section 8.1).
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from time import perf_counter
from typing import cast

import numpy as np
from numpy.typing import NDArray

from lycosa.core.frontier import Frontier, Ready
from lycosa.core.progress import ProgressCallback, no_progress
from lycosa.core.protocols import Strategy
from lycosa.core.table import OPEN, Table
from lycosa.core.types import Pick, Step
from lycosa_lab.corpus_index import CorpusIndex
from lycosa_lab.judgements import Judgements
from lycosa_lab.measures import Floats, precision_distance
from lycosa_lab.simulation import IndexedTable, simulate
from lycosa_lab.subjects import HuntSubject
from lycosa_lab.trial_strategies import make_trial_strategy


@dataclass
class WatchedSequence:
    """Picks and times of several estimators at each step of a crawl, without the seeds."""

    best: Floats  # highest true score in the frontier, which an oracle picks
    picked: dict[str, Floats]  # true score of each estimator's pick; nan without a pick
    seconds: dict[str, Floats]  # seconds of each step: learning from the previous page, ranking and picking

    def distance(self, name: str, window: int = 1000) -> Floats:
        return precision_distance(self.picked[name], self.best, window)

    def milliseconds(self, name: str, steps: Sequence[int], window: int = 100) -> list[float | None]:
        """Return an estimator's mean time up to given steps (table 5); None at steps after its watch has ended.

        The mean is over the last `window` steps: a median would hide the steps in which an estimator with its own batch
        (nr) does all its work. Use `nr,period=1` for the measurement of the paper.
        """
        times: list[float | None] = []
        for step in steps:
            near = self.seconds[name][max(0, step - window) : step] if step <= len(self.best) else np.zeros(0)
            whole = len(near) > 0 and not np.isnan(near[-1])
            times.append(1000.0 * float(np.mean(near)) if whole else None)
        return times


@dataclass
class _Watcher:
    strategy: Strategy
    until: int
    picked: Floats
    seconds: Floats
    frontier: Frontier = field(init=False)
    learning: float = 0.0

    def learn(self, step: Step, table: Table) -> None:
        began = perf_counter()
        self.strategy.learn(step, table, self.frontier)
        self.learning = perf_counter() - began

    def pick(self, at: int, number: int, table: IndexedTable, worth: Floats, guide: Judgements) -> None:
        began = perf_counter()
        row, arm, _ = self.strategy.pick(number, self.frontier, 0.0)
        self.seconds[at] = self.learning + perf_counter() - began
        if row < 0:
            return
        self.frontier.untake(row)
        node = int(table.node_at[row])
        self.picked[at] = worth[node]
        if hasattr(self.strategy, "reward"):  # the reward of a bandit is that of the page it would have fetched
            names = [arm.name for arm in self.strategy.greedy_]  # type: ignore[attr-defined]
            self.strategy.reward(names.index(arm), float(guide.relevance[node]))


@dataclass
class _Sequence:
    """Strategy that fetches a given sequence of nodes and lets watchers pick before each step."""

    guide: Judgements
    nodes: NDArray[np.integer]
    seeds: int
    worth: Floats
    watchers: list[_Watcher]
    best: Floats
    progress: ProgressCallback
    proportional: bool = False
    wants: tuple[str, ...] = ()

    def frontier(self, table: Table, ready: Ready, host_budget: int, patience: float, choosy: float) -> Frontier:
        for one in self.watchers:
            one.frontier = one.strategy.frontier(table, ready, host_budget, patience, choosy)
        return Frontier(table, ready, host_budget, patience, choosy)

    def admit(self, row: int, table: Table, frontier: Frontier) -> None:
        for one in self.watchers:
            one.strategy.admit(row, table, one.frontier)

    def pick(self, number: int, frontier: Frontier, now: float) -> Pick:
        table, at, node = cast(IndexedTable, frontier.table), number - 1 - self.seeds, int(self.nodes[number - 1])
        if at >= 0:
            open_rows = np.flatnonzero(table.state[: len(table)] == OPEN)
            self.best[at] = self.worth[table.node_at[open_rows]].max() if len(open_rows) else math.nan
            self.watchers = [one for one in self.watchers if one.until > at]
            for one in self.watchers:
                one.pick(at, number, table, self.worth, self.guide)
        row = int(table.row_at[node])
        if row < 0 or table.state[row] != OPEN:
            name = self.guide.index.names[node]
            raise ValueError(f"no crawl can fetch {name} at step {at + 1}: nothing fetched before links to it")
        return Pick(row, "")

    def learn(self, step: Step, table: Table, frontier: Frontier) -> None:
        for one in self.watchers:
            one.learn(step, table)
        self.progress("watching", max(0, step.visit.pick - self.seeds), len(self.best))


def watch(
    index: CorpusIndex,
    guide: Judgements,
    subject: HuntSubject,
    estimators: Mapping[str, str],
    sequence: NDArray[np.integer],
    *,
    seeds: int,
    until: Mapping[str, int] | None = None,
    random_seed: int = 0,
    progress: ProgressCallback = no_progress,
) -> WatchedSequence:
    """Let estimators (name -> spec) follow a crawl of the nodes in `sequence`, seeds first.

    The sequence is usually the trace of an oracle-greedy crawl: `watch(..., trace.nodes, seeds=trace.seeds)`. The value
    of a pick is the subject's truth. `until` ends the watch of some estimators early, as the cost of nr grows with
    every page. Each estimator has its own frontier over one common table. A bandit is rewarded with the relevance
    (beta) of the page that it would have fetched, for the arm that it would have pulled; the paper does not specify the
    reward.
    """
    steps = len(sequence) - seeds
    by_name = {
        name: _Watcher(
            make_trial_strategy(text, index, subject, guide, budget=steps, random_seed=random_seed),
            steps if until is None else until.get(name, steps), np.full(steps, math.nan), np.full(steps, math.nan),
        )
        for name, text in estimators.items()
    }  # fmt: skip
    worth, best = np.asarray(subject.truth, np.float64), np.full(steps, math.nan)
    led = _Sequence(guide, sequence, seeds, worth, list(by_name.values()), best, progress)
    simulate(guide, led, sequence[:seeds].tolist(), steps)
    return WatchedSequence(
        best, {name: one.picked for name, one in by_name.items()}, {name: one.seconds for name, one in by_name.items()}
    )
