from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from lycosa.core.errors import InputError
from lycosa_lab.comparison import HARVEST, RECALL, CrawlComparison, Measure, grid
from lycosa_lab.corpora.recorded import embedded
from lycosa_lab.corpus_index import CorpusIndex
from lycosa_lab.findings import AS_PUBLISHED, INDEPENDENT, Findings, ReportFigure, ReportTable
from lycosa_lab.index_writer import write_index
from lycosa_lab.papers import Bench, findings
from lycosa_lab.papers import otie as paper
from lycosa_lab.results import ExperimentResults, Trial
from lycosa_lab.simulation import Trace
from lycosa_lab.subjects import HuntSubject, subjects_of

TOPICS = [f"subject {number}" for number in range(6)]
CLASSIFIERS = Measure("by classifiers", lambda *_: np.zeros(0))


@pytest.fixture(scope="module")
def index(tmp_path_factory: pytest.TempPathFactory) -> CorpusIndex:
    out = tmp_path_factory.mktemp("otie") / "index"
    write_index(embedded(7, pages=300, hosts=8), out, source="embedded")
    return CorpusIndex.open(out)


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("runs")


@pytest.fixture(scope="module")
def made(index: CorpusIndex, runs: Path) -> Findings:
    return findings("otie", Bench(index, runs, quick=True, workers=1, topics=3))


def compared(**means: float) -> dict[str, np.ndarray]:
    """Return numbers of six topics after one, two, three and four pages."""
    spread = np.linspace(-0.001, 0.001, 6)
    return {name.replace("_", "-"): np.repeat(mean + spread[:, None], 4, axis=1) for name, mean in means.items()}


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


def test_closing_untested_on_exhausted_topics() -> None:
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


def test_of_leaves_out_trials_missing_for_a_strategy() -> None:
    labels = {"fl_n": "n", "fl_e": "e", "opic": "opic"}
    both = results(["fl_n", "fl_e"], [("fl_n", "x"), ("fl_n", "y"), ("fl_e", "y")])
    made = CrawlComparison.of(labels, [both], [2, 4], [HARVEST])
    assert (["y"], ["fl_n", "fl_e"]) == (made.topics, made.crawlers)
    one, other = results(["fl_n"], [("fl_n", "x")]), results(["fl_e"], [("fl_e", "y")])
    nothing = CrawlComparison.of(labels, [one, other], [2, 4], [HARVEST])
    assert "cannot be tested here" == nothing.ahead([("fl_n", "fl_e")], [HARVEST]).verdict


def test_of_averages_repetitions() -> None:
    made = results(["fl_n"], [("fl_n", "x")])
    again = replace(made.outcomes[0], repetition=1, trace=Trace(np.array([0, 3, 1, 2, 4], np.int32), seeds=1))
    made.outcomes.append(again)
    assert [[0.75, 0.75]] == CrawlComparison.of({"fl_n": "n"}, [made], [2, 4], [HARVEST]).values[HARVEST][
        "fl_n"
    ].tolist()


def test_pooled_fills_missing_crawlers_with_nan() -> None:
    labels = {"fl_n": "n", "fl_e": "e"}
    parts = [
        CrawlComparison.of(labels, [results(names, [(name, topic) for name in names])], [4], [HARVEST])
        for names, topic in ((["fl_n", "fl_e"], "x"), (["fl_n"], "y"))
    ]
    made = CrawlComparison.pooled(parts)
    assert (["x", "y"], [0.75, 0.75]) == (made.topics, made.values[HARVEST]["fl_n"][:, 0].tolist())
    assert [False, True] == np.isnan(made.values[HARVEST]["fl_e"][:, 0]).tolist()
    assert [1, 1] == [len(curve.y) for curve in made.figure("k", "t", "y", HARVEST).curves]


def test_ahead_untested_for_identical_crawls() -> None:
    both = results(["fl_n", "fl_e"], [(name, topic) for name in ("fl_n", "fl_e") for topic in "xy"])
    made = CrawlComparison.of({"fl_n": "n", "fl_e": "e"}, [both], [2, 4], [HARVEST])
    assert [1.0, 0.75] == made.values[HARVEST]["fl_n"][0].tolist()
    values = {name: np.repeat(of[:1], 6, 0) for name, of in made.values[HARVEST].items()}
    pages = {name: list(nodes) * 3 for name, nodes in made.pages.items()}
    six = CrawlComparison(made.labels, [2, 4], TOPICS, {HARVEST: values}, pages=pages)
    ruling = six.ahead([("fl_n", "fl_e")], [HARVEST])
    assert ("cannot be tested here", True) == (
        ruling.verdict,
        "are the same crawls in 6 of 6 trials" in ruling.evidence,
    )


@pytest.mark.paper("otie-experiment")
def test_claims_hold_on_results_like_the_paper() -> None:
    """OTIE is ahead in recall, link context in precision; there is no gap to catch up."""
    harvests = compared(breadth_first=0.1, link_context=0.5, opic=0.2, otie=0.4)
    recalls = compared(breadth_first=0.1, link_context=0.3, opic=0.2, otie=0.6)
    made = crawls({HARVEST: harvests, CLASSIFIERS: harvests, RECALL: recalls})
    claims = [claim(made, CLASSIFIERS) for claim in paper.CLAIMS]
    assert ["holds", "holds", "does not hold", "holds"] == [claim.verdict for claim in claims]


def test_claims_fail_on_opposite_results() -> None:
    numbers = compared(breadth_first=0.5, link_context=0.2, opic=0.4, otie=0.1)
    made = crawls(dict.fromkeys((HARVEST, CLASSIFIERS, RECALL), numbers))
    claims = [claim(made, CLASSIFIERS) for claim in paper.CLAIMS]
    assert ["does not hold"] * 4 == [claim.verdict for claim in claims]


@pytest.mark.paper("otie-topics", "otie-figure-1", "otie-figure-2")
def test_findings_has_figures_with_judges(made: Findings) -> None:
    figures = {part.key: part.mode for part in made.parts if isinstance(part, ReportFigure)}
    assert figures == {
        "otie-figure-1": AS_PUBLISHED,
        "otie-figure-1-labels": INDEPENDENT,
        "otie-figure-2": INDEPENDENT,
    }


@pytest.mark.paper("otie-breadth-first")
def test_findings_curves_in_range(made: Findings) -> None:
    for part in made.parts:
        if isinstance(part, ReportFigure):
            assert [curve.label for curve in part.curves] == list(paper.CRAWLERS.values())
            for curve in part.curves:
                assert all(0 <= y <= 1 for y in curve.y)
                assert all(low <= y <= high for low, y, high in zip(curve.low, curve.y, curve.high, strict=True))
                assert part.key != "otie-figure-2" or list(curve.y) == sorted(curve.y)


def test_findings_quality_of_classifiers(made: Findings) -> None:
    (table,) = (part for part in made.parts if part.key == "otie-classifiers")
    assert isinstance(table, ReportTable)
    assert [row[0] for row in table.rows] == ["SVM", "Naive Bayes"]
    assert any("neural network" in remark for remark in made.remarks)
    assert all(0 < float(value or 0) <= 1 for row in table.rows for value in row[1:])


@pytest.mark.paper("otie-guide")
def test_trained_three_classifiers_on_same_pages(index: CorpusIndex, tmp_path: Path) -> None:
    (subject,) = subjects_of(index, ["cooking"])
    guided, said = paper._trained(index, subject, ["svm", "nb", "nn"], tmp_path, 0)
    assert ["svm", "nb", "nn"] == list(said)
    assert all((one == (subject.truth > 0)).mean() > 0.8 for one in said.values())
    assert guided.model is not None
    assert guided.model.name == "svm"


def test_findings_second_run_is_identical(made: Findings, index: CorpusIndex, runs: Path) -> None:
    again = findings("otie", Bench(index, runs, quick=True, workers=1, topics=3))
    assert made.as_dict()["parts"] == again.as_dict()["parts"]
    assert made.claims == again.claims


def test_findings_of_graph_is_error(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="text and classes"):
        findings("otie", Bench(CorpusIndex.of({"a": ["b"]}, score={"b": 1.0}), tmp_path, quick=True))
