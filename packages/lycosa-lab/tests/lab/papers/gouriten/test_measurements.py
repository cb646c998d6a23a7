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
from lycosa_lab.measures import pearson
from lycosa_lab.papers.gouriten.claims import FEATURES
from lycosa_lab.papers.gouriten.measurements import Fits, fit, held_out, neighbourhood
from lycosa_lab.simulation import IndexedTable


@pytest.mark.paper("gouriten-table-4")
def test_held_out_fit_uses_other_nodes() -> None:
    chance = np.random.default_rng(1)
    beta, noise = chance.random(2000), chance.random(2000)
    assert held_out([beta], beta) == pytest.approx(1.0)
    assert held_out([noise], beta) < 0.02


@pytest.mark.paper("gouriten-table-3")
def test_fits_correlations_are_geometric_means() -> None:
    index = CorpusIndex.of({"a": ["b", "c"], "d": ["c"]}, score={"b": 1, "c": 2}, alpha={("a", "b"): 1, ("a", "c"): 2})
    fits = Fits({"one": Judgements.given(index), "two": Judgements.given(index)})
    assert fits.correlations("original")["fl_e"] == pytest.approx(1.0)  # 0, 1, 2, 0 and 0, 1, 2, 0


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
    if row < 0:  # no incoming links
        return dict.fromkeys(kinds, 0.0)
    return {name: float(one.priority(np.array([row], np.int32), table)[0]) for name, one in kinds.items()}


def test_neighbourhood_by_hand() -> None:
    index = CorpusIndex.of(LINKS, BETA, ALPHA)
    relevance, alpha, c = index.score, index.alpha, index.number_of["c"]
    output = {name: float(column[c]) for name, column in neighbourhood(index, relevance, alpha).items()}
    by_hand = {
        "fl_deg": 3,
        "fl_n": 0.5 + 1 + 0.125,  # a, b, f
        "fl_e": 1 + 0.25 + 0.75,  # a-c, b-c, f-c
        "fl_ne": 0.5 * 1 + 1 * 0.25 + 0.125 * 0.75,
        "sl_n": 1 + 0 + 0.5,  # b by a, d by b, a by f
        "sl_e": 0.5 + 0.5 + 0.5,  # a-b, b-d, f-a
        "sl_ne": 1 * 0.5 + 0 * 0.5 + 0.5 * 0.5,
    }
    assert by_hand == output


def test_neighbourhood_equals_production_estimators() -> None:
    index = CorpusIndex.of(LINKS, BETA, ALPHA)
    output = neighbourhood(index, index.score, index.alpha)
    for node in range(len(index)):
        assert as_estimated(index, node) == {name: column[node] for name, column in output.items()}


@settings(max_examples=25)
@given(st.lists(st.lists(st.integers(0, 7), max_size=8, unique=True), min_size=8, max_size=8), st.integers(0, 999))
def test_neighbourhood_equals_definition_on_random_graphs(links: list[list[int]], chance: int) -> None:
    dice = np.random.default_rng(chance)
    names = [str(node) for node in range(8)]
    graph = {name: [names[target] for target in links[node]] for node, name in enumerate(names)}
    scores = {name: float(dice.integers(0, 5)) / 4 for name in names}
    alpha = {(source, to): float(dice.integers(0, 5)) / 4 for source in names for to in graph[source]}
    index = CorpusIndex.of(graph, scores, alpha)
    output = neighbourhood(index, index.score, index.alpha)
    for node in range(len(index)):
        assert as_estimated(index, node) == {name: column[node] for name, column in output.items()}


def test_fit_of_graph_without_links_is_nan() -> None:
    index = CorpusIndex.of({"a": [], "b": []}, {"a": 1.0})
    output = neighbourhood(index, index.score, np.zeros(0, np.float32))
    assert all(not column.any() for column in output.values())
    report = fit(output, index.score)
    assert math.isnan(report["fl_n", "log"])
    assert (0.0, 0.0) == (report["lr_fl", "log"], report["lr_sl", "original"])


def test_fit_smooths_features_only() -> None:
    index = CorpusIndex.of(LINKS, BETA, ALPHA)
    features = neighbourhood(index, index.score, index.alpha)
    report = fit(features, index.score)
    assert pearson(np.log1p(features["sl_e"]), index.score) == report["sl_e", "log"]
    assert pearson(features["sl_e"], index.score) == report["sl_e", "original"]
    assert report["lr_fl", "log"] <= report["lr_sl", "log"] + 1e-12
