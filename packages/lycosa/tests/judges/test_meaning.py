"""EhrigJudge: equations 3 and 8 by hand on a small ontology."""

from math import log, sqrt
from typing import Any

import pytest

from lycosa.core.errors import InputError
from lycosa.core.types import Links, Page
from lycosa.judges.meaning import EhrigJudge
from lycosa.text.vocabulary import Vocabulary
from reefs import REEFS, judge


def ehrig(words: Any = "reef", **options: Any) -> EhrigJudge:
    return EhrigJudge(words, ontology=REEFS, **options)


def test_ehrig_equals_equations_3_and_8() -> None:
    """Similarity is .5^links: for 'reef island', 'atoll, atoll, land' has the counts atoll 2 and land 1."""
    atoll_reef, atoll_island = 0.5**2, 0.5**4  # atoll - coral reef - reef - land - island
    land_reef, land_island = 0.5**1, 0.5**1
    expected = atoll_reef * 2 + atoll_island * 2 + land_reef * 1 + land_island * 1
    judgement = judge(ehrig("reef island", literal=True), "", "atoll, atoll and land")
    assert [pytest.approx(expected)] == judgement.link_relevances.tolist()


def test_ehrig_multiplies_weights_of_repeated_words() -> None:
    assert [0.25 * 2] == judge(ehrig("reef reef", literal=True), "", "atoll").link_relevances.tolist()
    assert [0.25 * 3] == judge(ehrig({"reef": 3.0}, literal=True), "", "atoll").link_relevances.tolist()


def test_ehrig_equal_words_and_synonyms_are_1() -> None:
    topic = ehrig("bleaching zooxanthellae")
    assert [1.0, 1.0, 1.0, 0.0] == judge(
        topic, "", "Whitening", "bleachings", "zooxanthellae", "sea"
    ).link_relevances.tolist()


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ({"df": 0.8, "floor": 0.0}, [0.8, 0.8**2, 0.8, 0.0]),
        ({"measure": "any-1"}, [1.0, 0.0, 1.0, 1.0]),
        ({"measure": "is-a-2"}, [1.0, 1.0, 1.0, 0.0]),
        ({"floor": 0.3}, [0.5, 0.0, 0.5, 0.0]),
    ],
)
def test_ehrig_parameters_change_similarities(options: dict[str, Any], expected: list[float]) -> None:
    """Parameters change the terms near 'fringing reef': reef 1 link away, land 2, atoll 1, coral without IS-A links."""
    topic = EhrigJudge({"fringing reef": 1.0}, ontology=REEFS, **options)
    at = topic.glossary.topic.index("fringing reef")
    words = topic.glossary.words()
    rows = words.similarities(words.bags(["reef", "land", "atoll", "coral"]).columns)
    assert [pytest.approx(value) for value in expected] == rows[:, at].tolist()


def test_ehrig_literal_grows_with_page_length() -> None:
    once, ten = (judge(ehrig(literal=True), "reef atoll sea " * n).relevance for n in (1, 10))
    assert pytest.approx(1 + 0.25) == once
    assert pytest.approx(10 * once) == ten
    assert 1 >= judge(ehrig(), "reef atoll sea " * 10).relevance


def test_ehrig_relevance_by_hand() -> None:
    """With weights 1 + log f, 'coral reef' twice and 'sea' have (1 + log 2) .5 / sqrt((1 + log 2)^2 + 1) for 'reef'."""
    twice = 1 + log(2)
    expected = twice * 0.5 / (sqrt(twice**2 + 1**2) * sqrt(1**2))
    assert pytest.approx(expected) == judge(ehrig(), "coral reef, coral reefs, sea").relevance


def test_ehrig_reads_title() -> None:
    assert judge(ehrig(), "sea", title="Reefs").relevance > 0


def test_ehrig_judges_facets() -> None:
    topic = ehrig()
    topic.facets = ("context", "url")
    page = Page("ok", marked="x", links=Links.to("http://a.test/coral-reef/atoll", anchors=["sea"]))
    page.links.contexts = ["a reef in the sea"]
    judgement = topic.judge(page, Vocabulary().read(page))
    assert ([0.0], [1.0], [0.5]) == tuple(
        column.tolist() for column in (judgement.link_relevances, judgement.facets["context"], judgement.facets["url"])
    )


def test_ehrig_fingerprint_depends_on_parameters() -> None:
    one, *others = (
        repr(topic.fingerprint)
        for topic in (ehrig(), ehrig(df=0.4), ehrig(floor=0.1), ehrig(literal=True), ehrig(measure="any-1"))
    )
    assert one not in others
    assert repr(ehrig().fingerprint) == one


@pytest.mark.parametrize(
    ("options", "message"),
    [({"df": 1.5}, "'df' is 1.5"), ({"floor": 2.0}, "'floor' is 2"), ({"words": "the"}, "has no words to search for")],
)
def test_ehrig_rejects_invalid_parameters(options: dict[str, Any], message: str) -> None:
    with pytest.raises((ValueError, InputError), match=message):
        ehrig(**options)
