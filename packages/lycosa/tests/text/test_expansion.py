"""Expansion: query expansion by synonyms (Batsakis 2007, equation 10)."""

import pickle
from math import log, sqrt

import pytest

from lycosa.core.types import Page
from lycosa.text.background import Background, Rarity
from lycosa.text.expansion import Expansion
from lycosa.text.glossary import Glossary
from lycosa.text.ontology import Ontology
from lycosa.text.vocabulary import Vocabulary

CARS = Ontology.build({"car": ["car", "automobile"], "train": ["train"]}, broader=[])


def expansion(literal: bool = False, rarity: Rarity | None = None) -> Expansion:
    return Expansion(Glossary(CARS, "car"), rarity or Rarity("none"), literal)


@pytest.mark.parametrize(("literal", "twice"), [(False, 1 + log(2)), (True, 2.0)])
def test_page_matches_synonyms(literal: bool, twice: float) -> None:
    vocabulary = Vocabulary()
    bag = vocabulary.read(Page("ok", marked="automobile automobile sea")).terms
    expected = twice / (sqrt(twice**2 + 1) * sqrt(2))
    assert expected == pytest.approx(expansion(literal).page(bag, vocabulary))


def test_page_without_topic_words_is_zero() -> None:
    vocabulary = Vocabulary()
    assert 0.0 == expansion().page(vocabulary.read(Page("ok", marked="sea")).terms, vocabulary)


def test_anchors_are_expanded() -> None:
    cosines = expansion().anchors(["automobiles", "car sea", "train", ""], Vocabulary()).tolist()
    assert [1.0, 2 / (sqrt(3) * sqrt(2)), 0.0, 0.0] == pytest.approx(cosines)


def test_anchors_weigh_synonyms_by_idf_of_their_term() -> None:
    rarity = Rarity("background", Background(100, {"car": 20, "automobil": 5, "sea": 50}))
    cosines = expansion(rarity=rarity).anchors(["car sea"], Vocabulary()).tolist()
    car, sea = log(5), log(2)
    assert [2 * car * car / (sqrt(2 * car**2 + sea**2) * sqrt(2 * car**2))] == pytest.approx(cosines)


def test_pickle_drops_cache() -> None:
    used = expansion()
    used.anchors(["car"], Vocabulary())
    copy = pickle.loads(pickle.dumps(used))
    assert {} == copy._expansions
    assert [1.0] == pytest.approx(copy.anchors(["car"], Vocabulary()).tolist())
