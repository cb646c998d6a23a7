"""Crawlers compared on the same trials: curves with their bands, ends in a table, claims with their verdicts."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from lycosa.core.errors import InputError
from lycosa.drawing.formats import many
from lycosa.lab.certainty import curve, interval, paired
from lycosa.lab.findings import (
    ENOUGH,
    FAILS,
    HOLDS,
    INDEPENDENT,
    UNTESTED,
    WEIGHED,
    Cell,
    Expected,
    Figure,
    Mode,
    Ruling,
    Table,
    compare,
    joined,
)
from lycosa.lab.measures import Floats, exhausted, found, gains, harvest, recall, targets
from lycosa.lab.papers import Bench
from lycosa.lab.results import Outcome, Results

BANDS = "Bands: 95 %, bootstrap over topics and seed sets."
PICTURE = "The paper gives this figure as a picture only, its text has no numbers to hold ours against."


def size(bench: Bench) -> dict[str, Any]:
    """Return the size of an experiment that compares crawlers by topic."""
    if bench.quick:
        return {"subject_count": bench.topics or ENOUGH, "seed_sets": 1, "budgets": [150], "least": 30}
    return {"subject_count": bench.topics or 10, "seed_sets": 3, "budgets": [1000], "least": 40}


def grid(budget: int, points: int = 20) -> list[int]:
    """Return the budgets at which curves are drawn, evenly up to the whole.

    >>> grid(300, 3)
    [100, 200, 300]
    """
    return sorted({max(1, round(budget * step / points)) for step in range(1, points + 1)})


def how_weighed(subjects: int, topics: int = 0) -> list[str]:
    """Return remarks on verdicts: the rule, and whether fewer topics were found than asked for.

    >>> how_weighed(8, 30)[1]
    '30 topics were asked for: 8 classes of the corpus have as many pages as it takes.'
    """
    short = f"{topics} topics were asked for: {many(subjects, 'class')} of the corpus have as many pages as it takes."
    return [WEIGHED, *([short] if topics > subjects else [])]


def remarks_of(runs: Iterable[Results]) -> list[str]:
    """Return the remarks of several runs, each once, with the name of its run."""
    return list(dict.fromkeys(f"{of.experiment.name}: {remark}" for of in runs for remark in of.remarks))


@dataclass(frozen=True)
class Measure:
    """A number read off a crawl at each budget."""

    name: str
    of: Callable[[Outcome, Results, Sequence[int]], Floats]
    digits: int = 3  # decimal places shown
    most: float = 1.0  # the largest value possible


def worth(outcome: Outcome, results: Results, truth: ArrayLike | None = None) -> Floats:
    """Return the worth of each page of a crawl: by labels, or by another truth."""
    return gains(outcome.trace, results.subjects[outcome.subject], truth)


def _recall(outcome: Outcome, results: Results, budgets: Sequence[int]) -> Floats:
    total = targets(outcome.trace, results.subjects[outcome.subject])
    return recall(worth(outcome, results), total, budgets)


HARVEST = Measure("harvest by labels", lambda one, results, budgets: harvest(worth(one, results), budgets))
FOUND = Measure("relevant by labels", lambda one, results, budgets: found(worth(one, results), budgets), 1, math.inf)
PAGES = Measure("pages", lambda one, results, budgets: found(np.ones(len(worth(one, results))), budgets), 1, math.inf)
RECALL = Measure("recall", _recall)


def complete(results: Results, strategies: Sequence[str]) -> dict[str, list[Outcome]]:
    """Return the crawls of each strategy that has any, in the same trials in the same order.

    Trials that one of them could not run (the remarks say why) are left out for all.
    """
    crawls = {name: {one.start: one for one in own} for name in strategies if (own := results.select(name))}
    trials = [trial for trial in next(iter(crawls.values()), {}) if all(trial in own for own in crawls.values())]
    return {name: [own[trial] for trial in trials] for name, own in crawls.items()}


@dataclass
class Comparison:
    """Crawlers measured on the same trials."""

    labels: Mapping[str, str]  # crawler -> its name, in order
    budgets: Sequence[int]
    topics: Sequence[str]  # of each trial: trials of one topic depend on each other
    values: Mapping[Measure, Mapping[str, Floats]]  # measure -> crawler -> a row for each trial, a column for a budget
    pages: Mapping[str, Sequence[NDArray[np.int32]]] = field(default_factory=dict)  # what each crawl fetched
    spent: Mapping[str, NDArray[np.bool_]] = field(default_factory=dict)  # trials that found hardly more in the end

    @classmethod
    def of(
        cls, labels: Mapping[str, str], runs: Sequence[Results], budgets: Sequence[int], measures: Iterable[Measure]
    ) -> Comparison:
        """Measure the crawls of some runs, which have the same trials and different crawlers."""
        crawls = {
            name: [(results, one) for one in own]
            for results in runs
            for name, own in complete(results, [name for name in labels if name in results.strategies]).items()
        }
        trials = {tuple(one.start for _, one in own) for own in crawls.values()}
        if len(trials) > 1:
            raise InputError("runs on other trials can't be compared: remove them, and run again")
        return cls(
            labels, budgets, [subject for own in trials for subject, _, _ in own],
            {
                measure: {
                    name: np.array([measure.of(one, of, budgets) for of, one in own]).reshape(-1, len(budgets))
                    for name, own in crawls.items()
                }
                for measure in measures
            },
            {name: [one.trace.nodes for _, one in own] for name, own in crawls.items()},
            {
                name: np.array([exhausted(of.gains(one, INDEPENDENT), max(budgets)) for of, one in own], np.bool_)
                for name, own in crawls.items()
            },
        )  # fmt: skip

    @property
    def count(self) -> int:
        return len(set(self.topics))

    def label(self, name: str) -> str:
        return self.labels.get(name, name)

    def mean(self, name: str, measure: Measure, budget: int = 0) -> float:
        """Return the mean over topics at a budget, or over all budgets."""
        values = self.values[measure][name]
        numbers = values[:, list(self.budgets).index(budget)] if budget else values.mean(axis=1)
        return interval(numbers, draws=1, groups=self.topics).mean

    def figure(
        self, key: str, title: str, y_label: str, measure: Measure, mode: Mode = INDEPENDENT, note: str = ""
    ) -> Figure:
        curves = [
            curve(label, self.budgets, self.values[measure][name], self.topics)
            for name, label in self.labels.items()
            if name in self.values[measure]
        ]
        return Figure(key, title, "pages fetched", y_label, curves, mode, note=f"{note} {BANDS}".strip())

    def ends(self, measures: Iterable[Measure]) -> list[list[Cell]]:
        by = {measure: self.values[measure] for measure in measures}
        return [
            [label, *(interval(of[name][:, -1], groups=self.topics).text(measure.digits) for measure, of in by.items())]
            for name, label in self.labels.items()
            if all(name in of for of in by.values())
        ]

    def table(self, key: str, title: str, measures: Mapping[str, Measure], mode: Mode, note: str) -> Table:
        return Table(key, title, ["crawler", *measures], self.ends(measures.values()), mode, note=note)

    # -- claims --------------------------------------------------------------------------------------------------------

    def ahead(
        self,
        pairs: Iterable[tuple[str, str]],
        by: Sequence[Measure],
        beside: Sequence[Measure] = (),
        expect: Expected = "better",
        more: Sequence[str] = (),
    ) -> Ruling:
        """Rule on a claim that the first of each pair is better (or what is expected) by each of some measures.

        What other measures say stands `beside`, and `more` lines after that: they decide nothing.
        """
        pairs = list(pairs)
        there = self.values[by[0]]
        if missing := sorted({name for pair in pairs for name in pair if name not in there}):
            return Ruling(UNTESTED, f"Without results of {', '.join(missing)}: see the remarks")
        verdict, evidence = joined(self._compared(pair, measure, expect) for pair in pairs for measure in by)
        lines = [self.difference(pair, measure) for pair in pairs for measure in beside]
        return Ruling(verdict, "\n".join([evidence, *lines, *more]))

    def _compared(self, pair: tuple[str, str], measure: Measure, expect: Expected) -> Ruling:
        one, other = pair
        same = [
            np.array_equal(*nodes) for nodes in zip(self.pages.get(one, ()), self.pages.get(other, ()), strict=True)
        ]
        return compare(
            self.values[measure][one], self.values[measure][other], self.topics, most=measure.most,
            names=(self.label(one), self.label(other)), what=measure.name, expect=expect, budgets=self.budgets,
            same=same, spent=self._spent(one, other), digits=measure.digits,
        )  # fmt: skip

    def _spent(self, one: str, other: str) -> NDArray[np.bool_]:
        nowhere = np.zeros(len(self.topics), np.bool_)
        return self.spent.get(one, nowhere) & self.spent.get(other, nowhere)

    def difference(self, pair: tuple[str, str], measure: Measure) -> str:
        """Return the difference of a pair over the whole crawl, as evidence."""
        one, other = (self.values[measure][name].mean(axis=1) for name in pair)
        apart = paired(one, other, groups=self.topics).text(measure.digits)
        return f"{self.label(pair[0])} less {self.label(pair[1])}, {measure.name}: {apart}."

    def closing(self, ahead: str, behind: str, by: Measure) -> Ruling:
        """Rule on a claim that one catches up: its gap is smaller at the end than after a quarter of the crawl.

        Without a gap after a quarter there is nothing to catch up with. Where the topic is exhausted any gap closes.
        """
        kept = ~self._spent(ahead, behind)
        topics = [topic for topic, keep in zip(self.topics, kept.tolist(), strict=True) if keep]
        if not topics:
            return Ruling(UNTESTED, "In every trial the topic is exhausted: any gap closes.")
        quarter = max(0, len(self.budgets) // 4 - 1)
        gaps = (self.values[by][ahead] - self.values[by][behind])[kept]
        first, last = (interval(gaps[:, at], draws=1, groups=topics).mean for at in (quarter, -1))
        evidence = (
            f"{self.label(ahead)} less {self.label(behind)}: {first:+.3f} after {self.budgets[quarter]:,} pages, "
            f"{last:+.3f} after {self.budgets[-1]:,}."
        )
        if first <= 0:
            return Ruling(UNTESTED, f"There was no gap to close.\n{evidence}")
        names = f"gap after {self.budgets[quarter]:,} pages", "gap at the end"
        shrunk = compare(gaps[:, quarter], gaps[:, -1], topics, most=math.inf, names=names, what=by.name)
        return Ruling(shrunk.verdict, f"{shrunk.evidence}\n{evidence}")

    def same_order(self, one: Measure, other: Measure) -> Ruling:
        """Rule on a claim that two measures put all crawlers in the same order."""
        means = [{name: self.mean(name, by) for name in self.values[by]} for by in (one, other)]
        first, second = (sorted(by, key=lambda name: -by[name]) for by in means)
        names = ["; ".join(map(self.label, order)) for order in (first, second)]
        evidence = f"By {one.name}: {names[0]}. By {other.name}: {names[1]}."
        if self.count < ENOUGH:
            return Ruling(UNTESTED, f"{many(self.count, 'topic')} only, and it takes {ENOUGH}.\n{evidence}")
        if not any(means[0].values()):
            return Ruling(UNTESTED, f"By {one.name} there is nothing to put in order.\n{evidence}")
        return Ruling(HOLDS if first == second else FAILS, evidence)
