"""When a claim of the paper counts as true: functions of numbers only.

They were settled after a first look at the embedded web, and before any run on a real corpus.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import numpy as np

from lycosa.lab.certainty import Difference, paired
from lycosa.lab.findings import Verdict
from lycosa.lab.papers.rules.pairs import BASELINE, RULES, Pair

FEW_HUNDRED = 300
FEWEST = 3
"""Topics of the paper; fewer say nothing."""

Ruling = tuple[Verdict, str]


def _ruling(holds: bool, evidence: str) -> Ruling:
    return ("holds" if holds else "does not hold"), evidence


def better(told: Sequence[Pair], which: str = "") -> Ruling:
    """The mean difference, rules less baseline, is above 0 with all of its 95 % interval (over topics, then seeds)."""
    ours = [pair.rules_exclusive if which else pair.rules for pair in told]
    base = [pair.baseline_exclusive if which else pair.baseline for pair in told]
    apart: Difference = paired(ours, base, groups=[pair.topic for pair in told])
    changes = [pair.exclusive_improvement if which else pair.improvement for pair in told]
    known = [change for change in changes if not math.isnan(change)]
    evidence = (
        f"rules {np.nanmean(ours):.3f}, baseline {np.nanmean(base):.3f}; difference {apart.mean:+.3f} (95 %: "
        f"{apart.low:+.3f} to {apart.high:+.3f}, p = {apart.p:.2f}); higher in {sum(change > 0 for change in known)} "
        f"of {len(told)}, by {min(known, default=math.nan):+.0f} to {max(known, default=math.nan):+.0f} %"
    )
    topics = len({pair.topic for pair in told})
    if topics < FEWEST:
        return "cannot be tested here", f"{topics} topics only, and it takes {FEWEST}; {evidence}"
    return _ruling(apart.low > 0, evidence)


def differ(told: Sequence[Pair], budget: int, pages: int) -> Ruling:
    """The mean overlap is 30 % at most; tested at a budget of a twentieth of the corpus, or less."""
    overlaps = [pair.overlap for pair in told]
    evidence = (
        f"after {budget:,} of {pages:,} pages {np.mean(overlaps):.0f} % on average, {min(overlaps):.0f} to "
        f"{max(overlaps):.0f} %; by chance it would be {100 * budget / pages:.0f} %"
    )
    if budget < 50 or budget > pages / 20 + 1:
        return "cannot be tested here", f"the corpus is too small to differ in; {evidence}"
    return _ruling(float(np.mean(overlaps)) <= 30.0, evidence)


def ahead_later(curves: Mapping[str, Sequence[float]], steps: Sequence[int]) -> Ruling:
    """After 300 pages the mean harvest of rules is never below that of the baseline."""
    later = [at for at, step in enumerate(steps) if step >= FEW_HUNDRED]
    if not later or steps[-1] < 2 * FEW_HUNDRED:
        return "cannot be tested here", f"a few hundred pages are {FEW_HUNDRED}, and crawls here have {steps[-1]:,}"
    apart = {steps[at]: curves[RULES][at] - curves[BASELINE][at] for at in later}
    worst = min(apart, key=lambda step: apart[step])
    evidence = (
        f"rules ahead at {sum(value >= 0 for value in apart.values())} of {len(apart)} points; least "
        f"{apart[worst]:+.3f} at {worst:,}, at the end {apart[steps[-1]]:+.3f}"
    )
    return _ruling(apart[worst] >= 0, evidence)


def keep_finding(curves: Mapping[str, Sequence[float]], steps: Sequence[int], relevant: float) -> Ruling:
    """In the last half of the crawl both find half as many as in the first, or more; if there are enough to find."""
    middle = len(steps) // 2 - 1
    shares = {}
    for name in (BASELINE, RULES):
        first = curves[name][middle] * steps[middle]
        rest = (curves[name][-1] * steps[-1] - first) / max(1, steps[-1] - steps[middle])
        shares[name] = rest / max(first / steps[middle], 1e-9)
    evidence = "harvest of the last half over that of the first: " + ", ".join(
        f"{name} {share:.2f}" for name, share in shares.items()
    )
    if relevant < steps[-1]:
        return "cannot be tested here", f"{relevant:,.0f} relevant pages for {steps[-1]:,} fetched; {evidence}"
    return _ruling(min(shares.values()) >= 0.5, evidence)


def seeds_matter_little(few: Mapping[str, float], many: Mapping[str, float], counts: tuple[int, int]) -> Ruling:
    """With five times as many seeds the harvest ratio of both crawlers changes by a tenth at most."""
    changes = {name: many[name] / few[name] - 1 if few[name] > 0 else math.inf for name in (BASELINE, RULES)}
    evidence = f"{counts[1]} seeds in place of {counts[0]}: " + ", ".join(
        f"{name} {few[name]:.3f} to {many[name]:.3f}" for name in changes
    )
    if counts[1] < 2 * counts[0]:
        return "cannot be tested here", f"the topics are too small for more seeds; {evidence}"
    return _ruling(max(abs(change) for change in changes.values()) <= 0.1, evidence)


def restrictive(dry: int, trials: int) -> Ruling:
    """Hard focus runs out of links before its budget is spent in half of the crawls, or more."""
    return _ruling(2 * dry >= trials, f"hard focus ran dry in {dry} of {trials} crawls from seeds on the topic")
