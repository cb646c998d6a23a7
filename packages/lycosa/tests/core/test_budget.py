"""Tests of the rate limit."""

from __future__ import annotations

import pytest

from lycosa.core.budget import Pace


def sent(pace: Pace, begin: float, seconds: float) -> list[float]:
    """Return the times of requests if there is always something to send."""
    now, times = begin, []
    while (now := pace.next(now)) < begin + seconds:
        pace.take(now)
        times.append(now - begin)
    return times


def test_pace_is_even() -> None:
    assert [0.0, 60.0, 120.0, 180.0] == sent(Pace(60, burst=0), 1e6, 200.0)


def test_pace_allows_bursts() -> None:
    pace = Pace(60, burst=120)
    pace.take(1e6)
    assert [0.0, 0.0, 60.0, 120.0] == sent(pace, 1e6 + 5000, 150.0)


@pytest.mark.parametrize("rate", [0.5, 2.5, 90.0, 7200.0])
def test_pace_holds_over_long_runs(rate: float) -> None:
    pace = Pace(rate, burst=600)
    spare = max(600.0, 3600 / rate) * rate / 3600
    assert rate * 10 <= len(sent(pace, 1e6, 36_000.0)) <= rate * 10 + spare


def test_pace_is_restored_by_replay() -> None:
    live, again = Pace(60, burst=300), Pace(60, burst=300)
    for after in sent(live, 1e6, 600.0):
        again.take(1e6 + after)
    assert sent(live, 1e6 + 600, 600.0) == sent(again, 1e6 + 600, 600.0)
