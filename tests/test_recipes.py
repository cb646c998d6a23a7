"""The recipes of the docs run as written, with stand-ins for libraries that only a recipe needs."""

from __future__ import annotations

import re
import sys
from hashlib import sha256
from pathlib import Path
from types import ModuleType
from typing import Any

import networkx
import pytest

import lycosa
from lycosa.core.types import Exchange
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
    """Replace a library by a module, including its parents."""
    made = ModuleType(module)
    vars(made).update(contents)
    name = module
    while name:
        monkeypatch.setitem(sys.modules, name, made if name == module else ModuleType(name))
        name = name.rpartition(".")[0]


class Label(str):
    """Literal of rdflib."""

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


def test_skos_recipe_writes_table(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
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


PAGES = {
    "http://a.test/": ("Start", ["http://a.test/reefs", "http://b.test/"]),
    "http://a.test/reefs": ("Reefs", ["http://a.test/"]),
    "http://b.test/": ("Other\x01", []),
}


@pytest.fixture
def reefs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Crawl into ./reefs; all pages but one are relevant."""

    def found(url: str) -> lycosa.Page:
        title, targets = PAGES[url]
        body = f"<title>{title}</title><main><h1>{title}</h1><p>All of it.</main>".encode()
        kind = [(b"Content-Type", b"text/html; charset=utf-8")]
        exchange = Exchange(b"GET / HTTP/1.1\r\n\r\n", b"HTTP/1.1 200 OK", kind, body, sha256(body).digest())
        links = lycosa.Links.to(*targets)
        return lycosa.Page("ok", 200, title=title, marked="All of it.", language="en", links=links, exchange=exchange)

    monkeypatch.chdir(tmp_path)
    crawl = lycosa.crawl(lambda page: float("Reefs" not in page.title), ["http://a.test/"], space=found, out="reefs")
    assert 3 == len(list(crawl))


class Made:
    """Document that records its arguments."""

    def __init__(self, **given: Any) -> None:
        self.given = given


@pytest.mark.parametrize(("module", "text", "name"), [
    ("langchain_core.documents", "page_content", "id"), ("llama_index.core.schema", "text", "id_"),
])  # fmt: skip
def test_documents_recipe_yields_pages(
    reefs: None, monkeypatch: pytest.MonkeyPatch, module: str, text: str, name: str
) -> None:
    stand_in(monkeypatch, module, Document=Made)
    made = list(run(recipe("howto/export.md", module.partition(".")[0]))["documents"]("reefs"))
    assert ["http://a.test/", "http://b.test/"] == [document.given[name] for document in made]
    pages = list(lycosa.open("reefs"))
    assert ["Start\nAll of it.", "Other\nAll of it."] == [document.given[text] for document in made]
    about = [document.given["metadata"] for document in made]
    assert [(page.url, page.title, "en", 1.0) for page in pages] == [
        (told["source"], told["title"], told["language"], told["relevance"]) for told in about
    ]
    assert set(made[0].given) - {"excluded_llm_metadata_keys", "excluded_embed_metadata_keys"} == {
        text,
        name,
        "metadata",
    }


def test_graphml_recipe_writes_graph(reefs: None) -> None:
    run(recipe("howto/export.md", "networkx"))
    graph = networkx.read_graphml("reefs.graphml")
    assert {"http://a.test/": "Start", "http://b.test/": "Other"} == dict(graph.nodes(data="title"))
    assert {1.0} == {relevance for _, relevance in graph.nodes(data="relevance")}
    assert [("http://a.test/", "http://b.test/")] == list(graph.edges)
