"""WeightedContentJudge: cosines by hand."""

from math import sqrt

import pytest

from lycosa.core.types import Judgement, Links, Page
from lycosa.judges.vector_judge import WeightedContentJudge
from lycosa.text.vocabulary import Vocabulary


def judge(topic: WeightedContentJudge, page: Page) -> Judgement:
    return topic.judge(page, Vocabulary().read(page))


@pytest.mark.paper("personalized-weights", "personalized-cosine")
def test_weighted_content_adds_title_and_body() -> None:
    """Weights are 2 * count in the title + 1 * count in the text: coral 2*1 + 1*2 = 4, reef 2, sea 3."""
    page = Page("ok", title="Coral Reef", marked="coral sea coral sea sea")
    expected = (4 + 3) / (sqrt(4**2 + 2**2 + 3**2) * sqrt(1 + 1))
    assert pytest.approx(expected) == judge(WeightedContentJudge("coral sea"), page).relevance


@pytest.mark.paper("personalized-ct-cb")
def test_weighted_content_applies_coefficients() -> None:
    """With title = 5 and body = 3: coral = 5*1 + 3*2 = 11, reef = 5, sea = 9."""
    page = Page("ok", title="Coral Reef", marked="coral sea coral sea sea")
    expected = 11 / sqrt(11**2 + 5**2 + 9**2)
    assert pytest.approx(expected) == judge(WeightedContentJudge("coral", title=5, body=3), page).relevance


def test_weighted_content_without_body_counts_title_only() -> None:
    page = Page("ok", title="Coral Reef", marked="coral sea sea sea")
    assert pytest.approx(1 / sqrt(2)) == judge(WeightedContentJudge("coral", body=0), page).relevance


def test_weighted_content_of_empty_vector_is_0() -> None:
    assert 0.0 == judge(WeightedContentJudge("coral", body=0), Page("ok", marked="coral")).relevance


def test_weighted_content_counts_words_of_title() -> None:
    """Title counts are weighted as well: coral, twice in the title, has 2 * 2; sea has 1 * 1."""
    page = Page("ok", title="Coral, Corals", marked="sea")
    assert pytest.approx(4 / sqrt(4**2 + 1)) == judge(WeightedContentJudge("coral"), page).relevance


def test_weighted_content_uses_stems_of_page_language() -> None:
    page = Page("ok", title="Häuser", marked="Haus am Meer", language="de")
    assert pytest.approx(3 / sqrt(3**2 + 1)) == judge(WeightedContentJudge("Haus"), page).relevance


def test_weighted_content_accepts_title_tokenised_differently() -> None:
    page = Page("ok", title="珊瑚 coral 礁" + " x" * 60, marked="coral " * 300)
    assert 0.0 < judge(WeightedContentJudge("coral"), page).relevance <= 1.0


def test_weighted_content_links_use_plain_counts() -> None:
    topic = WeightedContentJudge("coral")
    topic.facets = ("context", "url")
    links = Links.to("http://coral.test/", anchors=["coral coral sea"])
    links.contexts = ["coral sea"]
    judgement = judge(topic, Page("ok", marked="\x01coral coral sea\x02", links=links))
    assert [2 / sqrt(5), 1 / sqrt(2), 1.0] == pytest.approx(
        [judgement.link_relevances[0], judgement.facets["context"][0], judgement.facets["url"][0]]
    )


@pytest.mark.parametrize(("title", "body"), [(-1, 1), (2, -1), (0, 0)])
def test_weighted_content_rejects_invalid_coefficients(title: float, body: float) -> None:
    with pytest.raises(ValueError, match="must not be negative, and not both 0"):
        WeightedContentJudge("coral", title=title, body=body)
