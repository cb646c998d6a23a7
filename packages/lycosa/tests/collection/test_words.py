"""Text as it is searched: folding keeps places, cutting knows scripts, menus go, terminals are safe."""

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
        ("re\u0301cifs", ["recifs"]),  # composed before it is cut
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
def test_text_is_cut_into_words(text: str, words: list[str]) -> None:
    """Words are without case and accents; a character of a script without blanks is a word."""
    assert words == split_words(text)


@given(st.text())
def test_folding_keeps_every_place(text: str) -> None:
    """A folded text is as long as the text, so that places in one are places in the other."""
    assert len(text) == len(fold(text))


@given(st.text())
def test_words_stay_as_they_are(text: str) -> None:
    """Cutting the words of a text again gives the same words."""
    words = split_words(text)
    assert words == split_words(" ".join(words))


@given(st.text(st.characters(categories=["Cc", "Cf", "Cs", "Zs", "Zl", "Zp", "L"])))
def test_nothing_reaches_a_terminal_that_could_steer_it(text: str) -> None:
    """What is left are printable characters, blanks and line breaks; joiners stay because they are spelling."""
    assert all(c.isprintable() or c in "\n\u200c\u200d" for c in clean(text))


def test_escape_sequences_lose_their_escape() -> None:
    """Colours, titles and cursor movements of a page are text like any other."""
    assert "a [2Jb ]0;title c d" == clean("a\x1b[2Jb\x9d]0;title\x07c\u202ed")
