"""The line and the regression, against numbers calculated by hand."""

import math

import numpy as np
import pytest

from lycosa.judges.probability.relevance_line import (
    expected_relevant,
    fit_regression,
    line_after_labels,
    line_for_count,
    prevalence,
    sigmoid,
    upper_heap,
)


def test_prevalence_is_a_fixed_point() -> None:
    odds = np.array([3.0, 2.0, -1.0, -2.5, -3.0, -3.0])
    share = prevalence(odds)
    prior = math.log(share / (1 - share))
    assert float(np.mean(1 / (1 + np.exp(-(odds + prior))))) == pytest.approx(share, abs=1e-6)


def test_line_for_count_midway() -> None:
    assert line_for_count(np.array([1.0, 5.0, 3.0]), 2.2) == 2.0
    assert line_for_count(np.array([1.0, 5.0]), 0) > 5.0
    assert line_for_count(np.array([1.0, 5.0]), 9) < 1.0


def test_line_after_one_label() -> None:
    """A yes at distance 0: the derivative of the log posterior is 0 where (1 - p) = shift / spread^2."""
    at = line_after_labels(0.0, np.array([0.0]), np.array([1.0]))
    p = 1 / (1 + math.exp(at))  # of the page at 0
    assert at < 0
    assert (1 - p) == pytest.approx(-at / 1.5**2, abs=1e-6)


def test_line_after_labels_on_both_sides() -> None:
    assert line_after_labels(1.0, np.array([3.0, -1.0]), np.array([1.0, 0.0])) == pytest.approx(1.0, abs=1e-9)


def test_upper_heap_of_one_heap() -> None:
    chance = np.random.default_rng(1)
    assert upper_heap(chance.normal(0, 1, 300)) == 0
    assert upper_heap(np.array([1.0, 2.0])) == 0
    assert upper_heap(np.concatenate([chance.normal(0, 1, 300), [-80.0, -70.0, -90.0]])) == 0


@pytest.mark.parametrize("share", [0.1, 0.3, 0.5])
def test_upper_heap_of_two(share: float) -> None:
    chance = np.random.default_rng(2)
    upper = int(400 * share)
    scores = np.concatenate([chance.normal(-4, 1, 400 - upper), chance.normal(2, 1, upper)])
    assert upper_heap(scores) == pytest.approx(upper, abs=4)
    assert expected_relevant(scores, np.array([2.0, 2.5]), 1.0) == upper_heap(scores)


def test_expected_relevant_without_pages() -> None:
    assert expected_relevant(np.zeros(0), np.zeros(0), 0.0) == 0.0


def test_expected_relevant_own_count_fades() -> None:
    """100 pages: n_own and n_usual count the same; equal scores are no evidence.

    Their prevalence at log odds of -2 (the middle lies 2 above them) goes to its minimum, 1e-4: n_em is .01. So n_usual
    is exp(.916 + .164 log 1.01 + .307 log 100) = exp(.916 + .0016 + 1.4138) = 10.29. With n_own = 20: sqrt(20.1 *
    10.29).
    """
    assert expected_relevant(np.zeros(100), np.zeros(0), 20.0) == pytest.approx(14.38, abs=0.02)
    assert expected_relevant(np.zeros(2000), np.zeros(0), 500.0) == expected_relevant(np.zeros(2000), np.zeros(0), 0.0)
    assert expected_relevant(np.zeros(1500), np.zeros(0), 500.0) > expected_relevant(np.zeros(1500), np.zeros(0), 0.0)


def test_fit_regression_solves_its_equations() -> None:
    x = np.array([[1.0, 0.2], [0.8, -0.1], [-1.0, 0.3], [-0.5, 0.1], [0.1, 0.9]])
    kernel, is_yes, weights = x @ x.T + 0.5, np.array([1.0, 1, 0, 0, 0]), np.array([1.0, 2, 1, 1, 0.5])
    a, _ = fit_regression(kernel, is_yes, weights, strength=2.0)
    p = sigmoid(kernel @ a)
    assert a == pytest.approx(2.0 * weights * (is_yes - p), abs=1e-3)


def test_fit_regression_left_out() -> None:
    chance = np.random.default_rng(3)
    x = np.concatenate([chance.normal(1, 1, (20, 3)), chance.normal(-1, 1, (20, 3))])
    is_yes = np.repeat([1.0, 0.0], 20)
    kernel = x @ x.T + 1.0
    _, alone = fit_regression(kernel, is_yes, np.ones(40), strength=0.1)
    for out in (0, 5, 33):
        others = np.delete(np.arange(40), out)
        a, _ = fit_regression(kernel[np.ix_(others, others)], is_yes[others], np.ones(39), strength=0.1)
        assert alone[out] == pytest.approx(float(kernel[out, others] @ a), abs=0.15)
