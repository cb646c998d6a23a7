"""Equation 10: the mean of page and anchor, both against the widened topic."""

from math import sqrt

import pytest
from test_ehrig_crawler import REEFS, teach

from lycosa.core.table import Table
from lycosa.core.types import Page, Terms, Visit
from lycosa.estimators.synset_expansion import SynsetExpansion
from lycosa.text.vocabulary import Vocabulary


def test_equation_10() -> None:
    """Topic: bleaching, whitening. Page: whitening, sea. Anchor 'bleaching sea', widened: bleaching, whitening, sea."""
    page = 1 / (sqrt(2) * sqrt(2))
    anchor = (1 + 1) / (sqrt(3) * sqrt(2))
    terms = Vocabulary().read(Page("ok", marked="whitening sea")).terms
    guide = SynsetExpansion("none", words="bleaching", ontology=REEFS)
    scores = teach(guide, Table(), "p", ("a", "Bleaching sea"), ("b", "home"), terms=terms)
    assert pytest.approx((page + anchor) / 2) == scores["a"]
    assert pytest.approx((page + 0) / 2) == scores["b"]


def test_the_judge_is_not_asked() -> None:
    """beta and alphas of the judge do not matter: the same page, judged 0 and 1."""
    terms = Vocabulary().read(Page("ok", marked="whitening sea")).terms
    both = [
        teach(SynsetExpansion(words="bleaching", ontology=REEFS), Table(), "p", ("a", "x"), terms=terms, beta=beta)["a"]
        for beta in (0.0, 1.0)
    ]
    assert both[0] == both[1] > 0


def test_words_that_no_strategy_sees_are_numbered() -> None:
    """A probe brings a word that is new: what comes after it has other numbers, and is taken for what it is."""
    table, words = Table(), Vocabulary()
    words.read(Page("ok", marked="sorry"))
    assert table.absorb(Visit("host/nonsense", "probe", "ok", 1, terms=Terms(new=["sorri"]))) is None
    terms = words.read(Page("ok", marked="whitening sea")).terms
    guide = SynsetExpansion("none", words="bleaching", ontology=REEFS)
    scores = teach(guide, table, "p", ("a", "home"), terms=terms)
    assert words.terms == guide.vocabulary_.terms
    assert pytest.approx(1 / (sqrt(2) * sqrt(2)) / 2) == scores["a"]
