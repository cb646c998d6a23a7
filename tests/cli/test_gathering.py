"""What sources name: files, URLs, what these name in turn, and where it ends."""

from __future__ import annotations

import gzip
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from lycosa.cli import seeds
from lycosa.cli.seeds import Address, Read, fetching, gather, page_source
from lycosa.core.errors import InputError
from lycosa.core.options import Options
from lycosa.testing import Response, Server, Web, gaps, serve
from lycosa.web.sources import Source, read_source

BOOKMARKS = """<!DOCTYPE NETSCAPE-Bookmark-file-1><DL>
<DT><H3>Sea</H3><DL><DT><A HREF="https://a.example/reefs">Reefs &amp; fish</A></DL>
<DT><A HREF="javascript:alert()">Script</A></DL>"""


def nowhere(url: str) -> Source:
    raise InputError(f"cannot fetch {url}: there is no network in this test")


class Net:
    """A few URLs and what they answer; remembers what was asked."""

    def __init__(self, **bodies: str) -> None:
        self.bodies = {f"https://{host}.example/": body for host, body in bodies.items()}
        self.asked: list[str] = []

    def __call__(self, url: str) -> Source:
        self.asked.append(url)
        if url not in self.bodies:
            raise InputError(f"cannot fetch {url}: 404")
        return read_source(self.bodies[url].encode(), url) or page_source(url, "A page")


def opml(*feeds: str) -> str:
    return "<opml>" + "".join(f"<outline xmlUrl='https://{feed}.example/'/>" for feed in feeds) + "</opml>"


def rss(*urls: str) -> str:
    return "<rss><channel>" + "".join(f"<item><link>{url}</link></item>" for url in urls) + "</channel></rss>"


def test_files_of_every_kind(tmp_path: Path) -> None:
    """Addresses of plain lists and bookmarks, in order, each once, with title, folder and file."""
    plain, marks = tmp_path / "mine.txt", tmp_path / "bookmarks.html"
    plain.write_text("# mine\nexample.org/reefs\nlocalhost:8123\nhttps://a.example/reefs\n")
    marks.write_text(BOOKMARKS + "<DT><A HREF='https://b.example/'>B</A>")
    read: list[Read] = []
    found = list(gather([str(plain), str(marks)], nowhere, read, []))
    assert [
        Address("https://example.org/reefs", source=str(plain)),
        Address("http://localhost:8123/", source=str(plain)),
        Address("https://a.example/reefs", source=str(plain)),
        Address("https://b.example/", "B", source=str(marks)),
    ] == found
    assert [
        Read(str(plain), "list", 3),
        Read(str(marks), "bookmarks", 1, left_out={"no web address": 1}),
    ] == read


def test_a_page_is_its_own_seed() -> None:
    """What a URL turns out to be decides: a page stands for itself, a feed for what is in it."""
    net = Net(page="<!doctype html><title>Reefs</title>", feed=rss("/1", "/2"))
    found = list(gather(["page.example", "https://feed.example/"], net, [], []))
    assert ["https://page.example/", "https://feed.example/1", "https://feed.example/2"] == [each.url for each in found]
    assert ["", "https://feed.example/", "https://feed.example/"] == [each.source for each in found]
    assert "A page" == found[0].title


def test_nested_sources_are_followed(tmp_path: Path) -> None:
    """Feeds of an OPML file are read, and what they name in turn; a circle is walked once, a dead one is told."""
    (tmp_path / "mine.opml").write_text(opml("one", "gone", "two"))
    net = Net(one=rss("/a"), two=opml("one", "two", "three"), three=rss("/a", "https://one.example/a"))
    read: list[Read] = []
    remarks: list[str] = []
    found = list(gather([str(tmp_path / "mine.opml")], net, read, remarks))
    assert ["https://one.example/a", "https://three.example/a"] == [each.url for each in found]
    assert [f"https://{host}.example/" for host in ("one", "gone", "two", "three")] == net.asked
    assert ["https://gone.example/: cannot fetch https://gone.example/: 404"] == remarks
    assert [False, True, True, True] == [each.nested for each in read]


def test_no_more_sources_than_the_bound(monkeypatch: pytest.MonkeyPatch) -> None:
    """An index of indexes ends at the bound, and says how much is left."""
    monkeypatch.setattr(seeds, "MOST_SOURCES", 3)
    net = Net(a=opml("b", "c", "d", "e"), b=rss("/1"), c=rss("/1"), d=rss("/1"), e=rss("/1"))
    remarks: list[str] = []
    found = list(gather(["a.example"], net, [], remarks))
    assert (2, 3) == (len(found), len(net.asked))
    assert ["2 further sources are not read: 3 are the most"] == remarks


def test_no_more_addresses_than_the_bound(monkeypatch: pytest.MonkeyPatch) -> None:
    """The same for addresses."""
    monkeypatch.setattr(seeds, "MOST_ADDRESSES", 3)
    net = Net(a=rss("/1", "/2"), b=rss("/1", "/2"), c=rss("/1"))
    remarks: list[str] = []
    found = list(gather(["a.example", "b.example", "c.example"], net, [], remarks))
    assert (3, 2) == (len(found), len(net.asked))
    assert ["the rest of b.example is left out: 3 addresses are the most"] == remarks


def test_a_source_named_by_hand_has_to_work() -> None:
    """What the user typed and can't be had is an error, not a remark."""
    with pytest.raises(InputError, match=r"cannot fetch https://gone\.example/: 404"):
        list(gather(["gone.example"], Net(), [], []))


class SmallWeb(Web):
    """A few paths and what they answer, on any host."""

    def __init__(self, **paths: tuple[str, str | bytes]) -> None:
        super().__init__(pages=60, hosts=3, traps=())
        self.paths = {"/" + name.replace("_", "."): answer for name, answer in paths.items()}

    def response(self, url: str, *, headers: Any = None, version: int = 0) -> Response:
        kind, body = self.paths.get("/" + url.split("/", 3)[3], ("", b""))
        if not kind:
            return Response(404, [], b"")
        if kind == "to":
            assert isinstance(body, str)
            return Response(301, [("Location", body)], b"")
        body = body.encode().replace(b"HOST", f"a.localhost:{self.port}".encode()) if isinstance(body, str) else body
        return Response(200, [("Content-Type", kind)], body)


@contextmanager
def small_web(**paths: tuple[str, str | bytes]) -> Iterator[Server]:
    with serve(SmallWeb(**paths)) as server:
        yield server


def fetched(server: Server, path: str, *, allow: str = "127.0.0.0/8", delay: float = 0.0) -> list[Any]:
    """What the path names, and what is said about it."""
    read: list[Read] = []
    remarks: list[str] = []
    with fetching(Options(allow_network=[allow], delay=delay)) as fetch:
        found = list(gather([server.url("a.localhost", path)], fetch, read, remarks))
    return [[each.url.partition(str(server.port))[2] for each in found], [each.form for each in read], remarks, found]


def test_a_sitemap_over_http() -> None:
    """An index, its packed sitemap, a redirect on the way: all of it is fetched, with titles and dates."""
    with small_web(
        start=("to", "/index.xml"),
        index_xml=("text/xml", "<sitemapindex><sitemap><loc>http://HOST/one.xml.gz</loc></sitemap></sitemapindex>"),
        one_xml_gz=(
            "application/gzip",
            gzip.compress(b"<urlset><url><loc>/coral-reef</loc><lastmod>2026-03-01</lastmod></url></urlset>"),
        ),
    ) as server:
        urls, forms, remarks, found = fetched(server, "/start")
    assert (["/coral-reef"], ["sitemap index", "sitemap"], []) == (urls, forms, remarks)
    assert ("coral reef", "2026-03-01") == (found[0].title, found[0].modified)


def test_a_page_over_http() -> None:
    """A web page is a seed under the address that was typed, with its title."""
    with small_web(page=("text/html", "<title>Reefs</title><a href=/x>x</a>")) as server:
        urls, forms, remarks, found = fetched(server, "/page")
    assert (["/page"], ["page"], [], "Reefs") == (urls, forms, remarks, found[0].title)


def test_robots_txt_is_obeyed() -> None:
    """What robots.txt forbids is not fetched."""
    with (
        small_web(
            robots_txt=("text/plain", "User-agent: *\nDisallow: /private"),
            private=("text/xml", "<urlset/>"),
        ) as server,
        pytest.raises(InputError, match=r"robots\.txt does not allow it"),
    ):
        fetched(server, "/private")
    assert ["/robots.txt"] == [hit.path for hit in server.log]


def test_addresses_are_guarded() -> None:
    """A source on this machine is not fetched unless its network is allowed."""
    with small_web(page=("text/html", "x")) as server, pytest.raises(InputError, match=r"cannot fetch .* refused"):
        fetched(server, "/page", allow="10.0.0.0/8")
    assert [] == server.log


def test_a_network_that_is_none() -> None:
    """--allow-network is checked like that of a crawl."""
    with fetching(Options(allow_network=["localhost"])) as fetch, pytest.raises(InputError, match="--allow-network"):
        fetch("https://a.example/")


def test_hosts_are_left_alone_between_requests() -> None:
    """The pause is kept between all requests to a host, robots.txt included."""
    with small_web(
        index_xml=("text/xml", "<sitemapindex><sitemap><loc>/a</loc></sitemap><sitemap><loc>/b</loc></sitemap>"),
        a=("text/xml", "<urlset/>"),
        b=("text/xml", "<urlset/>"),
    ) as server:
        fetched(server, "/index.xml", delay=0.1)
    assert 4 == len(server.log)
    assert gaps(server.log)["a.localhost"] >= 0.1
