"""Comparison of crawlers on the same trials: curves with bands, tables of final values, verdicts on claims."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise

import numpy as np
from numpy.typing import ArrayLike, NDArray

from lycosa_lab.confidence import Interval, curve, interval, paired
from lycosa_lab.findings import (
    INDEPENDENT,
    UNTESTED,
    Cell,
    Expected,
    Mode,
    ReportFigure,
    ReportTable,
    Ruling,
    combine_rulings,
    compare,
)
from lycosa_lab.measures import Floats, exhausted, found, gains, harvest, harvest_curve, recall, targets
from lycosa_lab.results import ExperimentResults, Trial, Unit

BANDS = "Bands: 95 %, bootstrap over topics and seed sets."

Read = Callable[[Trial, ExperimentResults, Sequence[int]], Floats]  # value at each budget


def grid(budget: int, points: int = 20) -> list[int]:
    return sorted({max(1, round(budget * step / points)) for step in range(1, points + 1)})


@dataclass(frozen=True)
class Measure:
    """A quantity measured on a crawl at each budget, such as the harvest rate."""

    name: str
    of: Read
    digits: int = 3  # decimal places shown
    maximum: float | Read = 1.0  # the largest possible value


def gains_of(outcome: Trial, results: ExperimentResults, truth: ArrayLike | None = None) -> Floats:
    return gains(outcome.trace, results.subjects[outcome.subject], truth)


def _total(outcome: Trial, results: ExperimentResults) -> float:
    return targets(outcome.trace, results.subjects[outcome.subject])


def _reachable(outcome: Trial, results: ExperimentResults, budgets: Sequence[int]) -> Floats:
    """Return an upper bound of the relevant pages at each budget; the sum of scores may be higher."""
    return np.minimum(np.asarray(budgets, np.float64), _total(outcome, results))


HARVEST = Measure("harvest by labels", lambda one, results, budgets: harvest(gains_of(one, results), budgets))
FOUND = Measure(
    "relevant by labels", lambda one, results, budgets: found(gains_of(one, results), budgets), 1, _reachable
)
PAGES = Measure(
    "pages", lambda one, results, budgets: found(np.ones(len(gains_of(one, results))), budgets), 1, math.inf
)
RECALL = Measure(
    "recall", lambda one, results, budgets: recall(gains_of(one, results), _total(one, results), budgets),
    maximum=lambda one, results, budgets: _reachable(one, results, budgets) / max(_total(one, results), 1e-9),
)  # fmt: skip


def harvest_by(mode: Mode, name: str = "harvest") -> Measure:
    """Return the measure of the harvest rate, by labels or by the judge; unused budget counts as irrelevant pages."""
    return Measure(
        name,
        lambda one, results, budgets: harvest_curve(results.gains(one, mode), max(budgets))[np.array(budgets) - 1],
        maximum=(lambda one, results, budgets: _reachable(one, results, budgets) / np.asarray(budgets))
        if mode == INDEPENDENT else math.inf,
    )  # fmt: skip


@dataclass
class CrawlComparison:
    """Values of crawlers on the same trials (topic and seed set), averaged over repetitions."""

    labels: Mapping[str, str]  # crawler -> its name in tables, in order
    budgets: Sequence[int]
    topics: Sequence[str]  # topic of each trial; trials of one topic are not independent
    values: Mapping[Measure, Mapping[str, Floats]]  # measure -> crawler -> a row per trial, a column per budget
    maximum: Mapping[Measure, Floats] = field(default_factory=dict)  # the largest possible values, in the same form
    pages: Mapping[str, Sequence[NDArray[np.int32]]] = field(default_factory=dict)  # nodes fetched by each crawl
    spent: Mapping[str, NDArray[np.bool_]] = field(default_factory=dict)  # trials without relevant pages left

    @classmethod
    def of(
        cls,
        labels: Mapping[str, str],
        runs: Sequence[ExperimentResults],
        budgets: Sequence[int],
        measures: Iterable[Measure],
    ) -> CrawlComparison:
        """Measure crawlers on the trials that all of them ran; `runs` have the same trials and different crawlers."""
        crawls: dict[str, dict[Unit, list[tuple[Trial, ExperimentResults]]]] = {}
        for results in runs:
            for one in results.outcomes:
                if one.strategy in labels:
                    own = crawls.setdefault(one.strategy, {})
                    own.setdefault((one.subject, one.seed_set), []).append((one, results))
        trials = [trial for trial in next(iter(crawls.values()), {}) if all(trial in own for own in crawls.values())]
        crawls = {name: {trial: crawls[name][trial] for trial in trials} for name in labels if name in crawls}
        last = max(budgets)

        def read(own: Mapping[Unit, list[tuple[Trial, ExperimentResults]]], of: Read) -> Floats:
            rows = [np.mean([of(one, results, budgets) for one, results in each], axis=0) for each in own.values()]
            return np.array(rows, np.float64).reshape(-1, len(budgets))

        def ceiling(measure: Measure) -> Floats:
            if callable(measure.maximum):
                return read(next(iter(crawls.values()), {}), measure.maximum)
            return np.full((len(trials), len(budgets)), measure.maximum)

        measures = list(measures)
        return cls(
            labels, budgets, [subject for subject, _ in trials],
            {measure: {name: read(own, measure.of) for name, own in crawls.items()} for measure in measures},
            {measure: ceiling(measure) for measure in measures},
            {
                name: [
                    np.concatenate([results.subjects[one.subject].counted(one.trace.found)[:last]
                                    for one, results in each])
                    for each in own.values()
                ]
                for name, own in crawls.items()
            },
            {
                name: np.array(
                    [all(exhausted(results.gains(one, INDEPENDENT), last) for one, results in each)
                     for each in own.values()], np.bool_,
                )
                for name, own in crawls.items()
            },
        )  # fmt: skip

    @classmethod
    def pooled(cls, parts: Sequence[CrawlComparison]) -> CrawlComparison:
        """Join comparisons on different trials; a missing crawler gets nan."""
        first = parts[0]
        names = [name for name in first.labels if any(name in part.crawlers for part in parts)]

        def rows(part: CrawlComparison, measure: Measure, name: str) -> Floats:
            nothing = np.full((len(part.topics), len(part.budgets)), math.nan)
            return part.values[measure].get(name, nothing)

        return cls(
            first.labels, first.budgets, [topic for part in parts for topic in part.topics],
            {
                measure: {name: np.concatenate([rows(part, measure, name) for part in parts]) for name in names}
                for measure in first.values
            },
            {measure: np.concatenate([part.maximum[measure] for part in parts]) for measure in first.maximum},
            {
                name: [nodes for part in parts
                       for nodes in part.pages.get(name, [np.zeros(0, np.int32)] * len(part.topics))]
                for name in names
            },
            {
                name: np.concatenate([part.spent.get(name, np.zeros(len(part.topics), np.bool_)) for part in parts])
                for name in names
            },
        )  # fmt: skip

    @property
    def crawlers(self) -> list[str]:
        return list(next(iter(self.values.values()), ()))

    @property
    def count(self) -> int:
        return len(set(self.topics))

    def label(self, name: str) -> str:
        return self.labels.get(name, name)

    def at(self, *budgets: int) -> CrawlComparison:
        columns = [list(self.budgets).index(budget) for budget in budgets]
        ends = max(budgets) == max(self.budgets)
        return replace(
            self, budgets=list(budgets), spent=self.spent if ends else {},
            values={by: {name: rows[:, columns] for name, rows in of.items()} for by, of in self.values.items()},
            maximum={by: rows[:, columns] for by, rows in self.maximum.items()},
        )  # fmt: skip

    def interval(self, name: str, measure: Measure) -> Interval:
        return interval(self.values[measure][name].mean(axis=1), groups=self.topics)

    def mean(self, name: str, measure: Measure) -> float:
        return self.interval(name, measure).mean

    def figure(
        self, key: str, title: str, y_label: str, measure: Measure, mode: Mode = INDEPENDENT, note: str = ""
    ) -> ReportFigure:
        curves = []
        for name, label in self.labels.items():
            lines = self.values[measure].get(name, np.zeros((0, 0)))
            known = np.flatnonzero(~np.isnan(lines).any(axis=1))
            if len(known):
                curves.append(curve(label, self.budgets, lines[known], [self.topics[row] for row in known.tolist()]))
        return ReportFigure(key, title, "pages fetched", y_label, curves, mode, note=f"{note} {BANDS}".strip())

    def ends(self, measures: Iterable[Measure]) -> list[list[Cell]]:
        by, end = list(measures), self.at(self.budgets[-1])
        return [
            [label, *(end.interval(name, measure).text(measure.digits) for measure in by)]
            for name, label in self.labels.items()
            if name in self.crawlers
        ]

    def table(self, key: str, title: str, measures: Mapping[str, Measure], mode: Mode, note: str) -> ReportTable:
        return ReportTable(key, title, ["crawler", *measures], self.ends(measures.values()), mode, note=note)

    def ahead(
        self,
        pairs: Iterable[tuple[str, str]],
        by: Sequence[Measure],
        reported: Sequence[Measure] = (),
        expect: Expected = "better",
        more: Sequence[str] = (),
    ) -> Ruling:
        """Rule on a claim that the first crawler of each pair is better (or as `expect` says) by each measure in `by`.

        The measures in `reported` and the lines in `more` are added to the evidence without affecting the verdict.
        """
        pairs = list(pairs)
        if missing := sorted({name for pair in pairs for name in pair if name not in self.values[by[0]]}):
            return Ruling(UNTESTED, f"Without results of {', '.join(missing)}: see the remarks")
        verdict, evidence = combine_rulings(self.compared(*pair, measure, expect) for pair in pairs for measure in by)
        lines = [self.difference(pair, measure) for pair in pairs for measure in reported]
        return Ruling(verdict, "\n".join([evidence, *lines, *more]))

    def compared(self, one: str, other: str, measure: Measure, expect: Expected = "better", noun: str = "") -> Ruling:
        ours, theirs = (self.values[measure][name] for name in (one, other))
        maximum: ArrayLike = math.inf if callable(measure.maximum) else measure.maximum
        if measure in self.maximum:
            maximum = self.maximum[measure].mean(axis=1)
        return compare(
            ours, theirs, self.topics, maximum=maximum,
            names=(self.label(one), self.label(other)), noun=noun or measure.name, expect=expect, budgets=self.budgets,
            excluded=self.excluded(one, other, (ours == theirs).all(axis=1)), digits=measure.digits,
        )  # fmt: skip

    def excluded(self, one: str, other: str, equal: ArrayLike = True) -> dict[str, NDArray[np.bool_]]:
        """Return masks of the trials that cannot distinguish two crawlers, by reason; `equal` marks equal results."""
        never = np.zeros(len(self.topics), np.bool_)
        same = never.copy()
        for place, nodes in enumerate(zip(self.pages.get(one, ()), self.pages.get(other, ()), strict=True)):
            same[place] = len(nodes[0]) > 0 and np.array_equal(*nodes)
        spent = self.spent.get(one, never) & self.spent.get(other, never)
        return {
            "are the same crawls": same,
            "are the same where nothing is left to find": spent & np.asarray(equal, np.bool_),
        }

    def difference(self, pair: tuple[str, str], measure: Measure) -> str:
        one, other = (self.values[measure][name].mean(axis=1) for name in pair)
        apart = paired(one, other, groups=self.topics).text(measure.digits)
        return f"{self.label(pair[0])} less {self.label(pair[1])}, {measure.name}: {apart}."

    def closing(self, ahead: str, behind: str, by: Measure) -> Ruling:
        """Rule on a claim that the gap between two crawlers is smaller at the end than after a quarter of the crawl.

        It is untested without a gap after a quarter. Trials without relevant pages left are ignored.
        """
        quarter = max(0, len(self.budgets) // 4 - 1)
        gaps = self.values[by][ahead] - self.values[by][behind]
        excluded = self.excluded(ahead, behind)
        kept = ~np.any(list(excluded.values()), axis=0)
        topics = [topic for topic, keep in zip(self.topics, kept.tolist(), strict=True) if keep]
        first, last = (interval(gaps[kept, at], draws=1, groups=topics).mean for at in (quarter, -1))
        evidence = (
            f"{self.label(ahead)} less {self.label(behind)}: {first:+.3f} after {self.budgets[quarter]:,} pages, "
            f"{last:+.3f} after {self.budgets[-1]:,}."
        )
        if first <= 0:
            return Ruling(UNTESTED, f"There was no gap to close.\n{evidence}")
        names = f"gap after {self.budgets[quarter]:,} pages", "gap at the end"
        shrunk = compare(gaps[:, quarter], gaps[:, -1], self.topics, names=names, noun=by.name, excluded=excluded)
        return Ruling(shrunk.verdict, f"{shrunk.evidence}\n{evidence}")

    def same_order(self, one: Measure, other: Measure) -> Ruling:
        """Rule on a claim that two measures rank all crawlers in the same order."""
        order = sorted(self.crawlers, key=lambda name: -self.mean(name, one))
        if not self.mean(order[0], one):
            return Ruling(UNTESTED, f"By {one.name} there is nothing to put in order.")
        verdict, evidence = self.ahead([(low, high) for high, low in pairwise(order)], [other], expect="not better")
        return Ruling(verdict, f"By {one.name}: {'; '.join(map(self.label, order))}.\n{evidence}")
