"""Tests of search result snippets."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lycosa.collection.search_text import clean, fold
from lycosa.collection.snippets import Highlight, snippet

FILLER = "Nothing of note is said here at all. " * 40


def marked(text: str, *marks: Highlight, width: int = 120) -> list[str]:
    """Return the highlighted words of the snippet."""
    passage = snippet(text, marks, width)
    return [passage.text[start:end] for start, end in passage.spans]


def test_snippet_prefers_words_together() -> None:
    text = f"Coral coral coral coral. {FILLER} Here a reef of coral stands. {FILLER} Reef reef reef."
    passage = snippet(text, [Highlight(("coral",)), Highlight(("reef",), group=1)], 120)
    assert "Here a reef of coral stands." in passage.text
    assert ["reef", "coral"] == marked(text, Highlight(("coral",)), Highlight(("reef",), group=1))
    assert passage.text.startswith("… ")
    assert passage.text.endswith(" …")


def test_snippet_prefers_rarer_word() -> None:
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
def test_snippet_highlights_whole_words(text: str, mark: Highlight, words: list[str]) -> None:
    assert words == marked(text, mark)


def test_snippet_without_matches_is_beginning() -> None:
    passage = snippet(FILLER, [Highlight(("coral",))], 60)
    assert passage.text.startswith("Nothing of note")
    assert len(passage.text) <= 62


def test_snippet_searches_long_text() -> None:
    text = "coral " * 10_000 + "reef coral"
    assert "reef" in marked(text, Highlight(("coral",)), Highlight(("reef",), group=1))


@given(
    st.text(st.sampled_from("ab .é珊\n\u0301ßİ")).map(clean),
    st.lists(st.tuples(st.sampled_from(["a", "b", "ab", "e", "珊"]), st.booleans()), min_size=1, max_size=3),
    st.integers(20, 80),
)
def test_snippet_is_part_of_text(text: str, words: list[tuple[str, bool]], width: int) -> None:
    marks = [Highlight((word,), prefix=prefix, group=n) for n, (word, prefix) in enumerate(words)]
    passage = snippet(text, marks, width)
    inside = passage.text.removeprefix("… ").removesuffix(" …")
    assert inside in " ".join(text.split())
    assert len(passage.text) <= width + 40
    last = 0
    for start, end in passage.spans:
        assert last <= start < end <= len(passage.text)
        last = end
        folded = fold(passage.text[start:end])
        assert any(folded == mark.words[0] or (mark.prefix and folded.startswith(mark.words[0])) for mark in marks)
