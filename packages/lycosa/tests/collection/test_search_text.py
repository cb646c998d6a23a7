"""Tests of text normalisation for search."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lycosa.collection.search_text import clean, fold, split_words


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("Coral-Reefs, 2024!", ["coral", "reefs", "2024"]),
        ("snake_case o'neill", ["snake", "case", "o", "neill"]),
        ("Récifs Ångström naïve", ["recifs", "angstrom", "naive"]),
        ("re\u0301cifs", ["recifs"]),  # composed before splitting
        ("ÉCOLE École", ["ecole", "ecole"]),
        ("Straße", ["straße"]),
        ("İstanbul", ["istanbul"]),
        ("Ελλάδα", ["ελλαδα"]),
        ("Ёлка", ["елка"]),
        ("ＡＢＣ ①", ["abc", "1"]),
        ("हिन्दी", ["हिन्दी"]),
        ("한국어 산호", ["한국어", "산호"]),
        ("珊瑚礁", ["珊", "瑚", "礁"]),
        ("さんご礁 reef", ["さ", "ん", "ご", "礁", "reef"]),
        ("ปะการัง", list("ปะการัง")),
        ("", []),
        ("\ud800 \x00", []),
    ],
)
def test_split_words_follows_script_of_language(text: str, words: list[str]) -> None:
    assert words == split_words(text)


@given(st.text())
def test_fold_keeps_length(text: str) -> None:
    assert len(text) == len(fold(text))


@given(st.text())
def test_split_words_is_idempotent(text: str) -> None:
    words = split_words(text)
    assert words == split_words(" ".join(words))


@given(st.text(st.characters(categories=["Cc", "Cf", "Cs", "Zs", "Zl", "Zp", "L"])))
def test_clean_leaves_printable_characters(text: str) -> None:
    assert all(c.isprintable() or c in "\n\u200c\u200d" for c in clean(text))


def test_clean_removes_escape_characters() -> None:
    assert "a [2Jb ]0;title c d" == clean("a\x1b[2Jb\x9d]0;title\x07c\u202ed")
