"""Tests of exports of changed pages."""

from __future__ import annotations

import gzip
import io
import json
import zipfile
from pathlib import Path

import pandas
import pytest
from warcio.archiveiterator import ArchiveIterator

from input_errors import raises_input_error
from lycosa.collection.export import export
from lycosa.core.types import ArchivePlace
from lycosa.replay.recording import Recording
from revisited_crawl import html, revisited

A, B, C, D = (f"http://a.test/{name}" for name in "abcd")
LONG = " ".join(f"coral{n}" for n in range(80))


@pytest.fixture
def crawl(tmp_path: Path) -> Path:
    """Write a crawl: A changes twice (finally to the content of B), B is revisited and vanishes, C is irrelevant."""
    path = tmp_path / "crawl"
    with revisited(path) as made:
        made.page(A, html("First", "An axolotl. " + LONG))
        made.page(B, html("B", "A newt. " + LONG))
        made.page(C, html("C", "A toad."), relevance=0.0)
        made.unmodified(A, 1)
        made.same(B, html("B", "A newt. " + LONG), 1)
        made.changed(A, html("Second", "A salamander. " + LONG), 2, links=[D])
        made.page(D, html("D", "A frog, found on the new version."), 2)
        made.unmodified(A, 3)
        made.changed(A, html("B", "A newt. " + LONG), 4, "cosmetic")
        made.gone(B, 5)
        made.unmodified(C, 5)
    return path


def table(path: Path, **options: str) -> list[dict[str, object]]:
    out = io.BytesIO()
    export(path, None, "jsonl", stdout=out, **options)  # type: ignore[arg-type]
    return [json.loads(row) for row in out.getvalue().splitlines()]


def test_tables_have_current_versions(crawl: Path) -> None:
    rows = {str(row["url"]): row for row in table(crawl)}
    assert {A, B, D} == set(rows)
    assert "newt" in str(rows[A]["text"])
    columns = {url: [row[name] for name in ("version", "versions", "changed", "standing")] for url, row in rows.items()}
    assert [3, 3, "2026-01-03T00:00:00.000Z", "stands"] == columns[A]  # day 2, as the last change was cosmetic
    assert [1, 1, None, "vanished"] == columns[B]
    assert [A, f"to {D}"] == [rows[D]["parent"], rows[D]["anchor"]]  # the parent linked to it in its second version


def test_tables_list_all_versions_on_request(crawl: Path, tmp_path: Path) -> None:
    rows = table(crawl, versions="all")
    assert [("First", 1), ("B", 1), ("Second", 2), ("D", 1), ("B", 3)] == [
        (row["title"], row["version"]) for row in rows
    ]
    done = export(crawl, tmp_path / "t.csv", versions="all")
    export(crawl, tmp_path / "t.parquet", versions="all")
    assert (5, True) == (done.pages, done.versions)
    commas, parquet = pandas.read_csv(tmp_path / "t.csv"), pandas.read_parquet(tmp_path / "t.parquet")
    assert [row["version"] for row in rows] == list(commas["version"]) == list(parquet["version"])
    assert "stands" == parquet["standing"][0]


def test_text_has_current_versions_only(crawl: Path, tmp_path: Path) -> None:
    export(crawl, tmp_path / "corpus.txt")
    text = (tmp_path / "corpus.txt").read_text()
    assert ("newt" in text, "frog" in text, "axolotl" in text) == (True, True, False)
    with raises_input_error("conflicting-options", match="jsonl, csv, parquet, warc, wacz"):
        export(crawl, tmp_path / "t.txt", versions="all")
    with raises_input_error("bad-value"):
        export(crawl, tmp_path / "t.csv", versions="some")


def kinds(path: Path) -> list[tuple[str, str, str]]:
    """Return type, URL and profile of the response records."""
    with open(path, "rb") as file:
        return [
            (
                record.rec_type,
                record.rec_headers.get_header("WARC-Target-URI"),
                (record.rec_headers.get_header("WARC-Profile") or "").rpartition("/")[2],
            )
            for record in ArchiveIterator(file)
            if record.rec_type in ("response", "revisit")
        ]


def test_warc_has_all_versions_and_revisits(crawl: Path, tmp_path: Path) -> None:
    done = export(crawl, tmp_path / "w.warc.gz")
    same, unmodified = "identical-payload-digest", "server-not-modified"
    assert [
        ("response", A, ""),
        ("response", B, ""),
        ("revisit", A, unmodified),
        ("revisit", B, same),
        ("response", A, ""),
        ("response", D, ""),
        ("revisit", A, unmodified),
        ("revisit", A, same),
    ] == kinds(tmp_path / "w.warc.gz")
    assert (5, ["and 3 revisits without changes"]) == (done.pages, done.remarks)
    with open(tmp_path / "w.warc.gz", "rb") as file:
        heads = [record.rec_headers for record in ArchiveIterator(file) if record.rec_type in ("response", "revisit")]
    there = {(head.get_header("WARC-Target-URI"), head.get_header("WARC-Date")) for head in heads}
    wanted = {
        (head.get_header("WARC-Refers-To-Target-URI"), head.get_header("WARC-Refers-To-Date"))
        for head in heads
        if head.get_header("WARC-Type") == "revisit"
    }
    assert wanted <= there
    with Recording([tmp_path / "w.warc.gz"]) as recording:
        answer = recording.find(A)
        assert answer is not None
        assert b"newt" in answer.body


def test_warc_of_current_versions_has_bodies(crawl: Path, tmp_path: Path) -> None:
    done = export(crawl, tmp_path / "w.warc.gz", versions="current")
    assert [("response", B, ""), ("response", D, ""), ("revisit", A, "identical-payload-digest")] == kinds(
        tmp_path / "w.warc.gz"
    )
    assert (3, []) == (done.pages, done.remarks)


def test_warc_drops_revisit_of_missing_version(tmp_path: Path) -> None:
    with revisited(tmp_path / "kept") as made:
        first = made.page(A, html("A", LONG))
        made.unmodified(A, 1)
    export(tmp_path / "kept", tmp_path / "w.warc.gz")
    assert [("response", A, ""), ("revisit", A, "server-not-modified")] == kinds(tmp_path / "w.warc.gz")
    with revisited(tmp_path / "lost") as made:
        first.place = ArchivePlace()
        made.log.append(first)
        made._follows[A] = first.started
        made.unmodified(A, 1)
        made.page(B, html("B", LONG))
    export(tmp_path / "lost", tmp_path / "x.warc.gz")
    assert [("response", B, "")] == kinds(tmp_path / "x.warc.gz")


def test_wacz_lists_all_versions(crawl: Path, tmp_path: Path) -> None:
    export(crawl, tmp_path / "p.wacz")
    with zipfile.ZipFile(tmp_path / "p.wacz") as package:
        pages = [json.loads(row) for row in package.read("pages/pages.jsonl").splitlines()[1:]]
        assert ["First", "B", "Second", "D", "B"] == [page["title"] for page in pages]
        index = gzip.decompress(package.read("indexes/index.cdx.gz")).decode().splitlines()
    assert 6 == len(index)  # 5 versions, and a revisit of B with the same bytes
    assert not any('"status": "304"' in row for row in index)
