"""What an experiment brought: every crawl as it went, and tables, curves and remarks made of them."""

from __future__ import annotations

import csv
import hashlib
import inspect
import io
import json
import math
import re
import shlex
import zipfile
import zlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lycosa import estimators, topics
from lycosa.core.errors import InputError
from lycosa.core.files import replacing
from lycosa.core.options import FILES
from lycosa.core.spec import imported, parse
from lycosa.estimators import STRATEGIES
from lycosa.lab import certainty, measures
from lycosa.lab.certainty import Difference
from lycosa.lab.experiments import Experiment
from lycosa.lab.findings import AS_PUBLISHED, INDEPENDENT, Cell, Figure, Findings, Mode, Table
from lycosa.lab.guides import Guide, guide_for
from lycosa.lab.hunters import ORACLE, ahead_of, given, wants
from lycosa.lab.index import Index
from lycosa.lab.reach import bound
from lycosa.lab.simulation import Trace
from lycosa.lab.subjects import Subject
from lycosa.topics import TOPICS
from lycosa.version import __version__

YARDSTICKS = (
    "The oracle is greedy, not optimal. The one that looks ahead knows the whole graph, and after each page has the "
    "more of its own crawl and of the greedy one: never less than greedy, and a lower bound of the optimum."
)

# Columns of results.csv and results.parquet: a row for each trial and budget.
COLUMNS: dict[str, str] = {
    "corpus": "fingerprint of the corpus",
    "mode": "who judged what was fetched: independent, or the guide itself (as-published)",
    "subject": "what was hunted",
    "strategy": "as it was written",
    "given": "what it is given: nothing, query, examples ...; only like is comparable with like",
    "seed_set": "from 1 on",
    "start": "digest of the seeds",
    "repetition": "from 1 on",
    "budget": "pages after the seeds, at most",
    "fetched": "pages that there were: fewer where nothing was left to fetch",
    "found": "relevant ones among them; where the guide judges, those that it takes for relevant",
    "score": "the truth of all of them, added up; for classes the same as found",
    "harvest": "score over fetched: the average truth, for classes the share that is relevant",
    "recall": "score as a share of all that there is to find",
    "relative": "score as a share of what the oracle-greedy crawl has; empty without one",
    "ahead": "score as a share of what the oracle that looks ahead has, a lower bound of the optimum; empty without",
    "sites": "hosts with a relevant page among them, those of relevant seeds left out; empty where nodes have no hosts",
    "area": "under the harvest curve up to the budget, as a share of the whole",
    "harvest_labels": "as-published only: the harvest as labels have it, who know nothing of the guide",
    "recall_labels": "as-published only: the recall as labels have it",
}


@dataclass(frozen=True)
class Outcome:
    """One trial: which it was, and what it fetched. `trace.seconds` is no part of the result."""

    strategy: str
    subject: str
    seed_set: int
    repetition: int
    trace: Trace

    @property
    def start(self) -> tuple[str, int, int]:
        """What it has in common with the trials of other strategies that began as it did."""
        return self.subject, self.seed_set, self.repetition


Unit = tuple[str, int]  # topic and seed set: intervals are drawn over these, repetitions are averaged before

Row = dict[str, Any]  # of results.csv: see COLUMNS


@dataclass
class Results:
    """All outcomes of an experiment, in a fixed order, and what they were measured with."""

    experiment: Experiment
    index: Index
    subjects: dict[str, Subject]
    outcomes: list[Outcome] = field(default_factory=list)
    remarks: list[str] = field(default_factory=list)
    """What was left out and why, what failed, where a strategy beat the oracle."""
    failed: list[str] = field(default_factory=list)  # trials that broke down: an error in a strategy
    kept: Path | None = None  # directory of the guides
    _guides: dict[str, Guide] = field(default_factory=dict, init=False, repr=False)
    _intervals: dict[tuple[str, int, str], certainty.Interval] = field(default_factory=dict, init=False, repr=False)
    _bounds_of: dict[Unit, list[float]] = field(default_factory=dict, init=False, repr=False)

    def select(self, strategy: str) -> list[Outcome]:
        """The outcomes of a strategy, in their order."""
        return [one for one in self.outcomes if one.strategy == strategy]

    def guide(self, subject: str) -> Guide:
        """What was said of all pages."""
        if subject not in self._guides:
            plan = self.experiment
            self._guides[subject] = guide_for(
                self.index, self.subjects[subject], plan.told, plan.judge, wants(plan.strategies), self.kept
            )
        return self._guides[subject]

    @property
    def _key(self) -> str:
        return re.sub(r"[^\w.-]+", "-", self.experiment.name).strip("-.") or "experiment"

    @property
    def mode(self) -> Mode:
        return "as-published" if self.experiment.mode == AS_PUBLISHED else "independent"

    def truth(self, subject: str, mode: str = "") -> NDArray[np.float32]:
        """What each page is worth: by the labels, or in as-published mode by what the guide says."""
        if (mode or self.mode) == AS_PUBLISHED:
            return self.guide(subject).beta
        return self.subjects[subject].truth

    def gains(self, outcome: Outcome, mode: str = "") -> measures.Floats:
        """What each page of a crawl was worth, in order, seeds and seen pages left out.

        An oracle that looks ahead is there for the optimum, of which any crawl is a lower bound: after each page it has
        the more of its own and of the greedy oracle's.
        """
        subject, truth = self.subjects[outcome.subject], self.truth(outcome.subject, mode)
        own = measures.gains(outcome.trace, subject, truth)
        greedy = self._greedy.get(outcome.start) if ahead_of(outcome.strategy) else None
        return own if greedy is None else measures.better(own, measures.gains(greedy.trace, subject, truth))

    @cached_property
    def _greedy(self) -> dict[tuple[str, int, int], Outcome]:
        return {one.start: one for one in self.select(ORACLE)}

    @cached_property
    def strategies(self) -> list[str]:
        """Those that have an outcome, as the experiment orders them."""
        there = {one.strategy for one in self.outcomes}
        return [text for text in self.experiment.strategies if text in there]

    @cached_property
    def rows(self) -> list[Row]:
        """A row for each trial and budget: see COLUMNS."""
        budgets, corpus = self.experiment.budgets, corpus_mark(self.index)
        greedy, ahead = (
            {one.start: measures.found(self.gains(one), budgets) for text in texts for one in self.select(text)}
            for texts in ([ORACLE], self._ahead)
        )
        rows = []
        for one in self.outcomes:
            trial = {
                "corpus": corpus,
                "mode": self.mode,
                "subject": one.subject,
                "strategy": one.strategy,
                "given": self.given(one.strategy),
                "seed_set": one.seed_set + 1,
                "start": _digest(np.sort(one.trace.nodes[: one.trace.seeds]).tobytes())[:8],
                "repetition": one.repetition + 1,
            }
            figures = self._figures_at(one, greedy.get(one.start), ahead.get(one.start))
            for at, budget in enumerate(budgets):
                own = {name: figures[name][at].item() for name in figures}
                rows.append({**trial, "budget": budget, **own})
        return rows

    @cached_property
    def _ahead(self) -> list[str]:
        """The oracle that looks ahead, if it is there; where there are several, the one that sees farthest."""
        return sorted(filter(ahead_of, self.strategies), key=ahead_of)[-1:]

    def _figures_at(
        self, one: Outcome, greedy: measures.Floats | None, ahead: measures.Floats | None
    ) -> dict[str, NDArray[Any]]:
        """What came of a trial at each budget, and as a share of what the two oracles have."""
        budgets, subject, gains = self.experiment.budgets, self.subjects[one.subject], self.gains(one)
        truth, nothing = self.truth(one.subject), np.full(len(budgets), math.nan)
        least = self.guide(one.subject).threshold if self.mode == AS_PUBLISHED else 0.0
        score, curve = measures.found(gains, budgets), measures.cumulative(gains)
        figures = {
            "fetched": measures.fetched(gains, budgets),
            "found": measures.found((gains >= least) & (gains > 0), budgets).astype(np.int64),
            "score": score,
            "harvest": measures.harvest(gains, budgets),
            "recall": measures.recall(gains, measures.targets(one.trace, subject, truth), budgets),
            "relative": nothing if greedy is None else np.divide(score, greedy, out=nothing.copy(), where=greedy > 0),
            "ahead": nothing if ahead is None else np.divide(score, ahead, out=nothing.copy(), where=ahead > 0),
            "sites": self._sites(one, truth, least),
            "area": np.array([measures.area(curve, budget) for budget in budgets]),
            "harvest_labels": nothing,
            "recall_labels": nothing,
        }
        if self.mode == AS_PUBLISHED and subject.truth_by.startswith("labels"):
            fair = measures.gains(one.trace, subject)
            figures["harvest_labels"] = measures.harvest(fair, budgets)
            figures["recall_labels"] = measures.recall(fair, measures.targets(one.trace, subject), budgets)
        return figures

    def _sites(self, one: Outcome, truth: NDArray[Any], least: float) -> measures.Floats:
        hosts, budgets = self.index.hosts, self.experiment.budgets
        if not (hosts >= 0).any():
            return np.full(len(budgets), math.nan)
        return measures.found(measures.sites(one.trace, self.subjects[one.subject], hosts, truth, least), budgets)

    @cached_property
    def _rows_of(self) -> dict[tuple[str, int], list[Row]]:
        return _grouped(self.rows)

    def units(self, strategy: str, budget: int, column: str = "harvest") -> dict[Unit, float]:
        """A strategy's figure for each subject and seed set, the mean of its repetitions."""
        return _units(self._rows_of.get((strategy, budget), []), column)

    def interval(self, strategy: str, budget: int, column: str = "harvest") -> certainty.Interval:
        """The mean over subjects and seed sets, and how sure it is."""
        key = strategy, budget, column
        if key not in self._intervals:
            units = self.units(strategy, budget, column)
            self._intervals[key] = certainty.interval(
                list(units.values()), random_seed=self.experiment.random_seed, groups=[subject for subject, _ in units]
            )
        return self._intervals[key]

    def mean(self, strategy: str, budget: int, column: str = "harvest") -> float:
        """The mean over subjects, each with the mean over its seed sets."""
        units = self.units(strategy, budget, column)
        return certainty.interval(list(units.values()), draws=1, groups=[subject for subject, _ in units]).mean

    def given(self, strategy: str) -> str:
        """What a strategy is given: only like is comparable with like."""
        return given(strategy, self.experiment.told)

    def ranked(self, budget: int) -> list[str]:
        """The strategies at a budget, best harvest first."""
        return sorted(self.strategies, key=lambda text: -self.mean(text, budget))

    # -- what there is to say about it -----------------------------------------------------------------------------

    def beaten(self) -> list[str]:
        """Where a strategy has more than the oracle-greedy crawl, with what no crawl can exceed; and who ran dry."""
        budgets, lines = self.experiment.budgets, []
        oracle, planned = self._greedy, {one.start: one for text in self._ahead for one in self.select(text)}
        for text in self.strategies if oracle else ():
            runs = [one for one in self.select(text) if text != ORACLE and one.start in oracle]
            ahead = [(*self._lead(one, oracle[one.start]), one) for one in runs]
            ahead = [lead for lead in ahead if lead[0] > 0]
            if ahead:
                most, at, one = max(ahead, key=lambda lead: lead[0])
                theirs = measures.found(self.gains(oracle[one.start]), budgets)[at]
                optimum = f"no crawl can have more than {self.bounds(one)[at]:g}"
                if one.start in planned and text not in self._ahead:
                    more = measures.found(self.gains(planned[one.start]), budgets)[at]
                    optimum = f"looking ahead it has {more:g}, {optimum}"
                lines.append(
                    f"Above the oracle, which is greedy, not optimal: {text} in {len(ahead)} of {len(runs)} trials, at "
                    f"most with {theirs + most:g} against {theirs:g} after {budgets[at]:,} pages on {one.subject}, "
                    f"seed set {one.seed_set + 1}; {optimum}."
                )
        for text in self.strategies:
            runs = self.select(text)
            dry = [one for one in runs if len(self.gains(one)) < self.experiment.budget]
            if dry:
                lines.append(
                    f"Ran dry: {text} had nothing left to fetch before {self.experiment.budget:,} pages in "
                    f"{len(dry)} of {len(runs)} trials; its harvest is over the pages that it fetched."
                )
        return lines

    def _lead(self, one: Outcome, oracle: Outcome) -> tuple[float, int]:
        """By how much a trial is ahead of the oracle's, 0 if it is not; and at which of the budgets."""
        ours, theirs = (measures.found(self.gains(run), self.experiment.budgets) for run in (one, oracle))
        at = int((ours - theirs).argmax())
        lead = float(ours[at] - theirs[at])
        return lead if lead > 1e-6 * max(1.0, float(theirs.max())) else 0.0, at

    def bounds(self, outcome: Outcome) -> list[float]:
        """For each budget what no crawl from the same seeds can exceed: looked for once, as it takes seconds."""
        key = outcome.subject, outcome.seed_set
        if key not in self._bounds_of:
            seen, seeds = self.subjects[outcome.subject].seen, outcome.trace.nodes[: outcome.trace.seeds].tolist()
            self._bounds_of[key] = bound(
                self.index, self.truth(outcome.subject), seeds, self.experiment.budgets, seen if len(seen) else None
            ).tolist()
        return self._bounds_of[key]

    # -- files -----------------------------------------------------------------------------------------------------

    def write_tables(self, out: Path) -> None:
        """results.csv and results.parquet, a row for each trial and budget; times.csv, never twice the same."""
        out.mkdir(parents=True, exist_ok=True)
        _write_csv(out / "results.csv", list(COLUMNS), [[row[name] for name in COLUMNS] for row in self.rows])
        _write_csv(
            out / "times.csv", ["subject", "strategy", "seed_set", "repetition", "pages", "seconds", "pages_a_second"],
            [
                [
                    one.subject, one.strategy, one.seed_set + 1, one.repetition + 1, len(one.trace.nodes),
                    one.trace.seconds, len(one.trace.nodes) / max(one.trace.seconds, 1e-9),
                ]
                for one in self.outcomes
            ],
        )  # fmt: skip
        try:
            import pyarrow  # type: ignore[import-untyped]  # it ships no types
            from pyarrow import parquet
        except ImportError:
            self.remarks.append("No results.parquet, only results.csv: for Parquet, pip install 'lycosa[lab]'.")
            return
        columns = {}
        for name in COLUMNS:
            values = [row[name] for row in self.rows]
            kind = pyarrow.float64() if isinstance(values[0], float) else None  # or it is seen
            columns[name] = pyarrow.array([plain(value) for value in values], kind)
        with replacing(out / "results.parquet") as file:
            parquet.write_table(pyarrow.table(columns), file)

    def differences(self, first: str = "", before: Sequence[Row] | None = None) -> list[tuple[str, int, Difference]]:
        """Return each strategy's harvest at each budget less that of the `first`, or less its own `before`.

        Paired: on the same topics and seed sets. p is corrected for the number of strategies (Holm).
        """
        compared = [text for text in self.strategies if not ahead_of(text)]  # a yardstick: no test is to pay for it
        rows = self._rows_of if before is None else _grouped(before)
        if before is None:
            first = first or next(iter(compared), "")
            compared = [text for text in compared if text != first]
        lines = []
        for budget in self.experiment.budgets:
            apart = []
            for text in compared:
                own, base = self.units(text, budget), _units(rows.get((first or text, budget), []), "harvest")
                shared = [unit for unit in base if unit in own]
                ours, theirs = ([units[unit] for unit in shared] for units in (own, base))
                groups = [subject for subject, _ in shared]
                apart.append(certainty.paired(ours, theirs, self.experiment.random_seed, groups=groups))
            corrected = certainty.holm([one.p for one in apart]).tolist()
            lines += [
                (text, budget, one._replace(p=p))
                for text, one, p in zip(compared, apart, corrected, strict=True)
                if one.n
            ]
        return lines

    def findings(self, against: str = "", before: Sequence[Row] | None = None) -> Findings:
        """Tables at each budget, curves with their bands, all settings, and paired differences.

        These are to the strategy `against`, default the first; or to the rows `before` of the directory `against`.
        """
        plan = self.experiment
        best = self.ranked(plan.budget)[0] if self.strategies else ""
        summary = (
            f"{len(self.strategies)} strategies on {len(self.subjects)} topics, {len(self.outcomes)} crawls of "
            f"{plan.budget:,} pages. Highest harvest: {best}, {self.interval(best, plan.budget).mean:.3f}."
        )
        return Findings(
            self._key, f"Experiment {plan.name}",
            [
                *map(self._table, plan.budgets), *self._figures(), *self._differences(against, before),
                self._by_subject(),
            ],
            summary=summary,
            configuration={**plan.as_dict(), "version": __version__},
            corpus={**self.index.about, "fingerprint": corpus_mark(self.index)},
            remarks=list(self.remarks),
        )  # fmt: skip

    def unpaired(self, against: str, before: Sequence[Row]) -> list[str]:
        """Remarks on what cannot be compared with the rows of another experiment, or only with care."""
        there, here = (
            {(row["subject"], row["seed_set"]): row["start"] for row in rows} for rows in (before, self.rows)
        )
        shared = [unit for unit in here if unit in there]
        others = sum(here[unit] != there[unit] for unit in shared)
        remarks = [f"Other seeds than in {against}: {others} of {len(shared)} sets."] if others else []
        if not self.differences(before=before):
            remarks.append(f"Nothing to compare: {against} has none of these strategies, topics and budgets.")
        return remarks

    def _table(self, budget: int) -> Table:
        labelled = self.mode == AS_PUBLISHED and any(not math.isnan(row["harvest_labels"]) for row in self.rows)
        yardsticks = {"relative": "of the oracle's", "ahead": "of look-ahead's"} if ORACLE in self.strategies else {}
        sited = ["sites"] if len(np.unique(self.index.hosts)) > 1 else []  # of one host there is nothing to tell
        columns = ["strategy", "given", "harvest", "low", "high", "recall", "area", "found", "fetched", *sited]
        columns += [*yardsticks.values()] + ["harvest by labels", "low", "high"] * labelled
        rows: list[list[Cell]] = []
        for text in self.ranked(budget):
            mean, low, high, _ = self.interval(text, budget)
            row: list[Cell] = [text, self.given(text), mean, low, high]
            row += [self.mean(text, budget, column) for column in ("recall", "area", "found", "fetched", *sited)]
            row += [self.mean(text, budget, column) for column in yardsticks]
            row += list(self.interval(text, budget, "harvest_labels")[:3]) if labelled else []
            rows.append([plain(cell) for cell in row])
        return Table(
            f"{self._key}-{budget}", f"After {budget:,} pages", columns, rows, self.mode,
            note="Means over topics and their seed sets, best harvest first; low and high are a 95 % interval "
            f"(bootstrap over topics, then seed sets). {_judged(self.mode)}" + (f" {YARDSTICKS}" if yardsticks else ""),
        )  # fmt: skip

    def _figures(self) -> list[Figure]:
        """The curves; where the guide judges itself, those by labels beside them, on subjects that have labels."""
        labelled = {name for name, subject in self.subjects.items() if subject.truth_by.startswith("labels")}
        beside = self.mode == AS_PUBLISHED and labelled
        return [self._figure(set(self.subjects), self.mode), *([self._figure(labelled, INDEPENDENT)] if beside else [])]

    def _figure(self, subjects: set[str], mode: Mode) -> Figure:
        budget = self.experiment.budget
        at = measures.steps_to(budget)
        curves = []
        for text in self.ranked(budget):
            lines: dict[Unit, list[measures.Floats]] = {}
            for one in self.select(text):
                if one.subject in subjects:
                    line = measures.harvest_curve(self.gains(one, mode), budget)[at - 1]
                    lines.setdefault((one.subject, one.seed_set), []).append(line)
            if not lines:
                continue
            means = [np.mean(line, axis=0) for line in lines.values()]
            groups = [subject for subject, _ in lines]
            curves.append(certainty.curve(text, at.tolist(), means, groups, self.experiment.random_seed))
        by_labels = "-labels" if mode != self.mode else ""
        return Figure(
            f"{self._key}-harvest{by_labels}", "Harvest by labels" if by_labels else "Harvest", "pages fetched",
            "share of the budget that is relevant" if mode == INDEPENDENT else "mean score that the guide gives",
            curves, mode,
            note="Bands are 95 % intervals. Pages that a crawl did not fetch because it ran dry count as no find. "
            f"{_judged(mode)}",
        )  # fmt: skip

    def _differences(self, against: str, before: Sequence[Row] | None) -> list[Table]:
        rows = [
            [plain(cell) for cell in (text, budget, *apart)]
            for text, budget, apart in self.differences("" if before is not None else against, before)
        ]
        if not rows:
            return []
        against = against or self.strategies[0]
        return [
            Table(
                f"{self._key}-differences", f"Harvest compared with {against}",
                ["strategy", "budget", "difference", "low", "high", "p", "n"], rows, self.mode,
                note=f"Own harvest less that of {against}, on the same topics and seeds; p by sign flips of n "
                "topics' mean differences, two-sided, corrected for the number of strategies (Holm). With n below 6 "
                f"no p can be under .05. {_judged(self.mode)}",
            )
        ]  # fmt: skip

    def _by_subject(self) -> Table:
        budget, order = self.experiment.budget, self.ranked(self.experiment.budget)
        rows: list[list[Cell]] = []
        for name, subject in self.subjects.items():
            row: list[Cell] = [name, int(np.count_nonzero(subject.truth > 0)), int(np.count_nonzero(subject.seen))]
            for text in order:
                values = [value for (of, _), value in self.units(text, budget).items() if of == name]
                row.append(float(np.mean(values)) if values else None)
            rows.append(row)
        return Table(
            f"{self._key}-subjects", f"Harvest on each topic after {budget:,} pages",
            ["topic", "relevant", "seen", *order], rows, self.mode,
            note="relevant: pages of the corpus; seen: pages that something was learned from, which count for no one. "
            f"{_judged(self.mode)}",
        )  # fmt: skip


def read_rows(directory: Path, corpus: str) -> list[Row]:
    """Return the rows of another experiment's results.csv, as `differences` takes them.

    Raise InputError if there are none, or if they were measured on another corpus.
    """
    path = directory / "results.csv"
    try:
        with open(path, encoding="utf-8", newline="") as lines:
            rows = [
                {
                    "corpus": row["corpus"], "strategy": row["strategy"], "subject": row["subject"],
                    "start": row["start"], "budget": int(row["budget"]), "seed_set": int(row["seed_set"]),
                    "harvest": float(row["harvest"] or "nan"),
                }
                for row in csv.DictReader(lines)
            ]  # fmt: skip
    except OSError as error:
        raise InputError(f"cannot read {path}: {error.strerror}; name the directory of an experiment") from error
    except (ValueError, KeyError, TypeError, csv.Error) as error:
        raise InputError(f"{path} is damaged or of another version ({error}): run that experiment again") from error
    if {row["corpus"] for row in rows} != {corpus}:
        raise InputError(f"{directory} was measured on another corpus: run its experiment.toml on this one first")
    return rows


def _grouped(rows: Iterable[Row]) -> dict[tuple[str, int], list[Row]]:
    """Rows by strategy and budget."""
    groups: dict[tuple[str, int], list[Row]] = {}
    for row in rows:
        groups.setdefault((row["strategy"], row["budget"]), []).append(row)
    return groups


def _units(rows: Iterable[Row], column: str) -> dict[Unit, float]:
    """The mean of a column for each topic and seed set."""
    several: dict[Unit, list[float]] = {}
    for row in rows:
        several.setdefault((row["subject"], row["seed_set"]), []).append(row[column])
    return {unit: float(np.mean(values)) for unit, values in several.items()}


def plain(value: Cell) -> Cell:
    """A number that is none is nothing to tell."""
    return None if isinstance(value, float) and math.isnan(value) else value


def _judged(mode: str) -> str:
    return "As published: the guide itself judges what was fetched." if mode == AS_PUBLISHED else ""


def _write_csv(path: Path, columns: Sequence[str], rows: Sequence[Sequence[Any]]) -> None:
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(columns)
    for row in rows:
        writer.writerow([_cell(value) for value in row])
    with replacing(path) as file:
        file.write(text.getvalue().encode())


def _cell(value: Any) -> Any:
    return "" if isinstance(value, float) and math.isnan(value) else value


# -- runs as files -----------------------------------------------------------------------------------------

# What a trial left behind, in a file of its own: named by all that decides how it ends, so that none is run twice.

FORMAT = 1  # raise it when the same trial may come out differently: older runs are then run again

_OWN = re.compile(r"[\w.]+:\w+")  # a class of one's own, also among the arms of a bandit

_NAME = re.compile(r"[\w-]+")  # perhaps one of our strategies, also among the arms of a bandit


def write_run(path: Path, trace: Trace) -> None:
    """Keep a run: whole or not at all."""
    names, arms = np.unique(np.array(trace.arms, np.str_), return_inverse=True)
    with replacing(path) as file:
        np.savez_compressed(
            file, nodes=trace.nodes, seeds=np.int64(trace.seeds), ending=np.array(trace.ending, np.str_),
            seconds=np.float64(trace.seconds), names=names, arms=arms.astype(np.int16),
        )  # fmt: skip


def read_run(path: Path, corpus: int = np.iinfo(np.int32).max) -> Trace | None:
    """A run that was kept; None if there is none, if it is damaged, or not of a corpus of so many nodes."""
    try:
        with open(path, "rb") as file, np.load(file, allow_pickle=False) as kept:
            names, nodes = kept["names"].tolist(), kept["nodes"]
            trace = Trace(
                nodes, int(kept["seeds"]), str(kept["ending"]), float(kept["seconds"]),
                [names[arm] for arm in kept["arms"].tolist()],
            )  # fmt: skip
    except (OSError, ValueError, KeyError, IndexError, EOFError, TypeError, zipfile.BadZipFile, zlib.error):
        return None
    if nodes.dtype != np.int32 or nodes.ndim != 1 or not 0 <= trace.seeds <= len(nodes):
        return None
    ordered = np.sort(nodes)
    if len(nodes) and (ordered[0] < 0 or ordered[-1] >= corpus or (ordered[1:] == ordered[:-1]).any()):
        return None  # no crawl fetches a page twice
    return trace


def key_of(*decisive: Any) -> str:
    """A name for a run, of all that decides about it (plain values).

    >>> key_of("fl_n", 3) == key_of("fl_n", 3), key_of("fl_n", 3) == key_of("fl_n", 4), len(key_of())
    (True, False, 24)
    """
    return hashlib.sha256(json.dumps([FORMAT, __version__, *decisive]).encode()).hexdigest()[:24]


def corpus_mark(index: Index) -> str:
    """The fingerprint of a corpus; of a graph in memory, which has none, a digest of all that it is."""
    if index.fingerprint:
        return index.fingerprint
    return _digest(
        *(np.ascontiguousarray(column).tobytes() for _, column in sorted(index.columns.items())), index.names_.tobytes()
    )


def subject_mark(subject: Subject) -> str:
    """A digest of all that a subject is, what it was trained with included."""
    files = (path.read_bytes() if path else b"" for path in (subject.model, subject.browsing, subject.rules))
    words = json.dumps([subject.name, subject.words, [int(node) for node in subject.examples], list(subject.targets)])
    return _digest(words.encode(), subject.truth.tobytes(), np.packbits(subject.seen).tobytes(), *files)


def strategy_mark(text: str) -> Sequence[str]:
    """A strategy as it is written, with digests of the files that it names and of the code of classes of one's own.

    Of ours, one that is a package of several files is digested as well: it still changes, whatever the version says.
    """
    _, given = parse(text)
    marks = [text]
    for module in sorted({STRATEGIES[name].module for name in _NAME.findall(text) if name in STRATEGIES}):
        folder = Path(estimators.__file__).parent / module
        if folder.is_dir():
            marks.append(_digest(*(file.read_bytes() for file in sorted(folder.glob("*.py")))))
    for file in (given[key] for key in FILES if key in given):
        marks.append(_digest(Path(file).read_bytes() if Path(file).is_file() else b""))
    try:  # of a program from outside: its script may have changed
        words = shlex.split(given.get("command", ""))
    except ValueError:  # said when it is started
        words = []
    for word in words:
        if Path(word).is_file():
            marks.append(_digest(Path(word).read_bytes()))
    for own in _OWN.findall(text):
        try:
            source = inspect.getsource(inspect.getmodule(imported(own, "strategy")) or re)
        except (OSError, TypeError):  # made by hand in an interpreter: nothing to read
            source = ""
        marks.append(_digest(source.encode()))
    return marks


def judge_mark(judge: str) -> Sequence[str]:
    """A judge as it is written; with a digest of its code if that is a package, for the same reason."""
    name = parse(judge)[0] if judge else ""
    folder = Path(topics.__file__).parent / TOPICS[name].module if name in TOPICS else Path()
    if not name or not folder.is_dir():
        return [judge]
    return [judge, _digest(*(file.read_bytes() for file in sorted(folder.glob("*.py"))))]


def _digest(*parts: bytes) -> str:
    whole = hashlib.sha256()
    for part in parts:
        whole.update(len(part).to_bytes(8, "little"))
        whole.update(part)
    return whole.hexdigest()[:24]
