"""Tests of the WARC export."""

from __future__ import annotations

import gzip
import zlib
from collections.abc import Iterator
from pathlib import Path

import pytest
from warcio.archiveiterator import ArchiveIterator
from warcio.checker import Checker

from input_errors import raises_input_error
from lycosa.collection.export import export
from lycosa.core.errors import DamagedError, StoreError
from synthetic_crawl import crawled, html, many, prose


def records(path: Path) -> list[tuple[str, dict[str, str], bytes]]:
    """Return all records as warcio reads them: type, WARC headers, payload."""
    found = []
    with open(path, "rb") as file:
        for record in ArchiveIterator(file, check_digests="raise"):
            found.append((record.rec_type, dict(record.rec_headers.headers), record.raw_stream.read()))
    return found


def check(path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Verify all digests with `warcio check`."""

    class Command:
        inputs = (str(path),)
        verbose = True

    checker = Checker(Command())
    checker.process_all()
    assert not checker.exit_value, capsys.readouterr().out
    assert "digest pass" in capsys.readouterr().out


def test_warc_contains_relevant_pages_only(mixed: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    done = export(mixed, tmp_path / "p.warc.gz")
    found = records(tmp_path / "p.warc.gz")
    urls = [f"http://a.test/{i}" for i in range(30) if i % 3] + ["http://a.test/gz"]
    assert len(urls) == done.pages
    assert urls == [fields["WARC-Target-URI"] for kind, fields, _ in found if kind == "response"]
    assert urls == [fields["WARC-Target-URI"] for kind, fields, _ in found if kind == "request"]
    ids = {fields["WARC-Record-ID"] for _, fields, _ in found}
    assert len(ids) == len(found)
    for kind, fields, _ in found:
        assert kind == "warcinfo" or fields["WARC-Warcinfo-ID"] in ids
        assert kind != "request" or fields["WARC-Concurrent-To"] in ids
    assert "p.warc.gz" == found[0][1]["WARC-Filename"]
    assert b"topic: coral reefs" in found[0][2]
    check(tmp_path / "p.warc.gz", capsys)


def test_warc_records_are_copied_unchanged(mixed: Path, tmp_path: Path) -> None:
    export(mixed, tmp_path / "p.warc.gz")
    archive = b"".join(path.read_bytes() for path in sorted((mixed / "archive").glob("*.warc.gz")))
    members = list(split((tmp_path / "p.warc.gz").read_bytes()))
    assert 1 + 21 * 2 < len(members)
    for member in members[1:]:
        assert member in archive


def split(data: bytes) -> Iterator[bytes]:
    """Return the gzip members of a file."""
    while data:
        stream = zlib.decompressobj(31)
        stream.decompress(data)
        assert stream.eof
        yield data[: len(data) - len(stream.unused_data)]
        data = stream.unused_data


@pytest.mark.parametrize("packed", [False, True])
def test_warc_revisit_without_original_becomes_response(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], packed: bool
) -> None:
    body = html("Reefs", prose(1)).encode()
    headers = [(b"Content-Type", b"text/html"), (b"X-Last", b"kept")]
    if packed:
        body, headers = gzip.compress(body), [*headers, (b"Content-Encoding", b"gzip")]
    with crawled(tmp_path / "crawl") as crawl:
        crawl.page("http://a.test/", body, relevance=0.1, headers=headers)
        copy = crawl.page("http://b.test/", body, relevance=0.9, headers=headers)
    export(tmp_path / "crawl", tmp_path / "p.warc.gz")
    export(tmp_path / "crawl", tmp_path / "all.warc.gz", everything=True)
    (answer,) = [record for record in records(tmp_path / "p.warc.gz") if record[0] in ("response", "revisit")]
    assert ("response", "http://b.test/", body) == (answer[0], answer[1]["WARC-Target-URI"], answer[2])
    assert not [name for name in answer[1] if "Refers" in name or "Profile" in name]
    kept = [record for record in records(tmp_path / "all.warc.gz") if record[0] in ("response", "revisit")]
    assert ["response", "revisit"] == [record[0] for record in kept]
    assert answer[1]["WARC-Record-ID"] == kept[1][1]["WARC-Record-ID"]
    assert answer[1]["WARC-Date"] == kept[1][1]["WARC-Date"]
    assert copy.node == kept[1][1]["WARC-Target-URI"]
    with open(tmp_path / "p.warc.gz", "rb") as file:
        http = [dict(record.http_headers.headers) for record in ArchiveIterator(file) if record.rec_type == "response"]
    assert "kept" == http[0]["X-Last"]
    check(tmp_path / "p.warc.gz", capsys)
    check(tmp_path / "all.warc.gz", capsys)


def test_warc_revisit_of_robots_becomes_response(tmp_path: Path) -> None:
    with crawled(tmp_path / "crawl") as crawl:
        crawl.other("http://a.test/robots.txt", "robots", body=b"coral reefs")
        crawl.page("http://a.test/", b"coral reefs", headers=[(b"Content-Type", b"text/plain")])
    export(tmp_path / "crawl", tmp_path / "p.warc.gz", everything=True, copies=True)
    answers = [record for record in records(tmp_path / "p.warc.gz") if record[0] != "warcinfo"]
    assert [("response", b"coral reefs"), ("request", b"")] == [(kind, body) for kind, _, body in answers]


@pytest.mark.parametrize("name", ["p.warc.gz", "p.wacz", "p.txt"])
def test_export_without_archive_raises(tmp_path: Path, name: str) -> None:
    with crawled(tmp_path / "crawl", archive=False) as crawl:
        crawl.page("http://a.test/")
    with raises_input_error("no-archive", match="choose jsonl, csv or parquet"):
        export(tmp_path / "crawl", tmp_path / name)
    assert ["crawl"] == [path.name for path in tmp_path.iterdir()]


def test_export_counts_pages_missing_in_archive(tmp_path: Path) -> None:
    with crawled(tmp_path / "crawl") as crawl:
        crawl.page("http://a.test/", html("A", prose(1)))
        crawl._archive = None
        crawl.page("http://b.test/", html("B", prose(2)))
    for name in ("p.warc.gz", "p.wacz"):
        done = export(tmp_path / "crawl", tmp_path / name)
        assert (1, ["left out: 1 page without a record in the archive"]) == (done.pages, done.remarks)


@pytest.mark.parametrize(
    ("name", "damage"), [("p.warc.gz", "cut"), ("p.warc.gz", "overwritten"), ("p.wacz", "missing"), ("p.jsonl", "cut")]
)
def test_export_of_damaged_archive_raises(tmp_path: Path, name: str, damage: str) -> None:
    many(tmp_path / "crawl", 20)
    (tmp_path / name).write_text("before")
    file = min((tmp_path / "crawl" / "archive").glob("*.warc.gz"))
    if damage == "missing":
        file.unlink()
    else:
        raw = file.read_bytes()
        half = len(raw) // 2
        file.write_bytes(raw[:half] if damage == "cut" else raw[:half] + b"\0" * (len(raw) - half))
    with pytest.raises((DamagedError, StoreError), match=rf"{file.name}.*backup"):
        export(tmp_path / "crawl", tmp_path / name)
    assert "before" == (tmp_path / name).read_text()
    assert sorted(["crawl", name]) == sorted(path.name for path in tmp_path.iterdir())
