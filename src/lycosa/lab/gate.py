"""The gate: floors of harvest below which a change does not pass, pinned beside the corpus they were measured on.

A file of floors has a section for each corpus: what makes it, its fingerprint, the experiment, and for each strategy
the least mean harvest over the largest budget. `pinned` only raises floors; to lower one takes a flag.
"""

from __future__ import annotations

import math
import tomllib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from lycosa.core.errors import InputError
from lycosa.core.files import replacing
from lycosa.lab.corpora.kept import open_corpus
from lycosa.lab.experiments import Experiment
from lycosa.lab.measures import gains, harvest_curve
from lycosa.lab.running import run

Tell = Callable[[str, int, int], None]

SLACK = 0.05
"""Share by which a floor is below what was measured: another machine may break a tie of floats another way."""


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
    options: dict[str, Any] = field(default_factory=dict)
    """For a corpus of files: labels, exclude."""


@dataclass
class Passed:
    """What came of one floor."""

    gate: str
    strategy: str
    floor: float
    harvest: float

    @property
    def holds(self) -> bool:
        """Whether the floor was reached."""
        return self.harvest >= self.floor


def read_gates(path: Path) -> list[Gate]:
    """The sections of a file of floors."""
    try:
        told = tomllib.loads(path.read_text(encoding="utf-8"))
        return [Gate(name, **section) for name, section in told.items()]
    except OSError as error:
        raise InputError(f"cannot read the floors {path}: {error.strerror}") from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError, TypeError) as error:
        raise InputError(f"{path} is no file of floors: {error}") from error


def measure(
    gate: Gate, out: Path, corpora: Path | None = None, *, workers: int = 0, tell: Tell = lambda what, done, total: None
) -> tuple[str, list[Passed]]:
    """The fingerprint of the corpus as it is now, and what each strategy reaches there."""
    source = str(corpora / gate.corpus) if corpora is not None and gate.needs else gate.corpus
    options = {**gate.options}
    if corpora is not None and "labels" in options:
        options["labels"] = str(corpora / options["labels"])
    index = open_corpus(source, out / "corpora", tell, **options)
    wanted = Experiment(name=gate.name, corpus=source, strategies=list(gate.floors), **gate.experiment)
    results = run(wanted, out / gate.name, index=index, workers=workers, tell=tell)
    told = []
    for strategy, floor in gate.floors.items():
        outcomes = results.select(strategy=strategy)
        if not outcomes:
            raise InputError(f"{strategy} could not be run on {gate.name}: {'; '.join(results.remarks) or 'no trial'}")
        got = [harvest_curve(gains(one.trace, results.subjects[one.subject]), wanted.budget)[-1] for one in outcomes]
        told.append(Passed(gate.name, strategy, floor, float(np.mean(got))))
    return index.fingerprint, told


def check_fingerprint(gate: Gate, fingerprint: str) -> None:
    """Floors say nothing of another corpus."""
    if gate.fingerprint != fingerprint:
        raise InputError(
            f"the corpus of {gate.name} has changed: its fingerprint is {fingerprint}, the floors are of "
            f"{gate.fingerprint or 'none yet'}. Pin them anew with --raise, and with --lower where they fall"
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
    return Gate(gate.name, gate.corpus, fingerprint, gate.experiment, floors, gate.needs, gate.options)


def write_gates(path: Path, gates: list[Gate]) -> None:
    """Write the file anew."""
    lines = ["# Floors of harvest: see 'lycosa lab gate --help'. Written by 'lycosa lab gate --raise'.", ""]
    for gate in gates:
        lines += [f"[{gate.name}]", f"corpus = {_toml(gate.corpus)}", f"fingerprint = {_toml(gate.fingerprint)}"]
        lines += [f"needs = {_toml(gate.needs)}"] if gate.needs else []
        for title, table in (("options", gate.options), ("experiment", gate.experiment), ("floors", gate.floors)):
            if table:
                lines += ["", f"[{gate.name}.{title}]", *_rows(table)]
        lines.append("")
    with replacing(path) as file:
        file.write("\n".join(lines).encode())


def _rows(table: Mapping[str, Any]) -> list[str]:
    return [
        f"{_toml(key) if not key.replace('_', '').isalnum() else key} = {_toml(value)}" for key, value in table.items()
    ]


def _toml(value: Any) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, list):
        return f"[{', '.join(_toml(item) for item in value)}]"
    if isinstance(value, str):
        return '"' + value.replace("\\", "\\\\").replace('"', '\\"') + '"'
    return repr(value)
