"""A short run of every fuzz target, the inputs that once broke one, and the harness itself."""

from __future__ import annotations

from pathlib import Path
from random import Random

import pytest

from fuzz.harness import CASES, Target, cases, fuzz, keep, minimised, tried
from fuzz.mutating import LARGEST, mutated
from fuzz.targets import TARGETS

SEED = 19
"""The same inputs in every run: a new one that breaks something is found by `make fuzz`, not by chance in CI."""


@pytest.mark.parametrize("name", TARGETS)
def test_inputs(name: str) -> None:
    """Some mutated inputs keep every promise of the target, within the work that their size allows."""
    target = TARGETS[name]
    found = fuzz(target, SEED, lambda found: found.rounds < target.rounds)
    assert {} == {kind: (data, told) for kind, (data, told) in found.failures.items()}
    assert len(found.lines) > 5, "nothing of ours was reached: a target that can't fail"


@pytest.mark.parametrize("name", TARGETS)
def test_cases(name: str) -> None:
    """What once broke something does not any more."""
    for file in cases(TARGETS[name]):
        failure, _ = tried(TARGETS[name], file.read_bytes())
        assert failure is None, f"{file}: {failure}"


def test_no_case_without_a_target() -> None:
    """Nor is one left behind when a target gets another name."""
    assert {path.name for path in CASES.iterdir() if path.is_dir()} <= set(TARGETS)


def test_a_failure_is_found_and_made_small(tmp_path: Path) -> None:
    """The harness sees what breaks, keeps the smallest input, and writes it to a file that can be run again."""

    def check(data: bytes) -> None:
        assert b"q" not in data

    target = Target("breaks", check, lambda: [b"abcdefghijklmnop" * 10], [b"q"])
    found = fuzz(target, 1, lambda found: found.rounds < 300)
    assert ["AssertionError in test_fuzz.py:check"] == list(found.failures)
    data, _ = found.failures["AssertionError in test_fuzz.py:check"]
    assert b"q" == data
    file = keep(target, data, tmp_path)
    assert data == file.read_bytes()
    failure, _ = tried(target, file.read_bytes())
    assert failure is not None
    assert b"q" == minimised(target, b"x" * 500 + b"q" + b"y" * 500, failure.kind)


def test_work_is_counted_in_lines() -> None:
    """A reader whose work grows with the square of its input is noticed, whatever the machine."""
    from lycosa.web.dates import http_time

    def squared(data: bytes) -> None:
        for _ in range(len(data) ** 2 // 50):
            http_time("")

    failure, counting = tried(Target("squared", squared, lambda: [b""], lines=100, lines_a_byte=10), b"x" * 300)
    assert failure is not None
    assert "work" == failure.kind
    assert counting.count > 3_000


def test_mutations_are_the_seeds() -> None:
    """The same seed, the same inputs; none is too large, and they are many different ones."""
    made = [
        [mutated(b"<p>one two 3", [b"<table>"], [b"&amp;"], chance) for _ in range(200)]
        for chance in map(Random, (1, 1))
    ]
    assert made[0] == made[1]
    assert max(map(len, made[0])) <= LARGEST
    assert len(set(made[0])) > 150
