"""Tables of freshness: each schedule at each budget, ours against the others, and the claims that follow."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from lycosa.core.durations import spoken
from lycosa.lab.certainty import Difference, Interval, interval, paired
from lycosa.lab.findings import Cell, Claim, Table, Verdict
from lycosa.lab.papers.freshness.fates import FATES, HAPPENED, LOOKED, OTHERWISE, TOLD, WRONG
from lycosa.lab.papers.freshness.measuring import Measured
from lycosa.lab.papers.freshness.watching import AUTOMATIC, KNOWN, SCHEDULES, Trial
from lycosa.lab.papers.scent.comparing import apart, sure

SOURCE = "docs/freshness.md"
OTHERS = tuple(name for name in SCHEDULES if name not in (AUTOMATIC, KNOWN))
HOUR = 3600.0


@dataclass
class Runs:
    """All watches, by trial."""

    made: dict[Trial, Measured]

    @property
    def budgets(self) -> list[float]:
        """Seconds for each look at a page, the richest first."""
        return sorted({trial.every for trial in self.made})

    def of(self, schedule: str, every: float) -> list[Measured]:
        """The same schedule and budget on all webs, in their order."""
        found = [trial for trial in self.made if (trial.schedule, trial.every) == (schedule, every)]
        return [self.made[trial] for trial in sorted(found, key=lambda trial: trial.world.seed)]

    def values(self, schedule: str, every: float, name: str = "freshness") -> list[float]:
        """One number of each."""
        return [float(getattr(one, name)) for one in self.of(schedule, every)]

    def interval(self, schedule: str, every: float, name: str = "freshness") -> Interval:
        """Its mean over webs."""
        return interval(self.values(schedule, every, name))

    def ahead(self, schedule: str, other: str, every: float, name: str = "freshness") -> Difference:
        """By how much one is better than another on the same webs."""
        return paired(self.values(schedule, every, name), self.values(other, every, name))


def budget(every: float) -> str:
    """A budget in words.

    >>> budget(86_400.0)
    'one look a page every 1d'
    """
    return f"one look a page every {spoken(every)}"


def table_freshness(runs: Runs) -> Table:
    """The main table."""
    rows: list[list[Cell]] = []
    for every in runs.budgets:
        for name in SCHEDULES:
            own = runs.of(name, every)
            ours = "" if name == AUTOMATIC else apart(runs.ahead(AUTOMATIC, name, every))
            rows.append(
                [
                    spoken(every), name, sure(runs.interval(name, every)), ours,
                    runs.interval(name, every, "unweighted").mean, runs.interval(name, every, "age").mean,
                    _mean([one.looks / one.watched for one in own]),
                    _mean([one.unmodified / max(1, one.looks) for one in own]),
                    _mean([one.other / one.watched for one in own]), runs.interval(name, every, "lied").mean,
                ]
            )  # fmt: skip
    return Table(
        "freshness-schedules", "Freshness under the same budget",
        (
            "a look every", "schedule", "freshness", "automatic less it", "unweighted", "age, days", "looks a page",
            "of them 304", "other requests a page", "lost to false 304s",
        ),
        rows,
        note="Freshness: the share of the watched pages, by relevance, whose copy lacks no real change, mean over all "
        "moments of the watch, with 95 % intervals over webs; differences are paired. Unweighted: each page alike. "
        "Age: days since the first change that a copy lacks, 0 for fresh ones, by relevance. Known is told how often "
        "each page changes: what no schedule can beat that is not told more, such as when. Adaptive knows no budget, "
        "and does not use all of it; it begins with the interval of the budget. Adaptive, spending: what is left of "
        "the budget makes its next pages due earlier. Other requests (robots.txt, probes) come out of the budget. "
        "A page that moves or vanishes counts until then, one that turns to another topic until it turns back. "
        "Lost to false 304s: the share that was out of date after its host had said that nothing had changed.",
    )  # fmt: skip


def table_told(runs: Runs) -> Table:
    """What became of the real changes."""
    rows: list[list[Cell]] = []
    for every in runs.budgets:
        for name in SCHEDULES:
            own = [one.told for one in runs.of(name, every)]
            changes = sum(one.changes for one in own)
            lags = np.array([lag for one in own for lag in one.lag] or [math.nan]) / HOUR
            rows.append(
                [
                    spoken(every), name, changes, *(
                        sum(getattr(one, part) for one in own) / max(1, changes)
                        for part in ("told", "folded", "overlooked", "denied", "unseen")
                    ),
                    sum(one.alarms for one in own), float(np.median(lags)), float(np.quantile(lags, 0.9)),
                ]
            )  # fmt: skip
    return Table(
        "freshness-told", "Real changes: told, and how late",
        (
            "a look every", "schedule", "changes", "told", "together with later ones", "overlooked", "denied",
            "not looked at", "false alarms", "median hours to notice", "90 % within hours",
        ),
        rows,
        note="All webs together, of pages while they count. Told: the first look after the change that brought the "
        "page said that something real had changed. Together with later ones: there was another change before that "
        "look, so that this version was never had. Overlooked: the page was fetched, and the change taken for "
        "cosmetic. Denied: the host said 304 up to the end. False alarms: real changes were told, and there was none.",
    )  # fmt: skip


def table_fates(runs: Runs) -> Table:
    """Pages that moved, vanished, came back: all schedules of a budget together, and ours."""
    rows: list[list[Cell]] = []
    for every in runs.budgets:
        for title, names in ((AUTOMATIC, [AUTOMATIC]), ("all schedules", list(SCHEDULES))):
            own = [one.fates for name in names for one in runs.of(name, every)]
            for fate in FATES:
                count = [sum(one[fate][place] for one in own) for place in range(5)]
                wrong = count[WRONG] if fate != "soft-404" else 0
                rows.append(
                    [
                        spoken(every), title, fate, count[HAPPENED], count[LOOKED], count[TOLD], count[OTHERWISE],
                        count[TOLD] / count[LOOKED] if count[LOOKED] else None,
                        count[TOLD] / count[HAPPENED] if count[HAPPENED] else None,
                        wrong if fate != "soft-404" else None,
                        count[TOLD] / (count[TOLD] + wrong) if fate != "soft-404" and count[TOLD] + wrong else None,
                    ]
                )  # fmt: skip
    return Table(
        "freshness-fates", "Pages that moved, vanished, came back",
        (
            "a look every", "schedule", "what happened", "pages", "looked at since", "told as such", "told otherwise",
            "recall, of those looked at", "recall", "told wrongly", "precision",
        ),
        rows,
        note="Gone: 404 or 410; soft-404: a page under status 200 that says that there is none. Both are told as "
        "vanished: what is told wrongly so is counted with gone. Returned: of pages whose absence had been told.",
    )  # fmt: skip


def claims_of(runs: Runs, quick: bool) -> list[Claim]:
    """What is claimed of `automatic`. A claim on all budgets fails with the first that misses."""
    told, missed = [], False
    for every in runs.budgets:
        for name in OTHERS:
            ahead = runs.ahead(AUTOMATIC, name, every)
            missed |= not ahead.mean > 0
            told.append(f"{budget(every)}: automatic less {name} {apart(ahead)}, p = {ahead.p:.3f}.")
    found = [
        Claim(
            "At every budget automatic keeps more fresh than fixed, adaptive and proportional", SOURCE,
            _verdict(not missed, quick), _lines(told, quick),
        )
    ]  # fmt: skip
    told, near = [], True
    for every in runs.budgets:
        best = max(runs.interval(name, every).mean for name in OTHERS)
        ours, most = runs.interval(AUTOMATIC, every).mean, runs.interval(KNOWN, every).mean
        way = (ours - best) / (most - best) if most > best else 1.0
        near &= way >= 0.5
        told.append(
            f"{budget(every)}: {ours:.3f} of {most:.3f}, the best other one {best:.3f}: {way:.0%} of the way; "
            f"known less automatic {apart(runs.ahead(KNOWN, AUTOMATIC, every))}."
        )
    found.append(
        Claim(
            "Of the way from the best other schedule to the one that knows the rates, automatic goes at least a half",
            SOURCE, _verdict(near, quick), _lines(told, quick),
        )
    )  # fmt: skip
    return found


def _verdict(reached: bool, quick: bool) -> Verdict:
    return "cannot be tested here" if quick else "holds" if reached else "does not hold"


def _lines(told: list[str], quick: bool) -> str:
    return "\n".join([*(["A quick run is too small to tell."] if quick else []), *told])


def _mean(values: Sequence[float]) -> float:
    return sum(values) / len(values) if values else math.nan
