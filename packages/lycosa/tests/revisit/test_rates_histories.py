"""Histories of revisits."""

from __future__ import annotations

import math

import numpy as np

from lycosa.revisit.rates import KEPT, UNCHANGED, UNKNOWN, Histories


def test_visit_records_interval_and_result() -> None:
    histories = Histories()
    page = histories.add(100.0, host=2, weight=0.5)
    histories.add_visit(page, 130.0, changed=False)
    histories.add_visit(page, 170.0, changed=True)
    assert [30.0, 40.0] == histories.span[page, :2].tolist()
    assert [UNCHANGED, UNKNOWN] == histories.since[page, :2].tolist()
    assert (170.0, 100.0, 2, 2) == (
        histories.last[page],
        histories.first[page],
        histories.visits[page],
        histories.total,
    )


def test_history_keeps_last_16_visits() -> None:
    histories = Histories()
    page = histories.add(0.0)
    for number in range(1, KEPT + 3):
        histories.add_visit(page, float(number**2), changed=number == 1)
    kept = sorted(histories.span[page].tolist())
    assert [float(number**2 - (number - 1) ** 2) for number in range(3, KEPT + 3)] == kept
    assert not (histories.since[page] == UNKNOWN).any()


def test_modification_time_must_be_within_interval() -> None:
    histories = Histories()
    page = histories.add(100.0)
    for at, changed, modified in [(200, True, 150), (300, True, 150), (400, True, 450), (500, False, 450)]:
        histories.add_visit(page, float(at), changed, modified=float(modified))
    assert [50.0, UNKNOWN, UNKNOWN, UNCHANGED] == histories.since[page, :4].tolist()


def test_failed_visit_leaves_history_unchanged() -> None:
    histories = Histories()
    page = histories.add(0.0)
    histories.failed(page, 50.0)
    histories.failed(page, 60.0)
    assert (0.0, 60.0, 2, 0) == (
        histories.last[page],
        histories.tried[page],
        histories.failures[page],
        histories.visits[page],
    )
    histories.add_visit(page, 80.0, changed=False)
    assert (80.0, 0) == (histories.span[page, 0], histories.failures[page])


def test_revive_continues_from_return() -> None:
    histories = Histories()
    page = histories.add(0.0)
    histories.add_visit(page, 10.0, changed=False)
    histories.drop(page, 20.0)
    assert histories.dropped[page]
    histories.revive(page, 500.0)
    assert not histories.dropped[page]
    histories.add_visit(page, 530.0, changed=True)
    assert [10.0, 30.0] == histories.span[page, :2].tolist()


def test_visit_after_clock_was_set_back() -> None:
    histories = Histories()
    page = histories.add(100.0)
    histories.add_visit(page, 90.0, changed=False)
    histories.add_visit(page, 100.0, changed=True)
    assert [0.0, 1.0] == histories.span[page, :2].tolist()
    assert 100.0 == histories.last[page]


def test_add_extends_columns() -> None:
    histories = Histories()
    for number in range(3000):
        histories.add(float(number), host=number % 7, weight=number / 3000)
        if number % 2:
            histories.add_visit(number, number + 5.0, changed=True)
    assert (3000, 1500) == (len(histories), histories.total)
    assert np.arange(3000.0).tolist() == histories.first[:3000].tolist()
    assert (np.arange(3000) % 7).tolist() == histories.host[:3000].tolist()
    assert [0.0, 5.0] * 1500 == histories.span[:3000, 0].tolist()
    assert math.isclose(2999 + 5, histories.now)
    assert ([0, 1, 2], [7]) == (histories.rows()[:3].tolist(), histories.rows(7).tolist())
