from __future__ import annotations

import math
from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lycosa_lab.confidence import corrected, curve, holm, interval, paired, sign_flip

SMALL = st.lists(st.integers(-5, 5), min_size=1, max_size=8)


def test_interval_of_one_unit_is_nan() -> None:
    output = interval([0.25])
    assert (0.25, 1) == (output.mean, output.n)
    assert math.isnan(output.low)
    assert math.isnan(output.high)
    assert 0 == interval([]).n
    assert math.isnan(interval([math.nan]).mean)
    difference = paired([2.0], [1.0])
    assert (1.0, 1.0, 1) == (difference.mean, difference.p, difference.n)
    assert math.isnan(difference.low)
    assert math.isnan(difference.high)
    assert math.isnan(paired([], []).p)
    assert () == curve("it", [1, 2], [[1.0, 2.0]]).low


def test_interval_of_two_units_is_their_range() -> None:
    """Samples of two units, 0 and 1, have the means 0, 1/2, 1/2 and 1: a quarter of them at either end."""
    assert (0.0, 1.0) == interval([0, 1])[1:3]


def test_interval_depends_on_random_seed_only() -> None:
    values = np.random.default_rng(1).random(9)
    assert interval(values, random_seed=3) == interval(values, random_seed=3)
    assert interval(values, random_seed=3) != interval(values, random_seed=4)
    many = values.repeat(3) - 0.3
    assert paired(many, many * 0, random_seed=1) == paired(many, many * 0, random_seed=1)


def test_interval_ignores_nan() -> None:
    assert interval([1, 2, 4]) == interval([1, math.nan, 2, 4])
    assert interval([1, 2, 4], groups="aab") == interval([1, 2, math.nan, 4], groups="aaab")
    assert paired([1, 2, 3], [0, 0, 0]) == paired([1, 2, math.nan, 3], [0, 0, 5, 0])


def test_interval_weighs_groups_equally() -> None:
    """Groups have equal weight: topic a has 1 and 3, topic b 10, so the mean is (2 + 10) / 2, not 14 / 3."""
    assert 6.0 == interval([1, 3, 10], groups=["a", "a", "b"]).mean
    assert [6.0] == curve("it", [1], [[1], [3], [10]], groups=["a", "a", "b"]).y
    with pytest.raises(ValueError, match="3 values and 2 groups"):
        interval([1, 2, 3], groups=["a", "b"])


def test_interval_is_wider_with_groups() -> None:
    values = [0.1] * 10 + [0.5] * 10 + [0.9] * 10
    flat, output = interval(values), interval(values, groups=["a"] * 10 + ["b"] * 10 + ["c"] * 10)
    assert flat.mean == pytest.approx(output.mean)
    assert output.high - output.low > 2 * (flat.high - flat.low)
    assert [0.1, 0.9] == pytest.approx([output.low, output.high])


def test_interval_of_one_group_draws_its_values() -> None:
    assert interval([1, 2, 4, 8]) == interval([1, 2, 4, 8], groups="aaaa")


def test_curve_band_equals_interval_at_each_point() -> None:
    curves = np.random.default_rng(2).random((6, 3))
    output = curve("it", [1, 2, 3], curves, groups="aabbcc")
    for column in range(3):
        alone = interval(curves[:, column], groups="aabbcc")
        assert alone[:3] == pytest.approx((output.y[column], output.low[column], output.high[column]))


@settings(max_examples=25)
@given(st.lists(st.floats(-1, 1), min_size=2, max_size=12))
def test_interval_contains_mean_within_values(values: list[float]) -> None:
    output = interval(values, draws=200)
    assert min(values) - 1e-9 <= output.low <= output.high <= max(values) + 1e-9


@pytest.mark.parametrize(("units", "least", "most"), [(5, 0.78, 0.90), (20, 0.89, 0.97)])
def test_interval_covers_mean_of_normal_samples(units: int, least: float, most: float) -> None:
    """About 85 % (5 units) and 93 % (20 units) of the intervals contain the true mean, 0."""
    dice = np.random.default_rng(units)
    drawn = dice.normal(size=(300, units))
    held = [output.low <= 0 <= output.high for output in (interval(sample, draws=300) for sample in drawn)]
    assert least <= np.mean(held) <= most


def test_interval_with_groups_covers_more_than_without() -> None:
    """With 12 different topics and 3 seed sets each, a single level of resampling would underestimate the interval."""
    dice = np.random.default_rng(5)
    groups = np.repeat(np.arange(12), 3).tolist()
    held, flat = 0, 0
    for _ in range(150):
        sample = dice.normal(size=12).repeat(3) + 0.3 * dice.normal(size=36)
        two, one = interval(sample, draws=200, groups=groups), interval(sample, draws=200)
        held += two.low <= 0 <= two.high
        flat += one.low <= 0 <= one.high
    assert 0.86 <= held / 150 <= 0.98
    assert flat / 150 < 0.80


@settings(max_examples=30)
@given(SMALL)
def test_sign_flip_is_exact_for_few_differences(differences: list[int]) -> None:
    sums = [
        abs(sum(s * d for s, d in zip(signs, differences, strict=True)))
        for signs in product((1, -1), repeat=len(differences))
    ]
    assert sum(one >= abs(sum(differences)) for one in sums) / len(sums) == sign_flip(differences)


def test_sign_flip_smallest_p_is_2_to_the_1_minus_n() -> None:
    """If all n differences have one sign, p is 2 / 2^n: above .05 with five topics, below with six."""
    assert [2 / 2**n for n in (2, 5, 6, 14)] == [sign_flip([1.0] * n) for n in (2, 5, 6, 14)]


def test_sign_flip_is_sampled_for_many_differences() -> None:
    """The exact p of 20 equal differences is 2 / 2^20, below the smallest sampled one, 1 / 10,001."""
    assert 1 / 10_001 <= sign_flip([1.0] * 20) <= 3 / 10_001
    mixed = [1.0] * 10 + [-1.0] * 5  # |sum| >= 5 if at least 10 or at most 5 of 15 are positive
    exact = 2 * sum(math.comb(15, k) for k in range(6)) / 2**15
    assert exact == pytest.approx(sign_flip(mixed), abs=0.02)


def test_sign_flip_false_positives_are_five_percent() -> None:
    dice = np.random.default_rng(8)
    wrong = np.mean([sign_flip(dice.normal(size=9)) <= 0.05 for _ in range(300)])
    assert 0.02 <= wrong <= 0.08
    assert sign_flip(dice.normal(size=12) + 2) < 0.01


def test_paired_flips_whole_groups() -> None:
    """Differences are averaged per group: six seed sets of two topics are two, so p is 2 / 2^2, not 2 / 2^6."""
    a, b = [1.0] * 6, [0.0] * 6
    assert (2 / 2**6, 6) == paired(a, b)[3:]
    assert (0.5, 2) == paired(a, b, groups="aaabbb")[3:]
    with pytest.raises(ValueError, match="6 values and 5"):
        paired(a, b[:5])


def test_holm_by_hand() -> None:
    """Holm multiplies sorted p values by n, n - 1, ...: .01, .02, .04, .5 by 4, 3, 2, 1, never below the last one."""
    assert [0.04, 0.06, 0.08, 0.5] == pytest.approx(holm([0.01, 0.02, 0.04, 0.5]).tolist())
    assert [0.5, 0.04] == pytest.approx(holm([0.5, 0.02]).tolist())
    assert [1.0, 1.0] == holm([0.9, 0.8]).tolist()
    output = holm([math.nan, 0.01])
    assert math.isnan(output[0])
    assert 0.01 == output[1]
    assert [] == holm([]).tolist()


@settings(max_examples=30)
@given(st.lists(st.floats(0, 1), min_size=1, max_size=8))
def test_holm_is_between_p_and_bonferroni(values: list[float]) -> None:
    output = holm(values)
    assert all(p <= one <= min(1.0, len(values) * p) + 1e-12 for p, one in zip(values, output, strict=True))
    assert sorted(output) == [output[place] for place in np.argsort(values, kind="stable")]


def test_corrected_doubles_p_of_two_comparisons() -> None:
    """Six units with one strategy better in all have p 2 / 64, times 2 for two comparisons."""
    better, same, base = [2, 3, 4, 5, 6, 7], [1, 2, 3, 4, 5, 6], [1, 2, 3, 4, 5, 6]
    output = corrected({name: paired(own, base) for name, own in (("better", better), ("same", same))})
    assert {"better": 2 * 2 / 64, "same": 1.0} == {name: one.p for name, one in output.items()}
    assert (1.0, 0.0) == (output["better"].mean, output["same"].mean)
