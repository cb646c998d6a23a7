from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from input_errors import raises_input_error
from lycosa_lab.comparison import HARVEST, RECALL, CrawlComparison, Measure
from lycosa_lab.corpora.recorded import embedded
from lycosa_lab.corpus_index import CorpusIndex
from lycosa_lab.findings import AS_PUBLISHED, INDEPENDENT, Findings, ReportFigure, ReportTable
from lycosa_lab.index_writer import write_index
from lycosa_lab.papers import Bench, findings
from lycosa_lab.papers import otie as paper
from lycosa_lab.subjects import subjects_of

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
def report(index: CorpusIndex, runs: Path) -> Findings:
    return findings("otie", Bench(index, runs, quick=True, workers=1, topics=3))


def compared(**means: float) -> dict[str, np.ndarray]:
    """Return numbers of six topics after one, two, three and four pages."""
    spread = np.linspace(-0.001, 0.001, 6)
    return {name.replace("_", "-"): np.repeat(mean + spread[:, None], 4, axis=1) for name, mean in means.items()}


def crawls(by: dict[Measure, dict[str, np.ndarray]], spent: bool = False) -> CrawlComparison:
    names = next(iter(by.values()))
    budgets = list(range(1, 1 + next(iter(names.values())).shape[1]))
    return CrawlComparison(paper.CRAWLERS, budgets, TOPICS, by, spent=dict.fromkeys(names, np.full(6, spent)))


@pytest.mark.paper("otie-experiment")
def test_claims_hold_on_results_like_paper() -> None:
    harvests = compared(breadth_first=0.1, link_context=0.5, opic=0.2, otie=0.4)
    recalls = compared(breadth_first=0.1, link_context=0.3, opic=0.2, otie=0.6)
    report = crawls({HARVEST: harvests, CLASSIFIERS: harvests, RECALL: recalls})
    claims = [claim(report, CLASSIFIERS) for claim in paper.CLAIMS]
    assert ["holds", "holds", "does not hold", "holds"] == [claim.verdict for claim in claims]


def test_claims_fail_on_opposite_results() -> None:
    numbers = compared(breadth_first=0.5, link_context=0.2, opic=0.4, otie=0.1)
    report = crawls(dict.fromkeys((HARVEST, CLASSIFIERS, RECALL), numbers))
    claims = [claim(report, CLASSIFIERS) for claim in paper.CLAIMS]
    assert ["does not hold"] * 4 == [claim.verdict for claim in claims]


@pytest.mark.paper("otie-topics", "otie-figure-1", "otie-figure-2")
def test_findings_has_figures_with_judges(report: Findings) -> None:
    figures = {part.key: part.mode for part in report.parts if isinstance(part, ReportFigure)}
    assert figures == {"otie-figure-1": AS_PUBLISHED, "otie-figure-1-labels": INDEPENDENT, "otie-figure-2": INDEPENDENT}


@pytest.mark.paper("otie-breadth-first")
def test_findings_curves_are_in_range(report: Findings) -> None:
    for part in report.parts:
        if isinstance(part, ReportFigure):
            assert [curve.label for curve in part.curves] == list(paper.CRAWLERS.values())
            for curve in part.curves:
                assert all(0 <= y <= 1 for y in curve.y)
                assert all(low <= y <= high for low, y, high in zip(curve.low, curve.y, curve.high, strict=True))
                assert part.key != "otie-figure-2" or list(curve.y) == sorted(curve.y)


def test_findings_table_has_quality_of_classifiers(report: Findings) -> None:
    (table,) = (part for part in report.parts if part.key == "otie-classifiers")
    assert isinstance(table, ReportTable)
    assert [row[0] for row in table.rows] == ["SVM", "Naive Bayes"]
    assert any("neural network" in remark for remark in report.remarks)
    assert all(0 < float(value or 0) <= 1 for row in table.rows for value in row[1:])


@pytest.mark.paper("otie-guide")
def test_trained_returns_three_classifiers_of_same_pages(index: CorpusIndex, tmp_path: Path) -> None:
    (subject,) = subjects_of(index, ["cooking"])
    guided, said = paper._trained(index, subject, ["svm", "nb", "nn"], tmp_path, 0)
    assert ["svm", "nb", "nn"] == list(said)
    assert all((one == (subject.truth > 0)).mean() > 0.8 for one in said.values())
    assert guided.model is not None
    assert guided.model.name == "svm"


def test_findings_second_run_is_identical(report: Findings, index: CorpusIndex, runs: Path) -> None:
    again = findings("otie", Bench(index, runs, quick=True, workers=1, topics=3))
    assert report.as_dict()["parts"] == again.as_dict()["parts"]
    assert report.claims == again.claims


def test_findings_of_graph_is_error(tmp_path: Path) -> None:
    with raises_input_error("no-text"):
        findings("otie", Bench(CorpusIndex.of({"a": ["b"]}, score={"b": 1.0}), tmp_path, quick=True))
