"""What goes into other people's pipelines, each read by the library it is for: documents, datasets, bulk files, CSV for
Excel."""

from __future__ import annotations

import csv
import json
import subprocess
import sys
from hashlib import sha256
from pathlib import Path

import pytest
import yaml  # which `datasets` brings, and reads the card with

import lycosa
from lycosa.cli.export import told
from lycosa.collection.export import export
from lycosa.collection.export.tables import COLUMNS
from lycosa.core.types import Exchange

PAGES = {
    "http://a.test/": ("Start: \"all\" | reefs\n", "Of the sea.", "en", ""),
    "http://a.test/reefs": ("Récifs", "Les récifs de corail blanchissent.", "fr", "https://creativecommons.org/licenses/by/4.0/"),
    "http://b.test/=sum": ("=SUM(A1)", "Reefs, with \"quotes\",\nand a line.", "en", ""),
}  # fmt: skip


def _found(url: str) -> lycosa.Page:
    title, text, language, licence = PAGES[url]
    head = f"<title>{title}</title><meta name=robots content='noai, noarchive'>"
    head += f"<link rel=license href='{licence}'>" if licence else ""
    main = f"<main><h1>{title}</h1><p>{text}</p></main>"
    body = f"<html lang={language}><head>{head}</head><body>{main}</body></html>".encode()
    kind = [(b"Content-Type", b"text/html; charset=utf-8")]
    exchange = Exchange(b"GET / HTTP/1.1\r\n\r\n", b"HTTP/1.1 200 OK", kind, body, sha256(body).digest())
    links = lycosa.Links.to(*(other for other in PAGES if other != url))
    return lycosa.Page("ok", 200, title=title, marked=text, language=language, links=links, exchange=exchange)


@pytest.fixture(scope="module")
def crawl(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("pipelines") / "reefs"
    assert len(list(lycosa.crawl(lambda page: 1.0, ["http://a.test/"], space=_found, out=out))) == 3
    return out


def test_langchain(crawl: Path) -> None:
    """Documents of LangChain, lazily, with addresses as ids and plain values as metadata."""
    from langchain_core.document_loaders import BaseLoader

    from lycosa.integrations.langchain import LycosaLoader

    loader = LycosaLoader(crawl)
    assert isinstance(loader, BaseLoader)
    first, *others = loader.lazy_load()
    assert [document.id for document in (first, *others)] == list(PAGES)
    assert first.page_content.endswith("Of the sea.")
    assert (first.metadata["source"], first.metadata["language"]) == ("http://a.test/", "en")
    assert all(isinstance(value, str | float | int | bool) for value in first.metadata.values())
    assert loader.load() == [first, *others]
    marked = LycosaLoader(str(crawl), form="markdown", everything=True).load()
    assert marked[1].page_content.startswith("# Récifs\n\n<http://a.test/reefs>")
    assert LycosaLoader(crawl, threshold=2.0).load() == []
    with pytest.raises(lycosa.InputError, match="form is 'pdf'"):
        LycosaLoader(crawl, form="pdf")  # type: ignore[arg-type]


def test_llama_index(crawl: Path) -> None:
    """Documents of LlamaIndex; what a model need not read is kept from it. In a process, as it is heavy."""
    program = f"""
from lycosa.integrations.llama_index import LycosaReader
from llama_index.core.readers.base import BaseReader
from llama_index.core.schema import MetadataMode
reader = LycosaReader({str(crawl)!r})
assert isinstance(reader, BaseReader)
first, second, third = reader.load_data()
assert second.doc_id == "http://a.test/reefs" and "corail" in second.text, second
assert "digest" in second.metadata and "digest" not in second.get_content(MetadataMode.LLM)
assert "http://a.test/reefs" in second.get_content(MetadataMode.LLM)
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_datasets(crawl: Path, tmp_path: Path) -> None:
    """`datasets.load_dataset` takes the folder with its card, and the plain files, as they are."""
    folder, bare = tmp_path / "reefs-dataset", tmp_path / "bare"
    done = export(crawl, folder, "dataset")
    assert (done.pages, done.opened_by) == (3, f"datasets.load_dataset({str(folder)!r})")
    assert {file.name for file in folder.iterdir()} == {"README.md", "pages.parquet"}
    bare.mkdir()
    export(crawl, bare / "reefs.jsonl")
    export(crawl, bare / "reefs.parquet")
    program = f"""
import datasets
read = datasets.load_dataset({str(folder)!r}, split="train")
lines = datasets.load_dataset("json", data_files={str(bare / "reefs.jsonl")!r}, split="train")
table = datasets.load_dataset("parquet", data_files={str(bare / "reefs.parquet")!r}, split="train")
card = datasets.load_dataset_builder({str(folder)!r}).info
assert read.column_names == lines.column_names == table.column_names == {list(COLUMNS)!r}, read.column_names
assert read["text"] [1].endswith("blanchissent.") and read["url"][:] == lines["url"][:] == table["url"][:]
assert str(read.features["fetched"].dtype).startswith("timestamp") and read.num_rows == 3
"""
    home = {"HF_HOME": str(tmp_path / "hf"), "HF_HUB_OFFLINE": "1", "PATH": "/usr/bin:/bin"}
    ran = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False, env=home)
    assert ran.returncode == 0, ran.stderr
    card = (folder / "README.md").read_text("utf-8")
    facts = yaml.safe_load(card.split("---")[1])
    assert facts["language"] == ["en", "fr"]
    assert facts["configs"][0]["data_files"] == [{"split": "train", "path": "pages.parquet"}]
    for words in (
        "| a.test | 2 |",
        "| https://creativecommons.org/licenses/by/4.0/ | 1 |\n",
        "| none | 2 |",
        "noai (3), noarchive (3)",
        "Seeds: http://a.test/",
        "3 pages of 2 hosts",
    ):
        assert words in card, words


def test_without_pyarrow_a_dataset_is_lines(crawl: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where pyarrow is not installed, the table is JSON Lines, and that is said."""
    monkeypatch.setattr("lycosa.collection.export.card.find_spec", lambda name: None)
    done = export(crawl, tmp_path / "lines", "dataset")
    assert {file.name for file in (tmp_path / "lines").iterdir()} == {"README.md", "pages.jsonl"}
    assert "lycosa[parquet]" in told(done)


def test_bulk(crawl: Path, tmp_path: Path) -> None:
    """Two lines a page, ids that stay the same, and a mapping for every column."""
    done = export(crawl, tmp_path / "reefs.ndjson")
    assert (done.form, done.pages) == ("bulk", 3)
    assert "reefs.mapping.json is beside it" in told(done)
    content = (tmp_path / "reefs.ndjson").read_bytes()
    assert content.endswith(b"\n")  # a bulk request has to
    lines = [json.loads(line) for line in content.split(b"\n")[:-1]]
    actions, documents = lines[::2], lines[1::2]
    assert [document["url"] for document in documents] == list(PAGES)
    assert [set(action) for action in actions] == [{"index"}] * 3
    assert len({action["index"]["_id"] for action in actions}) == 3
    mapping = json.loads((tmp_path / "reefs.mapping.json").read_bytes())["mappings"]["properties"]
    assert set(mapping) == set(documents[0]) == set(COLUMNS)
    assert {mapping[name]["type"] for name in ("text", "url", "score", "fetched", "relevant", "depth")} == {
        "text", "keyword", "double", "date", "boolean", "long",
    }  # fmt: skip
    export(crawl, tmp_path / "again.ndjson.gz")
    assert (tmp_path / "again.mapping.json").exists()
    assert export(crawl, tmp_path / "other", "bulk").path == tmp_path / "other"
    assert (tmp_path / "other.mapping.json").exists()


def test_csv_for_excel(crawl: Path, tmp_path: Path) -> None:
    """With --excel a CSV begins with the mark, once; other formats have none to give."""
    export(crawl, tmp_path / "reefs.csv", excel=True)
    content = (tmp_path / "reefs.csv").read_bytes()
    assert content.startswith(b"\xef\xbb\xbfurl,title,")
    rows = list(csv.DictReader(content.decode("utf-8-sig").splitlines(keepends=True)))
    assert [row["title"] for row in rows[1:]] == ["Récifs", "'=SUM(A1)"]
    export(crawl, tmp_path / "plain.csv")
    assert (tmp_path / "plain.csv").read_bytes() == content[3:]
    with pytest.raises(lycosa.InputError, match=r"--excel is for CSV, not for jsonl"):
        export(crawl, tmp_path / "reefs.jsonl", excel=True)
    with pytest.raises(lycosa.InputError, match=r"dataset needs a directory to go to: --out DIR"):
        export(crawl, None, "dataset")
