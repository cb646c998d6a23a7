"""Samples for tests of `lycosa.checks`: arguments of strategies and judges."""

from collections.abc import Callable, Iterable
from functools import cache
from typing import Any

import numpy as np

from lycosa.core.columns import fit
from lycosa.core.frontier import PRUNED
from lycosa.core.table import Table
from lycosa.core.types import Priorities, Rows, Step
from lycosa.judges.model import TrainedModel, fit_model
from lycosa.strategies import BROWSING, STRATEGIES, WORDS
from lycosa.text.bags import Bags
from lycosa.text.browsing import Browsing
from lycosa.text.ontology import Ontology

REEFS = Ontology.build(
    {"reef": ["reef"], "coral reef": ["coral reef"], "coral": ["coral"], "bleaching": ["bleaching", "whitening"]},
    broader=[("coral reef", "reef")],
    related=[("coral", "coral reef")],
)


@cache
def two_classes() -> TrainedModel:
    return fit_model("nb", Bags.of([([0], [2]), ([1], [2])]), np.array([0, 1]), ["Sea", "Trains"], ["coral", "rail"])


BROWSED = Browsing(
    ["coral", "reef", "bleach"],
    Bags.of([([0, 1], [2, 1]), ([1], [1]), ([2], [3])]),
    ["http://a.example/", "http://b.example/", "http://c.example/"],
    np.array([True, False, False]),
    np.array([0, 1, 2]),
    np.array([(2, 1), (1, 0), (0, 2)]),
    {"kmeans": np.array([0, 1, 1]), "xmeans": np.array([0, 0, 1])},
    states=3,
)


def arguments(name: str) -> dict[str, Any]:
    needs = STRATEGIES[name.partition(",")[0]].needs
    return {"file": BROWSED} if needs == BROWSING else {"words": "coral", "ontology": REEFS} if needs == WORDS else {}


def named(name: str, checks: Iterable[Callable[[Any], None]]) -> Callable[[Any], None]:
    return next(check for check in checks if check.__name__ == name)


class BrokenEstimator:
    """Base of estimators with one error each."""

    def __init__(self) -> None:
        self.page = 0.5
        self.priority_ = np.zeros(0)

    def learn(self, step: Step, table: Table) -> Rows:
        self.priority_ = fit(self.priority_, len(table))
        value = self.page * step.visit.relevance + step.link_relevances.astype(np.float64)
        if step.visit.kind == "redirect":
            value = np.full(len(step.children), self.priority_[step.row])
        self.priority_[step.children] = np.maximum(self.priority_[step.children], value)
        return step.children

    def priority(self, rows: Rows, table: Table) -> Priorities:
        return fit(self.priority_, len(table))[rows]


class Pruning(BrokenEstimator):
    """Estimator that prunes every second row."""

    def priority(self, rows: Rows, table: Table) -> Priorities:
        return np.where(rows % 2 == 1, super().priority(rows, table), PRUNED)
