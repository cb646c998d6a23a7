"""The benchmark: scent, its rivals and programs from outside on frozen topics of several corpora.

A trial is a topic of a corpus, what the judge is told of it, and where the crawl starts. All entrants have the same
trials, the judge that `lycosa crawl` has, and the same budgets; labels that none of them sees decide what was found. A
cell is a corpus, what is told, the seeds and a budget.

corpora     which pages, by digests; which topics, frozen by checksums
entrants    who is compared
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from lycosa.core.errors import InputError
from lycosa.core.telling import Tell, silent
from lycosa.drawing.formats import many
from lycosa.lab.benchmark.corpora import Place
from lycosa.lab.benchmark.entrants import SCENT, is_rival, kind, label
from lycosa.lab.certainty import Difference, Interval, against, curve, holm, interval, paired
from lycosa.lab.experiments import Experiment
from lycosa.lab.findings import Cell, Claim, Figure, Findings, Ruling, Table, ruled, says
from lycosa.lab.hunters import AHEAD, ORACLE
from lycosa.lab.index import Index
from lycosa.lab.measures import Floats, found, polite
from lycosa.lab.papers import TOO_SMALL
from lycosa.lab.results import Outcome, Results, plain
from lycosa.lab.running import run
from lycosa.lab.subjects import Subject, subjects_of
from lycosa.topics import DEFAULT
from lycosa.version import __version__

SEEDS, EXAMPLES = 3, 20
CRAWLS = 12  # at least, of an entrant in a cell: what the first 100 pages bring depends on the seeds
POINTS = 25
# Compared is the share of look-ahead's: next to greedy's, which may be 1 or 2 pages, a few trials would decide all.
SHARE, GREEDY = "ahead", "relative"

NOTE = (
    "Share: relevant pages found over what an oracle finds that knows the whole graph and looks ahead, near the "
    "optimum. Means over topics (and over draws of seeds, where a topic has several), with 95 % intervals (bootstrap "
    "over topics); differences are paired, on the same topics and seeds. The greedy oracle takes the best page in "
    "sight, and can be beaten."
)


@dataclass(frozen=True)
class Setting:
    """What is told, and where crawls start."""

    told: str
    seeds: str

    @property
    def title(self) -> str:
        """In tables.

        >>> Setting("words", "on-topic").title, Setting("examples", "cold").title
        ('words, 3 seeds', '20 examples, cold seeds')
        """
        what = "words" if self.told == "words" else f"{EXAMPLES} examples"
        return f"{what}, {SEEDS} seeds" if self.seeds == "on-topic" else f"{what}, {self.seeds} seeds"


SETTINGS = tuple(Setting(told, seeds) for told in ("words", "examples") for seeds in ("on-topic", "off-topic", "cold"))


@dataclass(frozen=True)
class Size:
    """How much is run."""

    topics: int = 0  # per corpus; 0: the corpus' default, -1: all
    draws: int = 0  # seed sets per topic; 0: as many as give CRAWLS in a cell
    seeds: tuple[str, ...] = ("on-topic", "off-topic")
    told: tuple[str, ...] = ("words", "examples")
    budgets: tuple[int, ...] = (100, 500, 1000)
    judge: str = DEFAULT
    quick: bool = False

    @property
    def settings(self) -> list[Setting]:
        return [one for one in SETTINGS if one.seeds in self.seeds and one.told in self.told]

    def budgets_for(self, pages: int) -> list[int]:
        """Those up to a third of a corpus: beyond it any crawl comes to have everything.

        >>> Size().budgets_for(2000), Size().budgets_for(90)
        ([100, 500], [30])
        """
        return [budget for budget in self.budgets if budget <= pages // 3] or [max(1, pages // 3)]

    def draws_for(self, topics: int) -> int:
        """How often seeds are drawn for each of so many topics.

        >>> [Size().draws_for(topics) for topics in (3, 10, 30)], Size(draws=2).draws_for(3)
        ([4, 2, 1], 2)
        """
        return self.draws or -(-CRAWLS // max(1, topics))


USUAL = Size()
QUICK = Size(2, draws=1, budgets=(20, 50), seeds=("off-topic",), quick=True)
FULL = Size(-1, seeds=("on-topic", "off-topic", "cold"), budgets=(100, 500, 1000, 5000))


class Unit(NamedTuple):
    """What the trials of all entrants have in common."""

    corpus: str
    setting: Setting
    topic: str
    draw: int


@dataclass(frozen=True)
class Trial:
    """What one entrant got in one trial within a budget."""

    unit: Unit
    budget: int
    entrant: str
    values: dict[str, float]


@dataclass
class Measured:
    """All trials, and what was said of them."""

    places: list[Place]
    size: Size
    entrants: list[str]
    trials: list[Trial] = field(default_factory=list)
    curves: dict[tuple[str, str], list[tuple[str, Floats]]] = field(default_factory=dict)
    """Shares along the way: of each corpus and entrant a topic and a line for each trial."""
    hunted: dict[str, list[str]] = field(default_factory=dict)
    remarks: list[str] = field(default_factory=list)

    def named(self, entrant: str) -> list[Trial]:
        return [one for one in self.trials if one.entrant == entrant]

    @property
    def budgets(self) -> list[int]:
        return sorted({one.budget for one in self.trials})

    def column(self, entrant: str, budget: int, value: str, units: Sequence[Unit]) -> Floats:
        """A value of an entrant in some trials; nan where it has none."""
        known = {one.unit: one.values.get(value, math.nan) for one in self.trials
                 if one.entrant == entrant and one.budget == budget}  # fmt: skip
        return np.array([known.get(unit, math.nan) for unit in units])

    def units(self, budget: int, corpus: str = "", setting: Setting | None = None) -> list[Unit]:
        """The trials that there are, by the oracle's."""
        return [
            one.unit
            for one in self.named(ORACLE)
            if one.budget == budget and corpus in ("", one.unit.corpus) and setting in (None, one.unit.setting)
        ]


def benchmark(
    places: Sequence[Place], size: Size, entrants: Sequence[str], out: Path, *, workers: int = 0, tell: Tell = silent
) -> Measured:
    """Run what is missing, and give all that is there."""
    made = Measured(list(places), size, list(entrants))
    for place in places:
        many_topics = len(place.topics) if size.topics < 0 else size.topics or place.usual
        topics = made.hunted[place.name] = place.topics[:many_topics]
        if len(topics) < many_topics:
            made.remarks.append(f"{place.name}: {len(topics)} topics only, {many_topics} were wanted: it has no more.")
        for setting in size.settings:
            try:
                results = _run(place, setting, topics, size, entrants, out, workers, tell)
            except InputError as error:
                made.remarks.append(f"Left out: {place.name}, {setting.title}: {error}")
                continue
            _take(made, place, setting, results)
    if not made.trials:
        raise InputError(f"nothing could be run. {' '.join(made.remarks)}")
    return made


def _run(
    place: Place, setting: Setting, topics: Sequence[str], size: Size, entrants: Sequence[str], out: Path,
    workers: int, tell: Tell,
) -> Results:  # fmt: skip
    plan = Experiment(
        f"benchmark, {place.name}, {setting.title}", str(place.index.path or ""), list(entrants), told=setting.told,
        judge=size.judge, seeds=setting.seeds, hops=1, seed_count=SEEDS,
        seed_sets=size.draws_for(len(topics)),
        budgets=size.budgets_for(len(place.index)),
    )  # fmt: skip

    def said(what: str, *count: int) -> None:
        tell(f"{place.name}, {setting.title}: {what}", *count)

    subjects = subjects_told(place.index, topics, setting.told)
    return run(plan, out / place.name / setting.told, index=place.index, subjects=subjects, workers=workers, tell=said)


def subjects_told(index: Index, topics: Sequence[str], told: str) -> list[Subject]:
    """Topics told by words or by examples. With examples there are no words: a topic's name would be a query."""
    if told == "words":
        return subjects_of(index, topics)
    return [replace(subject, words="") for subject in subjects_of(index, topics, examples=EXAMPLES)]


def _take(made: Measured, place: Place, setting: Setting, results: Results) -> None:
    several = len(np.unique(place.index.hosts)) > 1  # of one host there is nothing to tell
    outcomes = {(one.strategy, one.subject, one.seed_set + 1): one for one in results.outcomes}
    for row in results.rows:
        one = outcomes[row["strategy"], row["subject"], row["seed_set"]]
        values = {name: float(row[name]) for name in ("found", "fetched", "relative", "ahead", "area")}
        values |= {"sites": float(row["sites"])} if several else {}
        values |= _costs(one, row["budget"], place.index)
        unit = Unit(place.name, setting, row["subject"], row["seed_set"])
        made.trials.append(Trial(unit, row["budget"], row["strategy"], values))
    _draw(made, place, results)
    lines = [line for line in results.remarks if line.startswith(("Left out", "Failed", "Forfeited"))]
    for text in results.experiment.strategies:
        lines = [line.replace(text, label(text)) for line in lines]
    made.remarks += [f"{place.name}, {setting.title}: {line}" for line in lines]


def _costs(one: Outcome, budget: int, index: Index) -> dict[str, float]:
    """CPU of a step in milliseconds, and how long it would take politely, a second a host."""
    times = polite(index.hosts[one.trace.nodes[: one.trace.seeds + budget]])
    return {
        "cpu": 1000.0 * one.trace.seconds / max(1, len(one.trace.nodes)),
        "polite": float(times[-1]) if len(times) else 0.0,
    }


def _draw(made: Measured, place: Place, results: Results) -> None:
    steps = _steps(results.experiment.budget)
    optimum = {(one.subject, one.seed_set): found(results.gains(one), steps) for one in results.select(AHEAD)}
    for one in results.outcomes:
        most = optimum.get((one.subject, one.seed_set))
        if most is not None and one.strategy not in (ORACLE, AHEAD):
            own = found(results.gains(one), steps)
            share = np.divide(own, most, out=np.full(len(own), np.nan), where=most > 0)
            made.curves.setdefault((place.name, one.strategy), []).append((one.subject, share))


def _steps(budget: int) -> list[int]:
    return sorted({max(1, round(budget * (step / POINTS) ** 2)) for step in range(1, POINTS + 1)} | {min(10, budget)})


# -- tables ----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Compared:
    """A cell: scent, and the best of its rivals, picked with hindsight."""

    corpus: str
    setting: Setting
    budget: int
    scent: Interval
    best: str
    rival: Interval
    ahead: Difference
    topics: int
    greedy: float = math.nan  # scent's share of the greedy oracle's score

    @property
    def where(self) -> str:
        return f"{self.corpus}, {self.setting.title}, {self.budget:,} pages"


def cells(made: Measured) -> list[Compared]:
    """All that have a rival; p is corrected for how many cells there are."""
    known = []
    for place in made.places:
        for setting in made.size.settings:
            for budget in made.size.budgets_for(len(place.index)):
                cell = _cell(made, place.name, setting, budget)
                known += [cell] if cell is not None else []
    corrected = holm([cell.ahead.p for cell in known]).tolist()
    return [replace(cell, ahead=cell.ahead._replace(p=p)) for cell, p in zip(known, corrected, strict=True)]


def _cell(made: Measured, corpus: str, setting: Setting, budget: int) -> Compared | None:
    units = made.units(budget, corpus, setting)
    groups = [unit.topic for unit in units]
    shares = {text: made.column(text, budget, SHARE, units) for text in made.entrants}
    rivals = [text for text in made.entrants if is_rival(text) and np.isfinite(shares[text]).any()]
    if not rivals or not np.isfinite(shares.get(SCENT, np.zeros(0))).any():
        return None
    best = max(rivals, key=lambda text: interval(shares[text], draws=1, groups=groups).mean)
    return Compared(
        corpus, setting, budget, interval(shares[SCENT], groups=groups), best, interval(shares[best], groups=groups),
        paired(shares[SCENT], shares[best], groups=groups), len(set(groups)),
        _mean(made.column(SCENT, budget, GREEDY, units), groups),
    )  # fmt: skip


def table_cells(known: Sequence[Compared]) -> Table:
    return Table.of(
        "benchmark-cells", "Scent and the best of its rivals, cell by cell",
        {
            "corpus": lambda cell: cell.corpus,
            "told, seeds": lambda cell: cell.setting.title,
            "pages": lambda cell: cell.budget,
            "scent": lambda cell: str(cell.scent),
            "best rival": lambda cell: label(cell.best),
            "its share": lambda cell: str(cell.rival),
            "difference": lambda cell: str(cell.ahead),
            "p": lambda cell: plain(cell.ahead.p),
            "scent of the greedy oracle's": lambda cell: plain(cell.greedy),
            "topics": lambda cell: cell.topics,
        },
        [(cell,) for cell in known],
        note=f"{NOTE} The best rival is picked with hindsight in each row, which favours it. p: sign flips of topics, "
        "two-sided, corrected for the number of rows (Holm); fewer than six topics can't give one below .05.",
    )  # fmt: skip


def table_all(made: Measured, budget: int) -> Table:
    """All entrants over all corpora and settings at a budget, best share first."""
    units = made.units(budget)
    groups = [(unit.corpus, unit.topic) for unit in units]
    shares = {text: made.column(text, budget, SHARE, units) for text in made.entrants}
    there = [text for text in made.entrants if np.isfinite(shares[text]).any()]
    tested = {text: shares[text] for text in there if kind(text) != "oracle"}  # no test is to pay for a yardstick
    differences = against(tested, SCENT, groups=groups) if SCENT in tested else {}
    mean = {text: interval(shares[text], groups=groups) for text in there}
    rows: list[list[Cell]] = []
    for text in sorted(there, key=lambda text: -mean[text].mean):
        apart = differences.get(text)
        row: list[Cell] = [label(text), kind(text), str(mean[text])]
        row += [_mean(made.column(text, budget, value, units), groups) for value in _COLUMNS]
        row += [str(apart) if apart else "", apart.p if apart else None, int(np.isfinite(shares[text]).sum())]
        rows.append([plain(cell) for cell in row])
    return Table(
        f"benchmark-{budget}", f"All entrants after {budget:,} pages",
        ["entrant", "kind", "share", *_COLUMNS.values(), f"less {SCENT}", "p", "trials"], rows,
        note=f"{NOTE} p: sign flips of topics, corrected for the number of entrants (Holm). Sites: hosts with a "
        "relevant page, where a corpus has several. Polite: seconds if each host is asked once a second, in the order "
        "of the crawl.",
    )  # fmt: skip


_COLUMNS = {
    GREEDY: "of the greedy oracle's", "area": "area", "found": "found", "fetched": "fetched", "sites": "sites",
    "polite": "polite s",
}  # fmt: skip


def table_cpu(made: Measured) -> Table:
    corpora = {place.name: made.size.budgets_for(len(place.index))[-1] for place in made.places}
    rows: list[list[Cell]] = []
    for text in made.entrants:
        row: list[Cell] = [label(text)]
        for corpus, budget in corpora.items():
            units = made.units(budget, corpus)
            row.append(plain(_mean(made.column(text, budget, "cpu", units), range(len(units)))))
        rows.append(row)
    return Table(
        "benchmark-cpu", "Milliseconds of CPU a step", ["entrant", *corpora], rows, timed=True,
        note="Of picking and learning a page, without the judge; of a program all that it took, its start included. "
        "They differ from machine to machine, and with what else it does.",
    )  # fmt: skip


def _mean(values: Floats, groups: Sequence[Any]) -> float:
    return interval(values, draws=1, groups=groups).mean


def table_corpus(made: Measured, corpus: str) -> Table:
    """Every entrant in every cell of a corpus."""
    columns = [(setting, budget) for setting in made.size.settings for budget in made.budgets
               if made.units(budget, corpus, setting)]  # fmt: skip
    rows: list[list[Cell]] = []
    for text in made.entrants:
        row: list[Cell] = [label(text)]
        for setting, budget in columns:
            units = made.units(budget, corpus, setting)
            row.append(plain(_mean(made.column(text, budget, SHARE, units), [unit.topic for unit in units])))
        rows.append(row)
    return Table(
        f"benchmark-{corpus}", f"All entrants on {corpus}: share of the optimum, as far as it is known",
        ["entrant", *(f"{setting.title}, {budget:,}" for setting, budget in columns)], rows, note=NOTE,
    )  # fmt: skip


def table_topics(made: Measured) -> Table:
    """Topic by topic, where scent is behind most first."""
    rows: list[list[Cell]] = []
    for place in made.places:
        budget = made.size.budgets_for(len(place.index))[-1]
        for topic in made.hunted[place.name]:
            units = [unit for unit in made.units(budget, place.name) if unit.topic == topic]
            means = {text: _mean(made.column(text, budget, SHARE, units), range(len(units)))
                     for text in made.entrants if units and (is_rival(text) or text == SCENT)}  # fmt: skip
            known = {text: mean for text, mean in means.items() if math.isfinite(mean)}
            rivals = [text for text in known if text != SCENT]
            if SCENT in known and rivals:
                best = max(rivals, key=lambda text: known[text])
                rows.append(
                    [place.name, topic, budget, known[SCENT], label(best), known[best], known[SCENT] - known[best]]
                )
    return Table(
        "benchmark-topics", "Topic by topic",
        ["corpus", "topic", "pages", "scent", "best rival", "its share", "difference"],
        sorted(rows, key=lambda row: float(row[-1] or 0.0)), note=f"Means over settings. {NOTE}",
    )  # fmt: skip


def figure_share(made: Measured, corpus: str) -> Figure:
    steps = _steps(max(one.budget for one in made.trials if one.unit.corpus == corpus))
    lines = []
    for text in made.entrants:
        known = made.curves.get((corpus, text), [])
        whole = [(topic, line) for topic, line in known if len(line) == len(steps) and np.isfinite(line).all()]
        if whole:
            groups, shares = zip(*whole, strict=True)
            lines.append(curve(label(text), steps, shares, groups))
    return Figure(
        f"benchmark-figure-{corpus}", f"Share on {corpus}", "pages fetched", "share", lines,
        note="Of what the oracle finds that looks ahead, in trials where it has something after a page. Bands: 95 %.",
    )  # fmt: skip


@says(
    "docs/benchmark.md",
    "Scent is ahead of the best of its rivals, picked with hindsight, or level: in no cell is it clearly behind",
)
def nowhere_behind(known: Sequence[Compared], quick: bool) -> Ruling:
    """No interval wholly below 0."""
    behind = [cell for cell in known if cell.ahead.high < 0]
    evidence = [f"{cell.where}: {label(cell.best)} is ahead, scent less it {cell.ahead}." for cell in behind]
    above, mean = sum(cell.ahead.low > 0 for cell in known), sum(cell.ahead.mean >= 0 for cell in known)
    evidence.append(
        f"Of {many(len(known), 'cell')}: ahead in the mean in {mean}, with the whole interval above 0 in {above}, with "
        f"the whole interval below 0 in {len(behind)}."
    )
    return ruled(not behind, evidence, TOO_SMALL if quick else "")


def findings(made: Measured, half: str) -> Findings:
    """All tables, figures and the claim, with everything that it takes to make them again."""
    known = cells(made)
    tables: list[Table | Figure] = [table_cells(known)] if known else []
    tables += [table_all(made, budget) for budget in made.budgets]
    corpora = [place.name for place in made.places if any(one.unit.corpus == place.name for one in made.trials)]
    tables += [*(table_corpus(made, name) for name in corpora), *(figure_share(made, name) for name in corpora)]
    tables += [table_cpu(made), *([table_topics(made)] if known else [])]
    crawls = len({(*one.unit, one.entrant) for one in made.trials})
    claims: list[Claim] = [nowhere_behind(known, made.size.quick)] if known else []
    topics = sum(map(len, made.hunted.values()))
    return Findings(
        "benchmark", "Benchmark of focused crawlers", tables, claims,
        f"{many(len(made.entrants) - 1, 'entrant')} beside the oracle, {many(topics, 'topic')} of the {half} half of "
        f"{', '.join(corpora)}, {many(len(made.size.settings), 'setting')}: {crawls:,} crawls. All are guided by the "
        f"judge {made.size.judge}; labels that no entrant sees say what was found.",
        {"version": __version__, "half": half, "size": asdict(made.size), "entrants": list(made.entrants)},
        {place.name: place.facts(made.hunted[place.name]) for place in made.places},
        list(dict.fromkeys(made.remarks)),
    )  # fmt: skip
