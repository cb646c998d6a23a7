from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from input_errors import raises_input_error
from lycosa_lab.comparison import HARVEST, PAGES, RECALL, CrawlComparison
from lycosa_lab.corpora.recorded import embedded
from lycosa_lab.corpus_index import CorpusIndex
from lycosa_lab.findings import AS_PUBLISHED, INDEPENDENT, Findings, ReportFigure, ReportTable
from lycosa_lab.index_writer import write_index
from lycosa_lab.papers import Bench, findings
from lycosa_lab.papers import personalized as paper
from lycosa_lab.subjects import HuntSubject


@pytest.fixture(scope="module")
def index(tmp_path_factory: pytest.TempPathFactory) -> CorpusIndex:
    """Return 150 pages that are not marked as embedded, so that they are also rewritten as HTML."""
    out = tmp_path_factory.mktemp("personalized") / "index"
    write_index(embedded(7, pages=150, hosts=5), out, source="some pages")
    return CorpusIndex.open(out)


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("runs")


@pytest.fixture(scope="module")
def report(index: CorpusIndex, runs: Path) -> Findings:
    return findings("personalized", Bench(index, runs, quick=True, workers=1, topics=3))


def test_average_precision_by_hand() -> None:
    assert [1.0, 0.5] == [paper.average_precision(np.array(hits)) for hits in ([True, False], [False, True])]


def test_search_string_is_not_label() -> None:
    truth = np.zeros(1, np.float32)
    assert paper.search_string(HuntSubject("Sea/Whales", truth, "whale krill baleen")) == "krill"
    assert paper.search_string(HuntSubject("Sea/Coral_reefs", truth, "coral reefs")) == "coral reefs"


def test_ranking_claims_follow_average_precision() -> None:
    spread = np.linspace(0, 0.01, 6)
    names = [*paper.measures_of(HuntSubject("sea", np.zeros(1, np.float32), "coral")), paper.CHANCE]
    means = dict.fromkeys(names, 0.5) | {paper.CHANCE: 0.1, paper.TITLES[0]: 0.7}
    good, flat = (
        CrawlComparison(
            {}, [0], list("abcdef"), {paper.AVERAGE: {name: (mean + spread)[:, None] for name, mean in of.items()}}
        )
        for of in (means, dict.fromkeys(names, 0.0))
    )
    assert ["holds", "holds"] == [claim(good).verdict for claim in paper.ON_RANKING]
    assert ["does not hold"] * 2 == [claim(flat).verdict for claim in paper.ON_RANKING]


@pytest.mark.parametrize(("sign", "verdict"), [(1, "holds"), (-1, "does not hold")])
def test_crawl_claims_follow_labels(sign: int, verdict: str) -> None:
    order = ["breadth-first", "personalised", "personalised,levels=1", "link-score", "url-optimisation"]
    spread = np.linspace(-0.001, 0.001, 6)[:, None]
    values = {name: 0.5 + sign * 0.1 * place + spread for place, name in enumerate(order)}
    crawls = CrawlComparison({}, [10], list("abcdef"), dict.fromkeys((HARVEST, RECALL, PAGES), values))
    assert [verdict] * 4 == [claim(crawls).verdict for claim in paper.ON_CRAWLS]


@pytest.mark.paper("personalized-large-tests")
def test_findings_has_all_parts_with_judges(report: Findings) -> None:
    assert {part.key: part.mode for part in report.parts} == {
        "personalized-ranking": INDEPENDENT,
        "personalized-crawl": AS_PUBLISHED,
        "personalized-crawl-labels": INDEPENDENT,
        "personalized-crawl-recall": INDEPENDENT,
        "personalized-ends": AS_PUBLISHED,
        "personalized-changes": INDEPENDENT,
        "personalized-changes-corpus": INDEPENDENT,
        "personalized-change-costs": INDEPENDENT,
    }
    assert [part.key for part in report.parts if part.timed] == ["personalized-change-costs"]


def test_findings_rates_are_in_range(report: Findings) -> None:
    for part in report.parts:
        if isinstance(part, ReportFigure):
            assert [curve.label for curve in part.curves] == [*paper.BY_STRING.values(), *paper.BY_SCORE.values()]
            assert all(0 <= y <= 1 for curve in part.curves for y in curve.y)
        elif part.key.startswith("personalized-changes"):
            assert all(0 <= float(value or 0) <= 1 for row in part.rows for value in row[3:])


def test_findings_digest_has_no_errors(report: Findings) -> None:
    for part in report.parts:
        if isinstance(part, ReportTable) and part.key.startswith("personalized-changes"):
            rows = {row[0]: row[-1] for row in part.rows}
            assert (rows["all that a reader sees"], rows["false alarms: nothing at all"]) == (1.0, 0.0)


def test_findings_second_run_is_identical(report: Findings, index: CorpusIndex, runs: Path) -> None:
    again = findings("personalized", Bench(index, runs, quick=True, workers=1, topics=3))
    assert [part for part in report.parts if not part.timed] == [part for part in again.parts if not part.timed]
    assert report.claims == again.claims


def test_findings_of_graph_is_error(tmp_path: Path) -> None:
    with raises_input_error("no-text"):
        findings("personalized", Bench(CorpusIndex.of({"a": ["b"]}, score={"b": 1.0}), tmp_path, quick=True))
