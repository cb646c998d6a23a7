"""Raw tokens to ids by the page: the same as a dictionary would give, only faster."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lycosa.text.tokens import Lexicon, fold
from tables import each


class Numbers:
    """Gives each token the next number, and counts how often it is asked."""

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
def test_ids_are_those_of_a_dictionary(pages: list[list[str]]) -> None:
    """Page after page, each token has the id that was looked up for it when it was first met."""
    numbers = Numbers()
    lexicon, plain = Lexicon(numbers), Numbers()
    for page in pages:
        folded = fold(" ".join(page))
        expected = [plain.number(token) for token in folded.split()]
        assert expected == lexicon.ids(folded).tolist()


def test_a_known_token_is_not_looked_up_again() -> None:
    """Each token is looked up once."""
    numbers = Numbers()
    lexicon = Lexicon(numbers)
    for _ in range(3):
        lexicon.ids(b"coral reef coral")
    assert 2 == numbers.asked


@each([b"", b" ", b"    \x01  ", b"a", b" a ", b"a b"])
def test_few_tokens_or_none(folded: bytes) -> None:
    """The edges of the text are no tokens."""
    assert len(folded.split()) == len(Lexicon(Numbers()).ids(folded))


def test_many_tokens(monkeypatch: pytest.MonkeyPatch) -> None:
    """When it is full it forgets and asks again; ids are still right."""
    monkeypatch.setattr("lycosa.text.tokens._MOST_TOKENS", 50)
    numbers = Numbers()
    lexicon = Lexicon(numbers)
    text = b" ".join(b"word%d" % n for n in range(500))
    assert list(range(500)) == lexicon.ids(text).tolist() == lexicon.ids(text).tolist()


def test_more_tokens_than_slots_collide_harmlessly() -> None:
    """Tokens that fall on the same slot keep ids of their own."""
    numbers = Numbers()
    lexicon = Lexicon(numbers)
    text = b" ".join(b"t%d" % n for n in range(100_000))
    assert lexicon.ids(text).tolist() == lexicon.ids(text).tolist() == list(range(100_000))


@each(["я", "ก", "あ"])
def test_long_words_in_other_scripts_are_told_apart(letter: str) -> None:
    """Words of up to 40 letters that differ at the end only have ids of their own, in any script."""
    lexicon = Lexicon(Numbers())
    lexicon.ids(fold(letter * 30 + "б"))
    assert [1, 0] == lexicon.ids(fold(f"{letter * 30}г {letter * 30}б")).tolist()


def test_a_small_lexicon_is_right_as_well() -> None:
    """With few slots and a short memory, ids are still those of a dictionary."""
    lexicon, text = Lexicon(Numbers(), bits=4, most=20), b" ".join(b"t%d" % n for n in range(300))
    assert list(range(300)) == lexicon.ids(text).tolist() == lexicon.ids(text).tolist()


def test_what_is_looked_up_token_by_token_is_forgotten_too() -> None:
    """A hundred tokens are the most that are kept, whichever way they came."""
    lexicon = Lexicon(lambda tokens: [len(token) for token in tokens], most=100)
    for number in range(1_000):
        assert [len(str(number))] == lexicon.of([b"%d" % number])
    assert len(lexicon._known) <= 100
