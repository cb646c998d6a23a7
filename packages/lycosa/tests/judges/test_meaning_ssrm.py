"""SsrmJudge: equations 4 and 9 by hand on a small ontology."""

from math import exp, log, sqrt, tanh
from typing import Any

import pytest

from lycosa.core.types import Page, Visit
from lycosa.judges.meaning import SsrmJudge
from lycosa.text.background import Background
from lycosa.text.vocabulary import Vocabulary
from reefs import REEFS, judge

ATOLL_REEF = exp(-0.2 * 2) * tanh(0.6 * 1)
FEW = Background(100, {"atol": 5, "reef": 20, "sea": 50}, language="en")


def ssrm(words: Any = "reef", **options: Any) -> SsrmJudge:
    return SsrmJudge(words, ontology=REEFS, **{"floor": 0.0, **options})


@pytest.mark.paper("batsakis-eq4")
def test_ssrm_equation_4() -> None:
    """By equation 4, sim = exp(-a L) tanh(b H): L = 2, H = 1 for atoll and reef; L = 2, H = 0 for island and reef."""
    judgement = judge(ssrm(idf="none"), "", "atoll", "island", "reefs")
    assert [pytest.approx(ATOLL_REEF), 0.0, 1.0] == judgement.link_relevances.tolist()
    judgement = judge(ssrm(idf="none", a=0.3, b=0.9), "", "atoll")
    assert [pytest.approx(exp(-0.3 * 2) * tanh(0.9 * 1))] == judgement.link_relevances.tolist()


def test_ssrm_equation_9() -> None:
    """Equation 9 with tf-idf from N = 100: atoll is on 5 pages, reef on 20, sea on 50, bleaching on 1."""
    atoll, sea = 2 * log(100 / 5), 1 * log(100 / 50)
    reef, bleaching = 1 * log(100 / 20), 1 * log(100 / 1)
    dots = ATOLL_REEF * atoll * reef  # all other pairs have similarity 0
    expected = dots / (sqrt(atoll**2 + sea**2) * sqrt(reef**2 + bleaching**2))
    topic = ssrm("reef bleaching", tf="raw", idf="background", background=FEW)
    assert [pytest.approx(expected)] == judge(topic, "", "atoll, atoll, sea").link_relevances.tolist()


def test_ssrm_of_equal_words_is_cosine() -> None:
    assert pytest.approx(1 / sqrt(2)) == judge(ssrm(floor=1.0, idf="none"), "reef sea").relevance


def test_ssrm_floor_ignores_lower_similarities() -> None:
    assert 0.35 < ATOLL_REEF < 0.37
    judgement = judge(ssrm(floor=0.5), "atoll", "atoll", "reef")
    assert (0.0, [0.0, 1.0]) == (judgement.relevance, [round(float(alpha), 6) for alpha in judgement.link_relevances])


def test_ssrm_uses_learned_idf() -> None:
    """After 9 pages with 'sea' its idf is log(10 / 9.5) + 1; that of the unknown 'reef' is log(10 / 1.5) + 1."""
    vocabulary = Vocabulary()
    for _ in range(9):
        reading = vocabulary.read(Page("ok", marked="sea"))
        vocabulary.learn(Visit("n", "page", "ok", 1, terms=reading.terms))
    page = Page("ok", marked="reef sea")
    sea, reef = log(10 / 9.5) + 1, log(10 / 1.5) + 1
    assert pytest.approx(reef / sqrt(reef**2 + sea**2)) == ssrm().judge(page, vocabulary.read(page)).relevance


@pytest.mark.parametrize(
    ("measure", "expected"), [("path", 1 / (1 + 2)), ("ehrig", 0.5**2), ("depth", 2 * 1 / (2 + 2 * 1))]
)
def test_ssrm_accepts_other_measures(measure: Any, expected: float) -> None:
    """The measures are 1 / (1 + L), .5^L and 2 H / (L + 2 H), with L = 2 and H = 1 for atoll and reef."""
    assert [pytest.approx(expected)] == judge(ssrm(measure=measure, idf="none"), "", "atoll").link_relevances.tolist()


def test_ssrm_fingerprint_depends_on_parameters() -> None:
    found = {
        repr(topic.fingerprint)
        for topic in (ssrm(), ssrm(idf="none"), ssrm(idf="background"), ssrm(tf="raw"), ssrm(floor=0.9), ssrm(a=0.1))
    }
    assert 6 == len(found)
