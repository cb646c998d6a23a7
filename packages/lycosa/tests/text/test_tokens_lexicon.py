"""Lexicon: ids equal those of a dictionary."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lycosa.text.tokens import Lexicon, fold
from tables import each


class Numbers:
    """Function that numbers tokens in order of occurrence and counts its calls."""

    def __init__(self) -> None:
        self.ids: dict[bytes, int] = {}
        self.asked = 0

    def __call__(self, tokens: list[bytes]) -> list[int]:
        return [self.number(token) for token in tokens]

    def number(self, token: bytes) -> int:
        self.asked += 1
        return self.ids.setdefault(token, len(self.ids))


TOKENS = st.lists(
    st.text("abc", min_size=1, max_size=12)
    | st.sampled_from(["coral", "bleaching", "bleached", "интернационал", "x" * 39, "x" * 40, "x" * 8, "x" * 9]),
    max_size=40,
)


@settings(max_examples=50, deadline=None)
@given(st.lists(TOKENS, max_size=4))
def test_ids_equal_dictionary(pages: list[list[str]]) -> None:
    numbers = Numbers()
    lexicon, plain = Lexicon(numbers), Numbers()
    for page in pages:
        folded = fold(" ".join(page))
        expected = [plain.number(token) for token in folded.split()]
        assert expected == lexicon.ids(folded).tolist()


def test_ids_are_looked_up_once_per_token() -> None:
    numbers = Numbers()
    lexicon = Lexicon(numbers)
    for _ in range(3):
        lexicon.ids(b"coral reef coral")
    assert 2 == numbers.asked


@each([b"", b" ", b"    \x01  ", b"a", b" a ", b"a b"])
def test_ids_have_one_number_per_token(folded: bytes) -> None:
    assert len(folded.split()) == len(Lexicon(Numbers()).ids(folded))


def test_ids_are_consistent_after_reset(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("lycosa.text.tokens._MAX_TOKENS", 50)
    numbers = Numbers()
    lexicon = Lexicon(numbers)
    text = b" ".join(b"word%d" % n for n in range(500))
    assert list(range(500)) == lexicon.ids(text).tolist() == lexicon.ids(text).tolist()


def test_ids_are_distinct_beyond_number_of_slots() -> None:
    numbers = Numbers()
    lexicon = Lexicon(numbers)
    text = b" ".join(b"t%d" % n for n in range(100_000))
    assert lexicon.ids(text).tolist() == lexicon.ids(text).tolist() == list(range(100_000))


@each(["я", "न", "あ"])
def test_ids_distinguish_long_words_in_other_scripts(letter: str) -> None:
    lexicon = Lexicon(Numbers())
    lexicon.ids(fold(letter * 30 + "б"))
    assert [1, 0] == lexicon.ids(fold(f"{letter * 30}г {letter * 30}б")).tolist()


def test_ids_are_distinct_with_few_slots() -> None:
    lexicon, text = Lexicon(Numbers(), bits=4, max_tokens=20), b" ".join(b"t%d" % n for n in range(300))
    assert list(range(300)) == lexicon.ids(text).tolist() == lexicon.ids(text).tolist()


def test_lexicons_respect_limit() -> None:
    lexicon = Lexicon(lambda tokens: [len(token) for token in tokens], max_tokens=100)
    for number in range(1_000):
        assert [len(str(number))] == lexicon.of([b"%d" % number])
    assert len(lexicon._known) <= 100
