from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from input_errors import raises_input_error
from lycosa.core.types import Links, Page
from lycosa.text.background import Background
from lycosa.text.bags import Bags
from lycosa_lab.corpus_index import CorpusIndex
from lycosa_lab.evaluator import evaluate, evaluation_findings, max_similarities, max_similarities_in
from lycosa_lab.findings import Findings
from lycosa_lab.index_writer import RecordedPage, write_index

TEXTS = {
    "http://a.test/1": "coral reef coral lagoon",
    "http://a.test/2": "coral reef",
    "http://a.test/3": "engine diesel piston",
    "http://a.test/4": "reef reef reef engine",
}
"""Four pages without stop words or suffixes."""
BACKGROUND = Background(1000, {"coral": 100, "reef": 100, "lagoon": 100, "engin": 100, "diesel": 100, "piston": 100})
"""Statistics in which all words are equally frequent, so that only counts matter."""


def index_of(path: Path, texts: dict[str, str]) -> CorpusIndex:
    pages = (RecordedPage(url, Page("ok", marked=text, links=Links())) for url, text in texts.items())
    return write_index(pages, path, source="the crawl")


@pytest.fixture(scope="module")
def crawled(tmp_path_factory: pytest.TempPathFactory) -> CorpusIndex:
    return index_of(tmp_path_factory.mktemp("evaluated") / "crawl.index", TEXTS)


@pytest.fixture(scope="module")
def good(tmp_path_factory: pytest.TempPathFactory) -> CorpusIndex:
    """Return two relevant pages, with words in another order than in the crawl; one was not crawled."""
    texts = {"file:///1": "parrotfish engine", "file:///2": "lagoon reef coral"}
    return index_of(tmp_path_factory.mktemp("relevant") / "good.index", texts)


BY_HAND = [
    (2 * 1 + 1 * 1 + 1 * 1) / math.sqrt(6 * 3),  # coral 2, reef 1, lagoon 1 against 1, 1, 1
    (1 + 1) / math.sqrt(2 * 3),  # coral, reef against coral, reef, lagoon
    1 / math.sqrt(3 * (1 + 9)),  # engine, one of three words, against engine and a word with three times the idf
    3 / math.sqrt(10 * 3),  # reef 3, engine 1: 3 / sqrt(30) with the second page, 1 / 10 with the first
]
"""Largest cosine of each page, with equally rare words."""


def last(found: Findings) -> list[Any]:
    return list(found.parts[0].rows[-1])  # type: ignore[union-attr]


@pytest.mark.paper("batsakis-harvest-ratio")
def test_evaluate_uses_largest_cosine(crawled: CorpusIndex, good: CorpusIndex) -> None:
    assert BY_HAND == pytest.approx(max_similarities_in(crawled, good, BACKGROUND).tolist(), abs=1e-6)
    pages, found, share, average = last(evaluate(crawled, good, background=BACKGROUND))
    assert (4, 2, 0.5) == (pages, found, share)  # .94 and .82 are above the threshold
    assert sum(BY_HAND) / 4 == pytest.approx(average)


@pytest.mark.paper("batsakis-threshold")
def test_evaluate_threshold_must_be_exceeded(crawled: CorpusIndex) -> None:
    named = ["http://a.test/2"]
    assert 1 == last(evaluate(crawled, named, threshold=0.999, background=BACKGROUND))[1]
    for wrong in (1.0, -0.1, math.nan):
        with raises_input_error("out-of-range"):
            evaluate(crawled, named, threshold=wrong)


@pytest.mark.paper("batsakis-average-similarity")
def test_evaluation_findings_count_pages_above_threshold() -> None:
    assert [3, 1, 1 / 3, pytest.approx((0.75 + 0.76 + 0.2) / 3)] == last(
        evaluation_findings(np.array([0.75, 0.76, 0.2]), 1)
    )


def test_max_similarities_in_weighs_rare_words_more(crawled: CorpusIndex) -> None:
    rare = Background(1000, dict(BACKGROUND.frequency) | {"lagoon": 1})
    plain, done = (max_similarities_in(crawled, [0], known) for known in (BACKGROUND, rare))
    assert done[1] < plain[1] < done[0] == 1.0


def test_max_similarities_in_accepts_node_numbers(crawled: CorpusIndex) -> None:
    output = max_similarities_in(crawled, [1, 2], BACKGROUND)
    assert [3 / math.sqrt(6 * 2), 1.0, 1.0, 3 / math.sqrt(10 * 2)] == pytest.approx(output.tolist(), abs=1e-6)
    with raises_input_error("no-text"):
        max_similarities_in(CorpusIndex.of({"a": ["b"]}), [0])


def test_evaluate_uses_canonical_urls_and_omits_missing_pages(crawled: CorpusIndex) -> None:
    done = evaluate(crawled, ["http://A.test/2#top", "http://a.test/2", "http://b.test/"], background=BACKGROUND)
    assert ["left out: 1 relevant pages that were not crawled"] == done.remarks
    assert "one of 1 relevant pages" in done.summary


def test_evaluate_without_relevant_words_is_error(crawled: CorpusIndex, tmp_path: Path) -> None:
    with raises_input_error("unknown-page"):
        evaluate(crawled, ["http://nowhere.test/"])
    with raises_input_error("no-text"):
        evaluate(crawled, index_of(tmp_path / "empty.index", {"http://a.test/": ""}))


def test_max_similarities_in_page_without_words_is_0(tmp_path: Path, good: CorpusIndex) -> None:
    index = index_of(tmp_path / "index", {"http://a.test/": "", **TEXTS})
    assert (0.0, 5) == (max_similarities_in(index, good)[0], last(evaluate(index, good))[0])


PAGES = st.lists(st.dictionaries(st.integers(0, 9), st.integers(1, 9), max_size=6), min_size=1, max_size=6)


@settings(max_examples=25)
@given(PAGES, PAGES)
def test_max_similarities_equals_all_pairs(pages: list[dict[int, int]], relevant: list[dict[int, int]]) -> None:
    def cosine(a: dict[int, int], b: dict[int, int]) -> float:
        length = math.hypot(*a.values()) * math.hypot(*b.values())
        return sum(a[word] * b.get(word, 0) for word in a) / length if length else 0.0

    own, wanted = (
        Bags.of([(sorted(one), [one[word] for word in sorted(one)]) for one in some]) for some in (pages, relevant)
    )
    output = max_similarities(own, wanted, np.ones(10))
    assert [max(cosine(one, other) for other in relevant) for one in pages] == pytest.approx(output.tolist(), abs=1e-6)


@pytest.mark.paper("batsakis-evaluator")
def test_evaluate_returns_table_curves_and_summary(crawled: CorpusIndex, good: CorpusIndex) -> None:
    findings = evaluate(crawled, good, background=BACKGROUND)
    table, harvest, similarity = findings.parts
    assert ("evaluation-table", 4) == (table.key, len(table.rows))  # type: ignore[union-attr]
    assert 2.0 == harvest.curves[0].y[-1]  # type: ignore[union-attr]
    assert sum(BY_HAND) / 4 == pytest.approx(similarity.curves[0].y[-1])  # type: ignore[union-attr]
    assert "Of 4 pages 2 (50.0%) are more similar than 0.75 to one of 2 relevant pages" in findings.summary
    json.dumps(findings.as_dict())
