from __future__ import annotations

import gzip
import io
import os
import tarfile
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from input_errors import raises_input_error
from lycosa.core.options import Options
from lycosa_lab.corpora import public
from lycosa_lab.corpora.loading import make_index
from lycosa_lab.corpora.public import CORPORA, download, members

LOCAL = Options(allow_network=["127.0.0.0/8"])


def tar(files: dict[str, bytes], *more: tarfile.TarInfo) -> bytes:
    """Return a compressed tar archive."""
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w:gz") as archive:
        for name, content in files.items():
            member = tarfile.TarInfo(name)
            member.size = len(content)
            archive.addfile(member, io.BytesIO(content))
        for member in more:
            archive.addfile(member)
    return out.getvalue()


PATHS = tar(
    {
        "wikispeedia_paths-and-graph/categories.tsv": (
            b"# Article categories.\n# FORMAT: article   category\n\n"
            b"%C3%85land\tsubject.Countries\n%C3%85land\tsubject.Geography.European_Geography\n"
            b"Bat\tsubject.Science.Biology.Mammals\nLost\tsubject.Science\n"
        ),
        "wikispeedia_paths-and-graph/links.tsv": b"Bat\t%C3%85land\n",
    }
)
ARTICLES = tar(
    {
        "wpcd/wp/%/%C3%85land.htm": b"<title>\xc3\x85land</title><a href='../../wp/b/Bat.htm'>Bat</a>"
        b'<h3 id="siteSub">Selection. Related subjects: <a href="../index/subject.Countries.htm">Countries</a></h3>',
        "wpcd/wp/b/Bat.htm": b"<a href='../../wp/%25/%25C3%2585land.htm'>A</a> <a href='../../index.htm'>home</a>",
        "wpcd/wp/index/alpha.htm": b"<a href='../b/Bat.htm'>Bat</a>",
        "wpcd/images/bat.png": b"png",
    }
)
WEBKB = tar(
    {
        "webkb/student/cornell/http:^^www.cs.cornell.edu^home^ann^": (
            b"MIME-Version: 1.0\nServer: CERN/3.0\nContent-Type: text/html\n\n<a href=/~bob.html>Bob</a>"
        ),
        "webkb/faculty/misc/http:^^www.cs.cornell.edu^~bob.html": b"Date: x\r\n\r\n<title>Bob</title>no more",
        "webkb/README": b"about",
    }
)
SNAP = gzip.compress(b"# Directed graph\n# FromNodeId\tToNodeId\n0\t11342\n0\t824020\n11342\t0\n824020\t0\n", mtime=0)


@dataclass
class Site:
    files: dict[str, bytes] = field(default_factory=dict)
    asked: list[str] = field(default_factory=list)
    cut: int = 0
    """Number of bytes after which a connection is closed; 0 means never."""
    measured: bool = True
    """Whether Content-Length is sent."""
    base: str = ""


@contextmanager
def serving(site: Site) -> Iterator[Site]:
    """Serve the site's files, with redirects below /moved/."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            name = self.path.rpartition("/")[2]
            site.asked.append(self.path)
            if self.path.startswith("/moved/"):
                self.send_response(302)
                away = {"loop": self.path, "private": "http://10.1.2.3/private"}
                self.send_header("Location", away.get(name, f"../{name}"))
                self.send_header("Content-Length", "0")
                self.end_headers()
                return
            content = site.files.get(name)
            if content is None:
                self.send_error(404)
                return
            self.send_response(200)
            if site.measured:
                self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            self.wfile.write(content[: site.cut or None])
            self.close_connection = True

        def log_message(self, *_: object) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        site.base = f"http://127.0.0.1:{server.server_address[1]}"
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        try:
            yield site
        finally:
            server.shutdown()
            thread.join()


@pytest.fixture
def site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Site]:
    """Serve all corpora; downloads go to a temporary cache."""
    files = {
        "wikispeedia_paths-and-graph.tar.gz": PATHS,
        "wikispeedia_articles_html.tar.gz": ARTICLES,
        "webkb-data.gtar.gz": WEBKB,
        "web-Google.txt.gz": SNAP,
    }
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path.with_name(f"{tmp_path.name}-cache")))
    monkeypatch.setattr(public, "Options", lambda: LOCAL)
    with serving(Site(files)) as running:
        for name, corpus in CORPORA.items():
            urls = tuple(f"{running.base}/{url.rpartition('/')[2]}" for url in corpus.urls)
            monkeypatch.setitem(CORPORA, name, replace(corpus, urls=urls))
        yield running


def test_make_index_downloads_wikispeedia_once(site: Site, tmp_path: Path) -> None:
    index = make_index(["public:wikispeedia"], tmp_path / "x")
    assert ["%25/%25C3%2585land.htm", "b/Bat.htm"] == [name.partition("/wp/")[2] for name in index.names]
    assert [[1], [0]] == [index.children(node).tolist() for node in range(2)]
    assert ["Countries", "Geography/European_Geography", "Science/Biology/Mammals"] == index.classes
    assert ([True, False], [False, True]) == (index.of_class("Geography").tolist(), index.of_class("Science").tolist())
    expected = {"lists of articles": 1, "neither HTML nor text": 1, "articles with categories, but no page": 1}
    assert expected == index.facts["left_out"]
    asked = len(site.asked)
    assert "countri" not in index.stems
    make_index(["public:wikispeedia"], tmp_path / "y")
    assert 2 == asked == len(site.asked)  # the second index needs no download


def test_make_index_reads_webkb(site: Site, tmp_path: Path) -> None:
    index = make_index(["public:webkb"], tmp_path / "x")
    names = ["http://www.cs.cornell.edu/home/ann/", "http://www.cs.cornell.edu/~bob.html"]
    assert (names, ["faculty", "student"]) == (list(index.names), index.classes)
    assert ([1], "Bob", "no more") == (index.children(0).tolist(), index.page(1).title, index.page(1).text.strip())
    assert {"files that are not pages": 1} == index.facts["left_out"]


def test_make_index_unknown_public_corpus_is_error(site: Site, tmp_path: Path) -> None:
    with raises_input_error("unknown-name", r"wikispeedia \(.*; webkb"):
        make_index(["public:wikipedia"], tmp_path / "x")
    (tmp_path / "mine").mkdir()
    with raises_input_error("file-exists"):
        make_index(["public:webkb"], tmp_path / "mine")
    assert [] == site.asked


def test_download_from_private_address_is_refused(site: Site, tmp_path: Path) -> None:
    with raises_input_error("fetch-failed", r"127\.0\.0\.1.*allow-network"):
        download(f"{site.base}/web-Google.txt.gz", tmp_path / "x", Options())
    assert [] == site.asked
    with raises_input_error("fetch-failed", r"10\.1\.2\.3"):
        download(f"{site.base}/moved/private", tmp_path / "x", LOCAL)
    assert [] == os.listdir(tmp_path)


def test_download_cut_off_is_error(site: Site, tmp_path: Path) -> None:
    url, output = f"{site.base}/web-Google.txt.gz", []
    site.cut = 50
    with raises_input_error("fetch-failed"):
        download(url, tmp_path / "x", LOCAL)
    assert [] == os.listdir(tmp_path)
    site.cut = 0
    download(url, tmp_path / "x", LOCAL, lambda what, done, total: output.append((done, total)))
    assert SNAP == (tmp_path / "x").read_bytes()
    assert (len(SNAP), len(SNAP)) == output[-1]
    asked = len(site.asked)
    download(url, tmp_path / "x", LOCAL)
    assert asked == len(site.asked)


def test_download_follows_redirects(site: Site, tmp_path: Path) -> None:
    assert SNAP == download(f"{site.base}/moved/web-Google.txt.gz", tmp_path / "x", LOCAL).read_bytes()
    with raises_input_error("fetch-failed", "loop"):
        download(f"{site.base}/moved/loop", tmp_path / "y", LOCAL)


def test_download_missing_or_too_large_is_error(site: Site, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with raises_input_error("fetch-failed", r"/nothing\.gz: 404"):
        download(f"{site.base}/nothing.gz", tmp_path / "x", LOCAL)
    monkeypatch.setattr(public, "MAX_DOWNLOAD_BYTES", 50)
    for site.measured in (True, False):
        with raises_input_error("fetch-failed", "more than 50 bytes"):
            download(f"{site.base}/web-Google.txt.gz", tmp_path / "x", LOCAL)
    assert [] == os.listdir(tmp_path)


def test_make_index_archive_paths_are_never_written(site: Site, tmp_path: Path) -> None:
    link, device = tarfile.TarInfo("wpcd/wp/l/Link.htm"), tarfile.TarInfo("wpcd/wp/d/Device.htm")
    link.type, link.linkname = tarfile.SYMTYPE, "/etc/passwd"
    device.type = tarfile.CHRTYPE
    evil = {"../../../wpcd/wp/../../evil.htm": b"<p>evil", "/wpcd/wp/a/Bat.htm": b"<p>fine"}
    site.files["wikispeedia_articles_html.tar.gz"] = tar(evil, link, device)
    index = make_index(["public:wikispeedia"], tmp_path / "x")
    assert {"http://wikispeedia.test/evil.htm", "http://wikispeedia.test/wp/a/Bat.htm"} == set(index.names)
    assert ["x"] == os.listdir(tmp_path)


def test_members_bombs_and_damage_are_errors(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(public, "MAX_UNPACKED_BYTES", 100_000)
    monkeypatch.setattr(public, "MAX_MEMBERS", 3)
    for name, content, why in (
        ("bomb", tar({"a": b"\0" * 1_000_000}), "more than 100,000 bytes"),
        ("many", tar(dict.fromkeys("abcd", b"")), "more than 3 files"),
        ("cut", WEBKB[:200], "as an archive"),
        ("none", b"<html>Not here any more</html>" * 50, "as an archive"),
        ("empty", b"", "as an archive"),
    ):
        (tmp_path / name).write_bytes(content)
        with raises_input_error("bad-file", f"{name} .*{why}"):
            list(members(tmp_path / name))


def test_make_index_archive_without_categories_is_error(site: Site, tmp_path: Path) -> None:
    site.files["wikispeedia_paths-and-graph.tar.gz"] = tar({"other.tsv": b""})
    with raises_input_error("bad-file", "no categories"):
        make_index(["public:wikispeedia"], tmp_path / "x")
    assert not (tmp_path / "x").exists()
