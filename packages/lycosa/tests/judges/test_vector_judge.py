"""VectorJudge: cosines by hand."""

from math import log, sqrt

import pytest

from input_errors import raises_input_error
from lycosa.core.types import Judgement, Links, Page, Visit
from lycosa.judges.vector_judge import VectorJudge
from lycosa.text.vocabulary import Vocabulary


def page(marked: str, *anchors: str, title: str = "") -> Page:
    return Page("ok", title=title, marked=marked, links=Links.to(*map(str, range(len(anchors))), anchors=anchors))


def judge(topic: VectorJudge, subject: Page, words: Vocabulary | None = None) -> Judgement:
    return topic.judge(subject, (words or Vocabulary()).read(subject))


def learned(*texts: str) -> Vocabulary:
    """Return a vocabulary after some pages."""
    words = Vocabulary()
    for text in texts:
        words.learn(Visit("n", "page", "ok", 1, terms=words.read(page(text)).terms))
    return words


def test_relevance_of_query_itself_is_1() -> None:
    assert pytest.approx(1.0) == judge(VectorJudge("coral reef"), page("reefs and corals")).relevance


def test_relevance_without_query_words_is_0() -> None:
    assert 0.0 == judge(VectorJudge("coral reef"), page("trains and timetables")).relevance


def test_relevance_before_first_page_has_equal_idf() -> None:
    """Before the first page all idf are equal and cancel: coral 3 times, reef, sea against coral, reef."""
    coral, reef, sea = 1 + log(3), 1.0, 1.0
    expected = (coral + reef) / (sqrt(coral**2 + reef**2 + sea**2) * sqrt(2))
    assert (
        pytest.approx(expected, rel=1e-6)
        == judge(VectorJudge("coral reef"), page("coral coral coral reef sea")).relevance
    )


def test_relevance_uses_learned_idf() -> None:
    """The idf is ln((N + 1) / (df + .5)) + 1, here after two pages with 'sea' and one with 'coral'."""
    words = learned("sea coral", "sea")
    sea, coral = log(3 / 2.5) + 1, log(3 / 1.5) + 1
    expected = coral * coral / (sqrt(sea**2 + coral**2) * coral)
    assert pytest.approx(expected, rel=1e-6) == judge(VectorJudge("coral"), page("sea coral"), words).relevance


def test_unused_terms_count_in_query_length() -> None:
    assert pytest.approx(1 / sqrt(3), rel=1e-6) == judge(VectorJudge("coral atoll lagoon"), page("coral")).relevance


def test_weights_multiply_terms_of_query() -> None:
    topic = VectorJudge({"coral": 3.0, "reef": 1.0})
    assert pytest.approx(1 / sqrt(10), rel=1e-6) == judge(topic, page("reef")).relevance
    assert pytest.approx(3 / sqrt(10), rel=1e-6) == judge(topic, page("coral")).relevance


def test_weights_of_equal_stems_add_up() -> None:
    assert {"coral": 3.0, "reef": 2.0} == VectorJudge({"coral reefs": 2.0, "corals": 1.0}).weights


def test_stemmed_words_are_not_stemmed_again() -> None:
    assert {"reefs": 1.0} == VectorJudge({"reefs": 1.0}, stemmed=True).weights


def test_title_contributes_to_relevance() -> None:
    assert judge(VectorJudge("coral"), page("sea", title="Coral")).relevance > 0


@pytest.mark.paper("gouriten-tf-idf")
def test_alpha_is_cosine_of_anchor() -> None:
    subject = page("\x01coral reef\x02 on \x01coral sea\x02 by \x01trains\x02", "", "", "")
    assert [1.0, 0.5, 0.0] == pytest.approx(judge(VectorJudge("coral reef"), subject).link_relevances.tolist())


def test_alpha_without_marks_reads_anchors() -> None:
    subject = page("coral reef", "coral reef", "coral sea", "trains", "")
    link_relevances = judge(
        VectorJudge("coral reef"), subject, learned("coral reef sea trains")
    ).link_relevances.tolist()
    assert [1.0, 0.0, 0.0] == pytest.approx([link_relevances[0], *link_relevances[2:]])
    assert 0.0 < link_relevances[1] < 1.0


def test_alpha_is_assigned_by_position() -> None:
    subject = page("\x01trains\x02 \x01coral\x02", "coral")
    subject.links.positions = [1]
    assert [1.0] == pytest.approx(judge(VectorJudge("coral"), subject).link_relevances.tolist())


def test_alpha_beyond_marks_is_0() -> None:
    subject = page("\x01coral\x02", "coral", "")
    subject.links.positions = [0, 1]
    assert [1.0, 0.0] == pytest.approx(judge(VectorJudge("coral"), subject).link_relevances.tolist())


def test_relevant_anchor_counts_on_irrelevant_page() -> None:
    judgement = judge(VectorJudge("coral"), page("trains \x01coral\x02", "coral"))
    assert judgement.relevance > 0
    assert [1.0] == pytest.approx(judgement.link_relevances.tolist())


def test_relevant_anchor_in_menu_counts() -> None:
    """Query words are in the menu only, and it counts: the cosine of (coral reef) and (coral), 1 / sqrt 2."""
    page = Page(
        "ok",
        marked="\x01coral\x02 all about trains",
        main="all about trains",
        links=Links(urls=["http://a.test/c"], anchors=["coral"], positions=[0]),
    )
    judgement = VectorJudge("coral reef", idf="none").judge(page, Vocabulary().read(page))
    assert (0.0, pytest.approx(2**-0.5)) == (judgement.relevance, judgement.link_relevances[0])


@pytest.mark.parametrize("words", ["", "the of and", "a b c", {}, {"coral": 0.0}, "!?"])
def test_rejects_query_without_words(words: str | dict[str, float]) -> None:
    with raises_input_error("empty-topic"):
        VectorJudge(words)


def test_relevance_is_high_in_other_scripts() -> None:
    assert judge(VectorJudge("коралловые рифы"), page("Коралловые рифы и море")).relevance > 0.7
    assert judge(VectorJudge("珊瑚"), page("海の珊瑚")).relevance > 0.5


def test_relevance_is_at_most_1() -> None:
    for text in ("coral", "coral " * 7, "coral reef " * 3):
        assert judge(VectorJudge("coral"), page(text), learned("coral reef", "reef")).relevance <= 1.0
