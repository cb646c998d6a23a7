"""Linear regression of a page's relevance on features of its neighbourhood, updated with every page."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from lycosa.core.columns import column, fit, learned
from lycosa.core.scan import Features, linear_priorities
from lycosa.core.table import Table
from lycosa.core.types import Priorities, Rows, Step
from lycosa.strategies.first_level import Siblings

FIRST_LEVEL = ("in_degree", "relevance_sum", "link_relevance_sum", "product_sum")
SECOND_LEVEL = ("n", "e", "ne")
# Names of the features in explanations.
NAMES = (
    "pages that link to it", "their relevance", "relevance of the links", "page times link relevance",
    "siblings' relevance", "relevance of links to siblings", "siblings' page times link relevance",
)  # fmt: skip


@dataclass
class Regression:
    """Linear regression: predict a page's relevance from the sums of the fl_ and sl_ estimators, by least squares.

        priority(v) = w * f(x(v)) + c       f(x) = log(1 + x), or x itself without `smooth`

    x(v) are fl_deg, fl_n, fl_e and fl_ne (`level="fl"`: lr_fl), and in addition sl_n, sl_e and sl_ne (`level="sl"`:
    lr_sl). w and c minimise the squared errors over all pages crawled so far, plus `ridge` times |w|^2 + c^2. They are
    updated page by page (recursive least squares): with P the inverse of ridge * I + sum of x x', and a page x, y,

        g = P x / (1 + x' P x),    w = w + g (y - w' x),    P = P - g (P x)'

    A page's features are those before its visit. Seeds are not used for training unless `literal`: without features and
    mostly relevant, they would favour pages without parents (total relevance after 1,000 steps on a graph of 2.2
    million nodes, from fifty seeds: 169 with them, 3,139 without). Before the first other page all priorities are 0.

    Every page changes every priority, so `learn` returns the rows whose features changed, and the frontier multiplies
    weights and features itself (core/scan.py), with the same rounding, so rows with equal features have equal
    priorities.

    Paper: Gouriten, Maniu, Senellart 2014, section 7.3, estimator 5. The ridge is ours: features of the first pages are
    equal, and plain least squares has no unique solution.

    >>> from lycosa.core.types import Links, Visit
    >>> table, lr = Table(), Regression("fl", smooth=False, ridge=1e-6)
    >>> _ = table.add_seed("a")
    >>> for node, relevance, links in (("a", 1, ("b", "c")), ("b", .5, ("c",)), ("c", .9, ())):
    ...     visit = Visit(node, "page", "ok", 1, relevance=relevance, links=Links.to(*links))
    ...     rows = lr.learn(table.absorb(visit), table)
    >>> lr.priority(np.arange(1, 3, dtype=np.int32), table).round(2).tolist()
    [0.5, 0.9]
    """

    sweeping: ClassVar[bool] = True

    level: Literal["fl", "sl"] = "fl"
    smooth: bool = True
    ridge: float = 1e-3
    literal: bool = False
    weights_: NDArray[np.float64] = column()  # w, then c
    inverse_: NDArray[np.float64] = learned(lambda: np.zeros((0, 0)))  # P
    siblings_: Siblings | None = learned(lambda: None)

    def __post_init__(self) -> None:
        if self.level not in ("fl", "sl"):
            raise ValueError(f"'level' is {self.level!r}: it must be fl or sl")
        if not 1e-12 <= self.ridge < float("inf"):  # so that 1 / ridge and its products are finite
            raise ValueError(f"'ridge' is {self.ridge}: it must be above 0 (1e-12 at least), for instance 0.001")
        if self.level == "sl":
            self.siblings_ = Siblings()
        size = 1 + len(FIRST_LEVEL) + (len(SECOND_LEVEL) if self.level == "sl" else 0)
        self.weights_ = np.zeros(size)
        self.inverse_ = np.eye(size) / self.ridge

    @property
    def weights(self) -> NDArray[np.float32]:
        return self.weights_[:-1].astype(np.float32)

    @property
    def intercept(self) -> float:
        return float(self.weights_[-1])

    def features(self, rows: Rows, table: Table) -> Features:
        sums = [getattr(table, name)[rows] for name in FIRST_LEVEL]
        if self.siblings_ is not None:
            sums += [fit(getattr(self.siblings_, name), len(table))[rows] for name in SECOND_LEVEL]
        lines = np.array(sums, np.float64)
        return (np.log1p(np.maximum(lines, 0.0)) if self.smooth else lines).astype(np.float32)

    def learn(self, step: Step, table: Table) -> Rows:
        """Train on the page with its features from before the visit, then update the siblings."""
        if step.visit.is_page and (self.literal or not table.is_seed[step.row]):
            self._train(self.features(np.array([step.row], np.int32), table)[:, 0], step.visit.relevance)
        if self.siblings_ is not None:
            return self.siblings_.learn(step, table)
        return step.children

    def _train(self, features: Features, beta: float) -> None:
        x = np.append(features.astype(np.float64), 1.0)
        along = self.inverse_ @ x
        gain = along / (1.0 + x @ along)
        self.weights_ = self.weights_ + gain * (beta - x @ self.weights_)
        inverse = self.inverse_ - np.outer(gain, along)
        self.inverse_ = (inverse + inverse.T) / 2.0  # rounding errors would make it asymmetric over time

    def explain(self, row: int, table: Table) -> dict[str, float]:
        products = self.weights.astype(np.float64) * self.features(np.array([row], np.int32), table)[:, 0]
        terms = {**dict(zip(NAMES, products.tolist(), strict=False)), "constant": self.intercept}
        return dict(sorted(terms.items(), key=lambda term: -abs(term[1])))

    def priority(self, rows: Rows, table: Table) -> Priorities:
        return linear_priorities(self.features(rows, table), self.weights, self.intercept)
