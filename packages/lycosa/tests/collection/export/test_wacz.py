"""Tests of the WACZ export."""

from __future__ import annotations

import gzip
import hashlib
import json
import os
import shutil
import subprocess
import sys
import threading
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import IO

import pytest
import surt as reference
from warcio.archiveiterator import ArchiveIterator

from lycosa.collection.crawl_directory import CrawlDirectory
from lycosa.collection.export import export, wacz
from lycosa.collection.export.selection import Selection
from synthetic_crawl import crawled, many, prose


def piped(write: Callable[[IO[bytes]], object], file: IO[bytes]) -> None:
    """Write to a file through a stream that cannot seek."""
    reading, writing = os.pipe()
    with open(reading, "rb") as pieces:
        copying = threading.Thread(target=lambda: shutil.copyfileobj(pieces, file))
        copying.start()
        with open(writing, "wb") as out:
            write(out)
        copying.join()


def validate(*paths: Path) -> list[int]:
    """Return the exit codes of the `wacz` tool, 0 for valid; in a separate process, since it leaves files open."""
    script = "import sys; from wacz.main import main; print([main(['validate', '-f', p]) for p in sys.argv[1:]])"
    ran = subprocess.run([sys.executable, "-c", script, *map(str, paths)], capture_output=True, text=True, check=True)
    verdicts: list[int] = json.loads(ran.stdout.splitlines()[-1])
    return verdicts


def index_of(path: Path) -> list[tuple[str, str, dict[str, str]]]:
    """Return the index of a WACZ, read through its summary: key, time, fields."""
    lines = []
    with zipfile.ZipFile(path) as zipped:
        packed = zipped.read("indexes/index.cdx.gz")
        meta, *blocks = zipped.read("indexes/index.idx").decode().splitlines()
        assert {"format": "cdxj-gzip-1.0", "filename": "index.cdx.gz"} == json.loads(meta.removeprefix("!meta 0 "))
        for block in blocks:
            start, _, place = block.partition(" {")
            where = json.loads("{" + place)
            part = packed[where["offset"] : where["offset"] + where["length"]]
            assert "sha256:" + hashlib.sha256(part).hexdigest() == where["digest"]
            text = gzip.decompress(part).decode()
            assert text.startswith(start + " {")
            lines += text.splitlines()
    cut = (line.split(" ", 2) for line in lines)
    return [(key, when, json.loads(fields)) for key, when, fields in cut]


def test_wacz_is_valid_for_wacz_tool(mixed: Path, reefs: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with crawled(tmp_path / "empty") as crawl:
        crawl.page("http://a.test/", "x", relevance=0.0)
    export(mixed, tmp_path / "mixed.wacz")
    export(reefs, tmp_path / "reefs.wacz")
    export(reefs, tmp_path / "all.wacz", everything=True, copies=True)
    assert 0 == export(tmp_path / "empty", tmp_path / "empty.wacz").pages
    monkeypatch.setattr(zipfile, "ZIP64_LIMIT", 5_000)
    export(mixed, tmp_path / "large.wacz")
    monkeypatch.undo()
    with zipfile.ZipFile(tmp_path / "mixed.wacz") as whole, zipfile.ZipFile(tmp_path / "changed.wacz", "w") as changed:
        for name in whole.namelist():
            changed.writestr(name, whole.read(name).replace(b'"title": "Page', b'"title": "Pane'))
    # The other file is written to a stream, as by the server.
    with open(tmp_path / "sent.wacz", "wb") as file, CrawlDirectory(mixed) as collection:
        piped(lambda out: wacz.write(Selection(collection, versions=True), out), file)
    names = ["mixed.wacz", "reefs.wacz", "all.wacz", "empty.wacz", "large.wacz", "sent.wacz", "changed.wacz"]
    assert [0, 0, 0, 0, 0, 0, 1] == validate(*(tmp_path / name for name in names))


def test_wacz_index_locates_every_page(reefs: Path, tmp_path: Path) -> None:
    export(reefs, tmp_path / "p.wacz", everything=True, copies=True)
    found = {(key, when): fields for key, when, fields in index_of(tmp_path / "p.wacz")}
    with zipfile.ZipFile(tmp_path / "p.wacz") as zipped:
        header, *pages = map(json.loads, zipped.read("pages/pages.jsonl").decode().splitlines())
        assert "json-pages-1.0" == header["format"]
        assert len(pages) == len(found) > 40
        assert len(pages) == len({page["id"] for page in pages})
        for page in pages:
            when = page["ts"].translate({ord(c): None for c in "-:TZ"})
            place = found[wacz.surt(page["url"]), when]
            with zipped.open(f"archive/{place['filename']}") as file:
                file.seek(int(place["offset"]))
                record = next(ArchiveIterator(file))
            assert page["url"] == place["url"] == record.rec_headers["WARC-Target-URI"]
            assert place["digest"] == record.rec_headers["WARC-Payload-Digest"]
            assert page["ts"][:19] == record.rec_headers["WARC-Date"][:19]


def test_wacz_index_equals_cdxj_indexer(mixed: Path, tmp_path: Path) -> None:
    with crawled(tmp_path / "more") as crawl:  # contains a revisit
        crawl.page("http://a.test/1", "<p>" + prose(1))
        crawl.page("http://a.test/2", "<p>" + prose(1))
    for crawl in (mixed, tmp_path / "more"):
        export(crawl, tmp_path / "p.wacz")
        with zipfile.ZipFile(tmp_path / "p.wacz") as zipped:
            zipped.extract("archive/data.warc.gz", tmp_path)
        script = "import sys; from cdxj_indexer.main import main; main(sys.argv[1:])"
        arguments = ["--sort", "--output", str(tmp_path / "theirs.cdxj"), str(tmp_path / "archive" / "data.warc.gz")]
        subprocess.run([sys.executable, "-c", script, *arguments], check=True)
        theirs = [line.split(" ", 2) for line in (tmp_path / "theirs.cdxj").read_text().splitlines()]
        assert [(key, when, json.loads(fields)) for key, when, fields in theirs] == index_of(tmp_path / "p.wacz")


@pytest.mark.parametrize(
    "url",
    [
        "http://a.test/",
        "https://www.a.test/",
        "http://www2.a.test/x",
        "http://a.b.test:8080/X/Y.html",
        "http://a.test/x?b=2&a=1",
        "http://a.test/x?q=Coral%20Reef&Z",
        "http://a.test/%C3%A9",
        "http://127.0.0.1:81/a",
        "http://xn--bcher-kva.test/a;b",
        "http://wwww.test/",
        "http://a.test/a?",
    ],
)
def test_surt_equals_surt_package(url: str) -> None:
    assert reference.surt(url) == wacz.surt(url)


@pytest.mark.parametrize(
    ("url", "key"),
    [
        ("http://a.test/x/", "test,a)/x/"),
        ("http://a.test/a//b", "test,a)/a//b"),
        ("http://[::1]:81/X", "[::1]:81)/x"),
        ("notes/a", "notes/a"),
    ],
)
def test_surt_follows_replayweb_page(url: str, key: str) -> None:
    assert key == wacz.surt(url)


def test_wacz_stores_compressed_files(mixed: Path, tmp_path: Path) -> None:
    export(mixed, tmp_path / "p.wacz")
    with zipfile.ZipFile(tmp_path / "p.wacz") as zipped:
        how = {info.filename: info.compress_type for info in zipped.infolist()}
        assert zipfile.ZIP_STORED == how["archive/data.warc.gz"] == how["indexes/index.cdx.gz"]
        assert {
            "archive/data.warc.gz",
            "indexes/index.cdx.gz",
            "indexes/index.idx",
            "pages/pages.jsonl",
            "datapackage.json",
            "datapackage-digest.json",
        } == set(how)


@pytest.mark.parametrize("limit", [zipfile.ZIP64_LIMIT, 5_000])
def test_wacz_large_entries_use_zip64(mixed: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, limit: int) -> None:
    monkeypatch.setattr(zipfile, "ZIP64_LIMIT", limit)
    export(mixed, tmp_path / "p.wacz")
    monkeypatch.undo()
    raw = (tmp_path / "p.wacz").read_bytes()
    with zipfile.ZipFile(tmp_path / "p.wacz") as zipped:
        for info in zipped.infolist():
            header = raw[info.header_offset : info.header_offset + 30]
            extra = int.from_bytes(header[28:30], "little")
            assert info.extra or not extra, info.filename
            start = info.header_offset + 30 + len(info.filename) + extra
            stored = raw[start : start + info.compress_size]
            assert info.compress_type or zipped.read(info) == stored
        wide = zipped.getinfo("archive/data.warc.gz").extra.startswith(b"\x01\x00")  # the ZIP64 field
    assert wide == (limit == 5_000)


def test_wacz_index_is_sorted_across_blocks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(wacz, "LINES_PER_BLOCK", 7)
    export(many(tmp_path / "crawl", 60), tmp_path / "p.wacz")
    keys = [key for key, _, _ in index_of(tmp_path / "p.wacz")]
    assert sorted(wacz.surt(f"http://a.test/{i}") for i in range(60)) == keys
    with zipfile.ZipFile(tmp_path / "p.wacz") as zipped:
        assert 1 + 9 == zipped.read("indexes/index.idx").count(b"\n")
