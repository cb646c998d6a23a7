"""How fresh a collection is kept: detection of changes, and schedules under the same budget, on a web that changes.

The embedded web with known change processes (testing/changing.py) is crawled for a topic; then the real engine watches
what was found for 30 days of virtual time, once for each schedule and budget. The truth says how fresh the copies were.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from functools import partial

from lycosa.lab.findings import Figure, Findings, Table
from lycosa.lab.papers import OURS, Bench
from lycosa.lab.papers.freshness.comparing import Runs, claims_of, table_fates, table_freshness, table_told
from lycosa.lab.papers.freshness.curves import figure_allocation, figure_budgets, figure_days, figure_visits
from lycosa.lab.papers.freshness.detecting import Detection, detect_world, pooled
from lycosa.lab.papers.freshness.seeing import (
    claim_detection,
    figure_detection,
    table_detection,
    table_edits,
    table_kinds,
    table_time,
)
from lycosa.lab.papers.freshness.watching import SCHEDULES, Crawled, Trial, World, crawl_world, watch_world
from lycosa.lab.pool import spread

__all__ = ["Size", "findings", "size_of"]

REPORTED, DEVELOPED = 100, 0
"""The first seed of the webs that are reported, and of those for `--develop`."""


@dataclass(frozen=True)
class Size:
    """How much is run."""

    webs: int = 6
    pages: int = 1500
    hosts: int = 36
    crawled: int = 450
    days: float = 30.0
    hours: tuple[float, ...] = (12.0, 24.0, 72.0)
    """Budgets: hours for each look at a page."""
    each: int = 20
    """Pairs of versions with each edit between them, in each of `judged` webs."""
    drawn: int = 500
    judged: int = 3


QUICK = Size(2, 240, 6, 70, 10.0, (24.0,), 2, 40, 1)


def size_of(bench: Bench) -> Size:
    """How much is run here."""
    return QUICK if bench.quick else Size()


def findings(bench: Bench) -> Findings:
    """All tables, figures and claims. The corpus of the bench is not asked: it does not change."""
    size = size_of(bench)
    first = (DEVELOPED if bench.develop else REPORTED) + 1000 * bench.random_seed
    worlds = [World(first + i, size.pages, size.hosts, size.crawled, size.days) for i in range(size.webs)]
    judge = partial(detect_world, each=size.each, count=size.drawn, out=bench.out)
    seen = pooled(spread(judge, worlds[: size.judged], bench.workers, "judging pairs of versions", bench.tell))
    crawled = spread(partial(crawl_world, out=bench.out), worlds, bench.workers, "crawling", bench.tell)
    trials = [
        Trial(world, name, 3600.0 * hours) for hours in reversed(size.hours) for world in worlds for name in SCHEDULES
    ]
    watched = spread(partial(watch_world, out=bench.out), trials, bench.workers, "watching", bench.tell)
    runs = Runs(dict(zip(trials, watched, strict=True)))
    return Findings(
        "freshness", OURS["freshness"], _parts(runs, seen), [*claims_of(runs, bench.quick),
        claim_detection(seen, bench.quick)], _summary(runs, crawled, size),
        {"quick": bench.quick, "random_seed": bench.random_seed, "develop": bench.develop, "size": asdict(size),
         "webs": [asdict(world) for world in worlds], "schedules": [trial.text for trial in trials[: len(SCHEDULES)]]},
        {"source": "the embedded web that changes", "pages": size.pages, "hosts": size.hosts},
    )  # fmt: skip


def _parts(runs: Runs, seen: dict[str, Detection]) -> list[Table | Figure]:
    budgets = runs.budgets
    return [
        table_freshness(runs), *([figure_budgets(runs)] if len(budgets) > 1 else []),
        *(figure_days(runs, every) for every in budgets), table_told(runs),
        *(figure_visits(runs, every) for every in budgets), figure_allocation(),
        table_detection(seen), figure_detection(seen), table_edits(seen), table_kinds(seen), table_fates(runs),
        table_time(seen),
    ]  # fmt: skip


def _summary(runs: Runs, crawled: list[Crawled], size: Size) -> str:
    watched = sum(len(one.pages) for one in crawled)
    looks = sum(one.looks for one in runs.made.values())
    return (
        f"{size.webs} changing webs of {size.pages} pages, crawled for a topic each; {watched} finds and seeds in all "
        f"are watched for {size.days:g} days of virtual time by the engine itself, with {len(SCHEDULES)} schedules and "
        f"{len(size.hours)} budgets: {looks:,} looks. Hosts tell the truth and lies in headers (ETag, Last-Modified), "
        "and pages change for good and cosmetically: never, at constant rates, daily and in bursts."
    )
