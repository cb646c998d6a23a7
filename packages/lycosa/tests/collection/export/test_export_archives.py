"""WARC and WACZ: copied byte for byte, whole for others' readers, and found again by the index."""

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
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import IO

import pytest
import surt as reference
from warcio.archiveiterator import ArchiveIterator
from warcio.checker import Checker

from input_errors import raises_input_error
from lycosa.collection.crawl_directory import CrawlDirectory
from lycosa.collection.export import export, wacz
from lycosa.collection.export.selection import Selection
from lycosa.core.errors import DamagedError, StoreError
from synthetic_crawl import crawled, html, many, prose


def records(path: Path) -> list[tuple[str, dict[str, str], bytes]]:
    """All records as warcio reads them: type, WARC headers, payload."""
    found = []
    with open(path, "rb") as file:
        for record in ArchiveIterator(file, check_digests="raise"):
            found.append((record.rec_type, dict(record.rec_headers.headers), record.raw_stream.read()))
    return found


def check(path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Let `warcio check` verify all digests."""

    class Command:
        inputs = (str(path),)
        verbose = True

    checker = Checker(Command())
    checker.process_all()
    assert not checker.exit_value, capsys.readouterr().out
    assert "digest pass" in capsys.readouterr().out


def piped(write: Callable[[IO[bytes]], object], file: IO[bytes]) -> None:
    """What is written where nobody can go back."""
    reading, writing = os.pipe()
    with open(reading, "rb") as pieces:
        copying = threading.Thread(target=lambda: shutil.copyfileobj(pieces, file))
        copying.start()
        with open(writing, "wb") as out:
            write(out)
        copying.join()


def validate(*paths: Path) -> list[int]:
    """The verdicts of the `wacz` tool, 0 for valid; in a process of its own, since it leaves files open."""
    script = "import sys; from wacz.main import main; print([main(['validate', '-f', p]) for p in sys.argv[1:]])"
    ran = subprocess.run([sys.executable, "-c", script, *map(str, paths)], capture_output=True, text=True, check=True)
    verdicts: list[int] = json.loads(ran.stdout.splitlines()[-1])
    return verdicts


# -- WARC --------------------------------------------------------------------------------------------------


@pytest.fixture
def mixed(tmp_path: Path) -> Path:
    """Relevant pages and others, robots.txt, a redirect, a failure, a compressed page; over several files."""
    with crawled(tmp_path / "crawl", rotate=4_000) as crawl:
        crawl.other("http://a.test/robots.txt", "robots", body=b"User-agent: *\nAllow: /\n")
        for i in range(30):
            crawl.page(f"http://a.test/{i}", html(f"Page {i}", prose(i)), relevance=(i % 3) / 5)
        crawl.redirect("http://a.test/go", "http://a.test/1")
        crawl.other("http://a.test/gone", "page", "gone", b"gone")
        packed = gzip.compress(html("Packed", prose(99)).encode() * 5)
        crawl.page(
            "http://a.test/gz", packed, headers=[(b"Content-Encoding", b"gzip"), (b"Content-Type", b"text/html")]
        )
    return tmp_path / "crawl"


def test_a_warc_has_the_relevant_pages_only(mixed: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Responses and requests of the relevant pages are there, tied together, and nothing else but warcinfo."""
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


def test_records_are_copied_byte_for_byte(mixed: Path, tmp_path: Path) -> None:
    """Apart from its first record, the export is made of pieces of the archive."""
    export(mixed, tmp_path / "p.warc.gz")
    archive = b"".join(path.read_bytes() for path in sorted((mixed / "archive").glob("*.warc.gz")))
    members = list(split((tmp_path / "p.warc.gz").read_bytes()))
    assert 1 + 21 * 2 < len(members)
    for member in members[1:]:
        assert member in archive


def split(data: bytes) -> Iterator[bytes]:
    """The gzip members of a file."""
    while data:
        stream = zlib.decompressobj(31)
        stream.decompress(data)
        assert stream.eof
        yield data[: len(data) - len(stream.unused_data)]
        data = stream.unused_data


@pytest.mark.parametrize("packed", [False, True])
def test_a_revisit_without_its_original_gets_the_body(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], packed: bool
) -> None:
    """A revisit whose original is not exported becomes a response; exported with its original it stays a revisit."""
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


def test_a_revisit_of_something_that_is_no_page_gets_the_body(tmp_path: Path) -> None:
    """The body may have come first with a robots.txt, which is never exported."""
    with crawled(tmp_path / "crawl") as crawl:
        crawl.other("http://a.test/robots.txt", "robots", body=b"coral reefs")
        crawl.page("http://a.test/", b"coral reefs", headers=[(b"Content-Type", b"text/plain")])
    export(tmp_path / "crawl", tmp_path / "p.warc.gz", everything=True, copies=True)
    answers = [record for record in records(tmp_path / "p.warc.gz") if record[0] != "warcinfo"]
    assert [("response", b"coral reefs"), ("request", b"")] == [(kind, body) for kind, _, body in answers]


@pytest.mark.parametrize("name", ["p.warc.gz", "p.wacz", "p.txt"])
def test_without_an_archive_there_is_nothing_to_copy(tmp_path: Path, name: str) -> None:
    """Archives and texts of a crawl that kept no archive are refused, with what works instead."""
    with crawled(tmp_path / "crawl", archive=False) as crawl:
        crawl.page("http://a.test/")
    with raises_input_error("no-archive", match="choose jsonl, csv or parquet"):
        export(tmp_path / "crawl", tmp_path / name)
    assert ["crawl"] == [path.name for path in tmp_path.iterdir()]


def test_pages_that_are_not_archived_are_counted(tmp_path: Path) -> None:
    """Where only some pages are in the archive, those are exported, and the user learns of the others."""
    with crawled(tmp_path / "crawl") as crawl:
        crawl.page("http://a.test/", html("A", prose(1)))
        crawl._archive = None
        crawl.page("http://b.test/", html("B", prose(2)))
    for name in ("p.warc.gz", "p.wacz"):
        done = export(tmp_path / "crawl", tmp_path / name)
        assert (1, ["left out: 1 page without a record in the archive"]) == (done.pages, done.remarks)


@pytest.mark.parametrize(
    ("name", "harm"), [("p.warc.gz", "cut"), ("p.warc.gz", "overwritten"), ("p.wacz", "missing"), ("p.jsonl", "cut")]
)
def test_a_damaged_archive_is_an_error(tmp_path: Path, name: str, harm: str) -> None:
    """A record that can't be read whole ends the export with the file's name; an older export stays."""
    many(tmp_path / "crawl", 20)
    (tmp_path / name).write_text("before")
    file = min((tmp_path / "crawl" / "archive").glob("*.warc.gz"))
    if harm == "missing":
        file.unlink()
    else:
        raw = file.read_bytes()
        half = len(raw) // 2
        file.write_bytes(raw[:half] if harm == "cut" else raw[:half] + b"\0" * (len(raw) - half))
    with pytest.raises((DamagedError, StoreError), match=rf"{file.name}.*backup"):
        export(tmp_path / "crawl", tmp_path / name)
    assert "before" == (tmp_path / name).read_text()
    assert sorted(["crawl", name]) == sorted(path.name for path in tmp_path.iterdir())


# -- WACZ --------------------------------------------------------------------------------------------------


def index_of(path: Path) -> list[tuple[str, str, dict[str, str]]]:
    """The index of a WACZ, block by block, as its summary says where they are: key, time, fields."""
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


def test_the_wacz_tool_finds_them_valid(
    mixed: Path, reefs: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """`wacz validate` passes for a crawl by hand and a real one, large and empty; it does fail for a changed page."""
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
    with open(tmp_path / "sent.wacz", "wb") as file, CrawlDirectory(mixed) as collection:  # as the server sends it
        piped(lambda out: wacz.write(Selection(collection, versions=True), out), file)
    names = ["mixed.wacz", "reefs.wacz", "all.wacz", "empty.wacz", "large.wacz", "sent.wacz", "changed.wacz"]
    assert [0, 0, 0, 0, 0, 0, 1] == validate(*(tmp_path / name for name in names))


def test_every_page_is_found_by_the_index(reefs: Path, tmp_path: Path) -> None:
    """Each page of the list has a line in the index, and at its offset warcio reads that very page."""
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


def test_the_index_is_the_one_that_others_make(mixed: Path, tmp_path: Path) -> None:
    """cdxj-indexer, given the archive inside, comes to the same lines."""
    with crawled(tmp_path / "more") as crawl:  # with a revisit
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
def test_keys_are_those_of_the_surt_package(url: str) -> None:
    """Host names turned round, in lower case, without www, parameters in order."""
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
def test_keys_where_readers_differ_are_those_of_replayweb_page(url: str, key: str) -> None:
    """The surt package also drops a slash at the end; ReplayWeb.page, which looks the keys up, does not."""
    assert key == wacz.surt(url)


def test_compressed_files_are_stored_as_they_are(mixed: Path, tmp_path: Path) -> None:
    """Readers seek in the WARC and its index: neither is compressed once more."""
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
def test_large_packages(mixed: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, limit: int) -> None:
    """Beyond the limit sizes take 64 bits. Below it, ReplayWeb.page may not be misled about where a file begins.

    It takes a file to begin right behind its name, unless the directory has an extra field for it.
    """
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
        wide = zipped.getinfo("archive/data.warc.gz").extra.startswith(b"\x01\x00")  # the field with 64-bit sizes
    assert wide == (limit == 5_000)


def test_the_index_is_in_sorted_blocks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Lines are in the order of bytes over all blocks."""
    monkeypatch.setattr(wacz, "LINES_PER_BLOCK", 7)
    export(many(tmp_path / "crawl", 60), tmp_path / "p.wacz")
    keys = [key for key, _, _ in index_of(tmp_path / "p.wacz")]
    assert sorted(wacz.surt(f"http://a.test/{i}") for i in range(60)) == keys
    with zipfile.ZipFile(tmp_path / "p.wacz") as zipped:
        assert 1 + 9 == zipped.read("indexes/index.idx").count(b"\n")
