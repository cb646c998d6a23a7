"""How sure a number is."""

from __future__ import annotations

import math
from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lycosa_lab.confidence import corrected, curve, holm, interval, paired, sign_flip

SMALL = st.lists(st.integers(-5, 5), min_size=1, max_size=8)


def test_one_unit_has_no_interval() -> None:
    """A mean, and nothing to tell how far off it may be; no unit has not even a mean."""
    told = interval([0.25])
    assert (0.25, 1) == (told.mean, told.n)
    assert math.isnan(told.low)
    assert math.isnan(told.high)
    assert 0 == interval([]).n
    assert math.isnan(interval([math.nan]).mean)
    difference = paired([2.0], [1.0])
    assert (1.0, 1.0, 1) == (difference.mean, difference.p, difference.n)
    assert math.isnan(difference.low)
    assert math.isnan(difference.high)
    assert math.isnan(paired([], []).p)
    assert () == curve("it", [1, 2], [[1.0, 2.0]]).low


def test_two_units_by_hand() -> None:
    """Of 0 and 1 the draws have means 0, 1/2, 1/2 and 1: a quarter of them at either end."""
    assert (0.0, 1.0) == interval([0, 1])[1:3]


def test_the_same_seed_gives_the_same_interval() -> None:
    """Nothing but the values and the seed decides; another seed draws others."""
    values = np.random.default_rng(1).random(9)
    assert interval(values, random_seed=3) == interval(values, random_seed=3)
    assert interval(values, random_seed=3) != interval(values, random_seed=4)
    many = values.repeat(3) - 0.3
    assert paired(many, many * 0, random_seed=1) == paired(many, many * 0, random_seed=1)


def test_units_without_a_value_are_left_out() -> None:
    """nan is no unit: the interval is that of the others, groups and pairs as well."""
    assert interval([1, 2, 4]) == interval([1, math.nan, 2, 4])
    assert interval([1, 2, 4], groups="aab") == interval([1, 2, math.nan, 4], groups="aaab")
    assert paired([1, 2, 3], [0, 0, 0]) == paired([1, 2, math.nan, 3], [0, 0, 5, 0])


def test_topics_weigh_the_same_however_many_seed_sets_they_have() -> None:
    """Topic a has 1 and 3, topic b 10: the mean is (2 + 10) / 2, not 14 / 3."""
    assert 6.0 == interval([1, 3, 10], groups=["a", "a", "b"]).mean
    assert [6.0] == curve("it", [1], [[1], [3], [10]], groups=["a", "a", "b"]).y
    with pytest.raises(ValueError, match="3 values and 2 groups"):
        interval([1, 2, 3], groups=["a", "b"])


def test_ten_seed_sets_of_a_topic_are_not_ten_topics() -> None:
    """Where topics differ and seed sets don't, only drawing topics shows how little is known."""
    values = [0.1] * 10 + [0.5] * 10 + [0.9] * 10
    flat, told = interval(values), interval(values, groups=["a"] * 10 + ["b"] * 10 + ["c"] * 10)
    assert flat.mean == pytest.approx(told.mean)
    assert told.high - told.low > 2 * (flat.high - flat.low)
    assert [0.1, 0.9] == pytest.approx([told.low, told.high])


def test_one_topic_is_drawn_from_by_its_seed_sets() -> None:
    """With one group only its values vary, as if there were no groups."""
    assert interval([1, 2, 4, 8]) == interval([1, 2, 4, 8], groups="aaaa")


def test_a_band_is_an_interval_at_each_point() -> None:
    """The same draws at all points, so each column has the interval it would have alone."""
    curves = np.random.default_rng(2).random((6, 3))
    told = curve("it", [1, 2, 3], curves, groups="aabbcc")
    for column in range(3):
        alone = interval(curves[:, column], groups="aabbcc")
        assert alone[:3] == pytest.approx((told.y[column], told.low[column], told.high[column]))


@settings(max_examples=25)
@given(st.lists(st.floats(-1, 1), min_size=2, max_size=12))
def test_the_interval_is_around_the_mean_and_within_the_values(values: list[float]) -> None:
    """low <= mean <= high for a symmetric level, and no draw leaves the range of the values."""
    told = interval(values, draws=200)
    assert min(values) - 1e-9 <= told.low <= told.high <= max(values) + 1e-9


@pytest.mark.parametrize(("units", "least", "most"), [(5, 0.78, 0.90), (20, 0.89, 0.97)])
def test_coverage_is_what_the_docstring_says(units: int, least: float, most: float) -> None:
    """Of 300 intervals of normal samples about 85 % (5 units) and 93 % (20 units) hold the true mean, 0."""
    dice = np.random.default_rng(units)
    drawn = dice.normal(size=(300, units))
    held = [told.low <= 0 <= told.high for told in (interval(sample, draws=300) for sample in drawn)]
    assert least <= np.mean(held) <= most


def test_coverage_with_topics() -> None:
    """12 topics that differ, 3 seed sets each: two levels hold the true mean, one level claims to know too much."""
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


# -- tests -----------------------------------------------------------------------------------------------------


@settings(max_examples=30)
@given(SMALL)
def test_sign_flips_are_all_tried_where_they_are_few(differences: list[int]) -> None:
    """p is the share of all ways to give signs that are at least as far out, counted one by one."""
    sums = [
        abs(sum(s * d for s, d in zip(signs, differences, strict=True)))
        for signs in product((1, -1), repeat=len(differences))
    ]
    assert sum(one >= abs(sum(differences)) for one in sums) / len(sums) == sign_flip(differences)


def test_the_least_p_is_two_of_all_ways() -> None:
    """All differences of one sign: 2 / 2^n. Five topics can't show anything at .05, six can."""
    assert [2 / 2**n for n in (2, 5, 6, 14)] == [sign_flip([1.0] * n) for n in (2, 5, 6, 14)]


def test_many_differences_are_drawn() -> None:
    """With 20 alike p is near its exact value 2 / 2^20, so 1 / 10,001 at the least; with a mixed sample near exact."""
    assert 1 / 10_001 <= sign_flip([1.0] * 20) <= 3 / 10_001
    mixed = [1.0] * 10 + [-1.0] * 5  # |sum| >= 5 if at least 10 or at most 5 of 15 are positive
    exact = 2 * sum(math.comb(15, k) for k in range(6)) / 2**15
    assert exact == pytest.approx(sign_flip(mixed), abs=0.02)


def test_a_true_difference_is_found_and_none_is_not() -> None:
    """Of samples without a difference about 5 % have p <= .05."""
    dice = np.random.default_rng(8)
    wrong = np.mean([sign_flip(dice.normal(size=9)) <= 0.05 for _ in range(300)])
    assert 0.02 <= wrong <= 0.08
    assert sign_flip(dice.normal(size=12) + 2) < 0.01


def test_signs_of_whole_topics_are_flipped() -> None:
    """Six seed sets of two topics are two differences: 2 / 2^2, not 2 / 2^6."""
    a, b = [1.0] * 6, [0.0] * 6
    assert (2 / 2**6, 6) == paired(a, b)[3:]
    assert (0.5, 2) == paired(a, b, groups="aaabbb")[3:]
    with pytest.raises(ValueError, match="6 values and 5"):
        paired(a, b[:5])


def test_holm_by_hand() -> None:
    """p .01, .02, .04, .5: times 4, 3, 2, 1, none below the one before."""
    assert [0.04, 0.06, 0.08, 0.5] == pytest.approx(holm([0.01, 0.02, 0.04, 0.5]).tolist())
    assert [0.5, 0.04] == pytest.approx(holm([0.5, 0.02]).tolist())
    assert [1.0, 1.0] == holm([0.9, 0.8]).tolist()
    told = holm([math.nan, 0.01])
    assert math.isnan(told[0])
    assert 0.01 == told[1]
    assert [] == holm([]).tolist()


@settings(max_examples=30)
@given(st.lists(st.floats(0, 1), min_size=1, max_size=8))
def test_holm_is_between_p_and_bonferroni(values: list[float]) -> None:
    """No corrected p is below its own, above m times it, or in another order."""
    told = holm(values)
    assert all(p <= one <= min(1.0, len(values) * p) + 1e-12 for p, one in zip(values, told, strict=True))
    assert sorted(told) == [told[place] for place in np.argsort(values, kind="stable")]


def test_several_against_one() -> None:
    """Six units, one strategy better in all: 2 / 64, times 2 as there are two comparisons."""
    better, same, base = [2, 3, 4, 5, 6, 7], [1, 2, 3, 4, 5, 6], [1, 2, 3, 4, 5, 6]
    told = corrected({name: paired(own, base) for name, own in (("better", better), ("same", same))})
    assert {"better": 2 * 2 / 64, "same": 1.0} == {name: one.p for name, one in told.items()}
    assert (1.0, 0.0) == (told["better"].mean, told["same"].mean)
