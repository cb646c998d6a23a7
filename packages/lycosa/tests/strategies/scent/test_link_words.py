"""Tests of link words: hash slots of words, and text vectors."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lycosa.core.errors import InputError
from lycosa.strategies.scent.link_words import (
    MAX_LANGUAGES,
    NO_WORD,
    SLOTS,
    LinkWords,
    TopicMeaning,
    slot_of,
    topic_meaning,
)
from lycosa.text.tokens import stems


def read(texts: Sequence[str], language: str = "en", words: LinkWords | None = None) -> list[list[int]]:
    """Return the slots of each text."""
    owner, slots = (words or LinkWords()).read(texts, language)
    return [slots[owner == number].tolist() for number in range(len(texts))]


def slots_of(text: str, language: str = "en") -> list[int]:
    return [slot_of(stem) for stem in stems(text, language)]


def test_read_returns_slots_of_stems() -> None:
    texts = ["Coral reefs, the reef", "", "of the", "bleaching!"]
    assert [slots_of("coral reef reef"), [], [], slots_of("bleaching")] == read(texts)
    assert NO_WORD < min(slot_of(str(number)) for number in range(10_000)) < SLOTS


@pytest.mark.parametrize(
    ("language", "text"),
    [("de-AT", "Häuser an den Straßen"), ("fr", "Étoiles et récifs"), ("ru", "Коралловые рифы"), ("tr", "IŞIK ışık")],
)
def test_read_uses_stems_of_language(language: str, text: str) -> None:
    assert [slots_of(text, language), slots_of(text, language)] == read([text, text], language)


def test_read_splits_chinese_and_mixed_text() -> None:
    assert [slots_of("珊瑚", "zh"), slots_of("coral", "zh")] == read(["珊瑚", "coral"], "zh")
    long = "coral reefs in the warm sea " * 10  # English text of this length is not searched for Chinese words
    assert [slots_of("珊瑚"), slots_of(long)] == read(["珊瑚", long])
    assert 2 == len(slots_of("珊瑚"))


def test_read_ignores_separator() -> None:
    assert [slots_of("coral reef"), slots_of("fish")] == read(["coral\x01reef", "fish"])
    assert [[], slots_of("fish"), []] == read(["\x01", "fish", "\x01\x01"])


def test_read_of_no_texts_is_empty() -> None:
    assert [] == LinkWords().read([])[1].tolist()


def test_read_accepts_more_languages_than_cached() -> None:
    words, codes = LinkWords(), ["de", "fr", "es", "it", "nl", "sv", "fi", "pt", "ru", "tr"]
    assert len(codes) > MAX_LANGUAGES
    first = [read(["Häuser corals étoiles"], code, words) for code in codes]
    assert first == [read(["Häuser corals étoiles"], code, words) for code in codes]


_TEXT = st.text(st.characters(codec=None), max_size=12) | st.sampled_from(
    [
        "coral reefs",
        "サンゴ礁の白化",
        "Größe",
        "\x01",
        "I\u0307",
        "\ud800",
        "l·l",
        "北京 reef",
        "\u200c",
        "ﷺ",
        "x" * 300,
    ]
)


@settings(max_examples=50, deadline=None)
@given(st.lists(_TEXT, min_size=1, max_size=5), st.sampled_from(["en", "", "de", "tr", "ja", "fa"]))
def test_read_is_independent_of_other_texts(texts: list[str], language: str) -> None:
    words = LinkWords()
    assert [read([text], language)[0] for text in texts] == read(texts, language, words) == read(texts, language, words)


def test_on_new_words_is_called_once_per_word() -> None:
    met: list[tuple[str, int]] = []
    words = LinkWords(lambda found, slots: met.extend(zip(found, slots, strict=True)))
    words.read(["Corals", "the coral corals"])
    words.read(["coral"])
    assert [("corals", slot_of("coral")), ("coral", slot_of("coral"))] == met


def test_slots_are_those_of_stems() -> None:
    words, known = LinkWords(), ["coral", "reef"]
    assert [slot_of("reef")] == words.slots(known, np.array([1], np.uint32)).tolist()
    known.append("fish")
    assert [slot_of("coral"), slot_of("fish")] == words.slots(known, np.array([0, 2], np.uint32)).tolist()


@pytest.fixture
def axes(monkeypatch: pytest.MonkeyPatch) -> None:
    """Replace word vectors by unit vectors along the axis of the first letter; "ab" lies between two axes."""

    def vectors(texts: Sequence[str], language: str = "en") -> Any:
        found = np.zeros((len(texts), 256), np.float32)
        for line, text in zip(found, texts, strict=True):
            for letter in text.replace(" ", ""):
                line[ord(letter) - ord("a")] += 1
            line /= max(float(np.sqrt(line @ line)), 1e-6)
        return found

    for name in ("vectors", "word_vectors"):
        monkeypatch.setattr(f"lycosa.text.embeddings.{name}", vectors)


@pytest.mark.usefixtures("axes")
def test_cosines_of_sums() -> None:
    """Cosines with the topic 'a' are 1 for 'a', 0 for 'b', 1 / sqrt 2 for 'a b', and 0 for an empty text."""
    meaning = TopicMeaning("a")
    meaning.add_words(["a", "b"], [1, 2])
    slots, counts = np.array([1, 2, 1, 2], np.int32), np.array([1, 1, 2, 0])
    near = meaning.cosines(meaning.sums(slots, counts, np.cumsum(counts) - counts))
    assert [1, 0, 1 / math.sqrt(2), 0] == pytest.approx(near.tolist())


@pytest.mark.usefixtures("axes")
def test_topic_is_unit_vector_of_heaviest_terms() -> None:
    """The vector 3 a + 4 b is scaled by its length 5; of many terms the 40 heaviest count."""
    assert [0.6, 0.8] == pytest.approx(TopicMeaning("", {"a": 3.0, "b": 4.0}).topic[:2].tolist())
    many = {f"{'c' * (number + 1)}": 1.0 for number in range(40)} | {"b": 0.5}
    assert [0, 0, 1] == pytest.approx(TopicMeaning("", many).topic[:3].tolist())
    assert not TopicMeaning("", {}).topic.any()


@pytest.mark.usefixtures("axes")
def test_add_words_first_word_of_slot_counts() -> None:
    meaning = TopicMeaning("a")
    meaning.add_words(["a", "b"], [7, 7])
    meaning.add_words(["c"], [7])
    sums = meaning.sums(np.array([7], np.int32), np.array([1]), np.array([0]))
    assert [1] == meaning.cosines(sums).tolist()


def test_topic_meaning_without_vectors_is_zero(monkeypatch: pytest.MonkeyPatch) -> None:
    def missing(texts: Sequence[str], language: str = "en") -> Any:
        raise InputError("missing-package", "no vectors here")

    monkeypatch.setattr("lycosa.text.embeddings.vectors", missing)
    assert topic_meaning("coral", {}) is None
    assert topic_meaning("", {"coral": 1.0}) is None
