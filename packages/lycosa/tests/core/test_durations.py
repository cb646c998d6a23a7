"""Tests of durations."""

from __future__ import annotations

import pytest

from input_errors import raises_input_error
from lycosa.core.durations import format_duration, parse_duration

DAY = 86_400.0


@pytest.mark.parametrize(
    ("text", "expected"),
    [("90m", 5400), ("1d", 86_400), ("2 weeks", 1_209_600), ("1 h 30 min", 5400), ("45", 45), ("1.5 Days", 129_600)],
)
def test_parse_duration_accepts_units(text: str, expected: float) -> None:
    assert expected == parse_duration(text)


@pytest.mark.parametrize("text", ["", "soon", "1 fortnight", "-1d", "0", "1d,", "1e3", "nan", "999999 weeks"])
def test_parse_duration_rejects_other_text(text: str) -> None:
    with raises_input_error("invalid-duration", "'every' is '.*': .*such as 90m"):
        parse_duration(text, "every")


def test_format_duration_round_trip() -> None:
    assert ["1h", "2d", "1.5w", "59s"] == [format_duration(value) for value in (3600, 2 * DAY, 10.5 * DAY, 59)]
    assert 10.5 * DAY == parse_duration(format_duration(10.5 * DAY))
