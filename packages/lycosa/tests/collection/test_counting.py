"""Tests of the count of relevant pages from a stratified sample."""

from contextlib import closing
from pathlib import Path
from random import Random

import numpy as np
import pytest

from lycosa.collection import counting
from lycosa.collection.counting import (
    Answers,
    Frame,
    Sample,
    count_by_sample,
    draw_frame,
    is_outdated,
    read_answers,
    shuffled,
    stratum_bounds,
    with_answers,
)
from lycosa.collection.estimate import Estimate
from lycosa.core.types import START_RELEVANCE, Label, Setting, Visit
from lycosa.store.log import NAME, SqliteLog


def frame(pages: int, expected: float = 3.0) -> Frame:
    return Frame(np.arange(1, pages + 1), expected)


def order(begin: int, end: int) -> list[int]:
    """Return the pages of some ranks in the order in which they are asked for."""
    members = np.arange(begin, end + 1)
    return members[np.argsort(shuffled(members))].tolist()


@pytest.fixture
def one_curve(monkeypatch: pytest.MonkeyPatch) -> None:
    """Make the share of relevant pages one half in each stratum."""
    monkeypatch.setattr(counting, "_curves", lambda bounds: (np.full((1, len(bounds) - 1), 0.5), np.zeros(1)))


@pytest.mark.parametrize(
    ("pages", "bounds"), [(0, [0, 0]), (1, [0, 1]), (4, [0, 4]), (5, [0, 4, 5]), (64, [0, 4, 8, 16, 32, 64])]
)
def test_stratum_bounds(pages: int, bounds: list[int]) -> None:
    assert bounds == stratum_bounds(pages)


def test_sample_is_labelled_beginning_of_each_order() -> None:
    first, second = order(1, 4), order(5, 8)
    answers: Answers = {first[0]: True, first[1]: None, first[2]: False, second[0]: True, second[2]: True}
    sample = Sample(frame(8), answers)
    assert ([1, 1], [2, 1], [2, 2]) == (sample.yes.tolist(), sample.asked.tolist(), sample.known.tolist())
    assert [[first[3]], [second[1], second[3]]] == sample.unasked
    assert (3, 3) == (sample.size, sample.known_yes)


def test_count_by_hand(one_curve: None) -> None:
    """(4 + 1) / (8 + 1) of 3 pages; the variance is 5/9 4/9 3 (9 + 3) / (9 + 1) + 1/12, and its root .986."""
    expected, low, high = Sample(frame(4), {order(1, 4)[0]: True}).count()
    assert expected == pytest.approx(1 + 3 * 5 / 9)
    assert low == pytest.approx(2.667 - 1.44 * 0.986, abs=0.02)
    assert high == pytest.approx(4)  # 2.667 + 1.44 * .986 is more than all


def test_labels_outside_of_sample_are_known_but_do_not_count_for_others(one_curve: None) -> None:
    last = order(1, 4)[3]
    assert Sample(frame(4), {last: True}).count()[0] == pytest.approx(1 + 3 * 0.5)
    assert Sample(frame(4), {last: False}).count()[0] == pytest.approx(3 * 0.5)


def test_count_is_exact_when_all_pages_are_labelled() -> None:
    sample = Sample(frame(20, 15.0), {first: first % 4 == 0 for first in range(1, 21)})
    assert (5, 5, 5) == tuple(round(count) for count in sample.count())
    assert [] == sample.draw(3)


def test_draw_by_hand(one_curve: None) -> None:
    """8 / sqrt(.5 1.5) = 9.2, then 4 / sqrt(.5 1.5) = 4.6 twice, then 8 / sqrt(1.5 2.5) = 4.1."""
    drawn = Sample(frame(16), {}).draw(4)
    assert [(9, 16), (1, 4), (5, 8), (9, 16)] == [(page.begin, page.end) for page in drawn]
    assert [order(9, 16)[0], order(1, 4)[0], order(5, 8)[0], order(9, 16)[1]] == [page.first for page in drawn]


def test_count_does_not_depend_on_order_of_answers() -> None:
    answers = [(first, first < 9) for first in order(1, 4) + order(5, 8)[:2] + order(17, 32)[:5]]
    counts = set()
    for seed in range(5):
        Random(seed).shuffle(answers)
        counts.add(Sample(frame(200), dict(answers)).count())
    assert 1 == len(counts)


def test_answers_move_count_and_narrow_interval() -> None:
    answers = {page.first: page.first <= 60 for page in Sample(frame(300, 60.0), {}).draw(30)}
    expected, low, high = Sample(frame(300, 60.0), answers).count()
    before = Sample(frame(300, 60.0), {}).count()
    assert 40 < expected < 90
    assert low <= 60 <= high
    assert high / low < 0.6 * before[2] / before[1]


def test_frame_has_neither_seeds_nor_labelled_pages() -> None:
    firsts, relevances = np.arange(1, 7), np.array([START_RELEVANCE, 0.2, 0.9, 0.7, 1.0, 0.6], np.float32)
    drawn = draw_frame(firsts, relevances, {5: True, 6: None})
    assert ([3, 4, 6, 2], 3.0) == (drawn.ranked.tolist(), drawn.expected)
    assert not is_outdated(drawn, firsts, relevances, {5: True})
    assert is_outdated(drawn, np.arange(1, 8), np.append(relevances, 0.5), {5: True})


def test_count_by_sample_needs_answers() -> None:
    """From 5 answers on the sample counts, unless it disagrees with the judge; from 10 on in any case."""
    judged, apart = (Estimate(102, 3, low, high, is_exact=False, expected=3) for low, high in ((1, 60), (98, 99)))
    firsts, relevances = np.arange(1, 103), np.full(102, 0.1)
    relevances[100:] = START_RELEVANCE, 0.4  # outside of the frame, one relevant
    drawn = [page.first for page in Sample(frame(100), {}).draw(10)]

    def count(answers: int, found: Estimate) -> Estimate:
        return count_by_sample(found, frame(100), dict.fromkeys(drawn[:answers], False), firsts, relevances)

    assert judged == count(4, judged)
    few, more = count(5, judged), count(10, apart)
    assert few != judged
    assert few.low >= 1
    assert apart == count(9, apart)
    assert more.high < 40


def test_with_answers_sets_relevances() -> None:
    assert [1.0, 0.0, 0.4] == with_answers(np.arange(3), np.full(3, 0.4), {0: True, 1: False, 2: None}).tolist()


def test_read_answers_and_frame(tmp_path: Path) -> None:
    with closing(SqliteLog(tmp_path / NAME)) as log:
        firsts = [log.append(Visit(f"http://a.test/{name}", "page", "ok", 0)) for name in "abc"]
        for name, relevant in (("a", True), ("b", True), ("a", False), ("b", None), ("gone", True)):
            log.append(Label(f"http://a.test/{name}", relevant, 1.0))
        assert {firsts[0]: False, firsts[1]: None} == read_answers(log)
        assert Frame.read(log) is None
        log.append(Frame(np.array(firsts), 2.0).setting(1.0))
        stored = Frame.read(log)
        assert stored is not None
        assert (firsts, 2.0) == (stored.ranked.tolist(), stored.expected)
        for damaged in (3, [], {"ranked": "x", "expected": 1}, {"ranked": [1], "expected": 2}, {"ranked": [[1]]}):
            log.append(Setting(counting.FRAME, damaged, 2.0))
            assert Frame.read(log) is None
