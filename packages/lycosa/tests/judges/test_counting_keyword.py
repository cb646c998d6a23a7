"""KeywordJudge: occurrences of a keyword in the page, and in the window of 100 characters around a link."""

from math import log

import pytest

from input_errors import raises_input_error
from lycosa.core.types import Judgement, Links, Page
from lycosa.judges.counting import KeywordJudge
from lycosa.web.html import extract


def judge(topic: KeywordJudge, marked: str, *anchors: str, title: str = "") -> Judgement:
    links = Links.to(*map(str, range(len(anchors))), anchors=anchors)
    return topic.judge(Page("ok", title=title, marked=marked, links=links), None)


@pytest.mark.paper("gouriten-smoothing")
def test_keyword_counts_title_and_text() -> None:
    assert (
        pytest.approx(log(1 + 4))
        == judge(KeywordJudge("reef"), "Reef, reef and REEF, not reefs", title="A reef").relevance
    )


def test_keyword_counts_of_several_words_are_added() -> None:
    assert pytest.approx(log(1 + 3)) == judge(KeywordJudge("reef coral"), "reef coral reef").relevance


def test_keyword_multiplies_weights_of_phrases() -> None:
    assert pytest.approx(log(1 + 2)) == judge(KeywordJudge({"coral reef": 2.0}), "coral, a coral reef, reef").relevance


@pytest.mark.paper("gouriten-window")
def test_keyword_alpha_counts_in_window() -> None:
    """Links have log(1 + f): f is 1 for 'near', within 48 characters of the anchor of 4, and 0 for 'far'."""
    text = "far " + "x" * 40 + " near " + "\x01here\x02"
    assert [log(1 + 1)] == pytest.approx(judge(KeywordJudge("near"), text, "here").link_relevances.tolist())
    assert [0.0] == judge(KeywordJudge("far"), text, "here").link_relevances.tolist()


@pytest.mark.parametrize(("gap", "inside"), [(44, True), (45, False)])
def test_keyword_window_has_48_characters_before_anchor(gap: int, inside: bool) -> None:
    """A window of 100 characters has 48 before an anchor of 4: 'reef' (4) and 44 more."""
    judgement = judge(KeywordJudge("reef"), "reef" + "." * gap + "\x01here\x02", "here")
    assert [log(2) if inside else 0.0] == pytest.approx(judgement.link_relevances.tolist())


@pytest.mark.parametrize(("gap", "inside"), [(45, True), (46, False)])
def test_keyword_window_odd_character_goes_after_anchor(gap: int, inside: bool) -> None:
    """A window of 100 has 48 characters before an anchor of 3 and 49 after it: 45 and 'reef'."""
    judgement = judge(KeywordJudge("reef"), "\x01see\x02" + "." * gap + "reef", "see")
    assert [log(2) if inside else 0.0] == pytest.approx(judgement.link_relevances.tolist())


def test_keyword_window_collapses_spaces() -> None:
    judgement = judge(KeywordJudge("reef"), "reef" + " " * 300 + "\n\n\n" + "\x01here\x02", "here")
    assert [log(2)] == pytest.approx(judgement.link_relevances.tolist())


def test_keyword_long_anchor_is_window() -> None:
    anchor = "reef " + "x" * 100
    judgement = judge(KeywordJudge("reef"), f"reef \x01{anchor}\x02 reef", anchor)
    assert [log(1 + 1)] == pytest.approx(judgement.link_relevances.tolist())


def test_keyword_window_size_is_respected() -> None:
    """A window of 20 has 8 characters on each side of an anchor of 4, room for one ' reef' on each."""
    judgement = judge(KeywordJudge("reef", window=20), "reef and reef \x01here\x02 reef reef", "here")
    assert [log(1 + 2)] == pytest.approx(judgement.link_relevances.tolist())


def test_keyword_windows_overlap_and_ignore_marks() -> None:
    text = "\x01a\x02 \x01reef\x02" + " x" * 60 + " \x01b\x02"
    assert [log(2), log(2), 0.0] == pytest.approx(
        judge(KeywordJudge("reef"), text, "a", "reef", "b").link_relevances.tolist()
    )


def test_keyword_links_are_found_by_position() -> None:
    """Positions of dropped links are skipped; a link without marks has 0."""
    text = "\x01reef\x02" + " x" * 100 + " \x01b\x02"
    page = Page("ok", marked=text, links=Links.to("b", "refresh", anchors=["b", ""]))
    page.links.positions = [1, 2]
    assert [0.0, 0.0] == KeywordJudge("reef").judge(page, None).link_relevances.tolist()


@pytest.mark.parametrize("marked", ["reef", "\x01reef", "\x02reef\x01", "\x01a\x01reef\x02\x02"])
def test_keyword_unbalanced_marks_use_contexts(marked: str) -> None:
    links = Links.to("b", "c", anchors=["here", "reef"])
    links.contexts = ["a reef is a reef", ""]
    judgement = KeywordJudge("reef").judge(Page("ok", marked=marked, links=links), None)
    assert [log(1 + 2), log(1 + 1)] == pytest.approx(judgement.link_relevances.tolist())


def test_keyword_judges_extracted_page() -> None:
    html = f"<p>The reef <a href=/b>is here</a> and {'many words ' * 15}<a href=/c>there</a>"
    document = extract(html.encode(), "http://a.test/")
    page = Page("ok", marked=document.marked, links=document.links)
    assert [log(2), 0.0] == pytest.approx(KeywordJudge("reef").judge(page, None).link_relevances.tolist())


def test_keyword_judges_facets() -> None:
    topic = KeywordJudge("reef")
    topic.facets = ("context", "url")
    links = Links.to("http://reef.test/reef/x.html", anchors=["here"])
    links.contexts = ["a reef"]
    judgement = topic.judge(Page("ok", links=links), None).facets
    assert ([log(1 + 1)], [log(1 + 2)]) == (
        pytest.approx(judgement["context"].tolist()),
        pytest.approx(judgement["url"].tolist()),
    )


def test_keyword_threshold_accepts_one_occurrence() -> None:
    topic = KeywordJudge("reef")
    assert judge(topic, "reef").relevance >= topic.threshold > judge(topic, "reefs").relevance


def test_keyword_rejects_no_words_and_empty_window() -> None:
    with raises_input_error("empty-topic"):
        KeywordJudge(" ")
    with pytest.raises(ValueError, match="'window' is 0"):
        KeywordJudge("reef", window=0)
