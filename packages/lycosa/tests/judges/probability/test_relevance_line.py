"""The relevance threshold and the regression, compared with values computed by hand."""

import math

import numpy as np
import pytest

from lycosa.judges.probability.relevance_line import (
    count_widths,
    expected_relevant,
    fit_regression,
    line_after_labels,
    line_for_count,
    sigmoid,
    steady_line,
    upper_cluster_size,
)


def test_threshold_for_count_is_midway_between_scores() -> None:
    assert line_for_count(np.array([1.0, 5.0, 3.0]), 2.2) == 2.0
    assert line_for_count(np.array([1.0, 5.0]), 0) > 5.0
    assert line_for_count(np.array([1.0, 5.0]), 9) < 1.0


def test_threshold_after_one_label_moves_little() -> None:
    """After a label yes at log odds 0, (1 - p) = shift / spread^2, where the spread is 1.5 / 6 for one kind."""
    at = line_after_labels(0.0, np.array([0.0]), np.array([1.0]))
    p = 1 / (1 + math.exp(at))  # probability of the labelled page
    assert -0.04 < at < 0
    assert (1 - p) == pytest.approx(-at / 0.25**2, abs=1e-6)


def test_threshold_after_labels_of_both_kinds_moves_by_full_spread() -> None:
    """Six labels yes and five no at log odds 0: 11 p - 6 = (line - start) / 1.5^2."""
    at = line_after_labels(0.0, np.zeros(11), np.array([1.0] * 6 + [0.0] * 5))
    p = 1 / (1 + math.exp(at))
    assert 11 * p - 6 == pytest.approx(at / 1.5**2, abs=1e-6)


def test_threshold_between_symmetric_labels_is_unchanged() -> None:
    assert line_after_labels(1.0, np.array([3.0, -1.0]), np.array([1.0, 0.0])) == pytest.approx(1.0, abs=1e-9)


def test_expected_relevant_by_hand() -> None:
    """Equal scores have no trend: .84 + .32 log 100 + .175 log 20.3 - 6 / 105 = .84 + 1.4737 + .5269 - .0571 = 2.7834.

    Two known pages with 0 and 100 pages above them, and half of the words in their titles: .19 (0 + log 101) / 2
    + .6 / 2 - .84 = .4384 + .3 - .84 = -.1016.
    """
    no, known = np.zeros(0), np.array([1.0, -1.0])
    assert expected_relevant(np.zeros(100), 20.0, no, 0.0) == pytest.approx(math.exp(2.7834), rel=1e-3)
    assert expected_relevant(np.zeros(100), 20.0, known, 0.5) == pytest.approx(math.exp(2.6818), rel=1e-3)


def test_expected_relevant_falls_along_crawl() -> None:
    falling = np.linspace(1.0, -1.0, 50)
    assert expected_relevant(falling, 5.0, np.zeros(0), 0.0) > expected_relevant(falling[::-1], 5.0, np.zeros(0), 0.0)


def test_expected_relevant_is_at_most_nine_tenths() -> None:
    assert expected_relevant(np.zeros(0), 0.0, np.zeros(0), 0.0) == 0.0
    assert expected_relevant(np.array([2.0, 1.0]), 2.0, np.zeros(0), 0.0) <= 1.8


def test_count_widths_by_hand() -> None:
    """100 pages: .8 + 60 / 100; for a known page with 99 above it log 100 - 3.9 = .705, times 3 and .9, more."""
    scores, worst = np.arange(1.0, 101.0), np.array([1.5])
    assert count_widths(100, scores, np.array([100.0])) == pytest.approx((1.4, 1.36))
    assert count_widths(100, scores, worst) == pytest.approx((1.4 + 3 * 0.7052, 1.36 + 0.9 * 0.7052), abs=1e-3)
    assert count_widths(100, scores, np.zeros(0)) == pytest.approx((2.0, 1.56))


def test_upper_cluster_size_is_zero_for_single_cluster() -> None:
    chance = np.random.default_rng(1)
    assert upper_cluster_size(chance.normal(0, 1, 300)) == 0
    assert upper_cluster_size(np.array([1.0, 2.0])) == 0
    assert upper_cluster_size(np.concatenate([chance.normal(0, 1, 300), [-80.0, -70.0, -90.0]])) == 0


@pytest.mark.parametrize("share", [0.1, 0.3, 0.5])
def test_upper_cluster_size_of_two_clusters(share: float) -> None:
    chance = np.random.default_rng(2)
    upper = int(400 * share)
    scores = np.concatenate([chance.normal(2, 1, upper), chance.normal(-4, 1, 400 - upper)])
    assert upper_cluster_size(scores) == pytest.approx(upper, abs=4)
    assert expected_relevant(scores, 10.0, np.zeros(0), 0.0) == pytest.approx(upper, rel=0.4)


def test_steady_line_without_earlier_update_is_unchanged() -> None:
    assert steady_line(3.0, np.zeros(0), 5.0) == 3.0
    assert steady_line(3.0, np.arange(9.0), 0.0) == 3.0


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
