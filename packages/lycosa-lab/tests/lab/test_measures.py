from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lycosa_lab.measures import (
    area,
    cumulative,
    exclusive,
    extended,
    fetched,
    found,
    gains,
    geometric_mean,
    harvest,
    harvest_curve,
    overlap,
    pearson,
    polite,
    precision_distance,
    r_squared,
    recall,
    sites,
    targets,
)
from lycosa_lab.simulation import Trace
from lycosa_lab.subjects import HuntSubject


def test_polite_time_is_one_request_per_host_and_second() -> None:
    assert polite(["a", "a", "b", "a", "c", "b"]).tolist() == [0.0, 1.0, 1.0, 2.0, 2.0, 2.0]


NUMBERS = st.lists(st.floats(0, 1, width=16), max_size=30)


def trace(*nodes: int, seeds: int = 1) -> Trace:
    return Trace(np.array(nodes, np.int32), seeds)


def test_sites_mark_first_relevant_page_of_each_host() -> None:
    """Nodes 1 to 6 are on hosts 0 1 1 2 2 and none; host 0 has a relevant seed, node 4 is not relevant."""
    trace = Trace(np.array([0, 1, 2, 3, 4, 5, 6], np.int32), seeds=1)
    hosts, truth = [0, 0, 1, 1, 2, 2, -1], np.array([1, 1, 1, 1, 0, 0.4, 1], np.float32)
    assert [0, 1, 0, 0, 1, 0] == sites(trace, HuntSubject("reefs", truth), hosts).tolist()
    assert [0, 1, 0, 0, 0, 0] == sites(trace, HuntSubject("reefs", truth), hosts, least=0.5).tolist()
    assert [1.0, 2.0] == found(sites(trace, HuntSubject("reefs", truth), hosts), [2, 9]).tolist()
    seen = np.array([False, False, True, False, False, False, False])  # node 2 does not count, so node 3 is the first
    assert [0, 1, 0, 1, 0] == sites(trace, HuntSubject("reefs", truth, seen=seen), hosts).tolist()


def test_gains_exclude_seeds_and_seen_pages() -> None:
    subject = HuntSubject("x", np.array([1, 1, 0, 1, 1], np.float32), seen=np.array([0, 0, 0, 0, 1], np.bool_))
    assert [1.0, 0.0, 1.0] == gains(trace(0, 1, 2, 4, 3), subject).tolist()  # 0 is the seed, 4 was seen
    assert 2.0 == targets(trace(0, 1, 2, 4, 3), subject)  # nodes 1 and 3
    assert [0.5, 0.25, 0.0] == gains(trace(0, 1, 2, 4, 3), subject, [9, 0.5, 0.25, 0, 7]).tolist()


def test_measures_of_empty_crawl_are_zero() -> None:
    subject = HuntSubject("x", np.ones(3, np.float32))
    none = gains(trace(0), subject)
    assert [] == none.tolist() == cumulative(none).tolist() == harvest_curve(none).tolist()
    assert [0.0, 0.0] == found(none, [1, 100]).tolist() == harvest(none, [1, 100]).tolist()
    assert [0, 0] == fetched(none, [1, 100]).tolist()
    assert 0.0 == area(cumulative(none)) == area(cumulative(none), 10)


def test_recall_without_targets_is_nan() -> None:
    assert all(math.isnan(share) for share in recall([0, 0], 0, [1, 2]).tolist())


@pytest.mark.paper("otie-harvest-rate")
def test_harvest_counts_fetched_pages_and_area_whole_budget() -> None:
    stops, goes_on = [1, 1], [1, 1, 0, 0]
    assert [1.0] == harvest(stops, [4]).tolist()  # over the 2 pages that it fetched
    assert [0.5] == harvest(goes_on, [4]).tolist()
    assert [2] == fetched(stops, [4]).tolist()  # reported in addition
    assert found(stops, [4]).tolist() == found(goes_on, [4]).tolist()
    assert (1 + 1 + 2 / 3 + 2 / 4) / 4 == area(cumulative(stops), 4) == area(cumulative(goes_on), 4)


@given(NUMBERS, st.integers(1, 40))
def test_area_never_grows_by_stopping(values: list[float], budget: int) -> None:
    whole = area(cumulative(values), budget)
    for length in range(len(values)):
        assert area(cumulative(values[:length]), budget) <= whole + 1e-12


@given(NUMBERS, st.lists(st.integers(1, 50), min_size=1, max_size=5))
def test_harvest_times_fetched_is_number_of_relevant_pages(values: list[float], budgets: list[int]) -> None:
    product = harvest(values, budgets) * fetched(values, budgets)
    assert np.allclose(found(values, budgets), product)
    if values:
        assert area(cumulative(values)) == pytest.approx(harvest_curve(values).mean())


def test_extended_crawl_is_cut_or_continued() -> None:
    assert [2.0, 2.0, 2.0] == extended([2], 3).tolist()
    assert [1.0] == extended([1, 5], 1).tolist()


def test_geometric_mean_ignores_nan() -> None:
    assert 2.0 == pytest.approx(geometric_mean([math.nan, 1, 2, 4]))
    assert 0.0 == geometric_mean([0, 5])
    assert math.isnan(geometric_mean([]))
    assert math.isnan(geometric_mean([math.nan]))


@pytest.mark.paper("gouriten-precision")
def test_precision_distance_is_moving_mean() -> None:
    """The mean of a moving window of 2 over the distances 0, 1, 2, 3 is 0, (0+1)/2, (1+2)/2, (2+3)/2."""
    assert [0.0, 0.5, 1.5, 2.5] == precision_distance([4, 3, 2, 1], [4, 4, 4, 4], window=2).tolist()
    assert [0.0, 0.0, 2.0] == precision_distance([1, math.nan, 0], [1, 1, 2], window=2).tolist()  # the gap is omitted
    assert [] == precision_distance([], []).tolist()
    with pytest.raises(ValueError, match=r"'window' \(0\) must be at least 1"):
        precision_distance([1], [1], window=0)


@pytest.mark.paper("rules-exclusive")
def test_overlap_and_exclusive_harvest_by_hand() -> None:
    """Overlap is common pages / mean number of pages: 1 / 3 for crawls of 4 and 2 pages with one in common."""
    a, b = np.array([0, 1, 2, 3]), np.array([3, 4])
    assert 1 / 3 == overlap(a, b) == overlap(b, a)
    assert ((1 + 0 + 0.5) / 3, 0.25) == exclusive(a, b, [1, 0, 0.5, 1, 0.25])
    assert 1.0 == overlap(a, a)
    assert all(math.isnan(value) for value in exclusive(a, a, np.ones(5)))
    assert math.isnan(overlap(a[:0], b[:0]))


@pytest.mark.paper("rules-overlap")
def test_overlap_definition_agrees_with_table_3() -> None:
    """In table 3, common pages have equal harvest only if 27 % are of N, not of the union (computer history, set 1)."""

    def shared(ratio: float, own: float, share: float) -> tuple[float, float]:
        low = (ratio - 0.005 - (1 - share) * (own + 0.005)) / share
        return low, (ratio + 0.005 - (1 - share) * (own - 0.005)) / share

    of_union = 2 * 0.27 / (1 + 0.27)  # as a share of N, if 27 % were |A and B| / |A or B|
    agree = [shared(0.29, 0.26, share)[1] >= shared(0.40, 0.39, share)[0] for share in (0.27, of_union)]
    assert [True, False] == agree


@pytest.mark.paper("gouriten-pearson")
def test_pearson_by_hand() -> None:
    """With x - 2 = -1, 0, 1 and y - 3 = -2, 1, 1, the correlation is 3 / sqrt(2 * 6)."""
    assert 3 / math.sqrt(12) == pytest.approx(pearson([1, 2, 3], [1, 4, 4]))
    assert -1.0 == pytest.approx(pearson([1, 2, 3], [3, 2, 1]))
    assert math.isnan(pearson([0.1, 0.1, 0.1], [1, 2, 3]))
    assert math.isnan(pearson([], []))
    assert math.isnan(pearson([1], [2]))


def test_r_squared_by_hand() -> None:
    """The line through (0,0), (1,1), (2,1) has slope 1/2 and errors 1/6, -1/3, 1/6: 1 - (1/6) / (2/3)."""
    assert 0.75 == pytest.approx(r_squared([[0, 1, 2]], [0, 1, 1]))
    # Collinear columns have no effect.
    assert 0.75 == pytest.approx(r_squared([[0, 1, 2], [0, 2, 4], [7, 7, 7]], [0, 1, 1]))
    assert 0.0 == r_squared([], [0, 1])
    assert math.isnan(r_squared([[1, 2]], [3, 3]))


@given(st.integers(0, 10_000), st.integers(1, 4))
def test_r_squared_equals_least_squares(chance: int, columns: int) -> None:
    dice = np.random.default_rng(chance)
    features, y = dice.normal(size=(columns, 12)), dice.normal(size=12)
    matrix = np.vstack([features, np.ones(12)]).T
    left = y - matrix @ np.linalg.lstsq(matrix, y, rcond=None)[0]
    assert 1 - (left @ left) / ((y - y.mean()) @ (y - y.mean())) == pytest.approx(r_squared(list(features), y))
