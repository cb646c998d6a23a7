"""Tests of the JSONL, CSV and Parquet exports."""

from __future__ import annotations

import csv as csvlib
import io
import json
import sys
from dataclasses import replace
from pathlib import Path

import pandas
import pyarrow.parquet
import pytest

from input_errors import raises_input_error
from lycosa.collection.export import export, tables
from lycosa.core.types import Links, Visit
from synthetic_crawl import SyntheticCrawl, crawled, html, many, prose

HOSTILE = [
    "=HYPERLINK(1)",
    "+1",
    "-2+3",
    "@SUM(A1)",
    'quotes " and, commas; and\ttabs',
    "line\nbreaks\r\nof \u2028 all kinds",
    "nul \x00 bell \x07 escape \x1b[31m",
    "half \ud83d of a character",
    "no characters \ufffe\uffff",
    "]]> <b>&amp;</b> &#0;",
    "emoji 🦑 and 中文 and العربية",
    "NULL",
]


@pytest.fixture
def hostile(tmp_path: Path) -> Path:
    """Write a crawl of pages with hostile titles, texts, anchors and URLs."""
    with crawled(tmp_path / "crawl") as crawl:
        crawl.seed("http://a.test/0")
        for i, text in enumerate(HOSTILE):
            visit_links = [(f"http://a.test/{i + 1}", text, 0.5)]
            crawl.page(f"http://a.test/{i}", f"<p>{prose(i)}", links=visit_links, title=text, language=text[:10])
    return tmp_path / "crawl"


def read_rows(path: Path) -> list[dict[str, str]]:
    with open(path, encoding="utf-8", newline="") as file:
        return list(csvlib.DictReader(file, strict=True))


def test_tables_preserve_hostile_text(hostile: Path, tmp_path: Path) -> None:
    for name in ("t.jsonl", "t.csv", "t.parquet"):
        assert len(HOSTILE) == export(hostile, tmp_path / name).pages
    titles = pandas.read_parquet(tmp_path / "t.parquet")["title"].tolist()
    assert "line breaks of all kinds" == titles[5]
    assert "nul bell escape [31m" == titles[6]
    assert "half of a character" == titles[7]
    assert HOSTILE[10] == titles[10]
    assert titles == [json.loads(line)["title"] for line in (tmp_path / "t.jsonl").read_text("utf-8").split("\n")[:-1]]
    commas = [row["title"] for row in read_rows(tmp_path / "t.csv")]
    assert titles == [title.removeprefix("'") for title in commas]


def test_csv_has_no_formulas(hostile: Path, tmp_path: Path) -> None:
    export(hostile, tmp_path / "t.csv")
    rows = read_rows(tmp_path / "t.csv")
    assert "'=HYPERLINK(1)" == rows[0]["title"] == rows[1]["anchor"]
    for row in rows:
        for name, value in row.items():
            assert not value.startswith(("=", "+", "-", "@", "\t", "\r")), name


def test_csv_is_rfc_4180(hostile: Path, tmp_path: Path) -> None:
    export(hostile, tmp_path / "t.csv")
    raw = (tmp_path / "t.csv").read_bytes()
    assert raw.startswith(b"url,title,text,relevance,")
    assert raw.endswith(b"\r\n")
    assert raw.count(b"\r") == raw.count(b"\r\n") == len(HOSTILE) + 1


def test_csv_cuts_long_text(tmp_path: Path) -> None:
    with crawled(tmp_path / "crawl") as crawl:
        crawl.page("http://a.test/", "<p>=" + "reef " * 40_000)
    done = export(tmp_path / "crawl", tmp_path / "t.csv")
    export(tmp_path / "crawl", tmp_path / "t.parquet")
    (row,) = read_rows(tmp_path / "t.csv")
    assert tables.MAX_CELL_LENGTH == len(row["text"])
    assert row["text"].startswith("'=reef")
    assert [
        "text cut at 32,767 characters, the limit of a cell, for 1 page: JSONL and Parquet contain the whole text"
    ] == (done.remarks)
    assert 200_000 == len(pandas.read_parquet(tmp_path / "t.parquet")["text"][0])


def test_columns_have_values_of_pages(tmp_path: Path) -> None:
    with crawled(tmp_path / "crawl") as crawl:
        crawl.seed("http://a.test/")
        found = [("http://a.test/old", "see reefs", 0.7), ("http://a.test/x", "", 0.0)]
        first = crawl.page("http://a.test/", html("Start", prose(1)), relevance=0.1, links=found)
        crawl.redirect("http://a.test/old", "http://a.test/reefs")
        page = crawl.page(
            "http://a.test/reefs",
            html("Reefs", "coral"),
            relevance=0.75,
            data={"canonical": "http://a.test/r"},
            language="en",
            started=1_700_000_000.2509,
        )
        crawl.page("http://b.test/", "coral", headers=[(b"Content-Type", b"text/plain")], relevance=0.2)
    export(tmp_path / "crawl", tmp_path / "t.jsonl", everything=True)
    rows = [json.loads(line) for line in (tmp_path / "t.jsonl").read_text("utf-8").splitlines()]
    assert [False, True, True] == [row["relevant"] for row in rows]
    assert [0, 1, 0] == [row["depth"] for row in rows]
    assert ["", first.node, ""] == [row["parent"] for row in rows]
    assert ["", "see reefs", ""] == [row["anchor"] for row in rows]
    assert {
        "url": "http://a.test/reefs",
        "title": "Reefs",
        "text": "Reefs\ncoral",
        "relevance": 0.75,
        "relevant": True,
        "language": "en",
        "fetched": "2023-11-14T22:13:20.250Z",
        "status": 200,
        "content_type": "text/html; charset=utf-8",
        "size": page.size,
        "digest": page.digest.hex(),
        "simhash": f"{page.simhash:016x}",
        "canonical": "http://a.test/r",
        "same_as": "",
        "depth": 1,
        "parent": "http://a.test/",
        "anchor": "see reefs",
        "opt_outs": "",
        "outlinks": 0,
        "warc_file": page.place.file,
        "warc_offset": page.place.offset,
        "warc_length": page.place.length,
        "version": 1,
        "versions": 1,
        "changed": None,
        "standing": "stands",
        "author": "",
        "published": "",
        "modified": "",
        "pages": None,
    } == rows[1]
    assert ("coral", "text/plain") == (rows[2]["text"], rows[2]["content_type"])


def test_tables_exclude_copies_by_default(tmp_path: Path) -> None:
    with crawled(tmp_path / "crawl") as crawl:
        crawl.page("http://a.test/", html("A", prose(1)))
        crawl.page("http://b.test/", html("A", prose(1)), same_as="http://a.test/")
        crawl.page("http://c.test/", html("C", prose(2)), relevance=0.1)
        crawl.page("http://d.test/", html("C", prose(2)), relevance=0.1, same_as="http://c.test/")
    found = {}
    for everything in (False, True):
        for copies in (False, True):
            out = io.BytesIO()
            export(tmp_path / "crawl", stdout=out, everything=everything, copies=copies)
            found[everything, copies] = "".join(json.loads(line)["url"][7] for line in out.getvalue().splitlines())
    assert {(False, False): "a", (False, True): "ab", (True, False): "ac", (True, True): "abcd"} == found


def test_tables_of_unreadable_bodies_have_no_text(tmp_path: Path) -> None:
    with crawled(tmp_path / "crawl") as crawl:
        image = crawl.page("http://a.test/1", b"\x89PNG", headers=[(b"Content-Type", b"image/png")])
        broken = replace(image, node="http://a.test/2")
        crawl.record(broken, b"\x1f\x8bbroken", [(b"Content-Encoding", b"gzip")])
    out = io.BytesIO()
    assert 2 == export(tmp_path / "crawl", stdout=out).pages
    assert ["", ""] == [json.loads(line)["text"] for line in out.getvalue().splitlines()]


def test_tables_without_archive_have_no_text(tmp_path: Path) -> None:
    with crawled(tmp_path / "crawl", archive=False) as crawl:
        crawl.page("http://a.test/", html("A", prose(1)))
    for name in ("t.jsonl", "t.csv", "t.parquet"):
        done = export(tmp_path / "crawl", tmp_path / name)
        assert ["no text for 1 page: the crawl kept no archive (--no-archive)"] == done.remarks
    table = pandas.read_parquet(tmp_path / "t.parquet")
    assert [("A", "", "", True)] == list(
        zip(table["title"], table["text"], table["warc_file"], table["warc_offset"].isna(), strict=True)
    )


def test_parquet_row_groups_are_bounded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tables, "ROW_GROUP_CHARACTERS", 10_000)
    export(many(tmp_path / "crawl", 50), tmp_path / "t.parquet")
    file = pyarrow.parquet.ParquetFile(tmp_path / "t.parquet")
    texts = [file.read_row_group(i, ["text"])["text"].to_pylist() for i in range(file.num_row_groups)]
    assert 50 == sum(map(len, texts))
    assert all(10_000 <= sum(map(len, group)) < 12_000 for group in texts[:-1])
    assert "ZSTD" == file.metadata.row_group(0).column(0).compression


def test_parquet_without_pyarrow_names_the_extra(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    many(tmp_path / "crawl", 1)
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with raises_input_error("missing-package", match=r"lycosa\[parquet\]"):
        export(tmp_path / "crawl", tmp_path / "t.parquet")
    assert ["crawl"] == [path.name for path in tmp_path.iterdir()]


def test_tables_without_pages_have_columns(tmp_path: Path) -> None:
    with crawled(tmp_path / "crawl") as crawl:
        crawl.page("http://a.test/", html("A", prose(1)), relevance=0.1)
    for name in ("t.jsonl", "t.csv", "t.parquet"):
        done = export(tmp_path / "crawl", tmp_path / name)
        assert (0, ["no page with relevance 0.2 or more: --all exports all pages"]) == (done.pages, done.remarks)
    assert b"" == (tmp_path / "t.jsonl").read_bytes()
    assert list(pandas.read_csv(tmp_path / "t.csv")) == list(pandas.read_parquet(tmp_path / "t.parquet"))


def test_tables_of_other_spaces_have_node_names(tmp_path: Path) -> None:
    with crawled(tmp_path / "crawl", archive=False) as crawl:
        crawl.seed("notes/a")
        crawl.page("notes/a", "", links=[("b", "to b", 0.5)])
        crawl.page("b", "", started=0.0)
    export(tmp_path / "crawl", tmp_path / "t.csv")
    assert [("notes/a", ""), ("b", "notes/a")] == [(row["url"], row["parent"]) for row in read_rows(tmp_path / "t.csv")]


def test_parent_is_first_and_depth_is_smallest(tmp_path: Path) -> None:
    def linked(crawl: SyntheticCrawl, node: str, *targets: str) -> None:
        crawl.page(node, links=[(target, f"{node} to {target}", 0.0) for target in targets])

    with crawled(tmp_path / "crawl", archive=False) as crawl:
        crawl.seed("s1")
        crawl.seed("s2")
        linked(crawl, "s1", "a")
        linked(crawl, "a", "b", "a")
        linked(crawl, "b", "c")
        linked(crawl, "s2", "c", "c", "s1")
        linked(crawl, "c")
    out = io.BytesIO()
    export(tmp_path / "crawl", stdout=out)
    rows = {row["url"]: row for row in map(json.loads, out.getvalue().splitlines())}
    assert {"s1": 0, "a": 1, "b": 2, "s2": 0, "c": 1} == {url: row["depth"] for url, row in rows.items()}
    assert {"s1": "", "a": "s1", "b": "a", "s2": "", "c": "b"} == {url: row["parent"] for url, row in rows.items()}
    assert "b to c" == rows["c"]["anchor"]


def test_parent_may_be_sitemap(tmp_path: Path) -> None:
    with crawled(tmp_path / "crawl", archive=False) as crawl:
        source = Visit("http://a.test/map.xml", "sitemap", "ok", 1, links=Links.to("http://a.test/", anchors=["Reefs"]))
        crawl.record(source, b"", [])
        crawl.page("http://a.test/", links=[("http://a.test/2", "next", 0.5)])
        crawl.page("http://a.test/2")
    out = io.BytesIO()
    export(tmp_path / "crawl", stdout=out)
    rows = [json.loads(line) for line in out.getvalue().splitlines()]
    assert [(1, source.node, "Reefs"), (2, "http://a.test/", "next")] == [
        (row["depth"], row["parent"], row["anchor"]) for row in rows
    ]
