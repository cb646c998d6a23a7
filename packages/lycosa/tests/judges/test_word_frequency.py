"""How often the search string is on a page."""

import pytest

from lycosa.core.errors import InputError
from lycosa.core.types import Links, Page
from lycosa.judges.counting import WordFrequencyJudge


def relevance(topic: WordFrequencyJudge, marked: str, title: str = "") -> float:
    """What a topic says of a page."""
    return topic.judge(Page("ok", title=title, marked=marked), None).relevance


@pytest.mark.paper("personalized-word-frequency")
def test_occurrences_in_title_and_text() -> None:
    """Once in the title, twice in one line, once in another: 1 + 2 + 1."""
    assert 4.0 == relevance(WordFrequencyJudge("coral"), "Coral, coral.\n\nNo CORAL here.", "Coral")


def test_lines_that_contain_it() -> None:
    """The same page has three lines with it: the title, and two of the text."""
    assert 3.0 == relevance(WordFrequencyJudge("coral", count="lines"), "Coral, coral.\n\nNo CORAL here.\nSea", "Coral")


def test_the_string_is_one_phrase() -> None:
    """'coral reef' counts as a whole, over spaces, marks of links and one line break, not over an empty line."""
    text = "coral reef, reef coral, coral  \x01reef\x02, coral\nreef, coral\n\nreef"
    assert 3.0 == relevance(WordFrequencyJudge("Coral  Reef"), text)


def test_whole_words_or_anywhere() -> None:
    """'art' is in party and artist as well; the paper's 'contains' counts those."""
    text = "art, party, artist, ART."
    assert (2.0, 4.0) == (
        relevance(WordFrequencyJudge("art"), text),
        relevance(WordFrequencyJudge("art", match="anywhere"), text),
    )


def test_scripts_without_spaces() -> None:
    """Where words are not separated, a string is found inside; a number beside such a script ends there."""
    assert 2.0 == relevance(WordFrequencyJudge("サンゴ"), "サンゴ礁とサンゴの白化")
    assert 1.0 == relevance(WordFrequencyJudge("CO2"), "CO2濃度")


def test_strings_with_signs() -> None:
    """A string is taken as it is written: no part of it is an expression."""
    assert 2.0 == relevance(WordFrequencyJudge("C++ (20)"), "c++ (20), C++ (20)! c (20)")


def test_case_is_folded() -> None:
    """STRASSE and Straße are one."""
    assert 2.0 == relevance(WordFrequencyJudge("straße"), "STRASSE, Straße")


def test_weighted_terms() -> None:
    """Several strings: 2 * 1 (coral reef) + 0.5 * 3 (coral)."""
    assert 2 * 1 + 0.5 * 3 == relevance(
        WordFrequencyJudge({"coral reef": 2.0, "coral": 0.5}), "coral reef, coral, coral"
    )


def test_weighted_lines() -> None:
    """A line counts each string that it contains once: 1 + 1 for the first, 1 for the second."""
    topic = WordFrequencyJudge({"coral": 1.0, "reef": 1.0}, count="lines")
    assert 3.0 == relevance(topic, "coral and reef and coral\nreef")


def test_links() -> None:
    """alpha counts in the anchor; facets in the context and in the words of the address."""
    topic = WordFrequencyJudge("coral reef")
    topic.facets = ("context", "url")
    links = Links.to("http://a.test/coral-reef/coralReef.html", "b", anchors=["Coral reef! Coral reef!", "reef"])
    links.contexts = ["a coral reef", "coral"]
    said = topic.judge(Page("ok", links=links), None)
    assert ([2.0, 0.0], [1.0, 0.0], [2.0, 0.0]) == (
        said.link_relevances.tolist(),
        said.facets["context"].tolist(),
        said.facets["url"].tolist(),
    )


def test_threshold() -> None:
    """A page with the string at all is found, unless the user says otherwise."""
    assert (1.0, 3.0) == (WordFrequencyJudge("coral").threshold, WordFrequencyJudge("coral", threshold=3.0).threshold)


@pytest.mark.parametrize("words", ["", "  ", {}, {"coral": 0.0}, {" ": 1.0}])
def test_no_words(words: object) -> None:
    """Nothing to look for is refused."""
    with pytest.raises(InputError, match="has no words to look for"):
        WordFrequencyJudge(words)  # type: ignore[arg-type]


SOURCE = """<title>Coral</title><!-- corals -->
<script>coral = 1</script>
<p class=coralline>Sea
"""


@pytest.mark.paper("personalized-lines")
def test_lines_of_the_source() -> None:
    """The pseudo-code: three lines of the source have it, one of them in a script, one in an attribute.

    Of what is shown, only the title has it. Without a source it is the lines that are shown: the title, and one.
    """
    page = Page("ok", title="Coral", marked="Sea", source=lambda: SOURCE)
    assert 3.0 == WordFrequencyJudge("coral", literal=True).judge(page, None).relevance
    assert 1.0 == WordFrequencyJudge("coral").judge(page, None).relevance
    assert 2.0 == relevance(WordFrequencyJudge("coral", literal=True), "A coralline sea.", "Coral")
