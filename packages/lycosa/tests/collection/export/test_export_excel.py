"""Tests of the CSV format for Excel."""

from __future__ import annotations

import csv
from hashlib import sha256
from pathlib import Path

import pytest

import lycosa
from input_errors import raises_input_error
from lycosa.collection.export import export
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


def test_csv_for_excel_has_byte_order_mark(crawl: Path, tmp_path: Path) -> None:
    export(crawl, tmp_path / "reefs.csv", excel=True)
    content = (tmp_path / "reefs.csv").read_bytes()
    assert content.startswith(b"\xef\xbb\xbfurl,title,")
    rows = list(csv.DictReader(content.decode("utf-8-sig").splitlines(keepends=True)))
    assert [row["title"] for row in rows[1:]] == ["Récifs", "'=SUM(A1)"]
    export(crawl, tmp_path / "plain.csv")
    assert (tmp_path / "plain.csv").read_bytes() == content[3:]
    with raises_input_error("conflicting-options", match="--excel .* jsonl"):
        export(crawl, tmp_path / "reefs.jsonl", excel=True)
