"""A regular expression as a topic."""

import pytest

from lycosa.core.errors import InputError
from lycosa.core.types import Links, Page
from lycosa.judges.pattern import READ, RegexJudge


@pytest.mark.paper("batsakis-boolean")
@pytest.mark.parametrize(("matches", "beta"), [(0, 0.0), (1, 1 / 2), (2, 2 / 3), (9, 9 / 10)])
def test_beta_counts_matches(matches: int, relevance: float) -> None:
    """n matches in title and text give n / (n + 1)."""
    title = "Coral" if matches else ""
    page = Page("ok", title=title, marked="the CORAL " * max(0, matches - 1))
    assert pytest.approx(relevance) == RegexJudge("coral").judge(page, None).relevance


def test_alpha_by_anchor_context_and_url() -> None:
    """A match in the anchor gives 1, around it or in the URL .5, none 0."""
    links = Links.to("http://a.test/1", "http://a.test/2", "http://a.test/coral", "http://a.test/4")
    links.anchors = ["Coral", "here", "here", "here"]
    links.contexts = ["", "on corals", "", "trains"]
    assert [1.0, 0.5, 0.5, 0.0] == RegexJudge("coral").judge(Page("ok", links=links), None).link_relevances.tolist()


def test_matches_go_across_marks() -> None:
    """The text is searched as a reader sees it, without the marks of links."""
    assert 0.5 == RegexJudge("coral reef").judge(Page("ok", marked="\x01coral\x02 reef"), None).relevance


def test_only_so_much_is_searched() -> None:
    """What lies beyond READ characters is not looked at."""
    assert 0.0 == RegexJudge("coral").judge(Page("ok", marked="x" * READ + " coral"), None).relevance


@pytest.mark.parametrize("expression", ["(", "*a", "[z-a]"])
def test_what_is_not_an_expression(expression: str) -> None:
    """An invalid expression is refused with its reason."""
    with pytest.raises(InputError, match="is not a regular expression"):
        RegexJudge(expression)


@pytest.mark.parametrize("expression", ["", "a*", "coral|", "^"])
def test_what_matches_everything(expression: str) -> None:
    """An expression that matches the empty text would find every page."""
    with pytest.raises(InputError, match="would match every page"):
        RegexJudge(expression)


def test_threshold() -> None:
    """One match makes a page relevant, unless the user says otherwise."""
    assert (0.5, 0.9) == (RegexJudge("a").threshold, RegexJudge("a", threshold=0.9).threshold)


def test_facets() -> None:
    """1 for a match in the context, 1 for one in the address; only what is wanted."""
    topic = RegexJudge("coral")
    links = Links.to("http://a.test/coral", "http://a.test/2")
    links.contexts = ["", "on corals"]
    assert {} == topic.judge(Page("ok", links=links), None).facets
    topic.facets = ("context", "url")
    said = topic.judge(Page("ok", links=links), None).facets
    assert ([0.0, 1.0], [1.0, 0.0]) == (said["context"].tolist(), said["url"].tolist())
