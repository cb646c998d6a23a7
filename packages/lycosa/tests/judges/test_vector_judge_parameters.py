"""VectorJudge parameters by hand: tf, idf, link, facets, languages."""

from math import log, sqrt

import numpy as np
import pytest

from lycosa.core.types import Judgement, Links, Page, Visit
from lycosa.judges.vector_judge import VectorJudge
from lycosa.text.background import Background
from lycosa.text.tokens import stems
from lycosa.text.vocabulary import Vocabulary
from lycosa.web.html import extract

FEW = Background(100, {"sea": 50, "coral": 5, "year": 100})


def judge(topic: VectorJudge, page: Page, words: Vocabulary | None = None) -> Judgement:
    return topic.judge(page, (words or Vocabulary()).read(page))


@pytest.mark.paper("batsakis-eq1")
def test_relevance_equals_equations_1_and_2() -> None:
    """By equations 1 and 2, tf = f / max f, idf = log(N / N_j): coral 2, sea 4; N = 100, N_j 5 and 50; query coral."""
    coral = 2 / 4 * log(100 / 5)
    sea = 4 / 4 * log(100 / 50)
    query = 1 / 1 * log(100 / 5)
    expected = coral * query / (sqrt(coral**2 + sea**2) * sqrt(query**2))
    topic = VectorJudge("coral", tf="max", idf="background", background=FEW)
    assert pytest.approx(expected, rel=1e-9) == judge(topic, Page("ok", marked="coral sea coral sea sea sea")).relevance


@pytest.mark.paper("batsakis-eq2")
def test_query_words_missing_in_background_count_once() -> None:
    """Words missing in the background count with N_j = 1: the query is coral sea lagoon, without lagoon on the page."""
    coral, sea, lagoon = log(100 / 5), log(100 / 50), log(100 / 1)
    expected = (coral**2 + sea**2) / (sqrt(coral**2 + sea**2) * sqrt(coral**2 + sea**2 + lagoon**2))
    topic = VectorJudge("coral sea lagoon", tf="max", idf="background", background=FEW)
    assert pytest.approx(expected, rel=1e-9) == judge(topic, Page("ok", marked="coral sea")).relevance


def test_unknown_word_counts_in_page_length() -> None:
    coral, name = log(100 / 5), log(100 / 1)
    topic = VectorJudge("coral", tf="max", idf="background", background=FEW)
    expected = coral / sqrt(coral**2 + name**2)
    assert pytest.approx(expected, rel=1e-9) == judge(topic, Page("ok", marked="coral Uexküll")).relevance


@pytest.mark.parametrize("text", ["coral sea sea", "sea coral coral coral reef"])
def test_tf_max_equals_raw(text: str) -> None:
    both = [judge(VectorJudge("coral", tf=tf), Page("ok", marked=text)).relevance for tf in ("max", "raw")]
    assert pytest.approx(both[0], rel=1e-12) == both[1]
    assert 0 < both[0] < 1


def test_idf_none_uses_counts_only() -> None:
    """Without idf the cosine uses counts: coral 3 and sea 4 have 3 / sqrt(9 + 16)."""
    words = Vocabulary()
    for _ in range(5):
        words.learn(Visit("n", "page", "ok", 1, terms=words.read(Page("ok", marked="coral")).terms))
    topic = VectorJudge("coral", tf="raw", idf="none")
    assert pytest.approx(3 / 5) == judge(topic, Page("ok", marked="coral " * 3 + "sea " * 4), words).relevance


def test_query_with_zero_idf_is_zero() -> None:
    topic = VectorJudge("year", idf="background", background=FEW)
    topic.facets = ("context", "url")
    page = Page("ok", marked="\x01year\x02", links=Links.to("http://a.test/year", anchors=["year"]))
    judgement = judge(topic, page)
    assert (0.0, [0.0], [0.0], [0.0]) == (
        judgement.relevance,
        judgement.link_relevances.tolist(),
        judgement.facets["context"].tolist(),
        judgement.facets["url"].tolist(),
    )


def test_page_with_zero_idf_is_zero() -> None:
    topic = VectorJudge("year coral", idf="background", background=FEW)
    page = Page("ok", marked="\x01year\x02", links=Links.to("b", anchors=["year"]))
    judgement = judge(topic, page)
    assert (0.0, [0.0]) == (judgement.relevance, judgement.link_relevances.tolist())


def test_background_defaults_to_english() -> None:
    english = Background.load()
    coral, sea = english.idf("coral"), english.idf("sea")
    topic = VectorJudge("coral", tf="raw", idf="background")
    assert pytest.approx(coral / sqrt(coral**2 + sea**2)) == judge(topic, Page("ok", marked="coral sea")).relevance


def test_background_covers_growing_vocabulary() -> None:
    topic, words = VectorJudge("coral", tf="raw", idf="background", background=FEW), Vocabulary()
    coral, sea, rest = log(20), log(2), log(100)
    texts = ["sea coral", "reef coral", " ".join(f"word{n}x" for n in range(5000)), "coral sea"]
    relevances = [judge(topic, Page("ok", marked=text), words).relevance for text in texts]
    expected = [coral / sqrt(coral**2 + sea**2), coral / sqrt(coral**2 + rest**2), 0.0, coral / sqrt(coral**2 + sea**2)]
    assert expected == pytest.approx(relevances)
    assert pytest.approx(expected[1]) == judge(topic, Page("ok", marked="coral reef")).relevance


def test_background_is_not_used_for_other_languages() -> None:
    topic = VectorJudge("Korallen", tf="raw", idf="background", background=FEW)
    page = Page("ok", marked="Eine Koralle im Meer, das Meer", language="de")
    assert pytest.approx(1 / sqrt(1 + 4)) == judge(topic, page).relevance


def test_query_is_stemmed_in_page_language() -> None:
    page = Page("ok", marked="Häuser", language="de")
    assert pytest.approx(1.0) == judge(VectorJudge("Haus"), page).relevance
    assert 0.0 == judge(VectorJudge({"häuser": 1.0}, stemmed=True), page).relevance
    assert pytest.approx(1.0) == judge(VectorJudge({"haus": 1.0}, stemmed=True), page).relevance


def test_query_of_stop_words_in_page_language_is_zero() -> None:
    assert 0.0 == judge(VectorJudge("die"), Page("ok", marked="die Koralle", language="de")).relevance


def linked(*links: tuple[str, str, str]) -> Page:
    """Return a page with marked links, given as anchor, context and URL."""
    page = Page("ok", marked=" ".join(f"\x01{anchor}\x02" for anchor, _, _ in links))
    page.links = Links.to(*(url for _, _, url in links), anchors=[anchor for anchor, _, _ in links])
    page.links.contexts = [context for _, context, _ in links]
    return page


def faceted(topic: VectorJudge, page: Page) -> Judgement:
    topic.facets = ("context", "url")
    return judge(topic, page)


def test_facets_are_empty_by_default() -> None:
    assert {} == judge(VectorJudge("coral"), linked(("coral", "coral", "http://coral.test/"))).facets


def test_facets_by_hand() -> None:
    """With tf 1 + log f and no idf, context (coral 2, sea) and URL (reef, life, coral) are compared to 'coral reef'."""
    page = linked(("here", "coral coral sea", "http://reef-life.test/coral.html"))
    coral = 1 + log(2)
    judgement = faceted(VectorJudge("coral reef", idf="none"), page)
    assert [coral / (sqrt(coral**2 + 1) * sqrt(2))] == pytest.approx(judgement.facets["context"].tolist())
    assert [2 / (sqrt(3) * sqrt(2))] == pytest.approx(judgement.facets["url"].tolist())
    assert [0.0] == judgement.link_relevances.tolist()


def test_facets_of_words_that_no_page_has() -> None:
    judgement = faceted(VectorJudge("coral", idf="none"), linked(("here", "over there", "http://a.test/coral")))
    assert (0.0, [0.0], [1.0]) == (
        judgement.relevance,
        judgement.facets["context"].tolist(),
        judgement.facets["url"].tolist(),
    )


def test_facets_use_learned_idf_of_unknown_words() -> None:
    """After one page with 'sea', idf(sea) = ln(2 / 1.5) + 1, equal to that of the unknown 'coral'."""
    words = Vocabulary()
    words.learn(Visit("n", "page", "ok", 1, terms=words.read(Page("ok", marked="sea")).terms))
    sea = coral = log(2 / 1.5) + 1
    topic = VectorJudge("coral")
    topic.facets = ("url",)
    judgement = judge(topic, linked(("here", "", "http://a.test/coral/sea")), words)
    assert [coral / sqrt(coral**2 + sea**2)] == pytest.approx(judgement.facets["url"].tolist())


def test_link_context_uses_context_as_alpha() -> None:
    page = linked(("coral", "sea coral", "b"), ("sea", "the sea", "c"), ("here", "coral", "d"))
    judgement = faceted(VectorJudge("coral", link="context"), page)
    assert judgement.link_relevances.tolist() == judgement.facets["context"].tolist()
    assert 1.0 == pytest.approx(judgement.link_relevances[2])
    assert [1.0, 0.0, 0.0] == pytest.approx(judge(VectorJudge("coral"), page).link_relevances.tolist())


@pytest.mark.parametrize("language", ["", "en", "de", "fr", "ja"])
def test_facets_context_equals_definition_in_all_languages(language: str) -> None:
    texts = [
        "coral reefs 珊瑚礁 the sea",
        "Korallenriffe — das Riff",
        "coral",
        "",
        "l'étoile du récif, coral",
        "\x01 coral",
    ]
    texts += ["サンゴ礁の白化 coral", "reef’s coral–reef", "x" * 300 + " coral"]
    page = linked(*((f"link {n}", text, f"http://a.test/{n}") for n, text in enumerate(texts)))
    page.language = language
    topic = VectorJudge("coral reef 珊 riff récif", idf="none")
    judgement = faceted(topic, page).facets["context"]
    reading = Vocabulary().read(page)
    wanted = set(stems("coral reef 珊 riff récif", reading.language))
    for score, text in zip(judgement.tolist(), texts, strict=True):
        terms = stems(text.replace("\x01", " "), reading.language)
        counts = {term: 1 + log(terms.count(term)) for term in terms}
        dot = sum(value for term, value in counts.items() if term in wanted)
        length = sqrt(sum(value**2 for value in counts.values()) * len(wanted))
        assert pytest.approx(dot / length if dot else 0.0, rel=1e-6) == score


def test_facets_context_has_twenty_words_of_extracted_page() -> None:
    filler = " ".join(f"word{n}x" for n in range(30))
    html = f"<p>{filler} on coral <a href=/b>reef fish</a> and sea {filler} <a href=/c>trains</a> {filler}"
    document = extract(html.encode(), "http://a.test/")
    page = Page("ok", marked=document.marked, links=document.links)
    judgement = faceted(VectorJudge("coral", idf="none"), page).facets["context"].tolist()
    # 18 terms, once each: the 20 words without the stop words 'on' and 'and'
    assert [1 / sqrt(18), 0.0] == pytest.approx(judgement)


def test_links_add_no_words_to_vocabulary() -> None:
    words, topic = Vocabulary(), VectorJudge("coral")
    topic.facets = ("context", "url")
    page = linked(("here", "coral unheard", "http://a.test/unseen-coral"))
    reading = words.read(page)
    before = list(words.terms)
    topic.judge(page, reading)
    assert before == words.terms
    assert "unheard" not in words.id_of


def test_facets_are_correct_beyond_cache_size() -> None:
    topic = VectorJudge("coral", idf="none", tf="raw")
    topic.facets = ("context",)
    links = Links.to(*map(str, range(60_000)))
    links.contexts = [
        "coral" if n % 3 == 0 else f"word{n}x coral" if n % 3 == 1 else f"word{n}x" for n in range(60_000)
    ]
    page = Page("ok", links=links)
    for _ in range(2):
        judgement = judge(topic, page).facets["context"]
        assert [1.0, 1 / sqrt(2), 0.0] == pytest.approx(
            [judgement[0::3].mean(), judgement[1::3].mean(), judgement[2::3].mean()]
        )


def test_fingerprint_depends_on_parameters() -> None:
    made = [
        VectorJudge("coral"),
        VectorJudge("reef"),
        VectorJudge("coral", tf="max"),
        VectorJudge("coral", idf="none"),
        VectorJudge("coral", link="context"),
        VectorJudge("coral", background=Background(1, {}, digest="x")),
    ]
    assert len(made) == len({repr(topic.fingerprint) for topic in made})


def test_facets_are_float32() -> None:
    judgement = faceted(VectorJudge("coral"), linked(("coral", "coral", "c"), ("b", "b", "b")))
    assert {np.dtype(np.float32)} == {
        column.dtype for column in [judgement.link_relevances, *judgement.facets.values()]
    }
