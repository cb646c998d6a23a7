"""hold_out and measure: split of pages, and scores compared with values computed by hand."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lycosa.training.evaluation import hold_out, measure


@pytest.mark.paper("otie-training")
@given(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 12)), min_size=1, max_size=60), st.integers(0, 5))
def test_hold_out_keeps_copies_together(pages: list[tuple[int, int]], seed: int) -> None:
    labels, groups = (np.array(column) for column in zip(*pages, strict=True))
    kept, held = hold_out(labels, groups, 0.3, seed)
    assert list(range(len(pages))) == sorted([*kept.tolist(), *held.tolist()])
    assert not set(groups[kept].tolist()) & set(groups[held].tolist())
    assert set(labels.tolist()) == set(labels[kept].tolist())


def test_hold_out_takes_share_of_each_class() -> None:
    """The share is a fifth, at least one page: 10 of 50, 2 of 10, 1 of 3."""
    labels = np.array([0] * 50 + [1] * 10 + [2] * 3)
    _, held = hold_out(labels, np.arange(63), 0.2, seed=1)
    assert [10, 2, 1] == np.bincount(labels[held]).tolist()


def test_hold_out_depends_on_seed() -> None:
    labels, groups = np.zeros(100, np.intp), np.arange(100)
    first, again, other = (hold_out(labels, groups, 0.2, seed)[1].tolist() for seed in (1, 1, 2))
    assert first == again
    assert first != other


# Predicted and true classes: Art Art, Art Sea, Sea Sea, Sea Sea, Rail Sea.
PROBABILITIES = np.array([[0.8, 0.1, 0.1], [0.1, 0.1, 0.8], [0.2, 0.2, 0.6], [0.1, 0.1, 0.8], [0.2, 0.2, 0.6]])
TRUTH = np.array([0, 0, 2, 2, 1])


def test_measure_by_hand() -> None:
    found = measure(PROBABILITIES, TRUTH, ["Art", "Rail", "Sea"], [10, 5, 10])
    assert (5, 0.6, 0.4) == (found.pages, found.accuracy, found.majority)
    art, rail, sea = found.classes
    assert {
        "name": "Art",
        "pages": 10,
        "held_out": 2,
        "precision": 1.0,
        "recall": 0.5,
        "f1": pytest.approx(2 / 3),
    } == art
    assert (None, 0.0, 0.0) == (rail["precision"], rail["recall"], rail["f1"])
    assert (0.5, 1.0, pytest.approx(2 / 3)) == (sea["precision"], sea["recall"], sea["f1"])
    assert [("Art", "Sea", 1), ("Rail", "Sea", 1)] == found.confusions
    assert found.log_loss == pytest.approx(-np.log([0.8, 0.1, 0.6, 0.8, 0.2]).mean())


def test_measure_calibration_by_hand() -> None:
    """The error is the mean of |share right - probability| over bins: .8 - 2/3 for three pages, .6 - .5 for two."""
    found = measure(PROBABILITIES, TRUTH, ["Art", "Rail", "Sea"], [10, 5, 10])
    assert found.gap == pytest.approx(3 / 5 * (0.8 - 2 / 3) + 2 / 5 * (0.6 - 0.5))


def test_measure_lists_ten_confusions() -> None:
    probabilities = np.roll(np.eye(12), 1, axis=1)
    found = measure(probabilities, np.arange(12), [f"c{n:02}" for n in range(12)], [3] * 12)
    assert (10, 0.0) == (len(found.confusions), found.accuracy)
