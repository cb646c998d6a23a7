"""What a person says of how often pages are to be looked at."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from lycosa.core.errors import InputError
from lycosa.revisit.schedules import AUTOMATIC, BEHAVIOURS, Behaviours

DAY = 86_400.0


def test_the_first_behaviour_counts() -> None:
    """Now before always before frequently before infrequently before automatic, for each pair."""
    names = BEHAVIOURS[:4]
    behaviours = Behaviours(*[[f"/{name}/"] for name in names])
    for first, second in itertools.combinations(names, 2):
        assert first == behaviours.of(f"http://a.test/{second}/{first}/")
    assert [*names, "automatic"] == [behaviours.of(f"http://a.test/{name}/") for name in (*names, "other")]


@pytest.mark.paper("personalized-freshness")
def test_patterns_are_regular_expressions() -> None:
    """Found anywhere in the address, as those of --include are."""
    behaviours = Behaviours(always=[r"\.php\?id=\d+$"], frequently=["^https://news[.]"])
    assert "always" == behaviours.of("http://a.test/page.php?id=12")
    assert "automatic" == behaviours.of("http://a.test/page.php?id=x")
    assert "frequently" == behaviours.of("https://news.a.test/")
    assert AUTOMATIC == behaviours.number("http://news.a.test/")


def test_a_pattern_that_is_none_is_an_error() -> None:
    """It is named, and so is a period that cannot be read."""
    with pytest.raises(InputError, match=r"'\(' is not a regular expression"):
        Behaviours(now=["("])
    with pytest.raises(InputError, match="looked at frequently is 'often'"):
        Behaviours(frequent="often")


def due(name: str, schedule: float, tried: float, started: float) -> float:
    """When one page is due."""
    behaviours = Behaviours(frequent="1d", infrequent="10d")
    number = np.array([BEHAVIOURS.index(name)])  # type: ignore[arg-type]
    return float(behaviours.due(number, np.array([schedule]), np.array([tried]), started)[0])


@pytest.mark.paper("personalized-now")
def test_now_comes_before_everything_once_in_a_run() -> None:
    """Then the schedule has it."""
    assert -np.inf == due("now", schedule=50 * DAY, tried=1 * DAY, started=2 * DAY)
    assert 50 * DAY == due("now", schedule=50 * DAY, tried=2 * DAY, started=2 * DAY)


@pytest.mark.paper("personalized-always")
def test_always_is_at_each_run_and_then_as_frequently() -> None:
    """At the start of the run, or when it has been due already; after that each day."""
    assert 2 * DAY == due("always", schedule=50 * DAY, tried=1.5 * DAY, started=2 * DAY)
    assert 1.2 * DAY == due("always", schedule=1.2 * DAY, tried=1 * DAY, started=2 * DAY)
    assert 3.1 * DAY == due("always", schedule=50 * DAY, tried=2.1 * DAY, started=2 * DAY)


@pytest.mark.paper("personalized-frequently")
def test_frequently_is_as_scheduled_but_once_a_period_at_least() -> None:
    """Sooner if it changes more often."""
    assert 2 * DAY == due("frequently", schedule=50 * DAY, tried=1 * DAY, started=0)
    assert 1.1 * DAY == due("frequently", schedule=1.1 * DAY, tried=1 * DAY, started=0)


@pytest.mark.paper("personalized-infrequently")
def test_infrequently_is_every_period_whatever_the_schedule_says() -> None:
    """Neither sooner nor later."""
    for schedule in (1.1 * DAY, 50 * DAY, np.inf):
        assert 11 * DAY == due("infrequently", schedule, tried=1 * DAY, started=5 * DAY)


def test_automatic_is_the_schedule() -> None:
    """Whatever it says."""
    assert [7.0, np.inf] == [due("automatic", schedule, tried=1.0, started=5.0) for schedule in (7.0, np.inf)]
