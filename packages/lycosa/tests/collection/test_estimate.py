"""Tests of the estimated number of relevant pages."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lycosa.collection.estimate import by_uncertainty, estimate, read_widths

WIDTHS = math.log(4.0), math.log(2.0)


def test_estimate_interval_by_hand() -> None:
    """50 / 4 = 12.5 and 50 * 2; without a model update 50 exp(-2) = 6.8 and 50 exp(1.2) = 166."""
    column = np.array([0.9] * 50 + [0.2] * 150)
    result = estimate(column, 0.5, 210, probability=True, widths=WIDTHS)
    assert (50, 12, 100) == (result.relevant, result.low, result.high)
    assert "about 50 of 210 pages relevant (12-100)" == result.description
    assert result.is_wide
    untrained = estimate(column, 0.5, 210, probability=True)
    assert (7, 166) == (untrained.low, untrained.high)


def test_estimate_does_not_depend_on_threshold() -> None:
    column = np.array([0.9] * 50 + [0.2] * 150)
    results = [estimate(column, threshold, 200, probability=True, widths=WIDTHS) for threshold in (0.0, 0.5, 0.95)]
    assert [200, 50, 0] == [result.relevant for result in results]
    assert 1 == len({(result.expected, result.low, result.high) for result in results})
    assert results[2].description == "about 50 of 200 pages relevant (12-100), 0 at the threshold"


def test_estimate_named_pages_bound_interval() -> None:
    """30 labels yes: low 40 / 4^(1 / 8.5) = 34, high 40 * 2^(1 / 2.2) = 54.8; then 40 labels yes and no others."""
    column = np.array([1.0] * 30 + [0.6] * 10 + [0.0] * 160)
    result = estimate(column, 0.5, 200, probability=True, widths=WIDTHS)
    assert (34, 55, False) == (result.low, result.high, result.is_wide)
    column[30:40] = 1.0
    assert 40 == estimate(column, 0.5, 200, probability=True, widths=WIDTHS).low


@pytest.mark.parametrize("stored", [None, "ab", [1.0], [1.0, "x"], {"a": 1, "b": 2}])
def test_read_widths_ignores_damaged_values(stored: object) -> None:
    assert (0.0, 0.0) == read_widths(stored)


def test_estimate_with_huge_widths_stays_within_pages() -> None:
    result = estimate(np.full(30, 0.6), 0.5, 30, probability=True, widths=(1e9, float("inf")))
    assert (0, 30) == (result.low, result.high)


def test_estimate_without_probabilities_is_exact() -> None:
    result = estimate(np.array([0.3, 0.2, 0.05]), 0.1, 4, probability=False)
    assert (2, 2, 2, "2 of 4 pages relevant") == (result.relevant, result.low, result.high, result.description)


def test_estimate_of_no_pages_is_0() -> None:
    assert "0 of 0 pages relevant" == estimate(np.zeros(0), 0.5, 0, probability=True).description


@given(st.lists(st.floats(0, 1), max_size=50), st.floats(0, 1))
def test_estimate_interval_contains_count(chances: list[float], line: float) -> None:
    result = estimate(np.array(chances), line, len(chances), probability=True)
    assert 0 <= result.low <= result.expected <= result.high <= len(chances)


@pytest.mark.parametrize(("probability", "first"), [(True, [2, 1, 0]), (False, [0, 1, 2])])
def test_by_uncertainty_starts_near_threshold(probability: bool, first: list[int]) -> None:
    assert first == by_uncertainty([0.1, 0.3, 0.45, 0.0], 0.15, probability).tolist()
