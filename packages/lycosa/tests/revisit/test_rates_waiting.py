"""The gain of revisits, and when they are due."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from lycosa.revisit.rates import claim, waiting


def gain(r: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the gain for a known rate in units of w/lambda; r is rate times time."""
    return np.asarray(1 - (1 + r) * np.exp(-r))


def test_claim_of_certain_rate_equals_formula() -> None:
    tau, one = np.array([0.01, 0.5, 1.0, 8.0]), np.ones(4)
    expected = 3 / 2 * gain(2 * tau)
    assert expected == pytest.approx(claim(tau, 3 * one, 2 * one, 1e8 * one), rel=1e-5)


def test_claim_of_uncertain_rate_by_hand() -> None:
    """Shape 2 and mean 1 give theta 2: I(2) = 2 (1 - 1/2) = 1, 2 S(2) = 2/4, claim 1/2; shape 1: log(2) - 1/2."""
    assert 0.5 == pytest.approx(claim(np.array([2.0]), np.ones(1), np.ones(1), np.array([2.0]))[0])
    assert math.log(2) - 0.5 == pytest.approx(claim(np.ones(1), np.ones(1), np.ones(1), np.ones(1))[0])


def test_claim_is_mean_over_posterior() -> None:
    """The expected value is the mean over 200,000 rates drawn from the posterior."""
    rates = np.random.default_rng(2).gamma(1.5, 0.4 / 1.5, 200_000)
    mean = float((gain(3 * rates) / rates).mean())
    assert mean == pytest.approx(claim(np.array([3.0]), np.ones(1), np.array([0.4]), np.array([1.5]))[0], rel=0.01)


@given(st.floats(1e-4, 1e4), st.floats(0.01, 1), st.floats(1e-9, 1), st.floats(0.1, 60), st.floats(10, 1e7))
@settings(max_examples=50, deadline=None)
def test_waiting_ends_when_claim_reaches_price(
    price: float, weight: float, rate: float, shape: float, start: float
) -> None:
    w, m, k, longest = (np.array([value]) for value in (weight, rate, shape, 1e7))
    tau = waiting(price, w, m, k, longest, np.array([start]))
    if claim(longest, w, m, k)[0] > price:
        assert price == pytest.approx(claim(tau, w, m, k)[0], rel=1e-4)
    else:
        assert 1e7 == tau[0]
    assert tau == pytest.approx(waiting(price, w, m, k, longest), rel=1e-4)
