"""Public corpora, fetched from a server on loopback that has small files of the same layout."""

from __future__ import annotations

import gzip
import hashlib
import io
import os
import re
import tarfile
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from lycosa.core.errors import InputError
from lycosa.core.options import Options
from lycosa.lab.corpora import public
from lycosa.lab.corpora.public import ATTEMPTS, CORPORA, download, fetch, members, recorded_checksum

LOCAL = Options(allow_network=["127.0.0.0/8"])


def tar(files: dict[str, bytes], *more: tarfile.TarInfo) -> bytes:
    """A packed archive."""
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
    """What the server has and does."""

    files: dict[str, bytes] = field(default_factory=dict)
    asked: list[str] = field(default_factory=list)
    cut: int = 0
    """Bytes after which a connection ends too early; 0: never."""
    measured: bool = True
    """Whether it says how long a file is."""
    tag: str = '"one"'
    base: str = ""


@contextmanager
def serving(site: Site) -> Iterator[Site]:
    """A server that knows ranges, redirects below /moved/, and nothing else."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            name, wanted = self.path.rpartition("/")[2], self.headers.get("Range", "")
            site.asked.append(f"{self.path} {wanted}".strip())
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
            begin = 0
            if wanted and self.headers.get("If-Range") == site.tag:
                begin = int(wanted.removeprefix("bytes=").rstrip("-"))
                self.send_response(206)
                self.send_header("Content-Range", f"bytes {begin}-{len(content) - 1}/{len(content)}")
            else:
                self.send_response(200)
            if site.measured:
                self.send_header("Content-Length", str(len(content) - begin))
            if site.tag:
                self.send_header("ETag", site.tag)
            self.end_headers()
            self.wfile.write(content[begin : begin + site.cut] if site.cut else content[begin:])
            self.close_connection = True

        def log_message(self, *_: object) -> None:
            """Say nothing."""

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
def site() -> Iterator[Site]:
    """A server with all corpora."""
    files = {
        "wikispeedia_paths-and-graph.tar.gz": PATHS,
        "wikispeedia_articles_html.tar.gz": ARTICLES,
        "webkb-data.gtar.gz": WEBKB,
        "web-Google.txt.gz": SNAP,
    }
    with serving(Site(files)) as running:
        yield running


# -- the corpora -----------------------------------------------------------------------------------------------------


def test_wikispeedia(site: Site, tmp_path: Path) -> None:
    """Articles have all their categories, and don't print them; lists of articles are left out. The whole has both."""
    index = fetch("wikispeedia", tmp_path / "x", LOCAL, keep=tmp_path, mirror=site.base)
    assert ["%25/%25C3%2585land.htm", "b/Bat.htm"] == [name.partition("/wp/")[2] for name in index.names]
    assert [[1], [0]] == [index.children(node).tolist() for node in range(2)]
    assert ["Countries", "Geography/European_Geography", "Science/Biology/Mammals"] == index.classes
    assert ([True, False], [False, True]) == (index.of_class("Geography").tolist(), index.of_class("Science").tolist())
    expected = {
        "excluded by '/wp/index/'": 1,
        "neither HTML nor text": 1,
        "articles with categories, but no page": 1,
    }
    assert expected == index.facts["left_out"]
    asked = len(site.asked)
    assert "countri" not in index.stems
    whole = fetch("wikispeedia", tmp_path / "y", LOCAL, keep=tmp_path, mirror=site.base, whole=True)
    assert 3 == len(whole)
    assert "countri" in whole.stems
    assert 2 == asked == len(site.asked)  # the second time, nothing is downloaded


def test_webkb(site: Site, tmp_path: Path) -> None:
    """Addresses are written in the names of files, classes in those of directories; headers are no part of pages."""
    index = fetch("webkb", tmp_path / "x", LOCAL, keep=tmp_path, mirror=site.base)
    names = ["http://www.cs.cornell.edu/home/ann/", "http://www.cs.cornell.edu/~bob.html"]
    assert (names, ["faculty", "student"]) == (list(index.names), index.classes)
    assert ([1], "Bob", "no more") == (index.children(0).tolist(), index.page(1).title, index.page(1).text.strip())
    assert {"files that are no pages": 1} == index.facts["left_out"]


def test_graphs_of_snap(site: Site, tmp_path: Path) -> None:
    """Nodes keep the names that the file gives them."""
    index = fetch("web-google", tmp_path / "x", LOCAL, keep=tmp_path, mirror=site.base)
    assert (["0", "11342", "824020"], [1, 2]) == (list(index.names), index.children(0).tolist())


def test_the_table_of_corpora() -> None:
    """Every file has an address of the web and a cap; a checksum is 64 digits, or not known."""
    files = [file for corpus in CORPORA.values() for file in corpus.files]
    assert 7 == len(files)
    assert all(file.url.startswith("http") and file.most > 10**7 for file in files)
    assert all(re.fullmatch("([0-9a-f]{64})?", file.sha256) for file in files)


def test_an_unknown_corpus_and_a_place_that_is_taken(site: Site, tmp_path: Path) -> None:
    """Both are told before anything is asked of the network."""
    with pytest.raises(InputError, match="there are wikispeedia, webkb"):
        fetch("wikipedia", tmp_path / "x", LOCAL, mirror=site.base)
    (tmp_path / "mine").mkdir()
    with pytest.raises(InputError, match="not an index"):
        fetch("webkb", tmp_path / "mine", LOCAL, keep=tmp_path, mirror=site.base)
    with pytest.raises(InputError, match="not a web address"):
        fetch("webkb", tmp_path / "x", LOCAL, keep=tmp_path, mirror="file:///etc")
    assert [] == site.asked


# -- downloading -----------------------------------------------------------------------------------------------------


def test_private_addresses_are_refused(site: Site, tmp_path: Path) -> None:
    """Unless the user allows the network, nothing on it is asked, by redirect either."""
    with pytest.raises(InputError, match=r"127\.0\.0\.1.*allow-network"):
        fetch("webkb", tmp_path / "x", Options(), keep=tmp_path, mirror=site.base)
    assert [] == site.asked
    with pytest.raises(InputError, match=r"10\.1\.2\.3"):
        download(f"{site.base}/moved/private", tmp_path, LOCAL, most=10**6)


def test_a_checksum_is_written_down_and_held_against(site: Site, tmp_path: Path) -> None:
    """The first download's is kept beside the file; a later download that differs is refused, and so is damage."""
    url = f"{site.base}/web-Google.txt.gz"
    file = download(url, tmp_path, LOCAL, most=10**6)
    beside = recorded_checksum(file)
    assert f"{hashlib.sha256(SNAP).hexdigest()}  web-Google.txt.gz\n" == beside.read_text()
    file.write_bytes(b"damaged")
    with pytest.raises(InputError, match=r"Remove .*web-Google.txt.gz, and fetch it again"):
        download(url, tmp_path, LOCAL, most=10**6)
    file.unlink()
    site.files["web-Google.txt.gz"] = SNAP + b"x"
    with pytest.raises(InputError, match="the first download had"):
        download(url, tmp_path, LOCAL, most=10**6)
    assert [beside.name] == os.listdir(tmp_path)


def test_a_known_checksum_is_held_against(site: Site, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A file that is not the one in the table is not used, and not kept."""
    webkb = CORPORA["webkb"]
    for known, fine in ((hashlib.sha256(WEBKB).hexdigest(), True), ("0" * 64, False)):
        files = (replace(webkb.files[0], sha256=known),)
        monkeypatch.setitem(public.CORPORA, "webkb", replace(webkb, files=files))
        keep = tmp_path / known
        if fine:
            assert 2 == len(fetch("webkb", tmp_path / "x", LOCAL, keep=keep, mirror=site.base))
        else:
            with pytest.raises(InputError, match="not the one that it should be"):
                fetch("webkb", tmp_path / "y", LOCAL, keep=keep, mirror=site.base)
            assert [] == os.listdir(keep)


def test_a_broken_download_goes_on_where_it_broke_off(site: Site, tmp_path: Path) -> None:
    """Within a run and in the next one; only what is missing is asked for."""
    content = bytes(range(256)) * 10
    site.files["big.bin"], site.cut = content, 500
    url = f"{site.base}/big.bin"
    with pytest.raises(InputError, match=f"broke off {ATTEMPTS} times .after 2,000 of 2,560 bytes"):
        download(url, tmp_path, LOCAL, most=10**6)
    assert ["/big.bin", *(f"/big.bin bytes={500 * n}-" for n in (1, 2, 3))] == site.asked
    told: list[tuple[int, int]] = []
    file = download(url, tmp_path, LOCAL, most=10**6, tell=lambda done, total: told.append((done, total)))
    assert content == file.read_bytes()
    assert ["/big.bin bytes=2000-", "/big.bin bytes=2500-"] == site.asked[4:]
    assert (2560, 2560) == told[-1]
    assert {"big.bin", "big.bin.sha256"} == set(os.listdir(tmp_path))


def test_a_file_that_changed_in_between_starts_over(site: Site, tmp_path: Path) -> None:
    """Halves of two files are never joined: neither with another tag, nor where there is none."""
    url = f"{site.base}/big.bin"
    for tag in ('"two"', ""):
        site.files["big.bin"], site.cut, site.tag = b"a" * 3000, 500, '"one"' if tag else ""
        with pytest.raises(InputError, match="broke off"):
            download(url, tmp_path / tag.strip('"'), LOCAL, most=10**6)
        site.files["big.bin"], site.cut, site.tag = b"b" * 3000, 0, tag
        assert b"b" * 3000 == download(url, tmp_path / tag.strip('"'), LOCAL, most=10**6).read_bytes()


def test_redirects_are_followed_and_end(site: Site, tmp_path: Path) -> None:
    """A moved file is found; one that moves for ever is an error."""
    assert SNAP == download(f"{site.base}/moved/web-Google.txt.gz", tmp_path, LOCAL, most=10**6).read_bytes()
    with pytest.raises(InputError, match="redirects without end"):
        download(f"{site.base}/moved/loop", tmp_path, LOCAL, most=10**6)


def test_what_is_not_there_or_too_large(site: Site, tmp_path: Path) -> None:
    """A 404 is told with its address; a file beyond the cap is not taken."""
    with pytest.raises(InputError, match=r"/nothing\.gz answered 404"):
        download(f"{site.base}/nothing.gz", tmp_path, LOCAL, most=10**6)
    with pytest.raises(InputError, match=f"has {len(SNAP):,} bytes; 50 are the most"):
        download(f"{site.base}/web-Google.txt.gz", tmp_path, LOCAL, most=50)
    site.measured = False
    with pytest.raises(InputError, match="has more than 50 bytes"):
        download(f"{site.base}/web-Google.txt.gz", tmp_path, LOCAL, most=50)
    assert not list(tmp_path.glob("*.gz"))


# -- archives that lie -----------------------------------------------------------------------------------------------


def test_nothing_is_written_by_the_names_of_an_archive(site: Site, tmp_path: Path) -> None:
    """Paths that lead out, links and devices do nothing: archives are read, not unpacked."""
    link, device = tarfile.TarInfo("wpcd/wp/l/Link.htm"), tarfile.TarInfo("wpcd/wp/d/Device.htm")
    link.type, link.linkname = tarfile.SYMTYPE, "/etc/passwd"
    device.type = tarfile.CHRTYPE
    evil = {"../../../wpcd/wp/../../evil.htm": b"<p>evil", "/wpcd/wp/a/Bat.htm": b"<p>fine"}
    site.files["wikispeedia_articles_html.tar.gz"] = tar(evil, link, device)
    keep = tmp_path / "deep" / "er"
    index = fetch("wikispeedia", tmp_path / "x", LOCAL, keep=keep, mirror=site.base)
    assert {"http://wikispeedia.test/evil.htm", "http://wikispeedia.test/wp/a/Bat.htm"} == set(index.names)
    assert {"deep", "x"} == set(os.listdir(tmp_path))
    assert {"er"} == set(os.listdir(tmp_path / "deep"))


def test_bombs_and_damage_are_errors(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What unpacks to more than it may, has too many files, is cut off or no archive, is an error that names it."""
    monkeypatch.setattr(public, "MAX_UNPACKED_BYTES", 100_000)
    monkeypatch.setattr(public, "MAX_MEMBERS", 3)
    for name, content, why in (
        ("bomb", tar({"a": b"\0" * 1_000_000}), "holds more than 100,000 bytes"),
        ("many", tar(dict.fromkeys("abcd", b"")), "holds more than 3 files"),
        ("cut", WEBKB[:200], "as an archive"),
        ("none", b"<html>Not here any more</html>" * 50, "as an archive"),
        ("empty", b"", "as an archive"),
    ):
        (tmp_path / name).write_bytes(content)
        with pytest.raises(InputError, match=f"{name} .*{why}|{name} {why}"):
            list(members(tmp_path / name))


def test_an_archive_without_categories_is_an_error(site: Site, tmp_path: Path) -> None:
    """A page in place of the archive, or another archive, is not taken for the corpus."""
    site.files["wikispeedia_paths-and-graph.tar.gz"] = tar({"other.tsv": b""})
    with pytest.raises(InputError, match="no categories"):
        fetch("wikispeedia", tmp_path / "x", LOCAL, keep=tmp_path, mirror=site.base)
    assert not (tmp_path / "x").exists()
