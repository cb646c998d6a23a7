"""Glossary: phrases, base forms, similarities, languages."""

import pickle

import numpy as np
import pytest

from input_errors import raises_input_error
from lycosa.text import glossary as module
from lycosa.text.glossary import Glossary, stems_of
from lycosa.text.ontology import Ontology
from lycosa.text.vocabulary import Vocabulary
from tables import each

LAND = Ontology.build(
    {
        "thing": [],
        "reef": ["reef"],
        "coral reef": ["coral reef", "fringing reef"],
        "great barrier reef": ["Great Barrier Reef"],
        "head of state": ["head of state"],
        "sea-bed": ["sea-bed"],
        "dog": ["dog"],
        "hot dog": ["hot dog"],
    },
    broader=[("reef", "thing"), ("coral reef", "reef"), ("great barrier reef", "coral reef"), ("dog", "thing")],
    source="by hand",
)


def terms(text: str, topic: str = "reef", language: str = "en") -> list[str]:
    """Return the sorted terms of a text."""
    words = Glossary(LAND, topic, "ehrig").words(language)
    return sorted(words.terms[number] for number in words.bags([text]).columns.tolist())


@each(
    [
        ("coral reefs", ["coral reef"]),
        ("CORAL\nREEF", ["coral reef"]),
        ("the Great Barrier Reef and a coral", ["Great Barrier Reef", "coral"]),
        ("great barrier reefs, great barriers", ["Great Barrier Reef", "barrier", "great"]),
        ("our head of state", ["head of state"]),
        ("sea-beds, a sea bed", ["sea-bed"]),
        ("a hot dog", ["hot dog"]),
        ("coral. And a reef", ["coral", "reef"]),
        ("the of and", []),
        ("", []),
    ]
)
def test_bags_prefer_longest_phrases(text: str, expected: list[str]) -> None:
    assert expected == terms(text)


def test_bags_phrases_end_with_text() -> None:
    words = Glossary(LAND, "reef", "ehrig").words()
    bags = words.bags(["a coral", "reef", "", "coral reef reef"])
    found = [[words.terms[n] for n in bags.columns[a:b]] for a, b in zip(bags.starts, bags.starts[1:], strict=False)]
    assert [["coral"], ["reef"], [], ["reef", "coral reef"]] == [sorted(some, key=len) for some in found]


@each(["\x01coral\x02 reef", "coral \x01 reef \x02", "\x02\x01"])
def test_bags_link_marks_do_not_split_texts(text: str) -> None:
    words = Glossary(LAND, "reef", "ehrig").words()
    assert 2 == len(words.bags([text, "dog"]))


def test_glossary_phrase_words_share_phrase_weight() -> None:
    glossary = Glossary(LAND, {"coral reef": 3.0, "dog": 1.0})
    assert {"coral reef": 3.0, "coral": 1.5, "reef": 1.5, "dog": 1.0} == dict(
        zip(glossary.topic, glossary.weights.tolist(), strict=True)
    )


def test_similarities_by_hand() -> None:
    """Similarity by equation 3 depends on links: one from reef to coral reef, two to Great Barrier Reef, two to dog."""
    texts = ["reefs", "fringing reef", "Great Barrier Reef", "dog", "hot dog", "unicorn"]
    all_of_them, near = (Glossary(LAND, "reef", "ehrig", floor).words() for floor in (0.0, 0.5))
    assert [1.0, 0.5**1, 0.5**2, 0.5**2, 0.0, 0.0] == all_of_them.similarities(all_of_them.bags(texts).columns)[
        :, 0
    ].tolist()
    assert [1.0, 0.5, 0.0, 0.0, 0.0, 0.0] == near.similarities(near.bags(texts).columns)[:, 0].tolist()


def test_similarities_of_unknown_words_are_zero() -> None:
    words = Glossary(LAND, "zooxanthellae reef", "ehrig").words()
    bags = words.bags(["Zooxanthellae", "bleaching"])
    assert [[1.0, 0.0], [0.0, 0.0]] == words.similarities(bags.columns).tolist()


def test_similarities_of_topic_term_that_is_stop_word_elsewhere() -> None:
    words = Glossary(LAND, "die reef", "ehrig").words("de")
    assert [0, 0] == words.pages(words.topic, Vocabulary()).tolist()
    assert [[0.0, 1.0]] == words.similarities(words.bags(["die reef"]).columns).tolist()


def test_similarities_with_ontology_of_another_language_are_zero(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(LAND, "language", "en")
    glossary = Glossary(LAND, "coral reef", "ehrig")
    for language, expected in (("en", 0.5), ("de", 0.0)):
        words = glossary.words(language)
        bags = words.bags(["Great Barrier Reef", "coral reef", "unicorn"])
        at = glossary.topic.index("coral reef")
        phrase, rows = words.bags(["coral reef"]), words.similarities(bags.columns[bags.starts[0] : bags.starts[1]])
        assert expected == rows[:, at].max()
        assert 1.0 == words.similarities(phrase.columns)[0, at]


def test_similarities_with_ontology_without_language_apply_everywhere() -> None:
    words = Glossary(LAND, "reef", "ehrig").words("de")
    assert [[0.5]] == words.similarities(words.bags(["coral reef"]).columns).tolist()


def test_words_are_reset_when_full(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MAX_CACHED_WORDS", 50)
    glossary = Glossary(LAND, "reef", "ehrig")
    first = glossary.words()
    for number in range(10):
        words = glossary.words()
        bags = words.bags([" ".join(f"word{number * 10 + n}" for n in range(10)) + " coral reef"])
        assert 0.5 == words.similarities(bags.columns).max()
    assert glossary.words() is not first


def test_words_keeps_recent_languages() -> None:
    glossary = Glossary(LAND, "reef", "ehrig")
    english = glossary.words("en")
    for code in ("de", "fr", "es", "it", "pt", "nl", "sv"):
        glossary.words(code)
    assert glossary.words("en") is english
    for code in ("da", "fi", "hu", "ru", "tr", "no", "ro", "cs"):
        glossary.words(code)
    assert glossary.words("en") is not english


def test_bags_find_terms_in_scripts_without_spaces() -> None:
    words = Glossary(LAND, "珊瑚 reef", "ehrig").words("zh")
    bags = words.bags(["珊瑚", "🪸 \x00 \x01", "a" * 1000, "é" * 500])
    assert 4 == len(bags)
    assert words.similarities(bags.columns[: bags.starts[1]]).any()


def test_glossary_pickles_without_caches() -> None:
    glossary = Glossary(LAND, "coral reef", "ehrig")
    glossary.words().bags(["reef " * 10])
    copy = pickle.loads(pickle.dumps(glossary))
    for one in (glossary, copy):
        words = one.words()
        assert np.array_equal([[0.5, 0.0, 1.0]], words.similarities(words.bags(["reefs"]).columns))


@each(["", "the of", {"reef": 0.0}, {}])
def test_glossary_rejects_topic_without_words(topic: str) -> None:
    with raises_input_error("empty-topic"):
        Glossary(LAND, topic)


def test_stems_of_skips_stop_words() -> None:
    assert [("head", "state"), (), ("reef",)] == stems_of(["heads of state", "the", "Reefs"], "en")


def test_glossary_rejects_too_many_terms() -> None:
    topic = {f"word{number}": 1.0 for number in range(module.MAX_TERMS + 1)}
    with raises_input_error("too-large"):
        Glossary(Ontology.build({"reef": ["reef"]}, broader=[], source="a thesaurus"), topic)


def test_glossary_notes_unknown_topic() -> None:
    reefs = Ontology.build({"reef": ["reef"]}, broader=[("reef", "reef")], source="reefs.tsv")
    assert ["reefs.tsv has no word of the topic (xqzzy): only equal words match"] == Glossary(reefs, "xqzzy").notes[1:]
    assert reefs.notes == Glossary(reefs, "reef").notes
    assert "closes a cycle" in reefs.notes[0]
