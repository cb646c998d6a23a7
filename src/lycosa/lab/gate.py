"""The gate: floors of harvest below which a change does not pass, pinned beside the corpus they were measured on.

A file of floors has a section for each corpus: what makes it, its fingerprint, the experiment, and for each strategy
the least mean harvest over the largest budget. `pinned` only raises floors; to lower one takes a flag.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np

from lycosa.core.errors import InputError
from lycosa.core.files import replacing
from lycosa.core.options import toml_of
from lycosa.core.telling import Tell, silent
from lycosa.lab.corpora.opening import open_corpus
from lycosa.lab.experiments import Experiment
from lycosa.lab.measures import gains, harvest_curve
from lycosa.lab.running import run
from lycosa.lab.settings import made_of, read_toml, typed

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
    _experiment(gate, gate.corpus, where)


def _experiment(gate: Gate, source: str, where: str) -> Experiment:
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
    wanted = _experiment(gate, source, gate.name)
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
