"""SynsetExpansionStrategy: equation 10."""

from math import hypot, sqrt

import pytest

from lycosa.core.table import Table
from lycosa.core.types import Page, Terms, Visit
from lycosa.strategies.anchors import SynsetExpansionStrategy
from lycosa.text.background import Background
from lycosa.text.vocabulary import Vocabulary
from ontology_crawlers import REEFS, teach


def test_synset_expansion_equation_10() -> None:
    """Topic: bleaching, whitening. Page: whitening, sea. Anchor 'bleaching sea', expanded: bleaching, whitening, sea."""
    page = 1 / (sqrt(2) * sqrt(2))
    anchor = (1 + 1) / (sqrt(3) * sqrt(2))
    terms = Vocabulary().read(Page("ok", marked="whitening sea")).terms
    guide = SynsetExpansionStrategy("none", words="bleaching", ontology=REEFS)
    scores = teach(guide, Table(), "p", ("a", "Bleaching sea"), ("b", "home"), terms=terms)
    assert pytest.approx((page + anchor) / 2) == scores["a"]
    assert pytest.approx((page + 0) / 2) == scores["b"]


@pytest.mark.paper("batsakis-eq10")
def test_synset_expansion_literal_weights() -> None:
    """w = f / max f idf. Page: whitening 3 / 3, sea 1 / 3. Anchor, expanded: sea 2 / 2, bleaching and whitening 1 / 2.

    Without idf: (1 / (sqrt(2) sqrt(1 + 1/9)) + 1 / (sqrt(2) sqrt(1 + 1/4 + 1/4))) / 2 = (.6708 + .5774) / 2 = .6241.
    """
    terms = Vocabulary().read(Page("ok", marked="whitening sea whitening whitening")).terms
    made = {"words": "bleaching", "ontology": REEFS}
    guide = SynsetExpansionStrategy("none", literal=True, **made)
    scores = teach(guide, Table(), "p", ("a", "sea bleaching sea"), terms=terms)
    assert round(scores["a"], 4) == 0.6241
    damped = teach(SynsetExpansionStrategy("none", **made), Table(), "p", ("a", "sea bleaching sea"), terms=terms)
    assert round(damped["a"], 4) == 0.6397  # 1 + log f: (2.0986 / (sqrt(2) 2.3247) + 2 / (sqrt(2) 2.2061)) / 2

    of = Background.load().idf
    bleaching, whitening, sea = of("bleach"), of("bleach"), of("sea")  # a synonym has the weight of its term
    page = 3 * of("whiten") * whitening / (hypot(3 * of("whiten"), sea) * hypot(bleaching, whitening))
    anchor = (bleaching**2 + whitening**2) / (hypot(bleaching, whitening, 2 * sea) * hypot(bleaching, whitening))
    guide = SynsetExpansionStrategy("background", literal=True, **made)
    scores = teach(guide, Table(), "p", ("a", "sea bleaching sea"), terms=terms)
    assert pytest.approx((page + anchor) / 2) == scores["a"]


def test_synset_expansion_ignores_judge() -> None:
    terms = Vocabulary().read(Page("ok", marked="whitening sea")).terms
    both = [
        teach(
            SynsetExpansionStrategy(words="bleaching", ontology=REEFS),
            Table(),
            "p",
            ("a", "x"),
            terms=terms,
            relevance=beta,
        )["a"]
        for beta in (0.0, 1.0)
    ]
    assert both[0] == both[1] > 0


def test_synset_expansion_word_ids_include_probes() -> None:
    table, words = Table(), Vocabulary()
    words.read(Page("ok", marked="sorry"))
    assert table.absorb(Visit("host/nonsense", "probe", "ok", 1, terms=Terms(new=["sorri"]))) is None
    terms = words.read(Page("ok", marked="whitening sea")).terms
    guide = SynsetExpansionStrategy("none", words="bleaching", ontology=REEFS)
    scores = teach(guide, table, "p", ("a", "home"), terms=terms)
    assert words.terms == guide.vocabulary_.terms
    assert pytest.approx(1 / (sqrt(2) * sqrt(2)) / 2) == scores["a"]
