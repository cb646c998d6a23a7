"""EmbeddingJudge: relevance by hand, the learned mean page, and topics of words and examples."""

from typing import Any

import numpy as np
import pytest

from input_errors import raises_input_error
from lycosa.checks import check_judge
from lycosa.core.options import Options
from lycosa.core.types import Judgement, Links, Page, Visit
from lycosa.judges.embedding import PRIOR, STEPS, EmbeddingJudge
from lycosa.judges.factory import make_judge
from lycosa.text.embeddings import unit, vectors
from lycosa.text.vocabulary import Vocabulary
from stored import stored

REEF = Page("ok", title="Reefs", marked="Corals and fishes live in warm and shallow seas, around islands and lagoons")
TRAIN = Page(
    "ok", title="Railways", marked="Trains leave the station by the timetable, engines pull carriages on rails"
)


def judge(topic: EmbeddingJudge, page: Page, *anchors: str) -> Judgement:
    links = Links.to(*(f"http://example.test/{n}" for n in range(len(anchors))), anchors=anchors)
    page = Page("ok", title=page.title, marked=page.marked, links=links)
    return topic.judge(page, Vocabulary().read(page))


def visit(page: Page, data: dict[str, Any] | None = None, **more: Any) -> Visit:
    """Return a recorded visit with the embedding of the page."""
    data = judge(EmbeddingJudge("tropical"), page).data if data is None else data
    return Visit("http://example.test/", "page", "ok", 1, data=data, **more)


def learned(topic: EmbeddingJudge, *pages: Page) -> EmbeddingJudge:
    for page in pages:
        topic.learn(visit(page))
    return topic


def common() -> np.ndarray[Any, Any]:
    return EmbeddingJudge("tropical").total_ / (PRIOR * STEPS)


def test_judge_by_hand() -> None:
    page, words = vectors([f"{REEF.title} {REEF.marked}", "tropical ocean"])
    assert float(unit(page - common()) @ words) == pytest.approx(
        judge(EmbeddingJudge("tropical ocean"), REEF).relevance, abs=1e-5
    )


def test_learn_updates_mean() -> None:
    """The mean after two pages is m = (30 c + p1 + p2) / 32, with the page vectors as stored in the log."""
    topic = learned(EmbeddingJudge("tropical ocean"), REEF, TRAIN)
    kept = [np.rint(vectors([f"{page.title} {page.marked}"])[0] * STEPS) / STEPS for page in (REEF, TRAIN)]
    mean = (30 * common() + kept[0] + kept[1]) / 32
    page, words = vectors([f"{REEF.title} {REEF.marked}", "tropical ocean"])
    assert float(unit(page - mean) @ words) == pytest.approx(judge(topic, REEF).relevance, abs=1e-5)


def test_examples_by_hand() -> None:
    pages = vectors([f"{page.title} {page.marked}" for page in (REEF, TRAIN)])
    examples = EmbeddingJudge.from_examples([REEF, TRAIN])
    assert pages.mean(0) == pytest.approx(np.array(examples["vector"]), abs=1e-4)
    by_examples = unit(pages.mean(0) - common())
    by_both = unit(by_examples + vectors(["tropical ocean"])[0])
    page = unit(pages[0] - common())
    assert float(page @ by_examples) == pytest.approx(
        judge(EmbeddingJudge(examples=examples), REEF).relevance, abs=1e-3
    )
    both = EmbeddingJudge("tropical ocean", examples=examples)
    assert float(page @ by_both) == pytest.approx(judge(both, REEF).relevance, abs=1e-3)


def test_weighted_terms_by_hand() -> None:
    """The topic is the unit vector of the weighted terms, q = unit(2 a + .5 b), where a and b have length 1."""
    coral, sea = vectors(["coral", "warm sea"])
    judgement = judge(EmbeddingJudge({"coral": 2.0, "warm sea": 0.5}), REEF, "reef")
    assert [float(vectors(["reef"])[0] @ unit(2 * coral + 0.5 * sea))] == pytest.approx(
        judgement.link_relevances.tolist(), abs=1e-5
    )


def test_alpha_is_cosine_of_anchor() -> None:
    anchors = ("coral reef", "The Coral Reef", "lagoon", "railway timetable", "", "coral reef")
    link_relevances = judge(EmbeddingJudge("coral reef"), TRAIN, *anchors).link_relevances
    assert [1.0, 1.0, 0.0, 0.0, 1.0] == pytest.approx(link_relevances[[0, 1, 3, 4, 5]].tolist(), abs=1e-5)
    assert 0.05 < link_relevances[2] < 0.5


def test_links_are_judged_by_context_and_url() -> None:
    links = Links.to("http://example.test/coral-reef.html", anchors=["more"])
    links.contexts = ["more of coral reef"]
    page = Page("ok", title="A", marked="b", links=links)
    topic = EmbeddingJudge("coral reef", link="context")
    around = topic.judge(page, None).link_relevances.tolist()
    assert [float(vectors(["more of coral reef"])[0] @ vectors(["coral reef"])[0])] == pytest.approx(around, abs=1e-5)
    plain = EmbeddingJudge("coral reef")
    plain.facets = ("context", "url")
    judgement = plain.judge(page, None)
    assert around == pytest.approx(judgement.facets["context"].tolist())
    assert [float(vectors(["example coral reef"])[0] @ vectors(["coral reef"])[0])] == pytest.approx(
        judgement.facets["url"].tolist(), abs=1e-5
    )


def test_judge_matches_related_words() -> None:
    topic = EmbeddingJudge("marine biology ecosystem ocean")
    assert judge(topic, REEF).relevance > judge(topic, TRAIN).relevance + 0.2
    assert 0.0 == min(judge(topic, page).relevance for page in (TRAIN, Page("ok"), Page("ok", marked="the of")))


def test_mean_removes_common_menu() -> None:
    menu = "home news contact login search help terms privacy imprint sitemap newsletter "
    on, off = (Page("ok", title=page.title, marked=menu + page.marked) for page in (REEF, TRAIN))
    topic = EmbeddingJudge(examples=EmbeddingJudge.from_examples([on]))
    before = judge(topic, off).relevance
    learned(topic, *[Page("ok", marked=menu + f"{word} matters") for word in ("money", "garden", "music", "war")] * 20)
    assert judge(topic, off).relevance < before - 0.1


def test_learn_ignores_visits_without_embedding() -> None:
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
    live, replayed = EmbeddingJudge("tropical ocean"), EmbeddingJudge("tropical ocean")
    for page in (REEF, TRAIN) * 3:
        seen = visit(page, judge(live, page).data)
        live.learn(seen)
        replayed.learn(*stored([seen]))
    assert judge(live, REEF, "coral").relevance == judge(replayed, REEF, "coral").relevance
    assert 256 == len(judge(live, REEF).data["embedding"])


def test_threshold_defaults() -> None:
    examples = EmbeddingJudge.from_examples([REEF])
    made = (
        EmbeddingJudge("coral"),
        EmbeddingJudge(examples=examples),
        EmbeddingJudge("coral", examples=examples),
        EmbeddingJudge("coral", 0.2),
    )
    assert [0.35, 0.5, 0.5, 0.2] == [topic.threshold for topic in made]


def test_rejects_bad_topics() -> None:
    with raises_input_error("empty-topic"):
        EmbeddingJudge("  ")
    with raises_input_error("empty-topic"):
        EmbeddingJudge("the of and")
    with raises_input_error("empty-file"):
        EmbeddingJudge.from_examples([Page("ok"), Page("ok", marked="the")])
    examples = EmbeddingJudge.from_examples([REEF])
    for wrong in ({"vector": [1.0], "vectors": examples["vectors"]}, {**examples, "vectors": "other"}, {"coral": 0.7}):
        with raises_input_error("bad-version"):
            EmbeddingJudge(examples=wrong)


def test_fingerprint_depends_on_topic_and_link() -> None:
    examples = EmbeddingJudge.from_examples([REEF])
    made = [
        EmbeddingJudge("coral"),
        EmbeddingJudge("reef"),
        EmbeddingJudge({"coral": 2.0}),
        EmbeddingJudge("coral", examples=examples),
        EmbeddingJudge("coral", link="context"),
    ]
    assert len(made) == len({repr(topic.fingerprint) for topic in made})
    assert repr(EmbeddingJudge("coral").fingerprint) == repr(made[0].fingerprint)


def test_make_judge_passes_options() -> None:
    examples = EmbeddingJudge.from_examples([REEF])
    topic = make_judge(Options(topic="coral", judge="embedding,link=context", threshold=0.3))
    assert isinstance(topic, EmbeddingJudge)
    assert ("context", 0.3) == (topic.link, topic.threshold)
    topic = make_judge(Options(topic="coral", examples=["a.html"], judge="embedding"), examples)
    assert repr(EmbeddingJudge("coral", examples=examples).fingerprint) == repr(getattr(topic, "fingerprint", ""))


def test_embedding_judge_passes_checks() -> None:
    examples = EmbeddingJudge.from_examples([REEF])
    check_judge(lambda: EmbeddingJudge({"coral reef": 2.0, "the sea": 0.0}, link="context", examples=examples))
