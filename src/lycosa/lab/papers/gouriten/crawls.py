"""Crawls of all graphs from all seed sets, and the scores they have at some steps (section 5)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from lycosa.core.errors import InputError
from lycosa.lab.experiments import Experiment
from lycosa.lab.findings import AS_PUBLISHED, Mode
from lycosa.lab.measures import cumulative, extended, found, global_score
from lycosa.lab.papers import Bench
from lycosa.lab.papers.gouriten.datasets import Dataset, seeds_for
from lycosa.lab.running import Results, run

ORACLE = "oracle"
ABOVE = "Above the oracle"
"""How a runner's remark begins that says so."""

TABLES = ("experiment.toml", "results.csv", "results.parquet", "times.csv")


@dataclass
class Crawls:
    """Crawls of some graphs by some strategies, judged by one truth."""

    mode: Mode = AS_PUBLISHED
    results: dict[str, tuple[Dataset, Results]] = field(default_factory=dict)
    left_out: list[str] = field(default_factory=list)
    """Graphs that could not be crawled, and why."""

    def curve(self, graph: str, strategy: str, length: int) -> NDArray[np.float64]:
        """Cumulative scores, one line for each seed set."""
        return np.array([extended(cumulative(one), length) for one in self._gains(graph, strategy)])

    def scores(self, graph: str, strategy: str, step: int) -> NDArray[np.float64]:
        """The score at a step, one for each seed set."""
        return np.array([float(found(one, step)) for one in self._gains(graph, strategy)])

    def _gains(self, graph: str, strategy: str) -> list[NDArray[np.float64]]:
        results = self.results[graph][1]
        return [results.gains(outcome) for outcome in results.select(strategy)]

    def graphs(self, group: str, step: int = 0) -> list[str]:
        """The graphs of a group that are large enough for a step."""
        return [
            name
            for name, (dataset, results) in self.results.items()
            if dataset.group == group and step <= results.experiment.budget
        ]

    def steps(self, group: str) -> list[int]:
        """The steps that all graphs of a group have."""
        every = [
            set(results.experiment.budgets) for dataset, results in self.results.values() if dataset.group == group
        ]
        return sorted(set.intersection(*every)) if every else []

    def global_score(self, group: str, strategy: str, step: int, baseline: str = ORACLE) -> float:
        """Mean over seed sets, over that of the baseline, geometric mean over the graphs of a group."""
        named = self.graphs(group, step)
        return global_score(
            [self.scores(name, strategy, step) for name in named], [self.scores(name, baseline, step) for name in named]
        )

    def beaten(self) -> list[str]:
        """Where a crawl has more than greedy with the oracle, and what no crawl can exceed."""
        return [line for _, results in self.results.values() for line in results.remarks if line.startswith(ABOVE)]

    def remarks(self) -> list[str]:
        """What the runs had to say, graph by graph."""
        return self.left_out + [
            f"{graph}: {line}" for graph, (_, results) in self.results.items() for line in results.remarks
        ]


def crawl(
    bench: Bench,
    graphs: Iterable[Dataset],
    strategies: Sequence[str],
    *,
    sets: int,
    mode: Mode = AS_PUBLISHED,
    steps: Sequence[int] = (),
    part: str = "",
) -> Crawls:
    """Crawl each graph with each strategy (and the oracle) from each of its seed sets; what is done is kept.

    `part` names the tables that are left beside the runs: those of one graph share a directory, and what is judged.
    """
    made = Crawls(mode)
    for graph in graphs:
        subject = graph.subject if mode == AS_PUBLISHED else graph.labels
        if subject is None:
            continue
        plan = Experiment(
            f"gouriten, {graph.name}", str(graph.index.path or ""), list(dict.fromkeys([ORACLE, *strategies])),
            told=graph.told, judge=graph.judge, mode=mode, seeds="random", seed_count=seeds_for(subject),
            seed_sets=sets, budgets=list(steps or graph.steps), random_seed=bench.random_seed,
        )  # fmt: skip
        place = bench.out / "graphs" / "".join(letter if letter.isalnum() else "-" for letter in graph.name.lower())
        try:
            results = run(
                plan, place, index=graph.index, subjects=[subject], workers=1 if bench.quick else bench.workers,
                tell=bench.tell,
            )  # fmt: skip
        except InputError as error:
            if mode == AS_PUBLISHED:
                raise
            made.left_out.append(f"{graph.name}: not judged by labels: {error}")
            continue
        for name in TABLES:
            if (place / name).exists():
                (place / name).replace(place / f"{part or mode}-{name}")
        made.results[graph.name] = (graph, results)
    return made
