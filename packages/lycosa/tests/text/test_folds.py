"""Leaving pages out in turn."""

from __future__ import annotations

import numpy as np

from lycosa.text.folds import folds, softmax
from tables import each


@each([2, 3, 5])
def test_every_row_is_left_out_once(count: int) -> None:
    """Over all folds each page is left out exactly once, and never trained on at the same time."""
    labels = np.array([0] * 7 + [1] * 5 + [2])
    left: list[int] = []
    for kept, left_out in folds(labels, 4, count):
        assert not set(kept.tolist()) & set(left_out.tolist())
        assert 13 == len(kept) + len(left_out)
        left += left_out.tolist()
    assert list(range(13)) == sorted(left)


def test_classes_are_dealt_out_evenly() -> None:
    """Nine pages of a class in three folds are three in each."""
    labels = np.array([0, 1] * 9)
    assert [3] * 3 == [int((labels[left_out] == 1).sum()) for _, left_out in folds(labels, 0)]


def test_the_seed_decides() -> None:
    """The same number gives the same folds, another one others."""
    labels = np.zeros(50, np.intp)
    first, again, other = ([left.tolist() for _, left in folds(labels, seed)] for seed in (1, 1, 2))
    assert first == again
    assert first != other


def test_softmax_does_not_overflow() -> None:
    """Scores of any size give probabilities."""
    assert [[1.0, 0.0], [0.5, 0.5]] == softmax(np.array([[1e6, -1e6], [-1e6, -1e6]])).tolist()
