from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np
import pytest

from lycosa_lab.comparison import CrawlComparison, Measure
from lycosa_lab.findings import FAILS, HOLDS, UNTESTED
from lycosa_lab.papers.gouriten import claims
from lycosa_lab.papers.gouriten.claims import (
    BANDITS,
    DEGRADATION,
    GLOBAL,
    PEARSON,
    R_SQUARED,
    SCORE,
    STEPS,
    TABLE_6,
    TABLE_7,
    TIMES,
    paper_value,
)
from lycosa_lab.trial_strategies import ORACLE


def on_graphs(
    numbers: Mapping[str, Sequence[float]], steps: Sequence[int] = STEPS, by: Measure = SCORE
) -> CrawlComparison:
    """Return results of six graphs with these numbers at the steps."""
    return CrawlComparison(
        {}, steps, list("abcdef"), {by: {name: np.tile(row, (6, 1)) for name, row in numbers.items()}}
    )


def published(numbers: Mapping[str, Sequence[float]]) -> CrawlComparison:
    """Return the paper's numbers as the results of six graphs."""
    texts = {**TABLE_7, **TABLE_6}
    return on_graphs({texts[name]: row for name, row in numbers.items()})


def test_paper_value_without_number_is_none() -> None:
    assert (0.147, None, None) == (
        paper_value(GLOBAL["bfs"], 100),
        paper_value(GLOBAL["bfs"], 300),
        paper_value(TIMES["HAPPY"]["nr"], 10_000),
    )


@pytest.mark.paper("gouriten-table-7")
def test_claims_hold_on_table_7() -> None:
    rules = (*claims.TABLE_7_CLAIMS, *claims.LONG_RUN_CLAIMS)
    assert [HOLDS] * 6 == [rule(published(GLOBAL)).verdict for rule in rules]


BATCHES = {size: f"batch of {size}" for size in DEGRADATION}
ON_BATCHES = (claims.batch_of_two, claims.larger_is_worse, claims.delay_grows)


def with_batches(costs: Mapping[int, Sequence[float]], steps: Sequence[int] = STEPS) -> CrawlComparison:
    """Return results of greedy crawls, and the costs of batches in % of greedy's score."""
    scores = {BATCHES[size]: [1 - cost / 100 for cost in row] for size, row in costs.items()}
    return on_graphs({ORACLE: [1.0] * len(steps), **scores}, steps)


def test_claims_hold_on_other_tables() -> None:
    assert [HOLDS] * 3 == [rule(with_batches(DEGRADATION), BATCHES).verdict for rule in ON_BATCHES]
    original, log = ({str(place): [value] * 6 for place, value in enumerate(PEARSON[kind])} for kind in PEARSON)
    assert claims.log_helps(original, log).verdict == HOLDS
    assert claims.no_clear_feature({name: of[0] for name, of in log.items()}, 6).verdict == HOLDS
    fit = {name: [value] * 6 for name, value in zip(("lr_fl", "lr_sl"), R_SQUARED["log"], strict=True)}
    assert (HOLDS, HOLDS) == (claims.low_fit(fit).verdict, claims.second_level_fits(fit).verdict)
    assert claims.bandits_alike(published(BANDITS)).verdict == HOLDS


@pytest.mark.paper("gouriten-table-6")
def test_steadier_holds_on_paper_numbers() -> None:
    """The ratio is largest / smallest score: at most .494 / .383 = 1.29 for bandits, else from .583 / .378 = 1.54."""
    assert claims.bandits_steadier(published({**GLOBAL, **BANDITS})).verdict == HOLDS


@pytest.mark.paper("gouriten-table-5")
def test_claims_on_times_hold_on_table_5() -> None:
    times = {
        graph: {
            name: {step: value for step, value in zip(STEPS, values, strict=True) if value is not None}
            for name, values in of.items()
        }
        for graph, of in TIMES.items()
    }
    assert [HOLDS, HOLDS] == [claims.nr_slow(times[graph]).verdict for graph in times]
    assert [HOLDS, HOLDS] == [claims.second_level_costs(times[graph]).verdict for graph in times]
    assert [HOLDS, FAILS] == [claims.first_level_quick(times[graph]).verdict for graph in times]  # 2.1 and 3.9 ms


@pytest.mark.paper("gouriten-unweighted-opic", "gouriten-second-level-leads")
def test_claims_fail_on_contrary_numbers() -> None:
    numbers = {
        "bfs": (0.9, 0.9), "opic": (0.5, 0.5), "n": (0.8, 0.3), "e": (0.4, 0.6), "ne": (0.2, 0.4),
        "lr_fl": (0.7, 0.4), "mab_var-0.2-200": (0.1, 0.8),
    }  # fmt: skip
    scores = on_graphs({TABLE_7[name]: row for name, row in numbers.items()}, (100, 10_000))
    rules = (*claims.TABLE_7_CLAIMS, *claims.LONG_RUN_CLAIMS)
    assert [FAILS] * 6 == [rule(scores).verdict for rule in rules]
    shaky = on_graphs({**dict.fromkeys(TABLE_6.values(), (0.1, 0.8)), **dict.fromkeys(claims.HEURISTICS, (0.3, 0.4)),
                       "lr_fl": (0.3, 0.4)}, (100, 10_000))  # fmt: skip
    assert claims.bandits_steadier(shaky).verdict == FAILS
    assert claims.second_level_no_better(scores, {"breadth-first": "fl_n"}).verdict == FAILS
    assert claims.second_level_no_better(scores, {"fl_n": "breadth-first"}).verdict == HOLDS


def test_claims_are_untested_on_equal_scores() -> None:
    apart = on_graphs({"fl_e": (0.5, 0.5), "fl_ne": (0.5, 0.5)}, (100, 300))
    same = replace(apart, pages=dict.fromkeys(("fl_e", "fl_ne"), [np.arange(3, dtype=np.int32)] * 6))
    high = on_graphs({"fl_e": (0.999, 0.999), "fl_ne": (0.9985, 0.9985)}, (100, 300))
    high = replace(high, maximum={SCORE: np.ones((6, 2))})
    few = replace(apart, topics=list("abcdee"))
    for scores in (same, high, few):
        assert UNTESTED == claims.e_and_ne_alike(scores).verdict
        assert UNTESTED == claims.original_no_better(scores, {"fl_e": "fl_ne"}).verdict


def test_claims_are_untested_on_short_crawls() -> None:
    short = published(GLOBAL).at(100, 1_000)
    assert [UNTESTED] * 3 == [rule(short).verdict for rule in claims.LONG_RUN_CLAIMS]


@pytest.mark.paper("gouriten-table-2")
def test_claims_on_batches_fail_or_are_untested() -> None:
    costs = {2: (3.0, 0.0), 8: (3.0, 9.0), 32: (3.0, 2.0)}
    sizes = {size: BATCHES[size] for size in costs}
    assert [FAILS] * 3 == [rule(with_batches(costs, (100, 1_000)), sizes).verdict for rule in ON_BATCHES]
    early = with_batches({2: (4.0, 5.0), 8: (4.0, 5.0)}, (30, 100))
    assert [UNTESTED] * 3 == [rule(early, {size: BATCHES[size] for size in (2, 8)}).verdict for rule in ON_BATCHES]


@pytest.mark.paper("gouriten-q-zeta", "gouriten-rich-friends")
def test_claims_on_altered_greedy_follow_scores() -> None:
    def altered(low: float, high: float, step: int = 5_000) -> CrawlComparison:
        return on_graphs({ORACLE: (1.0,), "q = 0.2": (low,), "q = 0.8": (high,)}, (step,))

    behind, ahead = altered(0.5, 0.98), altered(1.1, 0.98)
    assert [HOLDS, FAILS, UNTESTED] == [
        claims.greedy_wins(one).verdict for one in (behind, ahead, altered(0.5, 0.98, 300))
    ]
    assert [HOLDS, FAILS] == [claims.near_greedy_best(one).verdict for one in (behind, ahead)]
    assert [HOLDS, UNTESTED, FAILS, UNTESTED, UNTESTED] == [
        claims.altered_early(one).verdict
        for one in (
            altered(1.02, 0.9, 100), altered(0.9, 0.98, 100), altered(1.5, 0.9, 100), ahead, altered(1.0, 1.0, 100)
        )
    ]  # fmt: skip


def test_claims_on_features_follow_correlations() -> None:
    six = [1.0] * 6
    output = [claims.all_positive(of, 6).verdict for of in ({"a": 0.1}, {"a": 0.1, "b": -0.1})]
    assert [HOLDS, FAILS, UNTESTED] == [*output, claims.all_positive({"a": -0.1}, 5).verdict]
    assert claims.log_helps({"a": six}, {"a": [0.2] * 6}).verdict == FAILS
    assert claims.no_clear_feature({"a": 0.4, "b": 0.1}, 6).verdict == FAILS
    assert claims.low_fit({"lr_sl": [0.8] * 6}).verdict == FAILS
    assert claims.second_level_fits({"lr_fl": six, "lr_sl": [0.1] * 6}).verdict == FAILS


@pytest.mark.paper("gouriten-figure-2")
def test_claims_on_distances_follow_quarters() -> None:
    early = {"n": 1.0, "e": 0.9, "ne": 0.5, "lr_fl": 1.0}
    late = {"n": 0.2, "e": 0.4, "ne": 0.3, "lr_fl": 0.1}

    def watched(first: dict[str, float], last: dict[str, float], steps: int) -> CrawlComparison:
        numbers = {name: (first[name], first[name], last[name], last[name]) for name in first}
        return on_graphs(numbers, [steps * part // 4 for part in (1, 2, 3, 4)], claims.DISTANCE)

    rules = (claims.distance_falls, claims.ne_loses_ground, claims.regression_catches_up)
    assert [HOLDS] * 3 == [rule(watched(early, late, 20_000)).verdict for rule in rules]
    assert [FAILS, FAILS, UNTESTED] == [rule(watched(late, early, 20_000)).verdict for rule in rules]
    assert [UNTESTED] * 3 == [rule(watched(early, late, 1_000)).verdict for rule in rules]
    best = [dict.fromkeys("abcdef", quarters) for quarters in (["n", "e"], ["n", "n"])]
    assert [HOLDS, FAILS, UNTESTED] == [claims.no_winner(of).verdict for of in (*best, {"g": ["n", "n"]})]


def test_greedy_not_optimal_only_if_beaten() -> None:
    assert [HOLDS, UNTESTED] == [claims.greedy_not_optimal(lines).verdict for lines in (["fl_n: 3 against 2"], [])]
