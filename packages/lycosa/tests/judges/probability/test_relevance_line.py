"""The relevance threshold and the regression, compared with values computed by hand."""

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
    upper_cluster_size,
)


def test_prevalence_is_a_fixed_point() -> None:
    odds = np.array([3.0, 2.0, -1.0, -2.5, -3.0, -3.0])
    share = prevalence(odds)
    prior = math.log(share / (1 - share))
    assert float(np.mean(1 / (1 + np.exp(-(odds + prior))))) == pytest.approx(share, abs=1e-6)


def test_threshold_for_count_is_midway_between_scores() -> None:
    assert line_for_count(np.array([1.0, 5.0, 3.0]), 2.2) == 2.0
    assert line_for_count(np.array([1.0, 5.0]), 0) > 5.0
    assert line_for_count(np.array([1.0, 5.0]), 9) < 1.0


def test_threshold_after_one_label() -> None:
    """After a positive label at log odds 0 the derivative of the log posterior is 0: (1 - p) = shift / spread^2."""
    at = line_after_labels(0.0, np.array([0.0]), np.array([1.0]))
    p = 1 / (1 + math.exp(at))  # probability of the labelled page
    assert at < 0
    assert (1 - p) == pytest.approx(-at / 1.5**2, abs=1e-6)


def test_threshold_between_symmetric_labels_is_unchanged() -> None:
    assert line_after_labels(1.0, np.array([3.0, -1.0]), np.array([1.0, 0.0])) == pytest.approx(1.0, abs=1e-9)


def test_upper_cluster_size_is_zero_for_single_cluster() -> None:
    chance = np.random.default_rng(1)
    assert upper_cluster_size(chance.normal(0, 1, 300)) == 0
    assert upper_cluster_size(np.array([1.0, 2.0])) == 0
    assert upper_cluster_size(np.concatenate([chance.normal(0, 1, 300), [-80.0, -70.0, -90.0]])) == 0


@pytest.mark.parametrize("share", [0.1, 0.3, 0.5])
def test_upper_cluster_size_of_two_clusters(share: float) -> None:
    chance = np.random.default_rng(2)
    upper = int(400 * share)
    scores = np.concatenate([chance.normal(-4, 1, 400 - upper), chance.normal(2, 1, upper)])
    assert upper_cluster_size(scores) == pytest.approx(upper, abs=4)
    assert expected_relevant(scores, np.array([2.0, 2.5]), 1.0) == upper_cluster_size(scores)


def test_expected_relevant_is_zero_without_pages() -> None:
    assert expected_relevant(np.zeros(0), np.zeros(0), 0.0) == 0.0


def test_expected_relevant_prior_count_fades() -> None:
    """The result is the geometric mean of n_own and n_usual; n_own counts less with many pages.

    100 pages with equal scores give no information: their prevalence at log odds -2 goes to its minimum, 1e-4, so n_em
    is .01. n_usual is exp(.916 + .164 log 1.01 + .307 log 100) = exp(.916 + .0016 + 1.4138) = 10.29, and with n_own =
    20 the result is sqrt(20.1 * 10.29).
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


def test_leave_one_out_prediction_approximates_refit() -> None:
    chance = np.random.default_rng(3)
    x = np.concatenate([chance.normal(1, 1, (20, 3)), chance.normal(-1, 1, (20, 3))])
    is_yes = np.repeat([1.0, 0.0], 20)
    kernel = x @ x.T + 1.0
    _, alone = fit_regression(kernel, is_yes, np.ones(40), strength=0.1)
    for out in (0, 5, 33):
        others = np.delete(np.arange(40), out)
        a, _ = fit_regression(kernel[np.ix_(others, others)], is_yes[others], np.ones(39), strength=0.1)
        assert alone[out] == pytest.approx(float(kernel[out, others] @ a), abs=0.15)
