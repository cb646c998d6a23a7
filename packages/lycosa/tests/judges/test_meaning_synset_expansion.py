"""SynsetExpansionJudge: the two cosines of equation 10 by hand."""

from math import log, sqrt
from typing import Any

import pytest

from lycosa.judges.meaning import SynsetExpansionJudge
from lycosa.text.background import Background
from lycosa.text.ontology import Ontology
from reefs import judge

CARS = Ontology.build(
    {"car": ["car", "automobile"], "cable car": ["cable car", "car"], "fever": ["dengue fever", "breakbone fever"]},
    broader=[],
    source="by hand",
)
FEW = Background(100, {"car": 20, "automobil": 5, "sea": 50}, language="en")


def synsets(words: Any = "car", ontology: Any = CARS, **options: Any) -> SynsetExpansionJudge:
    return SynsetExpansionJudge(words, ontology=ontology, **{"idf": "none", **options})


def test_synset_expansion_expands_topic_only() -> None:
    """The topic becomes car, automobile, 'cable car'; automobile twice and sea have (1 + log 2) / (|page| sqrt(3))."""
    automobile, sea = 1 + log(2), 1.0
    expected = automobile * 1 / (sqrt(automobile**2 + sea**2) * sqrt(1 + 1 + 1))
    assert pytest.approx(expected) == judge(synsets(), "an automobile, automobiles, the sea").relevance


def test_synset_expansion_synonym_has_weight_of_its_term() -> None:
    """Synonyms in the topic have the idf of their term, three times log 5; on the page automobile has log 20."""
    car, automobile, sea = log(100 / 20), log(100 / 5), log(100 / 50)
    expected = automobile * car / (sqrt(automobile**2 + sea**2) * sqrt(3 * car**2))
    assert pytest.approx(expected) == judge(synsets(idf="background", background=FEW), "automobile sea").relevance


def test_synset_expansion_expands_anchors() -> None:
    """'automobiles' becomes automobile and car, two of the topic's three words: 2 / (sqrt(2) sqrt(3))."""
    judgement = judge(synsets(), "", "Automobiles", "the sea", "car", "")
    assert [pytest.approx(2 / (sqrt(2) * sqrt(3))), 0.0, pytest.approx(1.0), 0.0] == judgement.link_relevances.tolist()


def test_synset_expansion_includes_phrases() -> None:
    # common are fever and the two phrases; dengue and breakbone are on one side only
    expected = (1 + 1 + 1) / (sqrt(4) * sqrt(4))
    judgement = judge(synsets("dengue fever"), "", "Breakbone Fever", "Dengue fevers")
    assert [pytest.approx(expected), pytest.approx(1.0)] == judgement.link_relevances.tolist()


def test_synset_expansion_phrase_frequency_is_that_of_rarest_word() -> None:
    fever, breakbone, phrase = 1 + log(2), 1.0, 1.0
    expected = (fever + phrase) / (sqrt(fever**2 + breakbone**2 + phrase**2) * sqrt(4))
    assert pytest.approx(expected) == judge(synsets("dengue fever"), "breakbone fever, fever").relevance
