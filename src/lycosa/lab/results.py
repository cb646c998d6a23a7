"""What an experiment brought: every crawl as it went, and tables, curves and remarks made of them."""

from __future__ import annotations

import csv
import io
import math
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

from lycosa.core.errors import InputError
from lycosa.core.files import replacing
from lycosa.lab import certainty, measures
from lycosa.lab.certainty import Difference, Floats
from lycosa.lab.experiments import Experiment
from lycosa.lab.external import FORFEITED
from lycosa.lab.findings import (
    AS_PUBLISHED,
    INDEPENDENT,
    UNTESTED,
    Cell,
    Claim,
    Expected,
    Figure,
    Findings,
    Mode,
    Ruling,
    Table,
    compare,
    plain,
)  # fmt: skip
from lycosa.lab.guides import Guide, guide_for
from lycosa.lab.hunters import ORACLE, ahead_of, given, label, wants
from lycosa.lab.index import Index
from lycosa.lab.keeping import corpus_mark, load, save
from lycosa.lab.reach import bound
from lycosa.lab.simulation import Trace
from lycosa.lab.subjects import Subject
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
}

Start = tuple[str, int, int]  # topic, seed set and repetition: what trials of several strategies have in common
Unit = tuple[str, int]  # topic and seed set: intervals are drawn over these, repetitions are averaged before
Row = dict[str, Any]  # of results.csv: see COLUMNS


@dataclass(frozen=True)
class Outcome:
    """One trial: which it is, and what it fetched once it was run. `trace.seconds` is no part of the result."""

    strategy: str
    subject: str
    seed_set: int
    repetition: int
    trace: Trace = field(default_factory=lambda: Trace(np.zeros(0, np.int32), 0), repr=False, compare=False)
    seeds: tuple[int, ...] = ()
    key: str = ""  # names its file

    @property
    def start(self) -> Start:
        return self.subject, self.seed_set, self.repetition

    def __str__(self) -> str:
        return f"{self.strategy} on {self.subject}, seed set {self.seed_set + 1}, repetition {self.repetition + 1}"


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
    _bounds: dict[Unit, list[float]] = field(default_factory=dict, init=False, repr=False)

    def select(self, strategy: str) -> list[Outcome]:
        """The outcomes of a strategy, in their order."""
        return [one for one in self.outcomes if one.strategy == strategy]

    def starts(self, strategy: str) -> dict[Start, Outcome]:
        return {one.start: one for one in self.select(strategy)}

    def guide(self, subject: str) -> Guide:
        """What was said of all pages."""
        if subject not in self._guides:
            plan = self.experiment
            self._guides[subject] = guide_for(
                self.index, self.subjects[subject], plan.told, plan.judge, wants(plan.strategies), self.kept
            )
        return self._guides[subject]

    @property
    def key(self) -> str:
        return re.sub(r"[^\w.-]+", "-", self.experiment.name).strip("-.") or "experiment"

    @property
    def mode(self) -> Mode:
        return "as-published" if self.experiment.mode == AS_PUBLISHED else "independent"

    def truth(self, subject: str, mode: str = "") -> NDArray[np.float32]:
        """What each page is worth: by the labels, or in as-published mode by what the guide says."""
        return self.guide(subject).beta if (mode or self.mode) == AS_PUBLISHED else self.subjects[subject].truth

    def gains(self, outcome: Outcome, mode: str = "") -> Floats:
        """What each page of a crawl was worth, in order, seeds and seen pages left out.

        An oracle that looks ahead is there for the optimum, of which any crawl is a lower bound: after each page it has
        the more of its own and of the greedy oracle's.
        """
        subject, truth = self.subjects[outcome.subject], self.truth(outcome.subject, mode)
        own = measures.gains(outcome.trace, subject, truth)
        greedy = self._greedy.get(outcome.start) if ahead_of(outcome.strategy) else None
        return own if greedy is None else measures.better(own, measures.gains(greedy.trace, subject, truth))

    @cached_property
    def _greedy(self) -> dict[Start, Outcome]:
        return self.starts(ORACLE)

    @cached_property
    def _ahead(self) -> dict[Start, Outcome]:
        """The oracle that looks ahead, if it is there; where there are several, the one that sees farthest."""
        return self.starts(max(filter(ahead_of, self.strategies), key=ahead_of, default=""))

    @cached_property
    def strategies(self) -> list[str]:
        """Those that have an outcome, as the experiment orders them."""
        there = {one.strategy for one in self.outcomes}
        return [text for text in self.experiment.strategies if text in there]

    @cached_property
    def rows(self) -> list[Row]:
        """A row for each trial and budget: see COLUMNS."""
        corpus = corpus_mark(self.index)
        rows = []
        for one in self.outcomes:
            trial = {
                "corpus": corpus,
                "mode": self.mode,
                "subject": one.subject,
                "strategy": one.strategy,
                "given": self.given(one.strategy),
                "seed_set": one.seed_set + 1,
                "start": f"{crc32(np.sort(one.trace.nodes[: one.trace.seeds]).tobytes()):08x}",
                "repetition": one.repetition + 1,
            }
            figures = self._figures_at(one)
            for at, budget in enumerate(self.experiment.budgets):
                rows.append(
                    {**trial, "budget": budget, **{name: column[at].item() for name, column in figures.items()}}
                )
        return rows

    def _figures_at(self, one: Outcome) -> dict[str, NDArray[Any]]:
        """What came of a trial at each budget."""
        budgets, subject, gains = self.experiment.budgets, self.subjects[one.subject], self.gains(one)
        truth, hosts = self.truth(one.subject), self.index.hosts
        least = self.guide(one.subject).threshold if self.mode == AS_PUBLISHED else 0.0
        score, curve = measures.found(gains, budgets), measures.cumulative(gains)
        sites = measures.sites(one.trace, subject, hosts, truth, least)
        nowhere = np.full(len(budgets), math.nan)
        figures = {
            "fetched": measures.fetched(gains, budgets),
            "found": measures.found((gains >= least) & (gains > 0), budgets).astype(np.int64),
            "score": score,
            "harvest": measures.harvest(gains, budgets),
            "recall": measures.recall(gains, measures.targets(one.trace, subject, truth), budgets),
            "relative": nowhere,
            "ahead": nowhere,
            "sites": measures.found(sites, budgets) if (hosts >= 0).any() else nowhere,
            "area": np.array([measures.area(curve, budget) for budget in budgets]),
        }
        for column, yardstick in (("relative", self._greedy), ("ahead", self._ahead)):
            if one.start in yardstick:
                base = measures.found(self.gains(yardstick[one.start]), budgets)
                figures[column] = np.divide(score, base, out=nowhere.copy(), where=base > 0)
        return figures

    @cached_property
    def _rows_of(self) -> dict[tuple[str, int], list[Row]]:
        return _grouped(self.rows)

    def units(self, strategy: str, budget: int, column: str = "harvest") -> dict[Unit, float]:
        """A strategy's figure for each subject and seed set, the mean of its repetitions."""
        return _units(self._rows_of.get((strategy, budget), []), column)

    def interval(self, strategy: str, budget: int, column: str = "harvest") -> certainty.Interval:
        """The mean over subjects and seed sets, and how sure it is."""
        units = self.units(strategy, budget, column)
        groups = [subject for subject, _ in units]
        return certainty.interval(list(units.values()), random_seed=self.experiment.random_seed, groups=groups)

    def mean(self, strategy: str, budget: int, column: str = "harvest") -> float:
        """The mean over subjects, each with the mean over its seed sets."""
        return self.interval(strategy, budget, column).mean

    def given(self, strategy: str) -> str:
        """What a strategy is given: only like is comparable with like."""
        return given(strategy, self.experiment.told)

    def ranked(self, budget: int) -> list[str]:
        """The strategies at a budget, best harvest first."""
        return sorted(self.strategies, key=lambda text: -self.mean(text, budget))

    def compare(self, one: str, other: str, expect: Expected = "better") -> Ruling:
        """Rule on what is claimed of two strategies: by the area under their harvest curves, trial by trial."""
        ours, theirs = self.starts(one), self.starts(other)
        if not (shared := [start for start in ours if start in theirs]):
            return Ruling(UNTESTED, f"{one} and {other} have no trial in common: see the remarks.")
        budget = self.experiment.budget
        budgets = measures.steps_to(budget, 21)[-20:]
        pairs = [(ours[start], theirs[start]) for start in shared]
        most: Any = math.inf
        if self.mode == INDEPENDENT:  # all there is to find, without a detour
            totals = [[measures.targets(pair[0].trace, self.subjects[pair[0].subject])] for pair in pairs]
            most = np.mean(np.minimum(budgets, totals) / budgets, axis=1)
        first, second = (
            np.array([measures.harvest_curve(self.gains(pair[at]), budget)[budgets - 1] for pair in pairs])
            for at in (0, 1)
        )
        return compare(
            first, second, [subject for subject, _, _ in shared], most=most,
            names=(one, other), expect=expect, budgets=budgets.tolist(),
            same=[np.array_equal(ours.trace.nodes, theirs.trace.nodes) for ours, theirs in pairs],
            spent=[all(measures.exhausted(self.gains(trial), budget) for trial in pair) for pair in pairs],
        )  # fmt: skip

    # -- remarks ---------------------------------------------------------------------------------------------------

    def notable(self) -> list[str]:
        """Name who beat the greedy oracle, with what no crawl can exceed; who ran dry; programs that gave up."""
        return [*self._beaten(), *self._endings()]

    def _beaten(self) -> list[str]:
        budgets, lines = self.experiment.budgets, []
        for text in self.strategies if self._greedy else ():
            runs = [one for one in self.select(text) if text != ORACLE and one.start in self._greedy]
            leads = [(*self._lead(one, self._greedy[one.start]), one) for one in runs]
            leads = [lead for lead in leads if lead[0] > 0]
            if not leads:
                continue
            most, at, one = max(leads, key=lambda lead: lead[0])
            greedy = measures.found(self.gains(self._greedy[one.start]), budgets)[at]
            optimum = f"no crawl can have more than {self.bounds(one)[at]:g}"
            if (planned := self._ahead.get(one.start)) and planned.strategy != text:
                optimum = f"looking ahead it has {measures.found(self.gains(planned), budgets)[at]:g}, {optimum}"
            lines.append(
                f"Above the oracle, which is greedy, not optimal: {text} in {len(leads)} of {len(runs)} trials, at "
                f"most with {greedy + most:g} against {greedy:g} after {budgets[at]:,} pages on {one.subject}, "
                f"seed set {one.seed_set + 1}; {optimum}."
            )
        return lines

    def _lead(self, one: Outcome, oracle: Outcome) -> tuple[float, int]:
        """By how much a trial is ahead of the oracle's, 0 if it is not; and at which of the budgets."""
        ours, theirs = (measures.found(self.gains(run), self.experiment.budgets) for run in (one, oracle))
        at = int((ours - theirs).argmax())
        lead = float(ours[at] - theirs[at])
        return lead if lead > 1e-6 * max(1.0, float(theirs.max())) else 0.0, at

    def _endings(self) -> list[str]:
        budget, lines = self.experiment.budget, []
        for text in self.strategies:
            runs = self.select(text)
            if dry := sum(len(self.gains(one)) < budget for one in runs):
                lines.append(
                    f"Ran dry: {text} had nothing left to fetch before {budget:,} pages in {dry} of {len(runs)} "
                    "trials; its harvest is over the pages that it fetched."
                )
            lost = [one for one in runs if one.trace.ending.startswith(FORFEITED)]
            for one in lost[:1]:
                reason = one.trace.ending.removeprefix(f"{FORFEITED}: ")
                lines.append(
                    f"Forfeited: {label(text)} in {len(lost)} of {len(runs)} trials, what it had "
                    f"found until then counts; on {one.subject}, after {len(one.trace.found):,} pages, {reason}"
                )
        return lines

    def bounds(self, outcome: Outcome) -> list[float]:
        """For each budget what no crawl from the same seeds can exceed: looked for once, as it takes seconds."""
        key = outcome.subject, outcome.seed_set
        if key not in self._bounds:
            seen, seeds = self.subjects[outcome.subject].seen, outcome.trace.nodes[: outcome.trace.seeds].tolist()
            self._bounds[key] = bound(
                self.index, self.truth(outcome.subject), seeds, self.experiment.budgets, seen if len(seen) else None
            ).tolist()
        return self._bounds[key]

    # -- tables ----------------------------------------------------------------------------------------------------

    def write_tables(self, out: Path) -> None:
        """Write results.csv, and results.parquet where pyarrow is installed: a row for each trial and budget."""
        text = io.StringIO()
        writer = csv.DictWriter(text, list(COLUMNS), lineterminator="\n")
        writer.writeheader()
        rows = [{name: plain(row[name]) for name in COLUMNS} for row in self.rows]
        writer.writerows(rows)
        with replacing(out / "results.csv") as file:
            file.write(text.getvalue().encode())
        try:
            import pyarrow  # type: ignore[import-untyped]  # it ships no types
            from pyarrow import parquet
        except ImportError:
            self.remarks.append("No results.parquet, only results.csv: for Parquet, pip install 'lycosa[lab]'.")
            return
        columns = {
            name: pyarrow.array(
                [row[name] for row in rows], pyarrow.float64() if isinstance(self.rows[0][name], float) else None
            )
            for name in COLUMNS
        }
        with replacing(out / "results.parquet") as file:
            parquet.write_table(pyarrow.table(columns), file)

    def differences(self, against: str = "", before: Sequence[Row] | None = None) -> list[tuple[str, int, Difference]]:
        """Return each strategy's harvest at each budget less that of one, by default the first; or its own `before`.

        Paired: on the same topics and seed sets. p is corrected for the number of strategies (Holm).
        """
        compared = [text for text in self.strategies if not ahead_of(text)]  # a yardstick: no test is to pay for it
        rows = self._rows_of if before is None else _grouped(before)
        if before is None:
            against = against or next(iter(compared), "")
            compared = [text for text in compared if text != against]
        lines = []
        for budget in self.experiment.budgets:
            apart = []
            for text in compared:
                own = self.units(text, budget)
                base = _units(rows.get((text if before is not None else against, budget), []), "harvest")
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

    def findings(self, against: str = "", before: Sequence[Row] | None = None) -> Findings:
        """Tables, curves with their bands, claims, all settings, and paired differences where they are asked for.

        These are to the strategy `against`, or to the rows `before` of the experiment in the directory `against`.
        """
        plan, order = self.experiment, self.ranked(self.experiment.budget)
        summary = (
            f"{len(self.strategies)} strategies on {len(self.subjects)} topics, {len(self.outcomes)} crawls of "
            f"{plan.budget:,} pages."
            + (f" Highest harvest: {order[0]}, {self.mean(order[0], plan.budget):.3f}." if order else "")
        )
        differences = [self._differences(against, before)] if against else []
        parts: list[Table | Figure] = [
            self._harvest(order), self._figure(order), *differences, self._end(order), self._by_subject(order),
        ]  # fmt: skip
        return Findings(
            self.key, f"Experiment {plan.name}", parts,
            [Claim(text, plan.name, *self.compare(*claim)) for text, claim in plan.claimed.items()],
            summary=summary,
            configuration={**plan.as_dict(), "version": __version__},
            corpus={**self.index.about, "fingerprint": corpus_mark(self.index)},
            remarks=[*self.remarks, *(self.unpaired(against, before) if before is not None else [])],
        )  # fmt: skip

    def _part(self, key: str, title: str, columns: Sequence[str], rows: Iterable[Sequence[Cell]], note: str) -> Table:
        judged = " As published: the guide itself judges what was fetched." if self.mode == AS_PUBLISHED else ""
        known = [[plain(cell) for cell in row] for row in rows]
        return Table(f"{self.key}-{key}", title, columns, known, self.mode, note=note + judged)

    def _harvest(self, order: Sequence[str]) -> Table:
        budgets = self.experiment.budgets
        return self._part(
            "harvest", "Harvest", ["strategy", "given", *(f"{budget:,} pages" for budget in budgets)],
            [[text, self.given(text), *(str(self.interval(text, budget)) for budget in budgets)] for text in order],
            "The share of the fetched pages that is relevant (of graphs, their mean score): mean over topics and their "
            "seed sets, and 95 % interval (bootstrap over topics, then seed sets).",
        )  # fmt: skip

    def _end(self, order: Sequence[str]) -> Table:
        budget = self.experiment.budget
        columns = {"recall": "recall", "area": "area", "found": "found", "fetched": "fetched"}
        if len(np.unique(self.index.hosts)) > 1:  # of one host there is nothing to tell
            columns["sites"] = "sites"
        if self._greedy:
            columns |= {"relative": "of the oracle's", "ahead": "of look-ahead's"}
        return self._part(
            "end", f"After {budget:,} pages", ["strategy", *columns.values()],
            [[text, *(self.mean(text, budget, column) for column in columns)] for text in order],
            "Means over topics and their seed sets. area: under the harvest curve; a page that was not fetched because "
            "a crawl ran dry is no find." + (f" {YARDSTICKS}" if self._greedy else ""),
        )  # fmt: skip

    def _figure(self, order: Sequence[str]) -> Figure:
        budget = self.experiment.budget
        at = measures.steps_to(budget)
        curves = []
        for text in order:
            lines: dict[Unit, list[Floats]] = {}
            for one in self.select(text):
                line = measures.harvest_curve(self.gains(one), budget)[at - 1]
                lines.setdefault((one.subject, one.seed_set), []).append(line)
            means, groups = [np.mean(line, axis=0) for line in lines.values()], [subject for subject, _ in lines]
            curves.append(certainty.curve(text, at.tolist(), means, groups, self.experiment.random_seed))
        y_label = (
            "mean score that the guide gives" if self.mode == AS_PUBLISHED else "share of the budget that is relevant"
        )
        return Figure(
            f"{self.key}-curves",
            "Harvest along the way",
            "pages fetched",
            y_label,
            curves,
            self.mode,
            note="Bands are 95 % intervals.",
        )

    def _differences(self, against: str, before: Sequence[Row] | None) -> Table:
        return self._part(
            "differences", f"Harvest less that of {against}",
            ["strategy", "pages", "difference", "low", "high", "p", "topics"],
            [[text, budget, *apart] for text, budget, apart in self.differences(against, before)],
            "On the same topics and seeds; p by sign flips of the topics' mean differences, two-sided, corrected for "
            "the number of strategies (Holm). With fewer than 6 topics no p can be under .05.",
        )  # fmt: skip

    def _by_subject(self, order: Sequence[str]) -> Table:
        budget = self.experiment.budget
        rows: list[list[Cell]] = []
        for name, subject in self.subjects.items():
            row: list[Cell] = [name, int(np.count_nonzero(subject.truth > 0)), int(np.count_nonzero(subject.seen))]
            for text in order:
                values = [value for (of, _), value in self.units(text, budget).items() if of == name]
                row.append(float(np.mean(values)) if values else None)
            rows.append(row)
        return self._part(
            "subjects", f"Harvest on each topic after {budget:,} pages", ["topic", "relevant", "seen", *order], rows,
            "relevant: pages of the corpus; seen: pages that something was learned from, which count for no one.",
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


def write_run(path: Path, trace: Trace) -> None:
    """Keep a run: whole or not at all."""
    save(path, [trace.seeds, trace.ending, trace.seconds, trace.arms], nodes=trace.nodes)


def read_run(path: Path) -> Trace | None:
    """A run that was kept; None if there is none, or if it is damaged."""
    if not (kept := load(path)):
        return None
    (seeds, ending, seconds, arms), columns = kept
    return Trace(columns["nodes"], seeds, ending, seconds, arms)
