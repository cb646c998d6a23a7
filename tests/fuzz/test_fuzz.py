"""A short run of every fuzz target, the inputs of earlier failures, and tests of the harness."""

from __future__ import annotations

from pathlib import Path
from random import Random

import pytest

from fuzz.harness import CASES, Target, cases, fuzz, keep, minimised, tried
from fuzz.mutating import LARGEST, mutated
from fuzz.targets import TARGETS

SEED = 19
"""Fixed seed, so that new failures are found by `make fuzz`, and not at random in CI."""


@pytest.mark.parametrize("name", TARGETS)
def test_targets_accept_mutated_inputs(name: str) -> None:
    target = TARGETS[name]
    found = fuzz(target, SEED, lambda found: found.rounds < target.rounds)
    assert {} == {kind: (data, told) for kind, (data, told) in found.failures.items()}
    assert len(found.lines) > 5, "nothing of ours was reached: a target that can't fail"


@pytest.mark.parametrize("name", TARGETS)
def test_earlier_failures_stay_fixed(name: str) -> None:
    for file in cases(TARGETS[name]):
        failure, _ = tried(TARGETS[name], file.read_bytes())
        assert failure is None, f"{file}: {failure}"


def test_cases_have_targets() -> None:
    assert {path.name for path in CASES.iterdir() if path.is_dir()} <= set(TARGETS)


def test_fuzz_finds_and_minimises_failures(tmp_path: Path) -> None:
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


def test_fuzz_detects_quadratic_work() -> None:
    from lycosa.web.dates import parse_http_date

    def squared(data: bytes) -> None:
        for _ in range(len(data) ** 2 // 50):
            parse_http_date("")

    failure, counting = tried(Target("squared", squared, lambda: [b""], lines=100, lines_a_byte=10), b"x" * 300)
    assert failure is not None
    assert "work" == failure.kind
    assert counting.count > 3_000


def test_mutated_is_seeded_and_bounded() -> None:
    made = [
        [mutated(b"<p>one two 3", [b"<table>"], [b"&amp;"], chance) for _ in range(200)]
        for chance in map(Random, (1, 1))
    ]
    assert made[0] == made[1]
    assert max(map(len, made[0])) <= LARGEST
    assert len(set(made[0])) > 150
