"""Visits given out so that most is fresh."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import ArrayLike, NDArray

from lycosa.refresh.rates import allocate, claim, gain, inverse_gain, waiting

Floats = NDArray[np.float64]

pages = st.lists(st.tuples(st.floats(0.01, 10), st.floats(1e-4, 1e3)), min_size=1, max_size=30)


def freshness(rate: ArrayLike, visits: ArrayLike) -> Floats:
    """The mean share of time in which a copy is as the page is."""
    rate, visits = np.broadcast_arrays(np.asarray(rate, np.float64), np.asarray(visits, np.float64))
    r = np.divide(rate, visits, out=np.where(rate > 0, np.inf, 0.0), where=visits > 0)
    share: Floats = np.divide(-np.expm1(-np.minimum(r, 1e300)), r, out=np.ones(r.shape), where=r > 0)
    return np.where(np.isinf(r), 0.0, share)


def test_freshness_by_hand() -> None:
    """One change and one look a day: (1 - 1/e)/1; two looks: (1 - exp(-1/2))/(1/2)."""
    assert [1 - math.exp(-1), 2 * (1 - math.exp(-0.5))] == pytest.approx(freshness([1, 1], [1, 2]).tolist())
    assert [0.0, 1.0, 1.0] == freshness([1.0, 0.0, 0.0], [0.0, 0.0, 1.0]).tolist()


def test_two_pages_by_hand() -> None:
    """Twice as often changing and twice as heavy pages have the same w/lambda, so the same r: visits as the rates."""
    visits, price = allocate([1, 2], [1, 2], budget=3)
    assert [1.0, 2.0] == pytest.approx(visits.tolist())  # r = 1 for both
    assert 1 - 2 * math.exp(-1) == pytest.approx(price)


def test_what_changes_too_fast_is_not_chased() -> None:
    """With one look a day for two pages that change 1 and 100 times, all goes to the first.

    Its gain is then 1 - 2/e = .264 a look; the other's is never more than 1/100.
    """
    visits, price = allocate([1, 1], [1, 100], budget=1)
    assert [1.0, 0.0] == pytest.approx(visits.tolist())
    assert 0.01 < price == pytest.approx(1 - 2 * math.exp(-1))


def test_two_pages_against_a_grid() -> None:
    """All ways to divide three looks among two pages, a ten-thousandth apart."""
    weight, rate = np.array([0.3, 1.0]), np.array([0.2, 4.0])
    first = np.linspace(0, 3, 30_001)
    worth = weight[0] * freshness(rate[0], first) + weight[1] * freshness(rate[1], 3 - first)
    visits, _ = allocate(weight, rate, 3.0)
    assert first[worth.argmax()] == pytest.approx(visits[0], abs=2e-4)


def test_no_exchange_of_visits_makes_it_better() -> None:
    """Many pages: moving a little from one to another, for all pairs, loses."""
    chance = np.random.default_rng(1)
    weight, rate = chance.random(12), np.exp(chance.normal(0, 2, 12))
    visits, _ = allocate(weight, rate, 6.0)
    best = float((weight * freshness(rate, visits)).sum())
    for giver in np.flatnonzero(visits > 1e-3):
        for taker in range(12):
            other = visits.copy()
            other[giver] -= 1e-4
            other[taker] += 1e-4
            assert best >= float((weight * freshness(rate, other)).sum()) - 1e-12


@given(pages, st.floats(0.01, 100))
@settings(max_examples=60, deadline=None)
def test_the_budget_is_met_and_all_pages_pay_the_same_price(told: list[tuple[float, float]], budget: float) -> None:
    """Kuhn and Tucker's conditions: gain = price where there are visits, at most the price where there are none."""
    weight, rate = np.array(told).T
    visits, price = allocate(weight, rate, budget)
    assert budget == pytest.approx(visits.sum(), rel=1e-9)
    some = visits > 1e-3 * rate  # below that the gain is w/lambda to all digits
    gains = weight[some] / rate[some] * gain(rate[some] / visits[some])
    assert gains == pytest.approx(np.full(len(gains), price), rel=1e-6)
    assert (weight[~some] / rate[~some] <= price * (1 + 1e-6)).all()


@given(pages, st.floats(0.01, 100), st.floats(1.01, 10))
@settings(max_examples=40, deadline=None)
def test_more_budget_means_no_fewer_visits_to_any_page(
    told: list[tuple[float, float]], budget: float, factor: float
) -> None:
    """And a lower price."""
    weight, rate = np.array(told).T
    few, dear = allocate(weight, rate, budget)
    many, cheap = allocate(weight, rate, budget * factor)
    assert (many >= few * (1 - 1e-9) - 1e-12).all()
    assert cheap <= dear * (1 + 1e-9)


def test_bounds_hold_within_the_budget() -> None:
    """Least and most visits are kept, and the rest is shared; where the least are too many, all get less."""
    rate = np.array([1e-3, 0.1, 1.0, 5.0, 500.0])
    visits, _ = allocate(np.ones(5), rate, 2.0, least=0.05, most=0.8)
    assert 2.0 == pytest.approx(visits.sum())
    assert visits.min() >= 0.05
    assert visits.max() <= 0.8
    assert 0.05 == visits[4]
    cut, price = allocate(np.ones(5), rate, 0.1, least=0.05)
    assert ([0.02] * 5, math.inf) == (pytest.approx(cut.tolist()), price)
    full, price = allocate(np.ones(5), rate, 100.0, most=0.8)
    assert ([0.8] * 5, 0.0) == (full.tolist(), price)


def test_pages_that_never_change_or_are_worth_nothing_get_no_visits() -> None:
    """They get the least, if there is one."""
    visits, _ = allocate([1, 0, 1], [0.0, 1.0, 1.0], 1.0)
    assert [0.0, 0.0, 1.0] == pytest.approx(visits.tolist())
    visits, _ = allocate([1, 0, 1], [0.0, 1.0, 1.0], 1.0, least=0.1)
    assert [0.1, 0.1, 0.8] == pytest.approx(visits.tolist())
    assert [0.0, 0.0] == allocate([1, 1], [1, 1], 0.0).visits.tolist()


def test_the_inverse_of_gain_is_its_inverse() -> None:
    """Over all magnitudes; 1 is never reached."""
    r = np.exp(np.linspace(math.log(1e-9), math.log(25.0), 2_000))
    assert r == pytest.approx(inverse_gain(gain(r)), rel=1e-5)
    small = r[r < 10]
    assert small == pytest.approx(inverse_gain(gain(small)), rel=1e-10)
    assert [0.0, math.inf, math.inf] == inverse_gain(np.array([0.0, 1.0, 2.0])).tolist()


def test_a_claim_without_doubt_is_that_of_the_known_rate() -> None:
    """With a very large shape: w/lambda (1 - (1 + r) exp(-r))."""
    tau, one = np.array([0.01, 0.5, 1.0, 8.0]), np.ones(4)
    expected = 3 / 2 * gain(2 * tau)
    assert expected == pytest.approx(claim(tau, 3 * one, 2 * one, 1e8 * one), rel=1e-5)


def test_a_claim_with_doubt_by_hand() -> None:
    """Shape 2, mean 1, so theta = 2: I(2) = 2 (1 - 1/2) = 1, 2 S(2) = 2/4, claim 1/2; shape 1: log(2) - 1/2."""
    assert 0.5 == pytest.approx(claim(np.array([2.0]), np.ones(1), np.ones(1), np.array([2.0]))[0])
    assert math.log(2) - 0.5 == pytest.approx(claim(np.ones(1), np.ones(1), np.ones(1), np.ones(1))[0])


def test_a_claim_is_the_mean_over_the_rates_a_page_may_have() -> None:
    """Against 200,000 drawn rates."""
    rates = np.random.default_rng(2).gamma(1.5, 0.4 / 1.5, 200_000)
    mean = float((gain(3 * rates) / rates).mean())
    assert mean == pytest.approx(claim(np.array([3.0]), np.ones(1), np.array([0.4]), np.array([1.5]))[0], rel=0.01)


@given(st.floats(1e-4, 1e4), st.floats(0.01, 1), st.floats(1e-9, 1), st.floats(0.1, 60), st.floats(10, 1e7))
@settings(max_examples=50, deadline=None)
def test_waiting_ends_when_the_claim_is_the_price(
    price: float, weight: float, rate: float, shape: float, start: float
) -> None:
    """Or at the longest, if it is not reached by then; wherever the search begins."""
    w, m, k, longest = (np.array([value]) for value in (weight, rate, shape, 1e7))
    tau = waiting(price, w, m, k, longest, np.array([start]))
    if claim(longest, w, m, k)[0] > price:
        assert price == pytest.approx(claim(tau, w, m, k)[0], rel=1e-4)
    else:
        assert 1e7 == tau[0]
    assert tau == pytest.approx(waiting(price, w, m, k, longest), rel=1e-4)
