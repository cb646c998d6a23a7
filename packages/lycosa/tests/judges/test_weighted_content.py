"""Word counts, those of the title counted twice: cosines worked out by hand."""

from math import sqrt

import pytest

from lycosa.core.types import Judgement, Links, Page
from lycosa.judges.vector_judge import WeightedContentJudge
from lycosa.text.vocabulary import Vocabulary


def judge(topic: WeightedContentJudge, page: Page) -> Judgement:
    """What a topic says of a page."""
    return topic.judge(page, Vocabulary().read(page))


@pytest.mark.paper("personalized-weights", "personalized-cosine")
def test_title_and_body() -> None:
    """Title: coral, reef. Text: coral 2, sea 3. coral = 2*1 + 1*2 = 4, reef = 2, sea = 3; topic coral, sea."""
    page = Page("ok", title="Coral Reef", marked="coral sea coral sea sea")
    expected = (4 + 3) / (sqrt(4**2 + 2**2 + 3**2) * sqrt(1 + 1))
    assert pytest.approx(expected) == judge(WeightedContentJudge("coral sea"), page).relevance


@pytest.mark.paper("personalized-ct-cb")
def test_other_coefficients() -> None:
    """title = 5, body = 3: coral = 5*1 + 3*2 = 11, reef = 5, sea = 9."""
    page = Page("ok", title="Coral Reef", marked="coral sea coral sea sea")
    expected = 11 / sqrt(11**2 + 5**2 + 9**2)
    assert pytest.approx(expected) == judge(WeightedContentJudge("coral", title=5, body=3), page).relevance


def test_the_title_alone() -> None:
    """With body = 0 the text does not count: coral 2 of coral 2 and reef 2."""
    page = Page("ok", title="Coral Reef", marked="coral sea sea sea")
    assert pytest.approx(1 / sqrt(2)) == judge(WeightedContentJudge("coral", body=0), page).relevance


def test_no_word_of_the_page_counts() -> None:
    """A page without a title and body = 0 has a vector of length 0, and is 0."""
    assert 0.0 == judge(WeightedContentJudge("coral", body=0), Page("ok", marked="coral")).relevance


def test_a_word_twice_in_the_title() -> None:
    """f = 2 there: coral = 2 * 2, sea = 1 * 1."""
    page = Page("ok", title="Coral, Corals", marked="sea")
    assert pytest.approx(4 / sqrt(4**2 + 1)) == judge(WeightedContentJudge("coral"), page).relevance


def test_a_title_in_another_language() -> None:
    """Title and text are stemmed by the same rules: haus = 2 * 1 + 1 * 1, meer = 1."""
    page = Page("ok", title="Häuser", marked="Haus am Meer", language="de")
    assert pytest.approx(3 / sqrt(3**2 + 1)) == judge(WeightedContentJudge("Haus"), page).relevance


def test_a_title_that_is_cut_differently() -> None:
    """A title whose words are others when read alone is no error, and gives no more than 1."""
    page = Page("ok", title="珊瑚 coral 礁" + " x" * 60, marked="coral " * 300)
    assert 0.0 < judge(WeightedContentJudge("coral"), page).relevance <= 1.0


def test_links_are_plain_counts() -> None:
    """Anchor coral 2, sea: 2 / sqrt(5); context coral, sea: 1 / sqrt(2); address coral: 1."""
    topic = WeightedContentJudge("coral")
    topic.facets = ("context", "url")
    links = Links.to("http://coral.test/", anchors=["coral coral sea"])
    links.contexts = ["coral sea"]
    said = judge(topic, Page("ok", marked="\x01coral coral sea\x02", links=links))
    assert [2 / sqrt(5), 1 / sqrt(2), 1.0] == pytest.approx(
        [said.link_relevances[0], said.facets["context"][0], said.facets["url"][0]]
    )


@pytest.mark.parametrize(("title", "body"), [(-1, 1), (2, -1), (0, 0)])
def test_what_is_refused(title: float, body: float) -> None:
    """Coefficients below 0, or both 0."""
    with pytest.raises(ValueError, match="none below 0, and not both 0"):
        WeightedContentJudge("coral", title=title, body=body)
