"""Freshness of a collection: change detection, and schedules with the same budget, on a changing web.

The embedded web with known change processes (testweb/changing.py) is crawled for a topic; then the real engine revisits
the relevant pages for 30 days of virtual time, a watch, once for each schedule and budget. Freshness is measured
against the known changes.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import partial

from lycosa.core.durations import format_duration
from lycosa.revisit.detectors import DEFAULT as TOGETHER
from lycosa_lab.confidence import Interval, PairedDifference, curve, interval, paired
from lycosa_lab.findings import Cell, Findings, ReportFigure, ReportTable, Ruling, claim_of, combine_rulings, compare
from lycosa_lab.papers import OURS, Bench
from lycosa_lab.papers.freshness.detection import DEFAULT, Detection, detect_world, pooled
from lycosa_lab.papers.freshness.revisit_trials import (
    AUTOMATIC,
    SCHEDULES,
    FreshnessScenario,
    RevisitTrial,
    crawl_scenario,
    run_revisit_trial,
)
from lycosa_lab.papers.freshness.upkeep import Upkeep
from lycosa_lab.pool import map_parallel

SOURCE = "docs/freshness.md"
FIRST = 100  # random seed of the first web; smaller ones were used for development
OTHERS = tuple(name for name in SCHEDULES if name != AUTOMATIC)
HOUR = 3600.0

Detections = Mapping[str, Detection]  # by detector


@dataclass(frozen=True)
class FreshnessSize:
    webs: int = 6
    pages: int = 1500
    hosts: int = 36
    crawled: int = 450
    days: float = 30.0
    hours: tuple[float, ...] = (12.0, 24.0, 72.0)  # budgets: hours between two checks of a page
    pairs: int = 500  # pairs of page versions drawn in each web


QUICK = FreshnessSize(2, 240, 6, 70, 10.0, (24.0,), 40)


def findings(bench: Bench) -> Findings:
    """Return all tables, figures and claims. `bench.index` is not used, as a corpus does not change."""
    size = QUICK if bench.quick else FreshnessSize()
    first = FIRST + 1000 * bench.random_seed
    worlds = [FreshnessScenario(first + i, size.pages, size.hosts, size.crawled, size.days) for i in range(size.webs)]
    judge = partial(detect_world, count=size.pairs, out=bench.out)
    seen = map_parallel(judge, worlds, bench.workers, "judging pairs of versions", bench.progress)
    together = pooled(seen)
    crawled = map_parallel(partial(crawl_scenario, out=bench.out), worlds, bench.workers, "crawling", bench.progress)
    trials = [
        RevisitTrial(world, name, HOUR * hours)
        for hours in reversed(size.hours)
        for world in worlds
        for name in SCHEDULES
    ]
    watched = map_parallel(partial(run_revisit_trial, out=bench.out), trials, bench.workers, "watching", bench.progress)
    runs = Runs(dict(zip(trials, watched, strict=True)))
    return Findings(
        "freshness", OURS["freshness"],
        [
            table_freshness(runs), *(figure_days(runs, every) for every in runs.budgets),
            table_detection(together),
        ],
        [ahead_of_all(runs), default_is_best(seen)],
        f"{size.webs} changing webs of {size.pages} pages, crawled for a topic each; "
        f"{sum(len(one.pages) for one in crawled)} relevant pages and seeds in all are watched for {size.days:g} days "
        f"of virtual time by the engine itself, with {len(SCHEDULES)} schedules and {len(size.hours)} budgets: "
        f"{sum(one.checks for one in watched):,} checks. Hosts send true and false headers (ETag, Last-Modified), "
        "and pages change for good and cosmetically: never, at constant rates, daily and in bursts.",
        {"quick": bench.quick, "random_seed": bench.random_seed, "size": asdict(size),
         "webs": [asdict(world) for world in worlds], "schedules": list(SCHEDULES)},
        {"source": "the embedded web that changes", "pages": size.pages, "hosts": size.hosts},
    )  # fmt: skip


@dataclass
class Runs:
    by_trial: dict[RevisitTrial, Upkeep]

    @property
    def budgets(self) -> list[float]:
        return sorted({trial.every for trial in self.by_trial})

    def of(self, schedule: str, every: float) -> list[Upkeep]:
        trials = [trial for trial in self.by_trial if (trial.schedule, trial.every) == (schedule, every)]
        return [self.by_trial[trial] for trial in sorted(trials, key=lambda trial: trial.world.seed)]

    def values(self, schedule: str, every: float, name: str = "freshness") -> list[float]:
        return [float(getattr(one, name)) for one in self.of(schedule, every)]

    def interval(self, schedule: str, every: float, name: str = "freshness") -> Interval:
        return interval(self.values(schedule, every, name))

    def ahead(self, schedule: str, other: str, every: float) -> PairedDifference:
        return paired(self.values(schedule, every), self.values(other, every))

    def share(self, schedule: str, every: float, of: str, by: str) -> float:
        own = self.of(schedule, every)
        return sum(getattr(one, of) / max(1, getattr(one, by)) for one in own) / len(own) if own else math.nan


def table_freshness(runs: Runs) -> ReportTable:
    rows: list[list[Cell]] = [
        [
            format_duration(every), name, str(runs.interval(name, every)),
            "" if name == AUTOMATIC else str(runs.ahead(AUTOMATIC, name, every)),
            runs.interval(name, every, "age").mean,
            *(runs.share(name, every, *pair)
              for pair in (("checks", "watched"), ("unmodified", "checks"), ("other", "watched"))),
            runs.interval(name, every, "false_304s").mean,
        ]
        for every in runs.budgets
        for name in SCHEDULES
    ]  # fmt: skip
    return ReportTable(
        "freshness-schedules", "Freshness under the same budget",
        (
            "budget: a check every", "schedule", "freshness", "automatic minus it", "age, days", "checks per page",
            "of these 304", "other requests per page", "lost to false 304s",
        ),
        rows,
        note="Freshness: relevance-weighted share of the watched pages whose copy lacks no real change, mean over the "
        "time of the watch, with 95 % intervals over webs; differences are paired. "
        "Age: days since the first change that a copy lacks, 0 for fresh ones, by relevance. Other requests "
        "(robots.txt, probes) use the budget. A page counts until it moves or vanishes, and not while it is about "
        "another topic. Lost to false 304s: the share that was outdated after its host had returned 304.",
    )  # fmt: skip


def figure_days(runs: Runs, every: float) -> ReportFigure:
    curves = []
    for name in SCHEDULES:
        days = [one.days for one in runs.of(name, every)]
        curves.append(curve(name, [float(day) for day in range(1, len(days[0]) + 1)], days))
    return ReportFigure(
        f"freshness-figure-days-{every / HOUR:g}h",
        f"Freshness day by day, one check per page every {format_duration(every)}",
        "day", "share of relevance that is fresh", curves,
        note="At first all copies are new; schedules that learn improve over time. Bands: 95 %, bootstrap "
        "over webs.",
    )  # fmt: skip


def table_detection(seen: Detections) -> ReportTable:
    first = next(iter(seen.values()))
    differ = first.count(True, True) + first.count(True, False)
    return ReportTable(
        "freshness-detection", "Is it a real change? Each method alone, and the default",
        ("method", "precision", "recall", "F1"), [[name, *one.scores] for name, one in seen.items()],
        note=f"{len(first.outcomes):,} pairs of versions from an hour to a week apart, of which {differ:,} have real "
        f"changes. Default: {', '.join(TOGETHER)}.",
    )  # fmt: skip


@claim_of(SOURCE, "At every budget automatic keeps more fresh than fixed")
def ahead_of_all(runs: Runs) -> Ruling:
    """Claim: automatic keeps pages fresher than fixed at every budget; runs are paired by web."""
    webs = sorted({str(trial.world.seed) for trial in runs.by_trial})

    def ruling(every: float, name: str) -> Ruling:
        ours, theirs = (runs.values(schedule, every) for schedule in (AUTOMATIC, name))
        noun = f"freshness with one check per page every {format_duration(every)}"
        return compare(ours, theirs, webs, maximum=1, names=(AUTOMATIC, name), noun=noun)

    return combine_rulings(ruling(every, name) for every in runs.budgets for name in OTHERS)


@claim_of(SOURCE, "No method alone has a better F1 than the default")
def default_is_best(seen: Sequence[Detections]) -> Ruling:
    """Claim: no detector alone has a better F1 than the default; F1 is compared per web."""
    scores = {name: [one[name].scores[2] for one in seen] for name in seen[0]}
    webs = [str(web) for web in range(len(seen))]
    return combine_rulings(
        compare(f1, scores[DEFAULT], webs, maximum=1, names=(name, DEFAULT), noun="F1", expect="not better")
        for name, f1 in scores.items()
        if name != DEFAULT
    )
