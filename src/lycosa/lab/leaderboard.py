"""Who is best: all strategies on a named set of corpora and topics, grouped by what they are given.

A strategy that was told a query, one that was shown pages and one that was trained on a thousand labels are not
comparable: each has a table of its own. What is told to nobody (breadth-first) stands in the first.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lycosa.core.errors import InputError
from lycosa.core.files import replacing
from lycosa.core.options import toml_of
from lycosa.core.telling import Tell, silent
from lycosa.estimators import STRATEGIES, TRUTH
from lycosa.lab.certainty import against, curve, interval
from lycosa.lab.corpora.opening import open_corpus
from lycosa.lab.experiments import Experiment, made_of, read_toml, typed
from lycosa.lab.findings import Cell, Figure, Findings, Table
from lycosa.lab.hunters import given
from lycosa.lab.measures import gains, harvest_curve
from lycosa.lab.running import Results, run

GROUPS = {
    "nothing": "Told nothing",
    "query": "Told a query",
    "examples": "Shown example pages",
    "training record": "Trained on a browsing record, told a query",
    "taxonomy": "Trained on a taxonomy with labelled pages",
}
"""What a strategy is given, and the title of its table; those told the truth are yardsticks, and in none."""

TOLD = {"words": ("nothing", "query", "training record"), "examples": ("examples",), "model": ("taxonomy",)}
"""What a guide is told in each round, and which groups it serves."""


@dataclass
class Place:
    """A corpus of a board: an index, or what makes one (see opening.py), and the topics that are hunted there."""

    corpus: str
    topics: list[str] = field(default_factory=list)


@dataclass
class Board:
    """What a leaderboard is made on. Whoever uses the same board may compare."""

    name: str
    places: list[Place]
    budgets: list[int] = field(default_factory=lambda: [100, 300])
    seeds: str = "off-topic"
    hops: int = 1
    seed_count: int = 3
    seed_sets: int = 2
    subject_count: int = 5
    random_seed: int = 1

    def __post_init__(self) -> None:
        self.budgets = sorted(set(self.budgets))

    @classmethod
    def load(cls, path: Path) -> Board:
        """A board of one's own, in TOML: the fields above, and [[places]] with a corpus and topics each."""
        board = made_of(
            cls, {"name": path.stem, "places": [], **read_toml(path, "the board ")}, f"{path} is not a board"
        )
        if not board.places:
            raise InputError(f'{path} names no corpus: add [[places]] with corpus = "my.index"')
        return board


BOARDS = {
    "embedded": Board(
        "embedded",
        [
            Place("embedded:pages=3000,seed=1", ["marine biology/coral reefs", "gardening/composting",
                  "music/jazz piano", "computing/compilers"]),
            Place("embedded:pages=3000,seed=2", ["railways/steam locomotives", "birdwatching/owls",
                  "health/sleep", "photography/vintage lenses"]),
            Place("embedded:pages=3000,seed=3,tunnels=true", ["medieval history/castles", "astronomy/exoplanets",
                  "cooking/sourdough bread", "mountaineering/glacier travel"]),
        ],
        seed_sets=1,
    ),
    "quick": Board(
        "quick",
        [Place("embedded:pages=600,hosts=10,seed=1", ["marine biology/coral reefs"])],
        budgets=[30, 60],
        seed_sets=2,
    ),
}  # fmt: skip
"""Boards by name."""


@dataclass
class Score:
    """One line of a table: what a strategy got in each trial, trial by trial the same for all of the group."""

    strategy: str
    harvest: NDArray[np.float64]
    """Trials by budgets."""
    area: NDArray[np.float64]
    groups: list[str]
    """Of each trial its corpus and topic."""


def leaderboard(
    board: Board, out: Path, strategies: Sequence[str] = (), *, workers: int = 0, tell: Tell = silent
) -> Findings:
    """Run them all, or the named ones, and rank them within their groups."""
    names = list(strategies) or [name for name, entry in STRATEGIES.items() if entry.needs != TRUTH]
    scores: dict[str, dict[str, Score]] = {group: {} for group in GROUPS}
    corpora: list[dict[str, Any]] = []
    remarks: list[str] = []
    for number, place in enumerate(board.places):
        index = open_corpus(place.corpus, out / "corpora", tell)
        corpora.append({"corpus": place.corpus, "fingerprint": index.fingerprint, "pages": len(index)})
        for told, groups in TOLD.items():
            runs = [name for name in names if given(name, told) in groups]
            if not runs or (told == "model" and not index.classes):
                continue
            results = run(
                _experiment(board, place, told, runs),
                out / f"{number + 1}-{told}",
                index=index,
                workers=workers,
                tell=tell,
            )
            for remark in results.remarks:  # here harvest is over the budget, whether it was used up or not
                text = remark.replace("; its harvest is over the pages that it fetched", "")
                remarks.append(f"{place.corpus}, told {told}: {text}")
            for name in runs:
                _add(scores[given(name, told)], name, place, results, board.budgets)
    tables = [_table(group, title, scores[group], board) for group, title in GROUPS.items() if scores[group]]
    return Findings(
        "leaderboard", f"Leaderboard: {board.name}", [*tables, _figure(scores, board)], summary=_summary(scores, board),
        configuration={"board": asdict(board), "strategies": names}, corpus={"corpora": corpora}, remarks=remarks,
    )  # fmt: skip


def _experiment(board: Board, place: Place, told: str, strategies: list[str]) -> Experiment:
    return Experiment(
        name=f"{board.name}-{told}", corpus=place.corpus, strategies=strategies, subjects=place.topics,
        subject_count=board.subject_count, told=told, seeds=board.seeds, hops=board.hops, seed_count=board.seed_count,
        seed_sets=board.seed_sets, budgets=board.budgets, random_seed=board.random_seed,
    )  # fmt: skip


def _add(scores: dict[str, Score], name: str, place: Place, results: Results, budgets: Sequence[int]) -> None:
    """What a strategy got on a corpus joins what it got elsewhere.

    The harvest is over the budget: who stops early has not saved what is left of it.
    """
    rows = [row for row in results.rows if row["strategy"] == name]
    if not rows:
        return
    harvest = np.array([row["score"] / row["budget"] for row in rows]).reshape(-1, len(budgets))
    last = [row for row in rows if row["budget"] == budgets[-1]]
    before = scores.get(name, Score(name, np.zeros((0, len(budgets))), np.zeros(0), []))
    scores[name] = replace(
        before,
        harvest=np.concatenate([before.harvest, harvest]),
        area=np.concatenate([before.area, [row["area"] for row in last]]),
        groups=before.groups + [f"{place.corpus}/{row['subject']}" for row in last],
    )


def _table(group: str, title: str, scores: dict[str, Score], board: Board) -> Table:
    ranked = sorted(scores.values(), key=lambda score: (-len(score.area), -float(score.area.mean()), score.strategy))
    best = ranked[0]
    alike = {score.strategy: score.area for score in ranked if score.groups == best.groups}
    differences = against(alike, best.strategy, groups=best.groups)
    rows: list[list[Cell]] = []
    for place, score in enumerate(ranked, 1):
        row: list[Cell] = [place, score.strategy]
        for column in range(len(board.budgets)):
            known = interval(score.harvest[:, column], groups=score.groups)
            row.append(f"{known.mean:.3f} ({known.low:.3f} to {known.high:.3f})")
        difference = differences.get(score.strategy)
        row += [float(score.area.mean()), difference.p if difference else None, len(score.area)]
        rows.append(row)
    budgets = [f"harvest at {budget:,}" for budget in board.budgets]
    titles = ["", "strategy", *budgets, "area", "p against the best", "trials"]
    return Table(
        f"leaderboard-{group.replace(' ', '-')}", title, titles, rows,
        note="Mean harvest (95 % interval, bootstrap over topics and seed sets); area: mean share found over the whole "
        "budget, which is what is ranked by; p: paired sign-flip test of the areas, corrected by Holm.",
    )  # fmt: skip


def _figure(scores: dict[str, dict[str, Score]], board: Board) -> Figure:
    """The best three of each group at all budgets."""
    curves = []
    for group, known in scores.items():
        for score in sorted(known.values(), key=lambda score: -float(score.area.mean()))[:3]:
            curves.append(curve(f"{score.strategy} ({group})", board.budgets, score.harvest, score.groups))
    return Figure("leaderboard-best", "The best three of each group", "pages fetched", "harvest", curves)


def _summary(scores: dict[str, dict[str, Score]], board: Board) -> str:
    leaders = [
        f"{GROUPS[group].lower()}: {max(known.values(), key=lambda score: float(score.area.mean())).strategy}"
        for group, known in scores.items()
        if known
    ]
    return f"Best by area under the harvest curve on the board {board.name!r}: {'; '.join(leaders)}."


# -- the gate ----------------------------------------------------------------------------------------------

# The gate: floors of harvest below which a change does not pass, pinned beside the corpus they were measured on.
#
# A file of floors has a section for each corpus: what makes it, its fingerprint, the experiment, and for each strategy
# the least mean harvest over the largest budget. `pinned` only raises floors; to lower one takes a flag.

SLACK = 0.05
"""Share by which a floor is below what was measured: another machine may break a tie of floats another way."""


@dataclass
class Sources:
    """For a corpus of files: its labels, and which pages are left out."""

    labels: str = ""
    exclude: list[str] = field(default_factory=list)


@dataclass
class Gate:
    """One corpus, and what the main strategies have to reach there."""

    name: str
    corpus: str
    fingerprint: str
    experiment: dict[str, Any]
    floors: dict[str, float]
    needs: str = ""
    """A file, relative to the directory of corpora, without which the section is passed over, by name."""
    options: Sources = field(default_factory=Sources)

    def present(self, corpora: Path | None) -> bool:
        return not self.needs or (corpora is not None and (corpora / self.needs).exists())


@dataclass
class Passed:
    """What came of one floor."""

    gate: str
    strategy: str
    floor: float
    harvest: float

    @property
    def holds(self) -> bool:
        return self.harvest >= self.floor


def read_gates(path: Path) -> list[Gate]:
    wrong = f"{path} is not a file of floors"
    sections = typed(read_toml(path, "the floors "), dict[str, dict[str, Any]], wrong)
    gates = [made_of(Gate, {"name": name, **section}, f"{wrong}: {name}") for name, section in sections.items()]
    for gate in gates:
        _check(gate, f"{path}: {gate.name}")
    return gates


def _check(gate: Gate, where: str) -> None:
    """Refuse what can't be measured, or could not be written down again."""
    if not re.fullmatch(r"[A-Za-z0-9_-]+", gate.name):  # it is the name of a directory, too
        raise InputError(f"{where}: the name of a section has letters, digits, - and _ only")
    if "strategies" in gate.experiment:
        raise InputError(f"{where}: its strategies are those that have a floor: leave them out of the experiment")
    _experiment_of(gate, gate.corpus, where)


def _experiment_of(gate: Gate, source: str, where: str) -> Experiment:
    given = {"name": gate.name, "corpus": source, "strategies": list(gate.floors)}
    return Experiment.from_mapping({**given, **gate.experiment}, where)


def measure(
    gate: Gate, out: Path, corpora: Path | None = None, *, workers: int = 0, tell: Tell = silent
) -> tuple[str, list[Passed]]:
    """The fingerprint of the corpus as it is now, and what each strategy reaches there."""
    source = str(corpora / gate.corpus) if corpora is not None and gate.needs else gate.corpus
    labels = gate.options.labels
    labels = str(corpora / labels) if corpora is not None and labels else labels
    index = open_corpus(source, out / "corpora", tell, labels=labels, exclude=gate.options.exclude)
    wanted = _experiment_of(gate, source, gate.name)
    results = run(wanted, out / gate.name, index=index, workers=workers, tell=tell)
    passed = []
    for strategy, floor in gate.floors.items():
        outcomes = results.select(strategy)
        if not outcomes:
            raise InputError(f"{strategy} could not be run on {gate.name}: {'; '.join(results.remarks) or 'no trial'}")
        got = [harvest_curve(gains(one.trace, results.subjects[one.subject]), wanted.budget)[-1] for one in outcomes]
        passed.append(Passed(gate.name, strategy, floor, float(np.mean(got))))
    return index.fingerprint, passed


def hold(gate: Gate, out: Path, corpora: Path | None, *, workers: int, tell: Tell) -> list[Passed]:
    """What strategies reach beside their floors, if those are of this corpus."""
    fingerprint, passed = measure(gate, out, corpora, workers=workers, tell=tell)
    check_fingerprint(gate, fingerprint)
    return passed


def raise_floors(
    path: Path,
    gates: list[Gate],
    measured: list[Gate],
    out: Path,
    corpora: Path | None,
    *,
    lower: bool,
    workers: int,
    tell: Tell,
) -> list[Passed]:
    """Pin the floors of some gates to what is reached now, and write the file anew with those of all."""
    raised, pins = [], []
    for gate in gates:
        if gate in measured:
            fingerprint, passed = measure(gate, out, corpora, workers=workers, tell=tell)
            gate = pinned(gate, fingerprint, passed, lower=lower)
            raised += [replace(one, floor=gate.floors[one.strategy]) for one in passed]
        pins.append(gate)
    write_gates(path, pins)
    return raised


def check_fingerprint(gate: Gate, fingerprint: str) -> None:
    """Floors say nothing of another corpus."""
    if gate.fingerprint != fingerprint:
        raise InputError(
            f"the corpus of {gate.name} has changed: its fingerprint is {fingerprint}, the floors are of "
            f"{gate.fingerprint or 'none yet'}. Pin them again with --raise, and with --lower where they fall"
        )


def pinned(gate: Gate, fingerprint: str, told: list[Passed], *, lower: bool) -> Gate:
    """The gate with floors as measured; none is lowered unless that is asked for."""
    floors = {}
    for passed in told:
        floor = math.floor(passed.harvest * (1 - SLACK) * 1000) / 1000
        if floor < passed.floor and gate.fingerprint and not lower:
            if not passed.holds:
                raise InputError(
                    f"{passed.strategy} on {gate.name} reaches {passed.harvest:.3f}, its floor is {passed.floor:.3f}: "
                    "to lower a floor say --lower"
                )
            floor = passed.floor
        floors[passed.strategy] = max(0.0, floor)
    return replace(gate, fingerprint=fingerprint, floors=floors)


def write_gates(path: Path, gates: list[Gate]) -> None:
    lines = ["# Floors of harvest: see 'lycosa lab gate --help'. Written by 'lycosa lab gate --raise'.", ""]
    for gate in gates:
        lines += [f"[{gate.name}]", f"corpus = {toml_of(gate.corpus)}", f"fingerprint = {toml_of(gate.fingerprint)}"]
        lines += [f"needs = {toml_of(gate.needs)}"] if gate.needs else []
        options = {key: value for key, value in asdict(gate.options).items() if value}
        for title, table in (("options", options), ("experiment", gate.experiment), ("floors", gate.floors)):
            if table:
                lines += ["", f"[{gate.name}.{title}]", *_rows(table)]
        lines.append("")
    with replacing(path) as file:
        file.write("\n".join(lines).encode())


def _rows(table: Mapping[str, Any]) -> list[str]:
    return [
        f"{key if re.fullmatch('[A-Za-z0-9_]+', key) else toml_of(key)} = {toml_of(value)}"
        for key, value in table.items()
    ]
