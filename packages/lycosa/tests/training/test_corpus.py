"""Labelled pages as bags of words: terms, copies, spellings."""

from __future__ import annotations

import numpy as np
import pytest

from lycosa.core.types import Page, Terms, Visit
from lycosa.training import corpus as module
from lycosa.training.corpus import Corpus


def corpus(*texts: str) -> Corpus:
    """Pages of one class."""
    made = Corpus()
    for number, text in enumerate(texts):
        made.add("a", str(number), Page("ok", marked=text))
    return made


def test_terms_are_those_of_two_pages_or_more() -> None:
    """A word of one page only teaches nothing."""
    made = corpus("coral reef", "coral fish", "reef bird")
    assert ["coral", "reef"] == [made.vocabulary.terms[n] for n in made.terms_of(np.arange(3))]


def test_terms_of_some_pages_know_nothing_of_the_others() -> None:
    """What is held out must not choose the terms."""
    made = corpus("coral reef", "coral fish", "reef bird")
    assert ["coral"] == [made.vocabulary.terms[n] for n in made.terms_of(np.array([0, 1]))]


def test_the_most_frequent_terms_are_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where there are too many, those of most pages stay."""
    monkeypatch.setattr(module, "MOST_TERMS", 1)
    made = corpus("coral reef", "coral fish reef", "reef bird")
    assert ["reef"] == [made.vocabulary.terms[n] for n in made.terms_of(np.arange(3))]


def test_bags_have_the_terms_alone() -> None:
    """Words that are no terms are not in the bags; columns follow the order of the terms."""
    made = corpus("coral coral reef", "fish coral")
    words = made.vocabulary.id_of
    bags = made.bags(np.array([1, 0]), [words["coral"], words["reef"]])
    assert ([0, 0, 1], [1.0, 2.0, 1.0]) == (bags.columns.tolist(), bags.counts.tolist())


def test_copies_share_a_group() -> None:
    """The same words in another order, and a long page with one word changed, are copies; others are not."""
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


def test_words_of_a_log_meet_words_of_pages() -> None:
    """Stems that were counted before get the ids of the same stems on pages, and are sorted by them."""
    made = corpus("coral reef")
    terms = Terms(np.array([0, 1], np.uint32), np.array([2, 1], np.uint16))
    assert made.add_visit("b", Visit("x", "page", "ok", 1, terms=terms), ["fish", "coral"])
    ids = made.pages[1].terms.ids.tolist()
    assert ["coral", "fish"] == [made.vocabulary.terms[n] for n in ids]
    assert [1, 2] == made.pages[1].terms.counts.tolist()


def test_two_spellings_of_a_path_become_one() -> None:
    """The most frequent spelling wins, and it is told."""
    made = Corpus()
    for number, label in enumerate(["Sea", "Sea", "sea", "SEA"]):
        made.add(label, str(number), Page("ok", marked=f"coral {number}"))
    made.spell()
    assert {"Sea"} == {page.label for page in made.pages}
    assert ["SEA is taken for Sea, and 1 more paths are spelt in one way, too"] == made.notes
