"""Text to tokens to stems: tables of cases."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lycosa.text.tokens import CLOSE_TOKEN, MAX_WORD_LENGTH, OPEN_TOKEN, fold, stem_all, stems
from tables import each


@pytest.mark.paper("batsakis-stemming")
@each(
    [
        ("", []),
        ("The bleaching of Coral reefs", ["bleach", "coral", "reef"]),
        ("coral-reef, CORAL; (reef)!", ["coral", "reef", "coral", "reef"]),
        ("“Coral” – reef’s…\u00a0corals", ["coral", "reef", "coral"]),
        ("coral«reef»¿polyp?", ["coral", "reef", "polyp"]),
        ("a i x 7 42 2024", ["42", "2024"]),
        ("naïve Café ÜBER Straße", ["naïve", "café", "über", "strass"]),
        ("коралловые Рифы", ["коралловые", "рифы"]),
        ("الشعاب المرجانية", ["الشعاب", "المرجانية"]),
        ("珊瑚礁", ["珊", "瑚", "礁"]),
        ("珊瑚、海。", ["珊", "瑚", "海"]),
        ("ﬁsh ﬁshes", ["fish", "fish"]),
        ("ＣＯＲＡＬ", ["coral"]),
        ("x" * (MAX_WORD_LENGTH + 1) + " reef", ["reef"]),
        ("🪸 coral 🐠", ["coral"]),
        ("coral\x00reef\tpolyp", ["coral", "reef", "polyp"]),
        ("\ud800coral", ["coral"]),
        ("see \x01coral\x02reef", ["coral", "reef"]),
        ("home page login copyright", []),
    ]
)
def test_stems(text: str, expected: list[str]) -> None:
    """A text gives these terms, in order."""
    assert expected == stems(text)


def test_link_marks_are_tokens() -> None:
    """Where a link begins and ends is kept, also where it touches words."""
    assert [b"a", OPEN_TOKEN, b"coral", CLOSE_TOKEN, b"b"] == fold("a\x01Coral\x02b").split()


@each([b"the", b"x", b"", b"\xe2\x80", b"y" * (MAX_WORD_LENGTH + 1), "é".encode(), b"\x80\x81"])
def test_noise_has_no_stem(word: bytes) -> None:
    """Stop words, single letters, leftovers of characters and overlong tokens have no stem."""
    assert [""] == stem_all([word])


@settings(deadline=None)
@given(st.text())
def test_any_text_can_be_cut(text: str) -> None:
    """No text makes it fail, and no stem is empty, has spaces or is longer than a word (but for full case folding)."""
    for term in stems(text):
        assert term
        assert term == term.strip()
        assert len(term) <= MAX_WORD_LENGTH


@settings(deadline=None)
@given(st.lists(st.sampled_from(["coral", "reef", "bleaching", "sea"]), max_size=20))
def test_case_and_punctuation_do_not_matter(words: list[str]) -> None:
    """The same words in capitals, with other punctuation between them, give the same terms."""
    assert stems(" ".join(words)) == stems(", ".join(words).upper())


def test_texts_without_a_space() -> None:
    """100,000 letters, or a letter with as many accents on it, are no word; a square effort would not end."""
    for letter in ("é", "ก", "a", "\u0301", "a" + "\u0301\u0323"):
        assert [] == stems(letter * 100_000)
    assert 100_000 == len(stems("珊" * 100_000))


def test_decomposed_letters_are_one() -> None:
    """Words are the same whether their accents are letters' own or apart, in Latin and in Korean."""
    import unicodedata

    for word in ("café", "산호초"):
        assert stems(word) == stems(unicodedata.normalize("NFD", word))
