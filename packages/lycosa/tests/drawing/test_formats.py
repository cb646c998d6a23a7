"""Tests of formatting and sanitising."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lycosa.drawing.formats import (
    clean,
    clip,
    href,
    many,
    pause,
    percent,
    printable,
    score,
    seconds,
    size,
    visible,
    when,
)

HOSTILE = "a\x1b[31mb\u202ec\x00d\ud800e\u2028f"


@given(st.text(st.characters()))
def test_clean_result_is_encodable(text: str) -> None:
    assert clean(text).encode().decode() == clean(text) == clean(clean(text))


def test_clean_replaces_hostile_characters() -> None:
    assert "a [31mb c d e f" == printable(HOSTILE, " ") == visible(HOSTILE)
    assert "a\ufffd[31mb\ufffdc\ufffdd\ufffde\ufffdf" == clean(HOSTILE)
    assert "a b" == clean("a\tb")


def test_clip_counts_ellipsis() -> None:
    assert ("abcd", "abc…") == (clip("abcd", 4), clip("abcde", 4))


@pytest.mark.parametrize("node", ["javascript:alert(1)", "ftp://a.test/", "notes/a", "http://a.test/\u202egnp.exe"])
def test_href_rejects_unsafe_urls(node: str) -> None:
    assert "" == href(node)


def test_percent_is_never_rounded_to_all_or_nothing() -> None:
    assert ["0%", "under 0.1%", "12.3%", "99.9%", "100%"] == [percent(x) for x in (0, 0.0001, 0.123, 0.99999, 1)]


def test_score_formats_small_and_infinite_values() -> None:
    assert ["0.00", "0.12", "0.004", "first"] == [score(x) for x in (0.0, 0.123, 0.004, float("inf"))]


def test_durations_and_sizes_are_rounded() -> None:
    assert ("1 h", "–", "–", "5 s") == (seconds(3600), pause(0.0), pause(float("inf")), pause(5.0))
    assert ("999 B", "1 kB", "1.0 TB") == (size(999), size(1000), size(10**12))


def test_when_of_time_out_of_range_is_unknown() -> None:
    assert ("1 January 1970, 00:01 UTC", "at an unknown time") == (when(60.0), when(1e300))


def test_many_uses_plural() -> None:
    assert ["0 copies", "1 copy", "2 boxes", "2 pages"] == [
        many(0, "copy"),
        many(1, "copy"),
        many(2, "box"),
        many(2, "page"),
    ]
