"""Change rates estimated from revisits."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from lycosa.revisit.rates import KEPT, SHAPE, UNCHANGED, UNKNOWN, USUAL, Histories, Prior, credible, digamma, estimate

DAY = 86_400.0


def looks(*told: tuple[float, float]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the intervals between visits of one page, and the times since its last change."""
    span = np.zeros((1, KEPT))
    since = np.full((1, KEPT), UNCHANGED)
    for slot, (length, ago) in enumerate(told):
        span[0, slot], since[0, slot] = length, ago
    return span, since


@pytest.mark.parametrize("n", [1, 2, 7, 16])
def test_estimate_equal_intervals_is_cho_garcia_molina(n: int) -> None:
    """Without a prior the rate is -log((n - X + .5) / (n + .5)) / tau for X changes, which exceeds X / (n tau)."""
    tau = 3 * DAY
    for changes in range(n + 1):
        rate, _ = estimate(*looks(*[(tau, UNKNOWN)] * changes, *[(tau, UNCHANGED)] * (n - changes)), 1e-300, 1e-300)
        cho = -math.log((n - changes + 0.5) / (n + 0.5)) / tau
        assert cho == pytest.approx(rate[0], rel=1e-9, abs=1e-200)
        naive = changes / (n * tau)
        if changes > 1:  # with a single change, the half visit that is added can outweigh hidden changes
            assert naive < cho * (1 - 1e-3)
        elif changes == 1:
            assert abs(naive / cho - 1) > 1e-6


def test_estimate_two_intervals_by_hand() -> None:
    """The rate x solves 2 / (exp(2 x) - 1) = 1 + .5 * 1.5 (unchanged time and half the mean interval)."""
    rate, _ = estimate(*looks((2.0, UNKNOWN), (1.0, UNCHANGED)))
    assert math.log(1 + 2 / 1.75) / 2 == pytest.approx(rate[0], rel=1e-12)


def test_estimate_uses_known_times_of_change() -> None:
    """Known times count only up to the change: 4 changes in 4 * 2; with a prior of 1 change in 3, 5 in 11."""
    told = looks(*[(10.0, 2.0)] * 4)
    rate, shape = estimate(*told)
    assert (4 / 8, 4.0) == (pytest.approx(rate[0]), pytest.approx(shape[0]))
    rate, shape = estimate(*told, 1.0, 3.0)
    assert (5 / 11, 5.0) == (pytest.approx(rate[0]), pytest.approx(shape[0]))


def test_estimate_without_visits_is_prior() -> None:
    rate, shape = estimate(*looks(), 0.5, 100.0)
    assert (0.005, 0.5) == (pytest.approx(rate[0]), pytest.approx(shape[0]))


@given(
    st.lists(
        st.tuples(
            st.floats(0, 1e8),
            st.sampled_from([UNCHANGED, UNKNOWN]),
        ),
        max_size=KEPT,
    ),
    st.floats(0.05, 4),
    st.floats(1.0, 1e8),
)
@settings(max_examples=50, deadline=None)
def test_estimate_is_root_of_derivative(told: list[tuple[float, float]], a: float, usual: float) -> None:
    """The rate solves a + sum of x / (exp(x) - 1) = rate * B with x = rate * interval; the shape is at least a."""
    told = [(max(length, 1.0) if ago == UNKNOWN else length, ago) for length, ago in told]
    rate, shape = estimate(*looks(*told), a, a * usual)
    assert 0 < rate[0] < np.inf
    x = np.array([rate[0] * length for length, ago in told if ago == UNKNOWN])
    counted = [length for length, _ in told if length > 0]
    half = 0.5 * sum(counted) / max(1, len(counted))
    time = a * usual + half + sum(length for length, ago in told if ago == UNCHANGED)
    hidden = float((x / np.expm1(np.minimum(x, 700))).sum())
    assert a + hidden == pytest.approx(rate[0] * time, rel=1e-6)
    assert a <= shape[0] * (1 + 1e-6)


def test_estimate_is_independent_of_start_value() -> None:
    told = looks((DAY, UNKNOWN), (3 * DAY, UNKNOWN), (2 * DAY, UNCHANGED), (9 * DAY, UNKNOWN))
    alone = estimate(*told, 0.5, DAY).rate[0]
    for start in (1e-12, 1e-5, 1e2):
        assert alone == pytest.approx(estimate(*told, 0.5, DAY, np.array([start])).rate[0], rel=1e-9)


def seen(rates: NDArray[np.float64], number: int, seed: int) -> tuple[Histories, NDArray[np.float64]]:
    """Return histories of pages visited at irregular times, and naive estimates (changes per time)."""
    chance = np.random.default_rng(seed)
    histories = Histories()
    naive = np.zeros(len(rates))
    for page, rate in enumerate(rates.tolist()):
        histories.add(0.0, host=page % 5)
        at, found = 0.0, 0
        for tau in chance.uniform(0.5, 1.5, number).tolist():
            changed = bool(chance.random() < -math.expm1(-rate * tau * DAY))
            at, found = at + tau * DAY, found + changed
            histories.add_visit(page, at, changed)
        naive[page] = found / at
    return histories, naive


@pytest.mark.parametrize("per_look", [0.5, 1.0, 2.0])
def test_estimate_is_nearly_unbiased(per_look: float) -> None:
    """The mean of 4,000 pages with 16 visits each is within 4 % of the truth; the naive one is 20 % too low."""
    true = np.full(4_000, per_look / DAY)
    histories, naive = seen(true, 16, seed=1)
    rate, _ = estimate(histories.span[:4_000], histories.since[:4_000])
    assert abs(rate.mean() / true[0] - 1) < 0.04
    assert naive.mean() / true[0] - 1 < -0.2


def test_learned_prior_reduces_errors() -> None:
    """The root mean square error of log rates is compared, where the naive estimate of ten visits is not 0."""
    true = np.exp(np.random.default_rng(2).normal(-1, 1.5, 3_000)) / DAY
    histories, naive = seen(true, 10, seed=3)
    prior = Prior()
    prior.fit(histories)
    rows = histories.rows()
    rate, _ = estimate(
        histories.span[rows], histories.since[rows], prior.shape, prior.shape / prior.means(histories, rows)
    )
    some = naive > 0
    ours = np.sqrt(np.mean(np.log(rate[some] / true[some]) ** 2))
    theirs = np.sqrt(np.mean(np.log(naive[some] / true[some]) ** 2))
    assert ours < 0.9 * theirs
    assert np.abs(rate - true).mean() < 0.9 * np.abs(naive - true).mean()


def test_prior_learns_host_factors() -> None:
    chance = np.random.default_rng(4)
    histories = Histories()
    for page in range(200):
        histories.add(0.0, host=page % 2)
        for number in range(1, 9):
            often = (1.0 if page % 2 else 0.05) * chance.uniform(0.5, 1.5)
            histories.add_visit(page, number * DAY, bool(chance.random() < -math.expm1(-often)))
    prior = Prior()
    prior.fit(histories)
    fresh = [histories.add(9 * DAY, host=host) for host in (0, 1, 2)]
    quiet, busy, other = (prior.means(histories, np.array(fresh)) * DAY).tolist()
    assert busy > 5 * quiet
    assert quiet < other < busy  # the rate of an unknown host is the average
    assert 0.5 < busy < 2
    assert quiet < 0.15


def test_prior_default_is_three_weeks() -> None:
    histories = Histories()
    histories.add(0.0, host=4)
    prior = Prior()
    prior.fit(histories)
    assert (SHAPE, [USUAL]) == (prior.shape, prior.means(histories, np.array([0])).tolist())
    histories.add_visit(0, DAY, changed=True)
    prior.fit(histories)
    assert USUAL < prior.mean < 10 * USUAL


def test_random_groups_have_no_factors() -> None:
    y = np.random.default_rng(5).exponential(1.0, 400)
    assert [1.0, 1.0] == pytest.approx(credible(y / y.mean(), np.arange(400) % 2, 1.0).tolist(), abs=0.1)


def test_prior_fit_depends_on_histories_only() -> None:
    histories, _ = seen(np.full(50, 0.3 / DAY), 5, seed=6)
    often, once = Prior(), Prior()
    often.fit(histories)
    histories.add_visit(3, 99 * DAY, changed=True)
    often.fit(histories)
    once.fit(histories)
    assert (often.shape, often.mean, often.hosts.tolist()) == (once.shape, once.mean, once.hosts.tolist())


def test_digamma_is_derivative_of_log_gamma() -> None:
    x = np.array([0.1, 0.5, 1.7, 12.0])
    step = 1e-5
    slopes = [(math.lgamma(v + step) - math.lgamma(v - step)) / (2 * step) for v in x.tolist()]
    assert slopes == pytest.approx(digamma(x).tolist(), rel=1e-6)
