"""Equations 8 and 9 of Batsakis 2007 and equation 1 of Corley and Mihalcea 2005, on texts and topic weights."""

from math import log, sqrt

import numpy as np
import pytest

from lycosa.text import nearness
from lycosa.text.background import Background, Rarity
from lycosa.text.glossary import Glossary
from lycosa.text.ontology import Ontology
from lycosa.text.vocabulary import Vocabulary

REEFS = Ontology.build({"reef": ["reef"], "atoll": ["atoll"]}, broader=[("atoll", "reef")])
WORDS = Glossary(REEFS, {"reef": 2.0}, "ehrig").words()
BAGS = WORDS.bags(["atoll atoll sea", "", "reef"])


def test_ehrig_sums_similarities() -> None:
    assert [0.5 * 2 * 2, 0.0, 1 * 2] == nearness.ehrig(BAGS, WORDS).tolist()


def test_ssrm_divides_by_both_lengths() -> None:
    weights = np.array([{"atoll": 3.0, "sea": 4.0, "reef": 1.0}[WORDS.terms[column]] for column in BAGS.columns])
    expected = [0.5 * 3 * 2 / (sqrt(3**2 + 4**2) * 2), 0.0, 1.0]
    assert expected == pytest.approx(nearness.ssrm(BAGS, WORDS, weights, np.array([2.0])).tolist())


def test_corley_mihalcea_averages_both_directions() -> None:
    ones = np.ones(len(BAGS.columns))
    expected = [((0.5 + 0) / 2 + 0.5) / 2, 0.0, 1.0]
    assert expected == pytest.approx(nearness.corley_mihalcea(BAGS, WORDS, ones, np.array([2.0])).tolist())


@pytest.mark.parametrize(("tf", "twice"), [("log", 1 + log(2)), ("raw", 2.0)])
def test_tf_idf_of_texts_and_topic_by_hand(tf: nearness.Tf, twice: float) -> None:
    background = Background(100, {"atol": 5, "sea": 50, "reef": 20})
    weights, query, idf = nearness.tf_idf(BAGS, WORDS, Rarity("background", background), Vocabulary(), tf)
    by_term = dict(zip([WORDS.terms[column] for column in BAGS.columns], zip(weights, idf, strict=True), strict=True))
    assert by_term["atoll"] == pytest.approx((twice * log(20), log(20)))
    assert by_term["sea"] == pytest.approx((log(2), log(2)))
    assert [2 * log(5)] == pytest.approx(query.tolist())


def test_settings_returns_parameters_of_measure() -> None:
    assert {"a": 1, "b": 2} == nearness.settings("li", 1, 2, 3)
    assert {"df": 3} == nearness.settings("ehrig", 1, 2, 3)
    assert {} == nearness.settings("path", 1, 2, 3)
