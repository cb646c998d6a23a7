"""Altingovde, Ulusoy 2004: rules between classes against soft focus. Table 3 and figure 6.

Both crawlers are guided by the same Naive Bayes classifier, trained on pages of the corpus that cost and count nothing.
As published the classifier also says what their finds are worth; beside that stands what the labels say.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from lycosa.core.errors import InputError
from lycosa.lab.certainty import band, interval
from lycosa.lab.experiments import Experiment
from lycosa.lab.findings import AS_PUBLISHED, INDEPENDENT, Cell, Claim, Curve, Figure, Findings, Mode, Table
from lycosa.lab.measures import harvest, harvest_curve
from lycosa.lab.papers import PAPERS, Bench
from lycosa.lab.papers.rules.pairs import BASELINE, HARD, PUBLISHED, RULES, Pair, pairs
from lycosa.lab.papers.rules.verdicts import (
    Ruling,
    ahead_later,
    better,
    differ,
    keep_finding,
    restrictive,
    seeds_matter_little,
)
from lycosa.lab.running import Results, run
from lycosa.lab.subjects import Subject, subjects_of

PAPER = "Altingovde, Ulusoy 2004"
CRAWLERS = {BASELINE: "baseline (soft focus)", RULES: "rule-based", HARD: "hard focus"}
MODES: tuple[Mode, Mode] = (AS_PUBLISHED, INDEPENDENT)

SEEDS, MANY_SEEDS = 10, 50


@dataclass
class Crawled:
    """The crawls of table 3, of figure 6, and those from seeds off the topic."""

    table: Results
    figure: Results
    tunnel: Results | None
    small: int
    """A budget of a twentieth of the corpus."""

    @property
    def budget(self) -> int:
        """Pages of a crawl."""
        return self.table.experiment.budget


def findings(bench: Bench) -> Findings:
    """All tables, figures and claims."""
    bench = replace(bench, out=bench.out / "rules")
    if not bench.index.classes or not bench.index.has_text:
        raise InputError("rules between classes need a corpus of pages with classes: give it labels (--labels)")
    crawled = _crawl(bench)
    parts: list[Table | Figure] = [
        *(table_3(crawled, mode) for mode in MODES),
        *(figure_6(crawled, mode) for mode in MODES),
    ]
    parts.append(_family(crawled))
    claims = _claims(crawled, len(bench.index))
    told = crawled.table
    return Findings(
        "rules", PAPERS["rules"], parts, claims,
        summary=f"Rules between classes against soft focus on {len(told.subjects)} topics, two seed sets each, "
        f"{crawled.budget:,} pages a crawl. Both are guided by the same Naive Bayes classifier.",
        configuration={
            "topics": list(told.subjects), "table": told.experiment.as_dict(),
            "figure": crawled.figure.experiment.as_dict(),
        },
        corpus={key: value for key, value in bench.index.facts.items() if key != "classes"},
        remarks=list(dict.fromkeys(_remarks(crawled))),
    )  # fmt: skip


def _remarks(crawled: Crawled) -> list[str]:
    every = [crawled.table, crawled.figure, *([crawled.tunnel] if crawled.tunnel else [])]
    notes = [note for results in every for subject in results.subjects.values() for note in subject.notes]
    lines = [
        line if line in notes else f"{results.experiment.name}: {line}" for results in every for line in results.remarks
    ]
    if crawled.tunnel is None:
        lines.append("Left out: crawls from seeds off the topic; none is far enough from it.")
    return lines + notes


def _crawl(bench: Bench) -> Crawled:
    index = bench.index
    small = max(1, len(index) // 20)
    last = min(150 if bench.quick else 1_000, len(index) // 4)
    chosen = subjects_of(
        index, count=2 if bench.quick else 6, least=max(40, len(index) // 60), random_seed=bench.random_seed
    )
    relevant = min(int(np.count_nonzero(one.truth)) for one in chosen)
    plan = Experiment(
        "rules", str(index.path or ""), list(CRAWLERS), told="model", mode=AS_PUBLISHED, seeds="on-topic",
        seed_count=min(SEEDS, max(1, relevant // 8)), seed_sets=2, budgets=sorted({min(small, last), last}),
        random_seed=bench.random_seed,
    )  # fmt: skip

    def run_one(plan: Experiment, subjects: Sequence[Subject]) -> Results:
        results = run(
            plan, bench.out, index=index, subjects=list(subjects), workers=1 if bench.quick else bench.workers,
            tell=bench.tell,
        )  # fmt: skip
        for name in ("experiment.toml", "results.csv", "results.parquet", "times.csv"):
            if (bench.out / name).exists():
                (bench.out / name).replace(bench.out / f"{plan.name}-{name}")
        return results

    table = run_one(plan, chosen)
    known = [one for one in chosen if one.name in table.subjects]
    many = min(MANY_SEEDS, max(1, relevant // 4))
    figure = run_one(replace(plan, name="rules-many-seeds", seed_count=many, seed_sets=1), known)
    try:
        tunnel = run_one(replace(plan, name="rules-off-topic", seeds="off-topic", hops=2), known)
    except InputError:
        tunnel = None
    return Crawled(table, figure, tunnel, min(small, last))


def table_3(crawled: Crawled, mode: Mode) -> Table:
    """Harvest ratio, overlap, exclusive harvest ratio, for each topic and seed set."""
    rows: list[list[Cell]] = []
    for pair in pairs(crawled.table, mode, crawled.budget):
        rows += _lines(pair, "here")
    if mode == AS_PUBLISHED:
        for topic, sets in PUBLISHED.items():
            for number, (base, ours, same, only_base, only_ours) in enumerate(sets, 1):
                rows += _lines(Pair(topic, number, base, ours, same, only_base, only_ours), "paper")
    judge = "The classifier that guides both judges their finds" if mode == AS_PUBLISHED else "Labels judge"
    return Table(
        "rules-table-3" if mode == AS_PUBLISHED else "rules-table-3-labels",
        f"Table 3{'' if mode == AS_PUBLISHED else ' by labels'}: baseline and rules after {crawled.budget:,} pages",
        ("topic", "seed set", "here or paper", "measure", "baseline", "rule-based", "improvement (%)"),
        rows,
        mode,
        note=f"{judge}. Exclusive: of pages that only this crawler fetched. Overlap in %: pages in common over pages "
        f"fetched. Here seed sets are {crawled.table.experiment.seed_count} pages on the topic, drawn by chance, and "
        "may have some in common; the paper's are 10 disjoint ones of two directories.",
    )


def _lines(pair: Pair, whose: str) -> list[list[Cell]]:
    first: list[Cell] = [pair.topic, pair.seed_set, whose]
    lines: list[list[Cell]] = [
        [*first, "harvest ratio", pair.baseline, pair.rules, _whole(pair.improvement)],
        [*first, "URL overlap (%)", _whole(pair.overlap), _whole(pair.overlap), None],
        [
            *first,
            "exclusive harvest ratio",
            pair.baseline_exclusive,
            pair.rules_exclusive,
            _whole(pair.exclusive_improvement),
        ],
    ]
    return [[None if isinstance(cell, float) and math.isnan(cell) else cell for cell in line] for line in lines]


def _whole(per_cent: float) -> Cell:
    """Per cent as the paper has them: without places."""
    return round(per_cent) if math.isfinite(per_cent) else None


def _curves(results: Results, mode: str) -> tuple[list[int], dict[str, Any]]:
    budget = results.experiment.budget
    steps = np.unique(np.linspace(1, budget, min(60, budget)).astype(np.int64))
    drawn = {}
    for name in CRAWLERS:
        runs = results.select(name)
        lines = [harvest_curve(results.gains(one, mode), budget)[steps - 1] for one in runs]
        if lines:
            drawn[name] = band(lines, groups=[one.subject for one in runs])
    return steps.tolist(), drawn


def figure_6(crawled: Crawled, mode: Mode) -> Figure:
    """Harvest ratio over pages fetched, with many seeds; mean over topics."""
    steps, drawn = _curves(crawled.figure, mode)
    curves = []
    for name, of in drawn.items():
        sure = not np.isnan(of.low).any()
        sides = (of.low.tolist(), of.high.tolist()) if sure else ((), ())
        curves.append(Curve(CRAWLERS[name], steps, of.mean.tolist(), *sides))
    return Figure(
        "rules-figure-6" if mode == AS_PUBLISHED else "rules-figure-6-labels",
        f"Figure 6{'' if mode == AS_PUBLISHED else ' by labels'}: harvest rate, "
        f"{crawled.figure.experiment.seed_count} seeds",
        "pages fetched",
        "harvest ratio",
        curves,
        mode,
        note=f"Mean over {len(crawled.figure.subjects)} topics with 95 % intervals; pages that a dry crawl did not "
        "fetch count as no find. The paper's is of open source, 50 seeds, without numbers; hard focus is not in it.",
    )


def _family(crawled: Crawled) -> Table:
    """All three crawlers, from seeds on and off the topic, by both judges."""
    rows: list[list[Cell]] = []
    for where, results in (("on the topic", crawled.table), ("off the topic", crawled.tunnel)):
        if results is None:
            continue
        for name, label in CRAWLERS.items():
            row: list[Cell] = [label, where]
            runs = results.select(name)
            for mode in MODES:
                told = interval(
                    [float(harvest_curve(results.gains(one, mode), crawled.budget)[-1]) for one in runs],
                    groups=[one.subject for one in runs],
                )
                row += [None if math.isnan(number) else number for number in told[:3]]
            row += [_dry(results, name), len(runs)]
            rows.append(row)
    return Table(
        "rules-family",
        f"Soft focus, rules and hard focus after {crawled.budget:,} pages",
        (
            "crawler", "seeds", "found over budget, classifier", "low", "high", "found over budget, labels", "low",
            "high", "ran dry", "crawls",
        ),
        rows,
        AS_PUBLISHED,
        note="Pages that a dry crawl did not fetch count as no find. Seeds off the topic are two links or more from "
        "all pages on it.",
    )  # fmt: skip


def _dry(results: Results, name: str) -> int:
    return sum(len(results.gains(one)) < results.experiment.budget for one in results.select(name))


def _claims(crawled: Crawled, pages: int) -> list[Claim]:
    found = []
    where = "Performance of our rule-based crawler"

    def claim(text: str, source: str, ruling: Ruling) -> None:
        found.append(Claim(text, f"{PAPER}, {source}", *ruling))

    few = crawled.table.experiment.seed_count, crawled.figure.experiment.seed_count
    for mode in MODES:
        judge = "the classifier judges" if mode == AS_PUBLISHED else "labels judge"
        told = pairs(crawled.table, mode, crawled.budget)
        verdict, evidence = better(told)
        evidence = f"after {crawled.budget:,} pages: {evidence}"
        if crawled.small != crawled.budget:
            evidence += f"\nafter {crawled.small:,} pages: {better(pairs(crawled.table, mode, crawled.small))[1]}"
        claim(
            f"Rules have a higher harvest ratio than soft focus ({judge})", f"{where}, table 3", (verdict, evidence)
        )  # fmt: skip
        claim(
            f"The pages that only the rules fetched are better than those that only soft focus did ({judge})",
            f"{where}, table 3", better(told, "exclusive"),
        )  # fmt: skip
        steps, drawn = _curves(crawled.figure, mode)
        curves = {name: of.mean.tolist() for name, of in drawn.items()}
        relevant = float(np.mean([np.count_nonzero(one.truth) for one in crawled.table.subjects.values()]))
        claim(
            f"Both keep finding relevant pages ({judge})", f"{where}, figure 6", keep_finding(curves, steps, relevant)
        )
        claim(
            f"Rules are ahead after the first few hundred pages ({judge})", f"{where}, figure 6",
            ahead_later(curves, steps),
        )  # fmt: skip
        means = [
            {name: float(np.mean([harvest(results.gains(one, mode), crawled.budget) for one in results.select(name)]))
             for name in (BASELINE, RULES)}
            for results in (crawled.table, crawled.figure)
        ]  # fmt: skip
        claim(
            f"With 50 seeds in place of 10 harvest ratios are similar ({judge})", f"{where}, second experiment",
            seeds_matter_little(means[0], means[1], few),
        )  # fmt: skip
    claim(
        "The two fetch different pages: they overlap by 8 to 27 %", f"{where}, table 3",
        differ(pairs(crawled.table, AS_PUBLISHED, crawled.small), crawled.small, pages),
    )  # fmt: skip
    if crawled.tunnel is not None:
        claim(
            "Rules can tunnel: over pages off the topic they get to more on it than soft focus (labels judge)",
            "Rule-based focused crawler", better(pairs(crawled.tunnel, INDEPENDENT, crawled.budget)),
        )  # fmt: skip
    trials = len(crawled.table.select(HARD))
    claim("Hard focus is restrictive", "Baseline focused crawler", restrictive(_dry(crawled.table, HARD), trials))
    return found
