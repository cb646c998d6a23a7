"""Passages: the part of a text that shows why it was found, with the words marked where they stand."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lycosa.collection.search_text import clean, fold
from lycosa.collection.snippets import Highlight, snippet

FILLER = "Nothing of note is said here at all. " * 40


def marked(text: str, *marks: Highlight, width: int = 120) -> list[str]:
    """The marked words of the passage."""
    found = snippet(text, marks, width)
    return [found.text[start:end] for start, end in found.spans]


def test_the_passage_is_where_the_words_are_together() -> None:
    """A place with all the words beats places with one of them, however many."""
    text = f"Coral coral coral coral. {FILLER} Here a reef of coral stands. {FILLER} Reef reef reef."
    found = snippet(text, [Highlight(("coral",)), Highlight(("reef",), group=1)], 120)
    assert "Here a reef of coral stands." in found.text
    assert ["reef", "coral"] == marked(text, Highlight(("coral",)), Highlight(("reef",), group=1))
    assert found.text.startswith("… ")
    assert found.text.endswith(" …")


def test_the_rarer_word_decides() -> None:
    """If the words are never together, the passage is about the one that is worth more."""
    text = f"Coral. {FILLER} Zooxanthellae."
    marks = [Highlight(("coral",), 0.5), Highlight(("zooxanthellae",), 5.0, group=1)]
    assert ["Zooxanthellae"] == marked(text, *marks)


@pytest.mark.parametrize(
    ("text", "mark", "words"),
    [
        ("The Coral, coral and corals.", Highlight(("coral",)), ["Coral", "coral"]),
        ("Corals and coralline", Highlight(("coral",), prefix=True), ["Corals", "coralline"]),
        ("Sea, level: sea level and sealevel", Highlight(("sea", "level")), ["Sea, level", "sea level"]),
        ("Le Récif; les recifs", Highlight(("recif",)), ["Récif"]),
        ("浅海的珊瑚礁正在白化", Highlight(("珊", "瑚")), ["珊瑚"]),
        ("a.b a+b", Highlight(("b",)), ["b", "b"]),
        ("nothing", Highlight(("coral",)), []),
        ("", Highlight(("coral",)), []),
    ],
)
def test_words_are_marked_where_they_stand(text: str, mark: Highlight, words: list[str]) -> None:
    """Matches are whole words in any case and with any accent, or as the mark has it."""
    assert words == marked(text, mark)


def test_without_matches_it_is_the_beginning() -> None:
    """A page found by its title alone shows how it begins."""
    found = snippet(FILLER, [Highlight(("coral",))], 60)
    assert found.text.startswith("Nothing of note")
    assert len(found.text) <= 62


def test_what_stands_far_down_is_found() -> None:
    """A long text is read to its end if its beginning does not have everything."""
    text = "coral " * 10_000 + "reef coral"
    assert "reef" in marked(text, Highlight(("coral",)), Highlight(("reef",), group=1))


@given(
    st.text(st.sampled_from("ab .é珊\n\u0301ßİ")).map(clean),
    st.lists(st.tuples(st.sampled_from(["a", "b", "ab", "e", "珊"]), st.booleans()), min_size=1, max_size=3),
    st.integers(20, 80),
)
def test_passages_are_true(text: str, words: list[tuple[str, bool]], width: int) -> None:
    """A passage is a piece of the text, about as wide as asked, and its spans are the words, apart and in order."""
    marks = [Highlight((word,), prefix=prefix, group=n) for n, (word, prefix) in enumerate(words)]
    found = snippet(text, marks, width)
    inside = found.text.removeprefix("… ").removesuffix(" …")
    assert inside in " ".join(text.split())
    assert len(found.text) <= width + 40
    last = 0
    for start, end in found.spans:
        assert last <= start < end <= len(found.text)
        last = end
        folded = fold(found.text[start:end])
        assert any(folded == mark.words[0] or (mark.prefix and folded.startswith(mark.words[0])) for mark in marks)
