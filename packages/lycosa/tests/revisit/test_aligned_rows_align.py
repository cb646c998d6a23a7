"""Alignment: always valid, optimal for short sequences, fast for long ones."""

from __future__ import annotations

import difflib
import random
from collections.abc import Sequence
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lycosa.revisit.diff import aligned_rows
from lycosa.revisit.diff.aligned_rows import align
from work import lines

SHORT = st.lists(st.integers(0, 4), max_size=14)


def is_alignment(a: Sequence[int], b: Sequence[int], places: list[tuple[int, int]]) -> bool:
    """Return whether the pairs of positions hold equal elements and ascend on both sides."""
    ascending = all(x[0] < y[0] and x[1] < y[1] for x, y in pairwise(places))
    return ascending and all(a[i] == b[j] for i, j in places)


def longest(a: list[int], b: list[int]) -> int:
    """Return the length of a longest common subsequence by the textbook algorithm."""
    row = [0] * (len(b) + 1)
    for x in a:
        before, row = row, [0]
        for j, y in enumerate(b):
            row.append(before[j] + 1 if x == y else max(before[j + 1], row[j]))
    return row[-1]


@given(SHORT, SHORT)
def test_align_short_sequences_is_optimal(a: list[int], b: list[int]) -> None:
    places = align(a, b)
    assert is_alignment(a, b, places)
    assert longest(a, b) == len(places)


@pytest.fixture
def small_bounds(monkeypatch: pytest.MonkeyPatch) -> None:
    """Use the algorithm for long sequences for short ones, too."""
    monkeypatch.setattr(aligned_rows, "EXACT", 4)


@pytest.mark.usefixtures("small_bounds")
@pytest.mark.parametrize("letters", [1, 2, 3, 20, 1000])
def test_align_long_sequences_is_valid(letters: int) -> None:
    chance = random.Random(letters)
    for _ in range(300):
        a = chance.choices(range(letters), k=chance.randrange(60))
        b = list(a)
        for _ in range(chance.randrange(8)):
            at = chance.randrange(len(b) + 1)
            b[at : at + chance.randrange(6)] = chance.choices(range(letters), k=chance.randrange(6))
        assert is_alignment(a, b, align(a, b))


def texts() -> list[tuple[list[int], list[int]]]:
    """Return texts of 300 words with natural word frequencies, and edited copies of them."""
    chance = random.Random(8)
    words = range(400)
    weights = [1 / (1 + word) for word in words]
    pairs = []
    for edits in range(40):
        a = chance.choices(words, weights, k=300)
        b = list(a)
        for _ in range(edits):
            at = chance.randrange(len(b))
            b[at : at + chance.randrange(4)] = chance.choices(words, weights, k=chance.randrange(4))
        pairs.append((a, b))
    return pairs


def test_align_keeps_at_least_as_much_as_difflib() -> None:
    ours, theirs = [], []
    for a, b in texts():
        ours.append(len(align(a, b)))
        blocks = difflib.SequenceMatcher(None, a, b, autojunk=False).get_matching_blocks()
        theirs.append(sum(block.size for block in blocks))
    assert all(x >= y for x, y in zip(ours, theirs, strict=True))
    assert sum(ours) > sum(theirs)


@pytest.mark.parametrize("letters", [1, 2, 30, 30_000])
def test_align_work_is_subquadratic(letters: int) -> None:
    """Four times the length takes less than eight times the work; a full table would take 16 times."""
    chance = random.Random(1)

    def pair(length: int) -> tuple[list[int], list[int]]:
        a = chance.choices(range(letters), k=length)
        return a, [*chance.choices(range(letters), k=length // 2), *a[length // 2 :], letters]

    short, long = pair(12_000), pair(48_000)
    assert len(short[0]) * len(short[1]) > aligned_rows.EXACT
    assert lines(lambda: align(*long)) < 8 * lines(lambda: align(*short))


def test_align_takes_a_twentieth_of_difflibs_work() -> None:
    chance = random.Random(2)
    a, b = chance.choices([0, 1], k=500), chance.choices([0, 1], k=500)
    theirs = lines(difflib.SequenceMatcher(None, a, b, autojunk=False).get_matching_blocks)
    assert 20 * lines(lambda: align(a, b)) < theirs


@settings(max_examples=50)
@given(st.lists(st.integers(0, 3), max_size=200), st.lists(st.integers(0, 3), max_size=200))
def test_align_long_sequences_is_valid_for_arbitrary_input(a: list[int], b: list[int]) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(aligned_rows, "EXACT", 16)
        if a and b:
            assert is_alignment(a, b, align(a, b))
