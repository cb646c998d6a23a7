"""Tests of axis ticks and block characters."""

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lycosa.drawing.figure import bar, columns, dates, ticks, times


@given(st.floats(-1e6, 1e6), st.floats(1e-3, 1e6), st.integers(2, 10))
def test_ticks_are_evenly_spaced_within_range(low: float, length: float, most: int) -> None:
    places = [tick.at for tick in ticks(low, low + length, most)]
    assert len(places) <= most + 1
    assert all(low - 1e-6 * length <= place <= low + length * (1 + 1e-6) for place in places)
    steps = [later - earlier for earlier, later in pairwise(places)]
    assert steps == pytest.approx(steps[:1] * len(steps), rel=1e-3)


@pytest.mark.parametrize(("length", "last"), [(45, "40 s"), (600, "10 min"), (4 * 3600, "4 h"), (3 * 86_400, "3 d")])
def test_times_have_one_unit(length: float, last: str) -> None:
    assert ("0", last) == (times(length)[0].label, times(length)[-1].label)


def test_dates_spanning_years_have_years() -> None:
    assert ["Jan 1970", "Dec 1970"] == [tick.label for tick in dates(0.0, 400 * 86_400.0, 2)]


def test_bar_is_visible_above_zero() -> None:
    assert ("▏   ", "    ", "████") == (bar(1e-9), bar(0.0), bar(2.0))


def test_columns_reach_full_height() -> None:
    assert ["█ ", "█ ", "█ "] == columns([1, 0], 3)
