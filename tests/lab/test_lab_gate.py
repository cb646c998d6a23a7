"""Floors of harvest: pinned, held, raised, and never lowered by accident."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from commands import run
from lycosa.core.errors import InputError
from lycosa.lab.leaderboard import SLACK, Gate, Passed, Sources, check_fingerprint, pinned, read_gates, write_gates

ROOT = Path(__file__).resolve().parents[2]
FLOORS = ROOT / "benchmarks" / "floors.toml"

SMALL = """
[small]
corpus = "embedded:pages=300,hosts=8,seed=3"
fingerprint = ""

[small.experiment]
subjects = ["marine biology/coral reefs"]
seeds = "off-topic"
hops = 1
seed_count = 2
seed_sets = 1
budgets = [20]

[small.floors]
best-first = 0.0
breadth-first = 0.0
"""


def _gate(**floors: float) -> Gate:
    return Gate("here", "embedded:pages=9", "f", {"budgets": [10]}, floors)


def test_pinning_raises_a_floor_to_what_was_reached() -> None:
    """A floor is what was measured less a little slack, in thousandths: .5 * .95 = .475."""
    new = pinned(_gate(a=0.3), "f", [Passed("here", "a", 0.3, 0.5)], lower=False)
    assert {"a": 0.475} == new.floors
    assert 0.05 == SLACK


def test_pinning_keeps_a_floor_that_was_only_just_reached() -> None:
    """Where the floor holds and what was measured less slack is lower, the floor stays."""
    new = pinned(_gate(a=0.495), "f", [Passed("here", "a", 0.495, 0.5)], lower=False)
    assert {"a": 0.495} == new.floors


def test_a_floor_is_lowered_only_with_the_flag() -> None:
    """A fallen strategy is an error without --lower, and a lower floor with it."""
    fallen = [Passed("here", "a", 0.5, 0.4)]
    with pytest.raises(InputError, match="to lower a floor say --lower"):
        pinned(_gate(a=0.5), "f", fallen, lower=False)
    assert {"a": 0.38} == pinned(_gate(a=0.5), "f", fallen, lower=True).floors


def test_floors_of_another_corpus_say_nothing() -> None:
    """A changed fingerprint is an error that says what to do."""
    check_fingerprint(_gate(a=0.1), "f")
    with pytest.raises(InputError, match="has changed: its fingerprint is g"):
        check_fingerprint(_gate(a=0.1), "g")


def test_a_file_of_floors_is_written_as_it_is_read(tmp_path: Path) -> None:
    """What is written can be read again, quotes and all."""
    gate = Gate(
        "x",
        'a"b\\c',
        "f",
        {"subjects": ["s t"], "budgets": [1, 2]},
        {"fl_n": 0.25, "a-b,c=1": 0.5},
        "n",
        Sources("l"),
    )
    write_gates(tmp_path / "floors.toml", [gate])
    assert [gate] == read_gates(tmp_path / "floors.toml")


def test_what_is_no_file_of_floors_is_an_error(tmp_path: Path) -> None:
    """Other TOML, and no file at all, are told apart."""
    (tmp_path / "a.toml").write_text("[a]\ncolour = 'red'\n")
    with pytest.raises(InputError, match="is not a file of floors"):
        read_gates(tmp_path / "a.toml")
    with pytest.raises(InputError, match="cannot read the floors"):
        read_gates(tmp_path / "b.toml")


def test_the_command_pins_passes_and_fails(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """First --raise, then a pass; a floor that nobody reaches gives exit code 1 and a line that says FELL."""
    file, common = tmp_path / "floors.toml", ["--out", str(tmp_path / "runs"), "--workers", "1", "--quiet"]
    file.write_text(SMALL)
    assert 0 == run(monkeypatch, "lab", "gate", str(file), "--raise", *common)
    assert 0 == run(monkeypatch, "lab", "gate", str(file), *common)
    assert "ok   small: best-first" in capsys.readouterr().out
    high = [replace(gate, floors=dict.fromkeys(gate.floors, 1.0)) for gate in read_gates(file)]
    write_gates(file, high)
    assert 1 == run(monkeypatch, "lab", "gate", str(file), *common)
    assert "FELL small: best-first" in capsys.readouterr().out


def test_no_main_strategy_falls_below_its_floor_on_the_embedded_web(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The gate of CI: strategies find on the embedded web what they found when the floors were pinned.
    `make gate` measures every other corpus that has floors, recorded pages among them.
    """
    how = ["--only", "embedded", "--out", str(tmp_path), "--workers", "1", "--quiet"]
    assert 0 == run(monkeypatch, "lab", "gate", str(FLOORS), *how), capsys.readouterr()
