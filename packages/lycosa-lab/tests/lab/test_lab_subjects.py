"""Subjects: what is relevant, and what is told of it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
import pytest

from lycosa.core.errors import InputError
from lycosa.core.types import Page
from lycosa_lab.corpus_index import CorpusIndex
from lycosa_lab.index_writer import RecordedPage, write_index
from lycosa_lab.subjects import (
    standing_out,
    subjects_of,
)


def corpus(path: Path, pages: Sequence[tuple[str, Sequence[str]]]) -> CorpusIndex:
    """Pages of these texts and classes, without links."""
    made = [
        RecordedPage(f"http://a.example/{number}", Page("ok", marked=text), classes=classes)
        for number, (text, classes) in enumerate(pages)
    ]
    return write_index(made, path, source="test")


def halved(path: Path, labels: Mapping[int, str]) -> CorpusIndex:
    """Forty pages, the first twenty on reefs, the others on rails; with labels for some."""
    texts = [f"coral reef atoll page{n}" if n < 20 else f"train rail track page{n}" for n in range(40)]
    return corpus(path, [(text, [labels[n]] if n in labels else []) for n, text in enumerate(texts)])


def test_truth_is_the_class_with_its_branch(tmp_path: Path) -> None:
    """Pages of Sea/Reefs are relevant to Sea; those of Seafood are not, nor are those without a class."""
    index = corpus(tmp_path / "i", [("a", ["Sea"]), ("b", ["Sea/Reefs"]), ("c", ["Seafood"]), ("d", [])])
    (subject,) = subjects_of(index, ["Sea"])
    assert [1.0, 1.0, 0.0, 0.0] == subject.truth.tolist()
    assert "labels" == subject.truth_by


def test_words_are_the_name_and_what_stands_out_as_it_is_written(tmp_path: Path) -> None:
    """The last part of the path, split, and words of the examples that are rare elsewhere: unstemmed."""
    reefs = [(f"bleaching corals and water number{n}", ["Sea/CoralReef_life"]) for n in range(4)]
    index = corpus(tmp_path / "i", [*reefs, *((f"water and trains number{n}", ["Rail"]) for n in range(4, 12))])
    (subject,) = subjects_of(index, ["Sea/CoralReef_life"])
    assert 1 == len(subject.examples)  # a quarter of four
    words = subject.words.split()
    assert ["coral", "reef", "life"] == words[:3]
    # idf: a page's own number log(13 / 1.5) + 1, bleaching log(13 / 4.5) + 1, water log(13 / 12.5) + 1
    assert ["bleaching", "water"] == words[-2:]
    assert "corals" not in words  # its stem is in the name


def test_standing_out_prefers_what_is_rare_in_the_corpus(tmp_path: Path) -> None:
    """A word of all pages comes after one of the examples only."""
    index = corpus(tmp_path / "i", [("water reefs", []), ("water reefs", []), ("water trains", []), ("water", [])])
    assert ["reefs", "water"] == standing_out(index, [0, 1])


def test_examples_are_seen_relevant_and_drawn_by_the_seed(web: CorpusIndex) -> None:
    """What a guide is told comes from pages that count for nobody; another seed draws other pages."""
    (first,) = subjects_of(web, ["cooking"], random_seed=1)
    (again,) = subjects_of(web, ["cooking"], random_seed=1)
    (other,) = subjects_of(web, ["cooking"], random_seed=2)
    assert first.examples == again.examples
    assert first.words == again.words
    assert first.examples != other.examples
    assert list(first.examples) == np.flatnonzero(first.seen).tolist()
    assert first.truth[list(first.examples)].all()
    assert len(first.examples) <= first.truth.sum() / 4


def test_topics_of_the_embedded_web_are_typed_as_its_users_do(web: CorpusIndex) -> None:
    """They have queries of their own."""
    (subject,) = subjects_of(web, ["marine biology/coral reefs"])
    assert "coral reef bleaching" == subject.words


def test_subjects_drawn_fit_in_size_and_are_the_same_again(web: CorpusIndex) -> None:
    """At least `least` pages, a fifth of the corpus at most, as many as asked for."""
    drawn = subjects_of(web, count=3, least=5, random_seed=4)
    names = [subject.name for subject in drawn]
    assert 3 == len(names)
    assert names == [subject.name for subject in subjects_of(web, count=3, least=5, random_seed=4)]
    assert all(5 <= subject.truth.sum() <= 80 for subject in drawn)
    fitting = [name for name in web.branches() if 5 <= web.of_class(name).sum() <= 80]
    assert fitting == [subject.name for subject in subjects_of(web, least=5)]


def test_an_unknown_class_gets_names_that_are_near(web: CorpusIndex) -> None:
    """And the last part of a path is enough to be recognised."""
    with pytest.raises(InputError, match="no class 'astronmy': did you mean astronomy"):
        subjects_of(web, ["astronmy"])
    with pytest.raises(InputError, match="marine biology/coral reefs"):
        subjects_of(web, ["coral reefs"])


def test_no_class_of_the_asked_size_is_an_error_with_sizes(tmp_path: Path) -> None:
    """It says which classes there are, and how large."""
    index = corpus(tmp_path / "i", [("a", ["Sea"]), ("b", ["Sea"]), ("c", ["Rail"])])
    with pytest.raises(InputError, match=r"no class of the corpus has 20 to 1 pages: it has Sea \(2\), Rail \(1\)"):
        subjects_of(index)


def test_a_graph_with_scores_has_one_subject() -> None:
    """Its scores are the truth."""
    index = CorpusIndex.of({"a": ["b"]}, score={"b": 0.5})
    (subject,) = subjects_of(index)
    assert ("score", [0.0, 0.5], "scores of the graph") == (subject.name, subject.truth.tolist(), subject.truth_by)
    with pytest.raises(InputError, match="its one subject is 'score'"):
        subjects_of(index, ["Sea"])


def test_no_labels_and_no_scores_says_what_to_do(tmp_path: Path) -> None:
    """Labels from a table or of a crawl."""
    index = corpus(tmp_path / "i", [("coral", []), ("rail", [])])
    with pytest.raises(InputError, match=r"--labels.*lycosa label"):
        subjects_of(index)
    with pytest.raises(InputError, match="nothing to find"):
        subjects_of(CorpusIndex.of({"a": ["b"]}, score={"b": 0.0}))


@pytest.mark.parametrize(("labels", "noted"), [(19, True), (20, False)])
def test_subjects_of_few_labels_say_that_the_rest_is_irrelevant(tmp_path: Path, labels: int, noted: bool) -> None:
    (subject,) = subjects_of(halved(tmp_path / "i", dict.fromkeys(range(labels), "Sea")), ["Sea"])
    assert labels == subject.truth.sum()
    assert ["21 of 40 pages have no class, and count as irrelevant: label more"] * noted == subject.notes
