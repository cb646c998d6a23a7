"""Corpus: terms, copies, spellings."""

from __future__ import annotations

import numpy as np
import pytest

from lycosa.core.types import Page, Terms, Visit
from lycosa.training import corpus as module
from lycosa.training.corpus import Corpus


def corpus(*texts: str) -> Corpus:
    made = Corpus()
    for number, text in enumerate(texts):
        made.add("a", str(number), Page("ok", marked=text))
    return made


def test_terms_of_ignores_terms_of_one_page() -> None:
    made = corpus("coral reef", "coral fish", "reef bird")
    assert ["coral", "reef"] == [made.vocabulary.terms[n] for n in made.terms_of(np.arange(3))]


def test_terms_of_depends_on_given_pages_only() -> None:
    made = corpus("coral reef", "coral fish", "reef bird")
    assert ["coral"] == [made.vocabulary.terms[n] for n in made.terms_of(np.array([0, 1]))]


def test_terms_of_keeps_most_frequent_terms(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MAX_TERMS", 1)
    made = corpus("coral reef", "coral fish reef", "reef bird")
    assert ["reef"] == [made.vocabulary.terms[n] for n in made.terms_of(np.arange(3))]


def test_bags_contain_terms_only() -> None:
    made = corpus("coral coral reef", "fish coral")
    words = made.vocabulary.id_of
    bags = made.bags(np.array([1, 0]), [words["coral"], words["reef"]])
    assert ([0, 0, 1], [1.0, 2.0, 1.0]) == (bags.columns.tolist(), bags.counts.tolist())


def test_groups_of_copies() -> None:
    long = [f"word{chr(97 + n % 26)}{chr(97 + n // 26)}" for n in range(400)]
    other = [f"else{chr(97 + n % 26)}{chr(97 + n // 26)}" for n in range(400)]
    made = corpus(
        "coral reef",
        "reef coral",
        "coral reef fish",
        " ".join(long),
        " ".join([*long[:-1], "changed"]),
        " ".join(other),
    )
    groups = made.groups().tolist()
    assert groups[0] == groups[1]
    assert groups[3] == groups[4]
    assert 4 == len(set(groups))


def test_add_visit_maps_stems_to_ids() -> None:
    made = corpus("coral reef")
    terms = Terms(np.array([0, 1], np.uint32), np.array([2, 1], np.uint16))
    assert made.add_visit("b", Visit("x", "page", "ok", 1, terms=terms), ["fish", "coral"])
    ids = made.pages[1].terms.ids.tolist()
    assert ["coral", "fish"] == [made.vocabulary.terms[n] for n in ids]
    assert [1, 2] == made.pages[1].terms.counts.tolist()


def test_spell_uses_most_frequent_spelling() -> None:
    made = Corpus()
    for number, label in enumerate(["Sea", "Sea", "sea", "SEA"]):
        made.add(label, str(number), Page("ok", marked=f"coral {number}"))
    made.spell()
    assert {"Sea"} == {page.label for page in made.pages}
    assert ["SEA is treated as Sea, and 1 more paths are unified in spelling"] == made.notes
