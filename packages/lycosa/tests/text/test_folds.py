"""Cross-validation folds and softmax."""

from __future__ import annotations

import numpy as np

from lycosa.text.folds import folds, softmax
from tables import each


@each([2, 3, 5])
def test_folds_hold_out_each_row_once(count: int) -> None:
    labels = np.array([0] * 7 + [1] * 5 + [2])
    left: list[int] = []
    for kept, left_out in folds(labels, 4, count):
        assert not set(kept.tolist()) & set(left_out.tolist())
        assert 13 == len(kept) + len(left_out)
        left += left_out.tolist()
    assert list(range(13)) == sorted(left)


def test_folds_are_stratified() -> None:
    labels = np.array([0, 1] * 9)
    assert [3] * 3 == [int((labels[left_out] == 1).sum()) for _, left_out in folds(labels, 0)]


def test_folds_depend_on_seed() -> None:
    labels = np.zeros(50, np.intp)
    first, again, other = ([left.tolist() for _, left in folds(labels, seed)] for seed in (1, 1, 2))
    assert first == again
    assert first != other


def test_softmax_does_not_overflow() -> None:
    assert [[1.0, 0.0], [0.5, 0.5]] == softmax(np.array([[1e6, -1e6], [-1e6, -1e6]])).tolist()
