"""RegexJudge: matches of a regular expression."""

import pytest

from input_errors import raises_input_error
from lycosa.core.types import Links, Page
from lycosa.judges.pattern import MAX_CHARACTERS, RegexJudge


@pytest.mark.paper("batsakis-boolean")
@pytest.mark.parametrize(("matches", "relevance"), [(0, 0.0), (1, 1 / 2), (2, 2 / 3), (9, 9 / 10)])
def test_relevance_counts_matches(matches: int, relevance: float) -> None:
    title = "Coral" if matches else ""
    page = Page("ok", title=title, marked="the CORAL " * max(0, matches - 1))
    assert pytest.approx(relevance) == RegexJudge("coral").judge(page, None).relevance


def test_alpha_decreases_from_anchor_to_context_and_url() -> None:
    links = Links.to("http://a.test/1", "http://a.test/2", "http://a.test/coral", "http://a.test/4")
    links.anchors = ["Coral", "here", "here", "here"]
    links.contexts = ["", "on corals", "", "trains"]
    assert [1.0, 0.5, 0.5, 0.0] == RegexJudge("coral").judge(Page("ok", links=links), None).link_relevances.tolist()


def test_matches_ignore_link_marks() -> None:
    assert 0.5 == RegexJudge("coral reef").judge(Page("ok", marked="\x01coral\x02 reef"), None).relevance


def test_search_stops_at_max_characters() -> None:
    assert 0.0 == RegexJudge("coral").judge(Page("ok", marked="x" * MAX_CHARACTERS + " coral"), None).relevance


@pytest.mark.parametrize("expression", ["(", "*a", "[z-a]"])
def test_rejects_invalid_expressions(expression: str) -> None:
    with raises_input_error("bad-pattern"):
        RegexJudge(expression)


@pytest.mark.parametrize("expression", ["", "a*", "coral|", "^"])
def test_rejects_expressions_that_match_everything(expression: str) -> None:
    with raises_input_error("bad-pattern"):
        RegexJudge(expression)


def test_threshold_defaults_to_half() -> None:
    assert (0.5, 0.9) == (RegexJudge("a").threshold, RegexJudge("a", threshold=0.9).threshold)


def test_facets_are_empty_unless_requested() -> None:
    topic = RegexJudge("coral")
    links = Links.to("http://a.test/coral", "http://a.test/2")
    links.contexts = ["", "on corals"]
    assert {} == topic.judge(Page("ok", links=links), None).facets
    topic.facets = ("context", "url")
    judgement = topic.judge(Page("ok", links=links), None).facets
    assert ([0.0, 1.0], [1.0, 0.0]) == (judgement["context"].tolist(), judgement["url"].tolist())
