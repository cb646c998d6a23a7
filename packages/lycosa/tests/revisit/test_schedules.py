"""Schedules of revisits."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from lycosa.core.errors import InputError
from lycosa.revisit import rates as estimating
from lycosa.revisit import schedules as automatic
from lycosa.revisit.rates import Histories
from lycosa.revisit.schedules import SCHEDULES, Automatic, make_schedule

HOUR, DAY = 3600.0, 86_400.0


def watched(pages: int, looks: int = 0, seed: int = 0) -> Histories:
    """Return pages with diverse rates, visited about every two days."""
    chance = np.random.default_rng(seed)
    rates = np.exp(chance.normal(-1.5, 2.0, pages)) / DAY
    histories = Histories()
    for page in range(pages):
        at = page / pages * DAY
        histories.add(at, host=page % 9, weight=float(chance.random()))
        for tau in chance.exponential(2 * DAY, looks).tolist():
            at += tau
            histories.add_visit(page, at, bool(chance.random() < -np.expm1(-rates[page] * tau)))
    return histories


def test_make_schedule_parses_parameters() -> None:
    made = make_schedule("automatic, rest=.5, least=2h, most=1 week", per_second=1.0)
    assert (0.5, 7200.0, 604_800.0) == (vars(made)["rest"], made.least, made.most)
    for name in SCHEDULES:
        assert 0.5 == make_schedule(name, 0.5).per_second


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("clever", "no schedule 'clever': choose one of automatic, fixed"),
        ("fixed,every=often", "'every' is 'often'"),
        ("fixed,least=2d,most=1d", r"'least' \(2d\) must not exceed 'most' \(1d\)"),
        ("automatic,rest=3", "'rest' is 3"),
        ("fixed,when=1d", "no parameter 'when'"),
    ],
)
def test_make_schedule_rejects_invalid_parameters(text: str, complaint: str) -> None:
    with pytest.raises(InputError, match=complaint):
        make_schedule(text, 1.0)


def test_fixed_interval_is_equal_for_all_pages() -> None:
    """The interval is `every`, or the time in which the budget reaches all pages: 4 hours for 4 pages at 1 per hour."""
    histories = Histories()
    for page in range(4):
        histories.add(page * 1000.0)
    assert [page * 1000.0 + DAY for page in range(4)] == make_schedule("fixed,every=1d", 1.0).due(histories).tolist()
    # Pages are spread over the round: the first is due an hour after the last visit of any page.
    due = make_schedule("fixed", 1 / HOUR).due(histories)
    assert [3000.0 + (page + 1) * HOUR for page in range(4)] == due.tolist()
    assert [2 * 1000.0 + 4 * HOUR] == make_schedule("fixed", 1 / HOUR).due(histories, 2).tolist()


def test_automatic_spends_budget() -> None:
    histories = watched(400, 6)
    for per_day in (40.0, 400.0, 4000.0):
        schedule = Automatic(per_day / DAY)
        schedule.spending = False
        waits = schedule.due(histories) - histories.last[:400]
        assert per_day == pytest.approx((DAY / waits).sum(), rel=0.01)


def test_automatic_samples_pages_to_find_price() -> None:
    """The budget is met within 5 % although half of the 30,000 pages have no weight."""
    histories = Histories()
    chance = np.random.default_rng(3)
    for page in range(30_000):
        histories.add(0.0, weight=float(chance.random()) if page % 2 else 0.0)
        histories.add_visit(page, 2 * DAY, bool(chance.random() < 0.3))
    schedule = Automatic(3_000 / DAY, rest=0.01)
    schedule.spending = False
    assert 3_000 == pytest.approx((DAY / (schedule.due(histories) - 2 * DAY)).sum(), rel=0.05)


def test_automatic_prefers_larger_weight() -> None:
    histories = watched(100, 5)
    pair = [histories.add(0.0, weight=weight) for weight in (0.2, 0.9)]
    for page in pair:
        for number, changed in enumerate([False, True, False, False], 1):
            histories.add_visit(page, number * DAY, changed)
    light, heavy = Automatic(100 / DAY).due(histories)[pair]
    assert heavy < light


def test_automatic_ignores_pages_that_change_too_fast() -> None:
    histories = watched(60, 5)
    hectic, weekly = histories.add(0.0), histories.add(0.0)
    for number in range(1, 17):
        histories.add_visit(hectic, number * HOUR, changed=True)
        histories.add_visit(weekly, number * 3.5 * DAY, changed=number % 2 == 0)
    schedule = Automatic(30 / DAY)
    schedule.spending = False
    waits = (schedule.due(histories) - histories.last[: len(histories)])[[hectic, weekly]]
    assert waits[0] > 3 * waits[1]


def test_due_of_one_page_equals_due_of_all() -> None:
    histories = watched(300, 5)
    schedule = Automatic(100 / DAY)
    schedule.spending = False
    everything = schedule.due(histories)
    assert everything[17] == pytest.approx(schedule.due(histories, 17)[0])
    histories.add_visit(17, histories.now + DAY, changed=True)
    assert schedule.due(histories)[17] == pytest.approx(schedule.due(histories, 17)[0])


def test_claim_of_due_page_is_price() -> None:
    histories = watched(200, 5)
    schedule = Automatic(200 / DAY)
    schedule.spending = False
    due = schedule.due(histories)
    for page in (3, 50, 77):
        at, later = (float(schedule.claim(histories, page, due[page] + wait)[0]) for wait in (0.0, DAY))
        assert schedule.price == pytest.approx(at, rel=1e-3)
        assert later >= at


def test_claim_of_baselines_is_time_overdue() -> None:
    histories = Histories()
    histories.add(0.0)
    assert [12 * HOUR] == make_schedule("fixed,every=12h", 1.0).claim(histories, 0, DAY).tolist()


@pytest.mark.parametrize("name", ["automatic", "fixed", "fixed,every=2h"])
def test_due_is_delayed_after_failures_and_vanishing(name: str) -> None:
    histories = watched(30, 3)
    schedule = make_schedule(name, 1000 / DAY)
    now = histories.now + DAY
    histories.failed(4, now)
    assert schedule.due(histories)[4] >= now + HOUR
    histories.failed(4, now)
    histories.drop(7, now)
    assert schedule.due(histories)[4] >= now + 2 * HOUR
    assert now + DAY == schedule.due(histories)[7]
    histories.drop(7, now + DAY)
    assert now + 3 * DAY == schedule.due(histories)[7]
    for _ in range(9):
        histories.drop(7, now + DAY)
    assert now + DAY + schedule.most == schedule.due(histories)[7]
    histories.revive(7, now + DAY)
    assert schedule.due(histories)[7] < now + schedule.most


def test_due_spends_budget_from_first_day() -> None:
    histories = watched(100)
    for name in ("automatic", "fixed"):
        due = np.sort(make_schedule(name, 10 / DAY).due(histories))
        allowed = histories.now + np.arange(1, 101) * DAY / 10
        assert (due <= allowed + 1e-6).all()


def test_due_of_early_pages_is_not_postponed() -> None:
    histories = watched(100)
    schedule, ended = Automatic(10 / DAY), histories.now
    first = schedule.due(histories)
    assert ended + DAY / 10 == pytest.approx(first.min())
    histories.now = ended + DAY / 10
    assert first.tolist() == pytest.approx(schedule.due(histories).tolist())
    histories.now = ended + 5 * DAY  # After five days without a process, only two of the missed visits are due.
    due = make_schedule("fixed", 10 / DAY).due(histories)
    assert 2 == np.count_nonzero(due <= histories.now)


@pytest.mark.parametrize("name", ["automatic", "fixed"])
def test_due_with_no_pages_or_no_budget(name: str) -> None:
    assert [] == make_schedule(name, 1.0).due(Histories()).tolist()
    assert 20 == len(make_schedule(name, 0.0).due(watched(20, 2)))


def test_automatic_without_relevant_pages_visits_in_turn() -> None:
    histories = Histories()
    for page in range(10):
        histories.add(page * 10.0, weight=0.0)
    due = Automatic(1 / HOUR).due(histories)
    assert [90 + (page + 1) * HOUR for page in range(10)] == due.tolist()
    assert (np.isfinite(Automatic(1 / HOUR).claim(histories, None, DAY))).all()


def test_due_respects_minimum_interval() -> None:
    histories = watched(10, 3)
    due = Automatic(1.0).due(histories)
    assert (due >= histories.last[:10] + 600.0).all()


def test_due_work_is_linear_in_pages(monkeypatch: pytest.MonkeyPatch) -> None:
    """A visit estimates one rate; waiting times are computed once, and the price from at most 8,192 pages."""
    work: dict[str, int] = {"estimate": 0, "waiting": 0}

    def counted(module: Any, name: str) -> None:
        honest = getattr(module, name)

        def counting(first: Any, second: Any, *rest: Any) -> Any:
            work[name] += len(second)
            return honest(first, second, *rest)

        monkeypatch.setattr(module, name, counting)

    counted(estimating, "estimate")
    counted(automatic, "waiting")
    done = []
    for pages in (3_000, 24_000):
        histories = Histories()
        for page in range(pages):
            histories.add(float(page), host=page % 50, weight=0.1 + page % 11 / 10)
            histories.add_visit(page, page + DAY, changed=page % 3 == 0)
        schedule = Automatic(pages / (5 * DAY))
        schedule.due(histories)
        histories.add_visit(5, histories.now + DAY, changed=True)
        work.update(estimate=0, waiting=0)
        schedule.due(histories)
        done.append(dict(work))
        work.update(estimate=0, waiting=0)
        schedule.due(histories, 5)
        assert {"estimate": 0, "waiting": 1} == work
    assert [1, 1] == [counts["estimate"] for counts in done]
    assert done[0]["waiting"] <= 4 * 3_000
    assert done[1]["waiting"] <= 24_000 + 3 * 9_000


def kept_fresh(name: str, pages: int = 300, days: int = 20, per_day: int = 150, batch: int = 10) -> float:
    """Return the weighted share of time in which pages are fresh under a budget, with unknown rates."""
    chance = np.random.default_rng(11)
    rates, weight = np.exp(chance.normal(-1.5, 2.0, pages)) / DAY, chance.beta(1.0, 2.0, pages)
    changes = [np.append(np.sort(chance.uniform(0, days * DAY, chance.poisson(r * days * DAY))), np.inf) for r in rates]
    schedule = make_schedule(name, per_day / DAY)
    histories = Histories()
    for page in range(pages):
        histories.add(0.0, host=page % 5, weight=float(weight[page]))
    stale = np.array([times[0] for times in changes])
    fresh = np.zeros(pages)
    for now in np.arange(batch, days * per_day, batch) * DAY / per_day:
        ready = np.flatnonzero(schedule.due(histories) <= now)
        first = np.argsort(-schedule.claim(histories, ready, now), kind="stable")[:batch]
        for page in ready[first].tolist():
            fresh[page] += min(stale[page], now) - histories.last[page]
            histories.add_visit(page, now, bool(stale[page] <= now))
            stale[page] = changes[page][np.searchsorted(changes[page], now, side="right")]
    fresh += np.minimum(stale, days * DAY) - histories.last[:pages]
    return float(np.average(fresh, weights=weight)) / (days * DAY)


@pytest.mark.paper("batsakis-refresh")
def test_automatic_is_fresher_than_fixed() -> None:
    assert kept_fresh("automatic") > kept_fresh("fixed") + 0.01
