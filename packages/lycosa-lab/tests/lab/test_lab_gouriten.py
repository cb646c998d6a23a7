from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from lycosa_lab.comparison import CrawlComparison, Measure
from lycosa_lab.corpora.recorded import embedded
from lycosa_lab.corpus_index import CorpusIndex
from lycosa_lab.findings import (
    AS_PUBLISHED,
    FAILS,
    HOLDS,
    INDEPENDENT,
    UNTESTED,
    Findings,
    ReportFigure,
    ReportTable,
    plain,
)
from lycosa_lab.index_writer import write_index
from lycosa_lab.judgements import Judgements
from lycosa_lab.papers import Bench, findings
from lycosa_lab.papers.gouriten import claims, graphs
from lycosa_lab.papers.gouriten.claims import (
    BANDITS,
    DEGRADATION,
    GLOBAL,
    LEADERS,
    PEARSON,
    PLAYERS,
    R_SQUARED,
    SCORE,
    SIZES,
    STEPS,
    TIMES,
    at,
)
from lycosa_lab.papers.gouriten.graphs import crawl
from lycosa_lab.papers.gouriten.measurements import Fits, held_out
from lycosa_lab.results import ExperimentResults, Trial
from lycosa_lab.simulation import Trace
from lycosa_lab.subjects import HuntSubject
from lycosa_lab.trial_strategies import ORACLE

TABLES = [f"gouriten-table-{number}" for number in range(1, 8)]
FIGURES = [f"gouriten-figure-{number}" for number in range(1, 4)]
NODES = 320
"""Nodes of generated graphs."""


@pytest.fixture(scope="module")
def small_web(tmp_path_factory: pytest.TempPathFactory) -> CorpusIndex:
    return write_index(embedded(pages=320, hosts=15), tmp_path_factory.mktemp("web") / "index", source="small web")


@pytest.fixture(scope="module")
def made(small_web: CorpusIndex, tmp_path_factory: pytest.TempPathFactory) -> tuple[Findings, Path]:
    out = tmp_path_factory.mktemp("gouriten")
    with pytest.MonkeyPatch.context() as patch:
        small(patch)
        return findings("gouriten", Bench(small_web, out, quick=True, workers=1, large=True)), out


def small(patch: pytest.MonkeyPatch) -> None:
    """Make generated graphs small, with those of figure 1 and table 5 among them."""
    patch.setattr(graphs, "QUICK_NODES", NODES)
    patch.setattr(graphs, "LARGE_NODES", NODES)
    patch.setattr(graphs, "QUICK_LIKE", ("happy", "jazz"))


def on_graphs(
    numbers: Mapping[str, Sequence[float]], steps: Sequence[int] = STEPS, by: Measure = SCORE
) -> CrawlComparison:
    """Return six graphs with these numbers at the steps."""
    return CrawlComparison(
        {}, steps, list("abcdef"), {by: {name: np.tile(row, (6, 1)) for name, row in numbers.items()}}
    )


def published(numbers: Mapping[str, Sequence[float]]) -> CrawlComparison:
    """Return the paper's numbers as the results of six graphs."""
    texts = {**LEADERS, **PLAYERS}
    return on_graphs({texts[name]: row for name, row in numbers.items()})


@pytest.mark.paper("gouriten-table-1", "gouriten-figure-3")
def test_findings_has_all_tables_and_figures(made: tuple[Findings, Path]) -> None:
    told = made[0]
    keys = [part.key for part in told.parts]
    assert len(keys) == len(set(keys))
    modes = {part.key: part.mode for part in told.parts}
    assert dict.fromkeys([*TABLES, *FIGURES], AS_PUBLISHED) == {key: modes.get(key) for key in [*TABLES, *FIGURES]}


def test_findings_table_7_by_labels(made: tuple[Findings, Path]) -> None:
    by_key = {part.key: part for part in made[0].parts}
    table = by_key["gouriten-table-7-independent"]
    assert isinstance(table, ReportTable)
    yardsticks = {"oracle, greedy", "oracle, looking ahead"}
    assert (INDEPENDENT, set(GLOBAL) | yardsticks) == (table.mode, {row[0] for row in table.rows})


def test_findings_scores_and_correlations_in_range(made: tuple[Findings, Path]) -> None:
    by_key = {part.key: part for part in made[0].parts}
    for key in ("gouriten-table-6", "gouriten-table-7", "gouriten-table-7-independent"):
        table = by_key[key]
        assert isinstance(table, ReportTable)
        by_name = {name: [cell for row in table.rows if row[0] == name for cell in row[2:] if isinstance(cell, float)]
                   for name in {str(row[0]) for row in table.rows}}  # fmt: skip
        assert {1.0} == set(by_name.pop("oracle, greedy"))
        assert min(by_name.pop("oracle, looking ahead")) >= 1
        numbers = [number for of in by_name.values() for number in of]
        assert numbers
        assert all(0 <= number <= 1.2 for number in numbers)
    for key in ("gouriten-table-3", "gouriten-table-4"):
        table = by_key[key]
        assert isinstance(table, ReportTable)
        assert all(-1 <= cell <= 1 for row in table.rows for cell in row[1:] if isinstance(cell, float))


def test_findings_figure_1_jazz_and_table_5_happy(made: tuple[Findings, Path]) -> None:
    by_key = {part.key: part for part in made[0].parts}
    assert by_key["gouriten-figure-1-like-jazz"].title.endswith(", like JAZZ")
    times, large = by_key["gouriten-table-5"], by_key["gouriten-table-7-large"]
    assert isinstance(times, ReportTable)
    assert isinstance(large, ReportTable)
    assert ["like HAPPY"] == sorted({str(row[0]) for row in times.rows if str(row[0]).startswith("like")})
    cheap = {"bfs", "opic", "n", "e", "ne", "opic, original", "oracle, greedy", "oracle, looking ahead"}
    assert cheap == {row[0] for row in large.rows}
    assert f"like HAPPY ({NODES:,} nodes), like JAZZ" in large.note


def test_like_has_graphs_of_table_1() -> None:
    assert [name.lower() for name in SIZES] == list(graphs.LIKE)


def test_findings_only_table_5_is_timed(made: tuple[Findings, Path]) -> None:
    assert ["gouriten-table-5"] == [part.key for part in made[0].parts if part.timed]


@pytest.mark.paper("gouriten-figure-1")
def test_findings_figure_1_ends_at_greedy(made: tuple[Findings, Path]) -> None:
    figure = next(part for part in made[0].parts if part.key == "gouriten-figure-1")
    assert isinstance(figure, ReportFigure)
    assert [(1.0, 1.0)] * 3 == [(curve.x[-1], curve.y[-1]) for curve in figure.curves]


def untimed(found: Findings) -> Any:
    told = plain(found.as_dict())
    return told | {key: [one for one in told[key] if not one["timed"]] for key in ("parts", "claims")}


def test_findings_second_run_is_identical(
    small_web: CorpusIndex, made: tuple[Findings, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    small(monkeypatch)
    again = findings("gouriten", Bench(small_web, made[1], quick=True, workers=1, large=True))
    assert untimed(made[0]) == untimed(again)
    assert any(claim.timed for claim in again.claims)


def test_findings_claims_have_source_and_numbers(made: tuple[Findings, Path]) -> None:
    made_of = made[0].claims
    assert len(made_of) > 25
    assert all("2014, " in claim.source and any(letter.isdigit() for letter in claim.evidence) for claim in made_of)


def test_findings_long_run_claims_untested(made: tuple[Findings, Path]) -> None:
    late = [claim for claim in made[0].claims if "in the long run" in claim.text]
    assert {UNTESTED} == {claim.verdict for claim in late}


@pytest.mark.paper("gouriten-wikipedia")
def test_keyword_of_class_names() -> None:
    told = [graphs.keyword(name) for name in ("Science/Physics/General", "Arts/Art_and_Artists", "NaturalHistory")]
    assert ["physics", "art artists", "natural history"] == told


@pytest.mark.paper("gouriten-table-4")
def test_held_out_fit_on_other_nodes() -> None:
    chance = np.random.default_rng(1)
    beta, noise = chance.random(2000), chance.random(2000)
    assert held_out([beta], beta) == pytest.approx(1.0)
    assert held_out([noise], beta) < 0.02


@pytest.mark.paper("gouriten-table-3")
def test_fits_correlations_geometric_mean() -> None:
    index = CorpusIndex.of({"a": ["b", "c"], "d": ["c"]}, score={"b": 1, "c": 2}, alpha={("a", "b"): 1, ("a", "c"): 2})
    fits = Fits({"one": Judgements.given(index), "two": Judgements.given(index)})
    assert fits.correlations("original")["fl_e"] == pytest.approx(1.0)  # 0, 1, 2, 0 and 0, 1, 2, 0


def test_at_step_without_number() -> None:
    assert (0.147, None, None) == (at(GLOBAL["bfs"], 100), at(GLOBAL["bfs"], 300), at(TIMES["HAPPY"]["nr"], 10_000))


@pytest.mark.paper("gouriten-table-7")
def test_claims_hold_on_table_7() -> None:
    rules = (*claims.ON_TABLE_7, *claims.LATE)
    assert [HOLDS] * 6 == [rule(published(GLOBAL)).verdict for rule in rules]


BATCHES = {size: f"batch of {size}" for size in DEGRADATION}
ON_BATCHES = (claims.batch_of_two, claims.larger_is_worse, claims.delay_grows)


def with_batches(costs: Mapping[int, Sequence[float]], steps: Sequence[int] = STEPS) -> CrawlComparison:
    """Return greedy and the costs of batches, in % of its score."""
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
    """Largest variation of a bandit: .494 / .383 = 1.29; smallest of the others: ne's .583 / .378 = 1.54."""
    assert claims.steadier(published({**GLOBAL, **BANDITS})).verdict == HOLDS


@pytest.mark.paper("gouriten-table-5")
def test_claims_on_times_of_table_5() -> None:
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
    scores = on_graphs({LEADERS[name]: row for name, row in numbers.items()}, (100, 10_000))
    rules = (*claims.ON_TABLE_7, *claims.LATE)
    assert [FAILS] * 6 == [rule(scores).verdict for rule in rules]
    shaky = on_graphs({**dict.fromkeys(PLAYERS.values(), (0.1, 0.8)), **dict.fromkeys(claims.HEURISTICS, (0.3, 0.4)),
                       "lr_fl": (0.3, 0.4)}, (100, 10_000))  # fmt: skip
    assert claims.steadier(shaky).verdict == FAILS
    assert claims.second_level_no_better(scores, {"breadth-first": "fl_n"}).verdict == FAILS
    assert claims.second_level_no_better(scores, {"fl_n": "breadth-first"}).verdict == HOLDS


def test_claims_untested_on_equal_scores() -> None:
    apart = on_graphs({"fl_e": (0.5, 0.5), "fl_ne": (0.5, 0.5)}, (100, 300))
    same = replace(apart, pages=dict.fromkeys(("fl_e", "fl_ne"), [np.arange(3, dtype=np.int32)] * 6))
    high = on_graphs({"fl_e": (0.999, 0.999), "fl_ne": (0.9985, 0.9985)}, (100, 300))
    high = replace(high, most={SCORE: np.ones((6, 2))})
    few = replace(apart, topics=list("abcdee"))
    for scores in (same, high, few):
        assert UNTESTED == claims.e_and_ne_alike(scores).verdict
        assert UNTESTED == claims.original_no_better(scores, {"fl_e": "fl_ne"}).verdict


def test_claims_untested_on_short_crawls() -> None:
    short = published(GLOBAL).at(100, 1_000)
    assert [UNTESTED] * 3 == [rule(short).verdict for rule in claims.LATE]


@pytest.mark.paper("gouriten-table-2")
def test_claims_on_batches() -> None:
    costs = {2: (3.0, 0.0), 8: (3.0, 9.0), 32: (3.0, 2.0)}
    sizes = {size: BATCHES[size] for size in costs}
    assert [FAILS] * 3 == [rule(with_batches(costs, (100, 1_000)), sizes).verdict for rule in ON_BATCHES]
    early = with_batches({2: (4.0, 5.0), 8: (4.0, 5.0)}, (30, 100))
    assert [UNTESTED] * 3 == [rule(early, {size: BATCHES[size] for size in (2, 8)}).verdict for rule in ON_BATCHES]


@pytest.mark.paper("gouriten-q-zeta", "gouriten-rich-friends")
def test_claims_on_altered_greedy() -> None:
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


def test_claims_on_features() -> None:
    six = [1.0] * 6
    told = [claims.all_positive(of, 6).verdict for of in ({"a": 0.1}, {"a": 0.1, "b": -0.1})]
    assert [HOLDS, FAILS, UNTESTED] == [*told, claims.all_positive({"a": -0.1}, 5).verdict]
    assert claims.log_helps({"a": six}, {"a": [0.2] * 6}).verdict == FAILS
    assert claims.no_clear_feature({"a": 0.4, "b": 0.1}, 6).verdict == FAILS
    assert claims.low_fit({"lr_sl": [0.8] * 6}).verdict == FAILS
    assert claims.second_level_fits({"lr_fl": six, "lr_sl": [0.1] * 6}).verdict == FAILS


@pytest.mark.paper("gouriten-figure-2")
def test_claims_on_distances() -> None:
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


@pytest.mark.paper("gouriten-global-score")
def test_global_score_geometric_mean_of_means(tmp_path: Path) -> None:
    """Means of the crawler 3 and 1, of the baseline 4 and 4: sqrt(3/4 * 1/4)."""
    crawls = graphs.Crawls()
    for name, scores in (("one", (2.0, 4.0)), ("two", (1.0, 1.0)), ("greedy finds nothing", (0.0, 0.0))):
        greedy = 4.0 if max(scores) else 0.0
        score = {"b": greedy, "c": scores[0], "d": scores[1]}
        index = CorpusIndex.of({"a": ["b", "c", "d"]}, score=score)
        subject = HuntSubject(name, np.array(index.score))
        plan = Bench(index, tmp_path).plan(name, [ORACLE, "fl_n"], budgets=[1])
        made = ExperimentResults(plan, index, {name: subject})
        for text, nodes in ((ORACLE, (1, 1)), ("fl_n", (2, 3))):
            made.outcomes += [
                Trial(text, name, place, 0, Trace(np.array([0, node], np.int32), seeds=1))
                for place, node in enumerate(nodes)
            ]
        crawls.results[name] = (graphs.Dataset(name, graphs.CORPUS, index, Judgements.given(index), subject), made)
    assert math.sqrt(3 / 16) == pytest.approx(crawls.global_score(graphs.CORPUS, "fl_n", 1))


@pytest.mark.paper("gouriten-max-budget")
def test_steps_for_at_most_a_third_of_nodes() -> None:
    index = CorpusIndex.of({str(node): [str(node + 1)] for node in range(3_000)})
    assert ((100, 1_000), (30, 100, 300)) == (graphs.steps_for(index, False), graphs.steps_for(index, True))
    assert (1,) == graphs.steps_for(CorpusIndex.of({"a": ["b"]}), True)


def test_findings_table_7_has_all_numbers(made: tuple[Findings, Path]) -> None:
    table = next(part for part in made[0].parts if part.key == "gouriten-table-7")
    assert isinstance(table, ReportTable)
    at_100 = [row for row in table.rows if row[1] == 100 and row[0] in GLOBAL]
    assert 7 == len(at_100)
    assert all(isinstance(cell, float) and not math.isnan(cell) for row in at_100 for cell in row[2:])


def test_crawl_leaves_out_graph_without_reachable_labels(tmp_path: Path) -> None:
    index = CorpusIndex.of({"a": ["b"], "b": ["a"]}, score={"a": 1.0, "b": 1.0})
    guide = Judgements.given(index)
    labels = HuntSubject("lonely", np.array([1, 0], np.float32))  # a is the only seed, and no other node is labelled
    graph = graphs.Dataset(
        "LONELY", graphs.CORPUS, index, guide, HuntSubject("lonely", guide.relevance), labels, steps=(1,)
    )
    bench = Bench(index, tmp_path, quick=True, workers=1)
    crawls = crawl(bench, [graph], ["fl_n"], sets=1, mode=INDEPENDENT)
    assert ({}, 1) == (crawls.results, len(crawls.left_out))
    assert crawls.remarks()[0].startswith("LONELY: not judged by labels: ")
