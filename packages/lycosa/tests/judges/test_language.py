"""Only pages in the right language count."""

from lycosa.core.types import Links, Page
from lycosa.judges.base import LanguageJudge, heeding
from lycosa.judges.pattern import RegexJudge
from lycosa.judges.space_judge import SpaceJudge


def test_a_flagged_page_is_not_found() -> None:
    """A page in another language has beta 0, but its links keep their alphas."""
    topic = LanguageJudge(heeding(RegexJudge("coral")))
    page = Page("ok", marked="coral", links=Links.to("b", anchors=["coral"]))
    assert (0.5, [1.0]) == (topic.judge(page, None).relevance, topic.judge(page, None).link_relevances.tolist())
    page.flags.append("language")
    assert (0.0, [1.0]) == (topic.judge(page, None).relevance, topic.judge(page, None).link_relevances.tolist())


def test_the_threshold_is_the_topics_own() -> None:
    """What counts as found is for the topic inside to say."""
    assert 0.7 == LanguageJudge(heeding(RegexJudge("coral", threshold=0.7))).threshold


def test_facets_are_the_topics_own() -> None:
    """What is wanted of links is handed on, and comes back, also from a topic that has none."""
    topic = LanguageJudge(heeding(RegexJudge("coral")))
    topic.facets = ("url",)
    page = Page("ok", links=Links.to("http://coral.test/"), flags=["language"])
    assert (("url",), [1.0]) == (topic.facets, topic.judge(page, None).facets["url"].tolist())
    plain = LanguageJudge(heeding(SpaceJudge()))
    plain.facets = ("url",)
    assert () == plain.facets
