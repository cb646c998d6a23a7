"""Metadata of pages and URLs in plain text."""

from __future__ import annotations

from lycosa.web.declared import MAX_VALUE_LENGTH, find_urls, read_json_ld
from lycosa.web.html import extract
from tables import each


def test_extract_reads_metadata_of_head() -> None:
    head = (
        "<meta name=author content='Ann  Lee'><meta property=og:site_name content=Reefs><link rel=license href=/cc>"
        "<meta property=article:published_time content=2024-05-03><meta property=article:author content=http://a.test/ann>"
        '<script type="application/ld+json">{"dateModified": "2024-06-01", "author": {"name": "Bob"}}</script>'
    )
    assert extract(f"<head>{head}</head><p>x".encode(), "http://a.test/").about == {
        "author": "Ann Lee",
        "site": "Reefs",
        "licence": "http://a.test/cc",
        "published": "2024-05-03",
        "modified": "2024-06-01",
    }


@each(["", "{", "7", "null", '{"author": null}', '{"author": {"name": 7}}', "[[[1]]]", '{"@graph": {}}'])
def test_read_json_ld_ignores_malformed_data(data: str) -> None:
    page = f'<script type="application/ld+json">{data}</script><p>x'
    assert extract(page.encode(), "http://a.test/").about == {}


@each(
    [
        ("See https://a.test/b_(c).", ["https://a.test/b_(c)"]),
        ("(see www.a.test/x), and http://b.test/?q=1&r=2!", ["www.a.test/x", "http://b.test/?q=1&r=2"]),
        ("[http://a.test/x]", ["http://a.test/x"]),
        ("\u201chttp://a.test/x\u201d", ["http://a.test/x"]),
        ("awww.a.test www. http:// http://...", []),
    ]
)
def test_find_urls_excludes_punctuation(text: str, expected: list[str]) -> None:
    assert expected == [text[start:end] for start, end in find_urls(text)]


def test_read_json_ld_is_bounded() -> None:
    about: dict[str, str] = {}
    assert "" == read_json_ld(about, '{"author": "' + "x" * 100_000 + '"}')
    assert "" == read_json_ld(about, '{"author": "' + "x" * 1_000 + '"}')
    assert {"author": "x" * MAX_VALUE_LENGTH} == about
