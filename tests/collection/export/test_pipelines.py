"""What goes into other people's pipelines: bulk files, CSV for Excel."""

from __future__ import annotations

import csv
import json
from hashlib import sha256
from pathlib import Path

import pytest

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
