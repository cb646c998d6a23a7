"""SsrmStrategy: equation 9, with learned idf."""

from math import exp, log, sqrt, tanh
from typing import Any

import pytest

from lycosa.core.table import Table
from lycosa.core.types import Page, Terms, Visit
from lycosa.strategies.anchors import SsrmStrategy
from lycosa.text.vocabulary import Vocabulary
from ontology_crawlers import REEFS, teach

ATOLL_REEF = exp(-0.2 * 2) * tanh(0.6 * 1)


def ssrm(words: Any = "reef", **options: Any) -> SsrmStrategy:
    """Return the strategy with the small ontology."""
    return SsrmStrategy(words=words, ontology=REEFS, **{"floor": 0.0, **options})


@pytest.mark.paper("batsakis-eq9")
def test_ssrm_equation_9() -> None:
    """Anchor 'atoll atoll sea', topic 'reef bleaching', no idf: 2 * .36 / (sqrt(2^2 + 1^2) sqrt(1^2 + 1^2))."""
    scores = teach(ssrm("reef bleaching", idf="none"), Table(), "p", ("a", "atoll, atoll, sea"), ("b", "home"))
    assert pytest.approx(2 * ATOLL_REEF / (sqrt(5) * sqrt(2))) == scores["a"]
    assert 0.0 == scores["b"]


def test_ssrm_learns_idf_from_pages() -> None:
    """Two pages have 'sea': N = 2, idf log(3 / 2.5) + 1; 'reef' is on no page, log(3 / 1.5) + 1."""
    guide, table, words = ssrm(), Table(), Vocabulary()
    for number in range(2):
        terms = words.read(Page("ok", marked="sea")).terms
        scores = teach(guide, table, f"p{number}", (f"c{number}", "reef sea"), terms=terms)
    sea, reef = log(3 / 2.5) + 1, log(3 / 1.5) + 1
    assert pytest.approx(reef / sqrt(reef**2 + sea**2)) == scores["c1"]


def test_ssrm_word_ids_include_probes() -> None:
    """A probe has 5,000 words; 'sea' is on both pages after it, and its idf is still log(3 / 2.5) + 1."""
    guide, table, words = ssrm(), Table(), Vocabulary()
    probe = words.read(Page("ok", marked=" ".join(f"w{number}" for number in range(5000)))).terms
    table.absorb(Visit("host/nonsense", "probe", "ok", 1, terms=Terms(new=probe.new)))
    for number in range(2):
        terms = words.read(Page("ok", marked="sea")).terms
        scores = teach(guide, table, f"p{number}", (f"c{number}", "reef sea"), terms=terms)
    sea, reef = log(3 / 2.5) + 1, log(3 / 1.5) + 1
    assert words.terms == guide.vocabulary_.terms
    assert pytest.approx(reef / sqrt(reef**2 + sea**2)) == scores["c1"]
