"""Nearness of meaning by word vectors: beta, alpha, the mean page that is taken out, and topics of all kinds."""

from typing import Any

import numpy as np
import pytest

from lycosa.checks import check_judge
from lycosa.core.errors import InputError
from lycosa.core.options import Options
from lycosa.core.types import Judgement, Links, Page, Visit
from lycosa.judges.embedding import PRIOR, STEPS, EmbeddingJudge
from lycosa.judges.factory import make_judge
from lycosa.store import codec
from lycosa.text.embeddings import unit, vectors
from lycosa.text.vocabulary import Vocabulary

REEF = Page("ok", title="Reefs", marked="Corals and fishes live in warm and shallow seas, around islands and lagoons")
TRAIN = Page(
    "ok", title="Railways", marked="Trains leave the station by the timetable, engines pull carriages on rails"
)


def judge(topic: EmbeddingJudge, page: Page, *anchors: str) -> Judgement:
    """What a topic says of a page with links."""
    links = Links.to(*(f"http://example.test/{n}" for n in range(len(anchors))), anchors=anchors)
    page = Page("ok", title=page.title, marked=page.marked, links=links)
    return topic.judge(page, Vocabulary().read(page))


def visit(page: Page, data: dict[str, Any] | None = None, **more: Any) -> Visit:
    """A recorded visit of a page, as the embedding of any topic leaves it."""
    data = judge(EmbeddingJudge("tropical"), page).data if data is None else data
    return Visit("http://example.test/", "page", "ok", 1, data=data, **more)


def learned(topic: EmbeddingJudge, *pages: Page) -> EmbeddingJudge:
    """The topic, after some pages."""
    for page in pages:
        topic.learn(visit(page))
    return topic


def common() -> np.ndarray[Any, Any]:
    """The mean page that a crawl starts with."""
    return EmbeddingJudge("tropical").total_ / (PRIOR * STEPS)


def test_beta_by_hand() -> None:
    """beta = unit(p - c) . q before anything is learned."""
    page, words = vectors([f"{REEF.title} {REEF.marked}", "tropical ocean"])
    assert float(unit(page - common()) @ words) == pytest.approx(
        judge(EmbeddingJudge("tropical ocean"), REEF).relevance, abs=1e-5
    )


def test_the_mean_is_learned() -> None:
    """After two pages m = (30 c + p1 + p2) / 32, with the pages as the log keeps them."""
    topic = learned(EmbeddingJudge("tropical ocean"), REEF, TRAIN)
    kept = [np.rint(vectors([f"{page.title} {page.marked}"])[0] * STEPS) / STEPS for page in (REEF, TRAIN)]
    mean = (30 * common() + kept[0] + kept[1]) / 32
    page, words = vectors([f"{REEF.title} {REEF.marked}", "tropical ocean"])
    assert float(unit(page - mean) @ words) == pytest.approx(judge(topic, REEF).relevance, abs=1e-5)


def test_examples_by_hand() -> None:
    """t = unit(e - m), e the mean of the example pages' vectors; with words as well, unit(t + q)."""
    pages = vectors([f"{page.title} {page.marked}" for page in (REEF, TRAIN)])
    told = EmbeddingJudge.from_examples([REEF, TRAIN])
    assert pages.mean(0) == pytest.approx(np.array(told["vector"]), abs=1e-4)
    by_examples = unit(pages.mean(0) - common())
    by_both = unit(by_examples + vectors(["tropical ocean"])[0])
    page = unit(pages[0] - common())
    assert float(page @ by_examples) == pytest.approx(judge(EmbeddingJudge(examples=told), REEF).relevance, abs=1e-3)
    both = EmbeddingJudge("tropical ocean", examples=told)
    assert float(page @ by_both) == pytest.approx(judge(both, REEF).relevance, abs=1e-3)


def test_weighted_terms_by_hand() -> None:
    """A file of terms: q = unit(2 a + .5 b), a and b of length 1."""
    coral, sea = vectors(["coral", "warm sea"])
    said = judge(EmbeddingJudge({"coral": 2.0, "warm sea": 0.5}), REEF, "reef")
    assert [float(vectors(["reef"])[0] @ unit(2 * coral + 0.5 * sea))] == pytest.approx(
        said.link_relevances.tolist(), abs=1e-5
    )


def test_alpha_is_the_cosine_of_the_anchor() -> None:
    """The topic's own words score 1, others less, unlike ones and none at all 0."""
    anchors = ("coral reef", "The Coral Reef", "lagoon", "railway timetable", "", "coral reef")
    link_relevances = judge(EmbeddingJudge("coral reef"), TRAIN, *anchors).link_relevances
    assert [1.0, 1.0, 0.0, 0.0, 1.0] == pytest.approx(link_relevances[[0, 1, 3, 4, 5]].tolist(), abs=1e-5)
    assert 0.05 < link_relevances[2] < 0.5


def test_links_by_context_and_address() -> None:
    """`link=context` takes the words around a link; facets give these and the words of its address."""
    links = Links.to("http://example.test/coral-reef.html", anchors=["more"])
    links.contexts = ["more of coral reef"]
    page = Page("ok", title="A", marked="b", links=links)
    topic = EmbeddingJudge("coral reef", link="context")
    around = topic.judge(page, None).link_relevances.tolist()
    assert [float(vectors(["more of coral reef"])[0] @ vectors(["coral reef"])[0])] == pytest.approx(around, abs=1e-5)
    plain = EmbeddingJudge("coral reef")
    plain.facets = ("context", "url")
    said = plain.judge(page, None)
    assert around == pytest.approx(said.facets["context"].tolist())
    assert [float(vectors(["example coral reef"])[0] @ vectors(["coral reef"])[0])] == pytest.approx(
        said.facets["url"].tolist(), abs=1e-5
    )


def test_other_words_of_the_same_meaning() -> None:
    """A page that shares no word with the topic is found, another is not, and beta is never below 0."""
    topic = EmbeddingJudge("marine biology ecosystem ocean")
    assert judge(topic, REEF).relevance > judge(topic, TRAIN).relevance + 0.2
    assert 0.0 == min(judge(topic, page).relevance for page in (TRAIN, Page("ok"), Page("ok", marked="the of")))


def test_the_mean_takes_out_what_all_pages_share() -> None:
    """When every page has the same menu, pages differ more after some of them have been seen."""
    menu = "home news contact login search help terms privacy imprint sitemap newsletter "
    on, off = (Page("ok", title=page.title, marked=menu + page.marked) for page in (REEF, TRAIN))
    topic = EmbeddingJudge(examples=EmbeddingJudge.from_examples([on]))
    before = judge(topic, off).relevance
    learned(topic, *[Page("ok", marked=menu + f"{word} matters") for word in ("money", "garden", "music", "war")] * 20)
    assert judge(topic, off).relevance < before - 0.1


def test_only_pages_are_learned_from() -> None:
    """Failures, redirects, visits of other judges and odd data leave the mean as it is."""
    topic = EmbeddingJudge("coral reef")
    before = topic.total_.copy()
    good = judge(topic, REEF).data
    for other in (
        Visit("a", "page", "gone", 1, data=good),
        Visit("a", "redirect", "redirect", 1, data=good),
        visit(REEF, {}),
        visit(REEF, {"embedding": "x" * 256}),
        visit(REEF, {"embedding": b"x"}),
    ):
        topic.learn(other)
    assert (before.tolist(), PRIOR) == (topic.total_.tolist(), topic.pages_)


def test_replay_is_exact() -> None:
    """What comes back from the log makes the same judge, to the last bit."""
    live, replayed = EmbeddingJudge("tropical ocean"), EmbeddingJudge("tropical ocean")
    for page in (REEF, TRAIN) * 3:
        seen = visit(page, judge(live, page).data)
        live.learn(seen)
        replayed.learn(codec.decode_visit(codec.encode_visit(seen), seen.place))
    assert judge(live, REEF, "coral").relevance == judge(replayed, REEF, "coral").relevance
    assert 256 == len(judge(live, REEF).data["embedding"])


def test_thresholds() -> None:
    """.35 for words alone, .5 where there are examples, and what the user says."""
    told = EmbeddingJudge.from_examples([REEF])
    made = (
        EmbeddingJudge("coral"),
        EmbeddingJudge(examples=told),
        EmbeddingJudge("coral", examples=told),
        EmbeddingJudge("coral", 0.2),
    )
    assert [0.35, 0.5, 0.5, 0.2] == [topic.threshold for topic in made]


def test_bad_topics() -> None:
    """No topic, only stop words, example pages without a word, and examples of other vectors are refused."""
    with pytest.raises(InputError, match="the topic is empty"):
        EmbeddingJudge("  ")
    with pytest.raises(InputError, match="no words to look for"):
        EmbeddingJudge("the of and")
    with pytest.raises(InputError, match="none of the example pages has any text"):
        EmbeddingJudge.from_examples([Page("ok"), Page("ok", marked="the")])
    told = EmbeddingJudge.from_examples([REEF])
    for wrong in ({"vector": [1.0], "vectors": told["vectors"]}, {**told, "vectors": "other"}, {"coral": 0.7}):
        with pytest.raises(InputError, match="not of the word vectors of this version"):
            EmbeddingJudge(examples=wrong)


def test_the_fingerprint_tells_topics_apart() -> None:
    """Other words, weights, examples or links make another judge; the same make the same."""
    told = EmbeddingJudge.from_examples([REEF])
    made = [
        EmbeddingJudge("coral"), EmbeddingJudge("reef"), EmbeddingJudge({"coral": 2.0}), EmbeddingJudge("coral", examples=told),
        EmbeddingJudge("coral", link="context"),
    ]  # fmt: skip
    assert len(made) == len({repr(topic.fingerprint) for topic in made})
    assert repr(EmbeddingJudge("coral").fingerprint) == repr(made[0].fingerprint)


def test_by_the_options_of_a_crawl() -> None:
    """--judge embedding,link=context, with words, with a threshold, and with what was learned of examples."""
    told = EmbeddingJudge.from_examples([REEF])
    topic = make_judge(Options(topic="coral", judge="embedding,link=context", threshold=0.3))
    assert isinstance(topic, EmbeddingJudge)
    assert ("context", 0.3) == (topic.link, topic.threshold)
    topic = make_judge(Options(topic="coral", examples=["a.html"], judge="embedding"), told)
    assert repr(EmbeddingJudge("coral", examples=told).fingerprint) == repr(getattr(topic, "fingerprint", ""))


def test_checks() -> None:
    """Words and examples together pass the checks for topics."""
    told = EmbeddingJudge.from_examples([REEF])
    check_judge(lambda: EmbeddingJudge({"coral reef": 2.0, "the sea": 0.0}, link="context", examples=told))
