"""Crawlers compared: from runs to curves with their bands, and from differences to claims with their verdicts.

When a claim holds is said here, before anything is run: see `better` and `alike`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import reduce
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from lycosa.core.errors import InputError
from lycosa.drawing.formats import many
from lycosa.lab.certainty import Difference, curve, interval, paired
from lycosa.lab.findings import FAILS, HOLDS, INDEPENDENT, UNTESTED, Cell, Figure, Mode, Ruling, Table, Verdict
from lycosa.lab.measures import Floats, found, gains, harvest, recall, targets
from lycosa.lab.papers import Bench
from lycosa.lab.results import Outcome, Results

NEGLIGIBLE = 0.05  # smaller differences, as a share of what the other got, are not worth a name

CHANCE = 0.05
# On every report.
WEIGHED = (
    "How claims that compare are decided: by means over the whole crawl (the area under the curve), not by its end. "
    "One is better than another if the whole 95 % interval of the difference is above 0 and p is at most .05; it is "
    "not if the whole interval is below a twentieth of what the other got; otherwise these trials can't tell. Trials "
    "in which both are the same because the topic is exhausted are left out: there was nothing to be better at."
)

ENOUGH = 6  # topics; with fewer, no p can be .05 or less

BANDS = "Bands: 95 %, bootstrap over topics and seed sets."
PICTURE = "The paper gives this figure as a picture only, its text has no numbers to hold ours against."


def size(bench: Bench) -> dict[str, Any]:
    """How much is run where crawlers are compared on topics of a corpus: as many topics as are asked for."""
    if bench.quick:
        return {"subject_count": bench.topics or ENOUGH, "seed_sets": 1, "budgets": [150], "least": 30}
    return {"subject_count": bench.topics or 10, "seed_sets": 3, "budgets": [1000], "least": 40}


def grid(budget: int, points: int = 20) -> list[int]:
    """Budgets at which curves are drawn, evenly up to the whole.

    >>> grid(300, 3)
    [100, 200, 300]
    """
    return sorted({max(1, round(budget * step / points)) for step in range(1, points + 1)})


def how_weighed(subjects: int, topics: int = 0) -> list[str]:
    """What is to be said of verdicts, also where so few subjects were hunted that nothing can be told from chance.

    `topics` is how many were asked for, if anybody did.

    >>> how_weighed(6) == [WEIGHED]
    True
    >>> how_weighed(8, 30)[1]
    '30 topics were asked for: 8 classes of the corpus have as many pages as it takes.'
    """
    remarks = [WEIGHED]
    if topics > subjects:
        remarks.append(
            f"{topics} topics were asked for: {many(subjects, 'class')} of the corpus have as many pages as it takes."
        )
    if subjects < ENOUGH:
        remarks.append(
            f"{subjects} topics are too few to tell a difference from chance: claims that compare cannot be tested "
            f"with fewer than {ENOUGH}."
        )
    return remarks


# -- what is measured ------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Measure:
    """What is read off a crawl: a number for each budget."""

    name: str
    of: Callable[[Outcome, Results, Sequence[int]], Floats]
    digits: int = 3  # decimal places shown


def worth(outcome: Outcome, results: Results, truth: ArrayLike | None = None) -> Floats:
    """What each page of a crawl was worth: by labels, or by another truth."""
    return gains(outcome.trace, results.subjects[outcome.subject], truth)


def _recall(outcome: Outcome, results: Results, budgets: Sequence[int]) -> Floats:
    total = targets(outcome.trace, results.subjects[outcome.subject])
    return recall(worth(outcome, results), total, budgets)


def exhausted(outcome: Outcome, results: Results, budget: int, mode: Mode = INDEPENDENT) -> bool:
    """Whether a crawl has come to an end of what it can find: in the last quarter of its budget there was hardly any.

    That is a twentieth of its relevant pages (.5 or more) at most. Of two such crawls that found the same it can't be
    said which guide is better: there was nothing left to be better at.
    """
    hits = results.gains(outcome, mode)[:budget] >= 0.5
    late = np.count_nonzero(hits[budget - budget // 4 :])
    return bool(late <= NEGLIGIBLE * np.count_nonzero(hits))


HARVEST = Measure("harvest by labels", lambda one, results, budgets: harvest(worth(one, results), budgets))
FOUND = Measure("relevant by labels", lambda one, results, budgets: found(worth(one, results), budgets), 1)
PAGES = Measure("pages", lambda one, results, budgets: found(np.ones(len(worth(one, results))), budgets), 1)
RECALL = Measure("recall", _recall)


def complete(results: Results, strategies: Sequence[str]) -> dict[str, list[Outcome]]:
    """The crawls of each strategy that has any, in the same trials in the same order.

    A trial that one of them could not run (the results' remarks say why) is none to compare the others in.
    """
    crawls = {name: {one.start: one for one in own} for name in strategies if (own := results.select(name))}
    trials = [trial for trial in next(iter(crawls.values()), {}) if all(trial in own for own in crawls.values())]
    return {name: [own[trial] for trial in trials] for name, own in crawls.items()}


@dataclass
class Measured:
    """What each strategy got in each trial (subject and seed set) at each budget; all have the same trials in order."""

    budgets: Sequence[int]
    groups: Sequence[str]  # subject of each trial: trials of one subject depend on each other
    values: Mapping[str, Floats]
    exhausted: Mapping[str, NDArray[np.bool_]] = field(default_factory=dict)
    """In which trials a strategy found hardly anything more in the end; in none, where nothing is said."""

    @classmethod
    def of(cls, results: Results, strategies: Sequence[str], budgets: Sequence[int], measure: Measure) -> Measured:
        crawls = complete(results, strategies)
        values = {
            name: np.array([measure.of(one, results, budgets) for one in own], np.float64).reshape(-1, len(budgets))
            for name, own in crawls.items()
        }
        spent = {
            name: np.array([exhausted(one, results, max(budgets)) for one in own], np.bool_)
            for name, own in crawls.items()
        }
        return cls(list(budgets), [one.subject for one in next(iter(crawls.values()), [])], values, spent)

    def joined(self, other: Measured) -> Measured:
        """With what was measured on the same trials in other runs."""
        if list(self.groups) != list(other.groups) or list(self.budgets) != list(other.budgets):
            raise InputError("runs on other trials can't be compared: remove them, and run again")
        return Measured(
            self.budgets, self.groups, {**self.values, **other.values}, {**self.exhausted, **other.exhausted}
        )

    def telling(self, one: str, other: str, *, paces: bool = True) -> Measured:
        """Without the trials in which two strategies are the same because the topic is exhausted.

        They still differ where one found its pages before the other, unless `paces` are of no interest.
        """
        nowhere = np.zeros(len(self.groups), np.bool_)
        spent = self.exhausted.get(one, nowhere) & self.exhausted.get(other, nowhere)
        kept = ~(spent & (self.values[one] == self.values[other]).all(axis=1) if paces else spent)
        groups = [group for group, keep in zip(self.groups, kept.tolist(), strict=True) if keep]
        return Measured(self.budgets, groups, {name: self.values[name][kept] for name in (one, other)})

    @property
    def end(self) -> int:
        return self.budgets[-1]

    def at(self, strategy: str, budget: int | None = None) -> Floats:
        """One number for each trial: at a budget; if none is named, the mean over all of them.

        Claims are weighed by that mean (the area under the curve): at the end of a long crawl of a small corpus
        everyone has found nearly everything.
        """
        values = self.values[strategy]
        numbers: Floats = values.mean(1) if budget is None else values[:, list(self.budgets).index(budget)]
        return numbers

    def mean(self, strategy: str, budget: int | None = None) -> float:
        """Over subjects, each with the mean over its trials."""
        return interval(self.at(strategy, budget), draws=1, groups=self.groups).mean

    def nothing(self, one: str, other: str, digits: int) -> bool:
        """Whether both got so little on average that it is printed as 0: a share of that is no figure."""
        return max(self.mean(one), self.mean(other)) < 0.5 * 10.0**-digits

    def difference(self, one: str, other: str, budget: int | None = None) -> Difference:
        """How much more the one got than the other in the same trials."""
        return paired(self.at(one, budget), self.at(other, budget), groups=self.groups)


# -- what is claimed -------------------------------------------------------------------------------------------------

Criterion = Callable[[Difference, float], Verdict]  # a verdict on a difference to a mean


def better(difference: Difference, base: float) -> Verdict:
    """Whether the one is better than the other, whose mean is `base`.

    It is when the whole interval of the difference is above 0 and p is at most .05. It is not when the whole interval
    is below what is worth a name. Otherwise, and with fewer than six subjects, the trials can't tell.
    """
    if difference.n < ENOUGH:
        return UNTESTED
    if difference.low > 0 and difference.p <= CHANCE:
        return HOLDS
    return FAILS if difference.high < NEGLIGIBLE * abs(base) else UNTESTED


def not_better(difference: Difference, base: float) -> Verdict:
    """Whether the one is surely not better: what `better` says, turned round."""
    opposite: dict[Verdict, Verdict] = {HOLDS: FAILS, FAILS: HOLDS, UNTESTED: UNTESTED}
    return opposite[better(difference, base)]


def alike(difference: Difference, base: float) -> Verdict:
    """Whether two are as good as each other: the interval of the difference is within a tenth of `base` on both sides.

    They are not when it lies above or below 0 altogether and p is at most .05. Otherwise the trials can't tell.
    """
    if difference.n < ENOUGH:
        return UNTESTED
    if max(abs(difference.low), abs(difference.high)) <= 2 * NEGLIGIBLE * abs(base):
        return HOLDS
    apart = difference.low > 0 or difference.high < 0
    return FAILS if apart and difference.p <= CHANCE else UNTESTED


def all_of(verdicts: Sequence[Verdict]) -> Verdict:
    """A claim of several parts holds if all do, and does not if one does not.

    >>> all_of(["holds", "cannot be tested here"]), all_of(["cannot be tested here", "does not hold"])
    ('cannot be tested here', 'does not hold')
    """
    return next((verdict for verdict in (FAILS, UNTESTED) if verdict in verdicts), HOLDS if verdicts else UNTESTED)


def told(difference: Difference, digits: int = 3) -> str:
    """The difference as text, for evidence."""
    if difference.mean == difference.low == difference.high == 0:
        return "none in any trial"
    if np.isnan(difference.mean):
        return "nothing to compare"
    if np.isnan(difference.low):
        return f"{difference.mean:+.{digits}f} (one trial only)"
    sure = f"95 %: {difference.low:+.{digits}f} to {difference.high:+.{digits}f}"
    return f"{difference.mean:+.{digits}f} ({sure}; p = {difference.p:.3f})"


@dataclass
class Comparison:
    """Crawlers on the same trials, by several measures: draws them, and rules on what a paper claims of them."""

    labels: Mapping[str, str]  # crawler -> its name, in order
    by: Mapping[Measure, Measured]

    @classmethod
    def of(
        cls, labels: Mapping[str, str], runs: Sequence[Results], budgets: Sequence[int], measures: Sequence[Measure]
    ) -> Comparison:
        """Measure the outcomes of some runs, which have the same trials and different crawlers."""
        by = {}
        for measure in measures:
            measured = [
                Measured.of(
                    results, [name for name in labels if name in results.experiment.strategies], budgets, measure
                )
                for results in runs
            ]
            by[measure] = reduce(Measured.joined, measured)
        return cls(labels, by)

    @property
    def topics(self) -> int:
        return len(set(next(iter(self.by.values())).groups))

    def label(self, name: str) -> str:
        return self.labels.get(name, name)

    def figure(
        self, key: str, title: str, y_label: str, measure: Measure, mode: Mode = INDEPENDENT, note: str = ""
    ) -> Figure:
        """A curve for each crawler with the band of 95 %, by bootstrap over subjects and their seed sets."""
        numbers = self.by[measure]
        curves = [
            curve(label, numbers.budgets, numbers.values[name], numbers.groups)
            for name, label in self.labels.items()
            if name in numbers.values
        ]
        return Figure(key, title, "pages fetched", y_label, curves, mode, note=f"{note} {BANDS}".strip())

    def ends(self, measures: Iterable[Measure]) -> list[list[Cell]]:
        """Rows of a table: what each crawler had at the end, with its interval, by some measures."""

        def end(name: str, measure: Measure) -> str:
            numbers, digits = self.by[measure], measure.digits
            mean, low, high, _ = interval(numbers.at(name, numbers.end), groups=numbers.groups)
            return f"{mean:.{digits}f}" + (f" ({low:.{digits}f} to {high:.{digits}f})" if np.isfinite(low) else "")

        there = next(iter(self.by.values())).values
        return [
            [label, *(end(name, measure) for measure in measures)]
            for name, label in self.labels.items()
            if name in there
        ]

    def table(self, key: str, title: str, measures: Mapping[str, Measure], mode: Mode, note: str) -> Table:
        return Table(key, title, ["crawler", *measures], self.ends(list(measures.values())), mode, note=note)

    def ahead(
        self,
        pairs: Sequence[tuple[str, str]],
        by: Sequence[Measure],
        beside: Sequence[Measure] = (),
        criterion: Criterion = better,
        more: Sequence[str] = (),
    ) -> Ruling:
        """Of each pair the first is better than the second (or what the criterion says) by each of some measures.

        What other measures say stands `beside` in the evidence, and further lines of it after that (`more`).
        """
        first = self.by[by[0]].values
        if missing := sorted({name for pair in pairs for name in pair if name not in first}):
            return Ruling(UNTESTED, f"Without results of {', '.join(missing)}: see the remarks")
        weighed = [self.weigh(pair, measure, criterion) for pair in pairs for measure in by]
        why = list(dict.fromkeys(reason for _, reason in weighed if reason))
        lines = [*(self.difference(pair, [*by, *beside]) for pair in pairs), *more]
        return self.ruling(all_of([verdict for verdict, _ in weighed]), lines, why)

    def weigh(self, pair: tuple[str, str], measure: Measure, criterion: Criterion) -> Ruling:
        """What a criterion says of a pair by one measure; where nothing can be said, and why is known, why."""
        numbers = self.by[measure].telling(*pair)
        one, other = map(self.label, pair)
        left = len(set(numbers.groups))
        if left < min(ENOUGH, self.topics):
            return Ruling(UNTESTED, (
                f"{one} and {other} are the same on {self.topics - left} of {self.topics} topics, which are exhausted: "
                "neither finds more in the end."
            ))  # fmt: skip
        if numbers.nothing(*pair, measure.digits):
            return Ruling(UNTESTED, f"{one} and {other} both found nearly nothing ({measure.name}).")
        return Ruling(criterion(numbers.difference(*pair), numbers.mean(pair[1])), "")

    def difference(self, pair: tuple[str, str], measures: Sequence[Measure]) -> str:
        one, other = map(self.label, pair)
        said = [
            f"{measure.name}: {told(self.by[measure].telling(*pair).difference(*pair), measure.digits)}"
            for measure in measures
        ]
        return f"{one} less {other}, {'; '.join(said)}."

    def ruling(self, verdict: Verdict, evidence: Sequence[str], why: Sequence[str] = ()) -> Ruling:
        """A verdict with its evidence, a line for each comparison; before it, where there is none, why not."""
        if verdict != UNTESTED:
            return Ruling(verdict, "\n".join(evidence))
        few = f"{self.topics} topics only: with fewer than {ENOUGH} no difference can be told from chance."
        usual = few if self.topics < ENOUGH else "These trials can't tell: the intervals leave both open."
        return Ruling(verdict, "\n".join([*(why or [usual]), *evidence]))

    def closing(self, ahead: str, behind: str, by: Measure) -> Ruling:
        """Whether the one behind catches up: the gap is smaller at the end than after a quarter of the crawl.

        The gaps of each trial are compared, by the criterion of `better`. Where there was no gap after a quarter, there
        was nothing to catch up with. Trials in which the topic is exhausted are left out: there any gap closes.
        """
        numbers = self.by[by].telling(ahead, behind, paces=False)
        if not len(numbers.groups):
            return Ruling(UNTESTED, "In every trial the topic is exhausted: any gap closes.")
        quarter = numbers.budgets[max(0, len(numbers.budgets) // 4 - 1)]
        early, late = (numbers.at(ahead, budget) - numbers.at(behind, budget) for budget in (quarter, numbers.end))
        shrunk = paired(early, late, groups=numbers.groups)
        first, last = (interval(gap, draws=1, groups=numbers.groups).mean for gap in (early, late))
        evidence = (
            f"{self.label(ahead)} less {self.label(behind)}: {first:+.3f} after "
            f"{quarter:,} pages, {last:+.3f} after {numbers.end:,}; the gap shrank by {told(shrunk)}."
        )
        if first <= 0:
            return Ruling(UNTESTED, f"There was no gap to close.\n{evidence}")
        return self.ruling(better(shrunk, first), [evidence])

    def same_order(self, one: Measure, other: Measure) -> Ruling:
        """Whether the means of two measures put all crawlers in the same order."""
        means = [{name: self.by[by].mean(name) for name in self.by[by].values} for by in (one, other)]
        if not means[0]:
            return Ruling(UNTESTED, "No crawl of them has a result")
        first, second = (sorted(by, key=lambda name: -by[name]) for by in means)
        names = ["; ".join(map(self.label, order)) for order in (first, second)]
        evidence = f"By {one.name}: {names[0]}. By {other.name}: {names[1]}."
        if not any(means[0].values()):
            return Ruling(UNTESTED, f"By {one.name} there is nothing to put in order. {evidence}")
        return self.ruling(UNTESTED if self.topics < ENOUGH else HOLDS if first == second else FAILS, [evidence])
