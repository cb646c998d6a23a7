"""Two crawlers from the same seeds, as table 3 compares them: ours, and those of the paper."""

from __future__ import annotations

import math
from dataclasses import dataclass

from lycosa.lab.measures import exclusive, harvest, overlap
from lycosa.lab.running import Results

BASELINE, RULES, HARD = "soft-focus", "rules", "hard-focus"

PUBLISHED: dict[str, tuple[tuple[float, ...], tuple[float, ...]]] = {
    "Quantum mechanics": ((0.28, 0.30, 10.0, 0.27, 0.29), (0.25, 0.29, 16.0, 0.23, 0.28)),
    "Computer history": ((0.29, 0.40, 27.0, 0.26, 0.39), (0.36, 0.37, 22.0, 0.35, 0.37)),
    "Open source": ((0.52, 0.56, 10.0, 0.51, 0.54), (0.48, 0.61, 8.0, 0.47, 0.61)),
}
"""Table 3, by topic and seed set: harvest ratio of baseline and rules, URL overlap in %, exclusive ones of both."""


@dataclass(frozen=True)
class Pair:
    """Both crawlers from the same seeds: what a line of table 3 has."""

    topic: str
    seed_set: int
    baseline: float
    rules: float
    overlap: float
    """In %."""
    baseline_exclusive: float
    rules_exclusive: float

    @property
    def improvement(self) -> float:
        """Of the harvest ratio, in %."""
        return _percent(self.baseline, self.rules)

    @property
    def exclusive_improvement(self) -> float:
        """Of the exclusive harvest ratio, in %."""
        return _percent(self.baseline_exclusive, self.rules_exclusive)


def pairs(results: Results, mode: str, budget: int) -> list[Pair]:
    """Table 3 of some crawls, up to a budget."""
    found = []
    theirs = {(one.subject, one.seed_set): one for one in results.select(RULES)}
    for one in results.select(BASELINE):
        other = theirs.get((one.subject, one.seed_set))
        if other is None:
            continue
        subject, truth = results.subjects[one.subject], results.truth(one.subject, mode)
        a, b = (subject.counted(each.trace.found)[:budget] for each in (one, other))
        only_a, only_b = exclusive(a, b, truth)
        found.append(
            Pair(
                one.subject, one.seed_set + 1, float(harvest(results.gains(one, mode), budget)),
                float(harvest(results.gains(other, mode), budget)), 100 * overlap(a, b), only_a, only_b,
            )
        )  # fmt: skip
    return found


def _percent(before: float, after: float) -> float:
    return 100 * (after / before - 1) if before > 0 else math.nan
