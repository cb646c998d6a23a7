from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lycosa.core.protocols import Estimator
from lycosa.strategies.first_level import FirstLevel, SecondLevel
from lycosa_lab.corpus_index import CorpusIndex
from lycosa_lab.judgements import Judgements
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
    precision_distance,
    r_squared,
    recall,
    sites,
    targets,
)
from lycosa_lab.papers.gouriten.claims import FEATURES
from lycosa_lab.papers.gouriten.measurements import fit, neighbourhood
from lycosa_lab.simulation import IndexedTable, Trace
from lycosa_lab.subjects import HuntSubject

NUMBERS = st.lists(st.floats(0, 1, width=16), max_size=30)


def trace(*nodes: int, seeds: int = 1) -> Trace:
    return Trace(np.array(nodes, np.int32), seeds)


def test_sites_first_relevant_page_of_each_host() -> None:
    """Hosts 0 1 1 2 2 -1 of nodes 1 to 6: host 0 is a relevant seed's, node 4 is not relevant, node 6 has no host."""
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
    assert 2.0 == targets(trace(0, 1, 2, 4, 3), subject)  # 1 and 3
    assert [0.5, 0.25, 0.0] == gains(trace(0, 1, 2, 4, 3), subject, [9, 0.5, 0.25, 0, 7]).tolist()


def test_measures_of_empty_crawl() -> None:
    subject = HuntSubject("x", np.ones(3, np.float32))
    none = gains(trace(0), subject)
    assert [] == none.tolist() == cumulative(none).tolist() == harvest_curve(none).tolist()
    assert [0.0, 0.0] == found(none, [1, 100]).tolist() == harvest(none, [1, 100]).tolist()
    assert [0, 0] == fetched(none, [1, 100]).tolist()
    assert 0.0 == area(cumulative(none)) == area(cumulative(none), 10)


def test_recall_without_targets_is_nan() -> None:
    assert all(math.isnan(share) for share in recall([0, 0], 0, [1, 2]).tolist())


@pytest.mark.paper("otie-harvest-rate")
def test_harvest_and_area_of_exhausted_crawl() -> None:
    stops, goes_on = [1, 1], [1, 1, 0, 0]
    assert [1.0] == harvest(stops, [4]).tolist()  # over the 2 pages that it fetched
    assert [0.5] == harvest(goes_on, [4]).tolist()
    assert [2] == fetched(stops, [4]).tolist()  # reported beside it
    assert found(stops, [4]).tolist() == found(goes_on, [4]).tolist()
    assert (1 + 1 + 2 / 3 + 2 / 4) / 4 == area(cumulative(stops), 4) == area(cumulative(goes_on), 4)


@given(NUMBERS, st.integers(1, 40))
def test_area_never_grows_by_stopping(values: list[float], budget: int) -> None:
    whole = area(cumulative(values), budget)
    for length in range(len(values)):
        assert area(cumulative(values[:length]), budget) <= whole + 1e-12


@given(NUMBERS, st.lists(st.integers(1, 50), min_size=1, max_size=5))
def test_harvest_times_fetched_is_found(values: list[float], budgets: list[int]) -> None:
    product = harvest(values, budgets) * fetched(values, budgets)
    assert np.allclose(found(values, budgets), product)
    if values:
        assert area(cumulative(values)) == pytest.approx(harvest_curve(values).mean())


def test_extended_cut_or_continued() -> None:
    assert [2.0, 2.0, 2.0] == extended([2], 3).tolist()
    assert [1.0] == extended([1, 5], 1).tolist()


def test_geometric_mean_ignores_nan() -> None:
    assert 2.0 == pytest.approx(geometric_mean([math.nan, 1, 2, 4]))
    assert math.isnan(geometric_mean([]))
    assert math.isnan(geometric_mean([math.nan]))


@pytest.mark.paper("gouriten-precision")
def test_precision_distance_is_moving_mean() -> None:
    """Distances 0, 1, 2, 3 in a window of 2: 0, (0+1)/2, (1+2)/2, (2+3)/2."""
    assert [0.0, 0.5, 1.5, 2.5] == precision_distance([4, 3, 2, 1], [4, 4, 4, 4], window=2).tolist()
    assert [0.0, 0.0, 2.0] == precision_distance([1, math.nan, 0], [1, 1, 2], window=2).tolist()  # the gap is left out
    assert [] == precision_distance([], []).tolist()
    with pytest.raises(ValueError, match="window is 0"):
        precision_distance([1], [1], window=0)


@pytest.mark.paper("rules-exclusive")
def test_overlap_and_exclusive_harvest() -> None:
    """Crawls of 4 and 2 pages with one in common: 1 / 3."""
    a, b = np.array([0, 1, 2, 3]), np.array([3, 4])
    assert 1 / 3 == overlap(a, b) == overlap(b, a)
    assert ((1 + 0 + 0.5) / 3, 0.25) == exclusive(a, b, [1, 0, 0.5, 1, 0.25])
    assert 1.0 == overlap(a, a)
    assert all(math.isnan(value) for value in exclusive(a, a, np.ones(5)))
    assert math.isnan(overlap(a[:0], b[:0]))


@pytest.mark.paper("rules-overlap")
def test_overlap_definition_agrees_with_table_3() -> None:
    """Table 3, computer history, seed set 1: common pages have the same harvest only if 27 % are of N, not of the
    union.
    """

    def shared(ratio: float, own: float, share: float) -> tuple[float, float]:
        low = (ratio - 0.005 - (1 - share) * (own + 0.005)) / share
        return low, (ratio + 0.005 - (1 - share) * (own - 0.005)) / share

    of_union = 2 * 0.27 / (1 + 0.27)  # as a share of N, if 27 % were |A and B| / |A or B|
    agree = [shared(0.29, 0.26, share)[1] >= shared(0.40, 0.39, share)[0] for share in (0.27, of_union)]
    assert [True, False] == agree


LINKS = {"a": ["b", "c"], "b": ["c", "d"], "c": ["d", "e"], "d": ["e"], "e": ["a"], "f": ["a", "c"]}
BETA = {"a": 0.5, "b": 1.0, "c": 0.25, "d": 0.0, "e": 0.75, "f": 0.125}
ALPHA = {
    ("a", "b"): 0.5, ("a", "c"): 1.0, ("b", "c"): 0.25, ("b", "d"): 0.5, ("c", "d"): 1.0,
    ("c", "e"): 0.5, ("d", "e"): 0.25, ("e", "a"): 1.0, ("f", "a"): 0.5, ("f", "c"): 0.75,
}  # fmt: skip


def as_estimated(index: CorpusIndex, node: int) -> dict[str, float]:
    """Return the features of a node by the production estimators, with all other nodes crawled."""
    table, guide = IndexedTable(index), Judgements.given(index)
    kinds: dict[str, Estimator] = {name: FirstLevel(name[3:], smooth=False) for name in FEATURES[:4]}  # type: ignore[arg-type]
    kinds |= {name: SecondLevel(name[3:], smooth=False) for name in FEATURES[4:]}  # type: ignore[arg-type]
    for number, other in enumerate(place for place in range(len(index)) if place != node):
        row = table.seed(other)
        step = table.visited(guide.visit(other, number + 1), row, guide.link_relevances(other))
        for estimator in kinds.values():
            estimator.learn(step, table)
    row = int(table.row_at[node])
    if row < 0:  # nothing links to it
        return dict.fromkeys(kinds, 0.0)
    return {name: float(one.priority(np.array([row], np.int32), table)[0]) for name, one in kinds.items()}


def test_neighbourhood_by_hand() -> None:
    """Node c has the parents a, b and f, and the siblings b, d and a under them."""
    index = CorpusIndex.of(LINKS, BETA, ALPHA)
    relevance, alpha, c = index.score, index.alpha, index.number_of["c"]
    told = {name: float(column[c]) for name, column in neighbourhood(index, relevance, alpha).items()}
    by_hand = {
        "fl_deg": 3,
        "fl_n": 0.5 + 1 + 0.125,  # a, b, f
        "fl_e": 1 + 0.25 + 0.75,  # a-c, b-c, f-c
        "fl_ne": 0.5 * 1 + 1 * 0.25 + 0.125 * 0.75,
        "sl_n": 1 + 0 + 0.5,  # b under a, d under b, a under f
        "sl_e": 0.5 + 0.5 + 0.5,  # a-b, b-d, f-a
        "sl_ne": 1 * 0.5 + 0 * 0.5 + 0.5 * 0.5,
    }
    assert by_hand == told


def test_neighbourhood_equals_production_estimators() -> None:
    index = CorpusIndex.of(LINKS, BETA, ALPHA)
    told = neighbourhood(index, index.score, index.alpha)
    for node in range(len(index)):
        assert as_estimated(index, node) == {name: column[node] for name, column in told.items()}


@settings(max_examples=25)
@given(st.lists(st.lists(st.integers(0, 7), max_size=8, unique=True), min_size=8, max_size=8), st.integers(0, 999))
def test_neighbourhood_of_random_graphs(links: list[list[int]], chance: int) -> None:
    dice = np.random.default_rng(chance)
    names = [str(node) for node in range(8)]
    graph = {name: [names[target] for target in links[node]] for node, name in enumerate(names)}
    scores = {name: float(dice.integers(0, 5)) / 4 for name in names}
    alpha = {(source, to): float(dice.integers(0, 5)) / 4 for source in names for to in graph[source]}
    index = CorpusIndex.of(graph, scores, alpha)
    told = neighbourhood(index, index.score, index.alpha)
    for node in range(len(index)):
        assert as_estimated(index, node) == {name: column[node] for name, column in told.items()}


def test_fit_of_graph_without_links() -> None:
    index = CorpusIndex.of({"a": [], "b": []}, {"a": 1.0})
    told = neighbourhood(index, index.score, np.zeros(0, np.float32))
    assert all(not column.any() for column in told.values())
    made = fit(told, index.score)
    assert math.isnan(made["fl_n", "log"])
    assert (0.0, 0.0) == (made["lr_fl", "log"], made["lr_sl", "original"])


def test_fit_smooths_features_only() -> None:
    index = CorpusIndex.of(LINKS, BETA, ALPHA)
    features = neighbourhood(index, index.score, index.alpha)
    made = fit(features, index.score)
    assert pearson(np.log1p(features["sl_e"]), index.score) == made["sl_e", "log"]
    assert pearson(features["sl_e"], index.score) == made["sl_e", "original"]
    assert made["lr_fl", "log"] <= made["lr_sl", "log"] + 1e-12


@pytest.mark.paper("gouriten-pearson")
def test_pearson_by_hand() -> None:
    """x - 2 = -1, 0, 1 and y - 3 = -2, 1, 1: 3 / sqrt(2 * 6)."""
    assert 3 / math.sqrt(12) == pytest.approx(pearson([1, 2, 3], [1, 4, 4]))
    assert -1.0 == pytest.approx(pearson([1, 2, 3], [3, 2, 1]))
    assert math.isnan(pearson([0.1, 0.1, 0.1], [1, 2, 3]))
    assert math.isnan(pearson([], []))
    assert math.isnan(pearson([1], [2]))


def test_r_squared_by_hand() -> None:
    """A line through (0,0), (1,1), (2,1): slope 1/2, errors 1/6, -1/3, 1/6: 1 - (1/6) / (2/3)."""
    assert 0.75 == pytest.approx(r_squared([[0, 1, 2]], [0, 1, 1]))
    # collinear columns add nothing
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
