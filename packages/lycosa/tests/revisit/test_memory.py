"""Hints: dates of changes announced by sites, and how reliable they are."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from lycosa.revisit.memory import TRIALS, Hints
from lycosa.web.dates import parse_w3c_date

DAY = 86_400.0


def day(number: float) -> str:
    """Format a day after the epoch as in a sitemap."""
    return datetime.fromtimestamp(number * DAY, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


@pytest.mark.parametrize(
    ("text", "first", "length"),
    [
        ("2026-03-01", "2026-03-01T00:00:00+00:00", DAY),
        ("2026-02", "2026-02-01T00:00:00+00:00", 28 * DAY),
        ("2024", "2024-01-01T00:00:00+00:00", 366 * DAY),
        ("2026-03-01T12:30Z", "2026-03-01T12:30:00+00:00", 60),
        ("2026-03-01T12:30:05+02:00", "2026-03-01T10:30:05+00:00", 1),
        ("2026-03-01T12:30:05.123-0530", "2026-03-01T18:00:05+00:00", 1),
        ("2026-03-01 12:30:05", "2026-03-01T12:30:05+00:00", 1),
    ],
)
def test_parse_w3c_date_returns_range(text: str, first: str, length: float) -> None:
    begin = datetime.fromisoformat(first).timestamp()
    assert (begin, begin + length - 1) == parse_w3c_date(text)


@pytest.mark.parametrize("text", ["", "yesterday", "2026-13-01", "2026-02-30", "2026-00-10", "0001-01-01", "2026-1-1"])
def test_parse_w3c_date_rejects_invalid_dates(text: str) -> None:
    assert parse_w3c_date(text) is None
    assert not Hints().add_hint("a", "page", text, now=30_000 * DAY)


def test_hints_before_last_visit_are_ignored() -> None:
    hints = Hints()
    hints.learn("a", "page", at=100 * DAY, changed=False)
    assert not hints.add_hint("a", "page", day(99), now=101 * DAY)
    assert hints.add_hint("a", "page", day(102), now=103 * DAY)
    assert not hints.add_hint("a", "page", day(102), now=104 * DAY)
    assert not hints.add_hint("a", "page", day(200), now=105 * DAY)
    hints.learn("a", "page", at=106 * DAY, changed=True)
    assert not hints.add_hint("a", "page", day(103), now=107 * DAY)


def test_hints_for_rest_of_day_of_visit_are_used() -> None:
    hints = Hints()
    hints.add_hint("a", "page", "1970-03-01", now=60 * DAY)
    hints.learn("a", "page", at=69.5 * DAY, changed=False)  # noon of 11 March
    assert hints.add_hint("a", "page", "1970-03-12", now=70.5 * DAY)
    hints.learn("a", "page", at=71.5 * DAY, changed=True)
    assert hints.add_hint("a", "page", "1970-03-13", now=71.9 * DAY)


def test_precision_by_hand() -> None:
    """Precision is (right + 1) / (hints + 2): 3/9 after two right hints of seven, 1/2 without hints."""
    hints = Hints()
    for page in range(4):
        hints.add_hint("a", page, day(1), now=2 * DAY)
        hints.learn("a", page, at=3 * DAY, changed=False)  # four wrong hints: the pages had not changed
    assert 1 / 6 == hints.precision("a")
    for page, changed in enumerate([True, True, False]):
        hints.add_hint("a", page, day(4), now=5 * DAY)
        hints.learn("a", page, at=6 * DAY, changed=changed)
    assert 3 / 9 == hints.precision("a")  # (2 + 1) / (7 + 2)
    hints.learn("a", "in no sitemap", at=7 * DAY, changed=True)
    assert 3 / 9 == hints.precision("a")
    assert 0.5 == hints.precision("b")


def rounds(hints: Hints, honest: bool, days: int, pages: int = 40) -> int:
    """Simulate a daily sitemap that announces unchanged pages unless `honest`; return how many hints were followed."""
    followed = 0
    for page in range(pages):
        hints.learn("site", page, at=0.5 * DAY, changed=False)
    for number in range(1, days + 1):
        for page in range(pages):
            changed = number % 10 == page % 10
            if changed or not honest:
                hints.add_hint("site", page, day(number), now=(number + 0.1) * DAY)
        for page in range(pages):
            if hints.believed("site", page) > 0:
                followed += 1
                hints.learn("site", page, at=(number + 0.2) * DAY, changed=number % 10 == page % 10)
    return followed


def test_hints_of_unreliable_host_are_ignored() -> None:
    hints = Hints()
    assert rounds(hints, honest=False, days=30) <= 3 * TRIALS
    assert hints.precision("site") < 0.25


def test_hints_of_reliable_host_are_followed() -> None:
    hints = Hints()
    assert 120 == rounds(hints, honest=True, days=30)
    assert hints.precision("site") > 0.95


def test_hints_flood_of_unknown_host_is_limited() -> None:
    hints = Hints()
    for page in range(1000):
        hints.add_hint("a", page, day(1), now=2 * DAY)
    assert TRIALS == sum(hints.believed("a", page) > 0 for page in range(1000))
    for page in range(TRIALS):
        hints.learn("a", page, at=3 * DAY, changed=True)
    assert 1000 - TRIALS == sum(hints.believed("a", page) > 0 for page in range(1000))


def test_hints_host_can_recover() -> None:
    hints = Hints()
    rounds(hints, honest=False, days=30)
    hints.add_hint("site", 0, day(40), now=41 * DAY)
    assert 0.0 == hints.believed("site", 0)
    for number in range(50, 90):
        hints.add_hint("site", 1, day(number), now=(number + 0.1) * DAY)
        hints.learn("site", 1, at=(number + 0.2) * DAY, changed=True)
    assert hints.believed("site", 0) > 0.2


def test_due_follows_hint_if_gain_exceeds_price() -> None:
    """The gain of a hint is precision * weight / rate = .5 * 1 * 10 days: due at once for a price of 4 days, not 6."""
    hints = Hints()
    hints.add_hint("a", "page", day(1), now=2 * DAY)
    told = {"weight": 1.0, "rate": 1 / (10 * DAY), "last": 0.5 * DAY}
    assert 2 * DAY == hints.due("a", "page", 9 * DAY, price=4 * DAY, **told)
    assert 9 * DAY == hints.due("a", "page", 9 * DAY, price=6 * DAY, **told)
    assert 1 * DAY == hints.due("a", "page", 1 * DAY, price=4 * DAY, **told)  # was due already
    assert 9 * DAY == hints.due("a", "other", 9 * DAY, price=0.0, **told)
    late = {**told, "last": 2 * DAY - 60}
    # at the earliest ten minutes after the last visit
    assert 2 * DAY + 540 == hints.due("a", "page", 9 * DAY, price=4 * DAY, **late)
