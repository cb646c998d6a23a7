"""Durations as people write them."""

from __future__ import annotations

import pytest

from lycosa.core.durations import format_duration, parse_duration
from lycosa.core.errors import InputError

DAY = 86_400.0


@pytest.mark.parametrize(
    ("text", "expected"),
    [("90m", 5400), ("1d", 86_400), ("2 weeks", 1_209_600), ("1 h 30 min", 5400), ("45", 45), ("1.5 Days", 129_600)],
)
def test_durations_are_read_as_people_write_them(text: str, expected: float) -> None:
    """Units by their first letters or in full, one after the other."""
    assert expected == parse_duration(text)


@pytest.mark.parametrize("text", ["", "soon", "1 fortnight", "-1d", "0", "1d,", "1e3", "nan", "999999 weeks"])
def test_what_is_no_duration_is_an_error_that_says_how_to_write_one(text: str) -> None:
    """What it is, what was given, what would do."""
    with pytest.raises(InputError, match=r"every is '.*': .*such as 90m"):
        parse_duration(text, "every")


def test_durations_are_written_so_that_they_can_be_read() -> None:
    """In the largest unit that fits."""
    assert ["1h", "2d", "1.5w", "59s"] == [format_duration(value) for value in (3600, 2 * DAY, 10.5 * DAY, 59)]
    assert 10.5 * DAY == parse_duration(format_duration(10.5 * DAY))
