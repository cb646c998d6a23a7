from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np

from lycosa_lab.comparison import HARVEST, CrawlComparison, Measure, grid
from lycosa_lab.corpus_index import CorpusIndex
from lycosa_lab.papers import Bench
from lycosa_lab.papers import otie as paper
from lycosa_lab.results import ExperimentResults, Trial
from lycosa_lab.simulation import Trace
from lycosa_lab.subjects import HuntSubject

TOPICS = [f"subject {number}" for number in range(6)]


def crawls(by: dict[Measure, dict[str, np.ndarray]], spent: bool = False) -> CrawlComparison:
    names = next(iter(by.values()))
    budgets = list(range(1, 1 + next(iter(names.values())).shape[1]))
    return CrawlComparison(paper.CRAWLERS, budgets, TOPICS, by, spent=dict.fromkeys(names, np.full(6, spent)))


def test_closing_gap_that_shrinks() -> None:
    steady = np.full((6, 4), 0.5)
    gap = np.array([0.4, 0.3, 0.2, 0.1])
    caught, never = (crawls({HARVEST: {"ahead": steady, "behind": steady - apart}}) for apart in (gap, np.full(4, 0.4)))
    assert caught.closing("ahead", "behind", HARVEST).verdict == "holds"
    assert never.closing("ahead", "behind", HARVEST).verdict == "does not hold"
    assert caught.closing("behind", "ahead", HARVEST).verdict == "cannot be tested here"


def test_closing_is_untested_on_exhausted_topics() -> None:
    numbers = {"ahead": np.full((6, 4), 0.5), "behind": np.full((6, 4), 0.4)}
    ruling = crawls({HARVEST: numbers}, spent=True).closing("ahead", "behind", HARVEST)
    assert ("cannot be tested here", True) == (ruling.verdict, "nothing is left to find in 6 of 6" in ruling.evidence)


def test_grid_ends_with_budget() -> None:
    assert grid(10, 20) == [1, 2, 3, 4, 5, 6, 7, 8, 9, 10]
    assert grid(1000)[-1] == 1000


def results(names: list[str], crawled: list[tuple[str, str]]) -> ExperimentResults:
    index = CorpusIndex.of({str(node): [str(node + 1)] for node in range(4)})
    truth = np.array([0, 1, 1, 0, 1], np.float32)
    topics = {name: HuntSubject(name, truth) for name in ("x", "y")}
    plan = Bench(index, Path()).plan("one", names, budgets=[2, 4])
    trace = Trace(np.arange(5, dtype=np.int32), seeds=1)
    return ExperimentResults(plan, index, topics, [Trial(name, topic, 0, 0, trace) for name, topic in crawled])


def test_crawl_comparison_omits_missing_trials() -> None:
    labels = {"fl_n": "n", "fl_e": "e", "opic": "opic"}
    both = results(["fl_n", "fl_e"], [("fl_n", "x"), ("fl_n", "y"), ("fl_e", "y")])
    result = CrawlComparison.of(labels, [both], [2, 4], [HARVEST])
    assert (["y"], ["fl_n", "fl_e"]) == (result.topics, result.crawlers)
    one, other = results(["fl_n"], [("fl_n", "x")]), results(["fl_e"], [("fl_e", "y")])
    nothing = CrawlComparison.of(labels, [one, other], [2, 4], [HARVEST])
    assert "cannot be tested here" == nothing.ahead([("fl_n", "fl_e")], [HARVEST]).verdict


def test_crawl_comparison_averages_repetitions() -> None:
    result = results(["fl_n"], [("fl_n", "x")])
    again = replace(result.outcomes[0], repetition=1, trace=Trace(np.array([0, 3, 1, 2, 4], np.int32), seeds=1))
    result.outcomes.append(again)
    assert [[0.75, 0.75]] == CrawlComparison.of({"fl_n": "n"}, [result], [2, 4], [HARVEST]).values[HARVEST][
        "fl_n"
    ].tolist()


def test_pooled_fills_missing_crawlers_with_nan() -> None:
    labels = {"fl_n": "n", "fl_e": "e"}
    parts = [
        CrawlComparison.of(labels, [results(names, [(name, topic) for name in names])], [4], [HARVEST])
        for names, topic in ((["fl_n", "fl_e"], "x"), (["fl_n"], "y"))
    ]
    result = CrawlComparison.pooled(parts)
    assert (["x", "y"], [0.75, 0.75]) == (result.topics, result.values[HARVEST]["fl_n"][:, 0].tolist())
    assert [False, True] == np.isnan(result.values[HARVEST]["fl_e"][:, 0]).tolist()
    assert [1, 1] == [len(curve.y) for curve in result.figure("k", "t", "y", HARVEST).curves]


def test_ahead_is_untested_for_identical_crawls() -> None:
    both = results(["fl_n", "fl_e"], [(name, topic) for name in ("fl_n", "fl_e") for topic in "xy"])
    result = CrawlComparison.of({"fl_n": "n", "fl_e": "e"}, [both], [2, 4], [HARVEST])
    assert [1.0, 0.75] == result.values[HARVEST]["fl_n"][0].tolist()
    values = {name: np.repeat(of[:1], 6, 0) for name, of in result.values[HARVEST].items()}
    pages = {name: list(nodes) * 3 for name, nodes in result.pages.items()}
    six = CrawlComparison(result.labels, [2, 4], TOPICS, {HARVEST: values}, pages=pages)
    ruling = six.ahead([("fl_n", "fl_e")], [HARVEST])
    assert ("cannot be tested here", True) == (
        ruling.verdict,
        "are the same crawls in 6 of 6 trials" in ruling.evidence,
    )
