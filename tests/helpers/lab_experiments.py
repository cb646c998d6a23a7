"""A small graph and an experiment on it, for tests of the lab."""

from __future__ import annotations

import csv
from pathlib import Path
from typing import Any

from lycosa_lab.corpus_index import CorpusIndex
from lycosa_lab.experiments import Experiment
from lycosa_lab.results import read_trace

STRATEGIES = ["breadth-first", "random", "fl_n", "mab_first"]


def graph() -> CorpusIndex:
    """Return a graph of a hundred nodes with links to four others; every fifth one has a score."""
    links = {f"n{n}": [f"n{(n * 7 + k * 13 + k * k) % 100}" for k in range(1, 5)] for n in range(100)}
    return CorpusIndex.of(links, score={f"n{n}": 1.0 + n / 100 for n in range(0, 100, 5)})


def plan(**settings: Any) -> Experiment:
    defaults: dict[str, Any] = {
        "strategies": STRATEGIES, "description": "score", "mode": "as-published", "seeds": "random", "seed_count": 2,
        "seed_sets": 2, "budgets": [10, 40], "repetitions": 2,
    }  # fmt: skip
    return Experiment("mine", "", **defaults | settings)


class RecordedProgress(list[tuple[str, int, int]]):
    """Progress callback that records its calls."""

    def __call__(self, what: str, done: int, total: int) -> None:
        self.append((what, done, total))

    @property
    def trials(self) -> int:
        return max(total for what, _, total in self if what == "running trials")


def results_csv(out: Path) -> bytes:
    return (out / "results.csv").read_bytes()


def rows(out: Path) -> list[dict[str, str]]:
    with open(out / "results.csv", encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def runs(out: Path) -> dict[str, tuple[Any, ...]]:
    """Return the stored runs without their times."""
    stored = {}
    for path in sorted((out / "runs").glob("*.npz")):
        trace = read_trace(path)
        assert trace is not None
        stored[path.name] = (trace.nodes.tolist(), trace.seeds, trace.ending, trace.arms)
    return stored
