"""Section 8.1: all estimators watch the oracle's crawl. Table 5 (time) and figure 2 (precision)."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from lycosa.lab.findings import AS_PUBLISHED, Cell, Curve, Figure, Table
from lycosa.lab.papers import Bench
from lycosa.lab.papers.gouriten.graphs import CORPUS, GROUPS, ORACLE, Crawls
from lycosa.lab.papers.gouriten.leading import VAR, grid
from lycosa.lab.papers.gouriten.published import TIMES, at
from lycosa.lab.watching import Watched, watch

TIMED = {
    "nr": "nr,period=1",
    "opic-alpha": "opic-alpha",
    "fl_ne": "fl_ne",
    "lr_fl": "lr_fl",
    "mab_var": VAR,
    "sl_ne": "sl_ne",
    "lr_sl": "lr_sl",
}
"""The estimators of table 5; nr to the letter, anew after each page."""

PRECISE = {"deg": "fl_deg", "n": "fl_n", "e": "fl_e", "ne": "fl_ne", "lr_fl": "lr_fl"}
"""Those of figure 2: the first level."""

NR_ENDS = 1_000
"""nr watches no longer than in the paper."""

WINDOW = 1_000
QUARTERS = 4


class Forced:
    """What estimators said along the oracle's crawl from the first seed set of each graph."""

    def __init__(self, bench: Bench, crawls: Crawls) -> None:
        self.watched: dict[str, Watched] = {}
        self.steps: dict[str, list[int]] = {}
        self.timed: dict[str, str] = {}
        """Of each group the graph of table 5: the last one, which is like FRANCE."""
        self.drawn: dict[str, str] = {}
        """Of each group the graph of figure 2: the first one."""
        for group in GROUPS:
            if graphs := crawls.graphs(group):
                self.drawn[group], self.timed[group] = graphs[0], graphs[-1]
        for graph, (dataset, results) in crawls.results.items():
            trace = results.select(ORACLE)[0].trace
            named = {**PRECISE, **(TIMED if graph in self.timed.values() else {})}
            self.watched[graph] = watch(
                dataset.index, dataset.guide, dataset.subject, named, trace.nodes, seeds=trace.seeds,
                until={"nr": 100 if bench.quick else NR_ENDS}, random_seed=bench.random_seed, tell=bench.tell,
            )  # fmt: skip
            self.steps[graph] = results.experiment.budgets

    def times(self, graph: str) -> dict[str, dict[int, float]]:
        """Milliseconds by estimator and step."""
        steps = self.steps[graph]
        told = {name: self.watched[graph].milliseconds(name, steps) for name in TIMED}
        return {
            name: {step: time for step, time in zip(steps, of, strict=True) if time is not None}
            for name, of in told.items()
        }

    def table_5(self) -> Table:
        """Time for one estimation."""
        rows: list[list[Cell]] = []
        for graph in self.timed.values():
            times = self.times(graph)
            rows += [
                [graph, name, step, times[name].get(step), *(at(TIMES[of][name], step) for of in TIMES)]
                for name in TIMED
                for step in self.steps[graph]
            ]
        return Table(
            "gouriten-table-5", "Table 5: time for one estimation (ms)",
            ("graph", "estimator", "step", "here", *(f"paper, {of}" for of in TIMES)), rows, AS_PUBLISHED,
            note="To learn from the page before, to rank what that changed, to pick; the mean of the last 100 steps. "
            "Forced sequence: all watch the oracle's crawl. nr is watched for the first "
            f"{NR_ENDS:,} steps at most. The paper's times are of C++ on a processor of 2012.",
            timed=True,
        )  # fmt: skip

    def quarters(self, graph: str) -> list[dict[str, float]]:
        """Mean distance of each estimator in each quarter of the crawl."""
        seen = self.watched[graph]
        found = []
        for part in np.array_split(np.arange(len(seen.best)), QUARTERS):
            apart = {name: seen.best[part] - seen.picked[name][part] for name in PRECISE}
            found.append({name: float(np.nanmean(of)) for name, of in apart.items()} if len(part) else {})
        return found

    def best_by_quarter(self) -> dict[str, Sequence[str]]:
        """The estimator nearest to the oracle in each quarter, by graph."""
        return {
            graph: [min(means, key=lambda name: means[name]) for means in self.quarters(graph) if means]
            for graph in self.watched
        }

    def figures_2(self) -> list[Figure]:
        """Distance to the oracle's choice, on the first graph of each kind."""
        figures = []
        for group, graph in self.drawn.items():
            seen = self.watched[graph]
            window = min(WINDOW, max(1, len(seen.best) // 10))
            steps = [step for step in grid(len(seen.best), 100) if step >= window]
            curves = [Curve(name, steps, seen.distance(name, window)[np.array(steps) - 1].tolist()) for name in PRECISE]
            figures.append(
                Figure(
                    "gouriten-figure-2" + ("" if group == CORPUS else f"-{group}"),
                    f"Figure 2: distance to the oracle's choice, {graph}", "steps", "distance in score", curves,
                    AS_PUBLISHED,
                    note="Distance: score of the node that the oracle picks, less that of the one that the estimator "
                    f"would have picked; mean over the last {window:,} steps. All watch the oracle's crawl. The "
                    "paper's figure is of BRETAGNE, over 1,000 steps, and gives no numbers.",
                )
            )  # fmt: skip
        return figures
