"""Ranking: BM25 as the formula has it, whatever the way by which phrases are found."""

from __future__ import annotations

import math
import random
from pathlib import Path

import pytest

from lycosa.collection import ranking
from lycosa.collection.filters import Filters
from lycosa.collection.querying import parse
from lycosa.collection.ranking import K1, OTHER_FORMS, Answer, B, Ranking
from lycosa.store.search import NAME, TITLE, UNREAD, Index, IndexedPage

PHRASES = ['"coral reef"', '"coral reef" fish', 'fish -"coral reef"', '"reef coral" -"sea water"', '"coral coral"']
WORDS = "coral reef reefs fish sea water warm white".split()


def library(path: Path, pages: list[tuple[str, str]]) -> Index:
    """An index of these titles and texts."""
    index = Index(path / NAME)
    index.add([IndexedPage(n, str(n), title, text) for n, (title, text) in enumerate(pages, 1)], "")
    return index


def ask(index: Index, typed: str, limit: int = 1000, filters: Filters | None = None) -> Answer:
    return Ranking(index, filters or Filters.of()).answer(parse(typed), limit)


@pytest.fixture(scope="module")
def written() -> list[tuple[str, str]]:
    """Pages of words by chance, some common and some rare."""
    dice = random.Random(5)
    odds = [8, 6, 2, 5, 4, 3, 1, 1]
    return [
        (
            " ".join(dice.choices(WORDS, odds, k=dice.randrange(3))),
            " ".join(dice.choices(WORDS, odds, k=dice.randrange(40))),
        )
        for _ in range(200)
    ]


@pytest.fixture(scope="module")
def index(written: list[tuple[str, str]], tmp_path_factory: pytest.TempPathFactory) -> Index:
    return library(tmp_path_factory.mktemp("index"), written)


def bm25(pages: list[tuple[str, str]], forms: list[dict[str, float]]) -> dict[int, float]:
    """Weights of the pages with all the words, each given as its forms and what they count, by the formula."""
    lengths = [len(title.split()) + len(text.split()) for title, text in pages]
    mean = sum(lengths) / len(pages)
    totals: dict[int, float] = {}
    for words in forms:
        times = [
            sum(value * (TITLE * title.split().count(word) + text.split().count(word)) for word, value in words.items())
            for title, text in pages
        ]
        having = sum(count > 0 for count in times)
        idf = math.log(1 + (len(pages) - having + 0.5) / (having + 0.5))
        weights = {
            page: idf * count * (K1 + 1) / (count + K1 * (1 - B + B * lengths[page] / mean))
            for page, count in enumerate(times)
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
def test_weights_are_those_of_the_formula(
    typed: str, forms: list[dict[str, float]], index: Index, written: list[tuple[str, str]]
) -> None:
    """Every page with all the words is there, the heaviest first, with the weight that BM25 gives it."""
    expected = bm25(written, forms)
    answer = ask(index, typed)
    assert expected == {page: pytest.approx(weight, rel=1e-4) for page, _, weight in answer.best}
    assert len(expected) == answer.total
    weights = [weight for *_, weight in answer.best]
    assert sorted(weights, reverse=True) == weights
    assert answer.best[:7] == ask(index, typed, 7).best


@pytest.mark.parametrize("typed", PHRASES)
@pytest.mark.parametrize("limit", [1, 5, 500])
def test_phrases_are_found_alike_by_all_ways(
    typed: str, limit: int, index: Index, written: list[tuple[str, str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Looked up page by page or all at once, the same pages come, and they have the phrase."""
    monkeypatch.setattr(ranking, "COMMON", 10**9)
    exact = ask(index, typed, limit)
    assert exact.counted
    wanted = [clause.words for clause in parse(typed).wanted if clause.is_phrase]
    for page, *_ in exact.best:
        title, text = written[page]
        assert all(any(f" {' '.join(phrase)} " in f" {part} " for part in (title, text)) for phrase in wanted)
    monkeypatch.setattr(ranking, "COMMON", 0)
    peeking = ask(index, typed, limit)
    assert exact.best == peeking.best
    if peeking.counted:
        assert exact.total == peeking.total
    else:
        assert exact.total / 2 < peeking.total < exact.total * 2
    monkeypatch.setattr(ranking, "PEEKS", 10**9)
    assert (exact.best, exact.total) == ((everyone := ask(index, typed, limit)).best, everyone.total)


def test_words_that_must_not_be_there(index: Index, written: list[tuple[str, str]]) -> None:
    """A page with an unwanted word is left out, whatever else it has."""
    pages = {page for page, *_ in ask(index, "coral -fish -white*").best}
    told = {
        n for n, page in enumerate(written) if "coral" in (w := " ".join(page).split()) and not {"fish", "white"} & {*w}
    }
    assert told == pages


def test_if_nothing_has_all_some_will_do(tmp_path: Path) -> None:
    """Pages with some of the words are offered and labelled; those with more of them, or rarer ones, come first."""
    index = library(tmp_path, [("", "coral sea"), ("", "coral"), ("", "sea fish"), ("", "coral")])
    answer = ask(index, "coral sea whale")
    assert (True, 4) == (answer.loosened, answer.total)
    assert 0 == answer.best[0][0]
    assert not ask(index, "whale").loosened
    assert (True, 2) == ((backwards := ask(index, '"fish sea"')).loosened, backwards.total)
    index.close()


def test_a_title_outweighs_a_text(tmp_path: Path) -> None:
    """A word in the title makes a page more than the same word in the text."""
    index = library(tmp_path, [("fish", "coral and more"), ("coral", "fish and more")])
    assert [1, 0] == [page for page, *_ in ask(index, "coral").best]
    index.close()


def test_equals_are_told_apart_by_the_topic(tmp_path: Path) -> None:
    """Of pages with equal weight the one that the topic likes comes first, then the one that came first."""
    index = Index(tmp_path / NAME)
    index.add([IndexedPage(n, str(n), "", "coral", score=score) for n, score in enumerate([0.1, 0.9, 0.1, 0.5], 1)], "")
    assert [1, 3, 0] == [page for page, *_ in ask(index, "coral", 3).best]
    assert [1, 3, 0, 2] == [page for page, *_ in ask(index, "coral", 9).best]
    index.close()


def test_an_empty_index_has_no_answer(tmp_path: Path) -> None:
    """No pages, no hits, no division by nothing."""
    index = Index(tmp_path / NAME)
    assert (0, 0, []) == ((answer := ask(index, 'coral "a b" x*y*')).total, answer.searched, answer.best)
    index.close()


def test_what_could_not_be_read_is_counted(tmp_path: Path) -> None:
    """The answer says how many of the pages searched are known by their titles only."""
    index = Index(tmp_path / NAME)
    index.add([IndexedPage(1, "1", "coral", "", flags=UNREAD), IndexedPage(2, "2", "coral", "reef")], "")
    assert (2, 1) == ((answer := ask(index, "coral")).searched, answer.unread)
    index.close()
