"""How like a topic's relevant pages every page of a corpus is: what the thesis judges crawls with."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from lycosa.lab.evaluator import THRESHOLD
from lycosa.lab.findings import Cell, Table
from lycosa.lab.index import Index
from lycosa.lab.measures import average_similarity, found, gains, harvest_ratio
from lycosa.lab.papers.weighing import Measure
from lycosa.lab.resemblance import nearest_in
from lycosa.lab.running import Outcome, Results
from lycosa.lab.subjects import Subject, chance

THRESHOLDS = (0.75, 0.5, 0.4, 0.3, 0.2)
MOST = 50
"""Relevant pages that a page is compared with."""


class Evaluator:
    """The thesis's judge for all subjects of an experiment: pages as like as the threshold, and how like they are.

    The relevant pages that it compares with are drawn by chance, up to fifty, and never more than half of those that
    nothing was learned from. As in the thesis a crawl may find them, and then they are as like as can be.
    """

    def __init__(self, index: Index, random_seed: int = 0) -> None:
        self.index, self.random_seed = index, random_seed
        self.known: dict[str, NDArray[np.float64]] = {}
        self.rows: dict[str, list[tuple[float, float, float]]] = {}

    def of(self, subject: Subject) -> NDArray[np.float64]:
        """How like the subject's relevant pages each page of the corpus is."""
        key = f"{subject.name} {int(subject.seen.sum())}"
        if key not in self.known:
            relevant = self.chosen(subject)
            self.known[key] = nearest_in(self.index, relevant)
            self.rows.setdefault(subject.name, self._agreement(subject, relevant, self.known[key]))
        return self.known[key]

    def chosen(self, subject: Subject) -> list[int]:
        """The relevant pages that are compared with."""
        free = (subject.truth > 0) & ~(subject.seen if len(subject.seen) else np.zeros(len(self.index), np.bool_))
        nodes = chance(self.random_seed, "evaluator", subject.name).permutation(np.flatnonzero(free))
        some: list[int] = np.sort(nodes[: min(MOST, (len(nodes) + 1) // 2)]).tolist()
        return some

    def counts(self, budgets: Sequence[int]) -> Measure:
        """Pages above the threshold, at each budget."""
        return lambda outcome, results: harvest_ratio(self._gains(outcome, results), budgets, THRESHOLD)[0]

    def averages(self, budgets: Sequence[int]) -> Measure:
        """Average similarity, at each budget."""
        return lambda outcome, results: average_similarity(self._gains(outcome, results), budgets)

    def labels(self, budgets: Sequence[int]) -> Measure:
        """Relevant pages by labels, at each budget."""
        return lambda outcome, results: found(gains(outcome.trace, results.subjects[outcome.subject]), budgets)

    def _gains(self, outcome: Outcome, results: Results) -> NDArray[np.float64]:
        subject = results.subjects[outcome.subject]
        return gains(outcome.trace, subject, self.of(subject))

    def _agreement(
        self, subject: Subject, relevant: Sequence[int], like: NDArray[np.float64]
    ) -> list[tuple[float, float, float]]:
        """At each threshold: pages above it, which share of them is relevant, which share of relevant ones is above."""
        rest = np.ones(len(like), np.bool_)
        rest[list(relevant)] = False
        if len(subject.seen):
            rest &= ~subject.seen
        true, above = subject.truth[rest] > 0, like[rest, None] > np.array(THRESHOLDS)
        hits = (above & true[:, None]).sum(axis=0)
        return [
            (float(many), float(hit / many) if many else float("nan"), float(hit / max(1, true.sum())))
            for many, hit in zip(above.sum(axis=0).tolist(), hits.tolist(), strict=True)
        ]

    def table(self) -> Table:
        """How far the evaluator agrees with labels, over all pages of the corpus that it was not given."""
        told = np.array(list(self.rows.values())).reshape(-1, len(THRESHOLDS), 3)
        rows: list[list[Cell]] = []
        for place, threshold in enumerate(THRESHOLDS):
            many, right, recalled = told[:, place].T
            known = right[~np.isnan(right)]
            rows.append(
                [
                    threshold,
                    round(many.mean()) if len(many) else None,
                    float(known.mean()) if len(known) else None,
                    float(recalled.mean()) if len(recalled) else None,
                ]
            )
        return Table(
            "batsakis-evaluator",
            "The thesis's evaluator against labels",
            ["similarity above", "pages above it", "of which relevant", "of the relevant pages"],
            rows,
            note=f"Mean over {len(told)} topics, over all pages but the relevant ones that it was given. The "
            f"thesis takes {THRESHOLD}. Where hardly any page is above it, figures by it count little else than "
            "the given pages themselves: read those by labels.",
        )
