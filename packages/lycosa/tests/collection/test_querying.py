"""Tests of the query syntax."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from input_errors import raises_input_error
from lycosa.collection.querying import join_arguments, parse, word_forms
from lycosa.core.errors import InputError


@pytest.mark.parametrize(
    ("typed", "wanted", "unwanted"),
    [
        ("coral reef", ["coral", "reef"], []),
        ("Coral CORAL cöral", ["coral"], []),
        ('"coral reef" fish', ['"coral reef"', "fish"], []),
        ("“coral reef”", ['"coral reef"'], []),
        ('"coral reef', ['"coral reef"'], []),
        ('"coral"', ['"coral"'], []),
        ("coral -reef", ["coral"], ["reef"]),
        ('coral -"sea level" -x', ["coral"], ['"sea level"', "x"]),
        ("sea-level", ['"sea level"'], []),
        ("coral - reef", ["coral", "reef"], []),
        ("cor* reefs*", ["cor*", "reefs*"], []),
        ("coral* coral", ["coral*", "coral"], []),
        ("珊瑚", ['"珊 瑚"'], []),
        ("珊*", ["珊"], []),
        ("AND OR NOT NEAR(a b) title:x ^y", ["and", "or", "not", '"near a"', "b", '"title x"', "y"], []),
        ("it's", ['"it s"'], []),
        ('""" " coral "" -', ["coral"], []),
    ],
)
def test_parse_returns_clauses(typed: str, wanted: list[str], unwanted: list[str]) -> None:
    query = parse(typed)
    assert (wanted, unwanted) == ([str(c) for c in query.wanted], [str(c) for c in query.unwanted])


@pytest.mark.parametrize(
    ("typed", "code", "message"),
    [
        ("", "empty-query", "word"),
        (" ! ", "empty-query", "word"),
        ("-coral", "empty-query", "only excludes pages"),
        ("co*", "short-prefix", "3 letters or more"),
        (" ".join(f"w{n}" for n in range(51)), "too-many-words", "more than 50"),
    ],
)
def test_parse_rejects_invalid_queries(typed: str, code: str, message: str) -> None:
    with raises_input_error(code, match=message):
        parse(typed)


@given(st.text() | st.text("ab\"“”-*^:(){}+ '\x00\\é珊"))
def test_parse_accepts_any_text(typed: str) -> None:
    try:
        query = parse(typed)
    except InputError:
        return
    words = [word for clause in query.wanted + query.unwanted for word in clause.words]
    assert words
    assert not any('"' in word or " " in word or not word for word in words)


@pytest.mark.parametrize(
    ("arguments", "typed"),
    [
        (["coral reef"], "coral reef"),
        (["coral", "reef"], "coral reef"),
        (["coral", "sea level"], 'coral "sea level"'),
        (['"sea level" coral', "reef"], '"sea level" coral reef'),
    ],
)
def test_join_arguments_restores_quotes(arguments: list[str], typed: str) -> None:
    assert typed == join_arguments(arguments)


def test_word_forms_share_stem() -> None:
    assert ["bleach", "bleached", "bleaching"] == word_forms(
        "bleaching", ["bleach", "bleached", "bleacher", "bleaching"]
    )
