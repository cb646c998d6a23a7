"""What people type: words, phrases, prefixes, exclusions; and whatever else is never an error of syntax."""

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
def test_queries_are_read_as_meant(typed: str, wanted: list[str], unwanted: list[str]) -> None:
    """Each piece becomes a clause, once, in order."""
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
def test_what_means_nothing_is_told(typed: str, code: str, message: str) -> None:
    """A query without anything to look for says so."""
    with raises_input_error(code, match=message):
        parse(typed)


@given(st.text() | st.text("ab\"“”-*^:(){}+ '\x00\\é珊"))
def test_nothing_typed_is_an_error_of_syntax(typed: str) -> None:
    """Anything gives clauses of clean words, or is told to be nothing."""
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
def test_quotes_that_the_shell_took_are_put_back(arguments: list[str], typed: str) -> None:
    """Several words of the command line, one of them with a blank inside: that one was quoted."""
    assert typed == join_arguments(arguments)


def test_forms_of_a_word_share_its_stem() -> None:
    """Only words of the same English stem are forms of each other."""
    assert ["bleach", "bleached", "bleaching"] == word_forms(
        "bleaching", ["bleach", "bleached", "bleacher", "bleaching"]
    )
