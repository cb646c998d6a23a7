"""load_ontology: WordNet or a thesaurus."""

from __future__ import annotations

import pickle
from pathlib import Path

import pytest

import tiny_wordnet
from input_errors import raises_input_error
from lycosa.text import wordnet as places
from lycosa.text.meanings import load_ontology
from lycosa.text.ontology import Ontology


def test_load_ontology_directory_is_wordnet(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    tiny = tiny_wordnet.write(tmp_path / "tiny")
    known = load_ontology(str(tiny))
    monkeypatch.chdir(tmp_path)
    assert known is load_ontology(str(tiny)) is load_ontology("tiny")
    assert known.source == f"WordNet 9.9 in {tiny}"
    (tmp_path / "empty").mkdir()
    with raises_input_error("missing-file"):
        load_ontology(str(tmp_path / "empty"))


def test_load_ontology_default_is_installed_wordnet(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LYCOSA_WORDNET", str(tiny_wordnet.write(tmp_path / "tiny")))
    assert load_ontology().is_word("beast")
    monkeypatch.delenv("LYCOSA_WORDNET")
    monkeypatch.setattr(places, "usual_places", lambda: iter(()))
    with raises_input_error("missing-package"):
        load_ontology()


def test_load_ontology_file_is_thesaurus(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    made = Ontology.build({"a": ["apple"]}, broader=[], source="a thesaurus")
    asked: list[Path] = []

    def read(path: Path) -> Ontology:
        asked.append(path)
        return made

    monkeypatch.setattr("lycosa.text.thesaurus.read_thesaurus", read)
    (tmp_path / "fruit").write_text("apple\n")
    assert made is load_ontology(str(tmp_path / "fruit")) is load_ontology(str(tmp_path / "fruit"))
    assert [tmp_path / "fruit"] == asked


def test_load_ontology_pickles_as_path(tmp_path: Path) -> None:
    known = load_ontology(str(tiny_wordnet.write(tmp_path / "tiny")))
    packed = pickle.dumps(known)
    assert len(packed) < 500
    assert known is pickle.loads(packed)
