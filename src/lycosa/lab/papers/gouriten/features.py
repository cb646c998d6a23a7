"""Tables 3 and 4: how much the features of a node say about its score, where the whole graph is known."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from lycosa.lab.findings import AS_PUBLISHED, Cell, Table
from lycosa.lab.guides import Guide
from lycosa.lab.measures import geometric_mean
from lycosa.lab.neighbourhood import FIRST, SECOND, fit, neighbourhood
from lycosa.lab.papers.gouriten.published import FEATURES, PEARSON, R_SQUARED

MODELS = {"lr_fl": FIRST, "lr_sl": (*FIRST, *SECOND)}
KINDS = ("original", "log")


def held_out(columns: Sequence[NDArray[np.float64]], beta: NDArray[np.float64], random_seed: int = 0) -> float:
    """R^2 on half of the nodes of a regression that was fitted to the others; 0 if it does worse than their mean."""
    fitted = np.random.default_rng(random_seed).random(len(beta)) < 0.5
    x = np.column_stack([*columns, np.ones(len(beta))])
    if not fitted.any() or fitted.all():
        return math.nan
    gram = x[fitted].T @ x[fitted]
    weights = np.linalg.pinv(gram, rcond=1e-12, hermitian=True) @ (x[fitted].T @ beta[fitted])
    rest = beta[~fitted]
    spread = float(((rest - rest.mean()) ** 2).sum())
    return max(0.0, 1.0 - float(((rest - x[~fitted] @ weights) ** 2).sum()) / spread) if spread else math.nan


class Fits:
    """Correlations and fits on each graph, and their geometric means."""

    def __init__(self, random_seed: int = 0) -> None:
        self.random_seed = random_seed
        self.pearson: dict[str, dict[str, list[float]]] = {kind: {name: [] for name in FEATURES} for kind in KINDS}
        self.fit: dict[str, dict[str, list[float]]] = {kind: {name: [] for name in MODELS} for kind in KINDS}
        self.outside: dict[str, list[float]] = {name: [] for name in MODELS}
        self.graphs: list[str] = []

    def add(self, name: str, guide: Guide) -> None:
        """Another graph."""
        self.graphs.append(name)
        columns = neighbourhood(guide.index, guide.beta, guide.alpha)
        for kind in KINDS:
            told = fit(columns, guide.beta, smooth=kind == "log")
            for feature, value in told.pearson.items():
                self.pearson[kind][feature].append(value)
            for model, value in told.r_squared.items():
                self.fit[kind][model].append(value)
        for model, named in MODELS.items():
            smooth = [np.log1p(columns[feature]) for feature in named]
            self.outside[model].append(held_out(smooth, guide.beta.astype(np.float64), self.random_seed))

    def correlations(self, kind: str) -> dict[str, float]:
        """By feature: the geometric mean over graphs; the smallest where one is not above 0."""
        return {name: _mean(values) for name, values in self.pearson[kind].items()}

    def by_graph(self) -> dict[str, float]:
        """Each correlation of its own."""
        return {
            f"{name} ({kind}) on {graph}": value
            for kind, of in self.pearson.items()
            for name, values in of.items()
            for graph, value in zip(self.graphs, values, strict=True)
        }

    def fits(self, kind: str) -> dict[str, float]:
        """R^2 by model."""
        return {name: geometric_mean(values) for name, values in self.fit[kind].items()}

    def fits_outside(self) -> dict[str, float]:
        """R^2 by model on nodes that were held out, with log(1 + x)."""
        return {name: geometric_mean(values) for name, values in self.outside.items()}

    def tables(self) -> list[Table]:
        """Tables 3 and 4."""
        note = (
            f"Geometric means over {len(self.graphs)} graphs: {', '.join(self.graphs)}. The paper's are over its five."
        )
        columns = ("original, here", "original, paper", "log, here", "log, paper")
        pearson = {kind: self.correlations(kind) for kind in KINDS}
        fitted, outside = {kind: self.fits(kind) for kind in KINDS}, self.fits_outside()
        return [
            Table(
                "gouriten-table-3", "Table 3: Pearson correlation of features with the score", ("feature", *columns),
                [_row(name, place, pearson, PEARSON) for place, name in enumerate(FEATURES)], AS_PUBLISHED,
                note=f"{note} The whole graph is known; a node is not its own sibling. Where a "
                "graph has a correlation below 0, the smallest stands in place of the mean.",
            ),
            Table(
                "gouriten-table-4", "Table 4: fit of a linear regression (R^2)",
                ("estimator", *columns, "log, held out, here"),
                [[*_row(name, place, fitted, R_SQUARED), outside[name]] for place, name in enumerate(MODELS)],
                AS_PUBLISHED, note=f"{note} Held out: fitted to one half of the nodes, measured on the other.",
            ),
        ]  # fmt: skip


def _mean(values: Sequence[float]) -> float:
    known = [value for value in values if not math.isnan(value)]
    return geometric_mean(known) if known and min(known) > 0 else min(known, default=math.nan)


def _row(
    name: str, place: int, ours: Mapping[str, Mapping[str, float]], paper: Mapping[str, tuple[float, ...]]
) -> list[Cell]:
    return [name, *(number for kind in KINDS for number in (ours[kind][name], paper[kind][place]))]
