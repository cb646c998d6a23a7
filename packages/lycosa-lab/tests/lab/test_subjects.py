from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
import pytest

from input_errors import raises_input_error
from lycosa.core.types import Page
from lycosa_lab.corpus_index import CorpusIndex
from lycosa_lab.index_writer import RecordedPage, write_index
from lycosa_lab.subjects import distinctive_words, subjects_of


def corpus(path: Path, pages: Sequence[tuple[str, Sequence[str]]]) -> CorpusIndex:
    result = [
        RecordedPage(f"http://a.example/{number}", Page("ok", marked=text), classes=classes)
        for number, (text, classes) in enumerate(pages)
    ]
    return write_index(result, path, source="test")


def halved(path: Path, labels: Mapping[int, str]) -> CorpusIndex:
    """Return forty pages, twenty on reefs and twenty on rails, with labels for some."""
    texts = [f"coral reef atoll page{n}" if n < 20 else f"train rail track page{n}" for n in range(40)]
    return corpus(path, [(text, [labels[n]] if n in labels else []) for n, text in enumerate(texts)])


def test_subjects_of_truth_includes_branch(tmp_path: Path) -> None:
    index = corpus(tmp_path / "i", [("a", ["Sea"]), ("b", ["Sea/Reefs"]), ("c", ["Seafood"]), ("d", [])])
    (subject,) = subjects_of(index, ["Sea"])
    assert [1.0, 1.0, 0.0, 0.0] == subject.truth.tolist()
    assert "labels" == subject.truth_by


def test_subjects_of_join_words_of_name_and_examples(tmp_path: Path) -> None:
    reefs = [(f"bleaching corals and water number{n}", ["Sea/CoralReef_life"]) for n in range(4)]
    index = corpus(tmp_path / "i", [*reefs, *((f"water and trains number{n}", ["Rail"]) for n in range(4, 12))])
    (subject,) = subjects_of(index, ["Sea/CoralReef_life"])
    assert 1 == len(subject.examples)  # a quarter of four
    words = subject.words.split()
    assert ["coral", "reef", "life"] == words[:3]
    # The idf of a page's own number is log(13 / 1.5) + 1, of bleaching log(13 / 4.5) + 1, of water log(13 / 12.5) + 1.
    assert ["bleaching", "water"] == words[-2:]
    assert "corals" not in words  # its stem is in the name


def test_standing_out_prefers_rare_words(tmp_path: Path) -> None:
    index = corpus(tmp_path / "i", [("water reefs", []), ("water reefs", []), ("water trains", []), ("water", [])])
    assert ["reefs", "water"] == distinctive_words(index, [0, 1])


def test_examples_are_seen_and_depend_on_random_seed(web: CorpusIndex) -> None:
    (first,) = subjects_of(web, ["cooking"], random_seed=1)
    (again,) = subjects_of(web, ["cooking"], random_seed=1)
    (other,) = subjects_of(web, ["cooking"], random_seed=2)
    assert first.examples == again.examples
    assert first.words == again.words
    assert first.examples != other.examples
    assert list(first.examples) == np.flatnonzero(first.seen).tolist()
    assert first.truth[list(first.examples)].all()
    assert len(first.examples) <= first.truth.sum() / 4


def test_subjects_of_embedded_web_have_queries(web: CorpusIndex) -> None:
    (subject,) = subjects_of(web, ["marine biology/coral reefs"])
    assert "coral reef bleaching" == subject.words


def test_subjects_of_are_drawn_by_size_and_seed(web: CorpusIndex) -> None:
    drawn = subjects_of(web, count=3, least=5, random_seed=4)
    names = [subject.name for subject in drawn]
    assert 3 == len(names)
    assert names == [subject.name for subject in subjects_of(web, count=3, least=5, random_seed=4)]
    assert all(5 <= subject.truth.sum() <= 80 for subject in drawn)
    fitting = [name for name in web.branches() if 5 <= web.of_class(name).sum() <= 80]
    assert fitting == [subject.name for subject in subjects_of(web, least=5)]


def test_subjects_of_unknown_class_suggests_names(web: CorpusIndex) -> None:
    with raises_input_error("unknown-name", "no class 'astronmy': did you mean astronomy"):
        subjects_of(web, ["astronmy"])
    with raises_input_error("unknown-name", "marine biology/coral reefs"):
        subjects_of(web, ["coral reefs"])


def test_subjects_of_no_class_of_size_lists_sizes(tmp_path: Path) -> None:
    index = corpus(tmp_path / "i", [("a", ["Sea"]), ("b", ["Sea"]), ("c", ["Rail"])])
    with raises_input_error("too-few-pages", r"no class has 20 to 1 pages: choose one of Sea \(2\), Rail \(1\)"):
        subjects_of(index)


def test_subjects_of_graph_are_its_scores() -> None:
    index = CorpusIndex.of({"a": ["b"]}, score={"b": 0.5})
    (subject,) = subjects_of(index)
    assert ("score", [0.0, 0.5], "scores of the graph") == (subject.name, subject.truth.tolist(), subject.truth_by)
    with raises_input_error("unknown-name"):
        subjects_of(index, ["Sea"])


def test_subjects_of_unlabelled_corpus_is_error(tmp_path: Path) -> None:
    index = corpus(tmp_path / "i", [("coral", []), ("rail", [])])
    with raises_input_error("no-labels"):
        subjects_of(index)
    with raises_input_error("nothing-to-do"):
        subjects_of(CorpusIndex.of({"a": ["b"]}, score={"b": 0.0}))


@pytest.mark.parametrize(("labels", "noted"), [(19, True), (20, False)])
def test_subjects_of_few_labels_is_noted(tmp_path: Path, labels: int, noted: bool) -> None:
    (subject,) = subjects_of(halved(tmp_path / "i", dict.fromkeys(range(labels), "Sea")), ["Sea"])
    assert labels == subject.truth.sum()
    assert ["21 of 40 pages have no class, and count as irrelevant: label more"] * noted == subject.notes
