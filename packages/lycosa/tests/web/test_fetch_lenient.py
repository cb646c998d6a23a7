"""Tolerated HTTP violations: each row of the table in docs/http.md, against a server that commits it."""

import asyncio
import gzip
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

import lycosa
from fetch_peer import HEADERS, HTML, Peer, Server, says, serve
from lycosa.core.budget import BYTES_SPENT
from lycosa.core.errors import FetchError
from lycosa.core.types import Visit
from lycosa.web.fetch import MAX_HEAD_BYTES, FetchLimits, HttpTransport, Response, repair_head
from lycosa.web.inflate import inflate
from places import ROOT

START = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n"
CHUNKED = b"Transfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n"
FIVE = b"Content-Length: 5\r\n\r\nhello"
PACKED = gzip.compress(b"hello")


@dataclass(frozen=True)
class Row:
    what: str
    sent: bytes
    read: str
    body: bytes = b"hello"
    truncated: str = ""
    fails: str = ""
    browsers: str = "the same"


UNTIL_CLOSE = "the body ends with the connection"
TABLE = [
    Row("bytes beyond `Content-Length`, with `Connection: close`", START + b"Connection: close\r\n" + FIVE + b" more",
        "they are dropped"),
    Row("bytes beyond `Content-Length`, connection kept", START + FIVE + b" more\r\n\r\n", "they are dropped"),
    Row("bytes behind the last chunk", START + CHUNKED + b"more", "they are dropped"),
    Row("a body under 204 or 304", b"HTTP/1.1 204 No Content\r\n" + FIVE, "it is dropped", b""),
    Row("`Content-Length` beside `Transfer-Encoding: chunked`", START + b"Content-Length: 99\r\n" + CHUNKED,
        "the chunks count"),
    Row("`Content-Length` beside another `Transfer-Encoding`", START + b"Transfer-Encoding: identity\r\n" + FIVE,
        "the length counts"),
    Row("`Content-Length` twice, or as `5, 5`, with one value", START + b"Content-Length: 5, 5\r\n" + FIVE,
        "it counts once"),
    Row("`Content-Length` twice, with two values", START + b"Content-Length: 6\r\n" + FIVE, "refused", fails="invalid"),
    Row("`Content-Length` that is not a number, or empty", START + b"Content-Length: many\r\n\r\nhello", UNTIL_CLOSE),
    Row("no length at all", START + b"\r\nhello", UNTIL_CLOSE),
    Row("lines that end in a bare LF", b"HTTP/1.1 200 OK\nContent-Type: text/html\nContent-Length: 5\n\nhello", "read"),
    Row("lines that end in a bare CR", b"HTTP/1.1 200 OK\rContent-Length: 5\r\rhello", "refused", fails="unreachable"),
    Row("empty lines, or up to four bytes, before the status line", b"\r\n\xef\xbb\xbf" + START + FIVE, "skipped"),
    Row("no reason phrase", b"HTTP/1.1 200\r\n" + FIVE, "read"),
    Row("`http/1.1`, `HTTP/1.2`, `HTTP/2`, two spaces, `200OK`", b"http/1.2  200OK\r\n" + FIVE,
        "read as HTTP/1.1, without a version as 1.0"),
    Row("a status of two or four digits", b"HTTP/1.1 2000 OK\r\n" + FIVE, "refused", fails="invalid"),
    Row("no status line (HTTP/0.9), `ICY 200 OK`", b"<html>hello</html>\r\n\r\n", "refused", fails="invalid",
        browsers="some read it, on port 80"),
    Row("white space before the colon of a header", START + b"Content-Length : 5\r\n\r\nhello more", "read"),
    Row("a header over several lines (folded)", START + b"X-A: b\r\n c\r\n" + FIVE, "read as one"),
    Row("a header line without a colon, without a name, with a name of odd characters, or with NUL",
        START + b"no colon\r\n: a\r\nX(y): b\r\nX-Z: \0\r\n" + FIVE, "the line is skipped"),
    Row("no empty line behind the headers of a redirect", b"HTTP/1.1 302 Found\r\nLocation: /there\r\n",
        "read, if its last line is whole", b"", browsers="the same, by http"),
    Row("no empty line behind other headers", START, "fails, tried again", fails="unreachable",
        browsers="an empty page, by http"),
    Row("a header line of more than 64 kB, more than 1,000 of them, more than 256 kB in all",
        START + b"X-A: " + b"a" * 70_000 + b"\r\n" + FIVE, "refused", fails="invalid", browsers="256 kB in all"),
    Row("hints before the answer (100, 103)", b"HTTP/1.1 103 Early Hints\r\nLink: a\r\n\r\n" + START + FIVE, "skipped"),
    Row("a body shorter than `Content-Length`", START + b"Content-Length: 99\r\n\r\nhello",
        "what came is kept, and marked; robots.txt: as if it could not be read", truncated="disconnect",
        browsers="what came is shown"),
    Row("no last chunk", START + b"Transfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n",
        "what came is kept, and marked; robots.txt: as if it could not be read", truncated="disconnect",
        browsers="what came is shown"),
    Row("a length of a chunk that is none, behind others",
        START + b"Transfer-Encoding: chunked\r\n\r\n5\r\nhello\r\nzz\r\nhello\r\n0\r\n\r\n",
        "what came is kept, and marked", truncated="disconnect", browsers="what came is shown"),
    Row("`Transfer-Encoding: chunked`, but no chunks", START + b"Transfer-Encoding: chunked\r\n\r\n<html>", "refused",
        fails="invalid"),
    Row("chunks with white space, extensions, leading zeros",
        START + b"Transfer-Encoding: chunked\r\n\r\n005 ;a=b\r\nhello\r\n00\r\n\r\n", "read"),
    Row("chunks that end in a bare LF", START + b"Transfer-Encoding: chunked\r\n\r\n5\nhello\n0\n\n", "refused",
        fails="invalid", browsers="read"),
    Row("`Content-Encoding: gzip`, but the body is plain", START + b"Content-Encoding: gzip\r\n" + FIVE,
        "read as it is"),
    Row("bytes behind the end of a gzip body", START + b"Content-Encoding: gzip\r\n\r\n" + PACKED + b"more",
        "they are dropped"),
    Row("a gzip body that breaks off", START + b"Content-Encoding: gzip\r\n\r\n" + gzip.compress(b"hello" * 99)[:-9],
        "what came is kept, and marked", b"hello" * 99, browsers="what came is shown"),
    Row("`Content-Encoding` with a name that is none (`utf-8`)", START + b"Content-Encoding: utf-8\r\n" + FIVE,
        "read as it is"),
]  # fmt: skip


def pieces(sent: bytes, size: int) -> Iterator[bytes]:
    return (sent[start : start + size] for start in range(0, len(sent), size))


def got(sent: bytes, size: int) -> Response:
    async def body(transport: HttpTransport, server: Server, url: str) -> Response:
        return await transport.fetch(url, HEADERS, HTML)

    response = serve(says(*pieces(sent, size)), body, limits=FetchLimits(seconds=20.0))
    assert isinstance(response, Response)
    return response


@pytest.mark.parametrize("row", TABLE, ids=lambda row: row.what)
def test_fetch_tolerates_documented_violation(row: Row) -> None:
    for size in (1_000_000, 7 if len(row.sent) < 10_000 else 997):
        if row.fails:
            with pytest.raises(FetchError) as error:
                got(row.sent, size)
            assert row.fails == error.value.outcome
            continue
        response = got(row.sent, size)
        body, _ = inflate(response.body, response.fields.get("content-encoding", ""), 10_000)
        assert (row.body, row.truncated) == (body, response.truncated)


def test_tolerated_violations_are_documented() -> None:
    page = (ROOT / "docs" / "http.md").read_text(encoding="utf-8")
    assert table() == page[page.index("| What") :]


def table() -> str:
    lines = ["| What a server sends | What we make of it | Browsers |", "| --- | --- | --- |"]
    return "\n".join([*lines, *(f"| {row.what} | {row.read} | {row.browsers} |" for row in TABLE)]) + "\n"


def test_fetch_archives_repaired_head_as_received() -> None:
    response = got(b"HTTP/2 200 Fine\r\nX-A : b\r\nContent-Length: 9\r\n" + CHUNKED, 1_000)
    assert b"HTTP/2 200 Fine" == response.status_line
    expected = [(b"X-A", b"b"), (b"Content-Length", b"9"), (b"Transfer-Encoding", b"chunked")]
    assert (expected, b"hello") == (response.headers, response.body)
    assert "content-length" not in response.fields


@pytest.mark.parametrize(
    "sent",
    [
        START + FIVE + b"HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nevil",
        START + b"Content-Length: 99\r\n" + CHUNKED,
        START + b"Content-Length: 5, 5\r\n" + FIVE,
        START + CHUNKED + b"HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nevil",
    ],
)
def test_fetch_closes_connection_after_repair(sent: bytes) -> None:
    async def keep(peer: Peer) -> None:
        while await peer.request():
            await peer.send(sent)

    async def body(transport: HttpTransport, server: Server, url: str) -> tuple[list[bytes], int]:
        bodies = [(await transport.fetch(url, HEADERS)).body for _ in range(3)]
        return bodies, server.connections

    assert ([b"hello"] * 3, 3) == serve(keep, body)


def test_repair_head_does_not_change_regular_heads() -> None:
    for head in (
        START + b"Content-Length: 5\r\nX: \xe9\r\nSet-Cookie: a=b; c\r\nX-Empty:\r\n\r\n",
        START + b"Transfer-Encoding: chunked\r\n\r\n",
        b"HTTP/1.0 404 \r\n\r\n",
        b"HTTP/1.1 200\r\n\r\n",
    ):
        assert repair_head(head) is None


def test_fetch_gives_up_endless_head() -> None:
    async def flood(peer: Peer) -> None:
        await peer.request()
        await peer.send(START)
        for number in range(2 * MAX_HEAD_BYTES // 1_000):
            await peer.send(b"".join(b"X-%d-%d: %b\r\n" % (number, part, b"y" * 80) for part in range(10)))
        await peer.gone()

    async def body(transport: HttpTransport, server: Server, url: str) -> int:
        with pytest.raises(FetchError) as error:
            await transport.fetch(url, HEADERS)
        assert "invalid" == error.value.outcome
        return transport.meter.bytes

    assert serve(flood, body) < 2 * MAX_HEAD_BYTES


class Site(Server):
    def __init__(self, frame: Any) -> None:
        super().__init__(self._talk)
        self.frame = frame

    async def _talk(self, peer: Peer) -> None:
        while head := await peer.request():
            path = head.split(b" ")[1]
            page = b"".join(b'<a href="/%d">reef %d</a>' % (number, number) for number in range(10))
            text = b"User-agent: *\nDisallow: /3\n" if path == b"/robots.txt" else b"<p>coral reef</p>" + page
            await peer.send(self.frame(text))


def crawled(site: Site, path: Path, **options: Any) -> tuple[list[Visit], Any]:
    async def main() -> tuple[list[Visit], Any]:
        listening = await asyncio.start_server(site, "127.0.0.1", 0)
        port = listening.sockets[0].getsockname()[1]
        given = {"delay": 0.0, "per_host": 4, "allow_network": ["127.0.0.0/8"], "traps": False, **options}
        hunt = lycosa.crawl("coral reef", [f"http://127.0.0.1:{port}/0"], out=path, judge="vector", **given)
        visits = [visit async for visit in hunt]
        listening.close()
        return visits, hunt.engine

    return asyncio.run(main())


@pytest.mark.parametrize(
    "frame",
    [
        lambda text: START + b"Connection: close\r\nContent-Length: %d\r\n\r\n%b and more" % (len(text), text),
        lambda text: START + b"Content-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n%x\r\n%b\r\n0\r\n\r\n" % (
            len(text), text,
        ),
    ],
    ids=["beyond its length", "length and chunks"],
)  # fmt: skip
def test_crawl_of_site_with_bad_framing_fetches_all_pages(tmp_path: Path, frame: Any) -> None:
    visits, engine = crawled(Site(frame), tmp_path / "crawl")
    assert (9, "nothing left to fetch") == (engine.tally.pages, engine.ending)
    assert ["/3"] == [visit.node[-2:] for visit in visits if visit.outcome == "denied"]


def test_crawl_byte_budget_covers_requests_in_flight(tmp_path: Path) -> None:
    large = b"<p>" + b"coral " * 500_000
    allowed = 4_000_000
    site = Site(lambda text: START + b"Content-Length: %d\r\n\r\n%b%b" % (len(text + large), text, large))
    visits, engine = crawled(site, tmp_path / "crawl", max_bytes=allowed, concurrency=4)
    assert BYTES_SPENT == engine.ending
    received = engine.tally.settings["end"]["bytes"]
    assert allowed <= received == engine.tally.bytes <= allowed + 4 * 262_144
    assert sum(visit.size for visit in visits) < received
    before = len(site.requests)
    again = lycosa.resume(tmp_path / "crawl")
    assert [] == list(again)
    assert again.engine is not None
    assert (BYTES_SPENT, before) == (again.engine.ending, len(site.requests))
