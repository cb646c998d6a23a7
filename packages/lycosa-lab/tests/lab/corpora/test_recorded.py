from __future__ import annotations

import gzip
import os
import zipfile
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

import lycosa
from commands import run
from input_errors import raises_input_error
from lycosa.core.errors import InputError
from lycosa.core.types import Links, Visit
from lycosa.store.log import NAME, SqliteLog
from lycosa.testweb import Server, Web, serve
from lycosa.training.corpus import Account
from lycosa.web.html import extract
from lycosa_lab.corpora.loading import make_index
from lycosa_lab.corpora.recorded import crawl
from lycosa_lab.corpus_index import CorpusIndex
from replay_helpers import http_answer, record, write


def html(*links: str, text: str = "coral reefs") -> bytes:
    return http_answer(f"<p>{text} {' '.join(f'<a href={link}>x</a>' for link in links)}".encode())


PAGES = [
    record("http://a.test/1", html("/2", "/old")),
    record("http://a.test/2", html("/1")),
    record("http://a.test/3", html("/2")),
]


def left_out(index: CorpusIndex) -> dict[str, int]:
    return dict(index.facts["left_out"])


@pytest.mark.parametrize("ending", [".warc", ".warc.gz"])
def test_make_index_of_warc_compressed_or_not(tmp_path: Path, ending: str) -> None:
    file = write(
        tmp_path / f"crawl{ending}",
        record("", b"software: x\r\n", kind="warcinfo"),
        *PAGES,
        record("http://a.test/old", http_answer(b"", status="301 Moved", more="Location: /3\r\n")),
        record("http://a.test/gone", http_answer(status="404 Not Found")),
        record("http://a.test/cat.png", http_answer(kind="image/png")),
        record("http://a.test/robots.txt", http_answer(kind="text/plain")),
        record("http://a.test/1#again", html()),
        record("ftp://a.test/file", http_answer()),
        record("http://a.test/packed", http_answer(b"\x1f\x8bno", more="Content-Encoding: gzip\r\n")),
    )
    index = make_index([str(file)], tmp_path / "x")
    assert [f"http://a.test/{n}" for n in (1, 2, 3)] == list(index.names)
    assert [[1, 2], [0], [1]] == [index.children(node).tolist() for node in range(3)]
    assert {
        "recorded with status 404": 1,
        "neither HTML nor text": 1,
        "robots.txt": 1,
        "pages recorded more than once": 1,
        "answers to no GET of the web": 1,
        "with a body that can't be unpacked": 1,
    } == left_out(index)
    assert [] == index.facts["notes"]


@pytest.mark.parametrize("ending", [".warc", ".warc.gz"])
def test_make_index_counts_cut_off_records(tmp_path: Path, ending: str) -> None:
    file = write(tmp_path / f"x{ending}", *PAGES)
    file.write_bytes(file.read_bytes()[:-30])
    index = make_index([str(file)], tmp_path / "x")
    assert 2 == len(index)
    assert {"records cut off at the end of a file": 1} == left_out(index)
    assert "bytes are an incomplete record" in index.facts["notes"][0]


@pytest.mark.parametrize("place", [4, 60, 200])
def test_make_index_skips_damaged_records(tmp_path: Path, place: int) -> None:
    file = write(tmp_path / "x.warc.gz", *PAGES)
    content = bytearray(file.read_bytes())
    second = len(gzip.compress(PAGES[0], mtime=0)) + place
    content[second : second + 20] = b"\xff" * 20
    file.write_bytes(content)
    index = make_index([str(file)], tmp_path / "x")
    assert ["http://a.test/1", "http://a.test/3"] == list(index.names)
    assert {"damaged records": 1} == left_out(index)


def test_make_index_revisit_records_use_original_body(tmp_path: Path) -> None:
    digest = "WARC-Payload-Digest: sha1:AAAA\r\n"
    more = f"{digest}WARC-Refers-To-Target-URI: http://a.test/1\r\n"
    again = record("http://a.test/copy", http_answer(b""), kind="revisit", more=more)
    lost = record("http://a.test/lost", http_answer(b""), kind="revisit", more="WARC-Payload-Digest: sha1:BBBB\r\n")
    original = record("http://a.test/1", html("/copy", text="bleached"), more=digest)
    index = make_index([str(write(tmp_path / "x.warc", original, again, lost))], tmp_path / "x")
    assert ["http://a.test/1", "http://a.test/copy"] == list(index.names)
    assert "bleached" in index.page(1).text
    assert {"damaged records": 1} == left_out(index)


def test_make_index_reads_wacz_and_directory(tmp_path: Path) -> None:
    inside = tmp_path / "archives"
    inside.mkdir()
    data = write(tmp_path / "data.warc.gz", *PAGES)
    with zipfile.ZipFile(inside / "one.wacz", "w") as bundle:
        bundle.write(data, "archive/data.warc.gz")
    write(inside / "two.warc", record("http://b.test/", html("http://a.test/1")))
    (inside / "empty.warc.gz").write_bytes(b"")
    index = make_index([str(inside)], tmp_path / "x")
    assert ["http://a.test/1", "http://a.test/2", "http://a.test/3", "http://b.test/"] == list(index.names)
    assert [0] == index.children(3).tolist()
    assert ["left out" in note and "empty.warc.gz" in note for note in index.facts["notes"]] == [True]


@pytest.mark.parametrize(
    ("content", "why"),
    [
        (b"", "no WARC records"),
        (b"just text, and no archive", "no WARC records"),
        (gzip.compress(b"just text", mtime=0), "no WARC records"),
        (record("http://a.test/x", http_answer(kind="image/png")), "no pages: 1 neither HTML nor text"),
        (PAGES[0][:-40], "no page is recorded|no pages"),
    ],
)
def test_make_index_without_pages_is_error(tmp_path: Path, content: bytes, why: str) -> None:
    file = tmp_path / "x.warc"
    file.write_bytes(content)
    with pytest.raises(InputError, match=why):
        make_index([str(file)], tmp_path / "x")
    assert not (tmp_path / "x").exists()


@pytest.fixture(scope="module")
def server() -> Iterator[Server]:
    with serve(Web(seed=7, pages=60, hosts=3, traps=()), record=False) as serving:
        yield serving


def crawled(server: Server, out: Path, seeds: Sequence[str], **more: object) -> Path:
    options = {"delay": 0.0, "allow_network": ["127.0.0.0/8"], "budget": 30, "strategy": "breadth-first", **more}
    assert 30 == sum(visit.is_page for visit in lycosa.crawl("coral reef", seeds, out=out, **options))  # type: ignore[arg-type]
    return out


def test_make_index_of_past_crawl_reads_its_labels(
    server: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = crawled(server, tmp_path / "crawl", list(server.web.urls()))
    bare = make_index([str(path)], tmp_path / "x")
    first, second = list(bare.names)[:2]
    assert any("has no labels" in note for note in bare.facts["notes"])
    (tmp_path / "labels.tsv").write_text(f"{first}\tSea\n")
    assert [] == make_index([str(path)], tmp_path / "x", labels=tmp_path / "labels.tsv").facts["notes"]
    for url, answer in ((first, "--no"), (first, "--yes"), (second, "--no")):
        assert 0 == run(monkeypatch, "label", str(path), answer, url)
    index = make_index([str(path)], tmp_path / "x")
    assert (30, ["irrelevant", "relevant"]) == (len(index), index.classes)
    assert [[first], [second]] == [
        [index.names[int(node)] for node in index.of_class(name).nonzero()[0]] for name in ("relevant", "irrelevant")
    ]
    links = extract(server.web.response(first).body, first).links.urls
    inside = [url for url in dict.fromkeys(links) if url in index.number_of and url != first]
    assert inside == [index.names[int(child)] for child in index.children(0)]


def test_crawl_yields_redirects(server: Server, tmp_path: Path) -> None:
    path = crawled(server, tmp_path / "crawl", list(server.web.urls()))
    log = SqliteLog(path / NAME)
    log.append(Visit("http://old.test/", "redirect", "redirect", 99, links=Links.to("http://new.test/")))
    log.close()
    found = [recorded for recorded in crawl(path, Account(), lambda url: True) if recorded.page is None]
    assert [("http://old.test/", "http://new.test/")] == [(recorded.url, recorded.target) for recorded in found]


def test_make_index_damaged_crawl_archive_is_counted(server: Server, tmp_path: Path) -> None:
    path = crawled(server, tmp_path / "crawl", list(server.web.urls()))
    log = SqliteLog(path / NAME)
    place = next(log.visits("kind = 'page' AND outcome = 'ok'")).place
    log.close()
    (file,) = (path / "archive").glob("*.warc.gz")
    content, middle = file.read_bytes(), place.offset + place.length // 2
    file.write_bytes(content[:middle] + b"\0" * 40 + content[middle + 40 :])
    index = make_index([str(path)], tmp_path / "x")
    lost = left_out(index)["damaged records"]
    assert (1, 30) == (lost, len(index) + lost)


def test_make_index_crawl_without_pages_is_error(tmp_path: Path) -> None:
    (tmp_path / "crawl.toml").write_text("")
    with raises_input_error("nothing-crawled"):
        make_index([str(tmp_path)], tmp_path / "x")


def test_make_index_of_file_tree_resolves_links(tmp_path: Path) -> None:
    root = tmp_path / "pages"
    (root / "Science" / "Physics").mkdir(parents=True)
    (root / "Art").mkdir()
    (root / "index.html").write_text(
        "<a href=Science/>s</a> <a href='Art/a%20b.htm'>a</a> <a href=http://x.test/>x</a>"
    )
    (root / "Science" / "index.html").write_text("<a href=Physics/light.html#top>l</a> <a href=../>home</a>")
    (root / "Science" / "Physics" / "light.html").write_text("<a href='/Art/a b.htm'>a</a> <a href=lost.html>l</a>")
    (root / "Art" / "a b.htm").write_text("<title>Lines</title>")
    (root / "Art" / "note.txt").write_text("no links")
    (root / "Art" / "cat.png").write_bytes(b"")
    index = make_index([str(root)], tmp_path / "x")
    names = [
        "file:///index.html",
        "file:///Art/a%20b.htm",
        "file:///Art/note.txt",
        "file:///Science/index.html",
        "file:///Science/Physics/light.html",
    ]
    assert names == list(index.names)
    assert [[3, 1], [], [], [4, 0], [1]] == [index.children(node).tolist() for node in range(5)]
    assert (["Art", "Science", "Science/Physics"], 2) == (index.classes, index.facts["dead"])
    assert {"neither HTML nor text": 1} == left_out(index)


def test_make_index_empty_directory_is_error(tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    with raises_input_error("nothing-to-do"):
        make_index([str(tmp_path / "empty")], tmp_path / "x")


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_make_index_unreadable_archive_is_error(tmp_path: Path) -> None:
    file = write(tmp_path / "x.warc", *PAGES)
    file.chmod(0)
    with pytest.raises((InputError, lycosa.core.errors.StoreError), match="cannot read"):
        make_index([str(file)], tmp_path / "x")
