"""From runs to curves with their bands, and from differences to verdicts: what the experiments of papers share.

When a claim holds is said here, before anything is run: see `better` and `alike`.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lycosa.core.errors import InputError
from lycosa.lab.certainty import Difference, band, interval, paired
from lycosa.lab.findings import INDEPENDENT, Cell, Claim, Curve, Figure, Mode, Table, Verdict
from lycosa.lab.index import Index
from lycosa.lab.running import Outcome, Results

NEGLIGIBLE = 0.05
"""A difference below this share of what the other one got is none worth a name."""

CHANCE = 0.05
WEIGHED = (
    "How claims that compare are decided: by means over the whole crawl (the area under the curve), not by its end. "
    "One is better than another if the whole 95 % interval of the difference is above 0 and p is at most .05; it is "
    "not if the whole interval is below a twentieth of what the other got; otherwise these trials can't tell."
)
"""What every report of these says."""

ENOUGH = 6
"""Subjects below which no p can be .05 or less."""

Measure = Callable[[Outcome, Results], NDArray[np.float64]]


@dataclass
class Measured:
    """What each strategy got in each trial (subject and seed set) at each budget; all have the same trials in order."""

    budgets: Sequence[int]
    groups: Sequence[str]
    """The subject of each trial: trials of one subject are not independent of each other."""
    values: Mapping[str, NDArray[np.float64]]

    @classmethod
    def of(cls, results: Results, strategies: Sequence[str], budgets: Sequence[int], measure: Measure) -> Measured:
        """Measure the outcomes of some strategies; `measure` gives a number for each budget."""
        outcomes = {
            name: {(one.subject, one.seed_set, one.repetition): one for one in results.select(strategy=name)}
            for name in strategies
        }
        outcomes = {name: known for name, known in outcomes.items() if known}
        # A trial that one of them could not run (the results' remarks say why) is none to compare the others in.
        trials = [
            trial for trial in next(iter(outcomes.values()), {}) if all(trial in known for known in outcomes.values())
        ]
        values = {
            name: np.array([measure(known[trial], results) for trial in trials], np.float64).reshape(-1, len(budgets))
            for name, known in outcomes.items()
        }
        return cls(list(budgets), [subject for subject, _, _ in trials], values)

    def __contains__(self, strategy: object) -> bool:
        return strategy in self.values

    def joined(self, other: Measured) -> Measured:
        """With what was measured on the same trials in other runs."""
        if list(self.groups) != list(other.groups) or list(self.budgets) != list(other.budgets):
            raise InputError("runs on other trials can't be compared: remove them, and run again")
        return Measured(self.budgets, self.groups, {**self.values, **other.values})

    @property
    def end(self) -> int:
        """The largest budget."""
        return self.budgets[-1]

    def at(self, strategy: str, budget: int | None = None) -> NDArray[np.float64]:
        """One number for each trial: at a budget; if none is named, the mean over all of them.

        Claims are weighed by that mean (the area under the curve): at the end of a long crawl of a small corpus
        everyone has found nearly everything.
        """
        values = self.values[strategy]
        found: NDArray[np.float64] = values.mean(1) if budget is None else values[:, list(self.budgets).index(budget)]
        return found

    def mean(self, strategy: str, budget: int | None = None) -> float:
        """Over subjects, each with the mean over its trials."""
        return interval(self.at(strategy, budget), draws=1, groups=self.groups).mean

    def difference(self, one: str, other: str, budget: int | None = None) -> Difference:
        """How much more the one got than the other in the same trials."""
        return paired(self.at(one, budget), self.at(other, budget), groups=self.groups)

    def figure(
        self,
        key: str,
        title: str,
        y_label: str,
        labels: Mapping[str, str],
        mode: Mode = INDEPENDENT,
        note: str = "",
    ) -> Figure:
        """A curve for each strategy with the band of 95 %, by bootstrap over subjects and their seed sets."""
        curves = []
        for name, label in labels.items():
            if name not in self:
                continue
            mean, low, high = band(self.values[name], groups=self.groups)
            sure = bool(np.isfinite(low).all())  # a single trial has no band
            curves.append(
                Curve(
                    label,
                    list(self.budgets),
                    mean.tolist(),
                    low.tolist() if sure else (),
                    high.tolist() if sure else (),
                )
            )
        bands = "Bands: 95 %, bootstrap over topics and seed sets."
        return Figure(key, title, "pages fetched", y_label, curves, mode=mode, note=f"{note} {bands}".strip())


def how_weighed(subjects: int) -> list[str]:
    """What is to be said of verdicts, also where so few subjects were hunted that nothing can be told from chance.

    >>> how_weighed(6) == [WEIGHED]
    True
    """
    if subjects >= ENOUGH:
        return [WEIGHED]
    return [
        WEIGHED,
        f"{subjects} topics are too few to tell a difference from chance: claims that compare cannot be tested "
        f"with fewer than {ENOUGH}. Leave out --quick.",
    ]


def corpus_of(index: Index) -> dict[str, Any]:
    """What a report says of its corpus: all facts but the list of classes, which may be long."""
    return {key: value for key, value in index.facts.items() if key != "classes"}


def grid(budget: int, points: int = 20) -> list[int]:
    """Budgets at which curves are drawn, evenly up to the whole.

    >>> grid(300, 3)
    [100, 200, 300]
    """
    return sorted({max(1, round(budget * step / points)) for step in range(1, points + 1)})


def better(difference: Difference, base: float) -> Verdict:
    """Whether the one is better than the other, whose mean is `base`.

    It is when the whole interval of the difference is above 0 and p is at most .05. It is not when the whole interval
    is below what is worth a name. Otherwise, and with fewer than six subjects, the trials can't tell.
    """
    if difference.n < ENOUGH:
        return "cannot be tested here"
    if difference.low > 0 and difference.p <= CHANCE:
        return "holds"
    return "does not hold" if difference.high < NEGLIGIBLE * abs(base) else "cannot be tested here"


def alike(difference: Difference, base: float) -> Verdict:
    """Whether two are as good as each other: the interval of the difference is within a tenth of `base` on both sides.

    They are not when it lies above or below 0 altogether and p is at most .05. Otherwise the trials can't tell.
    """
    if difference.n < ENOUGH:
        return "cannot be tested here"
    if max(abs(difference.low), abs(difference.high)) <= 2 * NEGLIGIBLE * abs(base):
        return "holds"
    apart = difference.low > 0 or difference.high < 0
    return "does not hold" if apart and difference.p <= CHANCE else "cannot be tested here"


def all_of(verdicts: Sequence[Verdict]) -> Verdict:
    """A claim of several parts holds if all do, and does not if one does not.

    >>> all_of(["holds", "cannot be tested here"]), all_of(["cannot be tested here", "does not hold"])
    ('cannot be tested here', 'does not hold')
    """
    for verdict in ("does not hold", "cannot be tested here"):
        if verdict in verdicts:
            return verdict
    return "holds" if verdicts else "cannot be tested here"


def told(difference: Difference, digits: int = 3) -> str:
    """The difference as text, for evidence."""
    sure = f"95 %: {difference.low:+.{digits}f} to {difference.high:+.{digits}f}"
    if difference.mean == difference.low == difference.high == 0:
        return "none in any trial"
    return f"{difference.mean:+.{digits}f} ({sure}; p = {difference.p:.3f})"


def weighed(text: str, source: str, verdict: Verdict, topics: int, evidence: Sequence[str]) -> Claim:
    """A claim with its evidence, a line for each comparison; before it, if there is no verdict, why there is none."""
    lines = list(evidence)
    if verdict == "cannot be tested here":
        few = f"{topics} topics only: with fewer than {ENOUGH} no difference can be told from chance."
        lines.insert(0, few if topics < ENOUGH else "These trials can't tell: the intervals leave both open.")
    return Claim(text, source, verdict, "\n".join(lines))


def summary_table(
    key: str,
    title: str,
    measured: Mapping[str, Measured],
    labels: Mapping[str, str],
    mode: Mode = INDEPENDENT,
    note: str = "",
    counts: Collection[str] = (),
) -> Table:
    """What each strategy had at the end, with its interval; a column for each measure. `counts` are pages."""
    first = next(iter(measured.values()))
    rows: list[list[Cell]] = []
    for name, label in labels.items():
        if name not in first:
            continue
        row: list[Cell] = [label]
        for measure, values in measured.items():
            digits = 1 if measure in counts else 3
            known = interval(values.at(name, values.end), groups=values.groups)
            sure = f" ({known.low:.{digits}f} to {known.high:.{digits}f})" if np.isfinite(known.low) else ""
            row.append(f"{known.mean:.{digits}f}{sure}")
        rows.append(row)
    return Table(key, title, ["crawler", *measured], rows, mode, note=note)


def closing(
    text: str, source: str, measured: Measured, ahead: str, behind: str, labels: Mapping[str, str] | None = None
) -> Claim:
    """Whether the one behind catches up: the gap is smaller at the end than after a quarter of the crawl.

    The gaps of each trial are compared, by the criterion of `better`. Where there was no gap after a quarter, there was
    nothing to catch up with.
    """
    early = measured.budgets[max(0, len(measured.budgets) // 4 - 1)]
    gap_early, gap_late = (measured.at(ahead, budget) - measured.at(behind, budget) for budget in (early, measured.end))
    shrunk = paired(gap_early, gap_late, groups=measured.groups)
    first, last = (float(interval(gap, draws=1, groups=measured.groups).mean) for gap in (gap_early, gap_late))
    names = labels or {}
    evidence = (
        f"{names.get(ahead, ahead)} less {names.get(behind, behind)}: {first:+.3f} after {early:,} pages, {last:+.3f} "
        f"after {measured.budgets[-1]:,}; the gap shrank by {told(shrunk)}."
    )
    if first <= 0:
        return Claim(text, source, "cannot be tested here", f"There was no gap to close.\n{evidence}")
    return weighed(text, source, better(shrunk, first), shrunk.n, [evidence])
