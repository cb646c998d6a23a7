"""The recipes of the docs run as they are written. Libraries that only a recipe needs are stand-ins."""

from __future__ import annotations

import re
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from lycosa.text.thesaurus import read_thesaurus

DOCS = Path(__file__).resolve().parent.parent / "docs"


def recipe(page: str, library: str) -> str:
    """Return the recipe of a page that imports a library."""
    blocks = re.findall(r"^```python recipe\n(.*?)^```$", (DOCS / page).read_text("utf-8"), re.DOTALL | re.MULTILINE)
    (found,) = (block for block in blocks if re.search(rf"^(?:from|import) {library}\b", block, re.MULTILINE))
    return found


def run(code: str) -> dict[str, Any]:
    """Run a recipe in the current directory and return its names."""
    names: dict[str, Any] = {}
    exec(compile(code, "recipe", "exec"), names)
    return names


def stand_in(monkeypatch: pytest.MonkeyPatch, module: str, **contents: Any) -> None:
    """Put a module in the place of a library, with its parents."""
    made = ModuleType(module)
    vars(made).update(contents)
    name = module
    while name:
        monkeypatch.setitem(sys.modules, name, made if name == module else ModuleType(name))
        name = name.rpartition(".")[0]


class Label(str):
    """A literal of rdflib."""

    def __new__(cls, text: str, language: str | None = None) -> Label:
        made = super().__new__(cls, text)
        made.language = language
        return made

    language: str | None


STATEMENTS = {
    "prefLabel": [
        ("#reef", Label("Riff", "de")), ("#reef", Label("coral reef", "en")),
        ("#sea", Label("sea")), ("#atoll", Label("atoll", "en")), ("#fish", Label("Fisch", "de")),
    ],
    "altLabel": [("#reef", Label("bioherm", "en")), ("#reef", Label("Korallenriff", "de")), ("#fish", Label("fish"))],
    "broader": [("#reef", "#sea"), ("#fish", "#sea")],
    "narrower": [("#reef", "#atoll")],
    "related": [],
}  # fmt: skip


def test_skos_to_table(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """English labels and relations between concepts that have one become a table that is read."""

    class Skos(dict[str, str]):
        __getattr__ = dict.__getitem__

    class Graph:
        def parse(self, file: str) -> Graph:
            assert file == "thesaurus.ttl"
            return self

        subject_objects = staticmethod(STATEMENTS.__getitem__)

    stand_in(monkeypatch, "rdflib", SKOS=Skos(zip(STATEMENTS, STATEMENTS, strict=True)), Graph=Graph)
    monkeypatch.chdir(tmp_path)
    run(recipe("howto/meaning.md", "rdflib"))
    found = read_thesaurus(tmp_path / "thesaurus.tsv")
    assert {"coral reef", "sea", "atoll"} == set(found.names)
    assert ["bioherm"] == found.synonyms("coral reef")
    assert [1, 0, 2] == [found.depth[found.concepts(word)[0]] for word in ("coral reef", "sea", "atoll")]
