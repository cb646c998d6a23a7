"""Behaviours, which override the schedule for some pages."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from input_errors import raises_input_error
from lycosa.revisit.schedules import AUTOMATIC, BEHAVIOURS, Behaviours

DAY = 86_400.0


def test_behaviours_have_documented_precedence() -> None:
    names = BEHAVIOURS[:4]
    behaviours = Behaviours(*[[f"/{name}/"] for name in names])
    for first, second in itertools.combinations(names, 2):
        assert first == behaviours.of(f"http://a.test/{second}/{first}/")
    assert [*names, "automatic"] == [behaviours.of(f"http://a.test/{name}/") for name in (*names, "other")]


@pytest.mark.paper("personalized-freshness")
def test_behaviours_patterns_are_searched_in_url() -> None:
    behaviours = Behaviours(always=[r"\.php\?id=\d+$"], frequently=["^https://news[.]"])
    assert "always" == behaviours.of("http://a.test/page.php?id=12")
    assert "automatic" == behaviours.of("http://a.test/page.php?id=x")
    assert "frequently" == behaviours.of("https://news.a.test/")
    assert AUTOMATIC == behaviours.number("http://news.a.test/")


def test_behaviours_reject_invalid_pattern_or_period() -> None:
    with raises_input_error("bad-pattern", r"'\(' is not a regular expression"):
        Behaviours(now=["("])
    with raises_input_error("invalid-duration", "'frequent' is 'often'"):
        Behaviours(frequent="often")


def due(name: str, schedule: float, tried: float, started: float) -> float:
    """Return the time at which a page is due."""
    behaviours = Behaviours(frequent="1d", infrequent="10d")
    number = np.array([BEHAVIOURS.index(name)])  # type: ignore[arg-type]
    return float(behaviours.due(number, np.array([schedule]), np.array([tried]), started)[0])


@pytest.mark.paper("personalized-now")
def test_due_now_is_first_once_per_run() -> None:
    assert -np.inf == due("now", schedule=50 * DAY, tried=1 * DAY, started=2 * DAY)
    assert 50 * DAY == due("now", schedule=50 * DAY, tried=2 * DAY, started=2 * DAY)


@pytest.mark.paper("personalized-always")
def test_due_always_at_each_run_then_daily() -> None:
    assert 2 * DAY == due("always", schedule=50 * DAY, tried=1.5 * DAY, started=2 * DAY)
    assert 1.2 * DAY == due("always", schedule=1.2 * DAY, tried=1 * DAY, started=2 * DAY)
    assert 3.1 * DAY == due("always", schedule=50 * DAY, tried=2.1 * DAY, started=2 * DAY)


@pytest.mark.paper("personalized-frequently")
def test_due_frequently_is_at_least_once_per_period() -> None:
    assert 2 * DAY == due("frequently", schedule=50 * DAY, tried=1 * DAY, started=0)
    assert 1.1 * DAY == due("frequently", schedule=1.1 * DAY, tried=1 * DAY, started=0)


@pytest.mark.paper("personalized-infrequently")
def test_due_infrequently_ignores_schedule() -> None:
    for schedule in (1.1 * DAY, 50 * DAY, np.inf):
        assert 11 * DAY == due("infrequently", schedule, tried=1 * DAY, started=5 * DAY)


def test_due_automatic_is_schedule() -> None:
    assert [7.0, np.inf] == [due("automatic", schedule, tried=1.0, started=5.0) for schedule in (7.0, np.inf)]
