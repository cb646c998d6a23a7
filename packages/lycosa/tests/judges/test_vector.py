"""The parameters of the vector space: tf, idf, link, facets, languages; all worked out by hand."""

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
    """What a topic says of a page."""
    return topic.judge(page, (words or Vocabulary()).read(page))


@pytest.mark.paper("batsakis-eq1")
def test_equation_1_and_2() -> None:
    """coral 2, sea 4 of N = 100 (N_j 5 and 50) against the query 'coral': tf = f / max f, idf = log(N / N_j)."""
    coral = 2 / 4 * log(100 / 5)
    sea = 4 / 4 * log(100 / 50)
    query = 1 / 1 * log(100 / 5)
    expected = coral * query / (sqrt(coral**2 + sea**2) * sqrt(query**2))
    topic = VectorJudge("coral", tf="max", idf="background", background=FEW)
    assert pytest.approx(expected, rel=1e-9) == judge(topic, Page("ok", marked="coral sea coral sea sea sea")).relevance


@pytest.mark.paper("batsakis-eq2")
def test_two_words_of_the_query() -> None:
    """coral and sea once each, of the query coral sea lagoon, which the background has not met: N_j = 1."""
    coral, sea, lagoon = log(100 / 5), log(100 / 50), log(100 / 1)
    expected = (coral**2 + sea**2) / (sqrt(coral**2 + sea**2) * sqrt(coral**2 + sea**2 + lagoon**2))
    topic = VectorJudge("coral sea lagoon", tf="max", idf="background", background=FEW)
    assert pytest.approx(expected, rel=1e-9) == judge(topic, Page("ok", marked="coral sea")).relevance


def test_an_unknown_word_on_the_page() -> None:
    """A name that the background does not have weighs log(N / 1) in the page's length."""
    coral, name = log(100 / 5), log(100 / 1)
    topic = VectorJudge("coral", tf="max", idf="background", background=FEW)
    expected = coral / sqrt(coral**2 + name**2)
    assert pytest.approx(expected, rel=1e-9) == judge(topic, Page("ok", marked="coral Uexküll")).relevance


@pytest.mark.parametrize("text", ["coral sea sea", "sea coral coral coral reef"])
def test_max_and_raw_are_one(text: str) -> None:
    """A factor common to the whole page cancels in the cosine."""
    both = [judge(VectorJudge("coral", tf=tf), Page("ok", marked=text)).relevance for tf in ("max", "raw")]
    assert pytest.approx(both[0], rel=1e-12) == both[1]
    assert 0 < both[0] < 1


def test_none_takes_counts_only() -> None:
    """coral 3, sea 4: 3 / sqrt(9 + 16), whatever was learned before."""
    words = Vocabulary()
    for _ in range(5):
        words.learn(Visit("n", "page", "ok", 1, terms=words.read(Page("ok", marked="coral")).terms))
    topic = VectorJudge("coral", tf="raw", idf="none")
    assert pytest.approx(3 / 5) == judge(topic, Page("ok", marked="coral " * 3 + "sea " * 4), words).relevance


def test_a_query_of_worthless_words_finds_nothing() -> None:
    """'year' is on all pages of the background: idf 0, length 0, and no division by it."""
    topic = VectorJudge("year", idf="background", background=FEW)
    topic.facets = ("context", "url")
    page = Page("ok", marked="\x01year\x02", links=Links.to("http://a.test/year", anchors=["year"]))
    said = judge(topic, page)
    assert (0.0, [0.0], [0.0], [0.0]) == (
        said.relevance,
        said.link_relevances.tolist(),
        said.facets["context"].tolist(),
        said.facets["url"].tolist(),
    )


def test_a_page_of_worthless_words() -> None:
    """A page that has the word of the query, but with idf 0 each, is 0, and so are its links."""
    topic = VectorJudge("year coral", idf="background", background=FEW)
    page = Page("ok", marked="\x01year\x02", links=Links.to("b", anchors=["year"]))
    said = judge(topic, page)
    assert (0.0, [0.0]) == (said.relevance, said.link_relevances.tolist())


def test_the_background_comes_with_the_package() -> None:
    """Without a file of one's own it is that of English."""
    english = Background.load()
    coral, sea = english.idf("coral"), english.idf("sea")
    topic = VectorJudge("coral", tf="raw", idf="background")
    assert pytest.approx(coral / sqrt(coral**2 + sea**2)) == judge(topic, Page("ok", marked="coral sea")).relevance


def test_the_background_with_a_growing_vocabulary() -> None:
    """Terms of later pages, and of another vocabulary, are looked up as well."""
    topic, words = VectorJudge("coral", tf="raw", idf="background", background=FEW), Vocabulary()
    coral, sea, rest = log(20), log(2), log(100)
    texts = ["sea coral", "reef coral", " ".join(f"word{n}x" for n in range(5000)), "coral sea"]
    relevances = [judge(topic, Page("ok", marked=text), words).relevance for text in texts]
    expected = [coral / sqrt(coral**2 + sea**2), coral / sqrt(coral**2 + rest**2), 0.0, coral / sqrt(coral**2 + sea**2)]
    assert expected == pytest.approx(relevances)
    assert pytest.approx(expected[1]) == judge(topic, Page("ok", marked="coral reef")).relevance


def test_other_languages_learn_their_idf() -> None:
    """English statistics say nothing of German words: there idf is learned, all equal at first."""
    topic = VectorJudge("Korallen", tf="raw", idf="background", background=FEW)
    page = Page("ok", marked="Eine Koralle im Meer, das Meer", language="de")
    assert pytest.approx(1 / sqrt(1 + 4)) == judge(topic, page).relevance


def test_the_query_is_stemmed_as_the_page_is() -> None:
    """Words are compared in the language of the page; weights given as stems are left alone."""
    page = Page("ok", marked="Häuser", language="de")
    assert pytest.approx(1.0) == judge(VectorJudge("Haus"), page).relevance
    assert 0.0 == judge(VectorJudge({"häuser": 1.0}, stemmed=True), page).relevance
    assert pytest.approx(1.0) == judge(VectorJudge({"haus": 1.0}, stemmed=True), page).relevance


def test_a_query_that_is_empty_in_a_language() -> None:
    """A query of words that are stop words in the page's language finds nothing there."""
    assert 0.0 == judge(VectorJudge("die"), Page("ok", marked="die Koralle", language="de")).relevance


# -- links -------------------------------------------------------------------------------------------------------


def linked(*links: tuple[str, str, str]) -> Page:
    """A page with marked links: anchor, context, address."""
    page = Page("ok", marked=" ".join(f"\x01{anchor}\x02" for anchor, _, _ in links))
    page.links = Links.to(*(url for _, _, url in links), anchors=[anchor for anchor, _, _ in links])
    page.links.contexts = [context for _, context, _ in links]
    return page


def faceted(topic: VectorJudge, page: Page) -> Judgement:
    """Judge with both facets."""
    topic.facets = ("context", "url")
    return judge(topic, page)


def test_no_facets_unless_wanted() -> None:
    """What no strategy wants is not computed."""
    assert {} == judge(VectorJudge("coral"), linked(("coral", "coral", "http://coral.test/"))).facets


def test_context_and_url_by_hand() -> None:
    """Against 'coral reef', idf none: counts 1 + log f. Context: coral 2, sea; address: reef, life, coral."""
    page = linked(("here", "coral coral sea", "http://reef-life.test/coral.html"))
    coral = 1 + log(2)
    said = faceted(VectorJudge("coral reef", idf="none"), page)
    assert [coral / (sqrt(coral**2 + 1) * sqrt(2))] == pytest.approx(said.facets["context"].tolist())
    assert [2 / (sqrt(3) * sqrt(2))] == pytest.approx(said.facets["url"].tolist())
    assert [0.0] == said.link_relevances.tolist()


def test_facets_of_a_page_without_the_words() -> None:
    """An address can have the word that no page has used yet: with idf none it is 1."""
    said = faceted(VectorJudge("coral", idf="none"), linked(("here", "over there", "http://a.test/coral")))
    assert (0.0, [0.0], [1.0]) == (said.relevance, said.facets["context"].tolist(), said.facets["url"].tolist())


def test_learned_idf_of_words_no_page_has() -> None:
    """After one page with 'sea': idf(sea) = ln(2 / 1.5) + 1, and that of the unknown 'coral' is the same."""
    words = Vocabulary()
    words.learn(Visit("n", "page", "ok", 1, terms=words.read(Page("ok", marked="sea")).terms))
    sea = coral = log(2 / 1.5) + 1
    topic = VectorJudge("coral")
    topic.facets = ("url",)
    said = judge(topic, linked(("here", "", "http://a.test/coral/sea")), words)
    assert [coral / sqrt(coral**2 + sea**2)] == pytest.approx(said.facets["url"].tolist())


def test_link_context_is_alpha() -> None:
    """With link=context alpha is what the facet is."""
    page = linked(("coral", "sea coral", "b"), ("sea", "the sea", "c"), ("here", "coral", "d"))
    said = faceted(VectorJudge("coral", link="context"), page)
    assert said.link_relevances.tolist() == said.facets["context"].tolist()
    assert 1.0 == pytest.approx(said.link_relevances[2])
    assert [1.0, 0.0, 0.0] == pytest.approx(judge(VectorJudge("coral"), page).link_relevances.tolist())


@pytest.mark.parametrize("language", ["", "en", "de", "fr", "ja"])
def test_contexts_are_those_of_the_links(language: str) -> None:
    """Each context scores as if it was a page of its own: the 20 words as extracted, whatever their script."""
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
    said = faceted(topic, page).facets["context"]
    reading = Vocabulary().read(page)
    wanted = set(stems("coral reef 珊 riff récif", reading.language))
    for score, text in zip(said.tolist(), texts, strict=True):
        terms = stems(text.replace("\x01", " "), reading.language)
        counts = {term: 1 + log(terms.count(term)) for term in terms}
        dot = sum(value for term, value in counts.items() if term in wanted)
        length = sqrt(sum(value**2 for value in counts.values()) * len(wanted))
        assert pytest.approx(dot / length if dot else 0.0, rel=1e-6) == score


def test_contexts_of_a_real_page() -> None:
    """On a page as extracted the context's cosine is that of its 20 words."""
    filler = " ".join(f"word{n}x" for n in range(30))
    html = f"<p>{filler} on coral <a href=/b>reef fish</a> and sea {filler} <a href=/c>trains</a> {filler}"
    document = extract(html.encode(), "http://a.test/")
    page = Page("ok", marked=document.marked, links=document.links)
    said = faceted(VectorJudge("coral", idf="none"), page).facets["context"].tolist()
    # 'on' and 'and' are stop words: 18 terms of the 20 words, each once
    assert [1 / sqrt(18), 0.0] == pytest.approx(said)


def test_nothing_is_added_to_the_vocabulary() -> None:
    """Words of links that are not on the page must not become terms: the log would not know them."""
    words, topic = Vocabulary(), VectorJudge("coral")
    topic.facets = ("context", "url")
    page = linked(("here", "coral unheard", "http://a.test/unseen-coral"))
    reading = words.read(page)
    before = list(words.terms)
    topic.judge(page, reading)
    assert before == words.terms
    assert "unheard" not in words.id_of


def test_many_links_are_each_their_own() -> None:
    """Every link gets its own score, also when the words of links outgrow what is remembered."""
    topic = VectorJudge("coral", idf="none", tf="raw")
    topic.facets = ("context",)
    links = Links.to(*map(str, range(60_000)))
    links.contexts = [
        "coral" if n % 3 == 0 else f"word{n}x coral" if n % 3 == 1 else f"word{n}x" for n in range(60_000)
    ]
    page = Page("ok", links=links)
    for _ in range(2):
        said = judge(topic, page).facets["context"]
        assert [1.0, 1 / sqrt(2), 0.0] == pytest.approx([said[0::3].mean(), said[1::3].mean(), said[2::3].mean()])


def test_the_fingerprint_tells_judges_apart() -> None:
    """Another tf, idf, link or background is another judge."""
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
    """One number per link, as the log keeps them."""
    said = faceted(VectorJudge("coral"), linked(("coral", "coral", "c"), ("b", "b", "b")))
    assert {np.dtype(np.float32)} == {column.dtype for column in [said.link_relevances, *said.facets.values()]}
