"""Tokens and stems of texts."""

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
def test_stems_of_text_by_hand(text: str, expected: list[str]) -> None:
    assert expected == stems(text)


def test_fold_keeps_link_marks() -> None:
    assert [b"a", OPEN_TOKEN, b"coral", CLOSE_TOKEN, b"b"] == fold("a\x01Coral\x02b").split()


@each([b"the", b"x", b"", b"\xe2\x80", b"y" * (MAX_WORD_LENGTH + 1), "é".encode(), b"\x80\x81"])
def test_stem_all_drops_noise(word: bytes) -> None:
    assert [""] == stem_all([word])


@settings(deadline=None)
@given(st.text())
def test_stems_are_never_empty_or_long(text: str) -> None:
    for term in stems(text):
        assert term
        assert term == term.strip()
        assert len(term) <= MAX_WORD_LENGTH


@settings(deadline=None)
@given(st.lists(st.sampled_from(["coral", "reef", "bleaching", "sea"]), max_size=20))
def test_stems_ignore_case_and_punctuation(words: list[str]) -> None:
    assert stems(" ".join(words)) == stems(", ".join(words).upper())


def test_stems_of_huge_words_take_linear_time() -> None:
    for letter in ("é", "न", "a", "\u0301", "a" + "\u0301\u0323"):
        assert [] == stems(letter * 100_000)
    assert 100_000 == len(stems("珊" * 100_000))
    assert 99_999 == len(stems("ก" * 100_000))


def test_stems_of_decomposed_letters_are_equal() -> None:
    import unicodedata

    for word in ("café", "산호초"):
        assert stems(word) == stems(unicodedata.normalize("NFD", word))
