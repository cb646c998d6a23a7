"""Validation of short texts."""

import pytest

from input_errors import raises_input_error
from lycosa_server.people.text_input import clean_line


def test_clean_line_strips() -> None:
    assert "coral reefs" == clean_line(" coral reefs\n", "the name", 11, 1)


@pytest.mark.parametrize(
    ("text", "code"),
    [("a\0b", "bad-text"), ("a\nb", "bad-text"), ("\ud800", "bad-text"), ("x" * 12, "too-long"), ("  ", "too-short")],
)
def test_clean_line_refuses_bad_text(text: str, code: str) -> None:
    with raises_input_error(code, match="the name"):
        clean_line(text, "the name", 11, 1)
