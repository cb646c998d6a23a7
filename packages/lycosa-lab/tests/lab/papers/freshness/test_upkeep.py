from __future__ import annotations

import pytest

from lycosa.testweb.changing import START, ChangingWeb
from lycosa.testweb.embedded_web import Web
from lycosa_lab.papers.freshness.upkeep import (
    DAY,
    PageCheck,
    Timeline,
    intersection,
    measure,
    share_over_time,
    spans,
    timeline,
)


def page(weight: float, changes: tuple[float, ...], *counts: tuple[float, float], fetched: float = 0.0) -> Timeline:
    return Timeline("", weight, fetched, changes, counts)


def got(at: float) -> PageCheck:
    """Return a visit that fetched the page."""
    return PageCheck(at, "ok", 200)


def test_measure_by_hand() -> None:
    one = page(1.0, (2 * DAY, 6 * DAY), (0.0, 10 * DAY))
    two = page(3.0, (4 * DAY,), (0.0, 8 * DAY))  # vanishes after eight days
    checks = [[got(5 * DAY)], [got(1 * DAY), got(7 * DAY)]]
    report = measure([one, two], checks, 0.0, 10 * DAY)
    # Page one is fresh in [0, 2) and [5, 6), page two in [0, 4) and [7, 8), and counts until 8. Share of the weight of
    # 4: [0, 2) 1, [2, 4) 3/4, [4, 5) 0, [5, 6) 1/4, [6, 7) 0, [7, 8) 3/4; of the weight of 1: [8, 10) 0.
    assert (2 * 1 + 2 * 0.75 + 0.25 + 0.75) / 10 == pytest.approx(report.freshness)
    # Page one is stale from 2 to 5 and from 6 to 10: 9/2 + 16/2; page two from 4 to 7: 9/2. Weight times time: 10 + 24.
    assert (12.5 + 3 * 4.5) / 34 == pytest.approx(report.age)
    assert [1, 1, 0.75, 0.75, 0, 0.25, 0, 0.75, 0, 0] == pytest.approx(report.days)
    assert (3, 0, 2) == (report.checks, report.unmodified, report.watched)


def test_measure_304_does_not_renew_copy() -> None:
    false_304 = PageCheck(3 * DAY, "unchanged", 304)
    report = measure([page(1.0, (2 * DAY,), (0.0, 4 * DAY))], [[false_304]], 0.0, 4 * DAY)
    assert 0.5 == report.freshness  # two of four days
    assert 0.25 == report.false_304s  # the last of four days
    assert 1 == report.unmodified


def test_share_over_time_ignores_uncounted_time() -> None:
    mean, days = share_over_time([1.0], [[(0.0, DAY)]], [[(0.0, DAY)]], 0.0, 2 * DAY)
    assert 1.0 == mean
    assert 1.0 == days[0]
    assert days[1] != days[1]


def test_spans_change_at_fetch_time() -> None:
    assert ([(0.0, 4.0), (5.0, 9.0)], [(4.0, 5.0)]) == spans([0.0, 5.0], [0.0, 4.0, 4.5], 9.0)
    assert [] == intersection([(0.0, 1.0)], [(1.0, 2.0)])
    report = measure([page(1.0, (5.0,), (0.0, 5.0))], [[PageCheck(6.0, "unchanged", 304)]], 0.0, 9.0)
    assert (0.0, 0.0) == (report.age, report.false_304s)  # it was stale only after it stopped counting


def test_measure_equals_sampling() -> None:
    now = [START]
    web = ChangingWeb(Web(seed=5, pages=80, hosts=4, traps=()), lambda: now[0], seed=5, days=10)
    end = START + 10 * DAY
    pages = [timeline(web, url, 1.0, START, START, end) for url in web.urls()]
    checks = [[got(START + 3.3 * DAY), got(START + 7.1 * DAY)] for _ in pages]
    moments = [START + 10 * DAY * (i + 0.5) / 400 for i in range(400)]
    shares = []
    for t in moments:
        there = [one for one in pages if any(a <= t < b for a, b in one.counts)]
        since = max(at for at in (START, START + 3.3 * DAY, START + 7.1 * DAY) if at <= t)
        shares.append(sum(web.fresh(one.url, since, t) for one in there) / len(there))
    assert sum(shares) / 400 == pytest.approx(measure(pages, checks, START, end).freshness, abs=2e-3)
