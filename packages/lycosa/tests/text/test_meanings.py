"""Which ontology a place means."""

from __future__ import annotations

import pickle
from pathlib import Path

import pytest

import tiny_wordnet
from input_errors import raises_input_error
from lycosa.text import wordnet as places
from lycosa.text.meanings import load_ontology
from lycosa.text.ontology import Ontology


def test_a_directory_is_wordnet(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A directory of WordNet's files is read, once, however it is written; an empty one is an error that names it."""
    tiny = tiny_wordnet.write(tmp_path / "tiny")
    known = load_ontology(str(tiny))
    monkeypatch.chdir(tmp_path)
    assert known is load_ontology(str(tiny)) is load_ontology("tiny")
    assert known.source == f"WordNet 9.9 in {tiny}"
    (tmp_path / "empty").mkdir()
    with raises_input_error("missing-file"):
        load_ontology(str(tmp_path / "empty"))


def test_nothing_named_is_wordnet_where_it_is(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without a place it is where the machine has it; if it has none, the error says how to get it."""
    monkeypatch.setenv("LYCOSA_WORDNET", str(tiny_wordnet.write(tmp_path / "tiny")))
    assert load_ontology().is_word("beast")
    monkeypatch.delenv("LYCOSA_WORDNET")
    monkeypatch.setattr(places, "usual_places", lambda: iter(()))
    with raises_input_error("missing-package"):
        load_ontology()


def test_a_file_is_a_thesaurus(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Anything that is no directory goes to the reader of thesauri, once for each file."""
    made = Ontology.build({"a": ["apple"]}, broader=[], source="a thesaurus")
    asked: list[Path] = []

    def read(path: Path) -> Ontology:
        asked.append(path)
        return made

    monkeypatch.setattr("lycosa.text.thesaurus.read_thesaurus", read)
    (tmp_path / "fruit").write_text("apple\n")
    assert made is load_ontology(str(tmp_path / "fruit")) is load_ontology(str(tmp_path / "fruit"))
    assert [tmp_path / "fruit"] == asked


def test_pickling_names_the_place(tmp_path: Path) -> None:
    """An ontology that was read is sent as the place it was read from, not as a hundred thousand words."""
    known = load_ontology(str(tiny_wordnet.write(tmp_path / "tiny")))
    packed = pickle.dumps(known)
    assert len(packed) < 500
    assert known is pickle.loads(packed)
