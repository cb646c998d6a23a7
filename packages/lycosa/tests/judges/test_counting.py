"""WordFrequencyJudge: occurrences of the search string."""

import pytest

from input_errors import raises_input_error
from lycosa.core.types import Links, Page
from lycosa.judges.counting import WordFrequencyJudge


def relevance(topic: WordFrequencyJudge, marked: str, title: str = "") -> float:
    return topic.judge(Page("ok", title=title, marked=marked), None).relevance


@pytest.mark.paper("personalized-word-frequency")
def test_word_frequency_counts_title_and_text() -> None:
    assert 4.0 == relevance(WordFrequencyJudge("coral"), "Coral, coral.\n\nNo CORAL here.", "Coral")


def test_word_frequency_counts_lines() -> None:
    assert 3.0 == relevance(WordFrequencyJudge("coral", count="lines"), "Coral, coral.\n\nNo CORAL here.\nSea", "Coral")


def test_word_frequency_string_is_one_phrase() -> None:
    text = "coral reef, reef coral, coral  \x01reef\x02, coral\nreef, coral\n\nreef"
    assert 3.0 == relevance(WordFrequencyJudge("Coral  Reef"), text)


def test_word_frequency_matches_whole_words_or_anywhere() -> None:
    text = "art, party, artist, ART."
    assert (2.0, 4.0) == (
        relevance(WordFrequencyJudge("art"), text),
        relevance(WordFrequencyJudge("art", match="anywhere"), text),
    )


def test_word_frequency_counts_in_scripts_without_spaces() -> None:
    assert 2.0 == relevance(WordFrequencyJudge("サンゴ"), "サンゴ礁とサンゴの白化")
    assert 1.0 == relevance(WordFrequencyJudge("CO2"), "CO2濃度")


def test_word_frequency_escapes_regex_characters() -> None:
    assert 2.0 == relevance(WordFrequencyJudge("C++ (20)"), "c++ (20), C++ (20)! c (20)")


def test_word_frequency_folds_case() -> None:
    assert 2.0 == relevance(WordFrequencyJudge("straße"), "STRASSE, Straße")


def test_word_frequency_multiplies_weights_of_terms() -> None:
    assert 2 * 1 + 0.5 * 3 == relevance(
        WordFrequencyJudge({"coral reef": 2.0, "coral": 0.5}), "coral reef, coral, coral"
    )


def test_word_frequency_counts_each_string_once_per_line() -> None:
    """A line counts each string once: 1 + 1 for the first line, 1 for the second."""
    topic = WordFrequencyJudge({"coral": 1.0, "reef": 1.0}, count="lines")
    assert 3.0 == relevance(topic, "coral and reef and coral\nreef")


def test_word_frequency_judges_links_and_facets() -> None:
    topic = WordFrequencyJudge("coral reef")
    topic.facets = ("context", "url")
    links = Links.to("http://a.test/coral-reef/coralReef.html", "b", anchors=["Coral reef! Coral reef!", "reef"])
    links.contexts = ["a coral reef", "coral"]
    judgement = topic.judge(Page("ok", links=links), None)
    assert ([2.0, 0.0], [1.0, 0.0], [2.0, 0.0]) == (
        judgement.link_relevances.tolist(),
        judgement.facets["context"].tolist(),
        judgement.facets["url"].tolist(),
    )


def test_word_frequency_threshold_defaults_to_1() -> None:
    assert (1.0, 3.0) == (WordFrequencyJudge("coral").threshold, WordFrequencyJudge("coral", threshold=3.0).threshold)


@pytest.mark.parametrize("words", ["", "  ", {}, {"coral": 0.0}, {" ": 1.0}])
def test_word_frequency_rejects_topic_without_words(words: object) -> None:
    with raises_input_error("empty-topic"):
        WordFrequencyJudge(words)  # type: ignore[arg-type]


SOURCE = """<title>Coral</title><!-- corals -->
<script>coral = 1</script>
<p class=coralline>Sea
"""


@pytest.mark.paper("personalized-lines")
def test_word_frequency_literal_counts_source_lines() -> None:
    page = Page("ok", title="Coral", marked="Sea", source=lambda: SOURCE)
    assert 3.0 == WordFrequencyJudge("coral", literal=True).judge(page, None).relevance
    assert 1.0 == WordFrequencyJudge("coral").judge(page, None).relevance
    assert 2.0 == relevance(WordFrequencyJudge("coral", literal=True), "A coralline sea.", "Coral")
