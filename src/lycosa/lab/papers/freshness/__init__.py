"""How fresh a collection is kept: detection of changes, and schedules under the same budget, on a web that changes.

The embedded web with known change processes (testing/changing.py) is crawled for a topic; then the real engine watches
what was found for 30 days of virtual time, once for each schedule and budget. The truth says how fresh the copies were.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from functools import partial
from itertools import pairwise

import numpy as np

from lycosa.core.durations import spoken
from lycosa.lab.certainty import Difference, Interval, curve, interval, paired
from lycosa.lab.findings import Cell, Curve, Figure, Findings, Ruling, Table, ruled, says
from lycosa.lab.papers import OURS, TOO_SMALL, Bench
from lycosa.lab.papers.freshness.detecting import DEFAULT, EDITS, NOTHING, REAL, SORTS, Detection, detect_world, pooled
from lycosa.lab.papers.freshness.measuring import DAY, FATES, HAPPENED, LOOKED, OTHERWISE, TOLD, WRONG, Upkeep
from lycosa.lab.papers.freshness.watching import (
    AUTOMATIC,
    KNOWN,
    SCHEDULES,
    Crawled,
    Trial,
    World,
    crawl_world,
    watch_world,
)
from lycosa.lab.pool import spread
from lycosa.refresh.detectors import DEFAULT as TOGETHER
from lycosa.refresh.rates import allocate
from lycosa.testing.change_history import KINDS

SOURCE = "docs/freshness.md"
FIRST = 100  # seed of the first web; those below it were developed on

OTHERS = tuple(name for name in SCHEDULES if name not in (AUTOMATIC, KNOWN))
HOUR = 3600.0
BANDS = "Bands: 95 %, bootstrap over webs."
EDGES = (0.0, 0.03, 0.1, 0.2, 0.4, 0.7, 1.1, 2.0, 6.0)  # changes a day; pages are grouped between two of these

Seen = Mapping[str, Detection]  # by detector


@dataclass(frozen=True)
class Size:
    """How much is run."""

    webs: int = 6
    pages: int = 1500
    hosts: int = 36
    crawled: int = 450
    days: float = 30.0
    hours: tuple[float, ...] = (12.0, 24.0, 72.0)  # budgets: hours per look at a page
    each: int = 20  # pairs of versions per edit, in each of `judged` webs
    drawn: int = 500
    judged: int = 3


QUICK = Size(2, 240, 6, 70, 10.0, (24.0,), 2, 40, 1)


def findings(bench: Bench) -> Findings:
    """All tables, figures and claims. The corpus of the bench is not asked: it does not change."""
    size = QUICK if bench.quick else Size()
    first = FIRST + 1000 * bench.random_seed
    worlds = [World(first + i, size.pages, size.hosts, size.crawled, size.days) for i in range(size.webs)]
    judge = partial(detect_world, each=size.each, count=size.drawn, out=bench.out)
    seen = pooled(spread(judge, worlds[: size.judged], bench.workers, "judging pairs of versions", bench.tell))
    crawled = spread(partial(crawl_world, out=bench.out), worlds, bench.workers, "crawling", bench.tell)
    trials = [
        Trial(world, name, HOUR * hours) for hours in reversed(size.hours) for world in worlds for name in SCHEDULES
    ]
    watched = spread(partial(watch_world, out=bench.out), trials, bench.workers, "watching", bench.tell)
    runs = Runs(dict(zip(trials, watched, strict=True)))
    return Findings(
        "freshness", OURS["freshness"], list(_parts(runs, seen)),
        [ahead_of_all(runs, bench.quick), near_the_known(runs, bench.quick), default_is_best(seen, bench.quick)],
        _summary(runs, crawled, size),
        {"quick": bench.quick, "random_seed": bench.random_seed, "size": asdict(size),
         "webs": [asdict(world) for world in worlds], "schedules": [trial.text for trial in trials[: len(SCHEDULES)]]},
        {"source": "the embedded web that changes", "pages": size.pages, "hosts": size.hosts},
    )  # fmt: skip


def _parts(runs: Runs, seen: Seen) -> Iterator[Table | Figure]:
    yield table_freshness(runs)
    if len(runs.budgets) > 1:
        yield figure_budgets(runs)
    yield from (figure_days(runs, every) for every in runs.budgets)
    yield table_told(runs)
    yield from (figure_visits(runs, every) for every in runs.budgets)
    yield figure_allocation()
    yield table_detection(seen)
    yield figure_detection(seen)
    yield table_edits(seen)
    yield table_kinds(seen)
    yield table_fates(runs)
    yield table_time(seen)


def _summary(runs: Runs, crawled: list[Crawled], size: Size) -> str:
    watched = sum(len(one.pages) for one in crawled)
    looks = sum(one.looks for one in runs.made.values())
    return (
        f"{size.webs} changing webs of {size.pages} pages, crawled for a topic each; {watched} finds and seeds in all "
        f"are watched for {size.days:g} days of virtual time by the engine itself, with {len(SCHEDULES)} schedules and "
        f"{len(size.hours)} budgets: {looks:,} looks. Hosts tell the truth and lies in headers (ETag, Last-Modified), "
        "and pages change for good and cosmetically: never, at constant rates, daily and in bursts."
    )


@dataclass
class Runs:
    """All watches, by trial."""

    made: dict[Trial, Upkeep]

    @property
    def budgets(self) -> list[float]:
        """Seconds for each look at a page, the richest first."""
        return sorted({trial.every for trial in self.made})

    @property
    def cases(self) -> list[tuple[str, float]]:
        return [(schedule, every) for every in self.budgets for schedule in SCHEDULES]

    def of(self, schedule: str, every: float) -> list[Upkeep]:
        """The same schedule and budget on all webs, in their order."""
        trials = [trial for trial in self.made if (trial.schedule, trial.every) == (schedule, every)]
        return [self.made[trial] for trial in sorted(trials, key=lambda trial: trial.world.seed)]

    def values(self, schedule: str, every: float, name: str = "freshness") -> list[float]:
        return [float(getattr(one, name)) for one in self.of(schedule, every)]

    def interval(self, schedule: str, every: float, name: str = "freshness") -> Interval:
        return interval(self.values(schedule, every, name))

    def ahead(self, schedule: str, other: str, every: float) -> Difference:
        return paired(self.values(schedule, every), self.values(other, every))


# -- schedules -------------------------------------------------------------------------------------------------------


def table_freshness(runs: Runs) -> Table:
    def mean(schedule: str, every: float, of: str) -> float:
        return runs.interval(schedule, every, of).mean

    def share(schedule: str, every: float, of: str, by: str) -> float:
        own = runs.of(schedule, every)
        return sum(getattr(one, of) / max(1, getattr(one, by)) for one in own) / len(own) if own else math.nan

    return Table.of(
        "freshness-schedules", "Freshness under the same budget",
        {
            "a look every": lambda name, every: spoken(every),
            "schedule": lambda name, every: name,
            "freshness": lambda name, every: str(runs.interval(name, every)),
            "automatic less it": lambda name, every: (
                "" if name == AUTOMATIC else str(runs.ahead(AUTOMATIC, name, every))
            ),
            "unweighted": partial(mean, of="unweighted"),
            "age, days": partial(mean, of="age"),
            "looks a page": partial(share, of="looks", by="watched"),
            "of them 304": partial(share, of="unmodified", by="looks"),
            "other requests a page": partial(share, of="other", by="watched"),
            "lost to false 304s": partial(mean, of="lied"),
        },
        runs.cases,
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
    for name, every in runs.cases:
        own = [one.told for one in runs.of(name, every)]
        changes = sum(one.changes for one in own)
        lags = np.array([lag for one in own for lag in one.lag] or [math.nan]) / HOUR
        fates = ("told", "folded", "overlooked", "denied", "unseen")
        rows.append(
            [
                spoken(every), name, changes,
                *(sum(getattr(one, fate) for one in own) / max(1, changes) for fate in fates),
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
    """Pages that moved, vanished, came back: ours, and all schedules of a budget together."""

    def row(every: float, title: str, names: Sequence[str], fate: str) -> list[Cell]:
        own = [one.fates[fate] for name in names for one in runs.of(name, every)]
        count = [sum(each[place] for each in own) for place in range(5)]
        told, wrong = count[TOLD], None if fate == "soft-404" else count[WRONG]
        return [
            spoken(every), title, fate, count[HAPPENED], count[LOOKED], told, count[OTHERWISE],
            told / count[LOOKED] if count[LOOKED] else None, told / count[HAPPENED] if count[HAPPENED] else None,
            wrong, told / (told + wrong) if wrong is not None and told + wrong else None,
        ]  # fmt: skip

    return Table(
        "freshness-fates", "Pages that moved, vanished, came back",
        (
            "a look every", "schedule", "what happened", "pages", "looked at since", "told as such", "told otherwise",
            "recall, of those looked at", "recall", "told wrongly", "precision",
        ),
        [
            row(every, title, names, fate)
            for every in runs.budgets
            for title, names in ((AUTOMATIC, [AUTOMATIC]), ("all schedules", SCHEDULES))
            for fate in FATES
        ],
        note="Gone: 404 or 410; soft-404: a page under status 200 that says that there is none. Both are told as "
        "vanished: what is told wrongly so is counted with gone. Returned: of pages whose absence had been told.",
    )  # fmt: skip


def figure_days(runs: Runs, every: float) -> Figure:
    curves = []
    for name in SCHEDULES:
        days = [one.days for one in runs.of(name, every)]
        drawn = curve(name, [float(day) for day in range(1, len(days[0]) + 1)], days)
        banded = name in (AUTOMATIC, KNOWN)  # bands of all would hide each other
        curves.append(drawn if banded else replace(drawn, low=(), high=()))
    return Figure(
        f"freshness-figure-days-{every / HOUR:g}h", f"Freshness day by day, a look a page every {spoken(every)}",
        "day", "share of relevance that is fresh", curves,
        note=f"At first all pages have just been fetched; then schedules that learn get better. {BANDS}",
    )  # fmt: skip


def figure_budgets(runs: Runs) -> Figure:
    looks = [DAY / every for every in runs.budgets]
    curves = [
        curve(name, looks, np.array([runs.values(name, every) for every in runs.budgets]).T) for name in SCHEDULES
    ]
    return Figure(
        "freshness-figure-budgets", "Freshness by budget", "looks a page a day", "share of relevance that is fresh",
        curves, log_x=True, note=BANDS,
    )  # fmt: skip


def figure_visits(runs: Runs, every: float) -> Figure:
    """Looks by how often pages change: what the engine did."""
    curves = []
    for name in SCHEDULES:
        own = runs.of(name, every)
        pages = np.array([(rate, looks) for one in own for rate, _, looks, _ in one.pages])
        groups = (pages[(low <= pages[:, 0]) & (pages[:, 0] < high)] for low, high in pairwise(EDGES))
        points = [group.mean(axis=0).tolist() for group in groups if len(group)]
        curves.append(Curve(name, [max(rate, 0.01) for rate, _ in points], [n / len(own[0].days) for _, n in points]))
    return Figure(
        f"freshness-figure-visits-{every / HOUR:g}h", f"Looks by rate of change, a look a page every {spoken(every)}",
        "real changes a day", "looks a day", curves, log_x=True,
        note="Pages of all webs, by their true rates; means of pages that change about as often. Pages that never "
        "change are at 0.01.",
    )  # fmt: skip


def figure_allocation() -> Figure:
    """The optimum: visits by rate of change, all pages alike in relevance. A hump, and then nothing."""
    rates = np.exp(np.linspace(np.log(0.01), np.log(100.0), 240))
    curves = []
    for looks, label in ((2.0, "two looks a page a day"), (1.0, "one look a day"), (1 / 3, "one look in three days")):
        visits, _ = allocate(np.ones(len(rates)), rates, looks * len(rates))
        curves.append(Curve(label, rates.tolist(), visits.tolist()))
    return Figure(
        "freshness-figure-allocation", "The best visits, by how often pages change", "changes a day", "visits a day",
        curves, log_x=True,
        note="240 pages of equal relevance, their rates evenly spread on the logarithmic axis. Visits rise with the "
        "rate, and fall to nothing for what changes too fast to be followed.",
    )  # fmt: skip


@says(SOURCE, "At every budget automatic keeps more fresh than fixed, adaptive and proportional")
def ahead_of_all(runs: Runs, quick: bool) -> Ruling:
    """The mean difference to each of them is above 0 at each budget."""
    ahead = {(every, name): runs.ahead(AUTOMATIC, name, every) for every in runs.budgets for name in OTHERS}
    evidence = [
        f"{_budget(every)}: automatic less {name} {one}, p = {one.p:.3f}." for (every, name), one in ahead.items()
    ]
    return ruled(all(one.mean > 0 for one in ahead.values()), evidence, TOO_SMALL if quick else "")


@says(SOURCE, "Of the way from the best other schedule to the one that knows the rates, automatic goes at least a half")
def near_the_known(runs: Runs, quick: bool) -> Ruling:
    """So it is at each budget."""
    evidence, near = [], True
    for every in runs.budgets:
        best = max(runs.interval(name, every).mean for name in OTHERS)
        ours, most = runs.interval(AUTOMATIC, every).mean, runs.interval(KNOWN, every).mean
        way = (ours - best) / (most - best) if most > best else 1.0
        near &= way >= 0.5
        evidence.append(
            f"{_budget(every)}: {ours:.3f} of {most:.3f}, the best other one {best:.3f}: {way:.0%} of the way; "
            f"known less automatic {runs.ahead(KNOWN, AUTOMATIC, every)}."
        )
    return ruled(near, evidence, TOO_SMALL if quick else "")


def _budget(every: float) -> str:
    return f"one look a page every {spoken(every)}"


# -- detection -------------------------------------------------------------------------------------------------------


def table_detection(seen: Seen) -> Table:
    """Precision, recall and F1 on pairs drawn at any time."""
    rows: list[list[Cell]] = []
    for name, one in seen.items():
        score, kinds = one.drawn, one.by_kind()
        alarms = [one.edits[sort] for sort in SORTS if sort in one.edits]
        rows.append(
            [
                name, score.precision, score.recall, score.f1,
                *(kinds[kind][1] / kinds[kind][0] if kinds[kind][0] else None for kind in REAL),
                sum(count[1] for count in alarms) / max(1, sum(count[0] for count in alarms)),
            ]
        )  # fmt: skip
    score = next(iter(seen.values())).drawn
    return Table(
        "freshness-detection", "Is it a real change? Each method alone, and the default",
        ("method", "precision", "recall", "F1", *(f"recall: {kind}" for kind in REAL), "false alarms, cosmetic"), rows,
        note=f"Precision, recall and F1: {score.hits + score.misses + score.alarms + score.passes:,} pairs of versions "
        f"from an hour to a week apart, of which {score.hits + score.misses:,} differ in earnest. "
        "Recall by kind and false alarms: pairs with just one edit between them. "
        f"Default: {', '.join(TOGETHER)}.",
    )  # fmt: skip


def table_edits(seen: Seen) -> Table:
    """Share taken for real, edit by edit, and sort by sort of what is cosmetic."""
    rows: list[list[Cell]] = []
    for what in (*EDITS, *SORTS, NOTHING):
        counts = [one.edits.get(what) for one in seen.values()]
        if counts[0] is not None:
            kind = KINDS.get(what, "none" if what == NOTHING else "cosmetic")
            rows.append([kind, what, counts[0][0], *(count[1] / count[0] if count else None for count in counts)])
    return Table(
        "freshness-edits", "Taken for a real change, edit by edit", ("kind", "edit", "pairs", *seen), rows, digits=2,
        note="One edit between two versions. Above, recall; from cosmetic on, false alarms. Counter: a number that "
        "moves with time, or with each fetch.",
    )  # fmt: skip


def table_kinds(seen: Seen) -> Table:
    counts = seen[DEFAULT].by_kind()
    return Table(
        "freshness-kinds", "Is the kind right? The default", ("kind", "pairs", "taken for real", "named as its kind"),
        [[kind, pairs, real / pairs, named / pairs] for kind, (pairs, real, named) in counts.items() if pairs],
        note="A change has the gravest kind that any method sees. "
        "Topic is named where the score crosses the threshold; else it is text.",
    )  # fmt: skip


def table_time(seen: Seen) -> Table:
    return Table(
        "freshness-time", "Time for a comparison", ("method", "milliseconds"),
        [[name, one.milliseconds] for name, one in seen.items()], timed=True,
        note="Median over versions that differ in any byte. Both are parsed by the method that needs it; titles, "
        "texts, links and fingerprints are there already, as the engine has them of every page.",
    )  # fmt: skip


def figure_detection(seen: Seen) -> Figure:
    places = list(range(len(seen)))
    return Figure(
        "freshness-figure-detection", "Is it a real change?", "method", "share",
        [
            Curve("precision", places, [one.drawn.precision or 0.0 for one in seen.values()]),
            Curve("recall", places, [one.drawn.recall or 0.0 for one in seen.values()]),
        ],
        bars=True, ticks=list(seen), note="Pairs of versions from an hour to a week apart.",
    )  # fmt: skip


@says(SOURCE, "No method alone has a better F1 than the default")
def default_is_best(seen: Seen, quick: bool) -> Ruling:
    """On pairs drawn at any time."""
    default = seen[DEFAULT].drawn
    better = {name: one.drawn.f1 for name, one in seen.items() if one.drawn.f1 > default.f1}
    evidence = [
        f"Default: precision {default.precision or 0:.3f}, recall {default.recall or 0:.3f}, F1 {default.f1:.3f}.",
        *(f"{name} has an F1 of {f1:.3f}." for name, f1 in better.items()),
    ]
    return ruled(not better, evidence, TOO_SMALL if quick else "")
