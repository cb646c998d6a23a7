"""Tests of the strategies that rank links by the meaning of their anchors: ehrig, ssrm, synset-expansion."""

from math import exp, hypot, log, sqrt, tanh
from typing import Any

import pytest

from input_errors import raises_input_error
from lycosa.core.table import Table
from lycosa.core.types import Links, Page, Terms, Visit
from lycosa.strategies import estimator
from lycosa.strategies.anchors import EhrigStrategy, SsrmStrategy, SynsetExpansionStrategy
from lycosa.text.background import Background
from lycosa.text.vocabulary import Vocabulary
from ontology_crawlers import REEFS, teach


def ehrig(words: Any = "reef", **options: Any) -> EhrigStrategy:
    """Return the strategy with the small ontology."""
    return EhrigStrategy(words=words, ontology=REEFS, **{"floor": 0.0, **options})


@pytest.mark.paper("batsakis-eq8")
def test_ehrig_equation_8() -> None:
    """By equation 8, 'atoll atoll' has 2 (.5^2 + .5^4) for 'reef island', 'land' .5 + .5, 'home' 0."""
    scores = teach(
        ehrig("reef island"), Table(), "p", ("a", "atoll, atoll"), ("b", "Land"), ("c", "Home"), relevance=0.9
    )
    assert {"p": 0.0, "a": 2 * (0.25 + 0.0625), "b": 1.0, "c": 0.0} == scores


def test_ehrig_best_anchor_of_page_counts() -> None:
    """The best of several links of a page to one URL counts, here the largest of .25, 1 and 0."""
    links = [("a", "atoll"), ("a", "reefs"), ("b", "island"), ("a", "")]
    scores = teach(ehrig(), Table(), "p", *links)
    assert (1.0, 0.25) == (scores["a"], scores["b"])


def test_ehrig_merges_parents() -> None:
    """Three pages link to it with the anchors 'atoll' (.25), 'reef' (1) and 'land' (.5)."""
    for merge, expected in (("max", 1.0), ("mean", 1.75 / 3)):
        strategy, table = ehrig(merge=merge), Table()
        for node, anchor in (("p", "atoll"), ("q", "reef"), ("r", "land")):
            scores = teach(strategy, table, node, ("c", anchor))
        assert pytest.approx(expected) == scores["c"]


def test_ehrig_floor_is_inclusive() -> None:
    """A floor of .5 includes terms one link apart."""
    scores = teach(ehrig(floor=0.5), Table(), "p", ("a", "atoll"), ("b", "coral reef"), ("c", "reef"))
    assert [0.0, 0.5, 1.0] == [scores[node] for node in "abc"]


def test_ehrig_redirect_inherits() -> None:
    strategy, table = ehrig(), Table()
    teach(strategy, table, "p", ("a", "reef"))
    step = table.absorb(Visit("a", "redirect", "redirect", 2, links=Links.to("b")))
    assert step is not None
    assert [1.0] == strategy.priority(strategy.learn(step, table), table).tolist()


def test_ehrig_other_language_matches_equal_words(monkeypatch: pytest.MonkeyPatch) -> None:
    strategy = ehrig()
    monkeypatch.setattr(strategy.glossary_.ontology, "language", "en")
    scores = teach(strategy, Table(), "p", ("a", "Atoll"), ("b", "Reef"), language="de")
    assert (0.0, 1.0) == (scores["a"], scores["b"])


@pytest.mark.parametrize("name", ["ehrig", "ssrm", "synset-expansion"])
def test_ehrig_requires_topic_words(name: str) -> None:
    with raises_input_error("no-topic-words", match=name):
        estimator(name, ontology=REEFS)


ATOLL_REEF = exp(-0.2 * 2) * tanh(0.6 * 1)


def ssrm(words: Any = "reef", **options: Any) -> SsrmStrategy:
    """Return the strategy with the small ontology."""
    return SsrmStrategy(words=words, ontology=REEFS, **{"floor": 0.0, **options})


@pytest.mark.paper("batsakis-eq9")
def test_ssrm_equation_9() -> None:
    """Without idf, 'atoll atoll sea' has 2 * .36 / (sqrt(2^2 + 1^2) sqrt(1^2 + 1^2)) for 'reef bleaching'."""
    scores = teach(ssrm("reef bleaching", idf="none"), Table(), "p", ("a", "atoll, atoll, sea"), ("b", "home"))
    assert pytest.approx(2 * ATOLL_REEF / (sqrt(5) * sqrt(2))) == scores["a"]
    assert 0.0 == scores["b"]


def test_ssrm_learns_idf_from_pages() -> None:
    """The idf is log((N + 1) / (df + .5)) + 1: log(3 / 2.5) + 1 for 'sea' on two pages, log(3 / 1.5) + 1 for 'reef'."""
    strategy, table, words = ssrm(), Table(), Vocabulary()
    for number in range(2):
        terms = words.read(Page("ok", marked="sea")).terms
        scores = teach(strategy, table, f"p{number}", (f"c{number}", "reef sea"), terms=terms)
    sea, reef = log(3 / 2.5) + 1, log(3 / 1.5) + 1
    assert pytest.approx(reef / sqrt(reef**2 + sea**2)) == scores["c1"]


def test_ssrm_word_ids_include_probes() -> None:
    """Words of probes (here 5,000) get ids, but probes are not documents: idf of 'sea' stays log(3 / 2.5) + 1."""
    strategy, table, words = ssrm(), Table(), Vocabulary()
    probe = words.read(Page("ok", marked=" ".join(f"w{number}" for number in range(5000)))).terms
    table.absorb(Visit("host/nonsense", "probe", "ok", 1, terms=Terms(new=probe.new)))
    for number in range(2):
        terms = words.read(Page("ok", marked="sea")).terms
        scores = teach(strategy, table, f"p{number}", (f"c{number}", "reef sea"), terms=terms)
    sea, reef = log(3 / 2.5) + 1, log(3 / 1.5) + 1
    assert words.terms == strategy.vocabulary_.terms
    assert pytest.approx(reef / sqrt(reef**2 + sea**2)) == scores["c1"]


def test_synset_expansion_equation_10() -> None:
    page = 1 / (sqrt(2) * sqrt(2))
    anchor = (1 + 1) / (sqrt(3) * sqrt(2))
    terms = Vocabulary().read(Page("ok", marked="whitening sea")).terms
    strategy = SynsetExpansionStrategy("none", words="bleaching", ontology=REEFS)
    scores = teach(strategy, Table(), "p", ("a", "Bleaching sea"), ("b", "home"), terms=terms)
    assert pytest.approx((page + anchor) / 2) == scores["a"]
    assert pytest.approx((page + 0) / 2) == scores["b"]


@pytest.mark.paper("batsakis-eq10")
def test_synset_expansion_literal_weights_by_hand() -> None:
    """Literal weights are w = f / max f idf.

    Page: whitening 3 / 3, sea 1 / 3. Expanded anchor: sea 2 / 2, bleaching and whitening 1 / 2. Without idf: (1 /
    (sqrt(2) sqrt(1 + 1/9)) + 1 / (sqrt(2) sqrt(1 + 1/4 + 1/4))) / 2 = (.6708 + .5774) / 2 = .6241.
    """
    terms = Vocabulary().read(Page("ok", marked="whitening sea whitening whitening")).terms
    made = {"words": "bleaching", "ontology": REEFS}
    strategy = SynsetExpansionStrategy("none", literal=True, **made)
    scores = teach(strategy, Table(), "p", ("a", "sea bleaching sea"), terms=terms)
    assert round(scores["a"], 4) == 0.6241
    damped = teach(SynsetExpansionStrategy("none", **made), Table(), "p", ("a", "sea bleaching sea"), terms=terms)
    assert round(damped["a"], 4) == 0.6397  # 1 + log f: (2.0986 / (sqrt(2) 2.3247) + 2 / (sqrt(2) 2.2061)) / 2

    of = Background.load().idf
    bleaching, whitening, sea = of("bleach"), of("bleach"), of("sea")  # a synonym has the weight of its term
    page = 3 * of("whiten") * whitening / (hypot(3 * of("whiten"), sea) * hypot(bleaching, whitening))
    anchor = (bleaching**2 + whitening**2) / (hypot(bleaching, whitening, 2 * sea) * hypot(bleaching, whitening))
    strategy = SynsetExpansionStrategy("background", literal=True, **made)
    scores = teach(strategy, Table(), "p", ("a", "sea bleaching sea"), terms=terms)
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
    strategy = SynsetExpansionStrategy("none", words="bleaching", ontology=REEFS)
    scores = teach(strategy, table, "p", ("a", "home"), terms=terms)
    assert words.terms == strategy.vocabulary_.terms
    assert pytest.approx(1 / (sqrt(2) * sqrt(2)) / 2) == scores["a"]
