"""What two sequences have in common: always right, shortest where they are short, and quick where they are long."""

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
    """Whether places hold equal elements, ascending on both sides."""
    ascending = all(x[0] < y[0] and x[1] < y[1] for x, y in pairwise(places))
    return ascending and all(a[i] == b[j] for i, j in places)


def longest(a: list[int], b: list[int]) -> int:
    """The length of a longest common subsequence, by the table of the textbook."""
    row = [0] * (len(b) + 1)
    for x in a:
        before, row = row, [0]
        for j, y in enumerate(b):
            row.append(before[j] + 1 if x == y else max(before[j + 1], row[j]))
    return row[-1]


@given(SHORT, SHORT)
def test_short_sequences_are_aligned_exactly(a: list[int], b: list[int]) -> None:
    """They have as much in common as the textbook's table says."""
    places = align(a, b)
    assert is_alignment(a, b, places)
    assert longest(a, b) == len(places)


@pytest.fixture
def small_bounds(monkeypatch: pytest.MonkeyPatch) -> None:
    """Bounds that make small sequences take the way of long ones."""
    monkeypatch.setattr(aligned_rows, "EXACT", 4)


@pytest.mark.usefixtures("small_bounds")
@pytest.mark.parametrize("letters", [1, 2, 3, 20, 1000])
def test_the_long_way_is_right_whatever_it_meets(letters: int) -> None:
    """Pieces never align what is not equal, nor out of order."""
    chance = random.Random(letters)
    for _ in range(300):
        a = chance.choices(range(letters), k=chance.randrange(60))
        b = list(a)
        for _ in range(chance.randrange(8)):
            at = chance.randrange(len(b) + 1)
            b[at : at + chance.randrange(6)] = chance.choices(range(letters), k=chance.randrange(6))
        assert is_alignment(a, b, align(a, b))


def texts() -> list[tuple[list[int], list[int]]]:
    """Texts of 300 words with frequencies like a language's, and edits of them."""
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


def test_it_is_never_longer_than_difflib() -> None:
    """Words kept, of texts with 0 to 39 edits: at least as many each time, and more where there are many edits."""
    ours, theirs = [], []
    for a, b in texts():
        ours.append(len(align(a, b)))
        blocks = difflib.SequenceMatcher(None, a, b, autojunk=False).get_matching_blocks()
        theirs.append(sum(block.size for block in blocks))
    assert all(x >= y for x, y in zip(ours, theirs, strict=True))
    assert sum(ours) > sum(theirs)


@pytest.mark.parametrize("letters", [1, 2, 30, 30_000])
def test_work_grows_with_the_length_not_with_its_square(letters: int) -> None:
    """Four times the length takes below eight times the work, where a table would take 16 times.

    Already the shorter pair is past the bound of the exact way.
    """
    chance = random.Random(1)

    def pair(length: int) -> tuple[list[int], list[int]]:
        a = chance.choices(range(letters), k=length)
        return a, [*chance.choices(range(letters), k=length // 2), *a[length // 2 :], letters]

    short, long = pair(12_000), pair(48_000)
    assert len(short[0]) * len(short[1]) > aligned_rows.EXACT
    assert lines(lambda: align(*long)) < 8 * lines(lambda: align(*short))


def test_it_takes_a_twentieth_of_difflibs_work_where_words_repeat() -> None:
    """Two sequences of 500 elements, two kinds of them: difflib looks at every pair again and again."""
    chance = random.Random(2)
    a, b = chance.choices([0, 1], k=500), chance.choices([0, 1], k=500)
    theirs = lines(difflib.SequenceMatcher(None, a, b, autojunk=False).get_matching_blocks)
    assert 20 * lines(lambda: align(a, b)) < theirs


@settings(max_examples=50)
@given(st.lists(st.integers(0, 3), max_size=200), st.lists(st.integers(0, 3), max_size=200))
def test_any_two_sequences_go_the_long_way_safely(a: list[int], b: list[int]) -> None:
    """The same for whatever hypothesis thinks of."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(aligned_rows, "EXACT", 16)
        if a and b:
            assert is_alignment(a, b, align(a, b))
