"""EhrigStrategy: equation 8, merging over parents, redirects."""

from typing import Any

import pytest

from lycosa.core.errors import InputError
from lycosa.core.table import Table
from lycosa.core.types import Links, Visit
from lycosa.strategies import estimator
from lycosa.strategies.anchors import EhrigStrategy
from ontology_crawlers import REEFS, teach

"""land > reef > coral reef > atoll, land > island; coral is related to coral reef."""


def ehrig(words: Any = "reef", **options: Any) -> EhrigStrategy:
    """Return the strategy with the small ontology."""
    return EhrigStrategy(words=words, ontology=REEFS, **{"floor": 0.0, **options})


@pytest.mark.paper("batsakis-eq8")
def test_ehrig_equation_8() -> None:
    """Topic 'reef island': 'atoll atoll' = 2 (.5^2 + .5^4), 'land' = .5 + .5, 'home' = 0; the page is ignored."""
    scores = teach(
        ehrig("reef island"), Table(), "p", ("a", "atoll, atoll"), ("b", "Land"), ("c", "Home"), relevance=0.9
    )
    assert {"p": 0.0, "a": 2 * (0.25 + 0.0625), "b": 1.0, "c": 0.0} == scores


def test_ehrig_best_anchor_of_page_counts() -> None:
    """Three links of one page to the same URL: the largest of .25, 1 and 0."""
    links = [("a", "atoll"), ("a", "reefs"), ("b", "island"), ("a", "")]
    scores = teach(ehrig(), Table(), "p", *links)
    assert (1.0, 0.25) == (scores["a"], scores["b"])


def test_ehrig_merges_parents() -> None:
    """Three pages link to it as 'atoll' (.25), 'reef' (1) and 'land' (.5)."""
    for merge, expected in (("max", 1.0), ("mean", 1.75 / 3)):
        guide, table = ehrig(merge=merge), Table()
        for node, anchor in (("p", "atoll"), ("q", "reef"), ("r", "land")):
            scores = teach(guide, table, node, ("c", anchor))
        assert pytest.approx(expected) == scores["c"]


def test_ehrig_floor_is_inclusive() -> None:
    """With .5, terms one link apart are the farthest that count."""
    scores = teach(ehrig(floor=0.5), Table(), "p", ("a", "atoll"), ("b", "coral reef"), ("c", "reef"))
    assert [0.0, 0.5, 1.0] == [scores[node] for node in "abc"]


def test_ehrig_redirect_inherits() -> None:
    guide, table = ehrig(), Table()
    teach(guide, table, "p", ("a", "reef"))
    step = table.absorb(Visit("a", "redirect", "redirect", 2, links=Links.to("b")))
    assert step is not None
    assert [1.0] == guide.priority(guide.learn(step, table), table).tolist()


def test_ehrig_other_language_matches_equal_words(monkeypatch: pytest.MonkeyPatch) -> None:
    """On a German page WordNet knows no word, but 'reef' equals 'reef'."""
    guide = ehrig()
    monkeypatch.setattr(guide.glossary_.ontology, "language", "en")
    scores = teach(guide, Table(), "p", ("a", "Atoll"), ("b", "Reef"), language="de")
    assert (0.0, 1.0) == (scores["a"], scores["b"])


@pytest.mark.parametrize("name", ["ehrig", "ssrm", "synset-expansion"])
def test_ehrig_requires_topic_words(name: str) -> None:
    with pytest.raises(InputError, match=f"the strategy {name} uses word meanings.*--terms FILE"):
        estimator(name, ontology=REEFS)
