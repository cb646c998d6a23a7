from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from input_errors import raises_input_error
from lycosa.text.ontology import Ontology
from lycosa_lab.comparison import FOUND, CrawlComparison
from lycosa_lab.corpora.recorded import embedded
from lycosa_lab.corpus_index import CorpusIndex
from lycosa_lab.findings import AS_PUBLISHED, INDEPENDENT, Claim, Findings, ReportFigure, ReportTable
from lycosa_lab.index_writer import write_index
from lycosa_lab.papers import Bench, findings
from lycosa_lab.papers import batsakis as paper
from lycosa_lab.papers.batsakis import Evaluator
from lycosa_lab.subjects import HuntSubject

SUBJECTS = [f"subject {number}" for number in range(6)]
EVALUATOR = Evaluator(CorpusIndex.of({"a": ["b"]}))


@pytest.fixture(scope="module")
def index(tmp_path_factory: pytest.TempPathFactory) -> CorpusIndex:
    out = tmp_path_factory.mktemp("batsakis") / "index"
    write_index(embedded(7, pages=180, hosts=6), out, source="embedded")
    return CorpusIndex.open(out)


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("runs")


@pytest.fixture(scope="module")
def report(index: CorpusIndex, runs: Path, wordnet: Ontology) -> Findings:
    return findings("batsakis", Bench(index, runs, quick=True, workers=1, topics=3))


def judged(means: dict[str, float]) -> CrawlComparison:
    """Return results of six subjects with about these numbers of relevant pages per crawler."""
    spread = np.linspace(-0.1, 0.1, 6)[:, None]
    values = {name: mean + spread for name, mean in means.items()}
    similar = {name: rows / 100 for name, rows in values.items()}
    by = {FOUND: values, EVALUATOR.above: values, EVALUATOR.similarity: similar}
    return CrawlComparison({}, [100], SUBJECTS, by)


def claims_on(classic: CrawlComparison, semantic: CrawlComparison, learning: CrawlComparison) -> list[Claim]:
    groups = zip((classic, semantic, learning), paper.CLAIMS, strict=True)
    return [claim(group, EVALUATOR) for group, claims in groups for claim in claims]


def verdicts(classic: CrawlComparison, semantic: CrawlComparison, learning: CrawlComparison) -> list[str]:
    return [claim.verdict for claim in claims_on(classic, semantic, learning)]


CLASSIC = {"breadth-first": 10.0, "best-first-page": 20.0, "best-first-anchor": 30.0, "best-first": 40.0}
SEMANTIC = {
    "best-first": 40.0,
    "ehrig": 30.0,
    "ssrm,idf=background": 35.0,
    "synset-expansion,literal=yes,idf=background": 45.0,
}
LEARNING = {"hmm": 10.0, "hmm-xmeans": 10.0, "hybrid": 20.0, "hybrid-anchor": 30.0}


@pytest.mark.paper("batsakis-experiment-classic")
def test_claims_hold_on_results_like_thesis() -> None:
    assert ["holds"] * 9 == verdicts(judged(CLASSIC), judged(SEMANTIC), judged(LEARNING))


@pytest.mark.paper("batsakis-experiment-learning")
def test_claims_fail_on_opposite_results() -> None:
    turned = [{name: 50 - mean for name, mean in group.items()} for group in (CLASSIC, SEMANTIC, LEARNING)]
    turned[2]["hmm-xmeans"] = 5.0
    assert ["does not hold"] * 3 + ["holds"] + ["does not hold"] * 5 == verdicts(*map(judged, turned))


def test_claims_are_untested_without_wordnet() -> None:
    claims = claims_on(judged(CLASSIC), judged({"best-first": 40.0}), judged(LEARNING))
    assert ["cannot be tested here"] * 2 == [claim.verdict for claim in claims[4:6]]
    assert "ehrig" in claims[4].evidence
    assert claims[7].verdict == "holds"


def test_claims_same_order_untested_without_similar_pages() -> None:
    some = judged(CLASSIC)
    none = {name: np.zeros((6, 1)) for name in CLASSIC}
    reverse = {name: 50 - values for name, values in some.values[FOUND].items()}
    for values, verdict in ((none, "cannot be tested here"), (reverse, "does not hold")):
        classic = replace(some, values={**some.values, EVALUATOR.above: values})
        assert verdicts(classic, judged(SEMANTIC), judged(LEARNING))[3] == verdict


@pytest.mark.paper(
    "batsakis-topics",
    "batsakis-figure-12",
    "batsakis-figure-13",
    "batsakis-figure-14",
    "batsakis-figure-15",
    "batsakis-figure-16",
    "batsakis-figure-17",
)
def test_findings_has_figures_12_to_17(report: Findings) -> None:
    figures = {part.key: part.mode for part in report.parts if isinstance(part, ReportFigure)}
    assert figures == {f"batsakis-figure-{number}": AS_PUBLISHED for number in range(12, 18)} | {
        f"batsakis-figure-{number}-labels": INDEPENDENT for number in (12, 14, 16)
    }
    curves = {part.key: len(part.curves) for part in report.parts if isinstance(part, ReportFigure)}
    assert [4, 5, 4] == [curves[f"batsakis-figure-{number}"] for number in (12, 14, 16)]
    assert [4, 5, 4] == [curves[f"batsakis-figure-{number}"] for number in (13, 15, 17)]


def test_findings_curves_are_in_range(report: Findings) -> None:
    for part in report.parts:
        if isinstance(part, ReportFigure):
            for curve in part.curves:
                if part.y_label == "average similarity":
                    assert all(0 <= y <= 1 for y in curve.y)
                else:
                    assert all(0 <= y <= x for x, y in zip(curve.x, curve.y, strict=True))
                    assert list(curve.y) == sorted(curve.y)


def test_evaluator_table_has_fewer_pages_at_higher_thresholds(report: Findings) -> None:
    (table,) = (part for part in report.parts if part.key == "batsakis-evaluator")
    assert isinstance(table, ReportTable)
    pages = [float(row[1] or 0) for row in table.rows]
    assert pages == sorted(pages)
    assert [0.75, 0.5, 0.4, 0.3, 0.2] == [row[0] for row in table.rows]


@pytest.mark.paper("batsakis-experiment-semantic")
def test_findings_without_wordnet_leaves_out_three_crawlers(
    report: Findings, index: CorpusIndex, runs: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(paper, "_has_wordnet", lambda: False)
    without = findings("batsakis", Bench(index, runs, quick=True, workers=1, topics=3))
    parts = {part.key: part for part in without.parts}
    left = parts["batsakis-figure-14"]
    assert isinstance(left, ReportFigure)
    assert [curve.label for curve in left.curves] == [paper.SEMANTIC["best-first-anchor"], paper.SEMANTIC["best-first"]]
    assert any("WordNet" in remark for remark in without.remarks)
    for part in report.parts:
        if part.key not in ("batsakis-ends", *(f"batsakis-figure-{name}" for name in ("14", "14-labels", "15"))):
            assert part == parts[part.key]
    assert report.claims[:4] + report.claims[6:] == without.claims[:4] + without.claims[6:]


@pytest.mark.paper("batsakis-ground-truth")
def test_evaluator_uses_at_most_half_of_relevant_pages(index: CorpusIndex) -> None:
    truth = np.zeros(len(index), np.float32)
    truth[:21] = 1
    seen = np.zeros(len(index), np.bool_)
    seen[0] = True
    few = Evaluator(index).chosen(HuntSubject("few", truth, seen=seen))
    many = Evaluator(index).chosen(HuntSubject("many", np.ones(len(index), np.float32), seen=seen))
    assert (10, 50) == (len(few), len(many))
    assert 0 not in few + many


def test_findings_of_graph_is_error(tmp_path: Path) -> None:
    with raises_input_error("no-text"):
        findings("batsakis", Bench(CorpusIndex.of({"a": ["b"]}, score={"b": 1.0}), tmp_path, quick=True))
