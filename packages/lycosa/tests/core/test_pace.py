"""So many requests an hour: evenly, with a little to catch up, and no hour twice."""

from __future__ import annotations

import pytest

from lycosa.core.budget import Pace


def sent(pace: Pace, begin: float, seconds: float) -> list[float]:
    """When requests go out if there is always something to send."""
    now, times = begin, []
    while (now := pace.next(now)) < begin + seconds:
        pace.take(now)
        times.append(now - begin)
    return times


def test_requests_are_even() -> None:
    """60 an hour, none to catch up with: one a minute."""
    assert [0.0, 60.0, 120.0, 180.0] == sent(Pace(60, burst=0), 1e6, 200.0)


def test_what_was_not_used_may_be_caught_up_with() -> None:
    """After a silence, two minutes' worth of requests may go out at once, then one a minute."""
    pace = Pace(60, burst=120)
    pace.take(1e6)
    assert [0.0, 0.0, 60.0, 120.0] == sent(pace, 1e6 + 5000, 150.0)


@pytest.mark.parametrize("rate", [0.5, 2.5, 90.0, 7200.0])
def test_any_rate_holds_in_the_long_run(rate: float) -> None:
    """Fractions of a request an hour too: over ten hours no more than rate * 10, and what may be caught up with."""
    pace = Pace(rate, burst=600)
    spare = max(600.0, 3600 / rate) * rate / 3600
    assert rate * 10 <= len(sent(pace, 1e6, 36_000.0)) <= rate * 10 + spare


def test_an_hour_is_not_spent_twice() -> None:
    """A pace that is told when requests went out before goes on as the one that sent them."""
    live, again = Pace(60, burst=300), Pace(60, burst=300)
    for after in sent(live, 1e6, 600.0):
        again.take(1e6 + after)
    assert sent(live, 1e6 + 600, 600.0) == sent(again, 1e6 + 600, 600.0)
