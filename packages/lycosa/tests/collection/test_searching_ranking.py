"""Tests of BM25 ranking against the formula."""

from __future__ import annotations

import math
import random
from pathlib import Path

import pytest

from lycosa.collection.querying import Clause, parse
from lycosa.collection.searching import K1, OTHER_FORMS, IndexRanking, SearchResult
from lycosa.store.search import NAME, TITLE_WEIGHT, IndexedPage, SearchIndex

PHRASES = ['"coral reef"', '"coral reef" fish', 'fish -"coral reef"', '"reef coral" -"sea water"', '"coral coral"']
B = 0.75
WORDS = "coral reef reefs fish sea water warm white".split()


def library(path: Path, pages: list[tuple[str, str]]) -> SearchIndex:
    """Build an index of pages with these titles and texts."""
    index = SearchIndex(path / NAME)
    index.add([IndexedPage(n, str(n), title, text) for n, (title, text) in enumerate(pages, 1)], "")
    return index


def answer_to(index: SearchIndex, typed: str, limit: int = 1000) -> SearchResult:
    return IndexRanking(index).search(parse(typed), limit)


@pytest.fixture(scope="module")
def written() -> list[tuple[str, str]]:
    """Return random pages of some frequent and some rare words."""
    rng = random.Random(5)
    odds = [8, 6, 2, 5, 4, 3, 1, 1]
    return [
        (
            " ".join(rng.choices(WORDS, odds, k=rng.randrange(3))),
            " ".join(rng.choices(WORDS, odds, k=rng.randrange(40))),
        )
        for _ in range(200)
    ]


@pytest.fixture(scope="module")
def index(written: list[tuple[str, str]], tmp_path_factory: pytest.TempPathFactory) -> SearchIndex:
    return library(tmp_path_factory.mktemp("index"), written)


def bm25(pages: list[tuple[str, str]], forms: list[dict[str, float]]) -> dict[int, float]:
    """Return the BM25 weights of pages that contain all words, given as their forms with weights."""
    lengths = [len(title.split()) + len(text.split()) for title, text in pages]
    mean = sum(lengths) / len(pages)
    totals: dict[int, float] = {}
    for words in forms:
        times = [
            sum(
                value * (TITLE_WEIGHT * title.split().count(word) + text.split().count(word))
                for word, value in words.items()
            )
            for title, text in pages
        ]
        matching = sum(count > 0 for count in times)
        idf = math.log(1 + (len(pages) - matching + 0.5) / (matching + 0.5))
        weights = {
            page: idf * count * (K1 + 1) / (count + K1 * (1 - B + B * lengths[page - 1] / mean))
            for page, count in enumerate(times, 1)
            if count
        }
        totals = {p: totals.get(p, 0.0) + w for p, w in weights.items() if words is forms[0] or p in totals}
    return totals


@pytest.mark.parametrize(
    ("typed", "forms"),
    [
        ("coral", [{"coral": 1.0}]),
        ("reef", [{"reef": 1.0, "reefs": OTHER_FORMS}]),
        ("reefs fish", [{"reefs": 1.0, "reef": OTHER_FORMS}, {"fish": 1.0}]),
        ('"reef" white', [{"reef": 1.0}, {"white": 1.0}]),
        ("ree* warm", [{"reef": 1.0, "reefs": 1.0}, {"warm": 1.0}]),
    ],
)
def test_weights_equal_bm25_formula(
    typed: str, forms: list[dict[str, float]], index: SearchIndex, written: list[tuple[str, str]]
) -> None:
    expected = bm25(written, forms)
    answer = answer_to(index, typed)
    assert expected == {page: pytest.approx(weight, rel=1e-9) for page, weight in answer.best}
    assert len(expected) == answer.total
    weights = [weight for *_, weight in answer.best]
    assert sorted(weights, reverse=True) == weights
    assert answer.best[:7] == answer_to(index, typed, 7).best


@pytest.mark.parametrize("typed", PHRASES)
def test_phrases_match_adjacent_words(typed: str, index: SearchIndex, written: list[tuple[str, str]]) -> None:
    query = parse(typed)

    def matching(clause: Clause) -> set[int]:
        phrase = f" {' '.join(clause.words)} "
        return {n for n, page in enumerate(written, 1) if any(phrase in f" {part} " for part in page)}

    expected = set.intersection(*map(matching, query.wanted)).difference(*map(matching, query.unwanted))
    answer = answer_to(index, typed)
    assert expected == {page for page, *_ in answer.best}
    assert len(expected) == answer.total
    assert answer.best[:5] == answer_to(index, typed, 5).best


def test_unwanted_words_exclude_pages(index: SearchIndex, written: list[tuple[str, str]]) -> None:
    pages = {page for page, *_ in answer_to(index, "coral -fish -white*").best}
    expected = {
        n
        for n, page in enumerate(written, 1)
        if "coral" in (w := " ".join(page).split()) and not {"fish", "white"} & {*w}
    }
    assert expected == pages


def test_query_is_loosened_to_any_word(tmp_path: Path) -> None:
    index = library(tmp_path, [("", "coral sea"), ("", "coral"), ("", "sea fish"), ("", "coral")])
    answer = answer_to(index, "coral sea whale")
    assert (True, 4) == (answer.loosened, answer.total)
    assert 1 == answer.best[0][0]
    assert not answer_to(index, "whale").loosened
    assert (True, 2) == ((backwards := answer_to(index, '"fish sea"')).loosened, backwards.total)
    index.close()


def test_title_ranks_above_text(tmp_path: Path) -> None:
    index = library(tmp_path, [("fish", "coral and more"), ("coral", "fish and more")])
    assert [2, 1] == [page for page, *_ in answer_to(index, "coral").best]
    index.close()


def test_ties_are_broken_by_relevance(tmp_path: Path) -> None:
    index = SearchIndex(tmp_path / NAME)
    pages = enumerate([0.1, 0.9, 0.1, 0.5], 1)
    index.add([IndexedPage(n, str(n), "", "coral", relevance=relevance) for n, relevance in pages], "")
    assert [2, 4, 1] == [page for page, *_ in answer_to(index, "coral", 3).best]
    assert [2, 4, 1, 3] == [page for page, *_ in answer_to(index, "coral", 9).best]
    index.close()


def test_search_of_empty_index_is_empty(tmp_path: Path) -> None:
    index = SearchIndex(tmp_path / NAME)
    assert (0, 0, []) == ((answer := answer_to(index, 'coral "a b" x*y*')).total, answer.searched, answer.best)
    index.close()


def test_search_counts_unread_pages(tmp_path: Path) -> None:
    index = SearchIndex(tmp_path / NAME)
    index.add([IndexedPage(1, "1", "coral", "", unread=True), IndexedPage(2, "2", "coral", "reef")], "")
    assert (2, 1) == ((answer := answer_to(index, "coral")).searched, answer.unread)
    index.close()
