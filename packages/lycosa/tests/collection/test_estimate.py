"""Tests of the estimated number of relevant pages."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lycosa.collection.estimate import by_uncertainty, estimate


def test_estimate_interval_by_hand() -> None:
    """The margin is 1.64 sqrt(sum of p (1 - p)): 100 pages of .9 and 100 of .2 give 110 +- 1.64 sqrt(9 + 16) = 8.2."""
    result = estimate(np.array([0.9] * 100 + [0.2] * 100), 0.5, 210, probability=True)
    assert (100, 91, 119) == (result.relevant, result.low, result.high)
    assert "about 100 of 210 pages relevant (91-119)" == result.description


def test_estimate_without_probabilities_is_exact() -> None:
    result = estimate(np.array([0.3, 0.2, 0.05]), 0.1, 4, probability=False)
    assert (2, 2, 2, "2 of 4 pages relevant") == (result.relevant, result.low, result.high, result.description)


def test_estimate_of_no_pages_is_0() -> None:
    assert "0 of 0 pages relevant" == estimate(np.zeros(0), 0.5, 0, probability=True).description


@given(st.lists(st.floats(0, 1), max_size=50), st.floats(0, 1))
def test_estimate_interval_contains_count(chances: list[float], line: float) -> None:
    result = estimate(np.array(chances), line, len(chances), probability=True)
    assert 0 <= result.low <= result.relevant <= result.high <= len(chances)


@pytest.mark.parametrize(("probability", "first"), [(True, [2, 1, 0]), (False, [0, 1, 2])])
def test_by_uncertainty_starts_near_threshold(probability: bool, first: list[int]) -> None:
    assert first == by_uncertainty([0.1, 0.3, 0.45, 0.0], 0.15, probability).tolist()
