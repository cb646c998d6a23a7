"""Tests of every export format on a real crawl, read back by third-party tools."""

from __future__ import annotations

import gzip
from pathlib import Path
from zipfile import ZipFile

import pandas
import pytest
from warcio.archiveiterator import ArchiveIterator

from lycosa.collection.export import FORMATS, export
from lycosa.collection.summary import summarise
from lycosa.core.table import Table
from lycosa.core.types import Seed, Visit
from lycosa.store.log import NAME, SqliteLog

EVERYTHING = {"everything": True}
COPIES = {"everything": True, "copies": True}
TEXT = {"digest": str, "simhash": str}


def events(directory: Path) -> list[object]:
    log = SqliteLog(directory / NAME, readonly=True)
    try:
        return list(log)
    finally:
        log.close()


def expected(directory: Path, everything: bool = False, copies: bool = False) -> list[Visit]:
    """Return the pages that the log says should be exported."""
    threshold = 0.0 if everything else summarise(directory).threshold
    pages = [event for event in events(directory) if isinstance(event, Visit) and event.is_page]
    return [page for page in pages if page.relevance_now >= threshold and (copies or not page.same_as)]


def test_default_selection_is_relevant_pages(reefs: Path) -> None:
    summary = summarise(reefs)
    assert 0 < summary.relevant < summary.pages
    assert summary.relevant == len(expected(reefs))
    assert summary.pages == len(expected(reefs, everything=True, copies=True))


@pytest.mark.parametrize(
    ("name", "scope"),
    [("t.jsonl", {}), ("t.jsonl.gz", EVERYTHING), ("t.csv", COPIES), ("t.csv.gz", EVERYTHING), ("t.parquet", {})],
)
def test_tables_are_read_by_pandas(reefs: Path, tmp_path: Path, name: str, scope: dict[str, bool]) -> None:
    done = export(reefs, tmp_path / name, **scope)
    if "jsonl" in name:
        table = pandas.read_json(tmp_path / name, lines=True, precise_float=True, dtype=TEXT)
    elif "csv" in name:
        table = pandas.read_csv(tmp_path / name, dtype=TEXT, keep_default_na=False)
    else:
        table = pandas.read_parquet(tmp_path / name)
    pages = expected(reefs, **scope)
    assert len(pages) == done.pages == len(table)
    assert [page.node for page in pages] == table["url"].tolist()
    assert [page.relevance_now for page in pages] == table["relevance"].tolist()
    assert [page.digest.hex() for page in pages] == table["digest"].tolist()
    assert [f"{page.simhash:016x}" for page in pages] == table["simhash"].tolist()
    assert [len(page.links) for page in pages] == table["outlinks"].tolist()
    assert [page.place.offset for page in pages] == table["warc_offset"].tolist()
    assert [int(page.started) for page in pages] == [
        int(when.timestamp()) for when in pandas.to_datetime(table["fetched"], utc=True)
    ]
    assert summarise(reefs).relevant == int(((table["relevant"]) & (table["same_as"] == "")).sum())
    assert (table["text"].str.len() > 100).all()
    assert {"text/html", "text/html; charset=utf-8"} >= set(table["content_type"])


def test_tables_of_all_formats_agree(reefs: Path, tmp_path: Path) -> None:
    for name in ("t.jsonl", "t.csv", "t.parquet"):
        export(reefs, tmp_path / name)
    lines = pandas.read_json(tmp_path / "t.jsonl", lines=True, precise_float=True, dtype=TEXT)
    commas = pandas.read_csv(tmp_path / "t.csv", dtype=TEXT, keep_default_na=False)
    parquet = pandas.read_parquet(tmp_path / "t.parquet")
    assert str(parquet["fetched"].dtype).startswith("datetime64[")
    assert parquet["fetched"].dt.tz is not None
    lines["modified"] = lines["modified"].astype(object).where(lines["modified"].notna(), "")  # a date in pandas
    commas["pages"] = pandas.to_numeric(commas["pages"])
    for table in (lines, commas):
        for name in ("fetched", "changed"):
            table[name] = pandas.to_datetime(table[name], utc=True).astype(parquet[name].dtype)
        pandas.testing.assert_frame_equal(table, parquet, check_dtype=False)


def test_depth_and_parent_equal_crawl_table(reefs: Path, tmp_path: Path) -> None:
    table, links = Table(), {}
    for event in events(reefs):
        if isinstance(event, Seed):
            table.add_seed(event.node)
        elif isinstance(event, Visit):
            table.absorb(event)
            links[event.node] = event.links
    export(reefs, tmp_path / "t.jsonl", everything=True, copies=True)
    rows = pandas.read_json(tmp_path / "t.jsonl", lines=True).to_dict("records")
    assert rows
    for row in rows:
        number = table.row_of[row["url"]]
        parent = int(table.parent[number])
        assert (table.nodes[parent] if parent >= 0 else "") == row["parent"]
        assert table.depth[number] <= row["depth"]  # it may have become shorter later
        assert row["anchor"] in (links[row["parent"]].anchors if row["parent"] else [""])
    assert {0, 1, 2} <= {row["depth"] for row in rows}


@pytest.mark.parametrize("scope", [{}, COPIES])
def test_warc_is_read_by_warcio(reefs: Path, tmp_path: Path, scope: dict[str, bool]) -> None:
    done = export(reefs, tmp_path / "p.warc.gz", **scope)
    pages = expected(reefs, **scope)
    found: dict[str, list[str]] = {"answer": [], "request": []}
    with open(tmp_path / "p.warc.gz", "rb") as file:
        for record in ArchiveIterator(file, check_digests="raise"):
            if record.rec_type != "warcinfo":
                kind = "request" if record.rec_type == "request" else "answer"
                found[kind].append(record.rec_headers["WARC-Target-URI"])
                record.raw_stream.read()
    urls = [page.node for page in pages]
    assert len(urls) == done.pages
    assert {"answer": urls, "request": urls} == found


@pytest.mark.parametrize("scope", [{}, COPIES])
def test_wacz_lists_all_pages(reefs: Path, tmp_path: Path, scope: dict[str, bool]) -> None:
    export(reefs, tmp_path / "p.wacz", **scope)
    with ZipFile(tmp_path / "p.wacz") as zipped:
        table = pandas.read_json(zipped.open("pages/pages.jsonl"), lines=True)
    assert "json-pages-1.0" == table["format"][0]
    assert [page.node for page in expected(reefs, **scope)] == table["url"][1:].tolist()


@pytest.mark.parametrize("name", ["t.txt", "t.txt.gz"])
def test_text_contains_all_distinct_pages(reefs: Path, tmp_path: Path, name: str) -> None:
    done = export(reefs, tmp_path / name)
    raw = (tmp_path / name).read_bytes()
    text = (gzip.decompress(raw) if name.endswith(".gz") else raw).decode()
    left_out = sum(int(remark.split()[2]) for remark in done.remarks)
    assert done.pages == len(text.split("\n\n"))
    assert summarise(reefs).relevant == done.pages + left_out
    assert "\n\n\n" not in text


def test_markdown_contains_all_distinct_pages(reefs: Path, tmp_path: Path) -> None:
    done = export(reefs, tmp_path / "t.md")
    pages = (tmp_path / "t.md").read_text("utf-8").split("\n---\n")
    assert done.pages == len(pages) == export(reefs, tmp_path / "t.txt").pages
    nodes = {page.node for page in expected(reefs)}
    assert all(any(f"<{node}>" in page for node in nodes) for page in pages)


def test_formats_are_all_tested() -> None:
    others = {"records"}  # tested in test_text_records.py
    assert {"jsonl", "csv", "parquet", "warc", "wacz", "text", "markdown"} == set(FORMATS) - others
