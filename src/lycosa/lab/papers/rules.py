"""Altingovde, Ulusoy 2004: rules between classes against soft focus. Table 3 and figure 6.

Both crawlers are guided by the same Naive Bayes classifier, trained on pages of the corpus that cost and count nothing.
As published the classifier also says what their finds are worth; beside that stands what the labels say.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace

import numpy as np

from lycosa.core.errors import InputError
from lycosa.lab.certainty import interval
from lycosa.lab.findings import (
    AS_PUBLISHED,
    INDEPENDENT,
    Cell,
    Claim,
    Curve,
    Figure,
    Findings,
    Mode,
    Ruling,
    Table,
    compare,
    on,
    ruled,
    says,
)
from lycosa.lab.measures import exclusive, exhausted, harvest, harvest_curve, overlap, steps_to
from lycosa.lab.papers import Bench
from lycosa.lab.papers.weighing import Comparison, Measure, complete, remarks_of
from lycosa.lab.results import Results
from lycosa.lab.subjects import Subject, subjects_of

BASELINE, RULES, HARD = "soft-focus", "rules", "hard-focus"
CRAWLERS = {BASELINE: "baseline (soft focus)", RULES: "rule-based", HARD: "hard focus"}
JUDGES: dict[Mode, str] = {AS_PUBLISHED: "the classifier judges", INDEPENDENT: "labels judge"}

SEEDS, MANY_SEEDS = 10, 50
ROOM = 4  # relevant pages for each seed: with fewer little would be left to find
FEW_HUNDRED = 300
EPSILON = 1e-9  # means of the same numbers in another order differ by less
NOTHING = 0.005  # lower harvest ratios are 0.00 in the paper's table: no base for a change in %

# Table 3, by topic and seed set: harvest ratio of baseline and rules, URL overlap in %, exclusive ones of both.
PUBLISHED: dict[str, tuple[tuple[float, ...], tuple[float, ...]]] = {
    "Quantum mechanics": ((0.28, 0.30, 10.0, 0.27, 0.29), (0.25, 0.29, 16.0, 0.23, 0.28)),
    "Computer history": ((0.29, 0.40, 27.0, 0.26, 0.39), (0.36, 0.37, 22.0, 0.35, 0.37)),
    "Open source": ((0.52, 0.56, 10.0, 0.51, 0.54), (0.48, 0.61, 8.0, 0.47, 0.61)),
}


def _by(mode: Mode) -> Measure:
    """Found over budget; pages that a dry crawl did not fetch count as no find."""
    return Measure(
        f"harvest, {JUDGES[mode]}",
        lambda one, results, budgets: harvest_curve(results.gains(one, mode), max(budgets))[np.array(budgets) - 1],
    )


HARVESTS = {mode: _by(mode) for mode in JUDGES}


# The crawls of table 3, of figure 6, and those from seeds off the topic.
TABLE, FIGURE, TUNNEL = "rules", "rules-many-seeds", "rules-off-topic"


def findings(bench: Bench) -> Findings:
    if not bench.index.classes or not bench.index.has_text:
        raise InputError("rules between classes need a corpus of pages with classes: give it labels (--labels)")
    runs = crawl(replace(bench, workers=1 if bench.quick else bench.workers))
    plan, many = runs[TABLE].experiment, runs[FIGURE].experiment
    crawls = Comparison.of(CRAWLERS, [runs[FIGURE]], steps_to(many.budget).tolist(), HARVESTS.values())
    figures = {mode: _figure_6(crawls, many.seed_count, mode) for mode in JUDGES}
    off = [] if TUNNEL in runs else ["Left out: crawls from seeds off the topic; none is far enough from it."]
    topics = list(runs[TABLE].subjects)
    return bench.findings(
        "rules",
        [*(table_3(runs[TABLE], mode) for mode in JUDGES), *figures.values(), _family(runs)],
        list(claims_of(runs, figures, len(bench.index))),
        f"Rules between classes against soft focus on {len(topics)} topics, two seed sets each, {plan.budget:,} pages "
        "a crawl. Both are guided by the same Naive Bayes classifier.",
        {"topics": topics, "table": plan.as_dict(), "figure": many.as_dict()},
        remarks_of(runs.values()) + off,
    )


def crawl(bench: Bench) -> dict[str, Results]:
    index = bench.index
    last = min(150 if bench.quick else 1_000, len(index) // 4)
    small = min(max(1, len(index) // 20), last)
    count = 2 if bench.quick else 6
    # topics with room for 50 seeds, where the corpus has enough of them
    roomy = sum(ROOM * MANY_SEEDS <= size <= len(index) // 5 for size in index.sizes().values()) >= count
    least = ROOM * MANY_SEEDS if roomy else max(40, len(index) // 60)
    chosen = subjects_of(index, count=count, least=least, random_seed=bench.random_seed)
    plan = bench.plan(
        TABLE, CRAWLERS, told="model", mode=AS_PUBLISHED, seed_count=_seeds(chosen, SEEDS, 2), seed_sets=2,
        disjoint=True, budgets=[small, last],
    )  # fmt: skip
    table = bench.run(plan, "rules", subjects=chosen, part=TABLE)
    hunted = [subject for subject in chosen if subject.name in table.subjects]
    large = [subject for subject in hunted if np.count_nonzero(subject.truth) >= ROOM * MANY_SEEDS] or hunted
    many = replace(plan, name=FIGURE, seed_count=_seeds(large, MANY_SEEDS), seed_sets=1)
    runs = {TABLE: table, FIGURE: bench.run(many, "rules", subjects=large, part=FIGURE)}
    off = replace(plan, name=TUNNEL, seeds="off-topic", hops=2)
    with suppress(InputError):
        runs[TUNNEL] = bench.run(off, "rules", subjects=hunted, part=TUNNEL)
    return runs


def _seeds(subjects: Sequence[Subject], wanted: int, sets: int = 1) -> int:
    """As many as the paper has, or what the smallest topic has room for."""
    relevant = min(int(np.count_nonzero(subject.truth)) for subject in subjects)
    return min(wanted, max(1, relevant // (ROOM * sets)))


@dataclass
class Match:
    """Both crawlers from the same seeds: a block of table 3."""

    topic: str
    seed_set: int
    baseline: float
    rules: float
    overlap: float  # %
    baseline_exclusive: float  # nan: it fetched nothing that the other did not
    rules_exclusive: float
    same: bool = field(default=False, kw_only=True)  # both fetched the same pages
    exhausted: bool = field(default=False, kw_only=True)  # both found the same, and hardly more in the end

    def rows(self, whose: str) -> list[list[Cell]]:
        def row(name: str, base: float, ours: float) -> list[Cell]:
            return [name, base, ours, _whole(100 * (ours / base - 1)) if base >= NOTHING else None]

        overlap = _whole(self.overlap)
        head: list[Cell] = [self.topic, self.seed_set, whose]
        return [
            [*head, *row("harvest ratio", self.baseline, self.rules)],
            [*head, "URL overlap (%)", overlap, overlap, None],
            [*head, *row("exclusive harvest ratio", self.baseline_exclusive, self.rules_exclusive)],
        ]


def _whole(per_cent: float) -> Cell:
    return round(per_cent) if math.isfinite(per_cent) else None


def matches(results: Results, mode: Mode, budget: int) -> list[Match]:
    crawls = complete(results, (BASELINE, RULES))
    rows = []
    for one, other in zip(crawls.get(BASELINE, []), crawls.get(RULES, []), strict=False):
        subject, truth = results.subjects[one.subject], results.truth(one.subject, mode)
        a, b = (subject.counted(each.trace.found)[:budget] for each in (one, other))
        gains = [results.gains(each, mode) for each in (one, other)]
        base, ours = (float(harvest(each, budget)) for each in gains)
        ends = exhausted(gains[0], budget) and exhausted(gains[1], budget)
        apart = exclusive(a, b, truth)
        rows.append(
            Match(one.subject, one.seed_set + 1, base, ours, 100 * overlap(a, b), apart[0], apart[1],
                  same=np.array_equal(a, b), exhausted=base == ours and ends)
        )  # fmt: skip
    return rows


def published() -> list[Match]:
    return [Match(topic, place, *row) for topic, rows in PUBLISHED.items() for place, row in enumerate(rows, 1)]


def _labelled(mode: Mode, key: str, title: str) -> tuple[str, str]:
    """Return the key and title of a part that is there twice, as published and by labels."""
    return (key, title) if mode == AS_PUBLISHED else (f"{key}-labels", f"{title} by labels")


def table_3(results: Results, mode: Mode) -> Table:
    """Harvest ratio, overlap, exclusive harvest ratio, for each topic and seed set."""
    rows = [row for match in matches(results, mode, results.experiment.budget) for row in match.rows("here")]
    if mode == AS_PUBLISHED:
        rows += [row for match in published() for row in match.rows("paper")]
    judge = "The classifier that guides both judges their finds" if mode == AS_PUBLISHED else "Labels judge"
    key, title = _labelled(mode, "rules-table-3", "Table 3")
    return Table(
        key, f"{title}: baseline and rules after {results.experiment.budget:,} pages",
        ("topic", "seed set", "here or paper", "measure", "baseline", "rule-based", "improvement (%)"), rows, mode,
        note=f"{judge}. Exclusive: of pages that only this crawler fetched. Overlap in %: pages in common over pages "
        f"fetched. Here seed sets are {results.experiment.seed_count} pages on the topic each, drawn by chance "
        "and disjoint; the paper's are 10 each, of two directories. No improvement is given on a harvest ratio below "
        f"{NOTHING:g}, which is 0.00.",
    )  # fmt: skip


def _figure_6(crawls: Comparison, seeds: int, mode: Mode) -> Figure:
    """Harvest ratio over pages fetched, with many seeds; mean over topics."""
    key, title = _labelled(mode, "rules-figure-6", "Figure 6")
    return crawls.figure(
        key, f"{title}: harvest rate, {seeds} seeds", "harvest ratio", HARVESTS[mode], mode,
        f"Mean over {crawls.count} topics; pages that a dry crawl did not fetch count as no find. The "
        "paper's is of open source, 50 seeds, without numbers; hard focus is not in it.",
    )  # fmt: skip


def _family(of: Mapping[str, Results]) -> Table:
    """All three crawlers, from seeds on and off the topic, by both judges."""
    rows: list[list[Cell]] = []
    budget = of[TABLE].experiment.budget
    there = {"on the topic": of[TABLE]} | ({"off the topic": of[TUNNEL]} if TUNNEL in of else {})
    for where, results in there.items():
        for name, label in CRAWLERS.items():
            runs = results.select(name)
            topics = [one.subject for one in runs]
            row: list[Cell] = [label, where]
            for by in HARVESTS.values():
                row += interval([by.of(one, results, [budget])[-1] for one in runs], groups=topics)[:3]
            rows.append([*row, _dry(results, name), len(runs)])
    return Table(
        "rules-family", f"Soft focus, rules and hard focus after {budget:,} pages",
        (
            "crawler", "seeds", "found over budget, classifier", "low", "high", "found over budget, labels", "low",
            "high", "ran dry", "crawls",
        ),
        rows, AS_PUBLISHED,
        note="Pages that a dry crawl did not fetch count as no find. Seeds off the topic are two links or more from "
        "all pages on it.",
    )  # fmt: skip


def _dry(results: Results, name: str) -> int:
    return sum(len(results.gains(one)) < results.experiment.budget for one in results.select(name))


# -- claims: when each holds was settled after a first look at the embedded web, before any run on a real corpus ------

PAPER = "Altingovde, Ulusoy 2004"
WHERE = f"{PAPER}, Performance of our rule-based crawler"


def claims_of(of: Mapping[str, Results], figures: Mapping[Mode, Figure], pages: int) -> Iterator[Claim]:
    """Decide what the paper says, by both judges where they differ."""
    table, figure = of[TABLE], of[FIGURE]
    small, budget = table.experiment.budgets[0], table.experiment.budget
    relevant = float(np.mean([np.count_nonzero(subject.truth) for subject in table.subjects.values()]))
    counts = table.experiment.seed_count, figure.experiment.seed_count
    for mode, judge in JUDGES.items():
        by_label = {curve.label: curve for curve in figures[mode].curves}
        curves = {name: by_label[CRAWLERS[name]] for name in (BASELINE, RULES)}
        by_budget = {step: matches(table, mode, step) for step in (budget, small)}
        wide = matches(figure, mode, budget)
        spent = sum(row.exhausted for row in wide)
        unless = f"in {spent} of {len(wide)} trials the topic is exhausted" if 2 * spent > len(wide) else ""
        same_topics = [row for row in by_budget[budget] if row.topic in figure.subjects]
        few, many = (
            dict(zip((BASELINE, RULES), np.mean([(row.baseline, row.rules) for row in rows], 0).tolist(), strict=True))
            for rows in (same_topics, wide)
        )
        yield from on(
            judge,
            [
                higher_harvest(by_budget), better_exclusives(by_budget[budget]), keep_finding(curves, relevant),
                ahead_later(curves, unless), seeds_matter_little(few, many, counts, unless),
            ],
        )  # fmt: skip
    yield different_pages(matches(table, AS_PUBLISHED, small), small, pages)
    if TUNNEL in of:
        yield can_tunnel(matches(of[TUNNEL], INDEPENDENT, budget))
    yield restrictive(_dry(table, HARD), len(table.select(HARD)))


def higher(rows: Sequence[Match], which: str = "") -> Ruling:
    """Rule that rules are higher than the baseline; `which` says whether by exclusive harvest ratios."""
    pairs = [(row.rules_exclusive, row.baseline_exclusive) if which else (row.rules, row.baseline) for row in rows]
    kept = [(row, pair) for row, pair in zip(rows, pairs, strict=True) if not math.isnan(sum(pair))]
    if not kept:
        return ruled(False, "neither fetched pages that the other did not", "nothing tells them apart")
    return compare(
        [ours for _, (ours, _) in kept], [base for _, (_, base) in kept], [row.topic for row, _ in kept], most=1,
        names=("rules", "baseline"), what=f"{which} harvest ratio".strip(), same=[row.same for row, _ in kept],
        spent=[row.exhausted for row, _ in kept],
    )  # fmt: skip


@says(f"{WHERE}, table 3", "Rules have a higher harvest ratio than soft focus")
def higher_harvest(by_budget: Mapping[int, Sequence[Match]]) -> Ruling:
    """At the first budget; what is so at others stands beside it."""
    rulings = {budget: higher(rows) for budget, rows in by_budget.items()}
    evidence = [f"After {budget:,} pages: {ruling.evidence}" for budget, ruling in rulings.items()]
    return Ruling(next(iter(rulings.values())).verdict, "\n".join(evidence))


@says(f"{WHERE}, table 3", "The pages that only the rules fetched are better than those that only soft focus did")
def better_exclusives(rows: Sequence[Match]) -> Ruling:
    """Their harvest ratio is higher."""
    return higher(rows, "exclusive")


@says(
    f"{PAPER}, Rule-based focused crawler",
    "Rules can tunnel: over pages off the topic they get to more on it than soft focus (labels judge)",
)
def can_tunnel(rows: Sequence[Match]) -> Ruling:
    """From seeds off the topic their harvest ratio is higher."""
    return higher(rows)


@says(f"{WHERE}, table 3", "The two fetch different pages: they overlap by 8 to 27 %")
def different_pages(rows: Sequence[Match], budget: int, pages: int) -> Ruling:
    """The mean overlap is 30 % at most; tested at a budget of a twentieth of the corpus, or less."""
    overlaps = [row.overlap for row in rows]
    return ruled(
        float(np.mean(overlaps)) <= 30.0,
        f"after {budget:,} of {pages:,} pages {np.mean(overlaps):.0f} % on average, {min(overlaps):.0f} to "
        f"{max(overlaps):.0f} %; by chance it would be {100 * budget / pages:.0f} %",
        "the corpus is too small to differ in" if budget < 50 or budget > pages / 20 + 1 else "",
    )


@says(f"{WHERE}, figure 6", "Rules are ahead after the first few hundred pages")
def ahead_later(curves: Mapping[str, Curve], unless: str = "") -> Ruling:
    """After 300 pages the mean harvest of rules is never below that of the baseline; where both are one, none is."""
    steps = np.array(curves[RULES].x)
    late = steps >= FEW_HUNDRED
    if steps[-1] < 2 * FEW_HUNDRED:
        return ruled(False, f"crawls here have {steps[-1]:,}", f"a few hundred pages are {FEW_HUNDRED}")
    apart = np.subtract(curves[RULES].y, curves[BASELINE].y)[late]
    return ruled(
        apart.min() >= -EPSILON,
        f"rules ahead at {np.count_nonzero(apart > EPSILON)} of {len(apart)} points; least {apart.min():+.3f} at "
        f"{steps[late][apart.argmin()]:,}, at the end {apart[-1]:+.3f}",
        "both are the same at every point" if abs(apart).max() <= EPSILON else unless,
    )


@says(f"{WHERE}, figure 6", "Both keep finding relevant pages")
def keep_finding(curves: Mapping[str, Curve], relevant: float) -> Ruling:
    """In the last half of the crawl both find half as many as in the first, or more; if there are enough to find."""
    shares = {}
    for name in (BASELINE, RULES):
        steps, rates = np.array(curves[name].x), np.array(curves[name].y)
        middle, found = len(steps) // 2 - 1, steps * rates
        rest = (found[-1] - found[middle]) / max(1, steps[-1] - steps[middle])
        shares[name] = rest / max(rates[middle], NOTHING)
    last = curves[RULES].x[-1]
    return ruled(
        min(shares.values()) >= 0.5,
        "harvest of the last half over that of the first: "
        + ", ".join(f"{name} {share:.2f}" for name, share in shares.items()),
        f"{relevant:,.0f} relevant pages for {last:,} fetched" if relevant < last
        else "nearly nothing was found" if max(curves[name].y[-1] for name in shares) < NOTHING
        else "",
    )  # fmt: skip


@says(f"{WHERE}, second experiment", "With 50 seeds in place of 10 harvest ratios are similar")
def seeds_matter_little(
    few: Mapping[str, float], many: Mapping[str, float], counts: tuple[int, int], unless: str = ""
) -> Ruling:
    """With five times as many seeds the harvest ratio of both crawlers changes by a tenth at most."""
    changes = {name: many[name] / max(few[name], NOTHING) - 1 for name in (BASELINE, RULES)}
    if counts[1] < 2 * counts[0]:
        unless = "the topics are too small for more seeds"
    elif min(few.values()) < NOTHING:
        unless = "nearly nothing was found"
    return ruled(
        max(abs(change) for change in changes.values()) <= 0.1,
        f"{counts[1]} seeds in place of {counts[0]}: "
        + ", ".join(f"{name} {few[name]:.3f} to {many[name]:.3f}" for name in changes),
        unless,
    )


@says(f"{PAPER}, Baseline focused crawler", "Hard focus is restrictive")
def restrictive(dry: int, trials: int) -> Ruling:
    """Hard focus runs out of links before its budget is spent in half of the crawls, or more."""
    return ruled(2 * dry >= trials, f"hard focus ran dry in {dry} of {trials} crawls from seeds on the topic")
