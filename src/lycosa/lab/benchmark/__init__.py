"""The benchmark: scent, its rivals and your own strategies on frozen topics of several corpora.

It declares experiments, one for each corpus and setting (what is told of a topic, and where crawls start); the lab's
runner runs them, as it does those of a paper. All entrants have the same trials, the judge of `lycosa crawl` and the
same budgets; labels that none of them sees decide what was found. A cell is a corpus, a setting and a budget.

corpora     which pages, by digests; which topics, frozen by checksums
entrants    who is compared
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import NamedTuple

import numpy as np

from lycosa.core.errors import InputError
from lycosa.drawing.formats import many
from lycosa.lab.benchmark.corpora import Place
from lycosa.lab.benchmark.entrants import SCENT, is_rival, kind
from lycosa.lab.certainty import Difference, Interval, against, curve, holm, interval, paired
from lycosa.lab.experiments import Experiment
from lycosa.lab.findings import Cell, Claim, Curve, Figure, Findings, Ruling, Table, compare, joined, plain, says
from lycosa.lab.hunters import AHEAD, ORACLE, label
from lycosa.lab.index import Index
from lycosa.lab.measures import Floats, found, polite
from lycosa.lab.papers import Bench
from lycosa.lab.results import Results, Row
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


class Setting(NamedTuple):
    """What is told, and where crawls start."""

    told: str
    seeds: str

    @property
    def title(self) -> str:
        """
        >>> Setting("words", "on-topic").title, Setting("examples", "cold").title
        ('words, 3 seeds', '20 examples, cold seeds')
        """
        what = "words" if self.told == "words" else f"{EXAMPLES} examples"
        return f"{what}, {SEEDS} seeds" if self.seeds == "on-topic" else f"{what}, {self.seeds} seeds"


@dataclass(frozen=True)
class Size:
    """How much is run."""

    subject_count: int = 0  # topics per corpus; 0: the corpus' default, -1: all
    seed_sets: int = 0  # draws of seeds per topic; 0: as many as give CRAWLS in a cell
    seeds: tuple[str, ...] = ("on-topic", "off-topic")
    told: tuple[str, ...] = ("words", "examples")
    budgets: tuple[int, ...] = (100, 500, 1000)
    judge: str = DEFAULT
    quick: bool = False

    @property
    def settings(self) -> list[Setting]:
        return [Setting(told, seeds) for told in self.told for seeds in self.seeds]

    def budgets_for(self, pages: int) -> list[int]:
        """Return those up to a third of a corpus: beyond it any crawl comes to have everything.

        >>> Size().budgets_for(2000), Size().budgets_for(90)
        ([100, 500], [30])
        """
        return [budget for budget in self.budgets if budget <= pages // 3] or [max(1, pages // 3)]

    def draws_for(self, topics: int) -> int:
        """Return how often seeds are drawn for each of so many topics.

        >>> [Size().draws_for(topics) for topics in (3, 10, 30)], Size(seed_sets=2).draws_for(3)
        ([4, 2, 1], 2)
        """
        return self.seed_sets or -(-CRAWLS // max(1, topics))


USUAL = Size()
QUICK = Size(2, seed_sets=1, budgets=(20, 50), seeds=("off-topic",), quick=True)
FULL = Size(-1, seeds=("on-topic", "off-topic", "cold"), budgets=(100, 500, 1000, 5000))


class Unit(NamedTuple):
    """What the trials of all entrants have in common."""

    corpus: str
    setting: Setting
    topic: str
    draw: int


@dataclass
class Measured:
    """All trials, and what was said of them."""

    places: list[Place]
    size: Size
    entrants: list[str]
    rows: dict[tuple[str, int], dict[Unit, Row]] = field(default_factory=dict)
    """Of each entrant and budget the rows of results.csv, with CPU and polite time."""
    curves: dict[str, list[Curve]] = field(default_factory=dict)  # by corpus: shares along the way
    hunted: dict[str, list[str]] = field(default_factory=dict)
    remarks: list[str] = field(default_factory=list)

    @property
    def budgets(self) -> list[int]:
        return sorted({budget for _, budget in self.rows})

    def units(self, budget: int, corpus: str = "", setting: Setting | None = None) -> list[Unit]:
        """Return the trials that there are, by the oracle's."""
        return [
            unit
            for unit in self.rows.get((ORACLE, budget), ())
            if corpus in ("", unit.corpus) and setting in (None, unit.setting)
        ]

    def column(self, entrant: str, budget: int, value: str, units: Sequence[Unit]) -> Floats:
        """Return a value of an entrant in some trials; nan where it has none."""
        known = self.rows.get((entrant, budget), {})
        return np.array([known.get(unit, {}).get(value, math.nan) for unit in units])

    def mean(self, entrant: str, budget: int, value: str, units: Sequence[Unit]) -> Cell:
        values, groups = self.column(entrant, budget, value, units), [(unit.corpus, unit.topic) for unit in units]
        mean: Cell = plain(interval(values, draws=1, groups=groups).mean)
        return mean


def benchmark(bench: Bench, places: Sequence[Place], size: Size, entrants: Sequence[str]) -> Measured:
    """Run what is missing, and return all that is there."""
    made = Measured(list(places), size, list(entrants))
    for place in places:
        wanted = len(place.topics) if size.subject_count < 0 else size.subject_count or place.usual
        topics = made.hunted[place.name] = place.topics[:wanted]
        if len(topics) < wanted:
            made.remarks.append(f"{place.name}: {len(topics)} topics only, {wanted} were wanted: it has no more.")
        done: dict[Setting, Results] = {}
        for setting in size.settings:
            title = f"{place.name}, {setting.title}"
            plan = Experiment(
                f"benchmark, {title}", str(place.index.path or ""), list(entrants), told=setting.told,
                judge=size.judge, seeds=setting.seeds, hops=1, seed_count=SEEDS,
                seed_sets=size.draws_for(len(topics)), budgets=size.budgets_for(len(place.index)),
            )  # fmt: skip
            subjects = subjects_told(place.index, topics, setting.told)
            where = f"{place.name}/{setting.told}"  # settings that share guides share a directory
            try:
                results = bench.run(plan, where, index=place.index, subjects=subjects, title=title)
            except InputError as error:
                made.remarks.append(f"Left out: {title}: {error}")
                continue
            done[setting] = results
            lines = [line for line in results.remarks if line.startswith(("Left out", "Failed", "Forfeited"))]
            made.remarks += [f"{title}: {line}" for line in lines]
        _take(made, place, done)
    if not made.rows:
        raise InputError(f"nothing could be run. {' '.join(made.remarks)}")
    return made


def subjects_told(index: Index, topics: Sequence[str], told: str) -> list[Subject]:
    """Topics told by words or by examples. With examples there are no words: a topic's name would be a query."""
    if told == "words":
        return subjects_of(index, topics)
    return [replace(subject, words="") for subject in subjects_of(index, topics, examples=EXAMPLES)]


def _take(made: Measured, place: Place, done: dict[Setting, Results]) -> None:
    """Keep the rows of a corpus, and the means of its curves."""
    hosts = place.index.hosts
    steps = _steps(made.size.budgets_for(len(place.index))[-1])
    shares: dict[str, list[tuple[str, Floats]]] = {}
    for setting, results in done.items():
        outcomes = {(one.strategy, one.subject, one.seed_set + 1): one for one in results.outcomes}
        optimum = {one.start: found(results.gains(one), steps) for one in results.select(AHEAD)}
        for row in results.rows:
            trace = outcomes[row["strategy"], row["subject"], row["seed_set"]].trace
            times = polite(hosts[trace.nodes[: trace.seeds + row["budget"]]])
            costs = {"cpu": 1000.0 * trace.seconds / max(1, len(trace.nodes)), "polite": float(times[-1])}
            alone = {} if len(np.unique(hosts)) > 1 else {"sites": math.nan}  # of one host there is nothing to tell
            unit = Unit(place.name, setting, row["subject"], row["seed_set"])
            made.rows.setdefault((row["strategy"], row["budget"]), {})[unit] = {**row, **costs, **alone}
        for one in results.outcomes:
            most = optimum.get(one.start)
            if most is not None and (most > 0).all():
                shares.setdefault(one.strategy, []).append((one.subject, found(results.gains(one), steps) / most))
    for text in (text for text in made.entrants if text != ORACLE and text in shares):
        groups, lines = zip(*shares[text], strict=True)
        made.curves.setdefault(place.name, []).append(curve(label(text), steps, lines, groups))


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
    greedy: Cell  # scent's share of the greedy oracle's score
    ruling: Ruling  # that the rival is not better


def cells(made: Measured) -> list[Compared]:
    """Return all that have a rival; p is corrected for how many cells there are."""
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
    if not rivals or not np.isfinite(shares[SCENT]).any():
        return None
    best = max(rivals, key=lambda text: interval(shares[text], draws=1, groups=groups).mean)
    both = np.isfinite(shares[SCENT]) & np.isfinite(shares[best])
    ruling = compare(
        shares[best][both], shares[SCENT][both], np.array(groups)[both].tolist(), most=1, expect="not better",
        names=(label(best), SCENT), what=f"share on {corpus}, {setting.title}, {budget:,} pages",
    )  # fmt: skip
    return Compared(
        corpus, setting, budget, interval(shares[SCENT], groups=groups), best, interval(shares[best], groups=groups),
        paired(shares[SCENT], shares[best], groups=groups), len(set(groups)), made.mean(SCENT, budget, GREEDY, units),
        ruling,
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
            "scent of the greedy oracle's": lambda cell: cell.greedy,
            "topics": lambda cell: cell.topics,
        },
        [(cell,) for cell in known],
        note=f"{NOTE} The best rival is picked with hindsight in each row, which favours it. p: sign flips of topics, "
        "two-sided, corrected for the number of rows (Holm); fewer than six topics can't give one below .05.",
    )  # fmt: skip


_COLUMNS = {
    GREEDY: "of the greedy oracle's", "area": "area", "found": "found", "fetched": "fetched", "sites": "sites",
    "polite": "polite s",
}  # fmt: skip


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
        row: list[Cell] = [label(text), kind(text), str(mean[text])]
        row += [made.mean(text, budget, value, units) for value in _COLUMNS]
        rows.append([*row, str(differences.get(text, "")), int(np.isfinite(shares[text]).sum())])
    return Table(
        f"benchmark-{budget}", f"All entrants after {budget:,} pages",
        ["entrant", "kind", "share", *_COLUMNS.values(), f"less {SCENT}", "trials"], rows,
        note=f"{NOTE} p: sign flips of topics, corrected for the number of entrants (Holm). Sites: hosts with a "
        "relevant page, where a corpus has several. Polite: seconds if each host is asked once a second, in the order "
        "of the crawl.",
    )  # fmt: skip


def table_cpu(made: Measured) -> Table:
    corpora = {place.name: made.size.budgets_for(len(place.index))[-1] for place in made.places}
    rows = [
        [label(text), *(made.mean(text, budget, "cpu", made.units(budget, name)) for name, budget in corpora.items())]
        for text in made.entrants
    ]
    return Table(
        "benchmark-cpu", "Milliseconds of CPU a step", ["entrant", *corpora], rows, timed=True,
        note="Of picking and learning a page, without the judge; of a program all that it took, its start included. "
        "They differ from machine to machine, and with what else it does.",
    )  # fmt: skip


def table_corpus(made: Measured, corpus: str) -> Table:
    """Every entrant in every cell of a corpus."""
    columns = {f"{setting.title}, {budget:,}": (budget, made.units(budget, corpus, setting))
               for setting in made.size.settings for budget in made.budgets}  # fmt: skip
    columns = {title: (budget, units) for title, (budget, units) in columns.items() if units}
    rows = [
        [label(text), *(made.mean(text, budget, SHARE, units) for budget, units in columns.values())]
        for text in made.entrants
    ]
    return Table(
        f"benchmark-{corpus}", f"All entrants on {corpus}: share of the optimum, as far as it is known",
        ["entrant", *columns], rows, note=NOTE,
    )  # fmt: skip


@says(
    "docs/benchmark.md",
    "Scent is ahead of the best of its rivals, picked with hindsight, or level: in no cell is it clearly behind",
)
def nowhere_behind(known: Sequence[Compared]) -> Ruling:
    verdict, evidence = joined(cell.ruling for cell in known)
    behind, above = sum(cell.ahead.high < 0 for cell in known), sum(cell.ahead.low > 0 for cell in known)
    return Ruling(
        verdict,
        f"Of {many(len(known), 'cell')}: ahead in the mean in {sum(cell.ahead.mean >= 0 for cell in known)}, with the "
        f"whole interval above 0 in {above}, with the whole interval below 0 in {behind}.\n{evidence}",
    )


def findings(bench: Bench, places: Sequence[Place], size: Size, entrants: Sequence[str], half: str) -> Findings:
    """Run the benchmark; return all tables, figures and the claim, with everything that it takes to repeat them."""
    made = benchmark(bench, places, size, entrants)
    known = cells(made)
    tables: list[Table | Figure] = [table_cells(known)] if known else []
    tables += [table_all(made, budget) for budget in made.budgets]
    corpora = list(dict.fromkeys(unit.corpus for budget in made.budgets for unit in made.units(budget)))
    tables += [table_corpus(made, name) for name in corpora]
    tables += [
        Figure(
            f"benchmark-figure-{name}",
            f"Share on {name}",
            "pages fetched",
            "share",
            made.curves.get(name, []),
            note="Of what the oracle finds that looks ahead, in trials where it has something after a page. "
            "Bands: 95 %.",
        )
        for name in corpora
    ]
    tables.append(table_cpu(made))
    crawls = len({(unit, text) for (text, _), units in made.rows.items() for unit in units})
    claims: list[Claim] = [nowhere_behind(known)] if known else []
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
