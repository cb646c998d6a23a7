"""Occurrences of a keyword, in the page and in 100 characters around a link."""

from math import log

import pytest

from lycosa.core.errors import InputError
from lycosa.core.types import Judgement, Links, Page
from lycosa.judges.counting import KeywordJudge
from lycosa.web.html import extract


def judge(topic: KeywordJudge, marked: str, *anchors: str, title: str = "") -> Judgement:
    """What a topic says of a page with links."""
    links = Links.to(*map(str, range(len(anchors))), anchors=anchors)
    return topic.judge(Page("ok", title=title, marked=marked, links=links), None)


@pytest.mark.paper("gouriten-smoothing")
def test_beta() -> None:
    """Once in the title, three times in the text: log(1 + 4)."""
    assert (
        pytest.approx(log(1 + 4))
        == judge(KeywordJudge("reef"), "Reef, reef and REEF, not reefs", title="A reef").relevance
    )


def test_several_words_add_up() -> None:
    """reef twice, coral once: log(1 + 3)."""
    assert pytest.approx(log(1 + 3)) == judge(KeywordJudge("reef coral"), "reef coral reef").relevance


def test_weighted_phrases() -> None:
    """A phrase of a file of terms counts as a whole: log(1 + 2 * 1)."""
    assert pytest.approx(log(1 + 2)) == judge(KeywordJudge({"coral reef": 2.0}), "coral, a coral reef, reef").relevance


@pytest.mark.paper("gouriten-window")
def test_alpha_counts_in_the_window() -> None:
    """'near' lies within 48 characters of the anchor of 4, 'far' does not: log(1 + 1) and log(1 + 0)."""
    text = "far " + "x" * 40 + " near " + "\x01here\x02"
    assert [log(1 + 1)] == pytest.approx(judge(KeywordJudge("near"), text, "here").link_relevances.tolist())
    assert [0.0] == judge(KeywordJudge("far"), text, "here").link_relevances.tolist()


@pytest.mark.parametrize(("gap", "inside"), [(44, True), (45, False)])
def test_the_window_before(gap: int, inside: bool) -> None:
    """An anchor of 4 leaves 48 before it: 'reef' (4) and 44 more fit, with one more the r is cut off."""
    said = judge(KeywordJudge("reef"), "reef" + "." * gap + "\x01here\x02", "here")
    assert [log(2) if inside else 0.0] == pytest.approx(said.link_relevances.tolist())


@pytest.mark.parametrize(("gap", "inside"), [(45, True), (46, False)])
def test_the_window_behind_has_the_odd_one(gap: int, inside: bool) -> None:
    """An anchor of 3 leaves 97: 48 before, 49 behind: 45 characters and 'reef'."""
    said = judge(KeywordJudge("reef"), "\x01see\x02" + "." * gap + "reef", "see")
    assert [log(2) if inside else 0.0] == pytest.approx(said.link_relevances.tolist())


def test_spaces_are_one_character() -> None:
    """Columns and empty lines of the layout take no room in the window."""
    said = judge(KeywordJudge("reef"), "reef" + " " * 300 + "\n\n\n" + "\x01here\x02", "here")
    assert [log(2)] == pytest.approx(said.link_relevances.tolist())


def test_a_long_anchor_is_the_window() -> None:
    """With 100 characters or more of its own, nothing around it counts."""
    anchor = "reef " + "x" * 100
    said = judge(KeywordJudge("reef"), f"reef \x01{anchor}\x02 reef", anchor)
    assert [log(1 + 1)] == pytest.approx(said.link_relevances.tolist())


def test_another_size() -> None:
    """With a window of 20, an anchor of 4 leaves 8 on each side: ' reef' fits, what lies behind it does not."""
    said = judge(KeywordJudge("reef", window=20), "reef and reef \x01here\x02 reef reef", "here")
    assert [log(1 + 2)] == pytest.approx(said.link_relevances.tolist())


def test_links_next_to_each_other() -> None:
    """Windows overlap, and the marks of other links take no room."""
    text = "\x01a\x02 \x01reef\x02" + " x" * 60 + " \x01b\x02"
    assert [log(2), log(2), 0.0] == pytest.approx(
        judge(KeywordJudge("reef"), text, "a", "reef", "b").link_relevances.tolist()
    )


def test_links_are_found_by_position() -> None:
    """A link that was left out shifts nobody; one without marks of its own gets 0."""
    text = "\x01reef\x02" + " x" * 100 + " \x01b\x02"
    page = Page("ok", marked=text, links=Links.to("b", "refresh", anchors=["b", ""]))
    page.links.positions = [1, 2]
    assert [0.0, 0.0] == KeywordJudge("reef").judge(page, None).link_relevances.tolist()


@pytest.mark.parametrize("marked", ["reef", "\x01reef", "\x02reef\x01", "\x01a\x01reef\x02\x02"])
def test_without_marks_contexts_stand_in(marked: str) -> None:
    """Where the marks don't pair up, the 20 words around the link are read; without those, the anchor."""
    links = Links.to("b", "c", anchors=["here", "reef"])
    links.contexts = ["a reef is a reef", ""]
    said = KeywordJudge("reef").judge(Page("ok", marked=marked, links=links), None)
    assert [log(1 + 2), log(1 + 1)] == pytest.approx(said.link_relevances.tolist())


def test_a_real_page() -> None:
    """As extracted: the first link has a reef close to it, the second is 30 words away."""
    html = f"<p>The reef <a href=/b>is here</a> and {'many words ' * 15}<a href=/c>there</a>"
    document = extract(html.encode(), "http://a.test/")
    page = Page("ok", marked=document.marked, links=document.links)
    assert [log(2), 0.0] == pytest.approx(KeywordJudge("reef").judge(page, None).link_relevances.tolist())


def test_facets() -> None:
    """log(1 + occurrences) in the 20 words of context, and in the words of the address."""
    topic = KeywordJudge("reef")
    topic.facets = ("context", "url")
    links = Links.to("http://reef.test/reef/x.html", anchors=["here"])
    links.contexts = ["a reef"]
    said = topic.judge(Page("ok", links=links), None).facets
    assert ([log(1 + 1)], [log(1 + 2)]) == (
        pytest.approx(said["context"].tolist()),
        pytest.approx(said["url"].tolist()),
    )


def test_one_occurrence_is_a_find() -> None:
    """The threshold lies just below log 2."""
    topic = KeywordJudge("reef")
    assert judge(topic, "reef").relevance >= topic.threshold > judge(topic, "reefs").relevance


def test_what_is_refused() -> None:
    """No words, and a window without room."""
    with pytest.raises(InputError, match="no words to look for"):
        KeywordJudge(" ")
    with pytest.raises(ValueError, match="window is 0"):
        KeywordJudge("reef", window=0)
