"""Findings of an experiment: tables, curves, claims, and differences to a strategy or another experiment."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

import numpy as np

from lycosa.version import __version__
from lycosa_lab import confidence as confidence
from lycosa_lab.cache import corpus_digest
from lycosa_lab.comparison import CrawlComparison, grid, harvest_by
from lycosa_lab.confidence import PairedDifference
from lycosa_lab.findings import AS_PUBLISHED, Cell, Claim, Expected, Findings, ReportFigure, ReportTable, Ruling, plain
from lycosa_lab.measures import steps_to
from lycosa_lab.results import ExperimentResults, Row, grouped, unit_means
from lycosa_lab.trial_strategies import ORACLE, look_ahead_links

YARDSTICKS = (
    "The oracle is greedy, not optimal. The look-ahead oracle knows the whole graph, and after each page is credited "
    "with the better of its own crawl and the greedy one: at least as good as greedy, and a lower bound of the optimum."
)


def findings(results: ExperimentResults, against: str = "", before: Sequence[Row] | None = None) -> Findings:
    plan, order = results.experiment, results.ranked(results.experiment.budget)
    summary = (
        f"{len(results.strategies)} strategies on {len(results.subjects)} topics, {len(results.outcomes)} crawls of "
        f"{plan.budget:,} pages."
        + (f" Highest harvest: {order[0]}, {results.mean(order[0], plan.budget):.3f}." if order else "")
    )
    parts: list[ReportTable | ReportFigure] = [_harvest(results, order), _figure(results, order)]
    parts += [_differences(results, against, before)] if against else []
    parts += [_end(results, order), _by_subject(results, order)]
    return Findings(
        results.key, f"Experiment {plan.name}", parts,
        [Claim(text, plan.name, *compare_strategies(results, *claim)) for text, claim in plan.claimed.items()],
        summary=summary,
        configuration={**plan.as_dict(), "version": __version__},
        corpus={**results.index.report_facts, "fingerprint": corpus_digest(results.index)},
        remarks=[*results.remarks, *(unpaired(results, against, before) if before is not None else [])],
    )  # fmt: skip


def compare_strategies(results: ExperimentResults, one: str, other: str, expect: Expected = "better") -> Ruling:
    measure = harvest_by(results.mode)
    crawls = CrawlComparison.of({one: one, other: other}, [results], grid(results.experiment.budget), [measure])
    return crawls.ahead([(one, other)], [measure], expect=expect)


def differences(
    results: ExperimentResults, against: str = "", before: Sequence[Row] | None = None
) -> list[tuple[str, int, PairedDifference]]:
    """Return by budget each strategy's harvest less that of `against` (default: the first), or than its own in
    `before`.

    Paired on the same topics and seed sets. p is corrected for the number of strategies (Holm).
    """
    # look-ahead is a yardstick, which must not cost the other tests significance
    strategies = [text for text in results.strategies if not look_ahead_links(text)]
    rows = results.rows_of if before is None else grouped(before)
    if before is None:
        against = against or next(iter(strategies), "")
        strategies = [text for text in strategies if text != against]
    lines = []
    for budget in results.experiment.budgets:
        apart = {}
        for text in strategies:
            own = results.units(text, budget)
            base = unit_means(rows.get((text if before is not None else against, budget), []), "harvest")
            shared = [unit for unit in base if unit in own]
            ours, theirs = ([units[unit] for unit in shared] for units in (own, base))
            groups = [subject for subject, _ in shared]
            apart[text] = confidence.paired(ours, theirs, results.experiment.random_seed, groups=groups)
        lines += [(text, budget, one) for text, one in confidence.corrected(apart).items() if one.n]
    return lines


def unpaired(results: ExperimentResults, against: str, before: Sequence[Row]) -> list[str]:
    """Return remarks on rows of another experiment that can't be compared or that have other seeds."""
    there, here = ({(row["subject"], row["seed_set"]): row["start"] for row in rows} for rows in (before, results.rows))
    shared = [unit for unit in here if unit in there]
    others = sum(here[unit] != there[unit] for unit in shared)
    remarks = [f"Other seeds than in {against}: {others} of {len(shared)} sets."] if others else []
    if not differences(results, before=before):
        remarks.append(f"Nothing to compare: {against} has none of these strategies, topics and budgets.")
    return remarks


def _part(
    results: ExperimentResults, key: str, title: str, columns: Sequence[str], rows: Iterable[Sequence[Cell]], note: str
) -> ReportTable:
    judged = " As published: the crawler's own judge judges the fetched pages." if results.mode == AS_PUBLISHED else ""
    known = [[plain(cell) for cell in row] for row in rows]
    return ReportTable(f"{results.key}-{key}", title, columns, known, results.mode, note=note + judged)


def _harvest(results: ExperimentResults, order: Sequence[str]) -> ReportTable:
    budgets = results.experiment.budgets
    return _part(
        results, "harvest", "Harvest", ["strategy", "given", *(f"{budget:,} pages" for budget in budgets)],
        [
            [text, results.input_group(text), *(str(results.interval(text, budget)) for budget in budgets)]
            for text in order
        ],
        "The share of the fetched pages that is relevant (of graphs, their mean score): mean over topics and their "
        "seed sets, and 95 % interval (bootstrap over topics, then seed sets).",
    )  # fmt: skip


def _figure(results: ExperimentResults, order: Sequence[str]) -> ReportFigure:
    measure, steps = harvest_by(results.mode), steps_to(results.experiment.budget).tolist()
    label = "share of the budget that is relevant"
    figures = [
        CrawlComparison.of({text: text}, [results], steps, [measure]).figure(
            f"{results.key}-curves", "Harvest along the way",
            "mean score that the guide gives" if results.mode == AS_PUBLISHED else label, measure, results.mode,
        )
        for text in order
    ]  # fmt: skip
    return replace(figures[0], curves=[curve for figure in figures for curve in figure.curves])


def _differences(results: ExperimentResults, against: str, before: Sequence[Row] | None) -> ReportTable:
    return _part(
        results, "differences", f"Harvest less that of {against}",
        ["strategy", "pages", "difference", "low", "high", "p", "topics"],
        [[text, budget, *apart] for text, budget, apart in differences(results, against, before)],
        "On the same topics and seeds; p by sign flips of the topics' mean differences, two-sided, corrected for "
        "the number of strategies (Holm). With fewer than 6 topics no p can be under .05.",
    )  # fmt: skip


def _end(results: ExperimentResults, order: Sequence[str]) -> ReportTable:
    budget = results.experiment.budget
    columns = {"recall": "recall", "area": "area", "found": "found", "fetched": "fetched"}
    if len(np.unique(results.index.hosts)) > 1:  # the column is omitted for a single host
        columns["sites"] = "sites"
    if ORACLE in results.strategies:
        columns |= {"relative": "of the oracle's", "ahead": "of look-ahead's"}
    return _part(
        results, "end", f"After {budget:,} pages", ["strategy", *columns.values()],
        [[text, *(results.mean(text, budget, column) for column in columns)] for text in order],
        "Means over topics and their seed sets. area: under the harvest curve; budget left over by an "
        "exhausted crawl counts as irrelevant pages." + (f" {YARDSTICKS}" if ORACLE in results.strategies else ""),
    )  # fmt: skip


def _by_subject(results: ExperimentResults, order: Sequence[str]) -> ReportTable:
    budget = results.experiment.budget
    rows: list[list[Cell]] = []
    for name, subject in results.subjects.items():
        row: list[Cell] = [name, int(np.count_nonzero(subject.truth > 0)), int(np.count_nonzero(subject.seen))]
        for text in order:
            values = [value for (of, _), value in results.units(text, budget).items() if of == name]
            row.append(float(np.mean(values)) if values else None)
        rows.append(row)
    return _part(
        results, "subjects", f"Harvest on each topic after {budget:,} pages", ["topic", "relevant", "seen", *order],
        rows, "relevant: pages of the corpus; seen: pages used for training, which never count.",
    )  # fmt: skip
