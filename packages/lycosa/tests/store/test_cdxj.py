"""Tests of CDXJ indexes against the surt package, cdxj-indexer and pywb."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from random import Random

import pytest
import surt as reference

from held_port import held_port
from lycosa.collection.crawl_directory import CrawlDirectory
from lycosa.store import cdxj
from lycosa.web.inflate import inflate
from lycosa.web.urls import canonical
from synthetic_crawl import crawled, html, prose, real

WAYBACK = Path(sys.prefix) / "share" / "pywb" / "bin" / "wayback"

ADDRESSES = """
http://a.test https://www.A.test:443/x/ http://www12.a.test:443/x// http://a.test/a/./b/../c http://a.test/%7Euser/%2541
http://a.test/a?b=2&a=1 http://a.test/a? http://a.test/a?x=&a http://u:pw@a.test/ http://1.2.3.4/x http://[::1]:81/X
http://xn--bcher-kva.test/%C3%BC http://a.test/(S(0123456789abcdefghijklmn))/a.aspx?x=1 http://a.test/a?x=%26&&y=%3D
http://a.test/a?jsessionid=0123456789abcdef0123456789abcdef&x=1 http://a.test/a?cfid=1&cftoken=2&z=3 http://a.test/a%23b
http://a.test/?a=http://b.test/?c=d http://h.test/..//www...|%7e http://h.test/a//../B1 http://a.test/a+b;c?d+e
""".split()
PIECES = [
    "a",
    "B",
    "/",
    "//",
    ".",
    "..",
    "%20",
    "%7e",
    "%25",
    "%41",
    "?",
    "&",
    "=",
    "~",
    "%C3%BC",
    "%2F",
    "%3f",
    "|",
    "'",
]


def test_surt_key_equals_surt_package() -> None:
    random = Random(1)
    made = ["http://h.test/" + "".join(random.choices(PIECES, k=random.randint(0, 9))) for _ in range(2_000)]
    for address in ADDRESSES + made:
        for url in (address, canonical(address) or address):
            assert reference.surt(url) == cdxj.surt_key(url)


def _cdxj_indexer_lines(directory: Path, into: Path) -> bytes:
    """Return the index that cdxj-indexer writes for the files of a crawl."""
    script = "import sys; from cdxj_indexer.main import main; main(sys.argv[1:])"
    files = map(str, sorted((directory / "archive").glob("*.warc.gz")))
    subprocess.run([sys.executable, "-c", script, "--sort", "--output", str(into), *files], check=True)
    return into.read_bytes()


def test_parse_record_accepts_incomplete_status_lines() -> None:
    head = (
        b"WARC/1.1\r\nWARC-Type: response\r\nWARC-Target-URI: http://a.test/\r\nWARC-Date: 2026-11-17T15:13:36Z\r\n\r\n"
    )
    for line, status in (
        (b"HTTP/1.1 404 Not Found", "404"),
        (b"HTTP/1.1 200", "200"),
        (b"HTTP/1.1", ""),
        (b"<p>a b", ""),
    ):
        entry = cdxj.parse_record(head + line + b"\r\nServer: one of ours\r\n\r\n", 0, 1, "a.warc.gz")
        assert entry is not None
        assert entry.status == status


def test_index_equals_cdxj_indexer(tmp_path: Path) -> None:
    crawl = tmp_path / "crawl"
    with crawled(crawl, rotate=6_000) as made:
        made.other("http://a.test/robots.txt", "robots", body=b"User-agent: *\nAllow: /\n")
        for i in range(12):
            made.page(f"http://www.a.test/{i}/?b=2&a={i}", html(f"Page {i}", prose(i)), relevance=(i % 3) / 5)
        made.page("http://a.test/copy", html("Page 3", prose(3)))
        made.redirect("http://a.test/go", "http://a.test/1")
    whole = _cdxj_indexer_lines(crawl, tmp_path / "theirs.cdxj")
    indexes = sorted((crawl / "archive").glob("*.cdxj"))
    assert len(indexes) == len(list((crawl / "archive").glob("*.warc.gz"))) > 2
    assert sorted(whole.splitlines(True)) == sorted(b"".join(index.read_bytes() for index in indexes).splitlines(True))
    assert all(map(cdxj.parse_line, whole.splitlines()))


def test_update_index_repairs_and_extends(tmp_path: Path) -> None:
    with crawled(tmp_path / "crawl") as made:
        for i in range(8):
            made.page(f"http://{'hgfedcba'[i]}.test/", html(f"Page {i}", prose(i)))
    (index,) = (tmp_path / "crawl" / "archive").glob("*.cdxj")
    (file,) = (tmp_path / "crawl" / "archive").glob("*.warc.gz")
    whole, end = index.read_bytes(), file.stat().st_size
    entries = sorted(filter(None, map(cdxj.parse_line, whole.splitlines(True))), key=lambda entry: entry.offset)
    lines, last = [entry.line for entry in entries], entries[6:]
    cut_off = last[1]._replace(key="test,zz)/", offset=last[0].offset, length=end - last[0].offset)
    foreign = lines[0].replace(b'", "offset"', b'",  "offset"')
    for old in (
        b"",
        b"".join(sorted(lines[:6])),
        b"".join(sorted(lines[:3])),
        b"".join(sorted([*lines[:6], cut_off.line])),
        b"".join(lines[:6]),
        b"".join(sorted([*lines[1:6], foreign])),
        b"".join(sorted(lines[:6]))[:-9],
        b"".join(sorted([*lines[:6], lines[2]])),
    ):
        for fresh in (last, []):
            index.write_bytes(old)
            if cut_off.line in old and not fresh:
                continue  # such a record could belong to the file
            cdxj.update_index(file, end, fresh)
            assert whole == index.read_bytes(), (old, fresh)


@pytest.fixture(scope="module")
def reefs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Crawl the embedded web."""
    return real(tmp_path_factory.mktemp("crawl") / "reefs")


@pytest.fixture
def port() -> Iterator[int]:
    """Reserve a port for pywb."""
    with held_port() as port:
        yield port


@pytest.mark.skipif(
    not WAYBACK.exists() and os.environ.get("CI") != "true", reason="no pywb: tools/pywb installs it beside the tests"
)
def test_pywb_replays_crawl(reefs: Path, tmp_path: Path, port: int) -> None:
    collection = tmp_path / "collections" / "reefs"
    collection.mkdir(parents=True)
    (collection / "archive").symlink_to(reefs / "archive")
    (collection / "indexes").mkdir()
    for index in (reefs / "archive").glob("*.cdxj"):
        (collection / "indexes" / index.name).symlink_to(index)
    base = f"http://127.0.0.1:{port}/reefs"
    with open(tmp_path / "log", "wb") as log:
        pywb = subprocess.Popen(
            [str(WAYBACK), "-d", str(tmp_path), "-b", "127.0.0.1", "-p", str(port)], stdout=log, stderr=log
        )
    try:
        while True:
            assert pywb.poll() is None, (tmp_path / "log").read_text()
            try:
                urllib.request.urlopen(f"http://127.0.0.1:{port}/", timeout=30).close()
                break
            except OSError:
                time.sleep(0.05)
        with CrawlDirectory(reefs) as crawl:
            visits = [visit for visit in crawl.log.visits("warc_file != ''") if visit.outcome in ("ok", "redirect")]
            shown = [visit for visit in visits if visit.kind == "page"][::4]
            rules = next(visit for visit in visits if visit.kind == "robots")
            for visit in shown:
                exchange = crawl.exchange(visit)
                assert exchange is not None
                body, _ = inflate(exchange.body, exchange.header("content-encoding"), 10_000_000)
                with urllib.request.urlopen(f"{base}/{cdxj.format_date(visit.started)}id_/{visit.node}") as answer:
                    got, _ = inflate(answer.read(), answer.headers.get("content-encoding", ""), 10_000_000)
                assert body == got
            with urllib.request.urlopen(f"{base}/cdx?url={rules.node}") as answer:
                entry = cdxj.parse_line(answer.readline())
            assert entry is not None
            assert (rules.node, str(rules.status)) == (entry.url, entry.status)
            assert 10 < len(shown)
    finally:
        pywb.send_signal(signal.SIGKILL)
        pywb.wait()
