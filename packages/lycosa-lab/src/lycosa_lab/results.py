"""Results of an experiment: the trace and measures of every crawl, and remarks."""

from __future__ import annotations

import csv
import io
import math
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

from lycosa.core.errors import InputError
from lycosa.core.files import atomic_write
from lycosa_lab import confidence as confidence
from lycosa_lab import measures
from lycosa_lab.cache import corpus_digest, load, save
from lycosa_lab.confidence import Floats
from lycosa_lab.corpus_index import CorpusIndex
from lycosa_lab.experiments import Experiment
from lycosa_lab.external import FORFEITED
from lycosa_lab.findings import AS_PUBLISHED, Mode, plain
from lycosa_lab.judgements import Judgements, judgements_for
from lycosa_lab.reachability import upper_bound
from lycosa_lab.simulation import Trace
from lycosa_lab.subjects import HuntSubject
from lycosa_lab.trial_strategies import ORACLE, input_group, label, look_ahead_links, wants

# Columns of results.csv, with a row per trial and budget: see docs/howto/lab.md.
COLUMNS = (
    "corpus", "mode", "subject", "strategy", "given", "seed_set", "start", "repetition", "budget", "fetched", "found",
    "score", "harvest", "recall", "relative", "ahead", "sites", "area",
)  # fmt: skip

Start = tuple[str, int, int]  # topic, seed set and repetition: the same for all strategies
Unit = tuple[str, int]  # topic and seed set: repetitions are averaged, then intervals are drawn over these
Row = dict[str, Any]  # row of results.csv: see COLUMNS


@dataclass(frozen=True)
class Trial:
    """A trial and, once it has run, its trace. `trace.seconds` is not part of the result."""

    strategy: str
    subject: str
    seed_set: int
    repetition: int
    trace: Trace = field(default_factory=lambda: Trace(np.zeros(0, np.int32), 0), repr=False, compare=False)
    seeds: tuple[int, ...] = ()
    key: str = ""  # name of its result file

    @property
    def start(self) -> Start:
        return self.subject, self.seed_set, self.repetition

    def __str__(self) -> str:
        return f"{self.strategy} on {self.subject}, seed set {self.seed_set + 1}, repetition {self.repetition + 1}"


@dataclass
class ExperimentResults:
    """All outcomes of an experiment, in a fixed order, with their measures."""

    experiment: Experiment
    index: CorpusIndex
    subjects: dict[str, HuntSubject]
    outcomes: list[Trial] = field(default_factory=list)
    remarks: list[str] = field(default_factory=list)  # exclusions, failures, strategies that beat the oracle
    failed: list[str] = field(default_factory=list)  # trials whose strategy raised an error
    kept: Path | None = None  # directory of cached judgements
    _guides: dict[str, Judgements] = field(default_factory=dict, init=False, repr=False)
    _bounds: dict[Unit, list[float]] = field(default_factory=dict, init=False, repr=False)

    def select(self, strategy: str) -> list[Trial]:
        return [one for one in self.outcomes if one.strategy == strategy]

    def starts(self, strategy: str) -> dict[Start, Trial]:
        return {one.start: one for one in self.select(strategy)}

    def guide(self, subject: str) -> Judgements:
        if subject not in self._guides:
            plan = self.experiment
            self._guides[subject] = judgements_for(
                self.index, self.subjects[subject], plan.description, plan.judge, wants(plan.strategies), self.kept
            )
        return self._guides[subject]

    @property
    def key(self) -> str:
        return re.sub(r"[^\w.-]+", "-", self.experiment.name).strip("-.") or "experiment"

    @property
    def mode(self) -> Mode:
        return "as-published" if self.experiment.mode == AS_PUBLISHED else "independent"

    def truth(self, subject: str, mode: str = "") -> NDArray[np.float32]:
        """Return the relevance of each page: by labels, or in as-published mode by the guide."""
        return self.guide(subject).relevance if (mode or self.mode) == AS_PUBLISHED else self.subjects[subject].truth

    def gains(self, outcome: Trial, mode: str = "") -> Floats:
        """Return the gain of each page of a crawl in order, without seeds and training pages.

        The look-ahead oracle approximates the optimum, so after each page it is credited with the better of its own
        crawl and the greedy oracle's.
        """
        subject, truth = self.subjects[outcome.subject], self.truth(outcome.subject, mode)
        own = measures.gains(outcome.trace, subject, truth)
        greedy = self.greedy.get(outcome.start) if look_ahead_links(outcome.strategy) else None
        return own if greedy is None else measures.best_of_both(own, measures.gains(greedy.trace, subject, truth))

    @cached_property
    def greedy(self) -> dict[Start, Trial]:
        return self.starts(ORACLE)

    @cached_property
    def ahead(self) -> dict[Start, Trial]:
        """Trials of the look-ahead oracle, by start; with several oracles, those of the one with the largest depth."""
        return self.starts(max(filter(look_ahead_links, self.strategies), key=look_ahead_links, default=""))

    @cached_property
    def strategies(self) -> list[str]:
        there = {one.strategy for one in self.outcomes}
        return [text for text in self.experiment.strategies if text in there]

    @cached_property
    def rows(self) -> list[Row]:
        corpus = corpus_digest(self.index)
        rows = []
        for one in self.outcomes:
            trial = {
                "corpus": corpus,
                "mode": self.mode,
                "subject": one.subject,
                "strategy": one.strategy,
                "given": self.input_group(one.strategy),
                "seed_set": one.seed_set + 1,
                "start": f"{crc32(np.sort(one.trace.nodes[: one.trace.seeds]).tobytes()):08x}",
                "repetition": one.repetition + 1,
            }
            figures = self.figures(one, self.experiment.budgets)
            for at, budget in enumerate(self.experiment.budgets):
                rows.append(
                    {**trial, "budget": budget, **{name: column[at].item() for name, column in figures.items()}}
                )
        return rows

    def figures(self, one: Trial, budgets: Sequence[int]) -> dict[str, NDArray[Any]]:
        subject, gains = self.subjects[one.subject], self.gains(one)
        truth, hosts = self.truth(one.subject), self.index.hosts
        least = self.guide(one.subject).threshold if self.mode == AS_PUBLISHED else 0.0
        score, curve = measures.found(gains, budgets), measures.cumulative(gains)
        sites = measures.sites(one.trace, subject, hosts, truth, least)
        return {
            "fetched": measures.fetched(gains, budgets),
            "found": measures.found((gains >= least) & (gains > 0), budgets).astype(np.int64),
            "score": score,
            "harvest": measures.harvest(gains, budgets),
            "recall": measures.recall(gains, measures.targets(one.trace, subject, truth), budgets),
            "relative": self._share(one, budgets, self.greedy),
            "ahead": self._share(one, budgets, self.ahead),
            "sites": measures.found(sites, budgets) if len(np.unique(hosts)) > 1 else np.full(len(budgets), math.nan),
            "area": np.array([measures.area(curve, budget) for budget in budgets]),
        }

    def _share(self, outcome: Trial, budgets: Sequence[int], yardstick: Mapping[Start, Trial]) -> Floats:
        """Return a crawl's score as a share of an oracle's from the same seeds; nan without one."""
        share = np.full(len(budgets), math.nan)
        if outcome.start in yardstick:
            score, base = (measures.found(self.gains(one), budgets) for one in (outcome, yardstick[outcome.start]))
            np.divide(score, base, out=share, where=base > 0)
        return share

    @cached_property
    def rows_of(self) -> dict[tuple[str, int], list[Row]]:
        return grouped(self.rows)

    def units(self, strategy: str, budget: int, column: str = "harvest") -> dict[Unit, float]:
        return unit_means(self.rows_of.get((strategy, budget), []), column)

    def interval(self, strategy: str, budget: int, column: str = "harvest") -> confidence.Interval:
        units = self.units(strategy, budget, column)
        groups = [subject for subject, _ in units]
        return confidence.interval(list(units.values()), random_seed=self.experiment.random_seed, groups=groups)

    def mean(self, strategy: str, budget: int, column: str = "harvest") -> float:
        return self.interval(strategy, budget, column).mean

    def input_group(self, strategy: str) -> str:
        return input_group(strategy, self.experiment.description)

    def ranked(self, budget: int) -> list[str]:
        return sorted(self.strategies, key=lambda text: -self.mean(text, budget))

    def notable(self) -> list[str]:
        return [*self._beaten(), *self._endings()]

    def _beaten(self) -> list[str]:
        budgets, lines = self.experiment.budgets, []
        for text in self.strategies if self.greedy else ():
            runs = [one for one in self.select(text) if text != ORACLE and one.start in self.greedy]
            leads = [(*self._lead(one, self.greedy[one.start]), one) for one in runs]
            leads = [lead for lead in leads if lead[0] > 0]
            if not leads:
                continue
            most, at, one = max(leads, key=lambda lead: lead[0])
            greedy = measures.found(self.gains(self.greedy[one.start]), budgets)[at]
            optimum = f"no crawl can have more than {self.bounds(one)[at]:g}"
            if (planned := self.ahead.get(one.start)) and planned.strategy != text:
                optimum = f"looking ahead it has {measures.found(self.gains(planned), budgets)[at]:g}, {optimum}"
            lines.append(
                f"Above the oracle, which is greedy, not optimal: {text} in {len(leads)} of {len(runs)} trials, at "
                f"most with {greedy + most:g} against {greedy:g} after {budgets[at]:,} pages on {one.subject}, "
                f"seed set {one.seed_set + 1}; {optimum}."
            )
        return lines

    def _lead(self, one: Trial, oracle: Trial) -> tuple[float, int]:
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
                    f"Out of links: {text} had none left before {budget:,} pages in {dry} of {len(runs)} "
                    "trials; its harvest is over the pages that it fetched."
                )
            forfeited = [one for one in runs if one.trace.ending.startswith(FORFEITED)]
            for one in forfeited[:1]:
                reason = one.trace.ending.removeprefix(f"{FORFEITED}: ")
                lines.append(
                    f"Forfeited: {label(text)} in {len(forfeited)} of {len(runs)} trials, what it had "
                    f"found until then counts; on {one.subject}, after {len(one.trace.found):,} pages, {reason}"
                )
        return lines

    def bounds(self, outcome: Trial) -> list[float]:
        """Return the upper bounds of any crawl from the same seeds at each budget, cached because they take seconds."""
        key = outcome.subject, outcome.seed_set
        if key not in self._bounds:
            seen, seeds = self.subjects[outcome.subject].seen, outcome.trace.nodes[: outcome.trace.seeds].tolist()
            self._bounds[key] = upper_bound(
                self.index, self.truth(outcome.subject), seeds, self.experiment.budgets, seen if len(seen) else None
            ).tolist()
        return self._bounds[key]

    def write_tables(self, out: Path) -> None:
        text = io.StringIO()
        writer = csv.DictWriter(text, COLUMNS, lineterminator="\n")
        writer.writeheader()
        writer.writerows({name: plain(row[name]) for name in COLUMNS} for row in self.rows)
        with atomic_write(out / "results.csv") as file:
            file.write(text.getvalue().encode())


def read_rows(directory: Path, corpus: str) -> list[Row]:
    """Return the rows of another experiment's results.csv; raise InputError if damaged or of another corpus."""
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
        raise InputError("unreadable-file", f"cannot read {path}: {error.strerror}") from error
    except (ValueError, KeyError, TypeError, csv.Error) as error:
        raise InputError("bad-file", f"{path} is damaged ({error}): run the experiment again") from error
    if {row["corpus"] for row in rows} != {corpus}:
        raise InputError("wrong-corpus", f"{directory} belongs to another corpus: run its experiment.toml on this one")
    return rows


def grouped(rows: Iterable[Row]) -> dict[tuple[str, int], list[Row]]:
    groups: dict[tuple[str, int], list[Row]] = {}
    for row in rows:
        groups.setdefault((row["strategy"], row["budget"]), []).append(row)
    return groups


def unit_means(rows: Iterable[Row], column: str) -> dict[Unit, float]:
    several: dict[Unit, list[float]] = {}
    for row in rows:
        several.setdefault((row["subject"], row["seed_set"]), []).append(row[column])
    return {unit: float(np.mean(values)) for unit, values in several.items()}


def write_trace(path: Path, trace: Trace) -> None:
    save(path, [trace.seeds, trace.ending, trace.seconds, trace.arms], nodes=trace.nodes)


def read_trace(path: Path) -> Trace | None:
    """Return a stored trace; None if it is missing or damaged."""
    if not (kept := load(path)):
        return None
    (seeds, ending, seconds, arms), columns = kept
    return Trace(columns["nodes"], seeds, ending, seconds, arms)
